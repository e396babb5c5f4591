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
package io.rpma.cli;

import io.rpma.netty.RpmaPath;
import java.util.List;
import picocli.CommandLine.TypeConversionException;

/** Parses the name of a path: {@code shared-memory}, {@code rdma} or {@code tcp}. */
final class PathArgument {
    private PathArgument() {
    }

    static RpmaPath parse(String text) {
        for (RpmaPath path : RpmaPath.values()) {
            if (path.toString().equals(text)) {
                return path;
            }
        }
        throw new TypeConversionException("'" + text + "' is not a path; the paths are: " + List.of(RpmaPath.values()));
    }
}
