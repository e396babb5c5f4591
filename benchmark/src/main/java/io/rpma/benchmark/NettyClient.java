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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The client of one measurement over one transport. It opens the connections, waits, and returns the result. */
final class NettyClient {
    private static final long FINISH_SECONDS = 10;

    private final NettyTransport transport;
    private final Measurement measurement;
    private final Timing timing;
    private final Meter meter;
    private final Window window = new Window();
    private final LoopTimes times = new LoopTimes();
    private final Map<EventLoop, Turns> turns = new ConcurrentHashMap<>();
    private final List<ClientHandler> handlers = new ArrayList<>();

    NettyClient(NettyTransport transport, Measurement measurement, Timing timing, Meter meter) {
        this.transport = transport;
        this.measurement = measurement;
        this.timing = timing;
        this.meter = meter;
    }

    /** Runs the measurement against a server that listens at an address. */
    Outcome run(SocketAddress server) throws Exception {
        EventLoopGroup group = transport.newGroup(0);
        Bootstrap bootstrap = new Bootstrap()
            .group(group)
            .channel(transport.channel())
            .handler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    addHandlers(channel);
                }
            });
        List<Channel> channels = new ArrayList<>();
        try {
            for (int i = 0; i < measurement.connections(); i++) {
                channels.add(bootstrap.connect(server).sync().channel());
            }
            handlers.stream().limit(measurement.talking()).forEach(ClientHandler::begin);
            Outcome outcome = measure();
            for (Channel channel : channels) {
                channel.close().sync();
            }
            return outcome;
        } finally {
            window.end();
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void addHandlers(Channel channel) {
        ClientHandler handler = switch (measurement.kind()) {
            case ROUND_TRIP -> newRoundTrips(channel);
            case STREAM, BARE_STREAM -> new StreamHandler(measurement, window);
            case PIPELINE -> {
                channel.pipeline().addLast(new FixedLengthFrameDecoder(measurement.bytes()));
                yield new PipelineHandler(measurement, window, times.of(channel.eventLoop()));
            }
            case CONNECT, IDLE -> throw new IllegalArgumentException(measurement.name());
        };
        channel.pipeline().addLast(handler);
        // This runs on the channel's event loop. The thread that reads the list waits until the channel is connected.
        handlers.add(handler);
    }

    private ClientHandler newRoundTrips(Channel channel) {
        Turns ofLoop = turns.computeIfAbsent(channel.eventLoop(), loop -> new Turns());
        RoundTripHandler handler = new RoundTripHandler(measurement, window, times.of(channel.eventLoop()), ofLoop);
        if (handlers.size() >= measurement.talking()) {
            ofLoop.add(handler);
        }
        return handler;
    }

    private Outcome measure() throws Exception {
        window.open(timing.warmUpNanos(), () -> arrived() >= measurement.warmUpOperations());
        Usage before = meter.read();
        long arrivedBefore = arrived();
        long nanos = window.close(timing.windowNanos());
        long bytes = (arrived() - arrivedBefore) * measurement.bytes();
        Usage used = meter.since(before);
        finish();
        if (measurement.kind() == Kind.STREAM || measurement.kind() == Kind.BARE_STREAM) {
            return Outcome.ofStream(bytes, nanos, used);
        }
        return Outcome.ofOperations(times.sum(), nanos, used);
    }

    /** Waits until all messages that were sent have arrived. */
    private void finish() throws Exception {
        CompletableFuture<?>[] all = handlers.stream().map(ClientHandler::finish).toArray(CompletableFuture<?>[]::new);
        try {
            window.orFailed(CompletableFuture.allOf(all)).get(FINISH_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            long waiting = handlers.stream().filter(handler -> !handler.finish().isDone()).count();
            throw new IllegalStateException("of " + handlers.size() + " connections " + waiting + " have not received all within "
                + FINISH_SECONDS + " s", e);
        }
        window.end();
    }

    private long arrived() {
        long total = 0;
        for (ClientHandler handler : handlers) {
            total += handler.arrived();
        }
        return total;
    }
}
