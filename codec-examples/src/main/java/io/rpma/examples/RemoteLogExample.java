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

import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A log in the memory of another process that clients append to by one-sided operations. A record is written and flushed, and
 * then the tail is moved by an atomic write. At the end the server process is killed, and the file contains all records. If the
 * file is on a disk, the server writes each record to the disk before the record is acknowledged; see {@link LogDurability}.
 */
@Command(name = "remote-log",
    description = "Clients append to a server's log by one-sided writes")
final class RemoteLogExample implements Callable<Integer> {
    private static final int WINDOW = 16;
    private static final int MAX_RECORD_BYTES = 1 << 20;

    @Mixin
    private CommonOptions common;

    @Mixin
    private SideOptions side;

    @Option(names = "--records", paramLabel = "N", defaultValue = "10000",
        description = "how many each client appends (default: ${DEFAULT-VALUE})")
    private int records;

    @Option(names = "--record-bytes", paramLabel = "SIZE", defaultValue = "128",
        description = "length of a record, at most 1MiB (default: ${DEFAULT-VALUE})")
    private ByteSize recordBytes;

    @Option(names = "--clients", paramLabel = "N", defaultValue = "2",
        description = "how many append, each to a lane of its own (default: ${DEFAULT-VALUE})")
    private int clients;

    @Option(names = "--file", paramLabel = "FILE",
        description = "the log, kept; on a disk it outlives power cuts (default: a temporary one in /dev/shm)")
    private Path file;

    @Option(names = "--pmem", description = "the file lies in persistent memory (a DAX filesystem): flush to persistence")
    private boolean persistent;

    @Option(names = "--no-sync", description = "acknowledge what the system has: faster, and lost in a power cut")
    private boolean withoutSync;

    @Option(names = "--check", description = "only read the log in --file, whose server has ended, and say what it has")
    private boolean check;

    @Option(names = "--serve", hidden = true, description = "be the server, for so many lanes, until killed")
    private Integer serve;

    @Option(names = "--lane-bytes", hidden = true, defaultValue = "16MiB", description = "the size of a lane")
    private ByteSize laneBytes;

    @Override
    public Integer call() throws Exception {
        InetSocketAddress address = side.address();
        if (serve != null) {
            try (LogStore store = new LogStore(file, serve, (int) laneBytes.bytes(), persistent, !withoutSync)) {
                serve(address, file, store, serve, (int) laneBytes.bytes());
            }
            return 0;
        }
        if (persistent && withoutSync) {
            throw side.wrong("--pmem and --no-sync: persistent memory needs no sync");
        }
        if (check) {
            checkAll();
            return 0;
        }
        int lane = laneOfRecords();
        if (side.isClient()) {
            appendAll(address);
        } else {
            serveOrRun(address, lane);
        }
        return 0;
    }

    /** Returns the number of bytes that the records of one client need, with the header of its lane. */
    private int laneOfRecords() {
        if (records < 0 || clients < 1 || recordBytes.bytes() > MAX_RECORD_BYTES) {
            throw side.wrong("--records must be at least 0, --clients 1, --record-bytes at most " + MAX_RECORD_BYTES);
        }
        long lane = LogFormat.HEADER_BYTES + (long) records * LogFormat.recordBytes((int) recordBytes.bytes());
        if (lane > Integer.MAX_VALUE) {
            throw side.wrong("each client's part of the log would have " + lane + " bytes, more than " + Integer.MAX_VALUE
                + ": fewer or shorter records");
        }
        return (int) lane;
    }

    private void serveOrRun(InetSocketAddress address, int lane) throws IOException {
        boolean temporary = file == null;
        Path log = temporary ? temporaryFile() : file;
        try {
            if (side.isServer()) {
                serveUntilInterrupted(address, log, lane);
            } else {
                run(address, log, lane);
            }
        } finally {
            Files.deleteIfExists(addressFile(log));
            if (temporary) {
                Files.deleteIfExists(log);
            }
        }
    }

    private static Path temporaryFile() throws IOException {
        Path shared = Path.of("/dev/shm");
        return Files.isWritable(shared) ? Files.createTempFile(shared, "remote-log", null)
            : Files.createTempFile("remote-log", null);
    }

    /** Returns the file to which a server writes the address that it listens on. */
    static Path addressFile(Path log) {
        return log.resolveSibling(log.getFileName() + ".address");
    }

    // ---- the server ----

    static void serve(InetSocketAddress address, Path file, LogStore store, int lanes, int laneBytes) throws IOException {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try (RemoteLogServer server = new RemoteLogServer(group, address, store, lanes, laneBytes)) {
            // The file is written under another name and then renamed, because another process may be reading it.
            Path written = Files.writeString(addressFile(file).resolveSibling(file.getFileName() + ".new"),
                ServerProcess.format(server.address()));
            Files.move(written, addressFile(file), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            ServerProcess.say(server.address());
            while (System.in.read() >= 0) {
                // The parent process writes nothing; the loop waits for the end of the input.
                continue;
            }
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void serveUntilInterrupted(InetSocketAddress address, Path log, int lane) throws IOException {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try (LogStore store = new LogStore(log, clients, lane, persistent, !withoutSync);
                RemoteLogServer server = new RemoteLogServer(group, address, store, clients, lane)) {
            System.out.println("durability=" + store.durability());
            ServerProcess.say(server.address());
            server.channel().closeFuture().syncUninterruptibly();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    // ---- the clients ----

    /** Appends to all lanes, one after the other, and reads each lane back. Returns the number of records of each lane. */
    private long[] appendAll(InetSocketAddress server) throws IOException {
        long[] counts = new long[clients];
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try {
            long nanos = 0;
            for (int i = 0; i < clients; i++) {
                try (RemoteLogClient client = new RemoteLogClient(group, server, i)) {
                    if (i == 0) {
                        CommonOptions.print(client.channel());
                        System.out.println("durability=" + client.durability());
                    }
                    counts[i] = client.count() + records;
                    nanos += append(client, i);
                    client.recover();
                    expect(i, client.count(), counts[i]);
                }
            }
            System.out.println(String.format(Locale.ROOT, "appended=%d records of %s, %.0f per second, and read back",
                (long) records * clients, recordBytes, (double) records * clients / Math.max(1e-9, nanos / 1e9)));
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return counts;
    }

    private static void expect(int lane, long found, long expected) throws IOException {
        if (found != expected) {
            throw new IOException("lane " + lane + " has " + found + " records, not " + expected);
        }
    }

    // ---- both ----

    private void run(InetSocketAddress address, Path log, int lane) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("remote-log", "--serve", "" + clients, "--lane-bytes", "" + lane,
            "--file", log.toString(), "--provider", CommonOptions.provider().name(), "--host",
            address.getAddress().getHostAddress(), "--port", "" + address.getPort()));
        if (persistent) {
            arguments.add("--pmem");
        }
        if (withoutSync) {
            arguments.add("--no-sync");
        }
        long[] counts;
        // The server is killed at the end instead of being shut down.
        try (ServerProcess server = new ServerProcess(arguments)) {
            try {
                counts = appendAll(server.address());
            } catch (IOException e) {
                throw server.explain(e);
            }
        }
        for (int i = 0; i < clients; i++) {
            expect(i, check(log, i, lane), counts[i]);
        }
        System.out.println("log=whole and in order after the server was killed");
    }

    private long append(RemoteLogClient client, int lane) throws IOException {
        byte[] payload = new byte[(int) recordBytes.bytes()];
        ArrayDeque<ChannelFuture> underWay = new ArrayDeque<>();
        long began = System.nanoTime();
        for (int i = 0; i < records || !underWay.isEmpty(); i++) {
            if (i < records) {
                Arrays.fill(payload, (byte) (lane + i));
                underWay.add(client.append(payload.clone()));
            }
            if (underWay.size() >= WINDOW || i >= records) {
                ChannelFuture oldest = underWay.remove().awaitUninterruptibly();
                if (!oldest.isSuccess()) {
                    throw new IOException(oldest.cause().getMessage(), oldest.cause());
                }
            }
        }
        return System.nanoTime() - began;
    }

    private void checkAll() throws IOException {
        if (file == null) {
            throw side.wrong("--check needs the log: --file FILE, and --clients as its server had");
        }
        if (clients < 1) {
            throw side.wrong("--clients " + clients + ": at least 1");
        }
        int lane;
        try (FileChannel log = FileChannel.open(file, StandardOpenOption.READ)) {
            lane = LogFormat.laneBytes(log);
        }
        long size = Files.size(file);
        if (lane < LogFormat.HEADER_BYTES || size % lane != 0) {
            throw new IOException(file + " has " + size + " bytes, and is no log");
        }
        if (size / lane != clients) {
            throw side.wrong("--clients " + clients + ": " + file + " is a log of " + size / lane + " clients");
        }
        for (int i = 0; i < clients; i++) {
            System.out.println("client=" + i + " records=" + check(file, i, lane));
        }
    }

    private static long check(Path log, int lane, int laneBytes) throws IOException {
        try (FileChannel channel = FileChannel.open(log, StandardOpenOption.READ)) {
            ByteBuffer bytes = channel.map(FileChannel.MapMode.READ_ONLY, (long) lane * laneBytes, laneBytes);
            LogFormat.Reader reader = new LogFormat.Reader();
            reader.read(bytes, (number, payload) -> { });
            return reader.count();
        }
    }
}
