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

import io.aeron.Aeron;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Exchanges Aeron messages between processes. Both ends spin on shared memory, without channels, pipelines or buffers of their
 * own. It is a yardstick for what the machine can do, not a stream transport. The media driver is not involved in the transfer of
 * the messages. It runs in the server's process, in one thread that sleeps when it can.
 */
final class AeronEngine implements Engine {
    private static final String CHANNEL = "aeron:ipc";
    private static final int PING = 1;
    private static final int PONG = 2;
    private static final int FRAGMENTS = 16;
    private static final long CONNECT_SECONDS = 10;

    @Override
    public Throwable unavailabilityCause() {
        return null;
    }

    @Override
    public boolean measures(Measurement measurement) {
        return measurement.kind() == Kind.ROUND_TRIP && measurement.connections() == 1;
    }

    @Override
    public Server serve(Measurement measurement) {
        return new Pong();
    }

    @Override
    public Outcome measure(Measurement measurement, Timing timing, String address, Meter meter) throws Exception {
        try (Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(address));
                Publication ping = aeron.addPublication(CHANNEL, PING);
                Subscription pong = aeron.addSubscription(CHANNEL, PONG)) {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CONNECT_SECONDS);
            while (!ping.isConnected() || !pong.isConnected()) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IllegalStateException("no connection within " + CONNECT_SECONDS + " s");
                }
                Thread.onSpinWait();
            }
            return new Ping(measurement, ping, pong).run(timing, meter);
        }
    }

    private static UnsafeBuffer newBuffer(int bytes) {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(bytes, BitUtil.CACHE_LINE_LENGTH));
    }

    private static void offer(Publication publication, UnsafeBuffer buffer, int length) {
        for (;;) {
            long result = publication.offer(buffer, 0, length);
            if (result > 0) {
                return;
            }
            if (result != Publication.BACK_PRESSURED && result != Publication.ADMIN_ACTION) {
                throw new IllegalStateException("Aeron does not take a message: " + Publication.errorString(result));
            }
            Thread.onSpinWait();
        }
    }

    /** Sends a message, waits for its echo, and repeats this. */
    private static final class Ping {
        private final Histogram times = Outcome.newTimes();
        private final Publication ping;
        private final Subscription pong;
        private final UnsafeBuffer message;
        private final FragmentAssembler assembler;
        private long echoed;

        Ping(Measurement measurement, Publication ping, Subscription pong) {
            this.ping = ping;
            this.pong = pong;
            message = newBuffer(measurement.bytes());
            assembler = new FragmentAssembler((buffer, offset, length, header) -> echoed = buffer.getLong(offset));
        }

        Outcome run(Timing timing, Meter meter) throws Exception {
            long number = exchange(1, System.nanoTime() + timing.warmUpNanos());
            times.reset();
            Usage before = meter.read();
            long began = System.nanoTime();
            exchange(number, began + timing.windowNanos());
            long nanos = System.nanoTime() - began;
            return Outcome.ofOperations(times, nanos, meter.since(before));
        }

        private long exchange(long first, long until) {
            long number = first;
            for (long then = System.nanoTime(); then - until < 0; number++) {
                message.putLong(0, number);
                offer(ping, message, message.capacity());
                while (echoed != number) {
                    if (pong.poll(assembler, FRAGMENTS) == 0) {
                        if (!pong.isConnected()) {
                            throw new IllegalStateException("the server has ended");
                        }
                        Thread.onSpinWait();
                    }
                }
                long now = System.nanoTime();
                times.recordValue(now - then);
                then = now;
            }
            return number;
        }
    }

    /** Sends every message back. */
    private static final class Pong implements Server {
        private final MediaDriver driver;
        private final Thread thread;
        private volatile boolean closed;

        Pong() {
            driver = MediaDriver.launchEmbedded(new MediaDriver.Context().threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnShutdown(true));
            thread = Thread.ofPlatform().name("pong").start(this::run);
        }

        private void run() {
            try (Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
                    Publication pong = aeron.addPublication(CHANNEL, PONG);
                    Subscription ping = aeron.addSubscription(CHANNEL, PING)) {
                UnsafeBuffer echo = newBuffer(1 << 20);
                FragmentAssembler assembler = new FragmentAssembler((buffer, offset, length, header) -> {
                    echo.putBytes(0, buffer, offset, length);
                    offer(pong, echo, length);
                });
                while (!closed) {
                    if (ping.poll(assembler, FRAGMENTS) == 0) {
                        Thread.onSpinWait();
                    }
                }
            }
        }

        @Override
        public String address() {
            return driver.aeronDirectoryName();
        }

        @Override
        public void close() {
            closed = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            driver.close();
        }
    }
}
