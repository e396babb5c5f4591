/*
 * Copyright 2026 The Netty over RPMA Authors
 *
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with the
 * License. You may obtain a copy of the License at
 *
 *     https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on an
 * "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License.
 */
package io.rpma.netty.loop;

import io.netty.channel.IoHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.util.concurrent.ThreadAwareExecutor;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertThrows;

/**
 * Tests a descriptor that epoll does not accept. No registration stays behind, and the next descriptor with its number is not
 * affected.
 */
class DescriptorWatchTest {
    /** A number that no descriptor of this process has. */
    private static final int NO_DESCRIPTOR = 1 << 24;

    /** An executor whose thread is the thread of the test. */
    private static final class ThisThread implements ThreadAwareExecutor {
        @Override
        public boolean isExecutorThread(Thread thread) {
            return true;
        }

        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    @Test
    void aDescriptorThatCannotBeWatchedIsForgotten() {
        IoHandler epoll = EpollIoHandler.newFactory().newHandler(new ThisThread());
        try {
            for (int i = 0; i < 2; i++) {
                // Netty asserts that no valid registration has the same descriptor.
                assertThrows(IllegalStateException.class, () -> new DescriptorWatch(epoll, null, null, NO_DESCRIPTOR, true));
            }
        } finally {
            epoll.prepareToDestroy();
            epoll.destroy();
        }
    }
}
