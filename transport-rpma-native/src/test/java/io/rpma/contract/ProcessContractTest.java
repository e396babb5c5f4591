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
package io.rpma.contract;

import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.ConnectionEvent.CLOSED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests connections between two processes, and the death of one of them. */
class ProcessContractTest extends ContractCase {
    private ContractChild child;
    private Endpoint endpoint;
    private Connection connection;
    private LocalMemoryRegion region;
    private RemoteMemoryRegion atChild;

    @BeforeEach
    void connect() throws Exception {
        endpoint = endpoint();
        region = region(Pair.SIZE);
        child = ContractChild.connecting(endpoint.localAddress());
        scope.onClose(child::end);
        ConnectionConfig config = config().completionQueueSize(32);
        // Starting a process may take longer than the usual timeout on a loaded machine.
        Poll.readable(endpoint.fd(), 60_000);
        ConnectionRequest request = scope.own(Wait.request(endpoint, config));
        ByteBuffer descriptor = request.privateData();
        atChild = scope.own(Contract.PROVIDER.openRemoteRegion(descriptor.slice(0, region.descriptorSize())));
        connection = scope.own(request.connect(null));
        child.expect("connected");
        Wait.event(ConnectionEvent.ESTABLISHED, connection);
    }

    @Test
    void messagesCrossProcesses() throws Exception {
        connection.receive(region, 0, 64, 1);
        child.command("send");
        Completion received = Wait.success(connection.completionQueue());
        assertEquals(1, received.context());
        assertEquals(64, received.byteLength());
        Memory.assertFilled(region, 0, 64, 3);
        Memory.fill(region, 4096, 64, 4);
        connection.send(region, 4096, 64, ALWAYS, 2);
        assertEquals(2, Wait.success(connection.completionQueue()).context());
        child.command("receive");
    }

    @Test
    void readsAndWritesCrossProcesses() throws Exception {
        child.command("fill");
        connection.read(region, 0, atChild, 8192, 4096, ALWAYS, 1);
        Wait.success(connection.completionQueue());
        Memory.assertFilled(region, 0, 4096, 1);
        Memory.fill(region, 0, 4096, 2);
        connection.write(atChild, 16384, region, 0, 4096, ALWAYS, 2);
        Wait.success(connection.completionQueue());
        child.command("check");
    }

    /** Returns memory of the other process that no provider has allocated. */
    private RemoteMemoryRegion foreign() throws Exception {
        child.command("foreign");
        connection.read(region, 0, atChild, 0, region.descriptorSize(), ALWAYS, 1);
        Wait.success(connection.completionQueue());
        ByteBuffer descriptor = region.memory().asSlice(0, region.descriptorSize()).asByteBuffer();
        return scope.own(Contract.PROVIDER.openRemoteRegion(descriptor));
    }

    /**
     * The memory could be a file that the other process has mapped. No device writes it to the medium, and this process cannot do
     * so. A flush that did nothing must not succeed.
     */
    @Test
    void softDoesNotPromiseThatForeignMemoryIsPersistent() throws Exception {
        assumeTrue(Contract.PROVIDER.name().equals("soft"), "an adapter flushes, or takes persistence on trust");
        RemoteMemoryRegion foreign = foreign();
        try (PeerConfig theirs = Contract.PROVIDER.newPeerConfig().directWriteToPmem(true)) {
            connection.applyRemotePeerConfig(theirs);
        }
        connection.flush(foreign, 0, 64, FlushType.VISIBILITY, ALWAYS, 2);
        Wait.success(connection.completionQueue());
        connection.flush(foreign, 0, 64, FlushType.PERSISTENT, ALWAYS, 3);
        assertEquals(CompletionStatus.REM_OP_ERR, Wait.failure(connection.completionQueue()).status());
    }

    /** rpma_atomic_write(3) only requires that the memory is registered, regardless of how it was allocated. */
    @Test
    void atomicWritesReachMemoryOfAnyOrigin() throws Exception {
        RemoteMemoryRegion foreign = foreign();
        connection.atomicWrite(foreign, 64, 0x0102030405060708L, ALWAYS, 2);
        Wait.success(connection.completionQueue());
        child.command("check foreign");
    }

    /**
     * A stalled message arrives after a receive has been posted. Until then, the sender sleeps on the descriptor of its
     * completion queue.
     */
    @Test
    void stalledSendOfAWaitingProcessArrives() throws Exception {
        child.command("post send");
        child.begin("complete send");
        Wait.noCompletion(connection.completionQueue());
        connection.receive(region, 0, 64, 1);
        Completion received = Wait.success(connection.completionQueue());
        assertEquals(1, received.context());
        assertEquals(64, received.byteLength());
        child.expect("done complete send");
    }

    /**
     * The same applies if the sending process does something else in the meantime, because an adapter retries by itself. Software
     * RDMA has no thread of its own: stalled work only continues while the process waits on its descriptors or calls a function.
     */
    @Test
    void stalledSendOfABusyProcessArrives() throws Exception {
        assumeFalse(Contract.PROVIDER.name().equals("soft"), "software RDMA continues when the sending process calls a function");
        child.command("post send"); // The process then waits for the next command without calling a function.
        Wait.noCompletion(connection.completionQueue());
        connection.receive(region, 0, 64, 1);
        Completion received = Wait.success(connection.completionQueue());
        assertEquals(1, received.context());
        assertEquals(64, received.byteLength());
    }

    /** The other process checks the bounds itself, regardless of the sizes that this process assumes. */
    @Test
    void boundsHoldAcrossProcesses() throws Exception {
        connection.write(atChild, Pair.SIZE - 8, region, 0, 64, ALWAYS, 1);
        assertEquals(CompletionStatus.REM_ACCESS_ERR, Wait.completion(connection.completionQueue()).status());
    }

    @Test
    void orderlyEndCrossesProcesses() throws Exception {
        connection.disconnect();
        child.command("disconnect");
        Wait.event(CLOSED, connection);
    }

    /** facts 2.4: the death of the other process causes CLOSED, as its disconnecting does. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void deathOfTheOtherProcessIsClosed(boolean killed) throws Exception {
        connection.receive(region, 0, 64, 1);
        connection.receive(region, 64, 64, 2);
        child.command("send");
        if (killed) {
            child.kill();
        } else {
            child.lastCommand("halt");
        }
        Wait.event(CLOSED, connection);
        Completion received = Wait.success(connection.completionQueue());
        Memory.assertFilled(region, (received.context() - 1) * 64, 64, 3);
        // The other receive is flushed by the disconnect and not by the death of the process.
        Wait.noCompletion(connection.completionQueue());
        connection.disconnect();
        Completion flushed = Wait.completion(connection.completionQueue());
        assertEquals(CompletionStatus.WR_FLUSH_ERR, flushed.status());
        assertEquals(Set.of(1L, 2L), Set.of(received.context(), flushed.context()));
    }

    /** Outstanding work ends without success after the other process has died and this side has disconnected. */
    @Test
    void workUnderWayEndsWithTheOtherProcess() throws Exception {
        for (int i = 0; i < 6; i++) {
            connection.send(region, 0, 64, ALWAYS, i); // There are four receives, so two sends stall.
        }
        Wait.successes(connection.completionQueue(), 4);
        child.kill();
        Wait.event(CLOSED, connection);
        connection.disconnect();
        Set<Long> ended = new HashSet<>();
        for (Completion completion : Wait.completions(connection.completionQueue(), 2)) {
            assertFalse(completion.success());
            ended.add(completion.context());
        }
        assertEquals(Set.of(4L, 5L), ended);
    }

    /** A stalled message of a dead process does not arrive after its death. */
    @Test
    void stalledSendOfADeadProcessDoesNotArrive() throws Exception {
        child.command("post send");
        child.kill();
        Wait.event(CLOSED, connection);
        connection.receive(region, 0, 64, 1);
        Wait.noCompletion(connection.completionQueue());
        connection.disconnect();
        assertEquals(CompletionStatus.WR_FLUSH_ERR, Wait.completion(connection.completionQueue()).status());
        Memory.assertUntouched(region, 0, 64);
    }

    /** One-sided operations on the memory of a dead process cause no damage, and do not succeed after the disconnect. */
    @Test
    void memoryOfADeadProcessIsOutOfReach() throws Exception {
        connection.write(atChild, 16384, region, 0, 64, ALWAYS, 1);
        Wait.success(connection.completionQueue());
        child.kill();
        Wait.event(CLOSED, connection);
        connection.disconnect();
        connection.write(atChild, 16384, region, 0, 64, ALWAYS, 2);
        connection.read(region, 0, atChild, 16384, 64, ALWAYS, 3);
        for (Completion completion : Wait.completions(connection.completionQueue(), 2)) {
            assertEquals(CompletionStatus.WR_FLUSH_ERR, completion.status());
        }
    }

    /** The endpoint can serve the next process. */
    @Test
    void endpointServesOnAfterADeath() throws Exception {
        child.kill();
        Wait.event(CLOSED, connection);
        pair(Pair.with().endpoint(endpoint)).exchange();
    }
}
