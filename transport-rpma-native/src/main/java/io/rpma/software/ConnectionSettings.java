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

import io.rpma.ConnectionConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;

/** A configuration of connections. */
public final class ConnectionSettings implements ConnectionConfig {
    private final SoftwareLog log;
    private volatile int timeoutMillis = 1000;
    private volatile int completions = 10;
    private volatile int receiveCompletions;
    private volatile int sends = 10;
    private volatile int receives = 10;
    private volatile boolean sharedChannel;
    private volatile SharedReceiveQueue sharedReceiveQueue;
    private volatile boolean closed;

    /** Creates a configuration with librpma's defaults. */
    public ConnectionSettings(SoftwareLog log) {
        this.log = log;
    }

    /**
     * Checks that the completion queues of a connection can have the descriptors that its configuration requests.
     *
     * @param completesElsewhere whether receives complete in the completion queue of a shared receive queue
     * @throws RpmaException {@link RpmaError#INVALID} if not
     */
    public static void checkDescriptors(SoftwareLog log, ConnectionConfig config, boolean completesElsewhere)
            throws RpmaException {
        if (completesElsewhere && config.isSharedCompletionChannel()) {
            throw log.failure(RpmaError.INVALID, "sharedCompletionChannel: receives complete in the shared receive queue's own"
                + " completion queue, which has a descriptor of its own; create that queue with a receiveCompletionQueueSize of"
                + " 0, or do not share the channel");
        }
    }

    private ConnectionSettings open() throws RpmaException {
        if (closed) {
            throw log.failure(RpmaError.INVALID, "the connection configuration is closed");
        }
        return this;
    }

    static int notNegative(SoftwareLog log, String name, int value) throws RpmaException {
        if (value < 0) {
            throw log.failure(RpmaError.INVALID, name + " is " + value + "; it must not be negative");
        }
        return value;
    }

    @Override
    public int timeoutMillis() throws RpmaException {
        return open().timeoutMillis;
    }

    @Override
    public ConnectionConfig timeoutMillis(int millis) throws RpmaException {
        open().timeoutMillis = notNegative(log, "timeoutMillis", millis);
        return this;
    }

    @Override
    public int completionQueueSize() throws RpmaException {
        return open().completions;
    }

    @Override
    public ConnectionConfig completionQueueSize(int size) throws RpmaException {
        open().completions = notNegative(log, "completionQueueSize", size);
        return this;
    }

    @Override
    public int receiveCompletionQueueSize() throws RpmaException {
        return open().receiveCompletions;
    }

    @Override
    public ConnectionConfig receiveCompletionQueueSize(int size) throws RpmaException {
        open().receiveCompletions = notNegative(log, "receiveCompletionQueueSize", size);
        return this;
    }

    @Override
    public int sendQueueSize() throws RpmaException {
        return open().sends;
    }

    @Override
    public ConnectionConfig sendQueueSize(int size) throws RpmaException {
        open().sends = notNegative(log, "sendQueueSize", size);
        return this;
    }

    @Override
    public int receiveQueueSize() throws RpmaException {
        return open().receives;
    }

    @Override
    public ConnectionConfig receiveQueueSize(int size) throws RpmaException {
        open().receives = notNegative(log, "receiveQueueSize", size);
        return this;
    }

    @Override
    public boolean isSharedCompletionChannel() throws RpmaException {
        return open().sharedChannel;
    }

    @Override
    public ConnectionConfig sharedCompletionChannel(boolean shared) throws RpmaException {
        open().sharedChannel = shared;
        return this;
    }

    @Override
    public SharedReceiveQueue sharedReceiveQueue() throws RpmaException {
        return open().sharedReceiveQueue;
    }

    @Override
    public ConnectionConfig sharedReceiveQueue(SharedReceiveQueue queue) throws RpmaException {
        if (queue == null) {
            throw log.failure(RpmaError.INVALID, "the shared receive queue is null; for a configuration without one, create a"
                + " new one (RpmaProvider.newConnectionConfig)");
        }
        open().sharedReceiveQueue = queue;
        return this;
    }

    @Override
    public void close() {
        closed = true;
    }
}
