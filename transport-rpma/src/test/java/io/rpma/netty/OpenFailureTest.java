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
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.stream.StreamOpening;
import io.rpma.netty.stream.StreamSizes;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the receives of a connection are returned if the connection cannot be opened, and the objects that were created for
 * it cannot be closed either.
 */
@Timeout(60)
class OpenFailureTest {
    private static final InetSocketAddress REMOTE = new InetSocketAddress("192.0.2.1", 7471);

    private final List<Integer> left = new ArrayList<>();

    /** Counts the returned receives. */
    private final class CountedReceives extends ReceiveBuffers {
        CountedReceives() {
            super(null, 64);
        }

        @Override
        public void configure(ConnectionConfig config) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void post(ConnectionRequest request, int count) {
            // The method returns as if the receives had been posted.
        }

        @Override
        public void leave(int count) {
            left.add(count);
        }

        @Override
        public int most() {
            throw new UnsupportedOperationException();
        }

        @Override
        public RpmaByteBuf buffer(int slot) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void repost(int slot) {
            throw new UnsupportedOperationException();
        }

        @Override
        public RpmaByteBuf exchange(int slot) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isCrowded() {
            return false;
        }

        @Override
        public boolean isShared() {
            return true;
        }

        @Override
        public void endedMidway() {
            throw new UnsupportedOperationException();
        }
    }

    /** A request of a peer that has disappeared, on a device that fails. */
    private static final class FailingRequest implements ConnectionRequest {
        @Override
        public ByteBuffer privateData() throws RpmaException {
            throw new RpmaException(RpmaError.PROVIDER, "private data");
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return REMOTE;
        }

        @Override
        public void receive(LocalMemoryRegion target, long offset, long length, long context) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Connection connect(ByteBuffer privateData) throws RpmaException {
            throw new RpmaException(RpmaError.PROVIDER, "connect");
        }

        @Override
        public void close() throws RpmaException {
            throw new RpmaException(RpmaError.PROVIDER, "close");
        }
    }

    private static void assertReason(String reason, RpmaException failure) {
        assertEquals(reason, failure.getMessage());
        assertEquals("close", failure.getSuppressed()[0].getMessage());
    }

    @Test
    void theReceivesOfAStreamComeBack() throws Exception {
        Fabric fabric = Fabric.of(Rpma.provider().devices().getFirst());
        StreamSizes sizes = new StreamSizes(64, 4, 8, 0);
        assertReason("connect", assertThrows(RpmaException.class,
            () -> StreamOpening.connect(PublicTypes.INSTANCE, fabric, sizes, new CountedReceives(), new FailingRequest(),
                ByteBuffer.allocate(0), REMOTE)));
        assertEquals(List.of(sizes.receiveQueue()), left);
    }

    @Test
    void theReasonOfAMessageConnectionIsTheFirstFailure() {
        MessageSizes sizes = new MessageSizes(64, 4, 8, null, false, 64);
        assertReason("private data", assertThrows(RpmaException.class,
            () -> MessageQueuePair.accept(null, sizes, new FailingRequest(), ByteBuffer.allocate(0))));
    }
}
