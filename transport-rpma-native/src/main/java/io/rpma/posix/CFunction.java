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
 * half of the register of an {@code int} unspecified. So functions with the same number of arguments have the same type, and
 * the JDK generates code for a handful of types and not for each function. A type costs five to ten milliseconds while a
 * process starts.
 *
 * <p>A constant of this class has to be static and final: the compiler then calls the function directly, because it takes the
 * fields of a record for constants. Any thread may call a function.
 *
 * @param handle the function: its first argument is the memory that receives {@code errno}, the others and the result are longs
 */
public record CFunction(MethodHandle handle) {
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

    /**
     * Binds a function.
     *
     * @param name the function
     * @param arguments the number of its arguments
     * @throws io.rpma.RpmaUnavailableException if the C library has no such function, or native access is refused
     */
    public static CFunction of(String name, int arguments) {
        return new CFunction(Posix.downcall(name, type(arguments), CAPTURE_ERRNO));
    }

    /**
     * Binds a function that C declares with "...".
     *
     * @param name the function
     * @param arguments the number of arguments that are passed
     * @param fixed the number of arguments before the dots
     * @throws io.rpma.RpmaUnavailableException as {@link #of}
     */
    public static CFunction variadic(String name, int arguments, int fixed) {
        return new CFunction(Posix.downcall(name, type(arguments), CAPTURE_ERRNO,
            Linker.Option.firstVariadicArg(fixed)));
    }

    private static FunctionDescriptor type(int arguments) {
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            Collections.nCopies(arguments, ValueLayout.JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /** Calls a function that returns an {@code unsigned int} and cannot fail. */
    public int callUnsigned() {
        MemorySegment capture = Posix.capture();
        try {
            return (int) (long) handle.invokeExact(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a) {
        MemorySegment capture = Posix.capture();
        try {
            return intResult((long) handle.invokeExact(capture, a), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b) {
        MemorySegment capture = Posix.capture();
        try {
            return intResult((long) handle.invokeExact(capture, a, b), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b, long c) {
        MemorySegment capture = Posix.capture();
        try {
            return intResult((long) handle.invokeExact(capture, a, b, c), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b, long c, long d) {
        MemorySegment capture = Posix.capture();
        try {
            return intResult((long) handle.invokeExact(capture, a, b, c, d), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns an {@code int}; returns its result or {@code -errno}. */
    public int call(long a, long b, long c, long d, long e) {
        MemorySegment capture = Posix.capture();
        try {
            return intResult((long) handle.invokeExact(capture, a, b, c, d, e), capture);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** Calls a function that returns a {@code long}; returns its result or {@code -errno}. */
    public long callLong(long a) {
        MemorySegment capture = Posix.capture();
        try {
            return longResult((long) handle.invokeExact(capture, a), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns a {@code long}; returns its result or {@code -errno}. */
    public long callLong(long a, long b, long c) {
        MemorySegment capture = Posix.capture();
        try {
            return longResult((long) handle.invokeExact(capture, a, b, c), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns a {@code long}; returns its result or {@code -errno}. */
    public long callLong(long a, long b, long c, long d) {
        MemorySegment capture = Posix.capture();
        try {
            return longResult((long) handle.invokeExact(capture, a, b, c, d), capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls a function that returns a {@code long} or a pointer; returns its result or {@code -errno}. */
    public long callLong(long a, long b, long c, long d, long e, long f) {
        MemorySegment capture = Posix.capture();
        try {
            return longResult((long) handle.invokeExact(capture, a, b, c, d, e, f), capture);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    private static int intResult(long register, MemorySegment capture) {
        // The upper half of the register of an int result is not specified.
        int result = (int) register;
        return result < 0 ? -Posix.errno(capture) : result;
    }

    private static long longResult(long result, MemorySegment capture) {
        return result < 0 ? -Posix.errno(capture) : result;
    }
}
