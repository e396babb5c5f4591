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

/** The calls on a set of descriptors, by its own descriptor ({@code epoll(7)}). A call that fails returns {@code -errno}. */
public final class EpollSet {
    /** {@code EPOLLIN}. */
    public static final int IN = 1;
    /** {@code EPOLLOUT}. */
    public static final int OUT = 4;
    /** {@code EPOLLRDHUP}: the other side has ended its direction. */
    public static final int READ_END = 0x2000;
    /** {@code EPOLLONESHOT}. */
    public static final int ONCE = 1 << 30;
    /** {@link #READ_END}, and the events that are reported without a request: {@code EPOLLERR} and {@code EPOLLHUP}. */
    public static final int ANY_END = READ_END | 8 | 0x10;

    // struct epoll_event is packed on x86-64 alone.
    private static final int DATA = System.getProperty("os.arch").matches("amd64|x86_64") ? 4 : 8;
    /** Bytes of a {@code struct epoll_event}. */
    public static final int EVENT_BYTES = DATA + 8;

    private static final int ADD = 1;
    private static final int DELETE = 2;
    private static final int MODIFY = 3;

    private static final CFunction CONTROL = CFunction.of("epoll_ctl", 4);
    private static final CFunction WAIT = CFunction.of("epoll_wait", 4);

    private EpollSet() {
    }

    /** Adds a descriptor; the data comes back with its events. */
    public static int add(int set, int fd, int events, long data) {
        return control(set, ADD, fd, events, data);
    }

    /** Changes the events of a descriptor. */
    public static int modify(int set, int fd, int events, long data) {
        return control(set, MODIFY, fd, events, data);
    }

    /** Removes a descriptor. */
    public static int remove(int set, int fd) {
        return control(set, DELETE, fd, 0, 0);
    }

    private static int control(int set, int operation, int fd, int events, long data) {
        long event = Scratch.get().vectors();
        Memory.putInt(event, events);
        Memory.putInt(event + DATA, (int) data);
        Memory.putInt(event + DATA + 4, (int) (data >>> 32));
        return CONTROL.call(set, operation, fd, event);
    }

    /**
     * Waits.
     *
     * @param events memory for {@code room} events of {@link #EVENT_BYTES} each
     * @param millis the longest time to wait; 0 returns immediately, -1 waits without a limit
     * @return how many descriptors are ready, or {@code -errno}
     */
    public static int await(int set, long events, int room, int millis) {
        return WAIT.call(set, events, room, millis);
    }

    /** Returns what has occurred, as a combination of the constants for events. */
    public static int events(long events, int index) {
        return Memory.getInt(events + (long) index * EVENT_BYTES);
    }

    /** Returns the data of an event. */
    public static long data(long events, int index) {
        long at = events + (long) index * EVENT_BYTES + DATA;
        return Memory.getInt(at) & 0xffff_ffffL | (long) Memory.getInt(at + 4) << 32;
    }
}
