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
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.SharedReceives;

/** Creates the view of the other end of a connection from the description that it has sent, and checks all of it. */
final class Attaching {
    private Attaching() {
    }

    /**
     * Creates the view. The caller still has to close the attachments of the message.
     *
     * @param process the process at the other end, retained by the caller
     * @return the view, or {@code null} if the description is not valid; the reason is logged
     * @throws RpmaException if there are too few resources; the call may then be repeated
     */
    static RemoteEnd attach(LocalProcess local, RemoteProcess process, EndDescription end, ControlMessage message)
            throws RpmaException {
        process.fetch(end);
        long half = process.half(end.slab(), end.offset(), Half.size(end.receiveCapacity(), end.ringCapacity()));
        if (half == 0) {
            return incomplete(process, end);
        }
        // Open the doorbells first: there may be no descriptor left for them, and the half can be attached only once.
        EventPipe event = null;
        EventPipe receiveEvent = null;
        RemoteEnd result = null;
        boolean attached = false;
        try {
            if (!process.isSelf()) {
                event = openEvent(message, ControlMessage.EVENT);
                receiveEvent = end.completion() == EndDescription.OWN ? openEvent(message, ControlMessage.RECEIVE_EVENT) : null;
            }
            attached = HalfMemory.attach(half, end.use());
            if (!attached) {
                // The other side has closed already; the end of its socket will signal that.
                return RemoteEnd.closed(local.remotes(), process, end);
            }
            result = process.isSelf() ? attachLocal(local, process, end, half)
                : attachRemote(local, process, end, half, event, receiveEvent);
        } finally {
            if (result == null) {
                if (attached) {
                    HalfMemory.detach(half, end.use());
                }
                release(event);
                release(receiveEvent);
            }
        }
        if (result != null) {
            return result;
        }
        return process.isSelf() ? RemoteEnd.closed(local.remotes(), process, end) : incomplete(process, end);
    }

    private static RemoteEnd incomplete(RemoteProcess process, EndDescription end) {
        SoftLog.violation(User.process(process.pid()) + " sent an incomplete description of queue pair " + end.number());
        return null;
    }

    /** Creates the view of an end in this process, whose doorbells are used directly. */
    private static RemoteEnd attachLocal(LocalProcess local, RemoteProcess process, EndDescription end, long half) {
        LocalEnd other = local.queuePair(end.number());
        if (other == null) {
            return null;
        }
        Doorbell doorbell = other.ownDoorbell();
        Doorbell receives = other.receiveDoorbell() == doorbell ? null : other.receiveDoorbell();
        if (!doorbell.tryRetain()) {
            return null;
        }
        if (receives != null && !receives.tryRetain()) {
            doorbell.release();
            return null;
        }
        SharedReceives shared = null;
        if (other.sharedReceiveQueue() != null) {
            shared = process.localReceiveQueue(other.sharedReceiveQueue());
            if (shared == null) {
                doorbell.release();
                if (receives != null) {
                    receives.release();
                }
                return null;
            }
        }
        return new RemoteEnd(local.remotes(), process, half, end, shared, doorbell, receives, other::resume);
    }

    /** Creates the view of an end in another process. If it succeeds, the view takes ownership of the doorbells. */
    private static RemoteEnd attachRemote(LocalProcess local, RemoteProcess process, EndDescription end, long half,
            EventPipe event, EventPipe receiveEvent) {
        boolean deferred = end.completion() == EndDescription.QUEUE;
        if (event == null && !deferred || receiveEvent == null && end.completion() == EndDescription.OWN) {
            return null;
        }
        SharedReceives shared = null;
        if (end.queue() != 0) {
            shared = process.receiveQueue(end.queue(), end.queueCapacity(), deferred);
            if (shared == null) {
                return null;
            }
        }
        EventPipe ofReceives = end.completion() == EndDescription.OWN_SHARED_CHANNEL ? event.retain() : receiveEvent;
        return new RemoteEnd(local.remotes(), process, half, end, shared,
            event == null ? null : new Doorbell(half + Half.ARMED, event),
            ofReceives == null ? null : new Doorbell(half + Half.RECEIVE_ARMED, ofReceives), null);
    }

    private static void release(EventPipe event) {
        if (event != null) {
            event.release();
        }
    }

    private static EventPipe openEvent(ControlMessage message, int kind) throws RpmaException {
        ControlMessage.Attachment attachment = message.find(kind);
        return attachment == null ? null : EventPipe.open(attachment.fd());
    }
}
