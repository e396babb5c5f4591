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
package io.rpma.soft.host;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog.Level;
import io.rpma.software.ListeningSockets;
import io.rpma.software.RegionDescriptors;
import io.rpma.software.SoftwareLog;

/** The log of this provider, as static methods for all its classes. */
public final class SoftLog {
    /** The one log of the process. */
    public static final SoftwareLog INSTANCE = new SoftwareLog("io.rpma.soft", SoftLog.class);
    /** Checks the buffers of descriptors, and reports failures to the log. */
    public static final RegionDescriptors DESCRIPTORS = new RegionDescriptors(INSTANCE);
    /** Opens sockets, and reports failures to the log. */
    public static final ListeningSockets LISTENING = new ListeningSockets(INSTANCE);

    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private SoftLog() {
    }

    /** Reports that a peer violated the protocol. The number of lines of each calling class is limited. */
    public static void violation(String message) {
        INSTANCE.violation(WALKER.getCallerClass().getSimpleName(), message);
    }

    /** Reports a condition that weakens this process although every call succeeds. Always goes to SLF4J. */
    public static void warn(String message) {
        INSTANCE.warn(message);
    }

    /** Reports a condition that is also reported to the caller in another way. */
    public static void log(Level level, String message) {
        INSTANCE.log(level, message);
    }

    /** Returns whether messages of a level are logged. Called before a message is formatted. */
    public static boolean isEnabled(Level level) {
        return INSTANCE.isEnabled(level);
    }

    /** Reports a call that fails; to be thrown. */
    public static RpmaException failure(RpmaError error, String message) {
        return INSTANCE.failure(error, message);
    }

    /** Reports a call that fails; to be thrown. */
    public static RpmaException failure(RpmaError error, int errno, String message, Throwable cause) {
        return INSTANCE.failure(error, errno, message, cause);
    }
}
