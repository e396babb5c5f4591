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
package io.rpma.examples;

import io.netty.channel.Channel;
import io.rpma.Device;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaPath;
import io.rpma.netty.RpmaServerChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The options that all examples have, and the two lines of output that name the provider and the devices. */
final class CommonOptions {
    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help and end")
    private boolean help;

    @Option(names = "--provider", paramLabel = "NAME",
        description = "auto, librpma, soft or tcp (default: the variable RPMA_PROVIDER, else auto)")
    void choose(String name) {
        // The property is read when the provider is first used. No example uses it before it has parsed its options.
        System.setProperty(Rpma.PROVIDER_PROPERTY, name);
    }

    /** Prints the provider of a channel and the devices of this host that the channel uses. */
    static void print(Channel channel) throws RpmaException {
        RpmaPath path = switch (channel) {
            case RpmaChannel stream -> stream.path();
            case RpmaMessageChannel messages -> messages.path();
            default -> null;
        };
        InetSocketAddress local = (InetSocketAddress) channel.localAddress();
        print(path == null ? providerOfServer(local.getAddress()) : provider(path), local);
    }

    private static RpmaProvider provider(RpmaPath path) {
        String name = switch (path) {
            case SHARED_MEMORY -> "soft";
            case RDMA -> "librpma";
            case TCP -> "tcp";
        };
        return Rpma.providers().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    }

    /** Prints the provider and the devices of a server at an address of this host. */
    static void print(InetSocketAddress local) throws RpmaException {
        print(providerOfServer(local.getAddress()), local);
    }

    /**
     * Returns the provider for both processes of an example: that of this process, or, if the options leave out its path, that of
     * the best path that they leave.
     */
    static RpmaProvider provider() {
        return chosen(providers());
    }

    /**
     * Returns the provider of this process if a server at an address listens by it, and otherwise the first one by which the
     * server listens. A server does not listen by the providers of paths that the options leave out. If it is at a loopback
     * address, it does not listen by librpma, whose connections have the addresses of devices.
     */
    private static RpmaProvider providerOfServer(InetAddress local) throws RpmaException {
        List<RpmaProvider> listening = new ArrayList<>();
        for (RpmaProvider each : providers()) {
            if (!local.isLoopbackAddress() || each.reachable(local).isLoopbackAddress()) {
                listening.add(each);
            }
        }
        return chosen(listening);
    }

    private static RpmaProvider chosen(List<RpmaProvider> possible) {
        return possible.isEmpty() || possible.contains(Rpma.provider()) ? Rpma.provider() : possible.getFirst();
    }

    /** Returns the providers of the paths of channels for which no option is set, as for those of the examples. */
    private static List<RpmaProvider> providers() {
        RpmaServerChannel server = new RpmaServerChannel();
        try {
            List<RpmaPath> paths = server.config().getOption(RpmaChannelOption.RPMA_PATHS);
            return paths.stream().flatMap(path -> Rpma.providers().stream().filter(each -> RpmaPath.of(each) == path)).toList();
        } finally {
            server.unsafe().closeForcibly();
        }
    }

    private static void print(RpmaProvider provider, InetSocketAddress local) throws RpmaException {
        System.out.println("provider=" + provider.name());
        // A server on the wildcard address listens on every device.
        List<Device> devices = local.getAddress().isAnyLocalAddress() ? provider.devices()
            : List.of(provider.localDevice(local.getAddress()));
        System.out.println("device=" + devices.stream().map(Device::name).collect(Collectors.joining(", ")));
    }
}
