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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.rpma.netty.pair.Outcomes;
import io.rpma.netty.pair.PostTarget;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/**
 * Tests the entries of an outbound buffer against a list of the messages that were written: which ones are posted, and which ones
 * are notified.
 */
class PostedEntriesTest {
    private enum Step { ADD, ADD_REFUSED, CANCEL, FLUSH, WRITE, SUCCEED, FAIL }

    private record Call(Step step, int which) {
    }

    /** A message, from its writing until the notification of its promise. */
    private static final class Message {
        private final ByteBuf buffer = Unpooled.wrappedBuffer(new byte[1]);
        private final ChannelPromise promise;
        private final boolean refused;
        private Throwable cause;

        Message(ChannelPromise promise, boolean refused) {
            this.promise = promise;
            this.refused = refused;
        }
    }

    /** A queue pair with few slots. */
    private final class FewSlots implements PostTarget {
        private final int slots;
        private final Outcomes outcomes;

        FewSlots(int slots) {
            this.slots = slots;
            outcomes = new Outcomes(slots);
        }

        @Override
        public boolean takes(Object message) {
            return true;
        }

        @Override
        public boolean canPost() {
            return underWay.size() + 1 < slots && !outcomes.isFull();
        }

        @Override
        public void post(Object message, boolean last) {
            assertFalse(lastWasPosted, "a message was posted after the one that was announced as the last");
            lastWasPosted = last;
            // A message that leaves no room for another one need not be announced as the last one.
            assertTrue(last || waiting.size() > 1);
            Message next = waiting.removeFirst();
            assertSame(next.buffer, message);
            posted.add(next);
            if (next.refused) {
                next.cause = new Throwable("refused");
                outcomes.refuse(next.cause);
            } else {
                underWay.add(next);
                outcomes.post();
            }
        }

        @Override
        public Outcomes outcomes() {
            return outcomes;
        }
    }

    private final List<Message> unflushed = new ArrayList<>();
    private final List<Message> waiting = new ArrayList<>();
    private final List<Message> posted = new ArrayList<>();
    private final List<Message> underWay = new ArrayList<>();
    private final List<Message> notified = new ArrayList<>();
    private boolean lastWasPosted;

    @Provide
    static Arbitrary<List<Call>> calls() {
        return Combinators.combine(
                Arbitraries.frequency(Tuple.of(8, Step.ADD), Tuple.of(2, Step.ADD_REFUSED), Tuple.of(2, Step.CANCEL),
                    Tuple.of(4, Step.FLUSH), Tuple.of(4, Step.WRITE), Tuple.of(6, Step.SUCCEED), Tuple.of(1, Step.FAIL)),
                Arbitraries.integers().between(0, 20))
            .as(Call::new).withoutEdgeCases().list().ofMaxSize(100);
    }

    @Property(tries = 200)
    void flushedMessagesArePostedAndNotifiedInTheirOrderAndEachOnce(@ForAll @IntRange(min = 2, max = 8) int slots,
            @ForAll("calls") List<Call> calls) {
        List.of(unflushed, waiting, posted, underWay, notified).forEach(List::clear);
        EmbeddedChannel channel = new EmbeddedChannel();
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        PostedEntries entries = new PostedEntries();
        FewSlots target = new FewSlots(slots);
        for (Call call : calls) {
            act(channel, buffer, entries, target, call);
            assertEquals(posted.size() - notified.size(), entries.count());
        }
        Throwable end = new Throwable("the end");
        underWay.forEach(message -> message.cause = end);
        // Messages that were refused behind others have their own reasons, which are not reported any more.
        posted.subList(notified.size(), posted.size()).forEach(message -> message.cause = end);
        entries.fail(end);
        channel.runPendingTasks();
        assertEquals(0, entries.count());
        assertEquals(posted.size(), notified.size());
        assertNotified();
        waiting.forEach(message -> assertFalse(message.promise.isDone()));
        buffer.addFlush();
        boolean more = true;
        while (more) {
            more = buffer.remove();
        }
        channel.close();
    }

    private void act(EmbeddedChannel channel, ChannelOutboundBuffer buffer, PostedEntries entries, FewSlots target, Call call) {
        switch (call.step) {
            case ADD, ADD_REFUSED -> {
                Message message = new Message(channel.newPromise(), call.step == Step.ADD_REFUSED);
                message.promise.addListener(future -> notified.add(message));
                buffer.addMessage(message.buffer, 1, message.promise);
                unflushed.add(message);
            }
            case CANCEL -> {
                if (!unflushed.isEmpty()) {
                    Message message = unflushed.remove(call.which % unflushed.size());
                    assertTrue(message.promise.cancel(false));
                    channel.runPendingTasks();
                    assertSame(message, notified.removeLast());
                }
            }
            case FLUSH -> {
                buffer.addFlush();
                waiting.addAll(unflushed);
                unflushed.clear();
            }
            case WRITE -> write(channel, buffer, entries, target);
            default -> {
                if (!underWay.isEmpty()) {
                    Message oldest = underWay.removeFirst();
                    oldest.cause = call.step == Step.FAIL ? new Throwable("failed") : null;
                    target.outcomes.end(oldest.cause);
                    entries.settle();
                    channel.runPendingTasks();
                    assertFalse(target.outcomes.hasNext());
                    assertNotified();
                }
            }
        }
    }

    private void write(EmbeddedChannel channel, ChannelOutboundBuffer buffer, PostedEntries entries, FewSlots target) {
        int before = posted.size();
        lastWasPosted = false;
        entries.write(buffer, target);
        channel.runPendingTasks();
        assertEquals(posted.size() > before && waiting.isEmpty(), lastWasPosted);
        assertTrue(waiting.isEmpty() || !target.canPost(), "there is room for another message");
        assertNotified();
    }

    /**
     * Checks that the messages that were notified are the first ones that were posted, with their results, and that their memory
     * is released.
     */
    private void assertNotified() {
        assertEquals(posted.subList(0, notified.size()), notified);
        for (Message message : notified) {
            assertSame(message.cause, message.promise.cause());
            assertEquals(0, message.buffer.refCnt());
        }
        for (Message message : posted.subList(notified.size(), posted.size())) {
            assertEquals(1, message.buffer.refCnt());
        }
    }
}
