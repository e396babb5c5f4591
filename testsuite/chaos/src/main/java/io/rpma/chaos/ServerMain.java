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

package io.rpma.chaos;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.FastThreadLocal;
import io.rpma.Device;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.RpmaProvider;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaMetrics;
import io.rpma.netty.RpmaPath;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaServerChannel;
import io.rpma.netty.RpmaSharedReceiveQueue;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The server that is attacked. It listens on all paths that its process has, by one server channel for streams and one for
 * messages. An iWARP device has separate server channels, because it shares no port with other paths. The server sends back the
 * data of streams and messages, and has a region for each path that clients write to and read. It reads orders from its standard
 * input: {@code start} and {@code stop} for the neighbours within this process, {@code status}, {@code descriptors}.
 */
final class ServerMain {
    /** The size of the longest message of the message channels. */
    static final int MESSAGE_BYTES = 4096;
    private static final int SHARED_RECEIVES = 256;
    // The value is smaller than the duration of many stops, so that the connections of stopped clients are closed.
    private static final long IDLE_MILLIS = 2500;
    private static final long IDLE_MILLIS_IN_A_GUEST = 15_000;
    /** How the kernel names the threads of the JDK's common pool: it keeps the first 15 bytes of a name. */
    private static final String COMMON_POOL = "ForkJoinPool.co";

    // The single event loop is shared by all connections.
    private final EventLoopGroup group = new RpmaEventLoopGroup(1);

    /** Runs the server until the standard input ends. */
    public static void main(String[] arguments) throws Exception {
        int status = 1;
        try {
            new ServerMain().serve();
            status = 0;
        } catch (Exception | Error e) {
            e.printStackTrace();
        }
        // The event loop keeps the process alive, so the process exits explicitly.
        System.exit(status);
    }

    private void serve() throws Exception {
        List<Addresses> paths = listen();
        System.out.println("paths " + paths.size());
        paths.forEach(path -> System.out.println("addresses " + path));
        try (Neighbours within = new Neighbours("within", paths, false)) {
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                switch (order) {
                    case "start" -> within.start();
                    case "stop" -> within.stop();
                    case "status" -> System.out.println("status " + status());
                    case "descriptors" -> tellDescriptors();
                    default -> throw new IllegalArgumentException(order);
                }
            }
        }
    }

    /** A server channel for streams and one for messages. */
    private record Servers(Channel streams, Channel messages) {
        private static int port(Channel server) {
            return ((InetSocketAddress) server.localAddress()).getPort();
        }
    }

    /** Listens on all paths. Returns the addresses on each path, and on each device if there are several paths. */
    private List<Addresses> listen() throws Exception {
        List<RpmaPath> all = Rpma.providers().stream().map(RpmaPath::of).toList();
        boolean several = all.size() > 1;
        InetAddress wildcard = new InetSocketAddress(0).getAddress();
        InetAddress address = Rpma.provider().reachable(InetAddress.getLoopbackAddress());
        Servers servers = bind(several || isSoft() ? wildcard : address, several ? wildcard : address, all);
        String loop = group.next().submit(RunDelay::ofThisThread).get();
        List<Addresses> paths = new ArrayList<>();
        for (RpmaProvider provider : Rpma.providers()) {
            InetAddress any = provider.reachable(InetAddress.getLoopbackAddress());
            for (Device device : several ? provider.devices() : List.of(provider.localDevice(any))) {
                InetAddress host = any.isLoopbackAddress() ? any : device.addresses().getFirst();
                // A server channel that has other paths as well does not listen on an iWARP device.
                Servers reached = several && device.isIwarp() ? bind(host, host, List.of(RpmaPath.RDMA)) : servers;
                // Each region has one neighbour that writes to it.
                RpmaRegion region = RpmaRegion.allocate(RegionLane.BYTES, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST);
                byte[] descriptor = new byte[RpmaRegion.DESCRIPTOR_BYTES];
                region.descriptor(device).get(descriptor);
                paths.add(new Addresses(RpmaPath.of(provider), device.name(), host.getHostAddress(),
                    Servers.port(reached.streams), Servers.port(reached.messages), HexFormat.of().formatHex(descriptor), loop));
            }
        }
        return paths;
    }

    private Servers bind(InetAddress ofStreams, InetAddress ofMessages, List<RpmaPath> paths) throws Exception {
        long idle = isSoft() ? IDLE_MILLIS : IDLE_MILLIS_IN_A_GUEST;
        Channel streams = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_PATHS, paths)
            .childHandler(echo(idle))
            .bind(new InetSocketAddress(ofStreams, 0)).sync().channel();
        ServerBootstrap messages = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_PATHS, paths)
            .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 64)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, MESSAGE_BYTES)
            .childOption(ChannelOption.ALLOCATOR, RpmaByteBufAllocator.DEFAULT)
            .childHandler(echo(idle));
        if (Rpma.providers().size() == 1) {
            // A shared receive queue belongs to one device, so a server on several paths cannot have one.
            messages.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE,
                new RpmaSharedReceiveQueue(SHARED_RECEIVES, MESSAGE_BYTES));
        }
        return new Servers(streams, messages.bind(new InetSocketAddress(ofMessages, 0)).sync().channel());
    }

    /** Returns the initializer of channels that send back what they receive, and close after some time without traffic. */
    private static ChannelInitializer<Channel> echo(long idleMillis) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new EchoHandler(idleMillis));
            }
        };
    }

    /** Writes to the log what the open descriptors refer to. */
    private static void tellDescriptors() throws IOException {
        Map<String, Integer> kinds = new TreeMap<>();
        for (String name : new File("/proc/self/fd").list()) {
            try {
                String target = Files.readSymbolicLink(Path.of("/proc/self/fd", name)).toString();
                kinds.merge(target.replaceAll("\\[\\d+]|:\\d+", ""), 1, Integer::sum);
            } catch (NoSuchFileException e) {
                // This is the descriptor that was used to list the directory.
                kinds.merge("closed meanwhile", 1, Integer::sum);
            }
        }
        System.err.println("descriptors: " + kinds);
        System.err.println("threads: " + Thread.getAllStackTraces().keySet().stream().map(Thread::getName).sorted().toList());
    }

    private static boolean isSoft() {
        return Rpma.provider().name().equals("soft");
    }

    /**
     * Returns the inode numbers of the files of the server's own address ranges, which are open in this process. Their mappings
     * are never released.
     */
    private static Set<String> ownMemoryFiles() throws IOException {
        Set<String> own = new HashSet<>();
        for (String name : new File("/proc/self/fd").list()) {
            Path descriptor = Path.of("/proc/self/fd", name);
            try {
                if (Files.readSymbolicLink(descriptor).toString().startsWith("/memfd:rpma-range")) {
                    own.add(Files.getAttribute(descriptor, "unix:ino").toString());
                }
            } catch (NoSuchFileException e) {
                // This is the descriptor that was used to list the directory.
                continue;
            }
        }
        return own;
    }

    /** Returns the number of threads, except those of the JDK's common pool, which starts and ends them as it needs them. */
    private static long threads() throws IOException {
        long count = 0;
        for (String number : new File("/proc/self/task").list()) {
            try {
                if (!Files.readString(Path.of("/proc/self/task", number, "comm")).startsWith(COMMON_POOL)) {
                    count++;
                }
            } catch (NoSuchFileException e) {
                // The thread has ended meanwhile.
                continue;
            }
        }
        return count;
    }

    private String status() throws Exception {
        // Free buffers count as used in the allocator if they are cached, so those of the loop are released first, and the others
        // are subtracted. How many receives a crowd of connections leaves posted varies, so these do not count either.
        group.next().submit(() -> FastThreadLocal.removeAll()).sync();
        long mapped = 0;
        Set<String> own = ownMemoryFiles();
        List<String> maps = Files.readAllLines(Path.of("/proc/self/maps"));
        for (String line : maps) {
            String[] words = line.split(" +", 6);
            if (words.length == 6 && words[5].startsWith("/memfd:rpma-") && !own.contains(words[4])) {
                String[] ends = words[0].split("-");
                mapped += Long.parseUnsignedLong(ends[1], 16) - Long.parseUnsignedLong(ends[0], 16);
            }
        }
        return new File("/proc/self/fd").list().length + " " + threads() + ' '
            + (RpmaByteBufAllocator.DEFAULT.usedBytes() - RpmaByteBufAllocator.DEFAULT.cachedBytes()
                - RpmaMetrics.surplusReceiveBytes()) + ' ' + mapped + ' '
            + RpmaMetrics.openChannels();
    }
}
