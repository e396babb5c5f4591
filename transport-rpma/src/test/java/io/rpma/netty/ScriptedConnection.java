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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import io.rpma.WorkCompletions;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A connection without a device. A subclass plays the peer: it is given the work requests and makes the completions. That way a
 * test can exchange millions of messages in a minute, and knows when each was posted.
 */
class ScriptedConnection implements Connection, ConnectionRequest, CompletionQueue {
    private static final InetSocketAddress ADDRESS = InetSocketAddress.createUnresolved("scripted", 1);

    private final WorkCompletions ready;
    private final int mask;
    private int head;
    private int tail;
    private boolean established;

    /**
     * Creates a connection that is about to be established.
     *
     * @param ready the place for completions that have not been polled; its capacity must be a power of two
     */
    ScriptedConnection(WorkCompletions ready) {
        this.ready = ready;
        mask = ready.capacity() - 1;
    }

    /** Called when a message with immediate data was posted. */
    void sent(LocalMemoryRegion source, long offset, int bytes, boolean signalled, int immediate, long context) {
        // A subclass may override this.
    }

    /** Called when a message without immediate data was posted. */
    void sentPlain(LocalMemoryRegion source, long offset, int bytes, boolean signalled, long context) {
        throw new UnsupportedOperationException();
    }

    /** Called when a write without immediate data was posted. */
    void wrote(boolean signalled, long context) {
        throw new UnsupportedOperationException();
    }

    /** Adds a completion to those that can be polled. */
    final void complete(long context, int status, int opcode, int bytes, int immediate, boolean hasImmediate) {
        ready.set(tail++ & mask, context, status, opcode, bytes, immediate, 1,
            hasImmediate ? WorkCompletions.FLAG_WITH_IMMEDIATE : 0);
    }

    final int waiting() {
        return tail - head;
    }

    @Override
    public final int poll(WorkCompletions completions) {
        int n = Math.min(completions.capacity(), tail - head);
        for (int i = 0; i < n; i++) {
            int from = head++ & mask;
            completions.set(i, ready.context(from), ready.statusCode(from), ready.opcodeCode(from), ready.byteLength(from),
                ready.immediate(from), 1, ready.flags(from));
        }
        return n;
    }

    @Override
    public final int fd() {
        return -1;
    }

    @Override
    public final boolean consumeEvent() {
        return false;
    }

    @Override
    public final int eventFd() {
        return -1;
    }

    @Override
    public final ConnectionEvent nextEvent() {
        if (established) {
            return null;
        }
        established = true;
        return ConnectionEvent.ESTABLISHED;
    }

    @Override
    public final ByteBuffer privateData() {
        return ByteBuffer.allocate(0);
    }

    @Override
    public final int queuePairNumber() {
        return 1;
    }

    @Override
    public final InetSocketAddress localAddress() {
        return ADDRESS;
    }

    @Override
    public final InetSocketAddress remoteAddress() {
        return ADDRESS;
    }

    @Override
    public final CompletionQueue completionQueue() {
        return this;
    }

    @Override
    public final CompletionQueue receiveCompletionQueue() {
        return null;
    }

    @Override
    public final int completionFd() {
        return -1;
    }

    @Override
    public final CompletionQueue consumeCompletionEvent() {
        return null;
    }

    @Override
    public final Connection connect(ByteBuffer privateData) {
        return this;
    }

    @Override
    public final void sendWithImmediate(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, int immediate,
            long context) {
        sent(source, offset, (int) length, flag == CompletionFlag.ALWAYS, immediate, context);
    }

    @Override
    public final void writeWithImmediate(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source,
            long sourceOffset, long length, CompletionFlag flag, int immediate, long context) {
        sent(source, sourceOffset, (int) length, flag == CompletionFlag.ALWAYS, immediate, context);
    }

    @Override
    public final void applyRemotePeerConfig(PeerConfig config) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void read(LocalMemoryRegion target, long targetOffset, RemoteMemoryRegion source, long sourceOffset,
            long length, CompletionFlag flag, long context) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void write(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset,
            long length, CompletionFlag flag, long context) {
        wrote(flag == CompletionFlag.ALWAYS, context);
    }

    @Override
    public final void atomicWrite(RemoteMemoryRegion target, long targetOffset, long value, CompletionFlag flag, long context) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void flush(RemoteMemoryRegion target, long targetOffset, long length, FlushType type, CompletionFlag flag,
            long context) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void send(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, long context) {
        sentPlain(source, offset, (int) length, flag == CompletionFlag.ALWAYS, context);
    }

    @Override
    public final void receive(LocalMemoryRegion target, long offset, long length, long context) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void disconnect() {
        // There is no peer that would have to be notified.
    }

    @Override
    public void close() {
        // There is nothing to close.
    }

    @Override
    public boolean isQuiescent() {
        return true;
    }
}
