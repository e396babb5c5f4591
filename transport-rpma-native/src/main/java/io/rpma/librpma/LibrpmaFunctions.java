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

import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The functions of librpma that this package binds. */
final class LibrpmaFunctions {
    private LibrpmaFunctions() {
    }

    /** Returns their names. The classes that bind them are not initialised by this. */
    static List<String> names() {
        // Each constant has the name of its function. Reflection on a class does not initialise it.
        return Stream.of(Librpma.class, LibrpmaDataPath.class).flatMap(type -> Stream.of(type.getDeclaredFields()))
            .filter(field -> field.getType() == MethodHandle.class)
            .map(field -> "rpma_" + field.getName().toLowerCase(Locale.ROOT)).toList();
    }
}
