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

import io.rpma.RpmaUnavailableException;
import io.rpma.posix.NativeAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;

/**
 * Loads the shared library, and refuses one that is older than 1.0. Every release since 0.9 has the same name,
 * {@code librpma.so.0}, and there is no version function, so the releases are distinguished by their symbols.
 */
final class LibrpmaLibrary {
    /** The system property that names the library, by a path or a name for {@code dlopen(3)}. */
    static final String LIBRARY_PROPERTY = "io.rpma.library";

    private static final String DEFAULT_NAME = "librpma.so.0";
    private static final String PACKAGES = "the package librpma0 on Debian and Ubuntu, librpma on Fedora and openSUSE";

    private static SymbolLookup loaded;

    private LibrpmaLibrary() {
    }

    /** Returns the name that is passed to {@code dlopen(3)}. */
    static String name() {
        return System.getProperty(LIBRARY_PROPERTY, DEFAULT_NAME);
    }

    /**
     * Loads the library for the life of the process and checks that it is 1.x. The classes that bind its functions must not be
     * initialised before.
     *
     * @param functions the functions that it must have
     * @throws RpmaUnavailableException if it cannot be loaded or is too old
     */
    static synchronized void load(List<String> functions) {
        if (loaded != null) {
            return;
        }
        NativeAccess.ensure();
        String name = name();
        SymbolLookup lookup = open(name);
        refuseOld(name, symbol -> lookup.find(symbol).isPresent());
        refuseIncomplete(name, functions, symbol -> lookup.find(symbol).isPresent());
        loaded = lookup;
    }

    /**
     * Checks that the library has all functions, so that binding does not fail half-way.
     *
     * @param name the library, for the message
     * @param functions the functions that it must have
     * @param has whether it has a symbol
     * @throws RpmaUnavailableException if it lacks a function
     */
    static void refuseIncomplete(String name, List<String> functions, Predicate<String> has) {
        List<String> missing = functions.stream().filter(has.negate()).toList();
        if (!missing.isEmpty()) {
            throw new RpmaUnavailableException("the library " + name + " looks like librpma 1.x, but does not have "
                + String.join(", ",
                missing) + "; install " + PACKAGES + ", or name the library by -D" + LIBRARY_PROPERTY + "=<path>.", null);
        }
    }

    private static SymbolLookup open(String name) {
        try {
            return SymbolLookup.libraryLookup(name, Arena.global());
        } catch (IllegalArgumentException e) {
            String found = name.indexOf('/') >= 0 && Files.exists(Path.of(name))
                ? "the file exists, but is not a library for this machine, or depends on a library that is missing"
                    + " (libibverbs.so.1, librdmacm.so.1)"
                : "there is no such library";
            throw new RpmaUnavailableException("the library " + name + " could not be loaded: " + found + ". librpma 1.0 or newer"
                + " is needed: install " + PACKAGES + ", or name the library by -D" + LIBRARY_PROPERTY + "=<path>.", e);
        }
    }

    /**
     * Distinguishes the releases by the functions that each of them added or dropped.
     *
     * @param name the library, for the message
     * @param has whether it has a symbol
     * @throws RpmaUnavailableException if it is older than 1.0
     */
    static void refuseOld(String name, Predicate<String> has) {
        if (has.test("rpma_conn_wait")) {
            return;
        }
        String found;
        if (has.test("rpma_atomic_write")) {
            found = has.test("rpma_write_atomic") ? "librpma 0.13" : "librpma 0.14";
        } else if (has.test("rpma_cq_get_wc")) {
            found = has.test("rpma_cq_get_completion") ? "librpma 0.11" : "librpma 0.12";
        } else if (has.test("rpma_cq_get_completion")) {
            found = "librpma 0.10";
        } else if (has.test("rpma_conn_completion_get")) {
            found = "librpma 0.9";
        } else {
            found = "not librpma, or an unknown release";
        }
        throw new RpmaUnavailableException("the library " + name + " is " + found + " (judging by its functions); librpma 1.0 or"
            + " newer is needed: install " + PACKAGES + ", or name the library by -D" + LIBRARY_PROPERTY + "=<path>.", null);
    }

    /**
     * Binds a function of the loaded library.
     *
     * @param function its name
     * @param descriptor its type: handles, sizes and contexts as longs, enumerations as ints
     * @param options linker options
     * @return the handle, for a static final field and {@code invokeExact}
     */
    static MethodHandle bind(String function, FunctionDescriptor descriptor, Linker.Option... options) {
        return bind(loaded, name(), function, descriptor, options);
    }

    /** Binds a function of any library; see {@link #bind(String, FunctionDescriptor, Linker.Option...)}. */
    static MethodHandle bind(SymbolLookup library, String libraryName, String function, FunctionDescriptor descriptor,
            Linker.Option... options) {
        MemorySegment symbol = library.find(function).orElseThrow(() -> new RpmaUnavailableException("the library "
            + libraryName + " has no function " + function + "; it is damaged, or older than the supported releases", null));
        return Linker.nativeLinker().downcallHandle(symbol, descriptor, options);
    }
}
