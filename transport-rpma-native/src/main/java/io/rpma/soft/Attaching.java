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

import io.rpma.posix.Posix;

/** Makes the view of the other end of a connection out of what it has sent. Everything in it is checked. */
final class Attaching {
    private Attaching() {
    }

    /**
     * Creates the view. The attachments that belong to it are used up; segments are left in the message.
     *
     * @param peerPid the process at the other end, as the kernel tells
     * @return the view, or {@code null} if what was sent makes no sense; the reason is logged
     */
    static RemoteEnd attach(LocalProcess local, EndDescription end, ControlMessage message, int peerPid) {
        RemoteProcess.Identity identity = new RemoteProcess.Identity(peerPid, end.high(), end.low());
        RemoteProcess process = local.find(identity);
        ControlMessage.Attachment table = message.take(ControlMessage.TABLE);
        if (process == null && table != null) {
            SharedMemory memory = SharedMemory.open(table.fd(), RegionTable.SIZE, false);
            if (memory != null) {
                process = local.findOrAdd(identity, memory);
            }
        } else if (table != null) {
            Posix.close(table.fd());
        }
        if (process == null) {
            SoftLog.violation("process " + peerPid + " sent no table of memory regions");
            return null;
        }
        RemoteEnd result = process.isSelf() ? attachLocal(local, process, end) : null;
        if (result == null) {
            // Of another process; or of this one and closed already, as can be told by what it has sent.
            result = attachRemote(local, process, end, message);
        }
        if (result == null) {
            SoftLog.violation("process " + peerPid + " sent an incomplete description of queue pair " + end.number());
            local.release(process);
        }
        return result;
    }

    /** The other end is in this process: its memory and doorbells are used as they are. */
    private static RemoteEnd attachLocal(LocalProcess local, RemoteProcess process, EndDescription end) {
        QueuePair other = local.queuePair(end.number());
        if (other == null || other.receiveCapacity() != end.receiveCapacity() || other.ringCapacity() != end.ringCapacity()
            || !other.half().tryRetain()) {
            return null;
        }
        EventFd event = other.ownDoorbell().event();
        EventFd receiveEvent = other.ownReceiveDoorbell() == other.ownDoorbell() ? null : other.ownReceiveDoorbell().event();
        boolean inQueue = end.completion() == EndDescription.QUEUE;
        SharedReceives shared = null;
        boolean complete = event.tryRetain();
        if (complete && receiveEvent != null && !receiveEvent.tryRetain()) {
            event.release();
            complete = false;
        }
        if (complete && other.attachment() != null) {
            shared = process.localReceiveQueue(other.attachment().queue());
        }
        if (!complete) {
            other.half().release();
            return null;
        }
        return new RemoteEnd(local, process, other.half(), end.domain(), end.receiveCapacity(), end.ringCapacity(), shared,
            end.queueIndex(), event, receiveEvent, inQueue, other);
    }

    private static RemoteEnd attachRemote(LocalProcess local, RemoteProcess process, EndDescription end,
            ControlMessage message) {
        SharedReceives shared = null;
        SharedMemory half = null;
        EventFd event = null;
        EventFd receiveEvent = null;
        boolean complete = false;
        try {
            ControlMessage.Attachment attachment = message.take(ControlMessage.HALF);
            if (attachment == null) {
                return null;
            }
            half = SharedMemory.open(attachment.fd(), Half.size(end.receiveCapacity(), end.ringCapacity()), true);
            event = openEvent(message.take(ControlMessage.EVENT));
            if (half == null || event == null) {
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
            if (end.queue() != 0) {
                ControlMessage.Attachment queue = message.take(ControlMessage.QUEUE);
                ControlMessage.Attachment queueEvent = message.take(ControlMessage.QUEUE_EVENT);
                if (queue == null || (queueEvent == null) == (end.completion() == EndDescription.QUEUE)) {
                    close(queue);
                    close(queueEvent);
                    return null;
                }
                shared = process.addReceiveQueue(end.queue(), end.queueCapacity(),
                    SharedReceives.size(end.queueCapacity()), queue.fd(), queueEvent == null ? -1 : queueEvent.fd());
                if (shared == null) {
                    return null;
                }
            }
            complete = true;
            return new RemoteEnd(local, process, half, end.domain(), end.receiveCapacity(), end.ringCapacity(), shared,
                end.queueIndex(), event, receiveEvent, end.completion() == EndDescription.QUEUE, null);
        } finally {
            if (!complete) {
                release(half, event, receiveEvent);
            }
        }
    }

    private static void release(SharedMemory half, EventFd event, EventFd receiveEvent) {
        if (half != null) {
            half.release();
        }
        if (event != null) {
            event.release();
        }
        if (receiveEvent != null) {
            receiveEvent.release();
        }
    }

    private static EventFd openEvent(ControlMessage.Attachment attachment) {
        return attachment == null ? null : EventFd.open(attachment.fd());
    }

    private static void close(ControlMessage.Attachment attachment) {
        if (attachment != null) {
            Posix.close(attachment.fd());
        }
    }
}
