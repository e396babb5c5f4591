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

package io.rpma.netty;

import io.netty.util.internal.SystemPropertyUtil;
import java.util.Locale;

/** What an event loop does while its connections are idle: how it detects the next completion. */
public enum RpmaPolling {
    /**
     * Continues to poll for a short time ({@code -Dio.rpma.netty.spinNanos}, 50 us) as long as polling has recently been
     * successful, then blocks. On a machine with one processor it blocks immediately. The default.
     */
    ADAPTIVE,
    /**
     * Polls for as long as the loop has a connection. This gives the shortest latency, and occupies one processor for each loop
     * that has a connection. With fewer processors than loops it makes everything slower.
     */
    SPIN,
    /** Blocks whenever there is nothing to do. Every message then costs a wake-up, and no processor time is wasted. */
    BLOCK;

    // Determined by the first group that needs it. A static initializer would fail the groups that are given their polling, and
    // only its first failure would have the message.
    private static volatile RpmaPolling byDefault;

    /**
     * Returns the mode of a group for which none was given, by {@code -Dio.rpma.netty.polling}; {@code adaptive} if that is not
     * set.
     *
     * @throws IllegalArgumentException if the property names no mode
     */
    static RpmaPolling byDefault() {
        RpmaPolling polling = byDefault;
        if (polling == null) {
            polling = configured();
            byDefault = polling;
        }
        return polling;
    }

    private static RpmaPolling configured() {
        String name = SystemPropertyUtil.get("io.rpma.netty.polling", "adaptive");
        for (RpmaPolling each : values()) {
            if (each.name().equals(name.toUpperCase(Locale.ROOT))) {
                return each;
            }
        }
        throw new IllegalArgumentException("-Dio.rpma.netty.polling is " + name + "; allowed are adaptive, spin and block");
    }
}
