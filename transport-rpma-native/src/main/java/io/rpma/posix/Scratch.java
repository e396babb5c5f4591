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

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory of one thread for the arguments and results of a system call. The next call may overwrite its content. */
public final class Scratch {
    /** The largest message of the control socket, in bytes. */
    public static final int MESSAGE_CAPACITY = 8192;

    /** The largest number of descriptors in one message; the kernel's own limit is 253. */
    public static final int MAX_DESCRIPTORS = 128;

    /** Where in a {@code struct msghdr} the length of the control message is. */
    public static final int HEADER_CONTROL_LENGTH = 40;

    /** Where in a {@code struct msghdr} the flags are. */
    public static final int HEADER_FLAGS = 48;

    private static final int VECTORS = 0;
    private static final int HEADER = 64;
    private static final int ADDRESS = 128;
    // The struct iovec of the message, in which only the length changes.
    private static final int VECTOR = 448;
    private static final int CONTROL = 512;
    private static final int CONTROL_CAPACITY = 16 + 4 * MAX_DESCRIPTORS;
    private static final int MESSAGE = 2048;
    private static final int TOTAL = MESSAGE + MESSAGE_CAPACITY;

    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    // Freed when this object, and with it the thread, is gone.
    private final MemorySegment segment = Arena.ofAuto().allocate(TOTAL, 64);
    private final long address = segment.address();
    private final ByteBuffer message = segment.asSlice(MESSAGE, MESSAGE_CAPACITY).asByteBuffer().order(ByteOrder.nativeOrder());

    private Scratch() {
        Memory.putLong(address + VECTOR, messageAddress());
        Memory.putLong(address + HEADER + 16, address + VECTOR);
        Memory.putLong(address + HEADER + 24, 1);
        Memory.putLong(address + HEADER + 32, control());
    }

    public static Scratch get() {
        return SCRATCH.get();
    }

    /** Returns room for two {@code struct iovec}. */
    public long vectors() {
        return address + VECTORS;
    }

    /** Returns the {@code struct msghdr} of the message and its control message, whose length is still to be set. */
    public long header(int length) {
        Memory.putLong(address + VECTOR + 8, length);
        return address + HEADER;
    }

    /** Returns room for a socket address of up to 128 bytes. */
    public long address() {
        return address + ADDRESS;
    }

    /** Returns room for a control message with {@link #MAX_DESCRIPTORS} descriptors. */
    public long control() {
        return address + CONTROL;
    }

    /** Returns the size of {@link #control()}. */
    public int controlCapacity() {
        return CONTROL_CAPACITY;
    }

    /** Returns the memory of one message, at any position. */
    public ByteBuffer message() {
        return message;
    }

    /** Returns the address of one message. */
    public long messageAddress() {
        return address + MESSAGE;
    }
}
