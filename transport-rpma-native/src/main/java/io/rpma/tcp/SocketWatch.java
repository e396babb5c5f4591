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

/**
 * The watch of a queue pair's socket by the descriptors of the completion queues: they are readable while the socket is. It ends
 * with the stream, and is off while reading is paused, because the socket would stay readable.
 *
 * <p>Used by the thread that holds the queue pair, unless stated otherwise.
 */
final class SocketWatch {
    private final TcpSharedReceiveQueue.Member pair;
    private final int socket;
    // Null if the socket wakes the thread that polls the shared receive queue.
    private final Alarm alarm;
    private final Alarm receiveAlarm;
    // Null if the queue pair has receives of its own.
    private final TcpSharedReceiveQueue shared;
    // The number in the epoll set of the shared receive queue, -1 for none.
    private int member;

    /**
     * Begins the watch, and the membership in the shared receive queue.
     *
     * @param queue the shared receive queue of the queue pair, {@code null} if it has none
     */
    SocketWatch(TcpSharedReceiveQueue.Member pair, int socket, TcpCompletionQueue completions,
            TcpCompletionQueue receiveCompletions, TcpSharedReceiveQueue queue) {
        this.pair = pair;
        this.socket = socket;
        shared = queue;
        member = queue == null ? -1 : queue.join(pair);
        // As a member, the socket wakes the thread that polls the shared receive queue. By driving the queue pair, that thread
        // also signals the completion queue of the work requests.
        alarm = member >= 0 ? null : completions.alarm();
        receiveAlarm = member >= 0 ? null : receiveCompletions.alarm();
        set(true);
    }

    /** Returns whether the thread that polls the shared receive queue is woken. Any thread; it may find an old value. */
    boolean isOfMember() {
        return member >= 0;
    }

    /** Returns whether the socket wakes the threads that wait for completions. Any thread, after the constructor. */
    boolean isOfCompletions() {
        return alarm != null;
    }

    /** Turns the watch on or off before its end. */
    void set(boolean isOn) {
        if (alarm != null) {
            set(alarm, isOn);
            if (receiveAlarm != alarm) {
                set(receiveAlarm, isOn);
            }
        } else if (isOn) {
            check(shared.watch(pair, member, socket));
        } else {
            shared.unwatch(pair, socket);
        }
    }

    private void set(Alarm which, boolean isOn) {
        if (isOn) {
            check(which.watch(socket));
        } else {
            which.unwatch();
        }
    }

    /** Handles a failure: the threads that poll look for data without the watch, and for those that wait the adapter does so. */
    private static void check(int result) {
        if (result < 0) {
            Adapter.instance().warnOnce(-result);
        }
    }

    /** Ends the watch and the membership. A second call has no effect. */
    void end() {
        if (alarm != null) {
            set(false);
        }
        if (shared != null) {
            shared.leave(pair, member, socket);
            member = -1;
        }
    }
}
