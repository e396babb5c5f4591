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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.MappingLimit;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.Overcommit;
import io.rpma.soft.host.Shortage;
import io.rpma.soft.host.SoftLog;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A mapped memory file whose size is sealed, so that no access to its mapping can fault. It is reference counted: it is unmapped
 * when the last user releases it.
 */
public final class SharedMemory {
    /** The largest size that is accepted of a file from another process, in bytes. */
    public static final long MAX_SIZE = 1L << 44;

    private static final int SIZE_SEALS = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW;

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private final long address;
    private final long size;
    // The account of the process that sent the memory, null for own memory.
    private final MappingLimit.Account account;
    private final UseCount users = new UseCount();
    private int fd;

    private SharedMemory(long address, long size, int fd, MappingLimit.Account account) {
        this.address = address;
        this.account = account;
        this.size = size;
        this.fd = fd;
    }

    /**
     * Creates zeroed memory with a file behind it, which a peer that has been sent the file can write to.
     *
     * @param name what {@code /proc} shows
     * @param bytes the size, rounded up to whole pages
     */
    public static SharedMemory create(String name, long bytes) throws RpmaException {
        return create(name, bytes, false);
    }

    /**
     * Creates zeroed memory with a file behind it. If it is read-only for peers, only the mapping that this call makes is
     * writable. The kernel refuses all others: a peer that has been sent the file can neither map it writable nor write to it
     * nor punch holes into it, not even after it has reopened the file through {@code /proc/self/fd}, which a process of the
     * same user can do with a descriptor that is only open for reading. Before Linux 5.1 the kernel has no such seal; the memory
     * is then as with {@code false}, and one warning is logged.
     *
     * @param name what {@code /proc} shows
     * @param bytes the size, rounded up to whole pages
     * @param readOnlyForPeers whether no peer may ever write to it
     */
    public static SharedMemory create(String name, long bytes, boolean readOnlyForPeers) throws RpmaException {
        long size = roundUp(bytes);
        int fd = Libc.memfdCreate(name);
        if (fd < 0) {
            throw failed(-fd, "memfd_create", size);
        }
        int result = Libc.ftruncate(fd, size);
        if (result == 0 && Overcommit.FORBIDDEN) {
            result = Allocation.allocate(fd, 0, size);
        }
        if (result < 0) {
            Posix.close(fd);
            throw failed(-result, "creating a memory file", size);
        }
        // Map the file before it is sealed: a file that is sealed against writing cannot be mapped writable any more.
        long address = map(fd, size, true);
        if (address < 0) {
            Posix.close(fd);
            throw failed((int) -address, "mmap", size);
        }
        result = seal(fd, readOnlyForPeers);
        if (result < 0) {
            Posix.munmap(address, size);
            Posix.close(fd);
            throw failed(-result, "sealing a memory file", size);
        }
        return new SharedMemory(address, size, fd, null);
    }

    /** Seals the size of a file, and optionally prevents all writing except through the existing mappings. */
    private static int seal(int fd, boolean againstWriting) {
        if (againstWriting) {
            int result = Libc.addSeals(fd, SIZE_SEALS | Libc.F_SEAL_FUTURE_WRITE | Libc.F_SEAL_SEAL);
            if (result != -Posix.EINVAL) {
                return result;
            }
            if (!WARNED.getAndSet(true)) {
                SoftLog.warn("this kernel cannot seal memory against writing (Linux 5.1 can): a process of the same user that is"
                    + " connected can change the table of this process's memory regions");
            }
        }
        return Libc.addSeals(fd, SIZE_SEALS | Libc.F_SEAL_SEAL);
    }

    /**
     * Maps a file that another process sent. The descriptor is closed, whether this succeeds or not.
     *
     * @param fd the file
     * @param size the size that the sender names: the file must be exactly as large
     * @param writable whether this side writes to it
     * @param account what the sender makes this process map; this is added to it until the memory is released
     * @return the memory, or {@code null} if the file is not what it has to be; the reason is logged
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if this process has too little left to map it, which is not the sender's
     *     fault
     */
    public static SharedMemory open(int fd, long size, boolean writable, MappingLimit.Account account) throws RpmaException {
        boolean counted = false;
        SharedMemory memory = null;
        try {
            if (!isSafe(fd, size)) {
                return null;
            }
            counted = account.add(size);
            if (!counted) {
                return null;
            }
            long address = map(fd, size, writable);
            if (Shortage.isOfMemory((int) -address)) {
                throw Shortage.failure((int) -address, "received shared memory of " + size + " bytes cannot be mapped");
            }
            if (address < 0) {
                SoftLog.violation("shared memory of " + size + " bytes cannot be mapped: "
                    + Posix.strerror((int) -address));
                return null;
            }
            memory = new SharedMemory(address, size, -1, account);
            return memory;
        } finally {
            if (counted && memory == null) {
                account.remove(size);
            }
            Posix.close(fd);
        }
    }

    /**
     * Returns whether a received file is one whose mapping cannot fault; otherwise the reason is logged.
     *
     * @param size the size that the sender names, in bytes
     */
    private static boolean isSafe(int fd, long size) {
        int seals = Libc.getSeals(fd);
        if (seals < 0 || (seals & (Libc.F_SEAL_SHRINK | Libc.F_SEAL_SEAL)) != (Libc.F_SEAL_SHRINK | Libc.F_SEAL_SEAL)) {
            SoftLog.violation("received shared memory without the required seals (" + seals + "): its owner could truncate"
                + " it while this process uses it");
            return false;
        }
        if (!Libc.isSharedMemory(fd)) {
            SoftLog.violation("received shared memory in a file of a kind other than memfd_create creates without flags:"
                + " accessing it could crash this process");
            return false;
        }
        long found = Libc.size(fd);
        if (size <= 0 || size > MAX_SIZE || found != size || size % Posix.PAGE_SIZE != 0) {
            SoftLog.violation("received shared memory of " + found + " bytes, but " + size + " were announced; it must have"
                + " whole pages, and at most " + MAX_SIZE + " bytes");
            return false;
        }
        return true;
    }

    private static long map(int fd, long size, boolean writable) {
        int protection = writable ? Posix.PROT_READ | Posix.PROT_WRITE : Posix.PROT_READ;
        return Posix.mmap(0, size, protection, Posix.MAP_SHARED, fd, 0);
    }

    public static long roundUp(long size) {
        return (size + Posix.PAGE_SIZE - 1) / Posix.PAGE_SIZE * Posix.PAGE_SIZE;
    }

    static RpmaException failed(int errno, String what, long size) {
        String failed = what + " failed for " + size + " bytes of shared memory";
        return OpenFiles.areExhausted(errno) ? OpenFiles.failure(errno, failed)
            : SoftLog.failure(RpmaError.NO_MEMORY, errno, failed + ": " + Posix.strerror(errno), null);
    }

    public long address() {
        return address;
    }

    public long size() {
        return size;
    }

    /** Returns the file, to be sent to peers, or -1 if it is closed. */
    public int fd() {
        return fd;
    }

    /** Closes the file; the mapping stays. */
    public void closeFile() {
        if (fd >= 0) {
            Posix.close(fd);
            fd = -1;
        }
    }

    /** Adds a user. Only a user may call it. */
    public SharedMemory retain() {
        users.retain();
        return this;
    }

    /** Adds a user unless the last one has released the memory. Returns whether it did. */
    boolean tryRetain() {
        return users.tryRetain();
    }

    /** Removes a user; the last one unmaps the memory. */
    public void release() {
        if (users.release()) {
            closeFile();
            Posix.munmap(address, size);
            if (account != null) {
                account.remove(size);
            }
        }
    }
}
