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

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/**
 * A number of bytes in the form that people write: {@code 4096}, {@code 64KiB}, {@code 256MiB}, {@code 1GiB}.
 *
 * @param bytes the number, at least 1
 */
record ByteSize(long bytes) {
    static final long KIB = 1 << 10;
    static final long MIB = 1 << 20;
    static final long GIB = 1 << 30;

    private static final Pattern PATTERN = Pattern.compile("(\\d{1,18})(B|KiB|MiB|GiB)?", Pattern.CASE_INSENSITIVE);

    static ByteSize parse(String text) {
        Matcher matcher = PATTERN.matcher(text.trim());
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is not a number of bytes such as 4096, 64KiB, 32MiB or 1GiB");
        }
        String unit = matcher.group(2) == null ? "b" : matcher.group(2).toLowerCase(Locale.ROOT);
        long factor = switch (unit) {
            case "kib" -> KIB;
            case "mib" -> MIB;
            case "gib" -> GIB;
            default -> 1;
        };
        long number = Long.parseLong(matcher.group(1));
        if (number == 0 || number > Long.MAX_VALUE / factor) {
            throw new TypeConversionException("'" + text + "' is out of range: at least 1 byte, at most "
                + Long.MAX_VALUE / factor + (factor == 1 ? "" : matcher.group(2)));
        }
        return new ByteSize(number * factor);
    }

    static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", (double) bytes / MIB);
    }

    @Override
    public String toString() {
        return bytes % GIB == 0 ? bytes / GIB + "GiB" : bytes % MIB == 0 ? bytes / MIB + "MiB"
            : bytes % KIB == 0 ? bytes / KIB + "KiB" : Long.toString(bytes);
    }
}
