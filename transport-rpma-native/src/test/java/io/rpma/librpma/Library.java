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
import io.rpma.RpmaProvider;
import io.rpma.RpmaUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import org.junit.jupiter.api.Assumptions;

/** Skips a test if the library is not installed. If the library is installed and cannot be bound, the test fails. */
final class Library {
    private Library() {
    }

    /** Returns the provider, or skips the test if there is no librpma.so.0. */
    static RpmaProvider provider() throws RpmaException {
        try {
            SymbolLookup.libraryLookup(LibrpmaLibrary.name(), Arena.global());
        } catch (IllegalArgumentException e) {
            Assumptions.abort(LibrpmaLibrary.name() + " is not installed (package librpma0)");
        }
        try {
            return LibrpmaProvider.open();
        } catch (RpmaUnavailableException e) {
            throw new AssertionError("the library is installed and was refused", e);
        }
    }

    /** Returns the provider, or skips the test if there is no usable device. */
    static RpmaProvider providerWithDevice() throws RpmaException {
        RpmaProvider provider = provider();
        Assumptions.assumeFalse(provider.devices().isEmpty(),
            "no usable RDMA device here; testsuite/softroce/run.sh runs this test with one");
        return provider;
    }
}
