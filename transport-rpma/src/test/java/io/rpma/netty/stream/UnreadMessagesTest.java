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

package io.rpma.netty.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Tests unread messages against an ordinary queue. */
class UnreadMessagesTest {
    private enum Step { ADD, TAKE_BUFFER, RELEASE_SLOT, REMOVE }

    private record Call(Step step, int slot, int bytes) {
    }

    private record Message(ByteBuf buffer, int slot, int bytes) {
    }

    @Provide
    static Arbitrary<List<Call>> calls() {
        // Half of the calls add messages, so that the queue becomes full as well.
        return Combinators.combine(
                Arbitraries.of(Step.ADD, Step.ADD, Step.ADD, Step.TAKE_BUFFER, Step.RELEASE_SLOT, Step.REMOVE),
                Arbitraries.integers().between(UnreadMessages.AREA, 100), Arbitraries.integers().between(0, 1 << 22))
            .as(Call::new).withoutEdgeCases().list().ofMaxSize(200);
    }

    @Property(tries = 200)
    void messagesComeOutInTheirOrderWithTheirSlotAndLength(@ForAll @IntRange(min = 1, max = 16) int most,
            @ForAll("calls") List<Call> calls) {
        UnreadMessages messages = new UnreadMessages();
        Deque<Message> model = new ArrayDeque<>();
        for (Call call : calls) {
            act(messages, model, most, call);
            assertEquals(model.size(), messages.count());
            assertOldest(messages, model.peek());
        }
        while (!model.isEmpty()) {
            assertOldest(messages, model.peek());
            act(messages, model, most, new Call(Step.REMOVE, 0, 0));
        }
        assertEquals(0, messages.count());
    }

    private static void act(UnreadMessages messages, Deque<Message> model, int most, Call call) {
        if (call.step == Step.ADD) {
            if (model.size() < most) {
                Message message = new Message(Unpooled.wrappedBuffer(new byte[1]), call.slot, call.bytes);
                messages.add(message.buffer, message.slot, message.bytes);
                model.add(message);
            }
            return;
        }
        Message oldest = model.poll();
        if (oldest == null) {
            return;
        }
        switch (call.step) {
            case TAKE_BUFFER -> {
                assertSame(oldest.buffer, messages.takeBuffer());
                model.addFirst(new Message(null, oldest.slot, oldest.bytes));
            }
            case RELEASE_SLOT -> {
                messages.releaseSlot();
                model.addFirst(new Message(oldest.buffer, UnreadMessages.NO_SLOT, oldest.bytes));
            }
            default -> {
                assertSame(oldest.buffer, messages.takeBuffer());
                messages.remove();
            }
        }
    }

    private static void assertOldest(UnreadMessages messages, Message oldest) {
        if (oldest == null) {
            assertNull(messages.buffer());
            return;
        }
        assertSame(oldest.buffer, messages.buffer());
        assertEquals(oldest.slot, messages.slot());
        assertEquals(oldest.bytes, messages.bytes());
    }
}
