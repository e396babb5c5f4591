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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that options with which an example cannot run are refused before it starts. */
@Timeout(60)
class WrongOptionsTest {
    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', value = {
        "http --requests=0,--requests,'0' is not a number from 1 to 1000000000",
        "http2-tls --at-once=-1,--at-once,'-1' is not a number",
        "http2-tls --at-once=101,--at-once 101,at most 100",
        "http2-tls --tls=none,--tls,'none'",
        "websocket --clients=many,--clients,'many' is not a number",
        "protobuf --requests=1000000001,--requests,'1000000001' is not a number",
        "redis --pipeline=0,--pipeline,'0' is not a number",
        "grpc --calls=1.5,--calls,'1.5' is not a number",
        "grpc --large=33MiB,--large 33MiB,at most 32MiB",
        "file-server --bytes=0,--bytes,'0' is out of range",
        "file-server --port=65536,--port 65536,from 1 to 65535",
        "file-server --serve=/nowhere,--serve /nowhere,there is no such directory",
        "tcp-proxy --requests=0,--requests,'0' is not a number",
        "tcp-proxy --from=tcp:127.0.0.1:0,Missing required argument(s),--to=END",
        "tcp-proxy --from=127.0.0.1:80 --to=tcp:127.0.0.1:80,--from,'127.0.0.1:80' is not tcp:HOST:PORT or rpma:HOST:PORT",
        "tcp-proxy --from=tcp:127.0.0.1:0 --to=udp:127.0.0.1:80,--to,'udp:127.0.0.1:80' is not",
        "tcp-proxy --from=tcp:127.0.0.1:65536 --to=tcp:127.0.0.1:80,--from,'tcp:127.0.0.1:65536' is not",
        "tcp-proxy --from=tcp::0 --to=tcp:127.0.0.1:80,--from,'tcp::0' is not tcp:HOST:PORT or rpma:HOST:PORT",
        "tcp-proxy --from=tcp:127.0.0.1:0 --to=rpma::80,--to,'rpma::80' is not",
        "tcp-proxy --from=tcp:127.0.0.1:0 --to=rpma:127.0.0.1:0,--to rpma:127.0.0.1:0,the target's port is needed",
        "echo --server --host=,--host,the name is unknown",
        "tcp-proxy --from=tcp:127.0.0.1 --to=tcp:127.0.0.1:80,--from,'tcp:127.0.0.1' is not"})
    void aWrongOptionIsNamed(String words, String option, String why) {
        StringWriter error = new StringWriter();
        String[] arguments = words.split(" ");
        assertEquals(2, Examples.commandLine(arguments).setErr(new PrintWriter(error)).execute(arguments));
        assertTrue(error.toString().contains(option), error::toString);
        assertTrue(error.toString().contains(why), error::toString);
    }
}
