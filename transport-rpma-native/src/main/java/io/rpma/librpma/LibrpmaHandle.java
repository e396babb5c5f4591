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

import io.rpma.RpmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * An object of the library, with the pointer to it. The pointer becomes zero when the object is closed, so that a later use
 * fails with an exception instead of passing freed memory to the library.
 */
abstract class LibrpmaHandle {
    private static final VarHandle HANDLE;

    static {
        try {
            HANDLE = MethodHandles.lookup().findVarHandle(LibrpmaHandle.class, "handle", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String what;
    private long handle;

    /**
     * Wraps a pointer.
     *
     * @param what the kind of object, for messages
     * @param handle the pointer
     */
    LibrpmaHandle(String what, long handle) {
        this.what = what;
        this.handle = handle;
    }

    /**
     * Returns the pointer.
     *
     * @throws RpmaException {@link io.rpma.RpmaError#INVALID} if the object is closed
     */
    final long handle() throws RpmaException {
        long pointer = handle;
        if (pointer == 0) {
            throw closed();
        }
        return pointer;
    }

    final boolean isOpen() {
        return handle != 0;
    }

    /** Returns the pointer to the first caller, which has to free it, and 0 to all others. */
    final long take() {
        return (long) HANDLE.getAndSet(this, 0L);
    }

    /** Returns the exception for a use after close. */
    final RpmaException closed() {
        return LibrpmaFailure.invalid("the " + what + " is closed");
    }

    /** Returns the kind of object. */
    final String what() {
        return what;
    }

    /**
     * Creates an object that has no parent.
     *
     * @param function {@code int f(handle **)}
     * @param name its name
     * @return the pointer
     */
    static long create(MethodHandle function, String name) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            LibrpmaFailure.check(name, Librpma.call(function, pointer));
            return pointer.get(JAVA_LONG, 0);
        }
    }

    /**
     * Frees an object. The object is freed even if the function returns an error.
     *
     * @param function {@code int f(handle **)}
     * @param name its name
     * @param handle the pointer, not 0
     */
    static void delete(MethodHandle function, String name, long handle) throws RpmaException {
        LibrpmaFailure.check(name, delete(function, handle));
    }

    /** Frees an object after another failure, which is the one to be reported, and returns the code. */
    static int delete(MethodHandle function, long handle) {
        try (Arena arena = Arena.ofConfined()) {
            return Librpma.call(function, arena.allocateFrom(JAVA_LONG, handle));
        }
    }

    /** Gets a pointer or a size: {@code int f(handle, long *)}. */
    static long getLong(MethodHandle function, String name, long handle) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            LibrpmaFailure.check(name, Librpma.call(function, handle, value));
            return value.get(JAVA_LONG, 0);
        }
    }

    /** Gets a number or a descriptor: {@code int f(handle, int *)}. */
    static int getInt(MethodHandle function, String name, long handle) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_INT);
            LibrpmaFailure.check(name, Librpma.call(function, handle, value));
            return value.get(JAVA_INT, 0);
        }
    }

    /** Gets a boolean: {@code int f(handle, bool *)}. */
    static boolean getBoolean(MethodHandle function, String name, long handle) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_BOOLEAN);
            LibrpmaFailure.check(name, Librpma.call(function, handle, value));
            return value.get(JAVA_BOOLEAN, 0);
        }
    }

    /** Sets a queue's size: {@code int f(handle, uint32_t)}. */
    static void setSize(MethodHandle function, String name, long handle, int size) throws RpmaException {
        if (size < 0) {
            throw LibrpmaFailure.invalid(name + ": the size is " + size + "; it must not be negative");
        }
        LibrpmaFailure.check(name, Librpma.call(function, handle, size));
    }
}
