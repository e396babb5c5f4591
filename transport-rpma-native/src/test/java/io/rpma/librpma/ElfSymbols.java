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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/** Reads the names that a 64-bit little-endian ELF library exports: the defined global functions among its dynamic symbols. */
final class ElfSymbols {
    private static final int SHT_DYNSYM = 11;
    private static final int STB_GLOBAL = 1;
    private static final int STT_FUNC = 2;

    private ElfSymbols() {
    }

    /** Returns the exported functions. */
    static Set<String> exportedFunctions(Path library) throws IOException {
        ByteBuffer elf = ByteBuffer.wrap(Files.readAllBytes(library)).order(ByteOrder.LITTLE_ENDIAN);
        if (elf.getInt(0) != 0x464c457f || elf.get(4) != 2 || elf.get(5) != 1) {
            throw new IOException(library + " is no 64-bit little-endian ELF file");
        }
        int sections = (int) elf.getLong(0x28);
        int sectionSize = elf.getShort(0x3a);
        int sectionCount = Short.toUnsignedInt(elf.getShort(0x3c));
        for (int i = 0; i < sectionCount; i++) {
            int section = sections + i * sectionSize;
            if (elf.getInt(section + 4) == SHT_DYNSYM) {
                int strings = sections + elf.getInt(section + 0x28) * sectionSize;
                return functions(elf, section, (int) elf.getLong(strings + 0x18));
            }
        }
        throw new IOException(library + " has no dynamic symbols");
    }

    private static Set<String> functions(ByteBuffer elf, int section, int strings) {
        Set<String> names = new TreeSet<>();
        int start = (int) elf.getLong(section + 0x18);
        int size = (int) elf.getLong(section + 0x20);
        int entrySize = (int) elf.getLong(section + 0x38);
        for (int symbol = start; symbol < start + size; symbol += entrySize) {
            int info = elf.get(symbol + 4);
            boolean defined = elf.getShort(symbol + 6) != 0;
            if (defined && (info & 0xf) == STT_FUNC && info >> 4 == STB_GLOBAL) {
                int end = strings + elf.getInt(symbol);
                int name = end;
                while (elf.get(end) != 0) {
                    end++;
                }
                names.add(new String(elf.array(), name, end - name, StandardCharsets.US_ASCII));
            }
        }
        return names;
    }
}
