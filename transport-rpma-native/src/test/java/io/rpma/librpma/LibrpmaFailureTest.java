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

import io.rpma.RpmaError;
import io.rpma.posix.Posix;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests when the system's error number has a meaning. */
class LibrpmaFailureTest {
    /** Leaves an error number, as any call within the library may. */
    private static MemorySegment stale() {
        assertEquals(-Posix.EINVAL, Posix.munmap(1, 1));
        return Posix.capture();
    }

    @Test
    void theErrorNumberOfTheSystemIsKept() {
        assertEquals(Posix.EINVAL, LibrpmaFailure.errno(RpmaError.PROVIDER.code(), stale()));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "PROVIDER")
    void aStaleErrorNumberIsNotReported(RpmaError error) {
        assertEquals(0, LibrpmaFailure.errno(error.code(), stale()));
    }
}
