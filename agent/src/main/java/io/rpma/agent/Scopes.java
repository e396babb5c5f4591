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

package io.rpma.agent;

import java.net.SocketAddress;
import java.util.List;
import net.bytebuddy.asm.Advice;

/**
 * The methods that receive the address of the channels that they create. The listed methods of Netty's bootstraps are private, so
 * they also run for every subclass of the bootstraps.
 *
 * @param className the name of the class with slashes; for a class of Netty, the part after {@code io/netty/}
 * @param ofNetty whether the class belongs to Netty
 * @param method the name of the method
 * @param advice the code that runs before and after the method
 */
record Scopes(String className, boolean ofNetty, String method, Class<?> advice) {
    static final List<Scopes> ALL = List.of(
        new Scopes("bootstrap/AbstractBootstrap", true, "doBind", Binds.class),
        new Scopes("bootstrap/Bootstrap", true, "doResolveAndConnect", Connects.class),
        // gRPC registers its channel first and connects it later.
        new Scopes("io/grpc/netty/NettyClientTransport", false, "start", ConnectsToField.class),
        // The class in gRPC's artifact with a relocated copy of Netty.
        new Scopes("io/grpc/netty/shaded/io/grpc/netty/NettyClientTransport", false, "start", ConnectsToField.class),
        // Armeria also registers its channel before it connects it.
        new Scopes("com/linecorp/armeria/client/HttpChannelPool", false, "connect", Connects.class),
        // Reactor Netty creates its channels without a bootstrap.
        new Scopes("reactor/netty/transport/TransportConnector", false, "bind", Binds.class),
        new Scopes("reactor/netty/transport/TransportConnector", false, "connect", Connects.class));

    /** Advice for a method that connects to the first address among its arguments. */
    static final class Connects {
        private Connects() {
        }

        @Advice.OnMethodEnter
        static Object enter(@Advice.AllArguments Object[] arguments) {
            return Sites.connects(arguments);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter Object previous) {
            Sites.left(previous);
        }
    }

    /** Advice for a method that listens on the first address among its arguments. */
    static final class Binds {
        private Binds() {
        }

        @Advice.OnMethodEnter
        static Object enter(@Advice.AllArguments Object[] arguments) {
            return Sites.binds(arguments);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter Object previous) {
            Sites.left(previous);
        }
    }

    /** Advice for a method that connects to the address in a field. */
    static final class ConnectsToField {
        private ConnectsToField() {
        }

        @Advice.OnMethodEnter
        static Object enter(@Advice.FieldValue("remoteAddress") SocketAddress address) {
            return Sites.connects(new Object[] {address});
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter Object previous) {
            Sites.left(previous);
        }
    }
}
