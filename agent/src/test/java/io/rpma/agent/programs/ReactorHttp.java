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

import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** A typical use of Reactor Netty: an HTTP server that echoes bodies, and its client. */
public final class ReactorHttp {
    private static final int REQUESTS = 20;
    private static final int BYTES = 50_000;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private ReactorHttp() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) {
        DisposableServer server = HttpServer.create().host("127.0.0.1").port(0)
            .route(routes -> routes.post("/echo", (request, response) -> response.send(request.receive().retain())))
            .bindNow(LIMIT);
        // The host is a name, so that it is resolved.
        HttpClient client = HttpClient.create().host("localhost").port(server.port());
        long sum = 0;
        for (int i = 0; i < REQUESTS; i++) {
            String body = ("request " + i + ' ').repeat(BYTES / 12);
            String answer = client.post().uri("/echo").send(ByteBufFlux.fromString(Mono.just(body)))
                .responseContent().aggregate().asString().block(LIMIT);
            sum = sum * 31 + answer.hashCode();
        }
        System.out.println("result: sum " + sum);
        server.disposeNow(LIMIT);
    }
}
