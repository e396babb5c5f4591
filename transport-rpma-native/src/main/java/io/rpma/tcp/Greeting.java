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
package io.rpma.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The first data that a listener sends on a connection, and the beginning of the client's request. It contains the identity of
 * the sender, the versions of the protocol that the sender supports, and its limits. See docs/tcp-protocol.md.
 *
 * @param lowest the oldest version of the protocol that the sender supports
 * @param highest the newest version that it supports
 * @param size the number of bytes of the greeting, or of the request that begins with it
 * @param reads how many reads and persistent flushes the other side may have under way
 * @param maxMessage the longest message, read or write
 * @param host the identity of the running kernel
 * @param process a random number of the process
 */
record Greeting(int lowest, int highest, int size, int reads, long maxMessage, byte[] host, byte[] process) {
    /** The oldest version that this release supports. */
    static final int OLDEST = 1;
    /** The newest version that it supports. With it, the other side executes {@link Wire#ONCE}. */
    static final int VERSION = 2;
    /** Bytes of a greeting. */
    static final int SIZE = 64;
    /** Bytes of a request: a greeting, and the private data. */
    static final int REQUEST_SIZE = 128;
    /** The longest greeting that is read to its end. */
    static final int MAX_SIZE = 4096;
    /** The first bytes. */
    static final byte[] MAGIC = "RPMA/TCP".getBytes(StandardCharsets.US_ASCII);

    private static final int ID = 16;
    private static final byte[] HOST = readHost();
    private static final byte[] PROCESS = random();

    /** Returns the greeting of a listener of this process. */
    static Greeting own() {
        return new Greeting(OLDEST, VERSION, SIZE, Wire.MAX_READS, Limits.MAX_MESSAGE, HOST, PROCESS);
    }

    /** Returns the beginning of a request of this process, which has chosen a version. */
    static Greeting request(int version) {
        return new Greeting(version, version, REQUEST_SIZE, Wire.MAX_READS, Limits.MAX_MESSAGE, HOST, PROCESS);
    }

    private static byte[] readHost() {
        try {
            String id = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim().replace("-", "");
            byte[] bytes = HexFormat.of().parseHex(id);
            return Arrays.copyOf(bytes, ID);
        } catch (IOException | IllegalArgumentException e) {
            // Without /proc, a random value: no process is then considered to be on the same host.
            return random();
        }
    }

    private static byte[] random() {
        byte[] bytes = new byte[ID];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    /** Returns {@link #size} bytes: the greeting, followed by zeros. */
    byte[] write() {
        ByteBuffer target = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        target.put(MAGIC).putShort((short) lowest).putShort((short) highest).putInt(size).putInt(0).putInt(reads)
            .putLong(maxMessage).put(host).put(process);
        return target.array();
    }

    /** Reads a greeting; returns {@code null} if the bytes are not one. */
    static Greeting read(byte[] bytes) {
        ByteBuffer source = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[MAGIC.length];
        source.get(magic);
        if (!Arrays.equals(magic, MAGIC)) {
            return null;
        }
        int lowest = source.getShort() & 0xffff;
        int highest = source.getShort() & 0xffff;
        int size = source.getInt();
        source.getInt();
        int reads = source.getInt();
        long maxMessage = source.getLong();
        byte[] host = new byte[ID];
        byte[] process = new byte[ID];
        source.get(host).get(process);
        return size < SIZE || size > MAX_SIZE || lowest > highest ? null
            : new Greeting(lowest, highest, size, reads, maxMessage, host, process);
    }

    /** Returns whether the sender supports a version of this release, and its limits. */
    boolean isUnderstood() {
        return lowest <= VERSION && highest >= OLDEST && reads >= Wire.MAX_READS && maxMessage >= Limits.MAX_MESSAGE;
    }

    /** Returns whether the sender is on this host, if it says the truth. */
    boolean isOfThisHost() {
        return Arrays.equals(host, HOST);
    }

    /** Returns the newest version that both sides support. */
    int version() {
        return Math.min(highest, VERSION);
    }
}
