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

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import java.util.concurrent.TimeUnit;

/** A typical use of Vert.x: an HTTP server that echoes bodies, and its client. */
public final class VertxHttp {
    private static final int REQUESTS = 20;
    private static final int BYTES = 50_000;

    private VertxHttp() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        Vertx vertx = Vertx.vertx();
        HttpServer server = vertx.createHttpServer()
            .requestHandler(request -> request.body().onSuccess(body -> request.response().end(body)))
            .listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
        var client = vertx.createHttpClient();
        long sum = 0;
        for (int i = 0; i < REQUESTS; i++) {
            Buffer body = Buffer.buffer(("request " + i + ' ').repeat(BYTES / 12));
            // The body is requested on the event loop, as soon as the head of the response has been received. A main thread that
            // requests it may be too late, and would then get an empty body, over NIO as well.
            Buffer answer = client.request(HttpMethod.POST, server.actualPort(), "127.0.0.1", "/")
                .compose(request -> request.send(body).compose(response -> response.body()))
                .toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
            sum = sum * 31 + answer.hashCode();
        }
        System.out.println("result: sum " + sum);
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
}
