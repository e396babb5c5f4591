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

import io.rpma.posix.CFunction;
import io.rpma.posix.Memory;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;

/** The addresses of sockets: paths of Unix sockets, and the addresses that the kernel reports for sockets. */
final class SocketAddresses {
    /** The longest path of a Unix socket, in bytes. */
    static final int LONGEST_PATH = 107;

    private static final int CAPACITY = 128;

    private static final CFunction GETSOCKNAME = CFunction.of("getsockname", 3);
    private static final CFunction GETPEERNAME = CFunction.of("getpeername", 3);

    private SocketAddresses() {
    }

    /** Binds a Unix socket to a path, which creates a file there. */
    static int bind(int fd, String path) {
        long target = Scratch.get().address();
        return Sockets.bind(fd, target, write(path, target));
    }

    /** Connects a Unix socket to one that is bound to a path. */
    static int connect(int fd, String path) {
        long target = Scratch.get().address();
        return Sockets.connect(fd, target, write(path, target));
    }

    private static int write(String path, long target) {
        byte[] bytes = path.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > LONGEST_PATH) {
            throw new IllegalArgumentException("the path of a socket has at most " + LONGEST_PATH + " bytes, not " + bytes.length
                + ": " + path);
        }
        Memory.putShort(target, (short) Sockets.AF_UNIX);
        Memory.put(target + 2, bytes);
        Memory.putByte(target + 2 + bytes.length, (byte) 0);
        return 3 + bytes.length;
    }

    /**
     * Returns the path that the socket at the other end has been bound to, or that it was accepted by; empty if there is none.
     */
    static String peerPath(int fd) {
        int length = read(GETPEERNAME, fd);
        long address = Scratch.get().address();
        StringBuilder path = new StringBuilder();
        for (int i = 2; i < Math.min(length, CAPACITY) && Memory.getByte(address + i) != 0; i++) {
            path.append((char) (Memory.getByte(address + i) & 0xff));
        }
        return path.toString();
    }

    /** Returns the address of an Internet socket, {@code null} if it has none. */
    static InetAddress localAddress(int fd) {
        if (read(GETSOCKNAME, fd) <= 0) {
            return null;
        }
        long address = Scratch.get().address();
        boolean four = Memory.getShort(address) == Sockets.AF_INET;
        byte[] bytes = new byte[four ? 4 : 16];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = Memory.getByte(address + (four ? 4 : 8) + i);
        }
        return Sockets.toAddress(bytes);
    }

    /** Reads an address to the scratch memory; returns its length, or {@code -errno}. */
    private static int read(CFunction call, int fd) {
        Scratch scratch = Scratch.get();
        long address = scratch.address();
        long length = scratch.vectors();
        Memory.putInt(length, CAPACITY);
        int result = call.call(fd, address, length);
        return result == 0 ? Memory.getInt(length) : result;
    }
}
