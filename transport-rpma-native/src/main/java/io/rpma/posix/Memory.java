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
package io.rpma.posix;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Access to memory by absolute address. One constant segment covers the whole address space, so that the compiler eliminates its
 * checks. A caller that computes an address from a value that another process wrote has to check that value first.
 */
public final class Memory {
    /** Bytes of a cache line. Words that different sides write lie {@link #APART} bytes apart. */
    public static final int CACHE_LINE = 64;

    /** Two cache lines: adjacent lines are fetched in pairs by some processors. */
    public static final int APART = 2 * CACHE_LINE;

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.varHandle();
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private Memory() {
    }

    public static byte getByte(long address) {
        return (byte) BYTE.get(ALL, address);
    }

    public static void putByte(long address, byte value) {
        BYTE.set(ALL, address, value);
    }

    public static short getShort(long address) {
        return (short) SHORT.get(ALL, address);
    }

    public static void putShort(long address, short value) {
        SHORT.set(ALL, address, value);
    }

    public static int getInt(long address) {
        return (int) INT.get(ALL, address);
    }

    public static void putInt(long address, int value) {
        INT.set(ALL, address, value);
    }

    public static int getIntAcquire(long address) {
        return (int) INT.getAcquire(ALL, address);
    }

    public static void putIntRelease(long address, int value) {
        INT.setRelease(ALL, address, value);
    }

    public static int getIntVolatile(long address) {
        return (int) INT.getVolatile(ALL, address);
    }

    public static void putIntVolatile(long address, int value) {
        INT.setVolatile(ALL, address, value);
    }

    public static boolean casInt(long address, int expected, int value) {
        return INT.compareAndSet(ALL, address, expected, value);
    }

    public static int getAndSetInt(long address, int value) {
        return (int) INT.getAndSet(ALL, address, value);
    }

    public static long getLong(long address) {
        return (long) LONG.get(ALL, address);
    }

    public static void putLong(long address, long value) {
        LONG.set(ALL, address, value);
    }

    public static long getLongAcquire(long address) {
        return (long) LONG.getAcquire(ALL, address);
    }

    public static void putLongRelease(long address, long value) {
        LONG.setRelease(ALL, address, value);
    }

    public static long getLongVolatile(long address) {
        return (long) LONG.getVolatile(ALL, address);
    }

    public static boolean casLong(long address, long expected, long value) {
        return LONG.compareAndSet(ALL, address, expected, value);
    }

    public static long getAndSetLong(long address, long value) {
        return (long) LONG.getAndSet(ALL, address, value);
    }

    public static long getAndBitwiseOrLong(long address, long mask) {
        return (long) LONG.getAndBitwiseOr(ALL, address, mask);
    }

    public static long getAndBitwiseAndLong(long address, long mask) {
        return (long) LONG.getAndBitwiseAnd(ALL, address, mask);
    }

    /** Orders every earlier access before every later one, including a store before a load of another word. */
    public static void fullFence() {
        VarHandle.fullFence();
    }

    /** Orders every earlier load before every later access. */
    public static void acquireFence() {
        VarHandle.acquireFence();
    }

    /** Copies; the two may overlap. */
    public static void copy(long source, long target, long length) {
        MemorySegment.copy(ALL, source, ALL, target, length);
    }

    /** Copies an array to an address. */
    public static void put(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    /** Fills with zeros. */
    public static void zero(long address, long length) {
        ALL.asSlice(address, length).fill((byte) 0);
    }

    /** Returns a segment over memory that the caller keeps alive. */
    public static MemorySegment segment(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    /** Converts a short between native order and network order. */
    public static short networkOrder(short value) {
        return LITTLE_ENDIAN ? Short.reverseBytes(value) : value;
    }
}
