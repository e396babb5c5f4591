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

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.CompletionOpcode;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;

/**
 * One of two processes that exchange messages through {@code io.rpma} alone, either back and forth or in one direction at full
 * speed. Both ends poll. The program makes the same calls as {@code src/main/c/ladder.c} makes to librpma, so the difference
 * between the two is the cost of using Java.
 */
final class LadderEnd {
    /** The number of messages that may be outstanding in one direction, and the number of receives that are posted. */
    private static final int WINDOW = 32;
    private static final int POLLED = 16;
    private static final int CREDIT_BYTES = 8;
    private static final int PAGE = 4096;
    private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG;

    private final Connection connection;
    private final CompletionQueue queue;
    private final WorkCompletions completions = new WorkCompletions(POLLED);
    private final MemorySegment memory;
    private final LocalMemoryRegion region;
    private final int bytes;
    private final long firstSend;
    private long sent;
    private long sendsDone;
    private long received;
    private long lastNumber;

    private LadderEnd(Connection connection, MemorySegment memory, LocalMemoryRegion region, int bytes) {
        this.connection = connection;
        this.memory = memory;
        this.region = region;
        this.bytes = bytes;
        queue = connection.completionQueue();
        firstSend = (long) WINDOW * bytes;
    }

    /**
     * Runs one end. The client prints {@code rtt P50 P99} in microseconds or {@code tput MIB_PER_SECOND}. The first quarter of
     * the messages is not measured.
     *
     * @param arguments {@code server|client rtt|tput ADDRESS PORT BYTES COUNT}
     */
    public static void main(String[] arguments) throws Exception {
        boolean isServer = arguments[0].equals("server");
        boolean isRoundTrip = arguments[1].equals("rtt");
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(arguments[2]), Integer.parseInt(arguments[3]));
        int bytes = Integer.parseInt(arguments[4]);
        // The count is rounded down to whole windows, so that the credits cover every message.
        int count = Integer.parseInt(arguments[5]) / (4 * WINDOW) * (4 * WINDOW);
        RpmaProvider provider = Rpma.provider();
        long size = (2L * WINDOW * bytes + PAGE - 1) / PAGE * PAGE;
        try (Peer peer = provider.localDevice(address.getAddress()).newPeer();
                AddressRange range = provider.reserve(size);
                ConnectionConfig config = provider.newConnectionConfig()) {
            config.sendQueueSize(WINDOW).receiveQueueSize(WINDOW).completionQueueSize(2 * WINDOW);
            MemorySegment memory = range.commit(0, size);
            try (LocalMemoryRegion region = peer.register(memory, EnumSet.of(MemoryUsage.SEND, MemoryUsage.RECV));
                    Endpoint endpoint = isServer ? peer.listen(address) : null) {
                ConnectionRequest request = isServer ? accept(endpoint, config) : peer.newConnectionRequest(address, config);
                for (int i = 0; i < WINDOW; i++) {
                    request.receive(region, (long) i * bytes, bytes, (long) i * bytes);
                }
                try (Connection connection = request.connect(null)) {
                    await(connection, ConnectionEvent.ESTABLISHED);
                    LadderEnd end = new LadderEnd(connection, memory, region, bytes);
                    if (isServer) {
                        end.serve(isRoundTrip, count);
                        await(connection, ConnectionEvent.CLOSED);
                    } else {
                        System.out.println(isRoundTrip ? end.roundTrips(count) : end.throughput(count));
                        connection.disconnect();
                        await(connection, ConnectionEvent.CLOSED);
                    }
                }
            }
        }
    }

    private static ConnectionRequest accept(Endpoint endpoint, ConnectionConfig config) throws RpmaException {
        System.out.println("listening");
        ConnectionRequest request = endpoint.nextConnectionRequest(config);
        while (request == null) {
            Thread.onSpinWait();
            request = endpoint.nextConnectionRequest(config);
        }
        return request;
    }

    private static void await(Connection connection, ConnectionEvent expected) throws RpmaException {
        ConnectionEvent event = connection.nextEvent();
        while (event == null) {
            Thread.onSpinWait();
            event = connection.nextEvent();
        }
        if (event != expected) {
            throw new IllegalStateException("the connection is " + event + ", not " + expected);
        }
    }

    /** Processes completions, and posts each completed receive again. */
    private void poll() throws RpmaException {
        int n = queue.poll(completions);
        for (int i = 0; i < n; i++) {
            if (completions.statusCode(i) != 0) {
                throw new IllegalStateException("a work request failed: " + completions.completion(i));
            }
            if (completions.opcodeCode(i) == CompletionOpcode.RECV.code()) {
                long offset = completions.context(i);
                lastNumber = memory.get(NUMBER, offset);
                received++;
                connection.receive(region, offset, bytes, offset);
            } else {
                sendsDone++;
            }
        }
    }

    private void send(long number, int length) throws RpmaException {
        while (sent - sendsDone >= WINDOW) {
            poll();
        }
        long offset = firstSend + sent % WINDOW * bytes;
        memory.set(NUMBER, offset, number);
        connection.send(region, offset, length, CompletionFlag.ALWAYS, 0);
        sent++;
    }

    private void awaitReceived(long count) throws RpmaException {
        while (received < count) {
            poll();
        }
    }

    private String roundTrips(int count) throws RpmaException {
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            send(i, bytes);
            awaitReceived(i + 1);
            nanos[i] = System.nanoTime() - began;
            if (lastNumber != i) {
                throw new IllegalStateException("message " + i + " came back as " + lastNumber);
            }
        }
        long[] measured = Arrays.copyOfRange(nanos, count / 4, count);
        Arrays.sort(measured);
        return String.format(Locale.ROOT, "rtt %.2f %.2f", measured[measured.length / 2] / 1e3,
            measured[(int) (measured.length * 99L / 100)] / 1e3);
    }

    private String throughput(int count) throws RpmaException {
        int first = count / 4;
        long began = 0;
        for (int i = 0; i < count; i++) {
            if (i == first) {
                began = System.nanoTime();
            }
            // Each credit that is received covers half a window.
            while (i - received * (WINDOW / 2) >= WINDOW) {
                poll();
            }
            send(i, bytes);
        }
        awaitReceived(count / (WINDOW / 2));
        return String.format(Locale.ROOT, "tput %.1f",
            (double) (count - first) * bytes / (1 << 20) / ((System.nanoTime() - began) / 1e9));
    }

    private void serve(boolean isRoundTrip, int count) throws RpmaException {
        for (long done = 0; done < count;) {
            awaitReceived(done + 1);
            for (; done < received; done++) {
                if (isRoundTrip) {
                    send(lastNumber, bytes);
                } else if ((done + 1) % (WINDOW / 2) == 0) {
                    send(done, CREDIT_BYTES);
                }
            }
        }
        while (sendsDone < sent) {
            poll();
        }
    }
}
