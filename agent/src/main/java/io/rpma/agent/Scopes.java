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
 * The methods that know the address of the channels that are made while they run. Those of a bootstrap's that are listed are
 * private, so whatever class extends it comes through them.
 *
 * @param className with slashes; after {@code io/netty/} for Netty's own
 * @param ofNetty whether the class is Netty's
 * @param method the name of the method
 * @param advice what is done around it
 */
record Scopes(String className, boolean ofNetty, String method, Class<?> advice) {
    static final List<Scopes> ALL = List.of(
        new Scopes("bootstrap/AbstractBootstrap", true, "doBind", Binds.class),
        new Scopes("bootstrap/Bootstrap", true, "doResolveAndConnect", Connects.class),
        // gRPC registers its channel first and connects it then.
        new Scopes("io/grpc/netty/NettyClientTransport", false, "start", ConnectsToField.class),
        // Its copy with a relocated Netty.
        new Scopes("io/grpc/netty/shaded/io/grpc/netty/NettyClientTransport", false, "start", ConnectsToField.class),
        // Armeria as well.
        new Scopes("com/linecorp/armeria/client/HttpChannelPool", false, "connect", Connects.class),
        // Reactor Netty makes its channels itself.
        new Scopes("reactor/netty/transport/TransportConnector", false, "bind", Binds.class),
        new Scopes("reactor/netty/transport/TransportConnector", false, "connect", Connects.class));

    /** The first address among the arguments is connected to. */
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

    /** The first address among the arguments is listened on. */
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

    /** The address in a field is connected to. */
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
