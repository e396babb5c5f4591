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
package io.rpma.software;

import io.rpma.RpmaUnavailableException;
import java.nio.ByteOrder;

/** Checks that the providers in Java support this platform. */
public final class Platform {
    private static final String SYSTEM = System.getProperty("os.name");
    private static final String ARCHITECTURE = System.getProperty("os.arch");
    private static final boolean SUPPORTED = SYSTEM.equals("Linux") && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
        && (ARCHITECTURE.equals("amd64") || ARCHITECTURE.equals("x86_64") || ARCHITECTURE.equals("aarch64"));

    private Platform() {
    }

    /**
     * Fails unless this is Linux on a supported 64-bit processor. Called for each connection.
     *
     * @throws RpmaUnavailableException with the name of the platform
     */
    public static void check() {
        if (!SUPPORTED) {
            throw new RpmaUnavailableException("the software provider needs Linux on x86_64 or aarch64; this is " + SYSTEM
                + " on " + ARCHITECTURE, null);
        }
    }
}
