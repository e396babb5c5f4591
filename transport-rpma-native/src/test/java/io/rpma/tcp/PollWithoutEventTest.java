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

import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.EpollSet;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests the events of completions that the polling thread adds itself, in {@code poll} and in {@code pollWithoutEvent}. The
 * source of the completions is this class instead of a socket.
 */
class PollWithoutEventTest {
    private static final int SIZE = 8;

    private final Queue<Runnable> work = new ArrayDeque<>();
    private final TcpCompletionQueue shared = queue(null);
    private final TcpCompletionQueue own = queue(shared);
    private final WorkCompletions one = new WorkCompletions(1);

    private TcpCompletionQueue queue(TcpCompletionQueue receivesIn) {
        return new TcpCompletionQueue(SIZE, new Alarm(), false, null, () -> {
            while (!work.isEmpty()) {
                work.remove().run();
            }
        }, receivesIn);
    }

    @AfterEach
    void close() {
        own.close();
        shared.close();
    }

    private static void complete(TcpCompletionQueue queue, long context) {
        assertTrue(queue.add(context, 0, 0, 0, 0, 0, 1, 0));
    }

    private static boolean isReadable(TcpCompletionQueue queue) {
        try (Arena arena = Arena.ofConfined()) {
            return EpollSet.await(queue.fd(), arena.allocate(EpollSet.EVENT_BYTES, 8).address(), 1, 0) == 1;
        }
    }

    @Test
    void pollCausesAnEvent() throws Exception {
        work.add(() -> complete(shared, 7));
        assertEquals(1, shared.poll(one));
        assertTrue(isReadable(shared));
        assertTrue(shared.consumeEvent());
        assertFalse(isReadable(shared));
    }

    @Test
    void pollWithoutEventCausesNone() throws Exception {
        work.add(() -> complete(shared, 7));
        assertEquals(1, shared.pollWithoutEvent(one));
        assertEquals(7, one.context(0));
        assertFalse(isReadable(shared));
        assertFalse(shared.consumeEvent());
    }

    /** The queue stays armed: only the completions that the polling thread adds itself cause no event. */
    @Test
    void aCompletionOfAnotherThreadCausesAnEvent() throws Exception {
        work.add(() -> complete(shared, 7));
        assertEquals(1, shared.pollWithoutEvent(one));
        Thread other = Thread.ofPlatform().start(() -> complete(shared, 8));
        other.join();
        assertTrue(isReadable(shared));
        assertTrue(shared.consumeEvent());
        assertEquals(1, shared.pollWithoutEvent(one));
        assertEquals(8, one.context(0));
    }

    /** A caller outside of a turn of the loop may poll only once. */
    @Test
    void whatDoesNotFitIntoTheBatchCausesAnEvent() throws Exception {
        work.add(() -> {
            complete(shared, 7);
            complete(shared, 8);
        });
        assertEquals(1, shared.pollWithoutEvent(one));
        assertTrue(isReadable(shared));
        assertTrue(shared.consumeEvent());
        assertEquals(1, shared.pollWithoutEvent(one));
        assertEquals(8, one.context(0));
    }

    /** A work request that completes while the receives are polled: its queue is signalled before the thread can wait. */
    @Test
    void anotherQueueIsSignalledWhenTheEventIsConsumed() throws Exception {
        work.add(() -> complete(own, 7));
        assertEquals(0, shared.pollWithoutEvent(one));
        assertFalse(isReadable(own));
        assertFalse(shared.consumeEvent());
        assertTrue(isReadable(own));
        assertTrue(own.consumeEvent());
        assertEquals(1, own.poll(one));
        assertEquals(7, one.context(0));
    }

    /** A thread that never waits calls consumeEvent rarely, but another thread may wait for the other queue. */
    @Test
    void anotherQueueIsSignalledByTheNextPoll() throws Exception {
        work.add(() -> complete(own, 7));
        assertEquals(0, shared.pollWithoutEvent(one));
        assertEquals(0, shared.pollWithoutEvent(one));
        assertTrue(isReadable(own));
    }

    /** The thread polls once more after it has consumed the event, and then waits. */
    @Test
    void anotherQueueIsSignalledByTheLastPollBeforeAWait() throws Exception {
        assertEquals(0, shared.pollWithoutEvent(one));
        assertFalse(shared.consumeEvent());
        work.add(() -> complete(own, 7));
        assertEquals(0, shared.pollWithoutEvent(one));
        assertTrue(isReadable(own));
        assertTrue(own.consumeEvent());
        assertEquals(1, own.poll(one));
        assertEquals(7, one.context(0));
    }

    @Test
    void anotherQueueThatHasBeenPolledIsNotSignalled() throws Exception {
        work.add(() -> complete(own, 7));
        assertEquals(0, shared.pollWithoutEvent(one));
        assertEquals(1, own.pollWithoutEvent(one));
        assertFalse(shared.consumeEvent());
        assertFalse(isReadable(own));
        assertFalse(own.consumeEvent());
        // Its next completion is signalled.
        complete(own, 8);
        assertTrue(isReadable(own));
    }

    private static void fail() {
        throw new IllegalStateException("this work fails");
    }

    /** The caller has been promised an event of what its batch does not get, and it gets nothing from a call that fails. */
    @Test
    void aPollThatFailsCausesAnEventOfWhatItHasAdded() throws Exception {
        work.add(() -> complete(shared, 7));
        work.add(PollWithoutEventTest::fail);
        assertThrows(IllegalStateException.class, () -> shared.pollWithoutEvent(one));
        assertTrue(isReadable(shared));
        assertTrue(shared.consumeEvent());
        assertEquals(1, shared.pollWithoutEvent(one));
        assertEquals(7, one.context(0));
    }

    @Test
    void aPollThatFailsAndAddsNothingCausesNoEvent() throws Exception {
        work.add(PollWithoutEventTest::fail);
        assertThrows(IllegalStateException.class, () -> shared.pollWithoutEvent(one));
        assertFalse(isReadable(shared));
        assertFalse(shared.consumeEvent());
    }

    /** The caller may not poll again after the failure. */
    @Test
    void anotherQueueIsSignalledByAPollThatFails() throws Exception {
        work.add(() -> complete(own, 7));
        work.add(PollWithoutEventTest::fail);
        assertThrows(IllegalStateException.class, () -> shared.pollWithoutEvent(one));
        assertTrue(isReadable(own));
    }

    @Test
    void anotherQueueIsSignalledByALastPollBeforeAWaitThatFails() throws Exception {
        assertEquals(0, shared.pollWithoutEvent(one));
        assertFalse(shared.consumeEvent());
        work.add(() -> complete(own, 7));
        work.add(PollWithoutEventTest::fail);
        assertThrows(IllegalStateException.class, () -> shared.pollWithoutEvent(one));
        assertTrue(isReadable(own));
        assertTrue(own.consumeEvent());
        assertEquals(1, own.poll(one));
        assertEquals(7, one.context(0));
    }

    /** A caller that consumes an event before it waits looks for completions in that call. */
    @Test
    void aConsumptionThatFailsCausesAnEventOfWhatItHasAdded() throws Exception {
        work.add(() -> complete(shared, 7));
        work.add(PollWithoutEventTest::fail);
        assertThrows(IllegalStateException.class, shared::consumeEvent);
        assertTrue(isReadable(shared));
        assertTrue(shared.consumeEvent());
        assertFalse(isReadable(shared));
        assertEquals(1, shared.poll(one));
        assertEquals(7, one.context(0));
    }

    private void overflow() {
        for (int i = 0; i < SIZE; i++) {
            complete(shared, i);
        }
        assertFalse(shared.add(SIZE, 0, 0, 0, 0, 0, 1, 0));
    }

    /** The connections of a queue that overflows still have completions of their own. */
    @Test
    void anotherQueueIsSignalledByAPollThatOverflows() {
        work.add(() -> complete(own, 7));
        work.add(this::overflow);
        assertThrows(RpmaException.class, () -> shared.pollWithoutEvent(one));
        assertTrue(isReadable(own));
    }

    @Test
    void anotherQueueIsSignalledByAPollAfterAnOverflow() throws Exception {
        work.add(() -> complete(own, 7));
        assertEquals(0, shared.pollWithoutEvent(one));
        overflow();
        assertThrows(RpmaException.class, () -> shared.pollWithoutEvent(one));
        assertTrue(isReadable(own));
    }
}
