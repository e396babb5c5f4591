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
package io.rpma.soft.shared;

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Locale;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A copy that bypasses the caches, as an adapter's DMA does. The lines of the target are in the caches of the processor that read
 * them last; an ordinary store has to fetch each line from there, which costs several times as much as the copy itself.
 * Non-temporal stores do not fetch the line. Java has no such stores, so this class contains fourteen instructions of x86-64
 * (SSE2, which every such processor has). On other processors, and where the system does not map executable memory, the copy is
 * an ordinary one.
 */
public final class StreamingCopy {
    /** A shorter copy is cheaper through the caches, also for the next reader. The value was found by measurement. */
    static final int MIN_BYTES = 8192;

    private static final int LINE = 64;
    /**
     * The largest piece of one native call, some ten microseconds. The call is a critical one, during which the thread reaches no
     * safepoint, so a longer one would delay garbage collections.
     */
    private static final long PIECE = 256 << 10;

    // void copy(target: rdi, source: rsi, bytes: rdx); the target is aligned to a line, the bytes are lines, at least one.
    private static final String CODE = ""
        + "f30f6f06"    // loop: movdqu xmm0, [rsi]
        + "f30f6f4e10"  //       movdqu xmm1, [rsi + 16]
        + "f30f6f5620"  //       movdqu xmm2, [rsi + 32]
        + "f30f6f5e30"  //       movdqu xmm3, [rsi + 48]
        + "660fe707"    //       movntdq [rdi], xmm0
        + "660fe74f10"  //       movntdq [rdi + 16], xmm1
        + "660fe75720"  //       movntdq [rdi + 32], xmm2
        + "660fe75f30"  //       movntdq [rdi + 48], xmm3
        + "4883c640"    //       add rsi, 64
        + "4883c740"    //       add rdi, 64
        + "4883ea40"    //       sub rdx, 64
        + "75cc"        //       jnz loop
        + "0faef8"      //       sfence: non-temporal stores are weakly ordered; order them before the store that publishes them
        + "c3";         //       ret

    private static final MethodHandle COPY = copy();

    private StreamingCopy() {
    }

    private static MethodHandle copy() {
        String processor = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (!processor.equals("amd64") && !processor.equals("x86_64") || ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            return null;
        }
        long page = Posix.mmap(0, Posix.PAGE_SIZE, Posix.PROT_READ | Posix.PROT_WRITE, Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS,
            -1, 0);
        if (page < 0) {
            return null;
        }
        byte[] code = HexFormat.of().parseHex(CODE);
        MemorySegment.copy(code, 0, Memory.segment(page, Posix.PAGE_SIZE), JAVA_BYTE, 0, code.length);
        if (Posix.mprotect(page, Posix.PAGE_SIZE, Posix.PROT_READ | Posix.PROT_EXEC) != 0) {
            Posix.munmap(page, Posix.PAGE_SIZE);
            return null;
        }
        return Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(page),
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));
    }

    /** Returns whether copies bypass the caches on this machine. */
    static boolean isAvailable() {
        return COPY != null;
    }

    /** Copies; the two may overlap. */
    public static void copy(long source, long target, long length) {
        if (length < MIN_BYTES || COPY == null || Math.abs(source - target) < length) {
            Memory.copy(source, target, length);
            return;
        }
        long head = -target & LINE - 1;
        Memory.copy(source, target, head);
        long at = head;
        long end = head + (length - head & -LINE);
        while (at < end) {
            long piece = Math.min(PIECE, end - at);
            lines(target + at, source + at, piece);
            at += piece;
        }
        Memory.copy(source + at, target + at, length - at);
    }

    private static void lines(long target, long source, long bytes) {
        try {
            COPY.invokeExact(target, source, bytes);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
