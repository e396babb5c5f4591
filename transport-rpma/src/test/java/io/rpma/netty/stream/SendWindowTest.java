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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.AbstractReferenceCounted;
import io.netty.util.ReferenceCounted;
import io.rpma.CompletionFlag;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.RpmaProvider;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.OneSided;
import io.rpma.netty.pair.Outcomes;
import io.rpma.netty.pair.UserTypes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/** Tests the work requests under way against a list of them: which ones complete when, and what is released with them. */
class SendWindowTest {
    private enum Step { SEND_NOTHING, SEND, SEND_OF_STREAM, OPERATE, BE_REFUSED, COMPLETE, FAIL }

    private record Call(Step step, int which, boolean signalled) {
    }

    /** A buffer that records its release. */
    private final class Buffer extends AbstractReferenceCounted {
        private final long number;

        Buffer(long number) {
            this.number = number;
        }

        @Override
        protected void deallocate() {
            released.add(number);
        }

        @Override
        public ReferenceCounted touch(Object hint) {
            return this;
        }
    }

    /** An operation that is never posted. */
    private static final class Operation extends AbstractReferenceCounted implements OneSided {
        @Override
        public void register(Fabric fabric) {
            throw new AssertionError();
        }

        @Override
        public void post(Connection connection, Fabric fabric, CompletionFlag flag, long context) {
            throw new AssertionError();
        }

        @Override
        public String text() {
            return "flush";
        }

        @Override
        protected void deallocate() {
            // There is nothing to release.
        }

        @Override
        public ReferenceCounted touch(Object hint) {
            return this;
        }
    }

    private static final class Types implements UserTypes {
        @Override
        public IOException refused(InetSocketAddress remote, String reason) {
            throw new AssertionError();
        }

        @Override
        public IOException failed(String what, CompletionStatus status) {
            return new IOException(what + ": " + status);
        }

        @Override
        public boolean isRefusal(Throwable failure) {
            throw new AssertionError();
        }

        @Override
        public String path(RpmaProvider provider) {
            throw new AssertionError();
        }
    }

    /** A work request that was posted. */
    private record Request(long number, ReferenceCounted user, boolean signalled) {
    }

    private final List<Request> requests = new ArrayList<>();
    private final List<Long> released = new ArrayList<>();
    private Outcomes outcomes;
    private SendWindow window;
    // All requests below this number have completed.
    private long completed;
    // The number of the last request that failed, and the exception with which the connection has ended.
    private long failed;
    private IOException broken;
    private long lastOfStream;

    @Provide
    static Arbitrary<List<Call>> calls() {
        return Combinators.combine(
                Arbitraries.frequency(Tuple.of(2, Step.SEND_NOTHING), Tuple.of(8, Step.SEND), Tuple.of(4, Step.SEND_OF_STREAM),
                    Tuple.of(4, Step.OPERATE), Tuple.of(3, Step.BE_REFUSED), Tuple.of(6, Step.COMPLETE), Tuple.of(1, Step.FAIL)),
                Arbitraries.integers().between(0, 63), Arbitraries.of(true, false))
            .as(Call::new).withoutEdgeCases().list().ofMaxSize(200);
    }

    @Property(tries = 200)
    void whatARequestUsesIsReleasedOnceAndInOrderWhenItHasCompleted(@ForAll @IntRange(min = 1, max = 40) int sendQueue,
            @ForAll("calls") List<Call> calls) throws Exception {
        requests.clear();
        released.clear();
        outcomes = new Outcomes(sendQueue);
        window = new SendWindow(sendQueue, outcomes, new Types());
        completed = 0;
        failed = -1;
        broken = null;
        lastOfStream = -1;
        for (Call call : calls) {
            act(call);
            assertWindow(sendQueue);
        }
        window.close();
        // The remaining buffers are released in no particular order.
        released.sort(null);
        assertEquals(buffersBelow(Long.MAX_VALUE), released);
        for (Request request : requests) {
            assertEquals(0, request.user == null ? 0 : request.user.refCnt());
        }
    }

    private void act(Call call) {
        switch (call.step) {
            case SEND_NOTHING -> post(null, call.signalled);
            case SEND -> post(new Buffer(window.next()), call.signalled);
            case SEND_OF_STREAM -> {
                if (post(new Buffer(window.next()), call.signalled)) {
                    window.isOfStream();
                    lastOfStream = window.next() - 1;
                }
            }
            case OPERATE -> {
                Operation operation = new Operation();
                if (post(operation, true)) {
                    outcomes.post();
                } else {
                    operation.release();
                }
            }
            case BE_REFUSED -> refuse();
            case COMPLETE -> {
                // Only signalled requests report success.
                List<Request> candidates = underWay().filter(Request::signalled).toList();
                if (broken == null && !candidates.isEmpty()) {
                    complete(candidates.get(call.which % candidates.size()).number);
                }
            }
            case FAIL -> {
                // On a queue pair that has failed, all further requests fail too.
                List<Request> candidates = underWay().toList();
                if (!candidates.isEmpty()) {
                    fail(candidates.get(call.which % candidates.size()));
                }
            }
        }
    }

    private Stream<Request> underWay() {
        return requests.stream().filter(request -> request.number >= completed && request.number > failed);
    }

    /** Posts a request if there is room. It is signalled at least as often as the window requires. */
    private boolean post(ReferenceCounted user, boolean signalled) {
        if (window.free() == 0 || broken != null) {
            return false;
        }
        boolean signal = signalled || window.isSignalDue();
        requests.add(new Request(window.next(), user, signal));
        window.use(user);
        window.posted(signal);
        return true;
    }

    private void refuse() {
        if (window.free() > 0) {
            Buffer buffer = new Buffer(window.next());
            window.use(buffer);
            assertEquals(1, buffer.refCnt());
            window.refused();
            assertEquals(buffer.number, released.removeLast());
        }
    }

    private void complete(long number) {
        long operations = operationsUpTo(number);
        window.retire(number);
        takeSuccesses(operations);
        assertFalse(outcomes.hasNext());
        completed = number + 1;
    }

    private void fail(Request request) {
        long operations = operationsUpTo(request.number - 1);
        window.fail(request.number, CompletionStatus.REM_ACCESS_ERR, broken);
        takeSuccesses(operations);
        if (request.user instanceof OneSided) {
            Throwable cause = outcomes.next();
            assertTrue(broken == null ? cause.getMessage().equals("flush: REM_ACCESS_ERR") : cause == broken);
            assertEquals(0, request.user.refCnt());
        }
        assertFalse(outcomes.hasNext());
        completed = request.number;
        failed = request.number;
        broken = new IOException("the connection has ended");
    }

    private long operationsUpTo(long number) {
        return underWay().filter(request -> request.number <= number && request.user instanceof OneSided).count();
    }

    private void takeSuccesses(long operations) {
        for (long i = 0; i < operations; i++) {
            assertTrue(outcomes.hasNext());
            assertNull(outcomes.next());
        }
    }

    private List<Long> buffersBelow(long number) {
        return requests.stream().filter(request -> request.number < number && request.user instanceof Buffer)
            .map(Request::number).toList();
    }

    private void assertWindow(int sendQueue) {
        assertEquals(buffersBelow(completed), released);
        underWay().filter(request -> request.user != null).forEach(request -> assertEquals(1, request.user.refCnt()));
        assertEquals(requests.size(), window.next());
        assertEquals(sendQueue - (requests.size() - completed), window.free());
        assertTrue(window.free() >= 0);
        assertEquals(requests.size() == completed, window.isEmpty());
        assertTrue(window.isAfterStream(lastOfStream + 1) && !window.isAfterStream(lastOfStream));
        if (broken == null) {
            boolean awaited = underWay().anyMatch(Request::signalled);
            assertEquals(!awaited, window.isSettled());
            assertTrue(awaited || window.free() > 0, "a full window without a signalled request would stay full");
        }
    }
}
