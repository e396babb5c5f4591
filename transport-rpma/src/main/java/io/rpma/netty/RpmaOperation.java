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

import io.netty.buffer.ByteBuf;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredCopy;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.Slab;
import io.rpma.netty.pair.OneSided;
import java.util.Objects;

/**
 * A one-sided operation: it accesses the peer's memory without involving the peer's processor. It is written to a connected
 * channel of this transport like any other message and executed in the order of the pipeline; its promise succeeds when it has
 * completed. Operations that are written one after the other are under way concurrently. On an {@link RpmaChannel}, bytes that
 * are written after an operation wait for its completion.
 *
 * <p>An operation that is invalid by itself (bounds on either side, alignment, usages) fails its promise with the reason before
 * it is posted, and the channel stays usable. An operation that the peer's device refuses fails its promise with an
 * {@link RpmaCompletionException} and ends the connection. An operation can be written only once. It retains its regions and
 * its buffer, which therefore cannot be freed before the device has stopped using them.
 *
 * <p>If an {@link RpmaChannel} is closed, or its output is shut down, the promises of its operations fail immediately. The device
 * may continue to access the memory of these operations until the connection has ended. Whoever uses memory for something else
 * as soon as it is not accessed any more needs an {@link RpmaTransfer}, whose future is done only then, or an
 * {@link RpmaMessageChannel}.
 */
public final class RpmaOperation extends AbstractReferenceCounted {
    private enum Kind {
        READ("read", MemoryUsage.READ_SRC, MemoryUsage.READ_DST),
        WRITE("write", MemoryUsage.WRITE_DST, MemoryUsage.WRITE_SRC),
        WRITE_WITH_IMMEDIATE("write with immediate data", MemoryUsage.WRITE_DST, MemoryUsage.WRITE_SRC),
        ATOMIC_WRITE("atomic write", MemoryUsage.WRITE_DST, null),
        FLUSH_PERSISTENT("flush to persistence", MemoryUsage.FLUSH_PERSISTENT, null),
        FLUSH_VISIBILITY("flush to visibility", MemoryUsage.FLUSH_VISIBILITY, null);

        final String text;
        final MemoryUsage there;
        final MemoryUsage here;

        Kind(String text, MemoryUsage there, MemoryUsage here) {
            this.text = text;
            this.there = there;
            this.here = here;
        }
    }

    private final Kind kind;
    private final RpmaRemoteRegion remote;
    private final long remoteOffset;
    private final long length;
    private final RpmaRegion region;
    private final long offset;
    /** The user's buffer, or {@code null} if the operation moves a region or a value. */
    private final ByteBuf buffer;
    private final long value;
    private final OneSided work = new Work();
    /** The registered memory that is moved in place of the buffer: the buffer itself, or a copy. */
    private ByteBuf memory;
    private int position;
    private boolean prepared;
    /** Runs when the operation is deallocated; may be {@code null}. */
    private Runnable whenReleased;

    /** Retains the regions and takes over the reference to the buffer, which is released if the operation cannot be created. */
    private RpmaOperation(Kind kind, RpmaRemoteRegion remote, long remoteOffset, long length, RpmaRegion region, long offset,
            ByteBuf buffer, long value) {
        this.kind = kind;
        this.remoteOffset = remoteOffset;
        this.length = length;
        this.offset = offset;
        this.value = value;
        this.remote = remote;
        this.region = region;
        this.buffer = buffer;
        RpmaRemoteRegion retained = null;
        try {
            retained = Objects.requireNonNull(remote, "the remote region").retain();
            if (region != null) {
                region.retain();
            }
        } catch (RuntimeException e) {
            release(retained);
            ReferenceCountUtil.safeRelease(buffer);
            throw e;
        }
    }

    /**
     * Reads from the peer's memory into a region ({@code rpma_read(3)}).
     *
     * @param source a region that the peer registered for {@link MemoryUsage#READ_SRC}
     * @param sourceOffset the offset in bytes
     * @param length the length in bytes
     * @param target registered for {@link MemoryUsage#READ_DST}
     * @param targetOffset the offset in bytes
     */
    public static RpmaOperation read(RpmaRemoteRegion source, long sourceOffset, long length, RpmaRegion target,
            long targetOffset) {
        Objects.requireNonNull(target, "target");
        return new RpmaOperation(Kind.READ, source, sourceOffset, length, target, targetOffset, null, 0);
    }

    /**
     * Reads from the peer's memory into a buffer ({@code rpma_read(3)}). The bytes are stored at the writer index, which
     * advances when the promise succeeds.
     *
     * @param source a region that the peer registered for {@link MemoryUsage#READ_SRC}
     * @param sourceOffset the offset in bytes
     * @param length in bytes, at most 4 MiB; the buffer must have at least as many writable bytes
     * @param target any buffer, which must not be touched before the promise is done. A buffer of {@link RpmaByteBufAllocator}
     *     is read into directly, any other through a copy. The operation retains the buffer
     */
    public static RpmaOperation read(RpmaRemoteRegion source, long sourceOffset, int length, ByteBuf target) {
        return new RpmaOperation(Kind.READ, source, sourceOffset, length, null, 0, target.retain(), 0);
    }

    /**
     * Writes from a region to the peer's memory ({@code rpma_write(3)}).
     *
     * @param source registered for {@link MemoryUsage#WRITE_SRC}; its bytes must not be changed before the promise is done
     * @param sourceOffset the offset in bytes
     * @param length the length in bytes
     * @param target a region that the peer registered for {@link MemoryUsage#WRITE_DST}
     * @param targetOffset the offset in bytes
     */
    public static RpmaOperation write(RpmaRegion source, long sourceOffset, long length, RpmaRemoteRegion target,
            long targetOffset) {
        Objects.requireNonNull(source, "source");
        return new RpmaOperation(Kind.WRITE, target, targetOffset, length, source, sourceOffset, null, 0);
    }

    /**
     * Writes a buffer's readable bytes to the peer's memory ({@code rpma_write(3)}).
     *
     * @param source any buffer of at most 4 MiB. A buffer of {@link RpmaByteBufAllocator} is written without copying, any other
     *     through a copy. The operation takes over its reference, as every write of a buffer does, and its readable bytes must
     *     not change any more; the buffer is released even if this method throws an exception
     * @param target a region that the peer registered for {@link MemoryUsage#WRITE_DST}
     * @param targetOffset the offset in bytes
     */
    public static RpmaOperation write(ByteBuf source, RpmaRemoteRegion target, long targetOffset) {
        return new RpmaOperation(Kind.WRITE, target, targetOffset, source.readableBytes(), null, 0, source, 0);
    }

    /**
     * Writes from a region to the peer's memory and notifies the peer ({@code rpma_write_with_imm(3)}), which reads an
     * {@link RpmaWritten}. Works only on message channels, and only on devices that support immediate data, which iWARP devices
     * do not.
     *
     * @param immediate 32 bits that the peer receives, in host order
     */
    public static RpmaOperation writeWithImmediate(RpmaRegion source, long sourceOffset, long length, RpmaRemoteRegion target,
            long targetOffset, int immediate) {
        Objects.requireNonNull(source, "source");
        return new RpmaOperation(Kind.WRITE_WITH_IMMEDIATE, target, targetOffset, length, source, sourceOffset, null, immediate);
    }

    /**
     * Writes a buffer's readable bytes to the peer's memory and notifies the peer ({@code rpma_write_with_imm(3)}), which reads
     * an {@link RpmaWritten}. Works only on message channels, and only on devices that support immediate data, which iWARP
     * devices do not.
     *
     * @param immediate 32 bits that the peer receives, in host order
     */
    public static RpmaOperation writeWithImmediate(ByteBuf source, RpmaRemoteRegion target, long targetOffset, int immediate) {
        return new RpmaOperation(Kind.WRITE_WITH_IMMEDIATE, target, targetOffset, source.readableBytes(), null, 0, source,
            immediate);
    }

    /**
     * Writes eight bytes atomically ({@code rpma_atomic_write(3)}). A reader on the peer's side sees all of them or none, and
     * only after everything that was written before. The peer's region must begin at an address that is a multiple of 8.
     *
     * @param target a region that the peer registered for {@link MemoryUsage#WRITE_DST}
     * @param targetOffset the offset in bytes, a multiple of 8
     * @param value the eight bytes, in the byte order of this machine
     */
    public static RpmaOperation atomicWrite(RpmaRemoteRegion target, long targetOffset, long value) {
        return new RpmaOperation(Kind.ATOMIC_WRITE, target, targetOffset, Connection.ATOMIC_WRITE_ALIGNMENT, null, 0, null,
            value);
    }

    /**
     * Makes what was written before visible or persistent ({@code rpma_flush(3)}); the promise succeeds when it is.
     *
     * @param target a region that the peer registered for {@link MemoryUsage#FLUSH_VISIBILITY} or
     *     {@link MemoryUsage#FLUSH_PERSISTENT}
     * @param targetOffset the offset in bytes
     * @param length the length in bytes
     * @param type how far the data is flushed; {@link FlushType#PERSISTENT} also needs the peer's configuration:
     *     {@link RpmaPeerConfig}
     */
    public static RpmaOperation flush(RpmaRemoteRegion target, long targetOffset, long length, FlushType type) {
        Objects.requireNonNull(type, "type");
        return new RpmaOperation(type == FlushType.PERSISTENT ? Kind.FLUSH_PERSISTENT : Kind.FLUSH_VISIBILITY, target,
            targetOffset, length, null, 0, null, 0);
    }

    boolean takesReceive() {
        return kind == Kind.WRITE_WITH_IMMEDIATE;
    }

    /** Checks the operation and prepares its memory; called on the event loop when the operation is written. */
    void prepare() throws RpmaException {
        if (prepared) {
            throw new IllegalStateException("an operation can be written only once");
        }
        if (refCnt() == 0 || buffer != null && buffer.refCnt() == 0) {
            throw new IllegalStateException("the operation, or its buffer, was released before it was written");
        }
        prepared = true;
        check();
        if (buffer != null) {
            prepareBuffer();
        }
    }

    /** Checks bounds, alignment and usages on both sides. */
    void check() throws RpmaException {
        check("remote", remoteOffset, length, remote.size());
        if (!remote.allows(kind.there)) {
            throw refused("the remote region was registered for " + remote.usages() + ", not for " + kind.there);
        }
        if (kind == Kind.ATOMIC_WRITE && remoteOffset % Connection.ATOMIC_WRITE_ALIGNMENT != 0) {
            throw refused("its offset " + remoteOffset + " is not a multiple of " + Connection.ATOMIC_WRITE_ALIGNMENT);
        }
        if (kind == Kind.ATOMIC_WRITE && remote.address() % Connection.ATOMIC_WRITE_ALIGNMENT != 0) {
            throw refused("the remote region begins at 0x" + Long.toHexString(remote.address()) + ", not at a multiple of "
                + Connection.ATOMIC_WRITE_ALIGNMENT + ": the peer must register memory that is aligned");
        }
        if (region != null) {
            check("local", offset, length, region.size());
            if (!region.usages().contains(kind.here)) {
                throw refused("the local region was registered for " + region.usages() + ", not for " + kind.here);
            }
        }
        if (buffer != null) {
            checkBuffer();
        }
    }

    private void checkBuffer() throws RpmaException {
        if (kind != Kind.READ) {
            if (length != buffer.readableBytes()) {
                throw refused("the buffer has " + buffer.readableBytes() + " readable bytes, not the " + length
                    + " that it had when the operation was created: do not use a buffer that is being written");
            }
        } else if (buffer.isReadOnly()) {
            throw refused("the buffer is read-only");
        } else if (length > buffer.writableBytes()) {
            throw refused("the buffer has room for " + buffer.writableBytes() + " bytes, not for " + length);
        }
    }

    /**
     * Returns the same operation for a part of the bytes that this one moves. The part retains the regions and the buffer
     * itself.
     *
     * @param from the offset of the part within the bytes of this operation
     * @param whenReleased runs when neither the channel nor the device uses the part any more, on the thread that releases it
     */
    RpmaOperation part(long from, long bytes, Runnable whenReleased) {
        ByteBuf part = null;
        if (buffer != null) {
            part = kind == Kind.READ ? buffer.retainedSlice(buffer.writerIndex() + (int) from, (int) bytes).writerIndex(0)
                : buffer.retainedSlice(buffer.readerIndex() + (int) from, (int) bytes);
        }
        RpmaOperation operation = new RpmaOperation(kind, remote, remoteOffset + from, bytes, region, offset + from, part, value);
        operation.whenReleased = whenReleased;
        return operation;
    }

    /** Advances the writer index of a read's buffer, after all parts have succeeded. */
    void partsSucceeded() {
        if (kind == Kind.READ && buffer != null) {
            buffer.writerIndex(buffer.writerIndex() + (int) length);
        }
    }

    /** Returns the number of bytes that the operation moves. */
    long length() {
        return length;
    }

    /** Returns whether the operation moves the bytes of a buffer, which may have to be copied for the device. */
    boolean movesBuffer() {
        return buffer != null;
    }

    private void prepareBuffer() throws RpmaException {
        boolean read = kind == Kind.READ;
        position = read ? buffer.writerIndex() : buffer.readerIndex();
        if (length == 0) {
            return;
        }
        if (RegisteredCopy.isRegistered(buffer)) {
            memory = buffer;
        } else if (read) {
            memory = RegisteredCopy.empty((int) length);
        } else {
            memory = RegisteredCopy.of(buffer);
            position = memory.readerIndex();
        }
    }

    private void check(String where, long from, long bytes, long size) throws RpmaException {
        if (from < 0 || bytes < 0 || bytes > size || from > size - bytes) {
            throw refused(bytes + " bytes at offset " + from + " exceed the " + where + " region, which has " + size);
        }
    }

    private RpmaException refused(String why) {
        return new RpmaException(RpmaError.INVALID, kind.text + " refused: " + why);
    }

    /**
     * Registers the operation's memory with the device, unless it is registered already. A failure here concerns this operation
     * alone, not the connection.
     */
    private void register(Fabric fabric) throws RpmaException {
        if (region != null) {
            region.on(fabric);
        } else if (memory != null) {
            RegisteredMemory.slab(memory.memoryAddress()).region(fabric);
        }
    }

    /** Posts the operation, whose memory must have been registered. */
    private void post(Connection connection, Fabric fabric, CompletionFlag flag, long context) throws RpmaException {
        if (length > fabric.limits().maxMessageSize()) {
            throw refused(length + " bytes are more than the " + fabric.limits().maxMessageSize() + " that " + fabric
                + " can transfer in one operation; split it");
        }
        LocalMemoryRegion local = null;
        long at = offset;
        if (region != null) {
            local = region.on(fabric);
        } else if (memory != null) {
            Slab slab = RegisteredMemory.slab(memory.memoryAddress());
            local = slab.region(fabric);
            at = memory.memoryAddress() + (memory == buffer || kind != Kind.READ ? position : 0) - slab.address();
        }
        switch (kind) {
            case READ -> connection.read(local, at, there(local, fabric), thereOffset(local), length, flag, context);
            case WRITE -> connection.write(there(local, fabric), thereOffset(local), local, at, length, flag, context);
            case WRITE_WITH_IMMEDIATE -> {
                fabric.requireImmediateData("write without it, and then send a message, which arrives after the data of the"
                    + " write");
                connection.writeWithImmediate(there(local, fabric), thereOffset(local), local, at, length, flag, (int) value,
                    context);
            }
            case ATOMIC_WRITE -> connection.atomicWrite(remote.on(fabric), remoteOffset, value, flag, context);
            case FLUSH_PERSISTENT ->
                connection.flush(remote.on(fabric), remoteOffset, length, FlushType.PERSISTENT, flag, context);
            case FLUSH_VISIBILITY ->
                connection.flush(remote.on(fabric), remoteOffset, length, FlushType.VISIBILITY, flag, context);
        }
    }

    /** Returns the peer's region, or {@code null} if the buffer is empty: librpma then expects neither region. */
    private io.rpma.RemoteMemoryRegion there(LocalMemoryRegion local, Fabric fabric) throws RpmaException {
        return local == null ? null : remote.on(fabric);
    }

    private long thereOffset(LocalMemoryRegion local) {
        return local == null ? 0 : remoteOffset;
    }

    /** Called when the operation has completed, before its promise is notified. */
    void succeeded() {
        if (kind == Kind.READ && buffer != null) {
            if (memory != null && memory != buffer) {
                buffer.setBytes(position, memory, 0, (int) length);
            }
            buffer.writerIndex(position + (int) length);
        }
    }

    /** Returns this operation as queue pairs see it. */
    OneSided work() {
        return work;
    }

    /** This operation as queue pairs see it; an interface of this class would make the methods public. */
    private final class Work implements OneSided {
        @Override
        public void register(Fabric fabric) throws RpmaException {
            RpmaOperation.this.register(fabric);
        }

        @Override
        public void post(Connection connection, Fabric fabric, CompletionFlag flag, long context) throws RpmaException {
            RpmaOperation.this.post(connection, fabric, flag, context);
        }

        @Override
        public String text() {
            return kind.text;
        }

        @Override
        public int refCnt() {
            return RpmaOperation.this.refCnt();
        }

        @Override
        public OneSided retain(int increment) {
            RpmaOperation.this.retain(increment);
            return this;
        }

        @Override
        public OneSided touch(Object hint) {
            RpmaOperation.this.touch(hint);
            return this;
        }

        @Override
        public boolean release(int decrement) {
            return RpmaOperation.this.release(decrement);
        }
    }

    @Override
    protected void deallocate() {
        // The application may have released one of them too often, which must not prevent the rest.
        ReferenceCountUtil.safeRelease(remote);
        ReferenceCountUtil.safeRelease(region);
        ReferenceCountUtil.safeRelease(buffer);
        if (memory != buffer) {
            release(memory);
        }
        if (whenReleased != null) {
            whenReleased.run();
        }
    }

    private static void release(ReferenceCounted held) {
        if (held != null) {
            held.release();
        }
    }

    @Override
    public RpmaOperation retain() {
        super.retain();
        return this;
    }

    @Override
    public RpmaOperation retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpmaOperation touch() {
        super.touch();
        return this;
    }

    @Override
    public RpmaOperation touch(Object hint) {
        if (buffer != null) {
            buffer.touch(hint);
        }
        return this;
    }

    @Override
    public String toString() {
        return kind.text + " of " + length + " bytes at offset " + remoteOffset + " of a " + remote;
    }
}
