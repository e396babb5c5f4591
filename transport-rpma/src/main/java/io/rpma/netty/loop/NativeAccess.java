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

package io.rpma.netty.loop;

import io.rpma.RpmaUnavailableException;

/**
 * Detects, in the failure to load Netty's native library, that the JVM has refused native access; Netty's message does not say
 * so.
 */
public final class NativeAccess {
    private NativeAccess() {
    }

    /**
     * Fails if native access was refused.
     *
     * @param failure why Netty's library was not loaded, or {@code null} if it was
     */
    public static void ensure(Throwable failure) {
        if (isRefused(failure)) {
            boolean named = NativeAccess.class.getModule().isNamed();
            throw new RpmaUnavailableException("this JVM refuses native access; start it with --enable-native-access="
                + (named ? "io.rpma,io.netty.common (modules)" : "ALL-UNNAMED"), failure);
        }
    }

    private static boolean isRefused(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof IllegalCallerException) {
                return true;
            }
            for (Throwable suppressed : cause.getSuppressed()) {
                if (isRefused(suppressed)) {
                    return true;
                }
            }
        }
        return false;
    }
}
