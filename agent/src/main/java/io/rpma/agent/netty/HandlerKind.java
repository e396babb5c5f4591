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

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import java.util.ArrayList;
import java.util.List;

/**
 * A kind of handler that the agent replaces, and the type of the handles that it accepts.
 *
 * @param handler the class of the handler
 * @param handle the type of its handles
 */
record HandlerKind(Class<?> handler, Class<?> handle) {
    private static final List<HandlerKind> ALL = all();

    private static List<HandlerKind> all() {
        List<HandlerKind> kinds = new ArrayList<>(List.of(new HandlerKind(NioIoHandler.class, NioIoHandle.class),
            new HandlerKind(EpollIoHandler.class, EpollIoHandle.class)));
        String uring = IoHandler.class.getPackageName() + ".uring.IoUring";
        try {
            // Not every application contains the io_uring transport.
            ClassLoader netty = IoHandler.class.getClassLoader();
            kinds.add(new HandlerKind(Class.forName(uring + "IoHandler", false, netty),
                Class.forName(uring + "IoHandle", false, netty)));
        } catch (ClassNotFoundException e) {
            // Without these classes, no application can create such a handler.
        }
        return List.copyOf(kinds);
    }

    /**
     * Returns the kind of the handlers that a factory creates, or {@code null} if they are not replaced. Netty's factories are
     * anonymous classes or lambda expressions in the class of the handler, so their names begin with the name of that class.
     */
    static HandlerKind of(IoHandlerFactory factory) {
        // Compares names instead of classes. If the application contains epoll's classes without the native library, the classes
        // here were loaded by another loader.
        String name = factory.getClass().getName();
        for (HandlerKind kind : ALL) {
            if (name.startsWith(kind.handler().getName() + '$')) {
                return kind;
            }
        }
        return null;
    }

    boolean takes(Class<? extends IoHandle> type) {
        return handle.isAssignableFrom(type);
    }
}
