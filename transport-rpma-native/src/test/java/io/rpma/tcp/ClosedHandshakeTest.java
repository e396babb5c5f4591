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
package io.rpma.tcp;

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.posix.DescriptorWait;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Tests a connection that is closed before its peer has answered. */
@Timeout(120)
class ClosedHandshakeTest {
    /** The number of the socket may be that of another connection's socket immediately after it has been closed. */
    @Test
    void theSocketStaysOpenWhileAnotherThreadReadsTheAnswer() throws Exception {
        try (Station station = new Station(); RawServer server = new RawServer()) {
            Connection connection = station.request(server.address()).connect(null);
            CountDownLatch looking = new CountDownLatch(1);
            CountDownLatch mayRead = new CountDownLatch(1);
            FutureTask<ConnectionEvent> wait = new FutureTask<>(() -> {
                try (DescriptorWait waiting = DescriptorWait.begin(connection.eventFd())) {
                    return waiting.look(() -> {
                        looking.countDown();
                        mayRead.await();
                        return connection.nextEvent();
                    });
                }
            });
            Thread.ofPlatform().daemon().start(wait);
            looking.await();
            FutureTask<Void> close = new FutureTask<>(() -> {
                connection.close();
                return null;
            });
            Thread closer = Thread.ofPlatform().daemon().start(close);
            while (closer.getState() == Thread.State.NEW || closer.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
            boolean early = close.isDone();
            mayRead.countDown();
            close.get(30, TimeUnit.SECONDS);
            assertFalse(early, "the connection was closed while a thread read from its socket");
            assertEquals("the connection is closed", failure(wait).getMessage());
        }
    }

    private static RpmaException failure(FutureTask<ConnectionEvent> wait) throws InterruptedException {
        try {
            throw new AssertionError("the wait returned " + wait.get());
        } catch (ExecutionException e) {
            return (RpmaException) e.getCause();
        }
    }
}
