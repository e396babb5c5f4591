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

import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.server.Server;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A typical use of Armeria: an HTTP server that echoes bodies, and its client, over HTTP/2 without TLS. */
public final class ArmeriaHttp {
    private static final int REQUESTS = 20;
    private static final int BYTES = 50_000;

    private ArmeriaHttp() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        Server server = Server.builder().http(new InetSocketAddress("127.0.0.1", 0))
            .service("/echo", (context, request) -> HttpResponse.of(request.aggregate()
                .thenApply(body -> HttpResponse.of(MediaType.PLAIN_TEXT_UTF_8, body.contentUtf8()))))
            .build();
        server.start().get(30, TimeUnit.SECONDS);
        WebClient client = WebClient.of("http://127.0.0.1:" + server.activeLocalPort());
        long sum = 0;
        for (int i = 0; i < REQUESTS; i++) {
            String body = ("request " + i + ' ').repeat(BYTES / 12);
            sum = sum * 31 + client.post("/echo", body).aggregate().get(30, TimeUnit.SECONDS).contentUtf8().hashCode();
        }
        System.out.println("result: sum " + sum);
        server.stop().get(30, TimeUnit.SECONDS);
        client.options().factory().close();
    }
}
