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

package io.rpma.netty.memory;

import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import io.rpma.NativeMemory;
import io.rpma.netty.jit.InliningBarrier;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * A buffer in registered memory: a block of a slab. The object is kept and reused together with a block, so that an allocation
 * creates no garbage. A buffer that becomes larger than a slab continues in unregistered memory, and is copied when it is sent.
 */
public final class RpmaByteBuf extends AbstractReferenceCountedByteBuf {
    private static final InliningBarrier RECYCLE =
        new InliningBarrier(MethodHandles.lookup(), RpmaByteBuf.class, "recycle", MethodType.methodType(void.class));

    private final Pool pool;
    private BuddyArena.Block block;
    private ByteBuffer memory;
    private int base;
    private long address;
    private int length;
    private ByteBuffer internal;
    // The unregistered memory that replaces the block of a buffer that became too large, or null.
    private ByteBuf outgrown;
    // What the block belongs to, or null. A released buffer is returned to its owner.
    private Owner owner;

    /** What keeps the block of a buffer, so that a released buffer does not return to the allocator. */
    public interface Owner {
        /** Called when the reference count has reached 0, by the thread that has released the buffer. */
        void released();
    }

    /** Where the blocks come from. Thread-safe. */
    interface Pool {
        /** Returns the public allocator, which is the allocator of all buffers. */
        ByteBufAllocator allocator();

        /** Returns a free buffer whose block has 2<sup>shift</sup> bytes, or {@code null} if there is none. */
        RpmaByteBuf take(int shift);

        /** Takes a free buffer back. */
        void give(RpmaByteBuf buf);
    }

    RpmaByteBuf(BuddyArena.Block block, Pool pool) {
        super(Integer.MAX_VALUE);
        this.pool = pool;
        attach(block);
    }

    private void attach(BuddyArena.Block to) {
        block = to;
        memory = to.slab.buffer();
        base = to.offset;
        address = to.slab.address() + to.offset;
        internal = null;
    }

    private int room() {
        return outgrown != null ? outgrown.capacity() : block.bytes();
    }

    /** Prepares a free buffer for use. */
    public void reuse(int capacity, int maxCapacity) {
        maxCapacity(maxCapacity);
        length = capacity;
        resetRefCnt();
        setIndex(0, 0);
        markReaderIndex();
        markWriterIndex();
    }

    /** Assigns the buffer to an owner, such as an area of large data, or to none if {@code null}. */
    public void owner(Owner to) {
        owner = to;
    }

    public BuddyArena.Block block() {
        return block;
    }

    /** Returns the slab; a buffer that the transport itself allocates never leaves its block. */
    public Slab slab() {
        return block.slab;
    }

    @Override
    protected void deallocate() {
        try {
            RECYCLE.method().invokeExact(this);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    private void recycle() {
        if (outgrown != null) {
            outgrown.release();
            outgrown = null;
            attach(block);
        }
        if (owner != null) {
            owner.released();
        } else {
            pool.give(this);
        }
    }

    @Override
    public int capacity() {
        return length;
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.min(room(), maxCapacity()) - writerIndex();
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity > room()) {
            move(newCapacity);
        } else if (newCapacity < length) {
            trimIndicesToCapacity(newCapacity);
        }
        length = newCapacity;
        return this;
    }

    /** Continues in a larger block, or in unregistered memory. */
    private void move(int newCapacity) {
        RpmaByteBuf larger = newCapacity <= Slabs.SLAB_SIZE
            ? pool.take(BuddyArena.shift(newCapacity)) : null;
        if (larger == null) {
            outgrow(newCapacity);
            return;
        }
        NativeMemory.copy(address, larger.address, length);
        if (outgrown != null) {
            outgrown.release();
            outgrown = null;
        }
        BuddyArena.Block old = block;
        attach(larger.block);
        larger.attach(old);
        pool.give(larger);
    }

    private void outgrow(int newCapacity) {
        ByteBuf unregistered = UnpooledByteBufAllocator.DEFAULT.directBuffer(newCapacity, newCapacity);
        NativeMemory.copy(address, unregistered.memoryAddress(), length);
        if (outgrown != null) {
            outgrown.release();
        }
        outgrown = unregistered;
        memory = unregistered.nioBuffer(0, newCapacity);
        base = 0;
        address = unregistered.memoryAddress();
        internal = null;
    }

    @Override
    public ByteBufAllocator alloc() {
        return pool.allocator();
    }

    @Override
    @Deprecated
    public ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    @Override
    public ByteBuf unwrap() {
        return null;
    }

    @Override
    public boolean isDirect() {
        return true;
    }

    @Override
    public boolean isContiguous() {
        return true;
    }

    @Override
    public boolean hasArray() {
        return false;
    }

    @Override
    public byte[] array() {
        throw new UnsupportedOperationException("registered memory is off the heap");
    }

    @Override
    public int arrayOffset() {
        throw new UnsupportedOperationException("registered memory is off the heap");
    }

    @Override
    public boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return address;
    }

    @Override
    protected byte _getByte(int index) {
        return memory.get(base + index);
    }

    @Override
    protected short _getShort(int index) {
        return memory.getShort(base + index);
    }

    @Override
    protected short _getShortLE(int index) {
        return Short.reverseBytes(memory.getShort(base + index));
    }

    @Override
    protected int _getUnsignedMedium(int index) {
        return (memory.get(base + index) & 0xff) << 16 | memory.getShort(base + index + 1) & 0xffff;
    }

    @Override
    protected int _getUnsignedMediumLE(int index) {
        return Short.reverseBytes(memory.getShort(base + index)) & 0xffff | (memory.get(base + index + 2) & 0xff) << 16;
    }

    @Override
    protected int _getInt(int index) {
        return memory.getInt(base + index);
    }

    @Override
    protected int _getIntLE(int index) {
        return Integer.reverseBytes(memory.getInt(base + index));
    }

    @Override
    protected long _getLong(int index) {
        return memory.getLong(base + index);
    }

    @Override
    protected long _getLongLE(int index) {
        return Long.reverseBytes(memory.getLong(base + index));
    }

    @Override
    protected void _setByte(int index, int value) {
        memory.put(base + index, (byte) value);
    }

    @Override
    protected void _setShort(int index, int value) {
        memory.putShort(base + index, (short) value);
    }

    @Override
    protected void _setShortLE(int index, int value) {
        memory.putShort(base + index, Short.reverseBytes((short) value));
    }

    @Override
    protected void _setMedium(int index, int value) {
        memory.put(base + index, (byte) (value >>> 16));
        memory.putShort(base + index + 1, (short) value);
    }

    @Override
    protected void _setMediumLE(int index, int value) {
        memory.putShort(base + index, Short.reverseBytes((short) value));
        memory.put(base + index + 2, (byte) (value >>> 16));
    }

    @Override
    protected void _setInt(int index, int value) {
        memory.putInt(base + index, value);
    }

    @Override
    protected void _setIntLE(int index, int value) {
        memory.putInt(base + index, Integer.reverseBytes(value));
    }

    @Override
    protected void _setLong(int index, long value) {
        memory.putLong(base + index, value);
    }

    @Override
    protected void _setLongLE(int index, long value) {
        memory.putLong(base + index, Long.reverseBytes(value));
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
        checkDstIndex(index, length, dstIndex, dst.capacity());
        if (dst.hasMemoryAddress()) {
            NativeMemory.copy(address + index, dst.memoryAddress() + dstIndex, length);
        } else if (dst.hasArray()) {
            NativeMemory.copy(address + index, dst.array(), dst.arrayOffset() + dstIndex, length);
        } else {
            dst.setBytes(dstIndex, this, index, length);
        }
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] dst, int dstIndex, int length) {
        checkDstIndex(index, length, dstIndex, dst.length);
        NativeMemory.copy(address + index, dst, dstIndex, length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer dst) {
        int length = dst.remaining();
        checkIndex(index, length);
        dst.put(dst.position(), memory, base + index, length);
        dst.position(dst.position() + length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
        checkIndex(index, length);
        byte[] bytes = new byte[Math.min(length, 8192)];
        for (int done = 0; done < length;) {
            int n = Math.min(bytes.length, length - done);
            NativeMemory.copy(address + index + done, bytes, 0, n);
            out.write(bytes, 0, n);
            done += n;
        }
        return this;
    }

    @Override
    public int getBytes(int index, GatheringByteChannel out, int length) throws IOException {
        return out.write(nioBuffer(index, length));
    }

    @Override
    public int getBytes(int index, FileChannel out, long position, int length) throws IOException {
        return out.write(nioBuffer(index, length), position);
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuf src, int srcIndex, int length) {
        checkSrcIndex(index, length, srcIndex, src.capacity());
        if (src.hasMemoryAddress()) {
            NativeMemory.copy(src.memoryAddress() + srcIndex, address + index, length);
        } else if (src.hasArray()) {
            NativeMemory.copy(src.array(), src.arrayOffset() + srcIndex, address + index, length);
        } else {
            src.getBytes(srcIndex, this, index, length);
        }
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, byte[] src, int srcIndex, int length) {
        checkSrcIndex(index, length, srcIndex, src.length);
        NativeMemory.copy(src, srcIndex, address + index, length);
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuffer src) {
        int length = src.remaining();
        checkIndex(index, length);
        memory.put(base + index, src, src.position(), length);
        src.position(src.position() + length);
        return this;
    }

    @Override
    public int setBytes(int index, InputStream in, int length) throws IOException {
        checkIndex(index, length);
        byte[] bytes = new byte[Math.min(length, 8192)];
        int read = in.read(bytes, 0, bytes.length);
        if (read > 0) {
            NativeMemory.copy(bytes, 0, address + index, read);
        }
        return read;
    }

    @Override
    public int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
        return in.read(nioBuffer(index, length));
    }

    @Override
    public int setBytes(int index, FileChannel in, long position, int length) throws IOException {
        return in.read(nioBuffer(index, length), position);
    }

    @Override
    public ByteBuf copy(int index, int length) {
        checkIndex(index, length);
        return alloc().directBuffer(length, maxCapacity()).writeBytes(this, index, length);
    }

    @Override
    public int nioBufferCount() {
        return 1;
    }

    @Override
    public ByteBuffer nioBuffer(int index, int length) {
        checkIndex(index, length);
        return memory.slice(base + index, length).order(ByteOrder.BIG_ENDIAN);
    }

    @Override
    public ByteBuffer internalNioBuffer(int index, int length) {
        checkIndex(index, length);
        ByteBuffer view = internal;
        if (view == null) {
            view = memory.slice(base, room()).order(ByteOrder.BIG_ENDIAN);
            internal = view;
        }
        return view.clear().position(index).limit(index + length);
    }

    @Override
    public ByteBuffer[] nioBuffers(int index, int length) {
        return new ByteBuffer[] {nioBuffer(index, length)};
    }
}
