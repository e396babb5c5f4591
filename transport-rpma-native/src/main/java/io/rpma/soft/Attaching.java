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
package io.rpma.soft;

import io.rpma.RpmaException;

/** Makes the view of the other end of a connection out of what it has sent. Everything in it is checked. */
final class Attaching {
    private Attaching() {
    }

    /**
     * Creates the view. The attachments that belong to it are used up.
     *
     * @param process the process at the other end, which the caller has a use of
     * @return the view, or {@code null} if what was sent makes no sense; the reason is logged
     * @throws RpmaException if there are too few resources; the same may then be tried again
     */
    static RemoteEnd attach(LocalProcess local, RemoteProcess process, EndDescription end, ControlMessage message)
            throws RpmaException {
        process.fetch(end);
        long half = process.half(end.slab(), end.offset(), Half.size(end.receiveCapacity(), end.ringCapacity()));
        if (half == 0) {
            return incomplete(process, end);
        }
        if (!HalfMemory.attach(half, end.use())) {
            // The other side has closed already, as its socket will tell.
            return RemoteEnd.closed(local, process, end);
        }
        RemoteEnd result = null;
        try {
            result = process.isSelf() ? attachLocal(local, process, end, half) : attachRemote(local, process, end, half, message);
        } finally {
            if (result == null) {
                HalfMemory.detach(half, end.use());
            }
        }
        if (result != null) {
            return result;
        }
        return process.isSelf() ? RemoteEnd.closed(local, process, end) : incomplete(process, end);
    }

    private static RemoteEnd incomplete(RemoteProcess process, EndDescription end) {
        SoftLog.violation("process " + process.pid() + " sent an incomplete description of queue pair " + end.number());
        return null;
    }

    /** The other end is in this process: its doorbells are used as they are. */
    private static RemoteEnd attachLocal(LocalProcess local, RemoteProcess process, EndDescription end, long half) {
        QueuePair other = local.queuePair(end.number());
        if (other == null) {
            return null;
        }
        EventFd event = other.ownDoorbell().event();
        EventFd receiveEvent = other.ownReceiveDoorbell() == other.ownDoorbell() ? null : other.ownReceiveDoorbell().event();
        if (!event.tryRetain()) {
            return null;
        }
        if (receiveEvent != null && !receiveEvent.tryRetain()) {
            event.release();
            return null;
        }
        SharedReceives shared = null;
        if (other.attachment() != null) {
            shared = process.localReceiveQueue(other.attachment().queue());
            if (shared == null) {
                release(event);
                release(receiveEvent);
                return null;
            }
        }
        return new RemoteEnd(local, process, half, end, shared, event, receiveEvent, other);
    }

    private static RemoteEnd attachRemote(LocalProcess local, RemoteProcess process, EndDescription end, long half,
            ControlMessage message) {
        EventFd event = null;
        EventFd receiveEvent = null;
        boolean complete = false;
        try {
            event = openEvent(message.take(ControlMessage.EVENT));
            if (event == null) {
                return null;
            }
            if (end.completion() == EndDescription.OWN) {
                receiveEvent = openEvent(message.take(ControlMessage.RECEIVE_EVENT));
                if (receiveEvent == null) {
                    return null;
                }
            } else if (end.completion() == EndDescription.OWN_SHARED_CHANNEL) {
                receiveEvent = event.retain();
            }
            SharedReceives shared = null;
            if (end.queue() != 0) {
                shared = process.receiveQueue(end.queue(), end.queueCapacity(), end.completion() == EndDescription.QUEUE);
                if (shared == null) {
                    return null;
                }
            }
            complete = true;
            return new RemoteEnd(local, process, half, end, shared, event, receiveEvent, null);
        } finally {
            if (!complete) {
                release(event);
                release(receiveEvent);
            }
        }
    }

    private static void release(EventFd event) {
        if (event != null) {
            event.release();
        }
    }

    private static EventFd openEvent(ControlMessage.Attachment attachment) {
        return attachment == null ? null : EventFd.open(attachment.fd());
    }
}
