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

import io.netty.channel.EventLoopGroup;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A key-value cache in the memory of another process. {@code get} is a one-sided read, and {@code put} is a message. */
@Command(name = "memory-cache",
    description = "A key-value table that clients read by one-sided reads")
final class MemoryCacheExample implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private SideOptions side;

    @Option(names = "--keys", paramLabel = "N", defaultValue = "1000",
        description = "how many entries, at most 100000 (default: ${DEFAULT-VALUE})")
    private int keys;

    @Option(names = "--gets", paramLabel = "N", defaultValue = "20000",
        description = "how many reads (default: ${DEFAULT-VALUE})")
    private int gets;

    @Option(names = "--serve", hidden = true, description = "be the server, with so many buckets, until the standard input ends")
    private Integer serve;

    @Override
    public Integer call() throws Exception {
        InetSocketAddress address = side.address();
        if (serve != null) {
            try (CacheServer server = new CacheServer(address, serve)) {
                ServerProcess.say(server.address());
                while (System.in.read() >= 0) {
                    // The parent process writes nothing; the loop waits for the end of the input.
                    continue;
                }
            }
            return 0;
        }
        if (keys < 1 || keys > 100_000 || gets < 1) {
            throw side.wrong("--keys must be 1 to 100000, --gets at least 1");
        }
        // The table has at least four times as many slots as there are keys, so that buckets rarely have to drop an entry.
        int buckets = Integer.highestOneBit(Math.max(16, 2 * keys));
        if (side.isServer()) {
            try (CacheServer server = new CacheServer(address, buckets)) {
                ServerProcess.say(server.address());
                server.channel().closeFuture().syncUninterruptibly();
            }
        } else if (side.isClient()) {
            runClient(address);
        } else {
            try (ServerProcess server = new ServerProcess(List.of("memory-cache", "--serve", "" + buckets, "--provider",
                    CommonOptions.provider().name(), "--host", address.getAddress().getHostAddress(), "--port",
                    "" + address.getPort()))) {
                runClient(server.address());
            }
        }
        return 0;
    }

    private void runClient(InetSocketAddress server) throws IOException {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try (CacheClient client = new CacheClient(group, server)) {
            CommonOptions.print(client.channel());
            run(client);
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void run(CacheClient client) throws IOException {
        long began = System.nanoTime();
        for (int i = 0; i < keys; i++) {
            client.put(key(i), value(i, 0));
        }
        client.settle();
        System.out.println(rate("puts", keys, began));
        began = System.nanoTime();
        int forgotten = 0;
        for (int i = 0; i < gets; i++) {
            byte[] value = client.get(key(i % keys));
            if (value == null) {
                forgotten++;
            } else if (!Arrays.equals(value, value(i % keys, 0))) {
                throw new IOException("key " + i % keys + " has another's value: " + new String(value, StandardCharsets.UTF_8));
            }
        }
        System.out.println(rate("gets", gets, began) + ", " + forgotten + " of keys that the cache has forgotten");
    }

    private static String rate(String what, int count, long began) {
        return String.format(Locale.ROOT, "%s=%d, %.0f per second", what, count, count / ((System.nanoTime() - began) / 1e9));
    }

    static byte[] key(int number) {
        return ("key " + number).getBytes(StandardCharsets.UTF_8);
    }

    /** Returns a value whose words are all equal, so that a torn value can be detected. */
    static byte[] value(int key, long version) {
        return (key + ":" + version + " ").repeat(20 + key % 10).getBytes(StandardCharsets.UTF_8);
    }
}
