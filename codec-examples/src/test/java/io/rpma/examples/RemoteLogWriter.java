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
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * Appends to a lane without end, even if its server or this process is killed in between, and reports the acknowledged records.
 * {@link RemoteLogTest} starts and kills it, and a power cut ends it in {@link PowerCutMain}.
 */
final class RemoteLogWriter {
    private static final int WINDOW = 4;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * The time between attempts to find the server again. The address of the server is in a file, and only a connect shows
     * whether it runs.
     */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Callable<InetSocketAddress> address;
    private final int lane;
    private final LongConsumer told;
    private long acknowledged;

    /**
     * Creates a writer.
     *
     * @param address returns the address of the server, or {@code null} as long as it is not known
     * @param told receives the number of acknowledged records whenever there are more
     */
    RemoteLogWriter(Callable<InetSocketAddress> address, int lane, LongConsumer told) {
        this.address = address;
        this.lane = lane;
        this.told = told;
    }

    /** Returns the payload of a record, which depends on its lane and its number. */
    static byte[] payload(int lane, long number) {
        long random = number * 0x9e3779b97f4a7c15L + lane;
        byte[] payload = new byte[(int) (random >>> 58)];
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) (random >>> i % 8 * 8);
        }
        return payload;
    }

    /** Runs without end, unless a record is lost. */
    void run() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        while (true) {
            InetSocketAddress server = address.call();
            if (server != null) {
                try (RemoteLogClient client = new RemoteLogClient(group, server, lane)) {
                    if (client.count() < acknowledged) {
                        throw new AssertionError(acknowledged + " records were acknowledged, but only " + client.count()
                            + " are there");
                    }
                    say(client.count());
                    append(client);
                } catch (IOException e) {
                    // The server has ended, or it has not yet noticed that the previous client has disconnected. The next attempt
                    // follows.
                    LockSupport.parkNanos(RETRY_NANOS);
                }
            } else {
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    private void append(RemoteLogClient client) throws IOException {
        ArrayDeque<ChannelFuture> underWay = new ArrayDeque<>();
        while (true) {
            long began = System.nanoTime();
            for (int i = 0; i < WINDOW; i++) {
                underWay.add(client.append(payload(lane, client.count())));
            }
            for (ChannelFuture appended = underWay.poll(); appended != null; appended = underWay.poll()) {
                if (!appended.awaitUninterruptibly().isSuccess()) {
                    throw new IOException(appended.cause());
                }
                say(acknowledged + 1);
            }
            // The pause has two reasons: the log must suffice for some hundred kills, and a restarted process needs the
            // processor, which may be the only one. The pause takes as long as the append, so that a kill occurs during either of
            // them.
            LockSupport.parkNanos(Math.max(PAUSE_NANOS, System.nanoTime() - began));
        }
    }

    private void say(long count) {
        acknowledged = count;
        told.accept(count);
    }

    /** Returns the address that a server has written to a file, or {@code null} if there is none yet. */
    static InetSocketAddress read(Path address) throws IOException {
        try {
            String text = Files.readString(address);
            int colon = text.lastIndexOf(':');
            return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        } catch (NoSuchFileException e) {
            return null;
        }
    }
}
