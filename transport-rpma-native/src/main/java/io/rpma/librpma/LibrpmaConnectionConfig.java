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

import io.rpma.ConnectionConfig;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** {@code struct rpma_conn_cfg}. */
final class LibrpmaConnectionConfig extends LibrpmaHandle implements ConnectionConfig {
    // The library dereferences its pointer to the shared receive queue when a request is created. The lock prevents a change
    // meanwhile.
    private final ReadWriteLock queueLock = new ReentrantReadWriteLock();
    private LibrpmaSharedReceiveQueue queue;

    LibrpmaConnectionConfig() throws RpmaException {
        super("connection configuration", create(Librpma.CONN_CFG_NEW, "rpma_conn_cfg_new"));
    }

    /** Returns the implementation of a configuration, {@code null} for {@code null}. */
    static LibrpmaConnectionConfig of(ConnectionConfig config, String function) throws RpmaException {
        if (config == null || config instanceof LibrpmaConnectionConfig) {
            return (LibrpmaConnectionConfig) config;
        }
        throw LibrpmaFailure.invalid(function + ": the connection configuration does not belong to the provider librpma: "
            + config);
    }

    /** Returns the lock to hold while the library reads the configuration. */
    Lock readLock() {
        return queueLock.readLock();
    }

    /** Returns the shared receive queue, kept open for one more connection, or {@code null}; under {@link #readLock()}. */
    LibrpmaSharedReceiveQueue retainQueue() throws RpmaException {
        if (queue != null) {
            queue.retain();
        }
        return queue;
    }

    /**
     * Returns whether the completion queues are to share a descriptor although the receives complete in the completion queue of
     * the shared receive queue; under {@link #readLock()}. The library refuses that with {@link io.rpma.RpmaError#INVALID}.
     */
    boolean isChannelContradictory() throws RpmaException {
        return queue != null && queue.receiveCompletionQueue() != null && isSharedCompletionChannel();
    }

    @Override
    public int timeoutMillis() throws RpmaException {
        return getInt(Librpma.CONN_CFG_GET_TIMEOUT, "rpma_conn_cfg_get_timeout", handle());
    }

    @Override
    public ConnectionConfig timeoutMillis(int millis) throws RpmaException {
        int code = Librpma.call(Librpma.CONN_CFG_SET_TIMEOUT, handle(), millis);
        if (code != 0) {
            throw LibrpmaFailure.of("rpma_conn_cfg_set_timeout", code, 0, "the timeout is " + millis
                + " milliseconds; it must not be negative");
        }
        return this;
    }

    @Override
    public int completionQueueSize() throws RpmaException {
        return getInt(Librpma.CONN_CFG_GET_CQ_SIZE, "rpma_conn_cfg_get_cq_size", handle());
    }

    @Override
    public ConnectionConfig completionQueueSize(int size) throws RpmaException {
        setSize(Librpma.CONN_CFG_SET_CQ_SIZE, "rpma_conn_cfg_set_cq_size", handle(), size);
        return this;
    }

    @Override
    public int receiveCompletionQueueSize() throws RpmaException {
        return getInt(Librpma.CONN_CFG_GET_RCQ_SIZE, "rpma_conn_cfg_get_rcq_size", handle());
    }

    @Override
    public ConnectionConfig receiveCompletionQueueSize(int size) throws RpmaException {
        setSize(Librpma.CONN_CFG_SET_RCQ_SIZE, "rpma_conn_cfg_set_rcq_size", handle(), size);
        return this;
    }

    @Override
    public int sendQueueSize() throws RpmaException {
        return getInt(Librpma.CONN_CFG_GET_SQ_SIZE, "rpma_conn_cfg_get_sq_size", handle());
    }

    @Override
    public ConnectionConfig sendQueueSize(int size) throws RpmaException {
        setSize(Librpma.CONN_CFG_SET_SQ_SIZE, "rpma_conn_cfg_set_sq_size", handle(), size);
        return this;
    }

    @Override
    public int receiveQueueSize() throws RpmaException {
        return getInt(Librpma.CONN_CFG_GET_RQ_SIZE, "rpma_conn_cfg_get_rq_size", handle());
    }

    @Override
    public ConnectionConfig receiveQueueSize(int size) throws RpmaException {
        setSize(Librpma.CONN_CFG_SET_RQ_SIZE, "rpma_conn_cfg_set_rq_size", handle(), size);
        return this;
    }

    @Override
    public boolean isSharedCompletionChannel() throws RpmaException {
        return getBoolean(Librpma.CONN_CFG_GET_COMPL_CHANNEL, "rpma_conn_cfg_get_compl_channel", handle());
    }

    @Override
    public ConnectionConfig sharedCompletionChannel(boolean shared) throws RpmaException {
        LibrpmaFailure.check("rpma_conn_cfg_set_compl_channel",
            Librpma.call(Librpma.CONN_CFG_SET_COMPL_CHANNEL, handle(), shared));
        return this;
    }

    @Override
    public SharedReceiveQueue sharedReceiveQueue() throws RpmaException {
        Lock lock = queueLock.readLock();
        lock.lock();
        try {
            return getLong(Librpma.CONN_CFG_GET_SRQ, "rpma_conn_cfg_get_srq", handle()) == 0 ? null : queue;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public ConnectionConfig sharedReceiveQueue(SharedReceiveQueue newQueue) throws RpmaException {
        if (newQueue != null && !(newQueue instanceof LibrpmaSharedReceiveQueue)) {
            throw LibrpmaFailure.invalid("rpma_conn_cfg_set_srq: the shared receive queue does not belong to the provider"
                + " librpma: " + newQueue);
        }
        LibrpmaSharedReceiveQueue own = (LibrpmaSharedReceiveQueue) newQueue;
        long pointer = own == null ? 0 : own.handle();
        Lock lock = queueLock.writeLock();
        lock.lock();
        try {
            int code = Librpma.call(Librpma.CONN_CFG_SET_SRQ, handle(), pointer);
            if (code != 0) {
                throw LibrpmaFailure.of("rpma_conn_cfg_set_srq", code, 0, own == null
                    ? "the shared receive queue is null, but a queue that is set cannot be removed: use a new"
                        + " configuration" : null);
            }
            queue = own;
        } finally {
            lock.unlock();
        }
        return this;
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer != 0) {
            delete(Librpma.CONN_CFG_DELETE, "rpma_conn_cfg_delete", pointer);
        }
    }
}
