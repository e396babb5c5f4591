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
package io.rpma.librpma;

import io.rpma.CompletionQueue;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.posix.DescriptorWait;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_srq}. */
final class LibrpmaSharedReceiveQueue extends LibrpmaParent implements SharedReceiveQueue {
    private final LibrpmaProtectionDomain peer;
    private final LibrpmaCompletionQueue completionQueue;
    private volatile boolean quiescent;

    private LibrpmaSharedReceiveQueue(long handle, LibrpmaProtectionDomain peer) throws RpmaException {
        super("shared receive queue", handle);
        this.peer = peer;
        long pointer = getLong(Librpma.SRQ_GET_RCQ, "rpma_srq_get_rcq", handle);
        completionQueue = pointer == 0 ? null : new LibrpmaCompletionQueue(pointer);
    }

    /** Creates a queue; a configuration of {@code null} stands for the library's defaults. */
    static LibrpmaSharedReceiveQueue create(LibrpmaProtectionDomain peer, SharedReceiveQueueConfig config) throws RpmaException {
        if (config != null && !(config instanceof LibrpmaSharedReceiveQueueConfig)) {
            throw LibrpmaFailure.invalid("rpma_srq_new: the configuration does not belong to the provider librpma: " + config);
        }
        long configPointer = config == null ? 0 : ((LibrpmaSharedReceiveQueueConfig) config).handle();
        long peerPointer = peer.retain();
        long handle = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int code = Librpma.srqNew(peerPointer, configPointer, pointer);
            if (code != 0) {
                throw LibrpmaFailure.of("rpma_srq_new", code, 0, sizes(config) + "the device allows at most "
                    + peer.device().limits().maxSharedReceiveQueueWorkRequests() + " slots and "
                    + peer.device().limits().maxCompletionQueueSize() + " completion queue entries");
            }
            handle = pointer.get(JAVA_LONG, 0);
            return new LibrpmaSharedReceiveQueue(handle, peer);
        } catch (Throwable e) {
            if (handle != 0) {
                delete(Librpma.SRQ_DELETE, handle);
            }
            peer.release();
            throw e;
        }
    }

    private static String sizes(SharedReceiveQueueConfig config) throws RpmaException {
        return config == null ? "" : config.receiveQueueSize() + " slots and " + config.receiveCompletionQueueSize()
            + " completion queue entries were asked for; ";
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        if ((offset | length | LibrpmaFailure.MAX_LENGTH - length) < 0) {
            throw badRange(offset, length);
        }
        int code = LibrpmaDataPath.srqRecv(handle(), LibrpmaLocalMemoryRegion.pointer(target), offset, length, context);
        if (code != 0) {
            throw receiveFailed(code, offset, length);
        }
    }

    private static RpmaException badRange(long offset, long length) {
        return offset < 0 ? LibrpmaFailure.range("rpma_srq_recv", "the offset", offset)
            : LibrpmaFailure.range("rpma_srq_recv", "the length", length);
    }

    private static RpmaException receiveFailed(int code, long offset, long length) {
        return LibrpmaFailure.of("rpma_srq_recv", code, 0, length + " bytes at offset " + offset + "; the queue is full, or the"
            + " arguments are not valid (without a region, both must be 0)");
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return completionQueue;
    }

    @Override
    public void close() throws RpmaException {
        long pointer = takeUnused("rpma_srq_delete");
        if (pointer != 0) {
            if (completionQueue != null) {
                completionQueue.take();
                DescriptorWait.closing(completionQueue.fd());
            }
            try {
                delete(Librpma.SRQ_DELETE, "rpma_srq_delete", pointer);
                quiescent = true;
            } finally {
                peer.release();
            }
        }
    }

    @Override
    public boolean isQuiescent() {
        return quiescent;
    }
}
