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
package io.rpma.posix;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;

/** The socket calls of the C library. A call that fails returns {@code -errno}. */
public final class Sockets {
    /** There is no memory for a socket's buffers. */
    public static final int ENOBUFS = 105;
    /** Too many open files in the system. */
    public static final int ENFILE = 23;
    /** Too many open files in this process. */
    public static final int EMFILE = 24;
    /** The other side has closed. */
    public static final int EPIPE = 32;
    /** The other side has closed with unread data. */
    public static final int ECONNRESET = 104;
    /** A connect is in progress. */
    public static final int EINPROGRESS = 115;
    /** No route to the host. */
    public static final int EHOSTUNREACH = 113;
    /** Too many descriptors in flight. */
    public static final int ETOOMANYREFS = 109;

    /** {@code AF_UNIX}. */
    public static final int AF_UNIX = 1;
    /** {@code AF_INET}. */
    public static final int AF_INET = 2;
    /** {@code AF_INET6}. */
    public static final int AF_INET6 = 10;
    /** {@code SOCK_STREAM}. */
    public static final int SOCK_STREAM = 1;
    /** {@code SOCK_DGRAM}. */
    public static final int SOCK_DGRAM = 2;
    /** {@code SOCK_SEQPACKET}. */
    public static final int SOCK_SEQPACKET = 5;
    /** {@code SOCK_NONBLOCK}. */
    public static final int SOCK_NONBLOCK = 0x800;

    /** {@code EPOLLIN}. */
    public static final int EPOLLIN = 1;
    /** {@code POLLOUT}. */
    public static final short POLLOUT = 4;
    private static final short POLLERR = 8;
    private static final short POLLHUP = 0x10;

    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_ERROR = 4;
    private static final int SO_PEERCRED = 17;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_V6ONLY = 26;
    private static final int SCM_RIGHTS = 1;
    private static final int SCM_PIDFD = 4;
    private static final long CONTROL_HEADER = 16;
    private static final int MSG_PEEK = 2;
    private static final int MSG_CTRUNC = 8;
    private static final int MSG_TRUNC = 0x20;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int MAX_EXPECTED = Scratch.MAX_DESCRIPTORS;
    // Stored in place of the first descriptor if some descriptors were not received.
    private static final int INCOMPLETE = -2;
    // The peer can close only once. The others are for calls that a signal interrupts.
    private static final int MOST_TAKES = 100;
    private static final int SHUT_WR = 1;
    private static final int SHUT_RDWR = 2;

    // struct epoll_event is packed on x86-64 only.
    private static final boolean PACKED = System.getProperty("os.arch").matches("amd64|x86_64");
    private static final int EPOLL_EVENT_SIZE = PACKED ? 12 : 16;
    private static final int EPOLL_EVENT_DATA = PACKED ? 4 : 8;

    private static final CFunction SOCKET = CFunction.of("socket", 3);
    private static final CFunction SOCKETPAIR = CFunction.of("socketpair", 4);
    private static final CFunction BIND = CFunction.of("bind", 3);
    private static final CFunction LISTEN = CFunction.of("listen", 2);
    private static final CFunction CONNECT = CFunction.of("connect", 3);
    private static final CFunction ACCEPT4 = CFunction.of("accept4", 4);
    private static final CFunction SHUTDOWN = CFunction.of("shutdown", 2);
    private static final CFunction GETSOCKNAME = CFunction.of("getsockname", 3);
    private static final CFunction GETSOCKOPT = CFunction.of("getsockopt", 5);
    private static final CFunction SETSOCKOPT = CFunction.of("setsockopt", 5);
    private static final CFunction SENDMSG = CFunction.of("sendmsg", 3);
    private static final CFunction RECVMSG = CFunction.of("recvmsg", 3);
    private static final CFunction SEND = CFunction.of("send", 4);
    private static final CFunction RECV = CFunction.of("recv", 4);
    private static final CFunction POLL = CFunction.of("poll", 3);
    private static final CFunction EPOLL_CREATE1 = CFunction.of("epoll_create1", 1);
    private static final CFunction EPOLL_CTL = CFunction.of("epoll_ctl", 4);
    private static final CFunction EPOLL_WAIT = CFunction.of("epoll_wait", 4);

    private Sockets() {
    }

    public static int socket(int family, int type) {
        return SOCKET.call(family, type | SOCK_CLOEXEC, 0);
    }

    /** Creates two Unix sockets that are connected to each other, are non-blocking and preserve message boundaries. */
    public static int socketPair(int[] ends) {
        long pair = Scratch.get().vectors();
        int result = SOCKETPAIR.call(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair);
        if (result == 0) {
            ends[0] = Memory.getInt(pair);
            ends[1] = Memory.getInt(pair + 4);
        }
        return result;
    }

    public static int bind(int fd, InetSocketAddress address) {
        long target = Scratch.get().address();
        return bind(fd, target, write(address, target));
    }

    /** Binds a Unix socket to a name in the abstract namespace. */
    public static int bindAbstract(int fd, String name) {
        long target = Scratch.get().address();
        return bind(fd, target, writeAbstract(name, target));
    }

    /** Binds a socket to an address in the kernel's format. */
    public static int bind(int fd, long address, int length) {
        return BIND.call(fd, address, length);
    }

    public static int listen(int fd, int backlog) {
        return LISTEN.call(fd, backlog);
    }

    public static int connect(int fd, InetSocketAddress address) {
        long target = Scratch.get().address();
        return connect(fd, target, write(address, target));
    }

    /** Connects a Unix socket to a name in the abstract namespace. */
    public static int connectAbstract(int fd, String name) {
        long target = Scratch.get().address();
        return connect(fd, target, writeAbstract(name, target));
    }

    /** Connects a socket to an address in the kernel's format. */
    public static int connect(int fd, long address, int length) {
        return CONNECT.call(fd, address, length);
    }

    /** Takes a connection as a non-blocking socket. */
    public static int accept(int fd) {
        return ACCEPT4.call(fd, 0L, 0L, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }

    /** Ends the sending direction. */
    public static int shutdownWrite(int fd) {
        return shutdown(fd, SHUT_WR);
    }

    /** Ends both directions. */
    public static int shutdown(int fd) {
        return shutdown(fd, SHUT_RDWR);
    }

    private static int shutdown(int fd, int how) {
        return SHUTDOWN.call(fd, how);
    }

    /** Returns the port that an Internet socket is bound to. */
    public static int localPort(int fd) {
        Scratch scratch = Scratch.get();
        long address = scratch.address();
        Memory.putInt(scratch.vectors(), 128);
        int result = GETSOCKNAME.call(fd, address, scratch.vectors());
        return result < 0 ? result : Memory.networkOrder(Memory.getShort(address + 2)) & 0xffff;
    }

    /** Lets a listening socket bind a port that only closed connections still occupy ({@code SO_REUSEADDR}). */
    public static int setReuseAddress(int fd) {
        return setInt(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    }

    /** Sets whether an IPv6 socket is restricted to IPv6, so that it does not accept IPv4 as well. */
    public static int setV6Only(int fd, boolean only) {
        return setInt(fd, IPPROTO_IPV6, IPV6_V6ONLY, only ? 1 : 0);
    }

    static int setInt(int fd, int level, int option, int value) {
        long address = Scratch.get().vectors();
        Memory.putInt(address, value);
        return setOption(fd, level, option, address, 4);
    }

    private static int setOption(int fd, int level, int option, long value, int length) {
        return SETSOCKOPT.call(fd, level, option, value, length);
    }

    /** Returns the pending error of a socket as a negative number, 0 for none. */
    public static int pendingError(int fd) {
        long value = Scratch.get().vectors();
        int result = getOption(fd, SOL_SOCKET, SO_ERROR, value, 4);
        return result < 0 ? result : -Memory.getInt(value);
    }

    /** The process and the user at the other end of a Unix socket. */
    public record Credentials(int pid, int uid) {
        /**
         * Returns the number of the process. A process in another PID namespace has no number here; the result is then a negative
         * number that is computed from the number of its user.
         */
        public int process() {
            return pid > 0 ? pid : uid | Integer.MIN_VALUE;
        }
    }

    /** Returns the credentials of the other end of a Unix socket; {@code null} if the kernel does not report them. */
    public static Credentials peerCredentials(int fd) {
        long value = Scratch.get().vectors();
        if (getOption(fd, SOL_SOCKET, SO_PEERCRED, value, 12) < 0) {
            return null;
        }
        return new Credentials(Memory.getInt(value), Memory.getInt(value + 4));
    }

    private static int getOption(int fd, int level, int option, long value, int length) {
        long lengthAddress = value + 32;
        Memory.putInt(lengthAddress, length);
        return GETSOCKOPT.call(fd, level, option, value, lengthAddress);
    }

    /** Sends bytes without waiting. */
    public static long send(int fd, long address, long length) {
        return SEND.callLong(fd, address, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    /** Receives bytes without waiting; 0 is the end. */
    public static long receive(int fd, long address, long length) {
        return receive(fd, address, length, MSG_DONTWAIT);
    }

    /** Reads the next bytes without removing them from the socket and without waiting; 0 is the end. */
    public static long peek(int fd, long address, long length) {
        return receive(fd, address, length, MSG_DONTWAIT | MSG_PEEK);
    }

    private static long receive(int fd, long address, long length, int flags) {
        return RECV.callLong(fd, address, length, flags);
    }

    /**
     * Sends one message with descriptors, without waiting.
     *
     * @param scratch holds the message
     * @param length of the message, in bytes
     * @return 0, or {@code -errno}
     */
    public static int sendMessage(int fd, Scratch scratch, int length, int[] descriptors) {
        long header = scratch.header(length);
        int count = descriptors.length;
        if (count > 0) {
            long control = scratch.control();
            Memory.putLong(control, 16 + 4L * count);
            Memory.putInt(control + 8, SOL_SOCKET);
            Memory.putInt(control + 12, SCM_RIGHTS);
            for (int i = 0; i < count; i++) {
                Memory.putInt(control + 16 + 4L * i, descriptors[i]);
            }
        }
        Memory.putLong(header + Scratch.HEADER_CONTROL_LENGTH, count > 0 ? 16 + 4L * count : 0);
        return (int) Math.min(0, SENDMSG.callLong(fd, header, MSG_DONTWAIT | MSG_NOSIGNAL));
    }

    /**
     * Reads one message with its descriptors, without waiting, and leaves it in the socket until {@link #takeMessage}. If this
     * process has too few free descriptors, the message can therefore be read later. A message or a list of descriptors that is
     * too long is an error; the received descriptors are then closed.
     *
     * @param scratch receives the message
     * @param descriptors receives the descriptors, which are new at each reading; -1 behind the last
     * @return the length, 0 at the end, or {@code -errno}: {@code -EMFILE} if this process has too few descriptors left, and
     *     {@code -EINVAL} if the message is too long or its descriptors cannot be received for another reason
     */
    public static int peekMessage(int fd, Scratch scratch, int[] descriptors) {
        int result = peekOnce(fd, scratch, descriptors);
        if (result == -Posix.EINVAL && descriptors[0] == INCOMPLETE) {
            // Descriptors became free between the two calls, or the kernel withholds some for another reason: read once more.
            result = peekOnce(fd, scratch, descriptors);
        }
        if (result < 0) {
            descriptors[0] = -1;
        }
        return result;
    }

    private static int peekOnce(int fd, Scratch scratch, int[] descriptors) {
        long header = scratch.header(Scratch.MESSAGE_CAPACITY);
        Memory.putLong(header + Scratch.HEADER_CONTROL_LENGTH, scratch.controlCapacity());
        descriptors[0] = -1;
        long received = RECVMSG.callLong(fd, header, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (received < 0) {
            return (int) received;
        }
        boolean foreign = readControl(scratch.control(), Memory.getLong(header + Scratch.HEADER_CONTROL_LENGTH), descriptors);
        int count = 0;
        while (descriptors[count] >= 0) {
            count++;
        }
        int flags = Memory.getInt(header + Scratch.HEADER_FLAGS);
        // A length of 0 means the end of the connection, unless there are descriptors: then it is an empty message, an error.
        boolean wrong = foreign || received == 0 && count > 0;
        if ((flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && !wrong) {
            return (int) received;
        }
        // The kernel omits the descriptors for which this process has no free number.
        boolean incomplete = !wrong && (flags & MSG_TRUNC) == 0 && count < MAX_EXPECTED;
        boolean exhausted = incomplete && !hasFreeDescriptor(fd);
        for (int i = 0; i < count; i++) {
            Posix.close(descriptors[i]);
        }
        descriptors[0] = incomplete ? INCOMPLETE : -1;
        return exhausted ? -EMFILE : -Posix.EINVAL;
    }

    /**
     * Reads the descriptors from the control messages that the kernel has delivered with a message.
     *
     * @param length of all control messages, in bytes
     * @param descriptors receives the descriptors; -1 behind the last
     * @return whether the kernel has added something else, because of an option of the socket that this process has not set. A
     *     link is one open file of both processes, so the other process can set options such as {@code SO_PASSCRED}
     */
    private static boolean readControl(long control, long length, int[] descriptors) {
        boolean foreign = false;
        int count = 0;
        long end = control + length;
        long next = control;
        while (end - next >= CONTROL_HEADER) {
            long size = Memory.getLong(next);
            int type = Memory.getInt(next + 8) == SOL_SOCKET ? Memory.getInt(next + 12) : 0;
            if (type == SCM_RIGHTS) {
                for (long at = next + CONTROL_HEADER; at - next < size; at += 4) {
                    descriptors[count++] = Memory.getInt(at);
                }
            } else {
                foreign = true;
                if (type == SCM_PIDFD && size >= CONTROL_HEADER + 4) {
                    Posix.close(Memory.getInt(next + CONTROL_HEADER));
                }
            }
            next += (Math.max(size, CONTROL_HEADER) + 7) / 8 * 8;
        }
        descriptors[count] = -1;
        return foreign;
    }

    private static boolean hasFreeDescriptor(int fd) {
        int second = Posix.duplicate(fd);
        if (second < 0) {
            return false;
        }
        Posix.close(second);
        return true;
    }

    /** Removes the message that {@link #peekMessage} has read. */
    public static void takeMessage(int fd) {
        long result = -Posix.EINTR;
        for (int i = 0; i < MOST_TAKES && (result == -Posix.EINTR || result == -ECONNRESET); i++) {
            // Receiving the first byte removes the whole message with its descriptors. If the peer has closed with unread data
            // since the message was read, the first call only returns that error, and the message stays.
            result = receive(fd, Scratch.get().vectors(), 1);
        }
    }

    /** Waits for one descriptor. Returns the events, 0 after the time-out. */
    public static int poll(int fd, short events, int millis) {
        long entry = Scratch.get().vectors();
        Memory.putInt(entry, fd);
        Memory.putShort(entry + 4, events);
        Memory.putShort(entry + 6, (short) 0);
        int result = POLL.call(entry, 1L, millis);
        return result < 0 ? result : Memory.getShort(entry + 6);
    }

    /** Returns whether the other end of a Unix socket is closed, whatever it has sent before. */
    public static boolean hasHungUp(int fd) {
        int events = poll(fd, (short) 0, 0);
        return events > 0 && (events & (POLLHUP | POLLERR)) != 0;
    }

    public static int epollCreate() {
        return EPOLL_CREATE1.call(EPOLL_CLOEXEC);
    }

    /** Adds a descriptor to wait on for input; closing the descriptor removes it. */
    public static int epollAdd(int epoll, int fd) {
        return epollControl(epoll, EPOLL_CTL_ADD, fd);
    }

    /** Removes a descriptor that stays open. */
    public static int epollRemove(int epoll, int fd) {
        return epollControl(epoll, EPOLL_CTL_DEL, fd);
    }

    private static int epollControl(int epoll, int operation, int fd) {
        long event = Scratch.get().vectors();
        Memory.putInt(event, EPOLLIN);
        Memory.putInt(event + EPOLL_EVENT_DATA, fd);
        Memory.putInt(event + EPOLL_EVENT_DATA + 4, 0);
        return EPOLL_CTL.call(epoll, operation, fd, event);
    }

    /** Returns one descriptor of an epoll set that has input, without waiting; {@code -EAGAIN} if none has. */
    public static int epollNext(int epoll) {
        long event = Scratch.get().vectors();
        int count = EPOLL_WAIT.call(epoll, event, 1, 0);
        if (count < 0) {
            return count;
        }
        return count == 0 ? -Posix.EAGAIN : Memory.getInt(event + EPOLL_EVENT_DATA);
    }

    private static int writeAbstract(String name, long target) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > 107) {
            throw new IllegalArgumentException("a socket name has at most 107 bytes, not " + bytes.length);
        }
        Memory.putShort(target, (short) AF_UNIX);
        Memory.putByte(target + 2, (byte) 0);
        Memory.put(target + 3, bytes);
        return 3 + bytes.length;
    }

    static int write(InetSocketAddress address, long target) {
        InetAddress ip = address.getAddress();
        byte[] bytes = ip.getAddress();
        Memory.putShort(target + 2, Memory.networkOrder((short) address.getPort()));
        if (ip instanceof Inet4Address) {
            Memory.putShort(target, (short) AF_INET);
            for (int i = 0; i < 4; i++) {
                Memory.putByte(target + 4 + i, bytes[i]);
            }
            Memory.putLong(target + 8, 0);
            return 16;
        }
        Memory.putShort(target, (short) AF_INET6);
        Memory.putInt(target + 4, 0);
        for (int i = 0; i < 16; i++) {
            Memory.putByte(target + 8 + i, bytes[i]);
        }
        Memory.putInt(target + 24, ((Inet6Address) ip).getScopeId());
        return 28;
    }

    /** Returns an address as 16 bytes, IPv4 in the mapped form. */
    public static byte[] toBytes(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == 16) {
            return bytes;
        }
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xff;
        mapped[11] = (byte) 0xff;
        System.arraycopy(bytes, 0, mapped, 12, 4);
        return mapped;
    }

    /** Returns the address of 16 bytes. */
    public static InetAddress toAddress(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
