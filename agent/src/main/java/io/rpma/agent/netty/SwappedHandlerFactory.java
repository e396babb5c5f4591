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

import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;

/** Creates handlers of RPMA in place of the handlers of another transport. */
final class SwappedHandlerFactory implements IoHandlerFactory {
    private final IoHandlerFactory original;
    private final HandlerKind kind;
    private final IoHandlerFactory rpma;

    SwappedHandlerFactory(IoHandlerFactory original, HandlerKind kind, IoHandlerFactory rpma) {
        this.original = original;
        this.kind = kind;
        this.rpma = rpma;
    }

    @Override
    public IoHandler newHandler(ThreadAwareExecutor executor) {
        return new SwappedHandler(executor, rpma.newHandler(executor), kind, original);
    }

    @Override
    public boolean isChangingThreadSupported() {
        return original.isChangingThreadSupported();
    }
}
