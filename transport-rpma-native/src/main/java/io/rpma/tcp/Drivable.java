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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The part of a queue pair that the adapter uses. A thread that has work for the queue pair, or looks for work, <i>drives</i> it:
 * the thread that posts and polls, the thread that posts to its shared receive queue, or the adapter's thread. One thread at a
 * time drives it. If another thread holds the queue pair, the thread adds its reason to {@link #state}, and the holder does that
 * work before it releases the queue pair. So no thread waits.
 *
 * <p>{@link QueuePair} alone extends this class, so that the JVM inlines its methods. Any thread may call them, unless stated
 * otherwise.
 */
abstract class Drivable {
    /** A reason to drive: there is something to send. */
    static final int SEND = 2;
    /** A reason to drive: data may have arrived. */
    static final int RECEIVE = 4;
    /** A reason to drive: send a pending acknowledgement, in a frame of its own if no other frame carries it. */
    static final int ACKNOWLEDGE = 8;
    private static final int HELD = 1;
    /** A reason to drive: enter the error state and end the sending direction. */
    static final int DISCONNECT = 16;
    /** A reason to drive: close the socket. */
    static final int CLOSE = 32;
    /** A reason to drive: arm the socket in the adapter's epoll set again. */
    static final int ARM = 64;
    /** A reason to drive: the owner polls, and no data has arrived. It is the same as {@link #RECEIVE} without reading. */
    static final int LOOK = 128;
    /** A reason to drive: end the connection if its message holds a receive, which others wait for, and arrives too slowly. */
    static final int CHECK = 512;
    /** A reason to drive: the peer has ended the connection, or it has failed, and data may still be unread. */
    static final int HUNG_UP = 1024;
    /** A reason to drive: the queue pair has a connected socket, and has not begun to use it. */
    static final int START = 2048;
    /** Not a reason: the driving thread waits if this drive finds nothing. */
    static final int WAITS = 4096;
    /** Not a reason: the driving thread does not poll the receives, so it has had no chance to reply to a message. */
    static final int PATIENT = 256;

    /** Not a reason: the driving thread polls the shared receive queue, and perhaps not the queue for sends before it waits. */
    static final int MEMBER = 8192;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Drivable.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int state;
    // The adapter and other threads read these fields. The holder of the queue pair writes them, except "drives", which the
    // threads of the owner write.
    volatile boolean stopped;
    volatile boolean blocked;
    volatile boolean hurried;
    volatile long work;
    volatile long drives;

    /**
     * Drives the queue pair for the given reasons, or leaves them to the thread that holds it. Each step is an atomic
     * read-modify-write of the state: the holder releases it only by a compare-and-set from a state without reasons, so no reason
     * is lost, and what one holder has written is visible to the next.
     *
     * <p>If the work throws an exception, as a log of the application may, this thread does the work that is left, releases the
     * queue pair, and throws the exception.
     */
    final void kick(int reasons) {
        if (((int) STATE.getAndBitwiseOr(this, reasons | HELD) & HELD) != 0) {
            return;
        }
        try {
            workThenRelease();
        } catch (Throwable e) {
            workAfter(e);
            throw e;
        }
    }

    /** Does all work, and releases the queue pair. */
    private void workThenRelease() {
        while (true) {
            int todo = (int) STATE.getAndSet(this, HELD) & ~HELD;
            if (todo != 0) {
                run(todo);
            } else if (STATE.compareAndSet(this, HELD, 0)) {
                return;
            }
        }
    }

    private void workAfter(Throwable failure) {
        boolean released = false;
        while (!released) {
            try {
                workThenRelease();
                released = true;
            } catch (Throwable e) {
                if (e != failure) {
                    failure.addSuppressed(e);
                }
            }
        }
    }

    /** Does the work of the given reasons. The calling thread holds the queue pair. Closing it must succeed. */
    abstract void run(int todo);

    /**
     * Returns whether the driving thread may wait before it drives this queue pair again for its sends.
     *
     * @param isBlockedNow whether the send buffer has become full in this drive
     */
    static boolean mayWait(int todo, boolean isBlockedNow) {
        return (todo & (isBlockedNow ? WAITS | MEMBER : WAITS)) != 0;
    }

    /** Returns how often data has arrived. The adapter compares counts to find out whether a drive found work. */
    final long work() {
        return work;
    }

    /** Returns how often the owner has driven this queue pair. */
    final long drives() {
        return drives;
    }

    /** Returns whether the queue pair is closed. */
    final boolean isStopped() {
        return stopped;
    }

    /** Returns whether the send buffer of the socket is full. */
    final boolean isBlocked() {
        return blocked;
    }

    /** Returns whether work was left over by the last drive. */
    final boolean isHurried() {
        return hurried;
    }

    /**
     * Returns whether work was left over by the last drive, and clears that mark. The caller then drives the queue pair, and so
     * also does the work of a mark that the holder sets again before it is cleared here. A mark that is not found is not
     * cleared.
     */
    final boolean takeHurry() {
        if (!hurried) {
            return false;
        }
        hurried = false;
        return true;
    }
}
