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
package io.rpma.soft.process;

import io.rpma.soft.host.Shortage;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.soft.shared.SharedMemory;

/**
 * Finds memory regions in the table of one other process, checks their entries, and locates them in the memory that has been
 * received from that process. The result is added to the {@link RegionCache}. Used by the threads that execute work requests,
 * under the lock of the {@link RemoteProcess}.
 */
final class RegionLookup {
    private final int pid;
    private final boolean self;
    private final ReceivedMemory received;
    private final RegionCache cache;
    private boolean shortageReported;

    /**
     * Creates the lookup.
     *
     * @param self whether it is the table of this process itself, whose regions lie at their own addresses
     */
    RegionLookup(int pid, boolean self, ReceivedMemory received, RegionCache cache) {
        this.pid = pid;
        this.self = self;
        this.received = received;
        this.cache = cache;
    }

    /**
     * Looks a region up. The entry of a region is trusted only as far as the memory that the other process has sent; that memory
     * may be missing although neither process is at fault.
     *
     * @return the region, or {@code null} if there is none with this key or its entry is not valid; {@link RemoteRegion#NO_ROOM}
     *     or {@link RemoteRegion#NOT_SENT} if its memory is missing, and the region has to be looked up again later
     */
    RemoteRegion find(int key) {
        SharedMemory table = received.table();
        RegionTable.Entry entry = table == null ? null : RegionTable.read(table.address(), key);
        if (entry == null) {
            return null;
        }
        if (entry.length() <= 0 || entry.address() <= 0 || entry.address() > Long.MAX_VALUE - entry.length()) {
            SoftLog.violation(User.process(pid) + " has an invalid memory region of " + entry.length() + " bytes at 0x"
                + Long.toHexString(entry.address()));
            return null;
        }
        long address = 0;
        if (self) {
            address = entry.address();
        } else if (entry.range() != RegionTable.FOREIGN) {
            RemoteRegion missing = fetch(entry);
            if (missing != null) {
                return missing;
            }
            address = locate(entry);
            if (address == 0) {
                return null;
            }
        }
        RemoteRegion region = new RemoteRegion(key, entry, address, RegionTable.entryAddress(table.address(), key));
        cache.add(region);
        return region;
    }

    /**
     * Reads the link if the range of a region has not been received.
     *
     * @return {@code null} if it has been received, or will not be because the link has failed; otherwise why it is missing
     */
    private RemoteRegion fetch(RegionTable.Entry entry) {
        if (received.hasRange(entry.range())) {
            return null;
        }
        // The range was sent before the key was, so it is on the link, unless the link had no room.
        int shortage = received.read();
        if (received.hasRange(entry.range())) {
            shortageReported = false;
            return null;
        }
        if (shortage == 0) {
            return received.isLinkUsable() ? RemoteRegion.NOT_SENT : null;
        }
        if (!shortageReported) {
            shortageReported = true;
            SoftLog.warn(Shortage.failure(shortage, "a memory region of " + User.process(pid) + " cannot be accessed yet")
                .getMessage());
        }
        return RemoteRegion.NO_ROOM;
    }

    /** Returns the address at which this process has mapped a region, 0 if it does not lie in a range that has been received. */
    private long locate(RegionTable.Entry entry) {
        SharedMemory range = received.range(entry.range());
        if (range == null || entry.rangeOffset() < 0 || entry.length() > range.size()
            || entry.rangeOffset() > range.size() - entry.length()) {
            SoftLog.violation(User.process(pid) + " has an invalid memory region of " + entry.length() + " bytes at "
                + entry.rangeOffset() + " in " + (range == null ? "a range that it has not sent"
                    : "a range of " + range.size()));
            return 0;
        }
        return range.address() + entry.rangeOffset();
    }
}
