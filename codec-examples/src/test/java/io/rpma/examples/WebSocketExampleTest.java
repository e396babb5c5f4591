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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakeException;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests Netty's WebSocket codec over RPMA channels. */
@Timeout(120)
class WebSocketExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private Channel server;

    @BeforeEach
    void start() throws Exception {
        server = WebSocketExample.startServer(group, new InetSocketAddress("127.0.0.1", 0));
    }

    @AfterEach
    void close() throws Exception {
        server.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private WebSocketExample.Client connect() throws Exception {
        return WebSocketExample.connect(group, (InetSocketAddress) server.localAddress());
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("websocket", "--clients", "3", "--messages", "20").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("clients=3 heard 60 messages each, and left");
    }

    @Test
    void messagesFromNothingToTheLargest() throws Exception {
        WebSocketExample.Client client = connect();
        for (int length : new int[] {0, 1, 125, 126, 65_535, 65_536, 1 << 20}) {
            String message = "compressible ".repeat(length / 13 + 1).substring(0, length);
            client.say(message);
            assertEquals(message, client.hear());
        }
        client.leave();
    }

    @Test
    void aMessageInFragments() throws Exception {
        WebSocketExample.Client client = connect();
        client.channel().write(new TextWebSocketFrame(false, 0, "one, "));
        client.channel().write(new ContinuationWebSocketFrame(false, 0, "two, "));
        client.channel().writeAndFlush(new ContinuationWebSocketFrame(true, 0, "three"));
        assertEquals("one, two, three", client.hear());
        client.leave();
    }

    @Test
    void aClientThatLeavesDoesNotAffectTheOthers() throws Exception {
        WebSocketExample.Client first = connect();
        WebSocketExample.Client second = connect();
        second.say("hello");
        assertEquals("hello", first.hear());
        assertEquals("hello", second.hear());
        second.channel().close().sync();
        first.say("alone?");
        assertEquals("alone?", first.hear());
        first.leave();
    }

    @Test
    void aPathThatIsNoWebSocketIsRefused() {
        ExecutionException refusal = assertThrows(ExecutionException.class,
            () -> WebSocketExample.connect(group, (InetSocketAddress) server.localAddress(), "/chess"));
        assertInstanceOf(WebSocketClientHandshakeException.class, refusal.getCause());
    }

    @Test
    void whatIsNoFrameEndsTheConnection() throws Exception {
        WebSocketExample.Client client = connect();
        ByteBuf reserved = client.channel().alloc().buffer().writeBytes(new byte[] {(byte) 0xff, (byte) 0xff, 0, 0, 0, 0});
        client.channel().pipeline().firstContext().writeAndFlush(reserved);
        client.channel().closeFuture().await(30, TimeUnit.SECONDS);
        assertFalse(client.channel().isOpen(), "the connection stayed open");
    }
}
