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

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the cache: its table, and clients that read it while it is changed. */
@Timeout(120)
class MemoryCacheTest {
    private EventLoopGroup group;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String find(ByteBuffer table, String key) {
        long bucket = CacheTable.bucket(bytes(key), table.capacity() / CacheTable.BUCKET_BYTES);
        ByteBuffer copy = ByteBuffer.allocate(CacheTable.BUCKET_BYTES)
            .put(table.slice((int) bucket * CacheTable.BUCKET_BYTES, CacheTable.BUCKET_BYTES)).flip();
        CacheTable.Answer answer = CacheTable.find(copy, bytes(key));
        return answer == CacheTable.Answer.FOUND ? StandardCharsets.UTF_8.decode(copy).toString() : answer.toString();
    }

    @Test
    void entriesAreFoundChangedAndForgotten() {
        ByteBuffer memory = ByteBuffer.allocate(CacheTable.BUCKET_BYTES);
        CacheTable table = new CacheTable(memory);
        assertEquals("ABSENT", find(memory, "a"));
        for (String key : List.of("a", "b", "c", "d")) {
            table.put(bytes(key), ByteBuffer.wrap(bytes("value of " + key)));
        }
        table.put(bytes("a"), ByteBuffer.wrap(bytes("")));
        assertEquals("", find(memory, "a"));
        assertEquals("value of b", find(memory, "b"));
        // The bucket is full, and the entry b was written longest ago.
        table.put(bytes("e"), ByteBuffer.wrap(bytes("value of e")));
        assertEquals("ABSENT", find(memory, "b"));
        assertEquals("value of e", find(memory, "e"));
        assertEquals("value of c", find(memory, "c"));
        assertThrows(IllegalArgumentException.class, () -> table.put(bytes(""), ByteBuffer.allocate(1)));
        ByteBuffer tooLong = ByteBuffer.allocate(CacheTable.MAX_ENTRY_BYTES);
        assertThrows(IllegalArgumentException.class, () -> table.put(bytes("k"), tooLong));
        assertThrows(IllegalArgumentException.class, () -> new CacheTable(ByteBuffer.allocate(3 * CacheTable.BUCKET_BYTES)));
    }

    @Test
    void aTornSlotIsSeen() {
        ByteBuffer memory = ByteBuffer.allocate(CacheTable.BUCKET_BYTES);
        CacheTable table = new CacheTable(memory);
        table.put(bytes("key"), ByteBuffer.wrap(bytes("some value")));
        for (int at = 0; at < 16 + 3 + 10; at++) {
            memory.put(at, (byte) (memory.get(at) ^ 0x55));
            assertEquals("TORN", find(memory, "key"), "byte " + at);
            memory.put(at, (byte) (memory.get(at) ^ 0x55));
        }
        assertEquals("some value", find(memory, "key"));
    }

    @Test
    void whatWasPutIsRead() throws Exception {
        try (CacheServer server = new CacheServer(new InetSocketAddress("127.0.0.1", 0), 64);
                CacheClient client = new CacheClient(group, server.address());
                CacheClient other = new CacheClient(group, server.address())) {
            assertNull(client.get(bytes("key")));
            client.put(bytes("key"), bytes("one"));
            client.settle();
            assertArrayEquals(bytes("one"), other.get(bytes("key")));
            other.put(bytes("key"), bytes("two"));
            other.settle();
            assertArrayEquals(bytes("two"), client.get(bytes("key")));
            assertThrows(IllegalArgumentException.class, () -> client.put(new byte[0], new byte[1]));
            assertThrows(IllegalArgumentException.class, () -> client.put(new byte[1], new byte[CacheTable.MAX_ENTRY_BYTES]));
            // A message that is not a valid put ends its own connection.
            other.channel().writeAndFlush(Unpooled.copyShort(500)).sync();
            assertTrue(other.channel().closeFuture().await(30, TimeUnit.SECONDS));
            assertThrows(IOException.class, () -> {
                other.put(bytes("key"), bytes("three"));
                other.settle();
            });
            assertArrayEquals(bytes("two"), client.get(bytes("key")));
        }
    }

    /**
     * The server is another process. One client continuously changes a few values, and another one reads them. It never reads a
     * torn value, or an older one than before.
     */
    @Test
    void aReaderSeesWholeValuesOnly() throws Exception {
        try (ServerProcess server = new ServerProcess(List.of("memory-cache", "--serve", "4", "--provider",
                Rpma.provider().name())); CacheClient reader = new CacheClient(group, server.address())) {
            AtomicBoolean enough = new AtomicBoolean();
            CompletableFuture<Long> writing = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                try (CacheClient writer = new CacheClient(group, server.address())) {
                    long version = 0;
                    while (!enough.get()) {
                        version++;
                        for (int key = 0; key < 4; key++) {
                            writer.put(MemoryCacheExample.key(key), MemoryCacheExample.value(key, version));
                        }
                    }
                    writer.settle();
                    writing.complete(version);
                } catch (Throwable e) {
                    writing.completeExceptionally(e);
                }
            });
            long[] seen = new long[4];
            for (int i = 0; i < 4000; i++) {
                int key = i % 4;
                byte[] value = reader.get(MemoryCacheExample.key(key));
                if (value == null) {
                    assertEquals(0, seen[key], "a value is missing");
                    continue;
                }
                String text = new String(value, StandardCharsets.UTF_8);
                long version = Long.parseLong(text.substring(text.indexOf(':') + 1, text.indexOf(' ')));
                assertArrayEquals(MemoryCacheExample.value(key, version), value);
                assertTrue(version >= seen[key], "an older value was read");
                seen[key] = version;
            }
            enough.set(true);
            long last = writing.get(30, TimeUnit.SECONDS);
            for (int key = 0; key < 4; key++) {
                assertArrayEquals(MemoryCacheExample.value(key, last), reader.get(MemoryCacheExample.key(key)));
            }
            System.out.println(last + " versions; " + reader.torn() + " of 4000 reads were torn, and repeated");
            server.end();
        }
    }

    @Test
    void theExampleRuns() throws Exception {
        ExampleRun run = ExampleRun.toEnd("memory-cache", "--keys", "100", "--gets", "500").ended(0);
        run.has("provider=.*");
        run.has("gets=500, .*");
        ExampleRun.toEnd("memory-cache", "--keys", "0").ended(2);
    }
}
