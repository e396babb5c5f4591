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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({"1,1", "4096,4096", "7B,7", "64KiB,65536", "32MiB,33554432", "1GiB,1073741824", "3gib,3221225472",
        "8589934591GiB,9223372035781033984"})
    void isRead(String text, long bytes) {
        assertEquals(bytes, ByteSize.parse(text).bytes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0MiB", "-1", "1.5MiB", "1MB", "MiB", "8589934592GiB", "99999999999999999999"})
    void isRefused(String text) {
        assertThrows(TypeConversionException.class, () -> ByteSize.parse(text));
    }

    @Test
    void isWrittenAsItIsRead() {
        for (String text : new String[] {"1", "4097", "64KiB", "32MiB", "1GiB"}) {
            assertEquals(text, ByteSize.parse(text).toString());
        }
    }
}
