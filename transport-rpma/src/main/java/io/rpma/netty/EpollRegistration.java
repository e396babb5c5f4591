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

package io.rpma.netty;

import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoOps;

/**
 * The registration of one of epoll's own channels, which is never without an event. Netty's handler takes a descriptor without
 * events out of the epoll set and cannot put it back, so that a channel whose peer has ended its side could no longer wait for
 * room to write: what it was to write got lost. Left in, the descriptor tells its errors, once.
 */
final class EpollRegistration implements IoRegistration {
    private final IoRegistration registration;
    // Null when there is nothing to be said any more.
    private TcpNotice notice;

    EpollRegistration(IoRegistration registration, TcpNotice notice) {
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
