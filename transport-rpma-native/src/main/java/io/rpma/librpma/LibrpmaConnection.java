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
package io.rpma.librpma;

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_conn}. */
final class LibrpmaConnection extends LibrpmaHandle implements Connection {
    private static final int PROVIDER = RpmaError.PROVIDER.code();
    private static final int NO_EVENT = RpmaError.NO_EVENT.code();
    private static final int NO_COMPLETION = RpmaError.NO_COMPLETION.code();
    private static final long MAX_LENGTH = LibrpmaFailure.MAX_LENGTH;

    // Offsets in the scratch memory, which is written and read within one call.
    private static final long EVENT = 0;
    private static final long QUEUE = 8;
    private static final long IS_RECEIVE_QUEUE = 16;
    private static final long ATOMIC_VALUE = 24;
    private static final long SCRATCH_SIZE = 32;

    private final LibrpmaProtectionDomain peer;
    private final LibrpmaSharedReceiveQueue sharedReceiveQueue;
    private final int eventFd;
    private final int queuePairNumber;
    private final LibrpmaCompletionQueue completionQueue;
    private final LibrpmaCompletionQueue receiveCompletionQueue;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_SIZE, 8);
    private final MemorySegment eventScratch = scratch.asSlice(EVENT, 4);
    private final long scratchAddress = scratch.address();
    // The pointer for work requests of the send queue: 0 until the connection is established, and again once it is closed.
    private long sender;
    private volatile boolean quiescent;

    private LibrpmaConnection(long handle, LibrpmaProtectionDomain peer, LibrpmaSharedReceiveQueue sharedReceiveQueue,
            boolean incoming, InetSocketAddress asked) throws RpmaException {
        super("connection", handle);
        sender = incoming ? handle : 0;
        this.peer = peer;
        this.sharedReceiveQueue = sharedReceiveQueue;
        eventFd = LibrpmaDescriptor.nonBlocking(Librpma.CONN_GET_EVENT_FD, "rpma_conn_get_event_fd", handle);
        queuePairNumber = getInt(Librpma.CONN_GET_QP_NUM, "rpma_conn_get_qp_num", handle);
        completionQueue = new LibrpmaCompletionQueue(getLong(Librpma.CONN_GET_CQ, "rpma_conn_get_cq", handle));
        long receiveQueue = getLong(Librpma.CONN_GET_RCQ, "rpma_conn_get_rcq", handle);
        receiveCompletionQueue = receiveQueue == 0 ? null : new LibrpmaCompletionQueue(receiveQueue);
        localAddress = LibrpmaAddresses.local(handle, LibrpmaAddresses.CONNECTION_ID, peer.context());
        InetSocketAddress remote = LibrpmaAddresses.remote(handle, LibrpmaAddresses.CONNECTION_ID, peer.context());
        remoteAddress = remote == null ? asked : remote;
    }

    /**
     * Wraps a connection; if that fails, the connection is destroyed.
     *
     * @param peer retained by the caller; the connection takes over that use on success
     * @param sharedReceiveQueue as {@code peer}, or {@code null}
     * @param incoming whether this side has accepted it
     * @param asked the address of the other side in the request, or {@code null}
     */
    static LibrpmaConnection open(long handle, LibrpmaProtectionDomain peer, LibrpmaSharedReceiveQueue sharedReceiveQueue,
            boolean incoming, InetSocketAddress asked) throws RpmaException {
        try {
            return new LibrpmaConnection(handle, peer, sharedReceiveQueue, incoming, asked);
        } catch (Throwable e) {
            delete(Librpma.CONN_DELETE, handle);
            throw e;
        }
    }

    @Override
    public int eventFd() {
        return eventFd;
    }

    @Override
    public ConnectionEvent nextEvent() throws RpmaException {
        long pointer = handle();
        if (LibrpmaLog.isSpeaking() && !LibrpmaDescriptor.isReadable(eventFd)) {
            // Do not call the library: its log message would overwrite the errno EAGAIN.
            return null;
        }
        MemorySegment capture = Posix.capture();
        // Initialise the field: for a log message about an unknown event the library reads it before it writes it.
        eventScratch.set(JAVA_INT, 0, ConnectionEvent.UNDEFINED.code());
        int code = Librpma.connNextEvent(capture, pointer, eventScratch);
        if (code == 0) {
            ConnectionEvent event = ConnectionEvent.of(eventScratch.get(JAVA_INT, 0));
            if (event == ConnectionEvent.ESTABLISHED) {
                sender = pointer;
            }
            return event;
        }
        if (code == NO_EVENT) {
            return null;
        }
        int errno = LibrpmaFailure.errno(code, capture);
        if (errno == Posix.EAGAIN) {
            return null;
        }
        throw LibrpmaFailure.of("rpma_conn_next_event", code, errno, null);
    }

    @Override
    public ByteBuffer privateData() throws RpmaException {
        return LibrpmaBytes.privateData(Librpma.CONN_GET_PRIVATE_DATA, "rpma_conn_get_private_data", handle());
    }

    @Override
    public int queuePairNumber() {
        return queuePairNumber;
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public CompletionQueue completionQueue() {
        return completionQueue;
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return receiveCompletionQueue;
    }

    @Override
    public synchronized int completionFd() throws RpmaException {
        return getInt(Librpma.CONN_GET_COMPL_FD, "rpma_conn_get_compl_fd", handle());
    }

    @Override
    public CompletionQueue consumeCompletionEvent() throws RpmaException {
        int code = LibrpmaDataPath.connWait(handle(), 0, scratchAddress + QUEUE, scratchAddress + IS_RECEIVE_QUEUE);
        if (code == 0) {
            return scratch.get(JAVA_LONG, QUEUE) == completionQueue.handle() ? completionQueue : receiveCompletionQueue;
        }
        if (code == NO_COMPLETION) {
            return null;
        }
        throw LibrpmaFailure.of("rpma_conn_wait", code, 0, code == RpmaError.NOT_SHARED_CHANNEL.code()
            ? "wait on the completion queue (CompletionQueue.consumeEvent)" : null);
    }

    @Override
    public void applyRemotePeerConfig(PeerConfig config) throws RpmaException {
        if (!(config instanceof LibrpmaPeerConfig)) {
            throw LibrpmaFailure.invalid("rpma_conn_apply_remote_peer_cfg: the peer configuration does not belong to the"
                + " provider librpma: "
                + config);
        }
        LibrpmaFailure.check("rpma_conn_apply_remote_peer_cfg", Librpma.call(Librpma.CONN_APPLY_REMOTE_PEER_CFG, handle(),
            ((LibrpmaPeerConfig) config).handle()));
    }

    @Override
    public void read(LocalMemoryRegion target, long targetOffset, RemoteMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException {
        checkRange("rpma_read", targetOffset | sourceOffset, length);
        int code = LibrpmaDataPath.read(sender(), LibrpmaLocalMemoryRegion.pointer(target), targetOffset,
            LibrpmaRemoteMemoryRegion.pointer(source), sourceOffset, length, bits(flag), context);
        if (code != 0) {
            throw postFailed("rpma_read", code, flag, length);
        }
    }

    @Override
    public void write(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException {
        checkRange("rpma_write", targetOffset | sourceOffset, length);
        int code = LibrpmaDataPath.write(sender(), LibrpmaRemoteMemoryRegion.pointer(target), targetOffset,
            LibrpmaLocalMemoryRegion.pointer(source), sourceOffset, length, bits(flag), context);
        if (code != 0) {
            throw postFailed("rpma_write", code, flag, length);
        }
    }

    @Override
    public void writeWithImmediate(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset,
            long length, CompletionFlag flag, int immediate, long context) throws RpmaException {
        checkRange("rpma_write_with_imm", targetOffset | sourceOffset, length);
        int code = LibrpmaDataPath.writeWithImm(sender(), LibrpmaRemoteMemoryRegion.pointer(target), targetOffset,
            LibrpmaLocalMemoryRegion.pointer(source), sourceOffset, length, bits(flag), immediate, context);
        if (code != 0) {
            throw postFailed("rpma_write_with_imm", code, flag, length);
        }
    }

    @Override
    public void atomicWrite(RemoteMemoryRegion target, long targetOffset, long value, CompletionFlag flag, long context)
            throws RpmaException {
        checkRange("rpma_atomic_write", targetOffset, ATOMIC_WRITE_ALIGNMENT);
        // The library copies the eight bytes into the work request: they need no registered memory.
        scratch.set(JAVA_LONG, ATOMIC_VALUE, value);
        int code = LibrpmaDataPath.atomicWrite(sender(), LibrpmaRemoteMemoryRegion.pointer(target), targetOffset,
            scratchAddress + ATOMIC_VALUE, bits(flag), context);
        Reference.reachabilityFence(scratch);
        if (code != 0) {
            throw targetOffset % ATOMIC_WRITE_ALIGNMENT == 0 ? postFailed("rpma_atomic_write", code, flag, 8)
                : LibrpmaFailure.of("rpma_atomic_write", code, 0, "the offset is " + targetOffset
                    + "; it must be a multiple of " + ATOMIC_WRITE_ALIGNMENT);
        }
    }

    @Override
    public void flush(RemoteMemoryRegion target, long targetOffset, long length, FlushType type, CompletionFlag flag,
            long context) throws RpmaException {
        checkRange("rpma_flush", targetOffset, length);
        if (type == null) {
            throw LibrpmaFailure.invalid("rpma_flush: the type is null");
        }
        int code = LibrpmaDataPath.flush(sender(), LibrpmaRemoteMemoryRegion.pointer(target), targetOffset, length, type.code(),
            bits(flag), context);
        if (code != 0) {
            throw code == RpmaError.NOT_SUPPORTED.code() ? flushNotSupported(type, target)
                : postFailed("rpma_flush", code, flag, length);
        }
    }

    private static RpmaException flushNotSupported(FlushType type, RemoteMemoryRegion target) {
        return LibrpmaFailure.of("rpma_flush", RpmaError.NOT_SUPPORTED.code(), 0, type + " on a region that was registered for "
            + target.flushUsages() + (type == FlushType.PERSISTENT
                ? "; it needs FLUSH_PERSISTENT, and a call of applyRemotePeerConfig with a peer configuration that allows direct"
                    + " writes to persistent memory"
                : "; it needs FLUSH_VISIBILITY"));
    }

    @Override
    public void send(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, long context)
            throws RpmaException {
        checkRange("rpma_send", offset, length);
        int code = LibrpmaDataPath.send(sender(), LibrpmaLocalMemoryRegion.pointer(source), offset, length, bits(flag), context);
        if (code != 0) {
            throw postFailed("rpma_send", code, flag, length);
        }
    }

    @Override
    public void sendWithImmediate(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, int immediate,
            long context) throws RpmaException {
        checkRange("rpma_send_with_imm", offset, length);
        int code = LibrpmaDataPath.sendWithImm(sender(), LibrpmaLocalMemoryRegion.pointer(source), offset, length, bits(flag),
            immediate, context);
        if (code != 0) {
            throw postFailed("rpma_send_with_imm", code, flag, length);
        }
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        checkRange("rpma_recv", offset, length);
        long pointer = handle();
        // Do not pass this to the device: the library of siw devices writes to a queue that does not exist, and crashes.
        int code = sharedReceiveQueue != null ? PROVIDER
            : LibrpmaDataPath.recv(pointer, LibrpmaLocalMemoryRegion.pointer(target), offset, length, context);
        if (code != 0) {
            throw receiveFailed(code, offset, length);
        }
    }

    @Override
    public void disconnect() throws RpmaException {
        LibrpmaFailure.check("rpma_conn_disconnect", Librpma.call(Librpma.CONN_DISCONNECT, handle()));
    }

    @Override
    public void close() throws RpmaException {
        long pointer = takeAll();
        if (pointer == 0) {
            return;
        }
        DescriptorWait.closing(eventFd);
        DescriptorWait.closing(completionQueue.fd());
        if (receiveCompletionQueue != null) {
            DescriptorWait.closing(receiveCompletionQueue.fd());
        }
        try {
            delete(Librpma.CONN_DELETE, "rpma_conn_delete", pointer);
        } finally {
            // The first thing that the function destroys is the queue pair.
            quiescent = true;
            if (sharedReceiveQueue != null) {
                sharedReceiveQueue.release();
            }
            peer.release();
        }
    }

    // All pointers become 0 before any wait is ended, because the queues may share a descriptor. The monitor orders this after a
    // call of completionFd() that another thread makes to wait.
    private synchronized long takeAll() {
        long pointer = take();
        if (pointer != 0) {
            sender = 0;
            completionQueue.take();
            if (receiveCompletionQueue != null) {
                receiveCompletionQueue.take();
            }
        }
        return pointer;
    }

    @Override
    public boolean isQuiescent() {
        return quiescent;
    }

    /**
     * Returns the pointer for a work request of the send queue. The library is not called before the connection is established: a
     * device may reject such a request and keep it, to execute it with the next one that it accepts (rdma_rxe does), or may not
     * check the state (devices with a queue of their own).
     */
    private long sender() throws RpmaException {
        long pointer = sender;
        if (pointer == 0) {
            handle();
            throw new RpmaException(RpmaError.PROVIDER, "the connection is not established; wait for nextEvent() to return"
                + " ESTABLISHED before sending");
        }
        return pointer;
    }

    // The library refuses flags of 0 as an error, so null is converted to 0.
    private static int bits(CompletionFlag flag) {
        return flag == null ? 0 : flag.bits();
    }

    // A caller with two offsets passes their bitwise OR, which is negative if one of them is negative.
    private static void checkRange(String function, long offsets, long length) throws RpmaException {
        if ((offsets | length | MAX_LENGTH - length) < 0) {
            throw offsets < 0
                ? LibrpmaFailure.invalid(function + ": an offset is negative; offsets count from the start of a region")
                : LibrpmaFailure.range(function, "the length", length);
        }
    }

    private static RpmaException postFailed(String function, int code, CompletionFlag flag, long length) {
        return LibrpmaFailure.of(function, code, 0, code == RpmaError.INVALID.code()
            ? flag == null ? "the completion flag is null; it must be ON_ERROR or ALWAYS"
                : "a region is null; in that case every other region must be null, and every offset and length must be 0"
            : length + " bytes; the send queue is full (a slot becomes free when the completion of its own or of a later work"
                + " request is polled), the connection is not established, or the device rejected the work request");
    }

    private static RpmaException receiveFailed(int code, long offset, long length) {
        return LibrpmaFailure.of("rpma_recv", code, 0, code == RpmaError.INVALID.code()
            ? "the region is null; in that case the offset (" + offset + ") and the length (" + length + ") must be 0"
            : length + " bytes at offset " + offset + "; the receive queue is full, or the connection uses a shared receive"
                + " queue");
    }
}
