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
package io.rpma.soft.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The message that a listener sends at once on a TCP connection: its host, the version of its protocol, and the name of its Unix
 * socket. It has a fixed number of bytes, in network order. No other data is sent on that connection, in either direction.
 *
 * @param version the version of the protocol
 * @param host the value that all processes of one host and network namespace share
 * @param name the name of the listener's Unix socket
 */
public record Hello(int version, byte[] host, String name) {
    /** Bytes of a hello. */
    public static final int SIZE = 256;
    /** Bytes of the host's identity, padded with zeros. */
    public static final int HOST_SIZE = 96;

    private static final long MAGIC = 0x52504d41534f4654L;
    private static final int NAME_SIZE = 108;

    public byte[] write() {
        ByteBuffer target = ByteBuffer.allocate(SIZE);
        target.putLong(MAGIC).putInt(version).putInt(SIZE).put(host, 0, HOST_SIZE);
        target.put(name.getBytes(StandardCharsets.US_ASCII));
        return target.array();
    }

    /** Reads a hello. Returns {@code null} if it is not valid. For another version only the version is read. */
    public static Hello read(byte[] bytes, int length) {
        ByteBuffer source = ByteBuffer.wrap(bytes, 0, length);
        if (length < 16 || source.getLong() != MAGIC) {
            return null;
        }
        int version = source.getInt();
        int size = source.getInt();
        if (version != ControlMessage.VERSION) {
            return new Hello(version, new byte[HOST_SIZE], "");
        }
        if (size != SIZE || length < SIZE) {
            return null;
        }
        byte[] host = new byte[HOST_SIZE];
        source.get(host);
        byte[] name = new byte[NAME_SIZE];
        source.get(name);
        int end = 0;
        while (end < NAME_SIZE && name[end] != 0) {
            end++;
        }
        return new Hello(version, host, new String(name, 0, end, StandardCharsets.US_ASCII));
    }

    /** Returns whether the first bytes of a hello are those of one. */
    static boolean mayBecome(byte[] bytes, int length) {
        for (int i = 0; i < Math.min(length, 8); i++) {
            if (bytes[i] != (byte) (MAGIC >>> 56 - 8 * i)) {
                return false;
            }
        }
        return true;
    }

    boolean isOfHost(byte[] other) {
        return Arrays.equals(host, other);
    }
}
