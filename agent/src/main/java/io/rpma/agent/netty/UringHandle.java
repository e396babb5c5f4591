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

package io.rpma.agent.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.netty.channel.uring.IoUringIoHandle;

/**
 * A handle of io_uring that also tells its {@link OriginalHandler} when its registration begins and ends. A registration that is
 * cancelled is invalid immediately, but it ends only when its last operation has completed. Nothing but the handle is notified of
 * this. The class is used only if the application contains the io_uring transport.
 */
@SuppressWarnings("try") // The handle decides which exceptions close() throws.
final class UringHandle implements IoUringIoHandle {
    private final IoHandle handle;
    private final OriginalHandler owner;

    UringHandle(IoHandle handle, OriginalHandler owner) {
        this.handle = handle;
        this.owner = owner;
    }

    @Override
    public void handle(IoRegistration registration, IoEvent event) {
        handle.handle(registration, event);
    }

    @Override
    public void registered() {
        owner.began();
        handle.registered();
    }

    @Override
    public void unregistered() {
        owner.ended();
        handle.unregistered();
    }

    @Override
    public void close() throws Exception {
        handle.close();
    }

    @Override
    public String toString() {
        return handle.toString();
    }
}
