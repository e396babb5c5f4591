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

import io.rpma.RpmaUnavailableException;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/** Checks, before any native function is bound, that this JVM permits native access, so that a refusal has a clear message. */
public final class NativeAccess {
    private NativeAccess() {
    }

    /**
     * Fails unless native functions may be called.
     *
     * @throws RpmaUnavailableException if the JVM refuses native access; the message names the flag that grants it
     */
    public static void ensure() {
        try {
            // This is the cheapest restricted method. The JVM decides by the module of the caller, not by the method.
            MemorySegment.NULL.reinterpret(0);
        } catch (IllegalCallerException e) {
            throw new RpmaUnavailableException(refused(NativeAccess.class.getModule()), e);
        }
    }

    /** Returns the linker, unless native access is refused. */
    static Linker linker() {
        ensure();
        return Linker.nativeLinker();
    }

    /** Returns the message for code in a module that was refused. */
    static String refused(Module module) {
        String flag = "--enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
        return "this JVM refuses native access to " + (module.isNamed() ? "the module " + module.getName() : "the class path")
            + "; start it with " + flag + " (if that flag is already given, add the name to its list).";
    }
}
