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

/**
 * The deferred doorbell of a completion queue of this process. It is rung by the owner of the queue, and by the other end of the
 * connection if that is in this process as well.
 */
public final class ChannelDoorbell extends DeferredDoorbell {
    private final CompletionChannel channel;

    /**
     * Creates the doorbell.
     *
     * @param armed the address of the armed word
     * @param channel provides the event descriptor
     */
    public ChannelDoorbell(long armed, CompletionChannel channel) {
        super(armed);
        this.channel = channel;
    }

    @Override
    protected EventPipe retainEvent() {
        return channel.retainEvent();
    }

    @Override
    public boolean tryRetain() {
        return true;
    }

    @Override
    public void release() {
        // The channel closes the descriptor.
    }
}
