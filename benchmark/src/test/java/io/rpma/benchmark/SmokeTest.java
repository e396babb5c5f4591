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
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs each kind over RPMA for a short time, with both ends in this process. The test checks that they work, not how fast they
 * are.
 */
class SmokeTest {
    private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** The lengths of the measurement that are tried. A busy machine may not complete a single operation in the shortest one. */
    private static final long[] WINDOW_MILLIS = {200, 1000, 5000};

    @ParameterizedTest
    @CsvSource({"rpma,rtt64,RATE", "rpma,tput64k,THROUGHPUT", "rpma,pipe64,RATE", "rpma,connect,RATE",
        "touch,tput64k,THROUGHPUT", "two-threads,tput64k,THROUGHPUT"})
    void measures(String rival, String name, Metric metric) throws Exception {
        Measurement measurement = Measurement.named(name);
        Engine engine = Rival.withKey(rival).engine();
        assumeTrue(engine.unavailabilityCause() == null);
        try (Engine.Server server = engine.serve(measurement)) {
            Outcome outcome = measure(engine, measurement, server.address(), 0);
            assertTrue(outcome.values().get(metric) > 0, outcome::format);
            assertEquals(metric == Metric.RATE, outcome.times().getTotalCount() > 0);
        }
    }

    /** If only some of the connections talk at a time, each of them has its turn. */
    @Test
    void connectionsTakeTurns() throws Exception {
        Measurement measurement = new Measurement("turns", "8 connections, 2 at a time", Kind.ROUND_TRIP, 64, 8, 2, 1);
        Set<Channel> talked = ConcurrentHashMap.newKeySet();
        try (NettyServer server = new NettyServer(NettyTransport.RPMA, connection -> connection.pipeline()
                .addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        talked.add(ctx.channel());
                        ctx.writeAndFlush(message, ctx.voidPromise());
                    }
                }))) {
            Outcome outcome = measure(NettyTransport.RPMA, measurement, server.address(), 0);
            assertTrue(outcome.times().getTotalCount() > 0, outcome::format);
        }
        assertEquals(measurement.connections(), talked.size());
    }

    private static Outcome measure(Engine engine, Measurement measurement, String address, int attempt) throws Exception {
        long pid = ProcessHandle.current().pid();
        Timing timing = new Timing(WARM_UP_NANOS, TimeUnit.MILLISECONDS.toNanos(WINDOW_MILLIS[attempt]));
        try (Meter meter = new Meter(pid, pid, false)) {
            return engine.measure(measurement, timing, address, meter);
        } catch (EmptyWindowException e) {
            if (attempt == WINDOW_MILLIS.length - 1) {
                throw e;
            }
            return measure(engine, measurement, address, attempt + 1);
        }
    }
}
