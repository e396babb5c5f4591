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

package io.rpma.netty;

import io.netty.channel.IoRegistration;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.WorkCompletions;
import io.rpma.netty.FullLoop.Refusal;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests events that a provider reports while the event loop accepts no further task.
 */
@Timeout(60)
class RefusedTasksTest {
    private FullLoop full;

    /** A handle whose provider has a task run when there are events or completions. */
    private static final class Told implements RpmaIoHandle {
        private final CountDownLatch opened = new CountDownLatch(2);
        private final CountDownLatch events = new CountDownLatch(1);
        private final CountDownLatch completions = new CountDownLatch(1);
        private final CountDownLatch removed = new CountDownLatch(1);
        private volatile IoRegistration registration;
        private volatile Runnable ofEvents;
        private volatile Runnable ofCompletions;
        private volatile boolean told;

        @Override
        public int[] eventFds(Runnable ready) {
            ofEvents = ready;
            opened.countDown();
            return new int[0];
        }

        @Override
        public void eventsReady() {
            events.countDown();
        }

        @Override
        public CompletionQueue completionQueue() {
            return (CompletionQueue) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {CompletionQueue.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "fd" -> {
                        ofCompletions = (Runnable) arguments[0];
                        opened.countDown();
                        yield Connection.NO_DESCRIPTOR;
                    }
                    case "consumeEvent", "pollsBySystemCalls" -> false;
                    default -> throw new AssertionError(method);
                });
        }

        @Override
        public int poll(WorkCompletions batch) {
            if (told) {
                completions.countDown();
            }
            return 0;
        }

        @Override
        public void unregistered() {
            removed.countDown();
        }

        @Override
        public void close() {
            // The handle stays registered until the loop terminates.
        }

        @Override
        public void destroy() {
            // Nothing is held.
        }
    }

    @AfterEach
    void stop() {
        full.close();
    }

    /** Returns a handle that is registered, and whose queue is armed. Its loop runs a task, and accepts no other one. */
    private Told onFullLoop(Refusal refusal) throws Exception {
        full = new FullLoop(refusal);
        Told handle = new Told();
        handle.registration = full.loop.register(handle).sync().getNow();
        full.loop.submit(() -> handle.registration.submit(RpmaIoOps.OPEN)).sync();
        assertTrue(handle.opened.await(20, TimeUnit.SECONDS));
        full.fill();
        return handle;
    }

    @ParameterizedTest
    @EnumSource
    void anEventIsNotLost(Refusal refusal) throws Exception {
        Told handle = onFullLoop(refusal);
        handle.ofEvents.run();
        full.free();
        assertTrue(handle.events.await(20, TimeUnit.SECONDS), "the event was lost");
    }

    @ParameterizedTest
    @EnumSource
    void aCompletionIsNotLost(Refusal refusal) throws Exception {
        Told handle = onFullLoop(refusal);
        handle.told = true;
        handle.ofCompletions.run();
        full.free();
        assertTrue(handle.completions.await(20, TimeUnit.SECONDS), "the completion was lost");
    }

    @ParameterizedTest
    @EnumSource
    void aRegistrationThatAnotherThreadCancelsIsRemoved(Refusal refusal) throws Exception {
        Told handle = onFullLoop(refusal);
        handle.registration.cancel();
        full.free();
        assertTrue(handle.removed.await(20, TimeUnit.SECONDS), "the registration was not removed");
    }
}
