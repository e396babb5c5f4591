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

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Collections;

/**
 * A function of the C library whose arguments are integers and pointers. A negative result means a failure; the methods then
 * return {@code -errno}, so that the caller needs no second call to get the cause.
 *
 * <p>All arguments are passed as longs, whatever the C type is: the calling conventions of x86-64 and aarch64 leave the upper
 * half of the register of an {@code int} unspecified. And every call passes six arguments: both conventions pass the first six in
 * registers, also to a function that C declares with "...", and a function ignores the registers of arguments that it does not
 * have. So all functions have the same type, and the JDK generates code for one type and not for each function. A type costs five
 * to ten milliseconds while a process starts.
 *
 * <p>A constant of this class has to be static and final: the compiler then calls the function directly, because it takes the
 * fields of a record for constants. Any thread may call a function.
 *
 * @param handle the function: its first argument is the memory that receives {@code errno}, the others and the result are longs
 * @param arguments the number of arguments that callers pass; assertions check it
 */
public record CFunction(MethodHandle handle, int arguments) {
    private static final int REGISTERS = 6;
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final FunctionDescriptor TYPE = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
        Collections.nCopies(REGISTERS, ValueLayout.JAVA_LONG).toArray(MemoryLayout[]::new));

    /**
     * Binds a function.
     *
     * @param name the function
     * @param arguments the number of its arguments, at most six
     * @throws io.rpma.RpmaUnavailableException if the C library has no such function, or native access is refused
     */
    public static CFunction of(String name, int arguments) {
        if (arguments > REGISTERS) {
            throw new IllegalArgumentException(name + " has " + arguments + " arguments; at most " + REGISTERS
                + " are passed in registers");
        }
        return new CFunction(Posix.downcall(name, TYPE, CAPTURE_ERRNO), arguments);
    }

    /** Calls a function that returns an {@code unsigned int} and cannot fail. */
    public int callUnsigned() {
        return (int) invoke(Posix.capture(), 0, 0, 0, 0, 0, 0, 0);
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a) {
        return intResult(1, a, 0, 0, 0, 0);
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b) {
        return intResult(2, a, b, 0, 0, 0);
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b, long c) {
        return intResult(3, a, b, c, 0, 0);
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b, long c, long d) {
        return intResult(4, a, b, c, d, 0);
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b, long c, long d, long e) {
        return intResult(5, a, b, c, d, e);
    }

    /** Calls a function that returns a {@code long}; returns its result or {@code -errno}. */
    public long callLong(long a) {
        return longResult(1, a, 0, 0, 0, 0, 0);
    }

    /** Calls a function that returns a {@code long}; returns its result or {@code -errno}. */
    public long callLong(long a, long b, long c) {
        return longResult(3, a, b, c, 0, 0, 0);
    }

    /** Calls a function that returns a {@code long}; returns its result or {@code -errno}. */
    public long callLong(long a, long b, long c, long d) {
        return longResult(4, a, b, c, d, 0, 0);
    }

    /** Calls a function that returns a {@code long} or a pointer; returns its result or {@code -errno}. */
    public long callLong(long a, long b, long c, long d, long e, long f) {
        return longResult(6, a, b, c, d, e, f);
    }

    private int intResult(int passed, long a, long b, long c, long d, long e) {
        MemorySegment capture = Posix.capture();
        // The upper half of the register of an int result is not specified.
        int result = (int) invoke(capture, passed, a, b, c, d, e, 0);
        return result < 0 ? -Posix.errno(capture) : result;
    }

    private long longResult(int passed, long a, long b, long c, long d, long e, long f) {
        MemorySegment capture = Posix.capture();
        long result = invoke(capture, passed, a, b, c, d, e, f);
        return result < 0 ? -Posix.errno(capture) : result;
    }

    private long invoke(MemorySegment capture, int passed, long a, long b, long c, long d, long e, long f) {
        assert passed == arguments : passed + " arguments are passed to a function that was bound with " + arguments;
        try {
            return (long) handle.invokeExact(capture, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }
}
