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

package io.rpma.netty.loop;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandler;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;

/**
 * One descriptor of a registration in the epoll set of its loop, edge-triggered and never changed. It is made, used and
 * cancelled by the thread of the loop.
 */
final class DescriptorWatch implements EpollIoHandle {
    // Not a field of RpmaIoHandler, which must load without Netty's native library so that it can report that the library is
    // missing.
    private static final EpollIoOps WATCH = EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLET);

    private final LoopTurn turn;
    private final Owner owner;
    private final boolean isEvents;
    private final FileDescriptor fd;
    private final IoRegistration watched;

    /** The registration that the descriptor belongs to. Called by the thread of the loop. */
    interface Owner {
        boolean isValid();

        /** Called when the completion queue has signalled its descriptor. */
        void completionsReady();

        /** Called when there are connection events or requests. */
        void eventsReady();
    }

    /**
     * Adds a descriptor to an epoll set.
     *
     * @param turn counts what is handled
     * @param isEvents whether it is the descriptor of connection events or requests, and not that of the completion queue
     */
    DescriptorWatch(IoHandler epoll, LoopTurn turn, Owner owner, int fd, boolean isEvents) {
        this.turn = turn;
        this.owner = owner;
        this.isEvents = isEvents;
        this.fd = new FileDescriptor(fd);
        IoRegistration made = null;
        try {
            made = epoll.register(this);
            made.submit(WATCH);
        } catch (Exception e) {
            if (made != null) {
                // Otherwise the registration would stay valid, and the next descriptor with this number could not be registered.
                made.cancel();
            }
            throw new IllegalStateException("descriptor " + fd + " cannot be watched by epoll", e);
        }
        watched = made;
    }

    void cancel() {
        watched.cancel();
    }

    @Override
    public FileDescriptor fd() {
        return fd;
    }

    @Override
    public void handle(IoRegistration ignored, IoEvent event) {
        turn.dispatched++;
        if (!owner.isValid()) {
            return;
        }
        if (!isEvents) {
            owner.completionsReady();
            return;
        }
        turn.active++;
        owner.eventsReady();
    }

    @Override
    public void close() {
        // The owner of the descriptor closes it; this registration is cancelled together with that of its handle.
    }
}
