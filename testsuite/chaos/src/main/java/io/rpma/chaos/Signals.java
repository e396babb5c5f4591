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

package io.rpma.chaos;

import io.rpma.posix.Posix;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/** Sends signals to processes. */
public final class Signals {
    /** The signal that continues a process. */
    public static final int CONT = 18;
    /** The signal that stops a process. */
    public static final int STOP = 19;

    private static final MethodHandle KILL = Posix.downcall("kill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle TGKILL =
        Posix.downcall("tgkill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle GETTID = Posix.downcall("gettid", FunctionDescriptor.of(JAVA_INT));

    private Signals() {
    }

    /** Sends a signal to a process. */
    public static void send(int pid, int number) {
        try {
            int ignored = (int) KILL.invokeExact(pid, number);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Returns the kernel's identifier of the calling thread. */
    static int threadId() {
        try {
            return (int) GETTID.invokeExact();
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Stops this process. The signal is delivered to the calling thread, so that it does not continue after this call. */
    public static void stopHere() {
        try {
            int ignored = (int) TGKILL.invokeExact((int) ProcessHandle.current().pid(), threadId(), STOP);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
