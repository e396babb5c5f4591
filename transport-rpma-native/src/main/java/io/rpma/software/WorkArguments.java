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
package io.rpma.software;

import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;

/** Refuses the arguments of work requests that librpma refuses. Thread-safe. */
public final class WorkArguments {
    private static final long MAX_LENGTH = 0xffff_ffffL;

    private final SoftwareLog log;
    private final long maxMessage;

    /**
     * Creates the checks of one device.
     *
     * @param maxMessage bytes that one work request transfers at most
     */
    public WorkArguments(SoftwareLog log, long maxMessage) {
        this.log = log;
        this.maxMessage = maxMessage;
    }

    /** Checks a message to be sent. */
    public void checkMessage(String what, LocalMemoryRegion source, long offset, long length, CompletionFlag flag)
            throws RpmaException {
        if (flag == null || offset < 0 || length < 0 || source == null && (offset != 0 || length != 0)) {
            throw log.failure(RpmaError.INVALID, what + ": source " + source + ", offset " + offset + ", length " + length
                + ", flag " + flag + ": the flag must not be null, offset and length must not be negative, and both must be 0 if"
                + " the source is null");
        }
        checkLength(what, length);
    }

    /** Checks a read or a write. */
    public void checkAccess(String what, LocalMemoryRegion local, long localOffset, RemoteMemoryRegion remote,
            long remoteOffset, long length, CompletionFlag flag) throws RpmaException {
        boolean empty = localOffset == 0 && remoteOffset == 0 && length == 0;
        if (flag == null || localOffset < 0 || remoteOffset < 0 || length < 0
            || (local == null || remote == null) && !(local == null && remote == null && empty)) {
            throw log.failure(RpmaError.INVALID, what + ": local " + local + " at " + localOffset + ", remote " + remote
                + " at " + remoteOffset + ", length " + length + ", flag " + flag + ": the flag must not be null, offsets and"
                + " length must not be negative, and the regions must not be null, unless both are null and offsets and length"
                + " are 0");
        }
        checkLength(what, length);
    }

    private void checkLength(String what, long length) throws RpmaException {
        if (length > MAX_LENGTH) {
            throw log.failure(RpmaError.INVALID, what + ": a length of " + length + " does not fit into 32 bits");
        }
        if (length > maxMessage) {
            throw log.failure(RpmaError.PROVIDER, Posix.EINVAL, what + ": " + length + " bytes are more than the "
                + maxMessage + " that one work request can transfer (DeviceLimits.maxMessageSize)", null);
        }
    }

    /** Checks an atomic write. */
    public void checkAtomicWrite(RemoteMemoryRegion target, long offset, CompletionFlag flag) throws RpmaException {
        if (target == null || flag == null || offset < 0 || offset % Connection.ATOMIC_WRITE_ALIGNMENT != 0) {
            throw log.failure(RpmaError.INVALID, "atomicWrite: target " + target + ", flag " + flag + ", offset "
                + offset + ": target and flag must not be null, and the offset must be a multiple of "
                + Connection.ATOMIC_WRITE_ALIGNMENT);
        }
    }

    /**
     * Checks a flush.
     *
     * @param directWrite whether the other side has said that writes may go straight to persistent memory
     */
    public void checkFlush(RemoteMemoryRegion target, long offset, long length, FlushType type, CompletionFlag flag,
            boolean directWrite) throws RpmaException {
        if (target == null || flag == null || type == null || offset < 0 || length < 0) {
            throw log.failure(RpmaError.INVALID, "flush: target " + target + ", type " + type + ", flag " + flag
                + ", offset " + offset + ", length " + length
                + ": target, type and flag must not be null, and offset and length must not be negative");
        }
        if (type == FlushType.PERSISTENT && !directWrite) {
            throw log.failure(RpmaError.NOT_SUPPORTED, "flush to persistence: the peer has not declared that it allows direct"
                + " writes to persistent memory (Connection.applyRemotePeerConfig)");
        }
    }

    /** Checks that a region allows a kind of flush. */
    public void checkFlushUsage(RemoteMemoryRegion target, FlushType type) throws RpmaException {
        MemoryUsage usage = type == FlushType.PERSISTENT ? MemoryUsage.FLUSH_PERSISTENT : MemoryUsage.FLUSH_VISIBILITY;
        if (!target.flushUsages().contains(usage)) {
            throw log.failure(RpmaError.NOT_SUPPORTED, "flush: the region is registered for the flushes "
                + target.flushUsages() + " only, not for " + type);
        }
    }
}
