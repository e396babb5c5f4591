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
package io.rpma.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaPath;
import io.rpma.netty.RpmaServerChannel;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

@Timeout(120)
class PingTest {
    private static final Pattern EACH_SECOND = Pattern.compile("(?m)^ +\\d+ s roundtrips=");

    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final StringWriter out = new StringWriter();
    private final StringWriter error = new StringWriter();
    private ServerSocket silent;

    /** Echoes what it reads. */
    @ChannelHandler.Sharable
    private static class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }

    @AfterEach
    void close() throws Exception {
        if (silent != null) {
            silent.close();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private String serve(ChannelHandler handler) throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(handler)
            .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    private int ping(String... arguments) {
        List<String> all = new ArrayList<>(List.of("ping"));
        all.addAll(List.of(arguments));
        if (!all.contains("--timeout")) {
            // The default is too short for a connection on a busy machine.
            all.addAll(List.of("--timeout", "60"));
        }
        return RpmaCommand.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(error))
            .execute(all.toArray(String[]::new));
    }

    private void failed(int code, String words) {
        assertEquals(1, code, error::toString);
        assertTrue(error.toString().startsWith("ping failed: ") && error.toString().contains(words), error::toString);
    }

    @Test
    void countsAndSumsUp() throws Exception {
        assertEquals(0, ping(serve(new Echo()), "--count", "500", "--seconds", "60"), error::toString);
        assertTrue(out.toString().startsWith("provider=" + Rpma.provider().name() + " device="), out::toString);
        assertTrue(out.toString().contains("roundtrips=500 min="), out::toString);
        // The bars show the same number.
        assertEquals(500, out.toString().lines().filter(line -> line.contains("#"))
            .mapToInt(line -> Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1))).sum(), out::toString);
    }

    @Test
    void endsWithTheTimeAndTellsEachSecond() throws Exception {
        assertEquals(0, ping(serve(new Echo()), "--seconds", "2", "--interval", "10000"), error::toString);
        // On a busy machine a second may pass without a line, so any number of seconds is accepted.
        assertTrue(EACH_SECOND.matcher(out.toString()).find(), out::toString);
        assertTrue(out.toString().lines().toList().getLast().startsWith("roundtrips="), out::toString);
    }

    @Test
    void aWrongPropertyIsExplainedWithoutAStackTrace() throws Exception {
        CliRun run = CliRun.of(List.of("--enable-native-access=ALL-UNNAMED", "-Dio.rpma.netty.polling=never",
            "-Dio.rpma.provider=" + Rpma.provider().name()), Map.of(), "ping", "127.0.0.1:1").ended(1);
        assertTrue(run.error().contains("-Dio.rpma.netty.polling is never"), run::error);
        assertTrue(run.error().lines().noneMatch(line -> line.startsWith("\tat ")), run::error);
    }

    /** A reader of the output that has enough, such as head, ends the measurement. */
    @Test
    void endsWhenNobodyReadsTheOutput() throws Exception {
        CliRun run = CliRun.of(ProcessBuilder.Redirect.to(new File("/dev/full")),
            List.of("--enable-native-access=ALL-UNNAMED", "-Dio.rpma.provider=" + Rpma.provider().name()), Map.of(), "ping",
            serve(new Echo()), "--seconds", "100000", "--timeout", "60").ended(1);
        assertTrue(run.error().contains("the output could not be written completely"), run::error);
    }

    @Test
    void messagesOfAMebibyteAndOfEightBytes() throws Exception {
        assertEquals(0, ping(serve(new Echo()), "--size", "1048576", "-n", "3", "-t", "60"), error::toString);
        assertEquals(0, ping(serve(new Echo()), "--size", "8", "-n", "300", "-t", "60"), error::toString);
    }

    @Test
    void aServerThatChangesAByteIsNoEcho() throws Exception {
        failed(ping(serve(new Echo() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ByteBuf bytes = (ByteBuf) message;
                bytes.setByte(bytes.readerIndex() + 9, 77);
                super.channelRead(ctx, message);
            }
        })), "byte 9 of message 0 came back as 77, not 9: the server is not an echo server");
    }

    @Test
    void aServerThatSaysMoreIsNoEcho() throws Exception {
        failed(ping(serve(new Echo() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ctx.write(((ByteBuf) message).copy());
                super.channelRead(ctx, message);
            }
        }), "--size", "20"), "the server is not an echo server");
    }

    @Test
    void aServerThatClosesIsNamed() throws Exception {
        failed(ping(serve(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ((ByteBuf) message).release();
                ctx.close();
            }
        })), "after 0 round trips: the server closed the connection");
    }

    /** The connection ends before the first message is written, or while it is written. */
    @Test
    void aServerThatClosesAtOnceIsNamed() throws Exception {
        String address = serve(new Echo() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.close();
            }
        });
        for (int i = 0; i < 20; i++) {
            error.getBuffer().setLength(0);
            failed(ping(address), "after 0 round trips: the server closed the connection");
        }
    }

    @Test
    void aServerThatIsSilentIsNotWaitedForLonger() throws Exception {
        // The timeout also limits the time to connect. After this the classes that connect are loaded.
        assertEquals(0, ping(serve(new Echo()), "--count", "1", "--seconds", "60"), error::toString);
        failed(ping(serve(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ((ByteBuf) message).release();
            }
        }), "--timeout", "10", "--seconds", "100"), "for 10 s after 0 round trips");
    }

    /** A user may interrupt the command when the run has just ended. The interruption must not prevent the summary. */
    @Test
    void aClientThatIsClosedCanBeStopped() throws Exception {
        String[] address = serve(new Echo()).split(":");
        PingClient client = new PingClient(new InetSocketAddress(address[0], Integer.parseInt(address[1])),
            RpmaPath.of(Rpma.provider()), 64, 1, 0, 30);
        client.connect();
        client.close();
        assertDoesNotThrow(client::stop);
    }

    /** Returns the address of a server that never answers its clients, so that they remain connecting. */
    private InetSocketAddress serveNobody() throws Exception {
        if (Rpma.provider().name().equals("tcp")) {
            // A listener of this provider answers clients before the server accepts them.
            silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
            return (InetSocketAddress) silent.getLocalSocketAddress();
        }
        return (InetSocketAddress) new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .option(ChannelOption.AUTO_READ, false).childHandler(new Echo()).bind(new InetSocketAddress("127.0.0.1", 0)).sync()
            .channel().localAddress();
    }

    /** A user who interrupts the command does not wait for a connection that may never come about. */
    @Test
    void aClientThatIsConnectingCanBeStopped() throws Exception {
        try (PingClient client = new PingClient(serveNobody(), RpmaPath.of(Rpma.provider()), 64, 1, 0, 1000)) {
            client.stop();
            assertThrows(IOException.class, client::connect);
        }
    }

    @Test
    void theCommandEndsAtOnceWhileItConnects() throws Exception {
        InetSocketAddress address = serveNobody();
        CommandLine command = RpmaCommand.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(error));
        FutureTask<Integer> run = new FutureTask<>(() -> command.execute("ping", "--timeout", "1000",
            address.getAddress().getHostAddress() + ":" + address.getPort()));
        Thread.ofPlatform().daemon().start(run);
        PingCommand ping = (PingCommand) command.getSubcommands().get("ping").getCommandSpec().userObject();
        while (ping.current() == null && !run.isDone()) {
            Thread.sleep(1);
        }
        ping.stop();
        assertEquals(0, run.get(), error::toString);
        assertEquals("", error.toString());
        assertEquals("", out.toString());
    }

    /** The server may never send the echo, so a user who interrupts the command does not wait for it. */
    @Test
    void theCommandEndsAtOnceWhileItWaitsForAnEcho() throws Exception {
        CompletableFuture<Void> received = new CompletableFuture<>();
        String address = serve(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ((ByteBuf) message).release();
                received.complete(null);
            }
        });
        CommandLine command = RpmaCommand.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(error));
        FutureTask<Integer> run = new FutureTask<>(() -> command.execute("ping", "--timeout", "1000", "-t", "1000", address));
        Thread.ofPlatform().daemon().start(run);
        received.get();
        PingCommand ping = (PingCommand) command.getSubcommands().get("ping").getCommandSpec().userObject();
        ping.stop();
        assertEquals(0, run.get(), error::toString);
        assertEquals("", error.toString());
    }

    @Test
    void nobodyListens() throws Exception {
        String address = serve(new Echo());
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        failed(ping(address), "");
    }

    @Test
    void wrongArgumentsAreNamedWithTheirLimits() {
        for (String[] wrong : new String[][] {
            {"10.0.0.1", "has no port"},
            {":7471", "':7471' has no host"},
            {"[]:7471", "'[]:7471' has no host"},
            {"127.0.0.1:+7471", "'+7471' is not a port"},
            {"10.0.0.1:70000", "'70000' is not a port; it must be from 1 to 65535"},
            {"fd77::1:7471", "must be in brackets"},
            {"no-such-host.invalid:7471", "the name 'no-such-host.invalid' is unknown"},
        }) {
            assertEquals(2, ping(wrong[0]));
            assertTrue(error.toString().contains(wrong[1]), error::toString);
        }
        assertEquals(2, ping("127.0.0.1:7471", "--size", "7"));
        assertTrue(error.toString().contains("--size 7: 8 to 1048576"), error::toString);
        assertEquals(2, ping("127.0.0.1:7471", "--count", "-1"));
        assertEquals(2, ping("127.0.0.1:7471", "--seconds", "0"));
        assertEquals(2, ping("127.0.0.1:7471", "--timeout", "0"));
        // In milliseconds, these do not fit into an int. The second one would become 704 ms.
        for (String tooLong : new String[] {"2147484", "4294968"}) {
            assertEquals(2, ping("127.0.0.1:7471", "--timeout", tooLong));
            assertTrue(error.toString().contains("--timeout " + tooLong + ": 1 to 2147483"), error::toString);
        }
        assertEquals(2, ping("127.0.0.1:7471", "--interval", "-1"));
        assertEquals(2, ping());
    }

    @Test
    void whatIsNoNumberAndNoProviderIsNamedWithWhatIsAllowed() {
        for (String text : new String[] {"x", "", "1.5", "99999999999999999999"}) {
            for (String[] option : new String[][] {
                {"--count", "0 to 9223372036854775807, where 0 means as many as there is time for"},
                {"--seconds", "1 to 2147483647"},
                {"--size", "8 to 1048576"},
                {"--interval", "0 to 2147483647"},
                {"--timeout", "1 to 2147483"},
            }) {
                error.getBuffer().setLength(0);
                assertEquals(2, ping("127.0.0.1:7471", option[0], text));
                assertTrue(error.toString().startsWith(option[0] + ' ' + text + ": " + option[1]), error::toString);
            }
        }
        error.getBuffer().setLength(0);
        assertEquals(2, ping("127.0.0.1:7471", "--provider", "foo"), error::toString);
        assertTrue(error.toString().contains("'foo' is not a provider; the providers are: [auto, librpma, soft, tcp]"),
            error::toString);
    }
}
