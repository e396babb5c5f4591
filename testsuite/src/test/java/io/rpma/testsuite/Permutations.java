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
package io.rpma.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketTestPermutation;
import io.netty.util.internal.SystemPropertyUtil;
import io.rpma.netty.RpmaByteBufAllocator;

import java.util.List;

/**
 * The bootstraps with which Netty's testsuite runs its test bodies. There is one server and one client, because RDMA only
 * connects to RDMA. All of them share one group of event loops, as the suite's own transports do.
 */
final class Permutations extends SocketTestPermutation {
    /**
     * The property that selects the allocators: {@code suite} for the pooled and the adaptive one of the suite, {@code rpma} for
     * that of the transport, with registered memory.
     */
    static final String ALLOCATOR_PROPERTY = "io.rpma.testsuite.allocator";

    static final Permutations INSTANCE = new Permutations();

    private static final EventLoopGroup GROUP = TestTransport.CURRENT.newGroup(NUM_THREADS, "testsuite");

    private Permutations() {
    }

    static {
        if (TestTransport.CURRENT == TestTransport.EPOLL_ON_RPMA) {
            BackgroundTraffic.start(GROUP, NUM_THREADS);
        }
    }

    /** Returns the group of event loops of all bootstraps of this class. */
    static EventLoopGroup group() {
        return GROUP;
    }

    static boolean ownAllocator() {
        String choice = SystemPropertyUtil.get(ALLOCATOR_PROPERTY, "suite");
        return switch (choice) {
            case "suite" -> false;
            case "rpma" -> true;
            default -> throw new IllegalArgumentException("-D" + ALLOCATOR_PROPERTY + "=" + choice + ": suite or rpma is needed");
        };
    }

    static List<ByteBufAllocator> allocators(List<ByteBufAllocator> ofTheSuite) {
        return ownAllocator() ? List.of(RpmaByteBufAllocator.DEFAULT) : ofTheSuite;
    }

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socket() {
        return combo(serverSocket(), clientSocket());
    }

    @Override
    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        return List.of(() -> new ServerBootstrap().group(GROUP).channel(TestTransport.CURRENT.serverChannel()));
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        return List.of(() -> new Bootstrap().group(GROUP).channel(TestTransport.CURRENT.channel()));
    }
}
