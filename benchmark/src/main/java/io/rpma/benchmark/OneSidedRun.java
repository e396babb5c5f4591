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

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.rpma.FlushType;
import io.rpma.netty.RpmaOperation;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;

/**
 * Repeats one operation. As many operations are outstanding as there are places, and each place has its own memory. Everything
 * happens on the connection's event loop: the completion of an operation starts the next one.
 */
final class OneSidedRun {
    /** A run continues after its time until this many operations have been measured or it has taken too long. */
    private static final int FEWEST = 20;
    private static final int LONGEST = 5;
    /** The code counts as compiled after this many operations. */
    private static final int WARM = 10_000;

    private final OneSidedConnection connection;
    private final Channel channel;
    private final OneSidedKind kind;
    private final Timing timing;
    private final ProcessTimes processes;
    private final MemorySegment memory;
    private final int bytes;
    private final Place[] places;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final Histogram times = Outcome.newTimes();
    private long credited;
    private long started;
    private int underWay;
    /** The index of the place whose message was sent last. */
    private int lastPlace;
    /** The index of a place that waits for a credit. The other places wait behind it. */
    private int waiting;
    private boolean isWarm;
    private boolean isOver;
    private long began;
    private long windowNanos;
    private long clientCpu;
    private long serverCpu;

    /** A part of the memory in which one operation at a time is outstanding. */
    private final class Place implements ChannelFutureListener {
        private final int index;
        private final ByteBuf message;
        private long since;
        private boolean isIdle = true;

        Place(int index) {
            this.index = index;
            message = kind.moves(bytes) && (kind == OneSidedKind.MESSAGE || kind == OneSidedKind.ECHO)
                ? channel.alloc().directBuffer(bytes).writeBytes(slice(index).asByteBuffer()) : null;
        }

        void begin(long now) {
            since = now;
            isIdle = false;
            underWay++;
            post(this, started++).addListener(this);
            channel.flush();
        }

        @Override
        public void operationComplete(ChannelFuture future) {
            if (!future.isSuccess()) {
                fail(future.cause());
            } else if (kind != OneSidedKind.ECHO) {
                ended(this);
            }
        }
    }

    /**
     * Creates a run.
     *
     * @param depth the maximum number of outstanding operations
     * @param processes measures the processor time of both ends
     */
    OneSidedRun(OneSidedConnection connection, OneSidedKind kind, int depth, Timing timing, ProcessTimes processes) {
        this.connection = connection;
        this.kind = kind;
        this.timing = timing;
        this.processes = processes;
        channel = connection.channel();
        memory = connection.local().memory();
        bytes = connection.size().bytes();
        places = new Place[depth];
        for (int i = 0; i < depth; i++) {
            places[i] = new Place(i);
        }
    }

    /** Returns the memory of all places. */
    MemorySegment memory() {
        return memory.asSlice(0, (long) bytes * places.length);
    }

    /** Returns the total number of operations. */
    long count() {
        return started;
    }

    /** Returns the checksum of the message that was sent last. */
    int lastSum() {
        return Pattern.checksum(MemorySegment.ofBuffer(places[lastPlace].message.nioBuffer()));
    }

    /** Returns how long a run takes at most, in nanoseconds, unless a single operation takes longer. */
    static long longestNanos(Timing timing) {
        return LONGEST * (timing.warmUpNanos() + timing.windowNanos());
    }

    /** Runs the operations and waits for the end of the run. */
    OneSidedFigure measure() throws IOException, InterruptedException {
        channel.eventLoop().execute(() -> {
            connection.run(this);
            began = System.nanoTime();
            start(began);
        });
        OneSidedConnection.await(done, longestNanos(timing));
        long operations = times.getTotalCount();
        return new OneSidedFigure(kind.key(), bytes, places.length, times.getValueAtPercentile(50) / 1e3,
            times.getValueAtPercentile(99) / 1e3, operations * 1e9 / windowNanos, clientCpu / 1e3 / operations,
            serverCpu / 1e3 / operations);
    }

    /** Releases the buffers of the messages. */
    void release() {
        for (Place place : places) {
            if (place.message != null) {
                place.message.release();
            }
        }
    }

    /** Ends the run with an error. */
    void fail(Throwable cause) {
        isOver = true;
        done.completeExceptionally(cause);
    }

    /** Handles a credit or an echo. Called on the event loop. */
    void received(ByteBuf buf) {
        if (kind != OneSidedKind.ECHO) {
            credited = buf.readLong();
            if (!isOver) {
                start(System.nanoTime());
            }
            return;
        }
        long number = buf.getLong(buf.readerIndex());
        Place place = places[0];
        if (buf.readableBytes() != bytes || number != started - 1) {
            fail(new IOException("message " + (started - 1) + " has come back as " + number + " with " + buf.readableBytes()
                + " bytes"));
            return;
        }
        if (isOverSoon() && !buf.equals(place.message)) {
            fail(new IOException("message " + number + " has come back with other content"));
            return;
        }
        ended(place);
    }

    /**
     * Returns whether this operation may be the last one. Only the content of such an operation is checked, because checking all
     * of them would dominate the measurement.
     */
    private boolean isOverSoon() {
        return isWarm && System.nanoTime() - began >= timing.windowNanos();
    }

    private ChannelFuture post(Place place, long number) {
        long offset = (long) place.index * bytes;
        lastPlace = place.index;
        if (kind != OneSidedKind.READ) {
            memory.set(ValueLayout.JAVA_LONG, offset, number);
        }
        switch (kind) {
            case READ -> {
                return channel.write(RpmaOperation.read(connection.remote(), offset, bytes, connection.local(), offset));
            }
            case WRITE_WITH_IMMEDIATE -> {
                return channel.write(RpmaOperation.writeWithImmediate(connection.local(), offset, bytes, connection.remote(),
                    offset, (int) number));
            }
            case WRITE -> {
                return channel.write(RpmaOperation.write(connection.local(), offset, bytes, connection.remote(), offset));
            }
            case FLUSH -> {
                channel.write(RpmaOperation.write(connection.local(), offset, bytes, connection.remote(), offset));
                return channel.write(RpmaOperation.flush(connection.remote(), offset, bytes, FlushType.VISIBILITY));
            }
            case ATOMIC_WRITE -> {
                return channel.write(RpmaOperation.atomicWrite(connection.remote(), offset, number));
            }
            case MESSAGE, ECHO -> {
                place.message.setLong(0, number);
                return channel.write(place.message.retainedDuplicate());
            }
            default -> throw new IllegalStateException("unknown: " + kind);
        }
    }

    private void ended(Place place) {
        long now = System.nanoTime();
        place.isIdle = true;
        underWay--;
        try {
            look(place, now);
        } catch (IOException e) {
            fail(e);
        }
        if (!isOver) {
            start(now);
        } else if (underWay == 0) {
            done.complete(null);
        }
    }

    private void look(Place place, long now) throws IOException {
        if (isOver) {
            return;
        }
        if (isWarm) {
            times.recordValue(now - place.since);
            long operations = times.getTotalCount();
            long passed = now - began;
            if (passed >= timing.windowNanos() && (operations >= FEWEST || passed >= LONGEST * timing.windowNanos())) {
                windowNanos = passed;
                clientCpu = processes.clientNanos() - clientCpu;
                serverCpu = processes.serverNanos() - serverCpu;
                isOver = true;
            }
        } else if (now - began >= timing.warmUpNanos()
                && (started >= WARM || now - began >= LONGEST * timing.warmUpNanos())) {
            clientCpu = processes.clientNanos();
            serverCpu = processes.serverNanos();
            isWarm = true;
            began = System.nanoTime();
        }
    }

    private void start(long now) {
        for (int i = 0; i < places.length; i++) {
            Place place = places[waiting];
            if (!place.isIdle || kind.takesReceive() && started - credited >= connection.size().messages()) {
                return;
            }
            waiting = waiting + 1 == places.length ? 0 : waiting + 1;
            place.begin(now);
        }
    }

    private MemorySegment slice(int index) {
        return memory.asSlice((long) index * bytes, bytes);
    }
}
