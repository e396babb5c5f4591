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

package io.rpma.agent.programs;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A server and a client of Vert.x that use a domain socket of NIO. Vert.x finds the handler of an accepted channel by the event
 * loop of the channel.
 */
public final class VertxDomainSockets {
    private static final int BYTES = 50_000;

    private VertxDomainSockets() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("vertx");
        SocketAddress address = SocketAddress.domainSocketAddress(folder.resolve("socket").toString());
        Vertx vertx = Vertx.vertx();
        NetServer server = get(vertx.createNetServer().connectHandler(socket -> socket.handler(socket::write)).listen(address));
        NetSocket client = get(vertx.createNetClient().connect(address));
        Promise<Void> echo = Promise.promise();
        int[] received = {0};
        client.handler(buffer -> {
            received[0] += buffer.length();
            if (received[0] == BYTES) {
                echo.complete();
            }
        });
        client.closeHandler(end -> echo.tryFail("closed after " + received[0] + " bytes"));
        client.write("x".repeat(BYTES));
        get(echo.future());
        get(client.close());
        get(server.close());
        get(vertx.close());
        Files.deleteIfExists(folder.resolve("socket"));
        Files.delete(folder);
        System.out.println("result: received " + received[0]);
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
}
