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

import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A process that listens or connects, in the namespaces and as the user with which it has been started. {@code serve ADDRESS
 * PORT} prints the port that it listens on, and then for each client its address and the number of other processes that it shares
 * memory with. {@code connect ADDRESS PORT COUNT} makes the given number of connections. Each of them writes to the other
 * process's memory, reads it, and exchanges a message. When all of them exist, it prints how many processes it shares memory
 * with. A failure is printed as {@code errno NUMBER MESSAGE}, or as {@code unavailable MESSAGE} if there is no provider. For each
 * line of input, the program starts again after a failure. Both end when their input ends.
 */
final class FolderChild {
    private static final int MESSAGE = 64;
    private static final long REPLY = 1 << 20;
    private static final Semaphore LINES = new Semaphore(0);

    private final Station station = new Station();
    private final List<Connection> connections = new ArrayList<>();

    private FolderChild() throws RpmaException {
    }

    /** Executes what the arguments request. */
    public static void main(String[] arguments) throws Exception {
        // The process ends with the test, even if its main thread is waiting for a client.
        Thread.ofPlatform().daemon().start(FolderChild::endWithInput);
        while (!succeeds(arguments)) {
            LINES.acquire();
        }
        Thread.currentThread().join();
    }

    private static boolean succeeds(String[] arguments) {
        try {
            FolderChild child = new FolderChild();
            InetSocketAddress address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
            if (arguments[0].equals("serve")) {
                child.serve(address);
            } else {
                child.connect(address, Integer.parseInt(arguments[3]));
            }
            return true;
        } catch (RpmaException e) {
            say("errno " + e.errno() + ' ' + e.getMessage());
        } catch (RpmaUnavailableException e) {
            say("unavailable " + e.getMessage());
        }
        return false;
    }

    private static void endWithInput() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            while (input.readLine() != null) {
                LINES.release();
            }
        } catch (java.io.IOException e) {
            // The other process has ended.
            System.exit(1);
        }
        System.exit(0);
    }

    private static void say(String line) {
        System.out.println(line.replace('\n', ' '));
        System.out.flush();
    }

    private String processes() {
        return String.valueOf(((SoftProvider) station.provider).process().remotes().count());
    }

    private void serve(InetSocketAddress address) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(station.region.descriptorSize());
        station.region.descriptor(descriptor);
        descriptor.flip();
        try (Endpoint endpoint = station.peer.listen(address)) {
            say(String.valueOf(endpoint.localAddress().getPort()));
            while (true) {
                ConnectionRequest request = Station.awaitRequest(endpoint, null);
                String client = request.remoteAddress().getAddress().getHostAddress();
                request.receive(station.region, 0, MESSAGE, 1);
                Connection connection = request.connect(descriptor.duplicate());
                connections.add(connection);
                ConnectionEvent event = Station.awaitEvent(connection);
                if (event != ConnectionEvent.ESTABLISHED) {
                    say(event.toString());
                    continue;
                }
                Station.expect(connection.completionQueue(), 1, 0);
                connection.send(station.region, 0, MESSAGE, CompletionFlag.ALWAYS, 2);
                Station.expect(connection.completionQueue(), 2, 0);
                say(client + ' ' + processes());
            }
        }
    }

    private void connect(InetSocketAddress address, int count) throws RpmaException {
        for (int i = 0; i < count; i++) {
            ConnectionRequest request = station.peer.newConnectionRequest(address, null);
            request.receive(station.region, REPLY, MESSAGE, 1);
            Connection connection = request.connect(null);
            connections.add(connection);
            ConnectionEvent event = Station.awaitEvent(connection);
            if (event != ConnectionEvent.ESTABLISHED) {
                say(event.toString());
                return;
            }
            exchange(connection, System.nanoTime() ^ ProcessHandle.current().pid());
        }
        say("done " + processes());
    }

    private void exchange(Connection connection, long value) throws RpmaException {
        // The rest of the private data is padding.
        RemoteMemoryRegion remote =
            station.provider.openRemoteRegion(connection.privateData().limit(station.region.descriptorSize()));
        station.memory.set(JAVA_LONG, 0, value);
        connection.write(remote, REPLY, station.region, 0, 8, CompletionFlag.ALWAYS, 2);
        Station.expect(connection.completionQueue(), 2, 0);
        connection.read(station.region, 8, remote, REPLY, 8, CompletionFlag.ALWAYS, 3);
        Station.expect(connection.completionQueue(), 3, 0);
        check(value, station.memory.get(JAVA_LONG, 8));
        connection.send(station.region, 0, MESSAGE, CompletionFlag.ALWAYS, 4);
        Station.expect(connection.completionQueue(), 4, 0);
        Station.expect(connection.completionQueue(), 1, 0);
        check(value, station.memory.get(JAVA_LONG, REPLY));
    }

    private static void check(long expected, long found) {
        if (expected != found) {
            throw new AssertionError("expected " + expected + ", but found " + found);
        }
    }
}
