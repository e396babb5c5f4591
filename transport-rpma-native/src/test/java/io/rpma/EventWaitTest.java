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
package io.rpma;

import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what a wait and the close of its object do to each other. */
@Timeout(60)
class EventWaitTest {
    private static final Duration LONG = Duration.ofDays(1);

    private int fd;

    /** Creates a descriptor that never becomes readable. */
    @BeforeEach
    void open() {
        fd = Sockets.epollCreate();
        assertTrue(fd >= 0, () -> Posix.strerror(-fd));
    }

    @AfterEach
    void close() {
        Posix.close(fd);
    }

    private static <T> T get(FutureTask<T> task) throws Exception {
        return task.get(30, TimeUnit.SECONDS);
    }

    /** Waits until a thread waits for a lock or has ended. */
    private static void awaitBlocked(Thread thread) {
        while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
        }
    }

    /** The memory behind an object may be released as soon as closing() returns: no look may be in progress then. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void closingAwaitsTheLookInProgress(int blocked) throws Exception {
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch mayLook = new CountDownLatch(1);
        AtomicBoolean closed = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        FutureTask<String> wait = new FutureTask<>(() -> EventWait.forIt(fd, LONG, () -> {
            if (closed.get()) {
                throw new RpmaException(RpmaError.INVALID, "closed");
            }
            if (looks.incrementAndGet() == blocked) {
                looking.countDown();
                awaitLatch(mayLook);
            }
            return null;
        }));
        Thread.ofPlatform().daemon().start(wait);
        awaitLatch(looking);
        FutureTask<Void> close = new FutureTask<>(() -> {
            closed.set(true);
            DescriptorWait.closing(fd);
            return null;
        });
        Thread closer = Thread.ofPlatform().daemon().start(close);
        awaitBlocked(closer);
        boolean early = close.isDone();
        mayLook.countDown();
        get(close);
        assertFalse(early, "closing() returned while a thread was still looking");
        ExecutionException e = assertThrows(ExecutionException.class, () -> get(wait));
        assertEquals(RpmaError.INVALID, assertInstanceOf(RpmaException.class, e.getCause()).error());
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aLookMayCloseItsOwnObject() throws Exception {
        FutureTask<String> wait = new FutureTask<>(() -> EventWait.forIt(fd, LONG, () -> {
            DescriptorWait.closing(fd);
            return "closed";
        }));
        Thread.ofPlatform().daemon().start(wait);
        assertEquals("closed", get(wait));
    }

    @Test
    void aLookThatFailsLeavesNoLockBehind() throws Exception {
        FutureTask<String> wait = new FutureTask<>(() -> EventWait.forIt(fd, LONG, () -> {
            throw new RpmaException(RpmaError.PROVIDER, "failed");
        }));
        Thread.ofPlatform().daemon().start(wait);
        assertThrows(ExecutionException.class, () -> get(wait));
        DescriptorWait.closing(fd);
        assertEquals("next", EventWait.forIt(fd, LONG, () -> "next"));
    }

    /** A wait that has been ended must not watch its number any more: the number may be that of another descriptor by then. */
    @Test
    void anEndedWaitDoesNotWatchItsDescriptor() {
        try (DescriptorWait ended = DescriptorWait.begin(fd)) {
            DescriptorWait.closing(fd);
            ended.arm();
        }
        try (DescriptorWait next = DescriptorWait.begin(fd)) {
            assertEquals(0, next.arm());
        }
    }
}
