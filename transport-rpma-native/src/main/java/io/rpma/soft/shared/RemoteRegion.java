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
package io.rpma.soft.shared;

import io.rpma.posix.Memory;

/** A memory region of another process, checked and located. It is valid while its stamp is in that process's table. */
public final class RemoteRegion {
    /** Stands for a region in memory that this process cannot map at present, because it lacks descriptors or addresses. */
    public static final RemoteRegion NO_ROOM = new RemoteRegion();
    /** Stands for a region in memory that the other process has not sent, for example because its link has no room. */
    public static final RemoteRegion NOT_SENT = new RemoteRegion();

    private final int key;
    private final int usages;
    private final int domain;
    private final long address;
    private final long length;
    private final long local;
    private final long stamp;
    private final long stampAddress;

    private RemoteRegion() {
        this(RegionTable.NO_REGION, new RegionTable.Entry(0, 0, 0, 0, 0, 0, 0), 0, 0);
    }

    /**
     * Creates the region.
     *
     * @param local the address at which this process has mapped it, 0 if it has not
     */
    public RemoteRegion(int key, RegionTable.Entry entry, long local, long stampAddress) {
        this.key = key;
        this.usages = entry.usages();
        this.domain = entry.domain();
        this.address = entry.address();
        this.length = entry.length();
        this.stamp = entry.stamp();
        this.local = local;
        this.stampAddress = stampAddress;
    }

    public int key() {
        return key;
    }

    /**
     * Returns whether it is still registered. The caller has marked its queue pair as busy before ({@code Requester.enter}): the
     * fence there orders the store of {@link Half#BUSY} before this load of the stamp, so that an owner that clears the stamp
     * after this load finds the queue pair busy.
     */
    public boolean isLive() {
        return Memory.getLongAcquire(stampAddress) == stamp;
    }

    /** Returns whether a queue pair of a protection domain of its own process allows this usage. */
    public boolean allows(int usage, int ofDomain) {
        return (usages & usage) != 0 && domain == ofDomain;
    }

    /** Returns whether a part lies within it; the values may be anything. */
    public boolean contains(long offset, long count) {
        return offset >= 0 && count >= 0 && count <= length && offset <= length - count;
    }

    /** Returns its address in its own process. */
    public long address() {
        return address;
    }

    long length() {
        return length;
    }

    /** Returns its address in this process, 0 if it can only be reached by system call. */
    public long local() {
        return local;
    }
}
