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

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Netty's file regions over RPMA channels. */
@Timeout(120)
class FileServerExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private final FileServerExample.Client client = new FileServerExample.Client();
    private Path root;
    private Channel server;
    private Channel connection;

    @BeforeEach
    void connect(@TempDir Path directory) throws Exception {
        root = Files.createDirectory(directory.resolve("served"));
        Files.writeString(directory.resolve("secret"), "not to be served");
        server = FileServerExample.startServer(group, new InetSocketAddress("127.0.0.1", 0), root);
        connection = FileServerExample.connect(group, (InetSocketAddress) server.localAddress(), client);
    }

    @AfterEach
    void close() throws Exception {
        connection.close().sync();
        server.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private FileServerExample.Download fetch(String path, String range) throws Exception {
        return client.fetch(path, range).get(60, TimeUnit.SECONDS);
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("file-server", "--bytes", "2MiB").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("fetched=2097152 bytes");
        run.has("checksum=[0-9a-f]{8} match");
        run.has("range=1 byte, 206 Partial Content");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 16_384, 65_537, 5_000_000})
    void aWholeFile(long size) throws Exception {
        long checksum = FileServerExample.writeRandom(root.resolve("file"), size);
        FileServerExample.Download whole = fetch("/file", null);
        assertEquals(HttpResponseStatus.OK, whole.status);
        assertEquals(size, whole.bytes);
        assertEquals(checksum, whole.checksum());
    }

    @ParameterizedTest
    @CsvSource({"bytes=0-0,0,1", "bytes=0-99999,0,100000", "bytes=70000-80000,70000,80001", "bytes=99999-,99999,100000",
        "bytes=-100,99900,100000", "bytes=5-999999999,5,100000", "bytes=-999999999,0,100000"})
    void aRange(String range, int from, int to) throws Exception {
        FileServerExample.writeRandom(root.resolve("file"), 100_000);
        CRC32C checksum = new CRC32C();
        checksum.update(Files.readAllBytes(root.resolve("file")), from, to - from);
        FileServerExample.Download part = fetch("/file", range);
        assertEquals(HttpResponseStatus.PARTIAL_CONTENT, part.status);
        assertEquals(to - from, part.bytes);
        assertEquals(checksum.getValue(), part.checksum());
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=100-", "bytes=200-300", "bytes=9-5"})
    void aRangeThatIsNotThere(String range) throws Exception {
        FileServerExample.writeRandom(root.resolve("file"), 100);
        assertEquals(HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE, fetch("/file", range).status);
        assertEquals(100, fetch("/file", null).bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/none", "/", "/../secret", "/%2e%2e/secret", "//etc/passwd", "/link", "/%00"})
    void whatIsNotBelowTheDirectoryIsNotThere(String path) throws Exception {
        Files.createSymbolicLink(root.resolve("link"), root.resolveSibling("secret"));
        FileServerExample.Download refused = fetch(path, null);
        assertEquals(HttpResponseStatus.NOT_FOUND, refused.status);
        assertEquals(0, refused.bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/%zz", "/%", "/file%2"})
    void aMalformedNameIsRefusedAndTheConnectionStays(String path) throws Exception {
        FileServerExample.writeRandom(root.resolve("file"), 100);
        FileServerExample.Download refused = fetch(path, null);
        assertEquals(HttpResponseStatus.BAD_REQUEST, refused.status);
        assertEquals(0, refused.bytes);
        assertEquals(100, fetch("/file", null).bytes);
    }
}
