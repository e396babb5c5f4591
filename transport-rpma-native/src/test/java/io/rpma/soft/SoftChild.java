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
package io.rpma.soft;

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RegionDescriptor;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.shared.EventPipe;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The other process of the tests: a client that executes the task in its arguments with a port of the loopback address. It prints
 * a line when it is ready, and further lines that depend on the task. It ends when its standard input requests it, or by itself.
 */
final class SoftChild {
    private static final int SIGKILL = 9;
    private static final int SIGSTOP = 19;
    static final int SIGCONT = 18;
    private static final MethodHandle KILL = Posix.downcall("kill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

    private final Station station;
    private final int port;
    private final String[] arguments;
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));

    private SoftChild(String[] arguments) throws RpmaException {
        this.station = new Station();
        this.arguments = arguments;
        port = Integer.parseInt(arguments[1]);
    }

    /** Runs a task. */
    public static void main(String[] arguments) throws Exception {
        SoftChild child = new SoftChild(arguments);
        switch (arguments[0]) {
            case "stream" -> child.stream();
            case "streams" -> child.streams();
            case "die" -> child.die();
            case "request" -> child.request();
            case "idle" -> child.idle();
            case "stall" -> child.stall();
            case "receives" -> child.receives();
            case "early" -> child.early();
            case "shared" -> child.shared();
            case "doorbells" -> child.doorbells();
            case "write" -> child.write();
            case "offer" -> child.offer();
            case "regions" -> child.regions();
            case "flood" -> child.flood();
            case "reconnect" -> child.reconnect();
            case "many" -> child.many();
            case "hold" -> child.hold();
            case "connect" -> child.connect();
            case "interleave" -> child.interleave();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    /** Runs the methods that its input names: {@code interleave}. */
    private void interleave() throws Exception {
        say("ready");
        String name = input.readLine();
        while (name != null) {
            say(Interleavings.run(name));
            name = input.readLine();
        }
    }

    private void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void signal(int number) {
        signal(ProcessHandle.current().pid(), number);
    }

    /** Sends a signal to a process. */
    static void signal(long pid, int number) {
        try {
            int ignored = (int) KILL.invokeExact((int) pid, number);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    private ConnectionConfig config() throws RpmaException {
        return station.provider.newConnectionConfig().sendQueueSize(64).completionQueueSize(128).receiveQueueSize(16);
    }

    /** Sends numbered, checksummed messages: {@code stream PORT COUNT WAITING}. */
    private void stream() throws Exception {
        int count = Integer.parseInt(arguments[2]);
        Station.Waiting waiting = Station.Waiting.valueOf(arguments[3]);
        Connection connection = station.connect(port, config(), 0);
        say("ready");
        send(connection, 0, count, waiting);
        say("done");
        input.readLine();
    }

    private void send(Connection connection, int id, int count, Station.Waiting waiting) throws RpmaException {
        WorkCompletions batch = new WorkCompletions(16);
        CompletionQueue queue = connection.completionQueue();
        int free = 32;
        for (int i = 0; i < count; i++) {
            if (free == 0) {
                int done = Station.await(queue, batch, waiting);
                for (int k = 0; k < done; k++) {
                    check(batch, k);
                    free += 16;
                }
            }
            free--;
            long offset = 4096L * (1 + i % 64);
            Numbered.write(station.memory, offset, id, i);
            connection.send(station.region, offset, Numbered.length(i),
                i % 16 == 15 || i == count - 1 ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, i);
        }
        long last = -1;
        while (last != count - 1) {
            int done = Station.await(queue, batch, waiting);
            for (int k = 0; k < done; k++) {
                check(batch, k);
                last = batch.context(k);
            }
        }
    }

    private static void check(WorkCompletions batch, int index) {
        if (batch.statusCode(index) != 0) {
            throw new AssertionError("message " + batch.context(index) + ": " + batch.status(index));
        }
    }

    /** Sends over several connections, each with its own thread: {@code streams PORT COUNT WAITING CONNECTIONS}. */
    private void streams() throws Exception {
        int count = Integer.parseInt(arguments[2]);
        Station.Waiting waiting = Station.Waiting.valueOf(arguments[3]);
        int connections = Integer.parseInt(arguments[4]);
        int base = Integer.parseInt(arguments[5]);
        Thread[] threads = new Thread[connections];
        AtomicInteger failures = new AtomicInteger();
        for (int i = 0; i < connections; i++) {
            int id = base + i;
            threads[i] = new Thread(() -> {
                try (Station own = new Station()) {
                    ByteBuffer data = ByteBuffer.allocate(4).putInt(id).flip();
                    ConnectionRequest request = own.peer.newConnectionRequest(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), config());
                    try (Connection connection = request.connect(data)) {
                        Station.expect(io.rpma.ConnectionEvent.ESTABLISHED, connection);
                        new Sender(own).send(connection, id, count, waiting);
                    }
                } catch (RpmaException | RuntimeException | AssertionError e) {
                    // The failure is printed at once, because the test waits for messages that will not arrive.
                    e.printStackTrace();
                    failures.incrementAndGet();
                }
            });
        }
        say("ready");
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        say(failures.get() == 0 ? "done" : "failed");
        input.readLine();
    }

    /** Sends with the memory of another station. */
    private static final class Sender {
        private final Station own;

        Sender(Station own) {
            this.own = own;
        }

        void send(Connection connection, int id, int count, Station.Waiting waiting) throws RpmaException {
            WorkCompletions batch = new WorkCompletions(16);
            for (int i = 0; i < count; i++) {
                long offset = 4096L * (i % 64);
                Numbered.write(own.memory, offset, id, i);
                connection.send(own.region, offset, Numbered.length(i), CompletionFlag.ALWAYS, i);
                if (i % 16 == 15 || i == count - 1) {
                    int left = i % 16 + 1;
                    while (left > 0) {
                        int done = Station.await(connection.completionQueue(), batch, waiting);
                        for (int k = 0; k < done; k++) {
                            check(batch, k);
                        }
                        left -= done;
                    }
                }
            }
        }
    }

    /** Dies or stops at a place in the n-th message: {@code die PORT PLACE COUNT kill|stop}. */
    private void die() throws Exception {
        String place = arguments[2];
        AtomicInteger left = new AtomicInteger(Integer.parseInt(arguments[3]));
        int signal = arguments[4].equals("kill") ? SIGKILL : SIGSTOP;
        Connection connection = station.connect(port, config(), 0);
        say("ready");
        Faults.hook(reached -> {
            if (reached.equals(place) && left.decrementAndGet() == 0) {
                signal(signal);
                // Another thread may receive the signal; this thread must not continue.
                while (true) {
                    Station.pause();
                }
            }
        });
        for (int i = 0;; i++) {
            connection.send(station.region, 0, 64, CompletionFlag.ALWAYS, i);
            Station.expect(connection.completionQueue(), i, 0);
        }
    }

    /**
     * Sends a megabyte of the value 7, or writes it to a region, and stops itself at a place of the operation: {@code hold PORT
     * PLACE [DESCRIPTOR]}. When it is continued and receives a line, it goes on. It answers with the status of the work request.
     */
    private void hold() throws Exception {
        String place = arguments[2];
        RemoteMemoryRegion target = arguments.length > 3 ? remote(arguments[3]) : null;
        AtomicInteger left = new AtomicInteger(1);
        Connection connection = station.connect(port, config(), 0);
        station.memory.asSlice(0, 1 << 20).fill((byte) 7);
        say("ready");
        Faults.hook(reached -> {
            if (reached.equals(place) && left.decrementAndGet() == 0) {
                signal(SIGSTOP);
                try {
                    // Another thread may receive the signal; this thread must not continue before it receives a line.
                    input.readLine();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        if (target == null) {
            connection.send(station.region, 0, 1 << 20, CompletionFlag.ALWAYS, 1);
        } else {
            connection.write(target, 0, station.region, 0, 1 << 20, CompletionFlag.ALWAYS, 1);
        }
        WorkCompletions one = new WorkCompletions(1);
        Station.await(connection.completionQueue(), one, Station.Waiting.BLOCKING);
        say(one.status(0).name());
        input.readLine();
    }

    /** Connects once for each input line, and prints the result: {@code connect PORT}. */
    private void connect() throws Exception {
        say("ready");
        while (input.readLine() != null) {
            ConnectionRequest request = station.peer.newConnectionRequest(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port), config());
            say(Station.awaitEvent(request.connect(null)).name());
        }
    }

    /** Requests a connection and waits: {@code request PORT}. */
    private void request() throws Exception {
        ConnectionRequest request = station.peer.newConnectionRequest(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port), config());
        try (Connection connection = request.connect(null)) {
            say("ready");
            input.readLine();
            say(String.valueOf(connection.nextEvent()));
            input.readLine();
        }
    }

    /** Connects and waits: {@code idle PORT}. */
    private void idle() throws Exception {
        Connection connection = station.connect(port, config(), 4);
        say("ready");
        input.readLine();
        connection.close();
    }

    /** Repeatedly connects, sends one message and closes: {@code reconnect PORT COUNT}. */
    private void reconnect() throws Exception {
        int count = Integer.parseInt(arguments[2]);
        for (int i = 0; i < count; i++) {
            try (Connection connection = station.connect(port, config(), 4)) {
                connection.send(station.region, 0, 64, CompletionFlag.ALWAYS, i);
                Station.expect(connection.completionQueue(), i, 0);
                Station.expect(io.rpma.ConnectionEvent.CLOSED, connection);
            }
        }
        say("done");
    }

    /** Opens connections and sends over each of them in turn, twice: {@code many PORT COUNT}. */
    private void many() throws Exception {
        Connection[] connections = new Connection[Integer.parseInt(arguments[2])];
        for (int i = 0; i < connections.length; i++) {
            connections[i] = station.connect(port, config(), 4);
        }
        for (int i = 0; i < 2 * connections.length; i++) {
            Connection connection = connections[i % connections.length];
            connection.send(station.region, 0, 64, CompletionFlag.ALWAYS, i);
            Station.expect(connection.completionQueue(), i, 0);
        }
        say("done");
        input.readLine();
    }

    /** Sends while no receive is posted, and sleeps until the message has arrived: {@code stall PORT}. */
    private void stall() throws Exception {
        try (Connection connection = station.connect(port, config(), 0)) {
            connection.send(station.region, 0, 64, CompletionFlag.ALWAYS, 5);
            connection.send(station.region, 0, 32, CompletionFlag.ALWAYS, 6);
            say("ready");
            Station.expect(connection.completionQueue(), 5, 0);
            Station.expect(connection.completionQueue(), 6, 0);
            say("done");
            input.readLine();
        }
    }

    /** Posts a receive on each order, and waits for a message. It takes no connection events: {@code receives PORT}. */
    private void receives() throws Exception {
        Connection connection = station.connect(port, config(), 0);
        say("ready");
        while (input.readLine() != null) {
            connection.receive(station.region, 0, 64, 1);
            say("posted");
            Station.expect(connection.completionQueue(), 1, 0);
            say("received");
        }
    }

    /** Requests the descriptor of its completion queue before it is connected, and waits for a completion by it. */
    private void early() throws Exception {
        try (SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(null);
            Connection connection = station.peer.newConnectionRequest(new InetSocketAddress(InetAddress.getLoopbackAddress(),
                port), config().sharedReceiveQueue(shared)).connect(null)) {
            connection.completionQueue().fd();
            Station.expect(ConnectionEvent.ESTABLISHED, connection);
            connection.send(station.region, 0, 64, CompletionFlag.ALWAYS, 1);
            say("waits");
            Station.expect(connection.completionQueue(), 1, 0);
            say("sent");
            input.readLine();
        }
    }

    /** Opens connections that share their receives, and waits: {@code shared PORT CONNECTIONS}. */
    private void shared() throws Exception {
        SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(null);
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            connections.add(station.connect(port, config().sharedReceiveQueue(queue), 0));
        }
        input.readLine();
    }

    /** Violates the protocol of doorbells: {@code doorbells PORT KIND}. */
    private void doorbells() throws Exception {
        boolean second = arguments[2].equals("second");
        try (SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(null);
            Connection connection = station.connect(port, second ? config().sharedReceiveQueue(shared) : config(), 0)) {
            ControlMessage message = ControlMessage.of(ControlMessage.DOORBELL);
            EventPipe pipe = EventPipe.create();
            if (!arguments[2].equals("none")) {
                message.attach(ControlMessage.EVENT, 0, 0, pipe.openForPeer());
            }
            if (second) {
                connection.completionQueue().fd();
            }
            message.send(connection.eventFd());
            say("sent");
            input.readLine();
        }
    }

    private RemoteMemoryRegion remote(String hex) throws RpmaException {
        return station.provider.openRemoteRegion(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
    }

    /** Writes to the peer's region until it is refused: {@code write PORT DESCRIPTOR LENGTH}. */
    private void write() throws Exception {
        RemoteMemoryRegion target = remote(arguments[2]);
        int length = Integer.parseInt(arguments[3]);
        Connection connection = station.connect(port, config(), 0);
        say("ready");
        WorkCompletions one = new WorkCompletions(1);
        byte value = 0;
        while (true) {
            station.memory.asSlice(0, length).fill(++value);
            connection.write(target, 0, station.region, 0, length, CompletionFlag.ALWAYS, 1);
            Station.await(connection.completionQueue(), one, Station.Waiting.SPINNING);
            if (one.statusCode(0) != 0) {
                say(one.status(0).name());
                input.readLine();
                return;
            }
        }
    }

    /** Sends as fast as possible until a send fails: {@code flood PORT LENGTH}. */
    private void flood() throws Exception {
        int length = Integer.parseInt(arguments[2]);
        Connection connection = station.connect(port, config(), 0);
        say("ready");
        WorkCompletions one = new WorkCompletions(1);
        byte value = 0;
        while (true) {
            station.memory.asSlice(0, length).fill(++value);
            connection.send(station.region, 0, length, CompletionFlag.ALWAYS, 1);
            Station.await(connection.completionQueue(), one, Station.Waiting.SPINNING);
            if (one.statusCode(0) != CompletionStatus.SUCCESS.code()) {
                say(one.status(0).name());
                input.readLine();
                return;
            }
        }
    }

    /**
     * Offers memory: {@code offer PORT}. It answers each command with a descriptor: {@code range} for further memory of the kind
     * that peers can map, {@code foreign} for memory of another kind. {@code check OFFSET LENGTH VALUE} prints whether the last
     * offered memory contains a value, and {@code drop} releases the last offered memory.
     */
    private void offer() throws Exception {
        try (Connection connection = station.connect(port, config(), 0); Arena arena = Arena.ofShared()) {
            say("ready");
            LocalMemoryRegion offered = null;
            AddressRange range = null;
            String command = input.readLine();
            while (command != null && !command.equals("end")) {
                String[] words = command.split(" ");
                switch (words[0]) {
                    case "range", "foreign" -> {
                        range = words[0].equals("range") ? station.provider.reserve(1 << 20) : null;
                        MemorySegment memory = range != null ? range.commit(0, 1 << 20) : arena.allocate(1 << 20, 8);
                        for (int i = 0; i < 1 << 20; i++) {
                            memory.set(JAVA_BYTE, i, (byte) (i * 7));
                        }
                        offered = station.peer.register(memory, Station.ALL);
                        ByteBuffer descriptor = ByteBuffer.allocate(offered.descriptorSize());
                        offered.descriptor(descriptor);
                        say(HexFormat.of().formatHex(descriptor.array()));
                    }
                    case "receive" -> {
                        connection.receive(offered, 0, 1 << 20, 9);
                        say("posted");
                    }
                    case "received" -> {
                        Station.expect(connection.completionQueue(), 9, 0);
                        say("received");
                    }
                    case "check" -> {
                        long value = offered.memory().get(JAVA_LONG, Long.parseLong(words[1]));
                        say(Long.toHexString(value));
                    }
                    case "drop" -> {
                        offered.close();
                        if (range != null) {
                            range.close();
                        }
                        say("dropped");
                    }
                    default -> throw new IllegalArgumentException(command);
                }
                command = input.readLine();
            }
        }
    }

    /**
     * Offers many regions, each in its own address range: {@code regions PORT COUNT BYTES before|while}. They are registered
     * before the connection is requested, or after the order {@code register}, which it answers with {@code registered}. Further
     * orders are {@code descriptor INDEX}, {@code check INDEX}, which prints the first word of a region, {@code events}, which
     * prints the connection's next event, {@code drop}, which releases all regions, and {@code churn COUNT}, which registers and
     * releases one region after another.
     */
    private void regions() throws Exception {
        int count = Integer.parseInt(arguments[2]);
        long bytes = Long.parseLong(arguments[3]);
        List<AddressRange> ranges = new ArrayList<>();
        List<LocalMemoryRegion> regions = new ArrayList<>();
        boolean before = arguments[4].equals("before");
        if (before) {
            register(count, bytes, ranges, regions);
        }
        try (Connection connection = station.connect(port, config(), 0)) {
            say("ready");
            String command = input.readLine();
            while (command != null && !command.equals("end")) {
                String[] words = command.split(" ");
                int index = words.length > 1 ? Integer.parseInt(words[1]) : 0;
                switch (words[0]) {
                    case "register" -> {
                        if (!before) {
                            register(count, bytes, ranges, regions);
                        }
                        say("registered");
                    }
                    case "descriptor" -> {
                        ByteBuffer descriptor = ByteBuffer.allocate(RegionDescriptor.BYTES);
                        regions.get(index).descriptor(descriptor);
                        say(HexFormat.of().formatHex(descriptor.array()));
                    }
                    case "check" -> say(Long.toString(regions.get(index).memory().get(JAVA_LONG, 0)));
                    case "events" -> say(String.valueOf(connection.nextEvent()));
                    case "churn" -> {
                        for (int i = 0; i < index; i++) {
                            try (AddressRange range = station.provider.reserve(bytes)) {
                                station.peer.register(range.commit(0, Posix.PAGE_SIZE), Station.ALL).close();
                            }
                        }
                        say("churned");
                    }
                    case "drop" -> {
                        for (int i = 0; i < count; i++) {
                            regions.get(i).close();
                            ranges.get(i).close();
                        }
                        say("dropped");
                    }
                    default -> throw new IllegalArgumentException(command);
                }
                command = input.readLine();
            }
        }
    }

    private void register(int count, long bytes, List<AddressRange> ranges, List<LocalMemoryRegion> regions)
            throws RpmaException {
        for (int i = 0; i < count; i++) {
            AddressRange range = station.provider.reserve(bytes);
            ranges.add(range);
            MemorySegment memory = range.commit(0, Posix.PAGE_SIZE);
            memory.set(JAVA_LONG, 0, i);
            regions.add(station.peer.register(memory, Station.ALL));
        }
    }
}
