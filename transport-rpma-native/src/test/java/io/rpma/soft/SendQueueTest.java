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

package io.rpma.soft;

import io.rpma.CompletionStatus;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** Tests the slots and completions of a send queue against a queue of completions and two counters. */
class SendQueueTest {
    private static final int QUEUE_PAIR = 77;

    private enum Step { TAKE, COMPLETE, POLL }

    /**
     * A step of a test. The count is the number of work requests that complete at once, or of completions that are polled. The
     * other components are those of the completion.
     */
    private record Call(Step step, int count, long context, int status, int opcode, int length) {
    }

    private record Completion(long number, Call call) {
    }

    private final Deque<Completion> ready = new ArrayDeque<>();
    private long taken;
    private long completed;
    private long polled;

    @Provide
    static Arbitrary<List<Call>> calls() {
        return Combinators.combine(Arbitraries.of(Step.TAKE, Step.TAKE, Step.TAKE, Step.COMPLETE, Step.COMPLETE, Step.POLL),
                Arbitraries.integers().between(1, 4), Arbitraries.longs(), Arbitraries.integers().between(0, 22),
                Arbitraries.integers().between(0, 255), Arbitraries.integers().greaterOrEqual(0))
            .as(Call::new).withoutEdgeCases().list().ofMaxSize(200);
    }

    @Property(tries = 200)
    void aPolledCompletionFreesItsSlotAndAllEarlierOnes(@ForAll @IntRange(min = 1, max = 20) int slots,
            @ForAll("calls") List<Call> calls) throws RpmaException {
        ready.clear();
        taken = 0;
        completed = 0;
        polled = 0;
        SendQueue queue = new SendQueue(slots);
        for (Call call : calls) {
            act(queue, call);
            assertEquals(ready.size(), queue.ready());
        }
        while (!ready.isEmpty()) {
            poll(queue, 1);
        }
        for (; taken - polled < slots; taken++) {
            assertEquals(taken + 1, queue.take());
        }
        assertThrows(RpmaException.class, queue::take);
    }

    private void act(SendQueue queue, Call call) throws RpmaException {
        switch (call.step) {
            case TAKE -> {
                if (taken - polled < queue.slots()) {
                    assertEquals(++taken, queue.take());
                } else {
                    assertThrows(RpmaException.class, queue::take);
                }
            }
            case COMPLETE -> {
                // The earlier work requests of the step have no completion of their own.
                if (completed + call.count <= taken) {
                    completed += call.count;
                    queue.complete(completed, call.context, call.status, call.opcode, call.length);
                    ready.add(new Completion(completed, call));
                }
            }
            case POLL -> poll(queue, call.count);
        }
    }

    private void poll(SendQueue queue, int most) {
        WorkCompletions batch = new WorkCompletions(most + 1);
        // One entry of the batch is already in use.
        int count = queue.poll(batch, 1, QUEUE_PAIR);
        assertEquals(1 + Math.min(most, ready.size()), count);
        for (int i = 1; i < count; i++) {
            Completion expected = ready.remove();
            polled = expected.number;
            assertEquals(expected.call.context, batch.context(i));
            assertEquals(expected.call.status, batch.statusCode(i));
            if (expected.call.status == CompletionStatus.SUCCESS.code()) {
                assertEquals(expected.call.opcode, batch.opcodeCode(i));
                assertEquals(expected.call.length, batch.byteLength(i));
            }
            assertEquals(QUEUE_PAIR, batch.queuePairNumber(i));
        }
    }
}
