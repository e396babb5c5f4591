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

package io.rpma.netty.loop;

import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoOps;

/**
 * The registration of one of epoll's own channels, which always keeps at least one event. Netty's handler removes a descriptor
 * without events from the epoll set and cannot add it again. A channel whose peer has shut down its output could then no longer
 * wait for room to write, and its pending data was lost. While the descriptor stays in the set, its errors are reported once.
 */
public final class EpollRegistration implements IoRegistration {
    private final IoRegistration registration;
    // Null if the notice is settled, or does not apply.
    private TcpNotice notice;

    public EpollRegistration(IoRegistration registration, TcpNotice notice) {
        this.registration = registration;
        this.notice = notice;
    }

    @Override
    public long submit(IoOps ops) {
        if (notice != null && notice.isSettled()) {
            notice = null;
        }
        return registration.submit(ops.equals(EpollIoOps.NONE) ? EpollIoOps.EPOLLET : ops);
    }

    @Override
    public <T> T attachment() {
        return registration.attachment();
    }

    @Override
    public boolean isValid() {
        return registration.isValid();
    }

    @Override
    public boolean cancel() {
        return registration.cancel();
    }
}
