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
package io.rpma.examples;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the number of something that is needed at least once. */
final class AtLeastOne implements ITypeConverter<Integer> {
    private static final int MAX = 1_000_000_000;

    @Override
    public Integer convert(String text) {
        if (!text.matches("\\d{1,10}") || Long.parseLong(text) < 1 || Long.parseLong(text) > MAX) {
            throw new TypeConversionException("'" + text + "' is not a number from 1 to " + MAX);
        }
        return Integer.valueOf(text);
    }
}
