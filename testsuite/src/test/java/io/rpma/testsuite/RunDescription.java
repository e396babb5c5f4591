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
package io.rpma.testsuite;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.internal.PlatformDependent;
import io.rpma.Device;
import io.rpma.Rpma;
import io.rpma.RpmaException;

import java.util.Locale;

/** The configuration of a run, as reported by the running JVM and not by its options. */
final class RunDescription {
    private RunDescription() {
    }

    /** Returns the provider under test, or {@code none} in a baseline run. */
    static String provider() {
        return TestTransport.CURRENT.usesRpma() ? Rpma.provider().name() : "none";
    }

    /** Returns a name for files, which consists of letters, digits and dashes. */
    static String key() {
        return provider() + (isIwarp() ? "-iwarp" : "") + '-' + TestTransport.CURRENT.propertyValue()
            + (Permutations.ownAllocator() ? "-own-allocator" : "") + (PlatformDependent.hasUnsafe() ? "-unsafe" : "");
    }

    private static boolean isIwarp() {
        try {
            return TestTransport.CURRENT.usesRpma() && Rpma.provider().devices().stream().anyMatch(Device::isIwarp);
        } catch (RpmaException e) {
            throw new IllegalStateException("the devices cannot be listed", e);
        }
    }

    /** Returns a one-line description. */
    static String heading() {
        return (TestTransport.CURRENT.usesRpma() ? "provider " + provider() + (isIwarp() ? " on iWARP" : "") : "baseline") + ": "
            + TestTransport.CURRENT.description() + ", "
            + (Permutations.ownAllocator() ? "allocator of the transport" : "allocators pooled and adaptive") + ", "
            + (PlatformDependent.hasUnsafe() ? "Netty with Unsafe" : "Netty without Unsafe (the default of JDK 25)")
            + ", leak detection " + ResourceLeakDetector.getLevel().name().toLowerCase(Locale.ROOT);
    }
}
