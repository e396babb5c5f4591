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
package io.rpma.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaWritten;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs each operation for a short time between two processes. The test checks that the operations work, not how fast they are,
 * and that errors are detected.
 */
class OneSidedBenchmarkTest {
    @Test
    void measuresEachOperation(@TempDir Path folder) throws Exception {
        assertEquals(0, OneSidedBenchmark.execute("--sizes=8,65536", "--rounds=1", "--seconds=0.02", "--warm-up=0.01",
            "--depth=4", "--provider=" + Rpma.provider().name(), "--jvm-option=-XX:TieredStopAtLevel=1", "--report=" + folder));
        String json = Files.readString(folder.resolve("one-sided.json"));
        for (OneSidedKind kind : OneSidedKind.values()) {
            for (int bytes : new int[] {8, 65536}) {
                String figure =
                    "\"operation\": \"" + kind.key().replace("+", "\\+") + "\",\\s+\"bytes\": " + bytes + ",";
                assertEquals(kind.moves(bytes) ? kind.hasRate() ? 2 : 1 : 0, json.split(figure, -1).length - 1,
                    () -> kind + " of " + bytes + ": " + json);
            }
        }
        String text = Files.readString(folder.resolve("one-sided.txt"));
        assertTrue(text.contains("64 KiB"), text);
        for (String drawing : List.of("one-sided-latency", "one-sided-throughput", "one-sided-rate")) {
            DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(folder.resolve(drawing + ".svg").toFile());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--sizes=12", "--sizes=0", "--sizes=8388608", "--depth=0", "--rounds=0", "--seconds=0",
        "--only=nothing"})
    void refusesWhatCannotBeMeasured(String option, @TempDir Path folder) {
        assertEquals(2, OneSidedBenchmark.execute(option, "--report=" + folder));
    }

    /** A run takes longer than it is measured if the machine is slow. */
    @Test
    void waitsForTheEndOfALongRun() throws Exception {
        Timing timing = new Timing(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(600));
        AtomicLong seconds = new AtomicLong();
        CompletableFuture<String> run = new CompletableFuture<>() {
            @Override
            public String get(long time, TimeUnit unit) {
                seconds.set(unit.toSeconds(time));
                return "done";
            }
        };
        assertEquals("done", OneSidedConnection.await(run, OneSidedRun.longestNanos(timing)));
        assertTrue(seconds.get() > 5 * 601, () -> "waited for " + seconds + " s at most");
    }

    @Test
    void failsWithoutProvider(@TempDir Path folder) {
        assertEquals(1, OneSidedBenchmark.execute("--sizes=8", "--rounds=1", "--provider=none", "--report=" + folder));
    }

    @Test
    void noticesEveryDamagedByte() {
        MemorySegment memory = MemorySegment.ofArray(new byte[64]);
        Pattern.fill(memory, 5);
        assertEquals(-1, Pattern.firstDifference(memory, 5));
        for (int i = 0; i < 64; i++) {
            byte right = memory.get(ValueLayout.JAVA_BYTE, i);
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (right ^ 0x10));
            assertEquals(i / 8 * 8, Pattern.firstDifference(memory, 5));
            memory.set(ValueLayout.JAVA_BYTE, i, right);
        }
        assertEquals(0, Pattern.firstDifference(memory, 6));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 64", "0 63"})
    void theServerNoticesWhatIsOutOfTurn(String written) throws Exception {
        RpmaRegion region = RpmaRegion.allocate(64, MemoryUsage.WRITE_DST);
        EmbeddedChannel channel = new EmbeddedChannel(new OneSidedServerHandler(region, 2));
        channel.writeInbound(new OneSidedOrder(OneSidedOrder.Task.COUNT, 64, 0).toMessage(UnpooledByteBufAllocator.DEFAULT));
        ((ByteBuf) channel.readOutbound()).release();
        String[] words = written.split(" ");
        channel.writeInbound(new RpmaWritten(Integer.parseInt(words[0]), Integer.parseInt(words[1])));
        assertFalse(channel.isOpen());
        region.release();
    }

    /** Parses the output of the programs of Debian 12's perftest. */
    @Test
    void readsPerfTest() throws Exception {
        OneSidedSize size = new OneSidedSize(4096, 16);
        OneSidedFigure latency = PerfTest.READ_LATENCY.parse(List.of(
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99%[usec]",
            " 4096    1000          10.50          98.00        12.25    \t       12.50     \t1.00 \t\t20.00  \t\t90.00   "),
            size);
        assertEquals(new OneSidedFigure("ib_read", 4096, 1, 12.25, 20, 80_000, 0, 0), latency);
        OneSidedFigure rate = PerfTest.WRITE_BANDWIDTH.parse(List.of(
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
            " 4096       1000             900.00             781.25             0.200000"), size);
        assertEquals(200_000, rate.rate(), 1e-6);
        assertEquals(819.2, rate.megabytes(), 1e-6);
        // In a guest, perftest may not be able to determine the frequency of the processor.
        assertThrows(IOException.class, () -> PerfTest.WRITE_BANDWIDTH.parse(List.of("4096 1000 inf inf 0.2"), size));
        assertThrows(PerfTest.UnknownFrequencyException.class, () -> PerfTest.READ_LATENCY.parse(
            List.of(" 4096      1000          inf            inf          inf  \t   inf  \t-nan   \t\tinf \t\tinf"), size));
        assertThrows(IOException.class, () -> PerfTest.WRITE_LATENCY.parse(List.of("Couldn't get device attributes"), size));
    }
}
