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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The program that runs beside the server of {@code remote-log} in a machine whose power testsuite/power-cut/run.sh cuts. It
 * checks the logs that the last power cut has left, and then appends until the next one.
 */
final class PowerCutMain {
    private PowerCutMain() {
    }

    /**
     * Runs as {@code LOG LANES HOST PORT FOLDER}. Whenever records of a lane have been acknowledged, their number is written as
     * eight bytes to the file {@code acknowledged-LANE} of the folder, which survives the power cut. Before the program appends
     * to a log, it prints {@code found LANE RECORDS} for each lane, or {@code torn LANE RECORDS} with the number of whole records
     * and the reason, and then {@code checked}. When it has appended to each lane, it prints {@code appending}.
     */
    public static void main(String... arguments) throws Exception {
        Path log = Path.of(arguments[0]);
        int lanes = Integer.parseInt(arguments[1]);
        InetSocketAddress server = new InetSocketAddress(arguments[2], Integer.parseInt(arguments[3]));
        for (int lane = 0; lane < lanes; lane++) {
            System.out.println(found(log, lanes, lane));
        }
        System.out.println("checked");
        CountDownLatch appending = new CountDownLatch(lanes);
        for (int i = 0; i < lanes; i++) {
            int lane = i;
            FileChannel acknowledged = FileChannel.open(Path.of(arguments[4], "acknowledged-" + lane), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, StandardOpenOption.APPEND);
            AtomicBoolean first = new AtomicBoolean(true);
            RemoteLogWriter writer = new RemoteLogWriter(() -> server, lane, count -> {
                append(acknowledged, count);
                if (first.getAndSet(false)) {
                    appending.countDown();
                }
            });
            Thread.ofPlatform().start(() -> run(writer));
        }
        appending.await();
        System.out.println("appending");
    }

    private static void run(RemoteLogWriter writer) {
        try {
            writer.run();
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(3);
        }
    }

    /** Uses one write(2) without a buffer. When the call has returned, the number is outside of the machine. */
    private static void append(FileChannel acknowledged, long count) {
        try {
            acknowledged.write(ByteBuffer.allocate(Long.BYTES).putLong(0, count));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String found(Path log, int lanes, int lane) throws IOException {
        if (Files.notExists(log) || Files.size(log) == 0) {
            return "found " + lane + " 0";
        }
        LogFormat.Reader reader = new LogFormat.Reader();
        try (FileChannel file = FileChannel.open(log, StandardOpenOption.READ)) {
            long laneBytes = file.size() / lanes;
            reader.read(file.map(FileChannel.MapMode.READ_ONLY, lane * laneBytes, laneBytes), (record, payload) -> {
                byte[] bytes = new byte[payload.remaining()];
                payload.get(bytes);
                assertArrayEquals(RemoteLogWriter.payload(lane, record), bytes, () -> "record " + record);
            });
        } catch (IOException | AssertionError e) {
            return "torn " + lane + " " + reader.count() + " " + e.getMessage();
        }
        return "found " + lane + " " + reader.count();
    }
}
