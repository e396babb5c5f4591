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

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the log: its format, its lanes, and its content after processes were killed. */
class RemoteLogTest {
    private static final int LANES = 2;
    /** How many times a process is killed, as set by {@code -Dio.rpma.examples.kills=200}. */
    private static final int KILLS = Integer.getInteger("io.rpma.examples.kills", 20);
    private static final long SEED = Long.getLong("io.rpma.examples.seed", System.nanoTime());
    /** The size of a lane. It must suffice for the records that are appended between this number of kills. */
    private static final int LANE_BYTES = 8 + KILLS / 4 << 20;

    private Path log;

    @BeforeEach
    void create() throws IOException {
        log = Files.createTempFile(Path.of("/dev/shm"), "remote-log-test", null);
    }

    @AfterEach
    void delete() throws IOException {
        Files.deleteIfExists(RemoteLogExample.addressFile(log));
        Files.delete(log);
    }

    // ---- the format ----

    private static void append(ByteBuffer lane, long number, String payload) {
        int tail = (int) Math.max(LogFormat.HEADER_BYTES, lane.getLong(0));
        ByteBuf record = LogFormat.record(UnpooledByteBufAllocator.DEFAULT, number, payload.getBytes());
        record.readBytes(lane.slice(tail, record.readableBytes()));
        lane.putLong(0, tail + LogFormat.recordBytes(payload.length()));
        record.release();
    }

    private static List<String> read(ByteBuffer lane) throws IOException {
        List<String> payloads = new ArrayList<>();
        new LogFormat.Reader().read(lane, (number, payload) -> {
            byte[] bytes = new byte[payload.remaining()];
            payload.get(bytes);
            payloads.add(new String(bytes));
        });
        return payloads;
    }

    @Test
    void recordsAreReadUpToTheTail() throws IOException {
        ByteBuffer lane = ByteBuffer.allocate(1024).order(ByteOrder.nativeOrder());
        assertEquals(List.of(), read(lane));
        append(lane, 0, "one");
        append(lane, 1, "");
        append(lane, 2, "three is longer");
        long tail = lane.getLong(0);
        append(lane, 3, "torn");
        lane.putLong(0, tail);
        assertEquals(List.of("one", "", "three is longer"), read(lane));
    }

    @Test
    void aTornRecordIsSeen() throws IOException {
        for (int at : new int[] {LogFormat.HEADER_BYTES, LogFormat.HEADER_BYTES + 4, LogFormat.HEADER_BYTES + 8,
            LogFormat.HEADER_BYTES + 17}) {
            ByteBuffer lane = ByteBuffer.allocate(1024).order(ByteOrder.nativeOrder());
            append(lane, 0, "some record");
            lane.put(at, (byte) (lane.get(at) + 1));
            assertThrows(IOException.class, () -> read(lane), () -> "byte " + at);
        }
        ByteBuffer lane = ByteBuffer.allocate(1024).order(ByteOrder.nativeOrder());
        append(lane, 1, "the first is missing");
        assertThrows(IOException.class, () -> read(lane));
        lane.putLong(0, 4096);
        assertThrows(IOException.class, () -> read(lane));
        lane.putLong(0, LogFormat.HEADER_BYTES + 8);
        assertThrows(IOException.class, () -> read(lane));
    }

    // ---- one process ----

    @Test
    @Timeout(240)
    void aLaneHasOneWriterAndAnEnd() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try (LogStore store = new LogStore(log, 2, 256, false, true);
                RemoteLogServer server = new RemoteLogServer(group, new InetSocketAddress("127.0.0.1", 0), store, 2, 256)) {
            RemoteLogClient client = new RemoteLogClient(group, server.address(), 1);
            client.append(new byte[100]).sync();
            IOException taken = assertThrows(IOException.class, () -> new RemoteLogClient(group, server.address(), 1));
            assertTrue(taken.getMessage().contains("another client"), taken.getMessage());
            IOException outside = assertThrows(IOException.class, () -> new RemoteLogClient(group, server.address(), 2));
            assertTrue(outside.getMessage().contains("lane 2") && outside.getMessage().contains("no such lane"),
                outside.getMessage());
            assertThrows(IOException.class, () -> new RemoteLogClient(group, server.address(), -1));
            client.append(new byte[30]).sync();
            Throwable full = client.append(new byte[30]).await().cause();
            assertTrue(full.getMessage().contains("full"), full.toString());
            client.close();
            RemoteLogClient next = null;
            while (next == null) {
                try {
                    next = new RemoteLogClient(group, server.address(), 1);
                } catch (IOException e) {
                    // The server has not yet noticed that the previous client has disconnected.
                    assertTrue(e.getMessage().contains("another client"), e.getMessage());
                }
            }
            assertEquals(2, next.count());
            next.close();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    @Timeout(240)
    void theExampleFindsEverythingAfterTheKill() throws Exception {
        ExampleRun run = ExampleRun.toEnd("remote-log", "--records", "500", "--record-bytes", "1000").ended(0);
        run.has("provider=.*");
        run.has("appended=1000 records.*");
        run.has("log=whole and in order.*");
        ExampleRun.toEnd("remote-log", "--record-bytes", "2MiB").ended(2);
    }

    // ---- on a disk ----

    /** Replaces the log by one on a disk's file system, where the server makes the appended records durable. */
    private Path onDisk() throws IOException {
        Path file = Files.createTempFile(Path.of("target").toAbsolutePath(), "remote-log-test", null);
        // The file replaces the one in memory, so that it is deleted after the test.
        Files.delete(log);
        log = file;
        assumeTrue(LogDurability.of(file, false, true) == LogDurability.DISK, "the folder of this project is in memory");
        return file;
    }

    private List<String> inFile(int lane, int laneBytes) throws IOException {
        return read(ByteBuffer.wrap(Files.readAllBytes(log)).slice(lane * laneBytes, laneBytes));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Timeout(240)
    void theFileHasARecordWhenItIsAcknowledged(boolean sync) throws Exception {
        onDisk();
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try (LogStore store = new LogStore(log, 2, 4096, false, sync);
                RemoteLogServer server = new RemoteLogServer(group, new InetSocketAddress("127.0.0.1", 0), store, 2, 4096);
                RemoteLogClient client = new RemoteLogClient(group, server.address(), 1)) {
            assertEquals(sync ? LogDurability.DISK : LogDurability.PAGE_CACHE, client.durability());
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                expected.add("record " + i);
                client.append(expected.getLast().getBytes()).sync();
                assertEquals(expected, inFile(1, 4096));
            }
            // All records are appended at once, so that one request contains many of them.
            List<ChannelFuture> appended = new ArrayList<>();
            for (int i = 20; i < 60; i++) {
                expected.add("record " + i);
                appended.add(client.append(expected.getLast().getBytes()));
            }
            for (ChannelFuture each : appended) {
                each.sync();
            }
            assertEquals(expected, inFile(1, 4096));
            assertEquals(List.of(), inFile(0, 4096));
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void whatWasNotCommittedIsNotInTheFileAndIsCutOff() throws IOException {
        onDisk();
        try (LogStore store = new LogStore(log, 2, 256, false, true)) {
            ByteBuffer lane = store.region().memory().asSlice(256, 256).asByteBuffer().order(ByteOrder.nativeOrder());
            append(lane, 0, "committed");
            assertEquals(List.of(), inFile(1, 256));
            assertEquals(lane.getLong(0), store.commit(1));
            append(lane, 1, "not committed");
            assertEquals(List.of("committed"), inFile(1, 256));
            store.cut(1);
            assertEquals(List.of("committed"), read(lane));
        }
        // The next server finds the committed record.
        try (LogStore store = new LogStore(log, 2, 256, false, true)) {
            assertEquals(List.of("committed"), read(store.region().memory().asSlice(256, 256).asByteBuffer()));
            assertEquals(LogFormat.HEADER_BYTES, store.commit(0));
        }
    }

    @Test
    void aTailThatCannotBeTrueIsRefused() throws IOException {
        onDisk();
        try (LogStore store = new LogStore(log, 1, 256, false, true)) {
            ByteBuffer lane = store.region().memory().asByteBuffer().order(ByteOrder.nativeOrder());
            append(lane, 0, "committed");
            long tail = store.commit(0);
            for (long wrong : new long[] {tail - 8, 264, 100, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
                lane.putLong(0, wrong);
                IOException refused = assertThrows(IOException.class, () -> store.commit(0), () -> "tail " + wrong);
                assertTrue(refused.getMessage().contains("lane 0"), refused.getMessage());
                assertEquals(List.of("committed"), inFile(0, 256));
            }
            store.cut(0);
            assertEquals(tail, store.commit(0));
        }
    }

    @Test
    @Timeout(240)
    void theExampleChecksALog() throws Exception {
        onDisk();
        ExampleRun run = ExampleRun.toEnd("remote-log", "--records", "50", "--clients", "3", "--file", log.toString()).ended(0);
        run.has("durability=outlives a power cut: .*");
        ExampleRun check = ExampleRun.toEnd("remote-log", "--check", "--clients", "3", "--file", log.toString()).ended(0);
        assertEquals(List.of("client=0 records=50", "client=1 records=50", "client=2 records=50"), check.out());
        ExampleRun.toEnd("remote-log", "--check").ended(2);
        ExampleRun.toEnd("remote-log", "--check", "--clients", "0", "--file", log.toString()).ended(2)
            .errorHas("--clients 0: at least 1");
        for (String other : new String[] {"1", "2", "6"}) {
            StringWriter error = new StringWriter();
            String[] arguments = {"remote-log", "--check", "--clients", other, "--file", log.toString()};
            assertEquals(2, Examples.commandLine(arguments).setErr(new PrintWriter(error)).execute(arguments));
            assertTrue(error.toString().contains("--clients " + other + ": " + log + " is a log of 3 clients"), error::toString);
        }
        ExampleRun.toEnd("remote-log", "--check", "--file", log + ".absent").ended(1)
            .errorHas("NoSuchFileException: " + log + ".absent");
        byte[] torn = Files.readAllBytes(log);
        torn[100]++;
        Files.write(log, torn);
        ExampleRun broken = ExampleRun.toEnd("remote-log", "--check", "--clients", "3", "--file", log.toString());
        assertNotEquals(0, broken.await());
        broken.errorHas("record 0 at 64 is torn");
    }

    /** The lanes of a log have the size that its first server has given them. With other lanes, its records would be lost. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Timeout(240)
    void aLogWithOtherLanesIsRefused(boolean isOnDisk) throws Exception {
        if (isOnDisk) {
            onDisk();
        }
        ExampleRun.toEnd("remote-log", "--records", "20", "--file", log.toString()).ended(0);
        byte[] before = Files.readAllBytes(log);
        for (String records : new String[] {"60", "10"}) {
            ExampleRun refused = ExampleRun.toEnd("remote-log", "--records", records, "--file", log.toString()).ended(1);
            assertArrayEquals(before, Files.readAllBytes(log));
            refused.errorHas("its lanes have " + before.length / 2 + " bytes");
        }
        ExampleRun check = ExampleRun.toEnd("remote-log", "--check", "--file", log.toString()).ended(0);
        assertEquals(List.of("client=0 records=20", "client=1 records=20"), check.out());
    }

    /** A log is new if its file is. A file of another kind may have zeros where a log has the size of its lanes. */
    @Test
    void aFileThatIsNoLogIsLeftAsItIs() throws Exception {
        byte[] program = Arrays.copyOf(new byte[] {0x7f, 'E', 'L', 'F'}, 1024);
        Files.write(log, program);
        IOException refused = assertThrows(IOException.class, () -> new LogStore(log, 2, 256, false, true));
        assertTrue(refused.getMessage().contains(log + " is no log"), refused.getMessage());
        assertArrayEquals(program, Files.readAllBytes(log));
        // The content of a log that was new when the power failed may be lost, and its size be known.
        Files.write(log, new byte[512]);
        new LogStore(log, 2, 256, false, true).close();
    }

    // ---- many kills ----

    /**
     * The program that is killed. It is separate from the example because restarting it takes most of the time of this test: it
     * loads no classes that it does not need.
     */
    static final class VictimMain {
        private VictimMain() {
        }

        /** Runs as {@code serve FILE LANES LANE_BYTES} or {@code append FILE LANE}. */
        public static void main(String... arguments) throws Exception {
            Path log = Path.of(arguments[1]);
            if (arguments[0].equals("serve")) {
                int lanes = Integer.parseInt(arguments[2]);
                int laneBytes = Integer.parseInt(arguments[3]);
                try (LogStore store = new LogStore(log, lanes, laneBytes, false, true)) {
                    RemoteLogExample.serve(new InetSocketAddress("127.0.0.1", 0), log, store, lanes, laneBytes);
                }
            } else {
                new RemoteLogWriter(() -> RemoteLogWriter.read(RemoteLogExample.addressFile(log)),
                    Integer.parseInt(arguments[2]), count -> System.out.println("acknowledged=" + count)).run();
            }
        }
    }

    /** A process that is killed, and its output. */
    private final class Victim {
        private final List<String> command;
        private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
        private Process process;
        private Thread listening;

        Victim(String... arguments) throws IOException {
            command = ExampleJvm.command(VictimMain.class, List.of(arguments));
            command.add(1, "-D" + Rpma.PROVIDER_PROPERTY + "=" + Rpma.provider().name());
            start();
        }

        void start() throws IOException {
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            Process started = process;
            listening = Thread.ofPlatform().daemon().start(() -> started.inputReader().lines().forEach(said::add));
        }

        /** Kills the process as kill -9 does, and reads all output from before that. */
        void kill() throws InterruptedException {
            // The handle is used because destroying a Process also closes its pipe, with the output that has not been read.
            process.toHandle().destroyForcibly();
            process.waitFor();
            listening.join();
        }
    }

    /** The records that a lane must contain. */
    private final class Lane {
        private final int number;
        private final LogFormat.Reader reader = new LogFormat.Reader();
        private final ByteBuffer memory;
        private final Victim writer;
        private long acknowledged;

        Lane(int number, FileChannel file) throws IOException {
            this.number = number;
            memory = file.map(FileChannel.MapMode.READ_ONLY, (long) number * LANE_BYTES, LANE_BYTES);
            writer = new Victim("append", log.toString(), "" + number);
        }

        /** Reads the output so far. */
        void listen() {
            for (String line = writer.said.poll(); line != null; line = writer.said.poll()) {
                hear(line);
            }
        }

        private void hear(String line) {
            acknowledged = Math.max(acknowledged, Long.parseLong(line.substring("acknowledged=".length())));
        }

        /** Waits until one more record has been acknowledged. */
        void progress() throws InterruptedException {
            for (long before = acknowledged; acknowledged <= before;) {
                String line = writer.said.poll(60, TimeUnit.SECONDS);
                assertNotNull(line, () -> "lane " + number + " makes no progress after record " + acknowledged);
                hear(line);
            }
        }

        /** Checks that every acknowledged record is in the lane, complete and in order. */
        void check() throws IOException {
            // The output is read before the lane, because more records may be appended meanwhile.
            listen();
            long least = acknowledged;
            read(reader);
            assertTrue(reader.count() >= least, () -> reader.count() + " of " + least + " records, seed " + SEED);
        }

        void read(LogFormat.Reader by) throws IOException {
            by.read(memory, (record, payload) -> {
                byte[] bytes = new byte[payload.remaining()];
                payload.get(bytes);
                assertArrayEquals(RemoteLogWriter.payload(number, record), bytes, () -> "record " + record);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Timeout(1800)
    void everyAcknowledgedRecordOutlivesEveryDeath(boolean onDisk) throws Exception {
        if (onDisk) {
            onDisk();
        }
        Random random = new Random(SEED);
        List<Victim> all = new ArrayList<>();
        try (FileChannel file = FileChannel.open(log, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(1), (long) LANES * LANE_BYTES - 1);
            Victim server = new Victim("serve", log.toString(), "" + LANES, "" + LANE_BYTES);
            all.add(server);
            List<Lane> lanes = new ArrayList<>();
            for (int i = 0; i < LANES; i++) {
                lanes.add(new Lane(i, file));
                all.add(lanes.get(i).writer);
            }
            for (int kill = 0; kill < KILLS; kill++) {
                for (Lane lane : lanes) {
                    lane.progress();
                }
                // The process is killed at a random time.
                LockSupport.parkNanos(random.nextInt(20_000_000));
                Victim victim = all.get(random.nextInt(all.size()));
                victim.kill();
                for (Lane lane : lanes) {
                    lane.check();
                }
                victim.start();
            }
            for (Lane lane : lanes) {
                lane.progress();
            }
            for (Victim victim : all) {
                victim.kill();
            }
            long records = 0;
            for (Lane lane : lanes) {
                lane.listen();
                LogFormat.Reader whole = new LogFormat.Reader();
                lane.read(whole);
                assertTrue(whole.count() >= lane.acknowledged);
                records += whole.count();
            }
            System.out.println(KILLS + " kills, seed " + SEED + ": " + records + " records, all complete and in order");
        } finally {
            for (Victim victim : all) {
                victim.kill();
            }
        }
    }
}
