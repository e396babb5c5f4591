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

import io.rpma.posix.Memory;
import io.rpma.soft.shared.Half;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Rows M35 and M36, the fence in {@code Requester.enter}: an end closes while its peer begins an operation. The peer is that of
 * soft. The two accesses of the end that closes are part of this case, because a connection that is closed cannot be opened
 * again. They are the same as in {@code QueuePair.close} and {@code RemoteEnd.operation}. The words are those of {@link
 * DeregisterStress.WithoutPeersFence}.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence Requester:2 'CloseStress$'}: 929 of 29,206,545 results were
 * forbidden; with the fence none.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "The operation is executed, and the closing end does not wait.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The operation is not executed, or the closing end waits for it.")
@State
public class CloseStress {
    private static final Turns<Pair> PAIRS = new Turns<>(Pair::new);

    private final Pair pair = PAIRS.next();

    /** Ends the last operation, and makes the server ready again. */
    public CloseStress() {
        pair.client.requester().leave();
        Memory.putInt(pair.server.base() + Half.STATE, Half.READY);
    }

    /** The peer. It stays busy, because the operation does not end before the result is known. */
    @Actor
    public void execute(II_Result r) {
        int status = pair.client.requester().execute(Operation.WRITE, null, 0, null, 0, 0, 0, 0);
        r.r1 = status == 0 ? 1 : 0;
    }

    /** The end that closes. */
    @Actor
    public void close(II_Result r) {
        Memory.putIntVolatile(pair.server.base() + Half.STATE, Half.ERROR);
        Memory.fullFence();
        r.r2 = Memory.getIntVolatile(pair.client.base() + Half.BUSY) & 1;
    }
}
