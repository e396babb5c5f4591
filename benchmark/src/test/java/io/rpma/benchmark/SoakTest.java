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
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.rpma.Rpma;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs short soaks between two processes, and tests that each kind of failure is detected. */
class SoakTest {
    private static final int BYTES = 64;

    @ParameterizedTest
    @CsvSource({"200000, 1, 256", "20000, 50, 1", "20000, 16, 64"})
    void passes(int messages, int connections, int depth, @TempDir Path logs) throws Exception {
        String provider = Rpma.provider().name();
        // A system call takes long in the guest in which the real library is tested.
        int count = provider.equals("soft") ? messages : messages / 50;
        assertEquals(0, Soak.execute("--messages=" + count, "--connections=" + connections, "--depth=" + depth,
            "--provider=" + provider, "--jvm-option=-XX:TieredStopAtLevel=1", "--logs=" + logs));
    }

    @Test
    void refusesWhatIsNoMessage(@TempDir Path logs) {
        assertEquals(2, Soak.execute("--bytes=20", "--logs=" + logs));
        assertEquals(2, Soak.execute("--bytes=8", "--logs=" + logs));
        assertEquals(2, Soak.execute("--messages=1", "--logs=" + logs));
        assertEquals(2, Soak.execute("--connections=0", "--logs=" + logs));
    }

    @Test
    void failsWithoutProvider(@TempDir Path logs) {
        assertEquals(1, Soak.execute("--messages=100", "--provider=none", "--logs=" + logs));
    }

    @Test
    void echoesWhatIsRight() {
        LongAdder checked = new LongAdder();
        EmbeddedChannel channel = channel(checked);
        ByteBuf sent = messages(7, 0, 1, 2);
        ByteBuf expected = sent.copy();
        channel.writeInbound(sent);
        assertEquals(3, checked.sum());
        for (int i = 0; i < 3; i++) {
            ByteBuf echo = channel.readOutbound();
            assertEquals(expected.readSlice(BYTES), echo);
            echo.release();
        }
        expected.release();
        assertEquals(false, channel.finish());
    }

    @ParameterizedTest
    @CsvSource({"0 2, lost", "0 0, duplicate", "0 1 3 2, lost", "1, lost"})
    void noticesNumbersOutOfTurn(String numbers, String what) {
        ByteBuf sent = Unpooled.buffer();
        for (String number : numbers.split(" ")) {
            new SoakMessage(BYTES).write(sent.ensureWritable(BYTES), 7, Long.parseLong(number));
        }
        assertFails(sent, what);
    }

    @Test
    void noticesEveryDamagedByte() {
        for (int i = 0; i < BYTES; i++) {
            ByteBuf sent = messages(7, 0);
            sent.setByte(i, sent.getByte(i) ^ 0x10);
            assertFails(sent, "checksum");
        }
    }

    @Test
    void noticesWhatIsOfAnotherConnection() {
        ByteBuf sent = messages(7, 0);
        new SoakMessage(BYTES).write(sent.ensureWritable(BYTES), 8, 1);
        assertFails(sent, "connection 8");
    }

    @Test
    void serverClosesConnectionThatIsWrong() {
        EmbeddedChannel channel = channel(new LongAdder());
        channel.writeInbound(messages(7, 1));
        assertEquals(false, channel.isOpen());
    }

    @Test
    void noticesAnEndWithinAMessage() {
        EmbeddedChannel channel = new EmbeddedChannel(new SoakFrameDecoder(BYTES));
        channel.writeInbound(messages(7, 0).writerIndex(BYTES - 1));
        DecoderException e = assertThrows(DecoderException.class, channel::finish);
        assertTrue(e.getMessage().contains("63 B"), e::getMessage);
    }

    @Test
    void growthLeavesOutTheWarmUpAndSinglePeaks() {
        List<Long> samples = new ArrayList<>();
        for (long i = 0; i < 20; i++) {
            samples.add(i < 5 ? i * 1000 : 5000);
        }
        assertEquals(0, SoakFigure.growth(samples));
        samples.set(17, 100_000L);
        assertEquals(0, SoakFigure.growth(samples));
        samples.replaceAll(each -> 5000L);
        for (int i = 0; i < 20; i++) {
            samples.set(i, 5000L + i * 10);
        }
        assertEquals(100, SoakFigure.growth(samples));
    }

    private static void assertFails(ByteBuf sent, String what) {
        SoakMessage format = new SoakMessage(BYTES);
        int connection = format.connection(sent);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> {
            for (long next = 0; sent.isReadable(); next++) {
                format.check(sent.readSlice(BYTES), connection, next);
            }
        });
        sent.release();
        assertTrue(e.getMessage().contains(what), e::getMessage);
    }

    private static EmbeddedChannel channel(LongAdder checked) {
        return new EmbeddedChannel(new SoakFrameDecoder(BYTES), new SoakEchoHandler(BYTES, checked));
    }

    private static ByteBuf messages(int connection, long... numbers) {
        ByteBuf sent = Unpooled.buffer(numbers.length * BYTES);
        for (long number : numbers) {
            new SoakMessage(BYTES).write(sent, connection, number);
        }
        return sent;
    }
}
