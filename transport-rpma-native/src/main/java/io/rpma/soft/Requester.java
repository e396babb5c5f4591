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

import io.rpma.CompletionStatus;
import io.rpma.MemoryUsage;
import io.rpma.posix.Memory;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.ReceiveEntry;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.software.Patience;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Executes the work requests of a connected queue pair in the memory of the peer, as a device's requester does. A work request
 * that has to wait for the peer has no effect; the peer can be asked to signal when it has changed what the request waits for.
 *
 * <p>Used by the thread that executes work requests, unless stated otherwise; see {@link QueuePair}.
 */
final class Requester {
    // The results of execute() for a work request that has to wait.
    /** The peer has posted no receive. */
    static final int NO_RECEIVE = -1;
    /** The peer's ring of completions is full. */
    static final int RING_FULL = -2;
    /** The peer's end is not ready. */
    static final int NOT_READY = -3;
    /** The memory of the peer's region has not been received. The peer does not signal when this changes. */
    static final int NOT_MAPPED = -4;

    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int LOC_LEN_ERR = CompletionStatus.LOC_LEN_ERR.code();
    private static final int LOC_PROT_ERR = CompletionStatus.LOC_PROT_ERR.code();
    private static final int REM_INV_REQ_ERR = CompletionStatus.REM_INV_REQ_ERR.code();
    private static final int REM_ACCESS_ERR = CompletionStatus.REM_ACCESS_ERR.code();
    private static final int REM_OP_ERR = CompletionStatus.REM_OP_ERR.code();
    private static final int RETRY_EXC_ERR = CompletionStatus.RETRY_EXC_ERR.code();

    /** The bound on immediate retries after a concurrent change: a misbehaving peer could otherwise cause an endless loop. */
    static final int MOST_TRIES = 1000;

    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Requester.class, "busy", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LocalEnd own;
    private final ProtectionDomain domain;
    // The half of this end, and that of the other one.
    private final long base;
    private final long remoteBase;
    private final RemoteReceives receives;
    private final RemoteAccess memory;
    private final Doorbell remoteDoorbell;
    private final Doorbell remoteReceiveDoorbell;
    // Odd while an operation executes. Threads of this process read this copy: the peer can overwrite the word Half.BUSY.
    private int busy;
    // The reason that was announced to the peer last, 0 if none is.
    private int announcement;
    private boolean thorough;

    /**
     * Creates the requester of a queue pair that is being connected.
     *
     * @param own the end that it executes for
     * @param domain the protection domain whose regions it accesses in this process
     * @param end the other end
     * @param control detects the end of the peer
     */
    Requester(LocalEnd own, ProtectionDomain domain, RemoteEnd end, ControlSocket control) {
        this.own = own;
        this.domain = domain;
        base = own.base();
        remoteBase = end.base();
        receives = new RemoteReceives(base, end);
        memory = new RemoteAccess(end, control);
        remoteDoorbell = end.doorbell();
        remoteReceiveDoorbell = end.receiveDoorbell();
    }

    // ---- executing

    /** Executes a work request that has waited; see the other method of this name. */
    int execute(WorkRequest request) {
        return execute(request.operation, request.local, request.localOffset, request.remote, request.remoteOffset,
            request.length, request.immediate, request.value);
    }

    /**
     * Executes a work request in the peer's memory. Unless the request has to wait, {@link Completer#finish} follows, and this
     * queue pair stays busy until then: once the peer has closed, it may assign its index in the shared queue to another queue
     * pair.
     *
     * @return the status, or, if it has to wait and nothing has been done, one of the negative reasons
     */
    int execute(int operation, SoftLocalMemoryRegion local, long localOffset, SoftRemoteMemoryRegion target,
            long remoteOffset, long length, int immediate, long value) {
        long localAddress = 0;
        if (local != null) {
            int usage = operation <= Operation.SEND_IMMEDIATE ? MemoryUsage.SEND.bit()
                : operation == Operation.READ ? MemoryUsage.READ_DST.bit() : MemoryUsage.WRITE_SRC.bit();
            if (!local.allows(usage) || !local.contains(localOffset, length) || !local.isOpen() || local.domain() != domain) {
                return LOC_PROT_ERR;
            }
            localAddress = local.address() + localOffset;
        }
        enter(operation <= Operation.SEND_IMMEDIATE ? Half.POSTED_RECEIVES
            : target != null ? target.key() : RegionTable.NO_REGION);
        int status = NOT_READY;
        try {
            status = executeBusy(operation, localAddress, target, remoteOffset, length, immediate, value);
        } finally {
            if (status < 0) {
                leave();
            }
        }
        return status;
    }

    private int executeBusy(int operation, long localAddress, SoftRemoteMemoryRegion target, long remoteOffset, long length,
            int immediate, long value) {
        if (own.isPeerGone()) {
            return RETRY_EXC_ERR;
        }
        int peerState = Memory.getIntAcquire(remoteBase + Half.STATE);
        if (peerState != Half.READY) {
            return peerState == Half.INITIAL ? NOT_READY : RETRY_EXC_ERR;
        }
        if (FaultPoints.ENABLED) {
            FaultPoints.at("executing");
        }
        if (operation <= Operation.SEND_IMMEDIATE) {
            return send(localAddress, length, operation == Operation.SEND_IMMEDIATE ? CompletionRing.IMMEDIATE : 0, immediate);
        }
        return access(operation, localAddress, target, remoteOffset, length, immediate, value);
    }

    /** Sends: takes a receive that the peer has posted, fills its buffer and publishes its completion. */
    private int send(long source, long length, int flags, int immediate) {
        if (receives.isRingFull()) {
            return RING_FULL;
        }
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            long entry = receives.find(search());
            if (entry == 0) {
                return NO_RECEIVE;
            }
            int key = Memory.getInt(entry + ReceiveEntry.KEY);
            int capacity = Memory.getInt(entry + ReceiveEntry.LENGTH);
            long offset = Memory.getLong(entry + ReceiveEntry.OFFSET);
            int slot = Memory.getInt(entry + ReceiveEntry.SLOT);
            RemoteRegion region = null;
            if (length > 0 && length <= capacity) {
                region = memory.region(key);
                if (region == null && memory.isMissing()) {
                    return NOT_MAPPED;
                }
            }
            // The fields read from the entry are valid only if no other sender has taken it meanwhile.
            if (receives.areShared() && !takeShared()) {
                continue;
            }
            if (FaultPoints.ENABLED) {
                FaultPoints.at("taken");
            }
            if (length > capacity) {
                receives.publish(slot, length, immediate, flags, LOC_LEN_ERR);
                return REM_INV_REQ_ERR;
            }
            if (length > 0 && !fill(region, offset, source, length)) {
                receives.publish(slot, 0, immediate, flags, LOC_PROT_ERR);
                return REM_OP_ERR;
            }
            if (FaultPoints.ENABLED) {
                FaultPoints.at("copied");
            }
            receives.publish(slot, length, immediate, flags, SUCCESS);
            if (FaultPoints.ENABLED) {
                FaultPoints.at("published");
            }
            return SUCCESS;
        }
        return NO_RECEIVE;
    }

    /**
     * Copies a message into the buffer of a receive.
     *
     * @param region the region of the buffer, or {@code null} if the peer has none of that key
     * @return whether the whole message was copied
     */
    private boolean fill(RemoteRegion region, long offset, long source, long length) {
        return region != null && memory.allows(region, MemoryUsage.RECV.bit()) && region.contains(offset, length)
            && memory.copyTo(region, offset, source, length) == SUCCESS;
    }

    /** Reads, writes or flushes a memory region of the peer. */
    private int access(int operation, long localAddress, SoftRemoteMemoryRegion target, long remoteOffset, long length,
            int immediate, long value) {
        RemoteRegion region = null;
        long offset = 0;
        if (target != null) {
            region = memory.region(target.key(), RemoteAccess.usage(operation));
            if (region == null) {
                return memory.isMissing() ? NOT_MAPPED : REM_ACCESS_ERR;
            }
            // The address comes from the descriptor, which is not trusted; the bounds come from the peer's table. The sum may
            // overflow to any value, and contains() checks the result.
            offset = target.address() - region.address() + remoteOffset;
            if (!region.contains(offset, length)) {
                return REM_ACCESS_ERR;
            }
        }
        switch (operation) {
            case Operation.READ:
                return length == 0 ? SUCCESS : memory.copyFrom(region, offset, localAddress, length);
            case Operation.WRITE:
                return length == 0 ? SUCCESS : memory.copyTo(region, offset, localAddress, length);
            case Operation.WRITE_IMMEDIATE:
                return writeImmediate(region, offset, localAddress, length, immediate);
            case Operation.ATOMIC_WRITE:
                return memory.atomicWrite(region, offset, value);
            case Operation.FLUSH_PERSISTENT:
                return memory.persist(region, offset, length);
            default:
                // The writes went to shared memory. The fence orders them before the completion of the flush for all threads
                // (row M22 of docs/memory-order.md).
                Memory.fullFence();
                return SUCCESS;
        }
    }

    private int writeImmediate(RemoteRegion region, long offset, long source, long length, int immediate) {
        if (receives.isRingFull()) {
            return RING_FULL;
        }
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            long entry = receives.find(search());
            if (entry == 0) {
                return NO_RECEIVE;
            }
            int slot = Memory.getInt(entry + ReceiveEntry.SLOT);
            if (receives.areShared() && !takeShared()) {
                continue;
            }
            if (length > 0 && memory.copyTo(region, offset, source, length) != SUCCESS) {
                receives.publish(slot, 0, immediate, CompletionRing.IMMEDIATE | CompletionRing.WRITE, LOC_PROT_ERR);
                return REM_OP_ERR;
            }
            receives.publish(slot, length, immediate, CompletionRing.IMMEDIATE | CompletionRing.WRITE, SUCCESS);
            return SUCCESS;
        }
        return NO_RECEIVE;
    }

    private boolean takeShared() {
        if (!receives.take()) {
            return false;
        }
        if (announcement == NO_RECEIVE) {
            receives.withdrawWaiting();
        }
        return true;
    }

    private RemoteReceives.Search search() {
        return thorough ? RemoteReceives.Search.THOROUGH
            : announcement == NO_RECEIVE ? RemoteReceives.Search.CAREFUL : RemoteReceives.Search.BRIEF;
    }

    /** Loads the receive for the next message into this processor's cache, after the current message has been signalled. */
    void lookAhead() {
        receives.lookAhead();
    }

    // ---- being busy

    /**
     * Marks this queue pair busy. The fence orders the store of {@link Half#BUSY} before all later loads of the peer's state and
     * of the stamps of its regions. A process that takes memory away stores these words first, executes a fence and then loads
     * BUSY. So either this side observes that the memory is no longer valid, or the peer observes that this side is busy and
     * waits for the end of the operation before it reuses the memory (rows M35 to M38 of docs/memory-order.md).
     *
     * @param region the key of the region that the operation reaches, {@link Half#POSTED_RECEIVES}, or
     *     {@link RegionTable#NO_REGION}
     */
    private void enter(int region) {
        int mark = busy + 1;
        BUSY.setRelease(this, mark);
        // The release store orders every access of the previous operation before it. A peer that loads this region concludes that
        // the previous operation has ended.
        Memory.putIntRelease(base + Half.BUSY_REGION, region);
        Memory.putIntRelease(base + Half.BUSY, mark);
        Memory.fullFence();
    }

    /**
     * Makes the queue pair idle again if it is busy. The release store orders all accesses of the operation, including the
     * published completion, before the even value.
     */
    void leave() {
        int mark = busy;
        if ((mark & 1) != 0) {
            BUSY.setRelease(this, mark + 1);
            Memory.putIntRelease(base + Half.BUSY, mark + 1);
        }
    }

    /** Waits for the end of the operation that another thread of this process may be executing. Any thread. */
    void awaitOwn() {
        int mark = (int) BUSY.getVolatile(this);
        if ((mark & 1) != 0) {
            // Wait without a limit: the executing thread would crash the process if the memory were unmapped under it, and it
            // cannot be killed alone.
            Patience patience = new Patience();
            while ((int) BUSY.getVolatile(this) == mark) {
                patience.pause();
            }
        }
    }

    // ---- waiting for the peer

    /** Returns whether a request that waits for a receive waits for one of a queue that several connections share. */
    boolean waitsForShared(int reason) {
        return reason == NO_RECEIVE && receives.areShared();
    }

    /** Returns whether this reason was announced last. */
    boolean isAnnounced(int reason) {
        return announcement == reason;
    }

    /** Returns whether a reason was announced. */
    boolean isAnnounced() {
        return announcement != 0;
    }

    /** Sets whether the next attempts search all shared receives. */
    void searchThoroughly(boolean all) {
        thorough = all;
    }

    /** Clears the announcement, so that the next request makes an attempt of its own. */
    void forgetAnnouncement() {
        announcement = 0;
        memory.endWait();
    }

    /** Called when a request waits because of {@link #NOT_MAPPED}, after each attempt. Returns whether it may wait longer. */
    boolean awaitMemory() {
        return memory.awaitMissing();
    }

    /**
     * Asks the peer to signal when the condition that this side waits for has changed. The fence orders the announcement before
     * the loads of the next attempt, against the fence between a change and {@link LocalEnd#wakePeer()} on the peer's side
     * (rows M1 to M4 and M24 of docs/memory-order.md).
     */
    void announce(int reason) {
        announcement = reason;
        if (reason == NO_RECEIVE && receives.areShared()) {
            // Once the peer has closed, it may assign the index to another queue pair: see markReady().
            enter(RegionTable.NO_REGION);
            if (Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY) {
                receives.announceWaiting();
            }
            leave();
        } else {
            Memory.putIntVolatile(remoteBase + Half.STALLED, 1);
        }
        Memory.fullFence();
    }

    /** Returns whether the last announcement still stands: then the peer has changed nothing, and another attempt is useless. */
    boolean isStillAnnounced() {
        boolean stands = announcement == NO_RECEIVE && receives.areShared()
            ? receives.isWaiting() && Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY
            : Memory.getIntAcquire(remoteBase + Half.STALLED) != 0;
        if (!stands) {
            announcement = 0;
        }
        return stands;
    }

    /**
     * Reports to the peer that no receive has been found for so long that some may be lost. The fence orders the store of the
     * fault before the load of the armed word (rows M7 and M26 of docs/memory-order.md).
     */
    void reportStarvation() {
        enter(RegionTable.NO_REGION);
        boolean told = Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY
            && Memory.casInt(remoteBase + Half.FAULT, 0, Half.STARVED);
        if (told && receives.shareQueue()) {
            receives.markReady();
        }
        leave();
        if (told) {
            Memory.fullFence();
            remoteReceiveDoorbell.ring();
        }
    }

    // ---- signalling the peer

    /**
     * Sets the ready bit of the peer's queue pair in the shared completion queue, if it has one, after a completion was
     * published; called before {@link #leave()}. The fence orders the published completion before the load of the ready bit. When
     * the owner drops a ring from its list, it clears the bit, executes a fence and checks the ring once more: either it finds
     * the completion or this thread finds the bit clear and sets it (row M25 of docs/memory-order.md).
     */
    void markDelivered() {
        if (receives.shareQueue()) {
            Memory.fullFence();
            receives.markReady();
        }
    }

    /** Wakes the owner of the peer's queue of receive completions; a full fence precedes. */
    void ringForReceive() {
        remoteReceiveDoorbell.ring();
    }

    /**
     * Reports to the peer that an access was not permitted. Its queue pair enters the error state as well, when its owner polls
     * and finds this fault. The fence orders the store of the fault before the loads of the armed words (rows M7 and M26 of
     * docs/memory-order.md).
     */
    void reportFault() {
        Memory.putIntVolatile(remoteBase + Half.FAULT, Half.BROKEN);
        if (receives.shareQueue()) {
            markReady();
        }
        Memory.fullFence();
        remoteDoorbell.ring();
        if (remoteReceiveDoorbell != remoteDoorbell) {
            remoteReceiveDoorbell.ring();
        }
    }

    /** Sets the ready bit of the peer's queue pair in the shared completion queue. */
    private void markReady() {
        // Once the peer has closed, it may assign the index to another queue pair. It does not while this side is busy and the
        // state was READY after enter().
        enter(RegionTable.NO_REGION);
        if (Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY) {
            receives.markReady();
        }
        leave();
    }
}
