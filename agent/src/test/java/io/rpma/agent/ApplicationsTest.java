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

package io.rpma.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.agent.programs.ClassicNio;
import io.rpma.agent.programs.ForeignOptions;
import io.rpma.agent.programs.GrpcEcho;
import io.rpma.agent.programs.LoopManners;
import io.rpma.agent.programs.Nested;
import io.rpma.agent.programs.NettyEcho;
import io.rpma.agent.programs.NioHandles;
import io.rpma.agent.programs.NioManners;
import io.rpma.agent.programs.PreparedChannels;
import io.rpma.agent.programs.UringHandles;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests in what applications differ: their addresses, class loaders and copies of Netty, and the channel classes that they
 * require.
 */
class ApplicationsTest {
    private static final long ECHO = 4L << 20;

    @Test
    void swapsSelectedHostsOnly() throws Exception {
        Program.Output output = Program.withAgent("report;hosts=127.0.0.2")
            .run(NioManners.class, "servers", "127.0.0.1,127.0.0.2");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: EpollServerSocketChannel, EpollSocketChannel",
            "channels: RpmaServerChannel, RpmaChannel"), channels(output), output.text());
        assertEquals(ECHO, output.carried(), output.text());
    }

    @Test
    void leavesEverythingElseOnTcp() throws Exception {
        Program.Output output = Program.withAgent("report;ports=1").run(NettyEcho.class, "nio", "class");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: EpollServerSocketChannel, EpollSocketChannel"), channels(output), output.text());
        assertEquals(0, output.carried(), output.text());
    }

    @Test
    void answersWhatAGroupIs() throws Exception {
        assertEquals(List.of("result: true false true false"), Program.plain().run(NioManners.class, "asks").result());
        assertEquals(List.of("result: true false true false"), Program.withAgent("").run(NioManners.class, "asks").result());
    }

    /** A group whose loops have no threads yet is only known to the application. */
    @Test
    void keepsNoGroupThatIsDropped() throws Exception {
        List<String> expected = List.of("result: dropped group collected true");
        assertEquals(expected, Program.plain().run(LoopManners.class, "drops").result());
        Program.Output output = Program.withAgent("report").run(LoopManners.class, "drops");
        assertEquals(expected, output.result(), output.text());
    }

    @ParameterizedTest
    @CsvSource({"nio, ''", "epoll, ''", "nio, ports=1", "epoll, ports=1"})
    void countsTheChannelsOfALoop(String transport, String options) throws Exception {
        List<String> expected = Program.plain().run(LoopManners.class, transport).result();
        assertEquals(List.of("result: 0 channels at first, 0 listed", "result: 1 channels with a server, 1 listed",
            "result: 3 channels with a connection, 3 listed", "result: 1 channels without the connection, 1 listed",
            "result: 0 channels in the end, 0 listed"), expected);
        Program.Output output = Program.withAgent(options).run(LoopManners.class, transport);
        assertEquals(expected, output.result(), output.text());
        assertEquals(List.of(options.isEmpty() ? "channels: RpmaServerChannel, RpmaChannel"
            : "channels: EpollServerSocketChannel, EpollSocketChannel"), channels(output), output.text());
    }

    /** If the transport cannot be used, the loops are those of the application. */
    @ParameterizedTest
    @ValueSource(strings = {"nio", "epoll"})
    void countsTheChannelsOfALoopThatIsLeftAsItIs(String transport) throws Exception {
        Program.Output plain = Program.plain().run(LoopManners.class, transport);
        Program.Output output = Program.withAgent("report").jvm("-Dio.rpma.provider=none").run(LoopManners.class, transport);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(plain.result(), output.result(), output.text());
        assertEquals(channels(plain), channels(output), output.text());
        assertEquals(List.of("rpma-agent: the Netty of the package io.netty is left as it is: RPMA cannot be used:"
            + " -Dio.rpma.provider is 'none'; it must be one of auto, librpma, soft, tcp"),
            output.text().lines().filter(line -> line.contains("RPMA cannot be used")).toList(), output.text());
        // The message says everything, and a process without a device runs like this on purpose.
        assertFalse(output.text().contains("\tat "), output.text());
        assertTrue(output.text().stripTrailing().endsWith("rpma-agent: nothing went over RPMA"), output.text());
    }

    /**
     * An application without the io_uring transport registers channels of the JDK with a loop, and calls methods that only a loop
     * of NIO has.
     */
    @Test
    void runsHandlesOfNio() throws Exception {
        List<String> expected = List.of("result: provider true", "result: released true", "result: sum 0",
            "result: task read 7, in the loop true", "result: handle read 8, in the loop true",
            "result: cancelled true, valid false", "result: open false true", "result: provider true");
        assertEquals(expected, Program.plain().run(NioHandles.class).result());
        Program.Output output = Program.withAgent("report").without("io_uring").run(NioHandles.class);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(expected, output.result(), output.text());
        assertEquals(List.of("channels: RpmaServerChannel, RpmaChannel"), channels(output), output.text());
        assertEquals(ECHO, output.carried(), output.text());
        // Netty logs the exceptions of tasks of other threads.
        assertFalse(output.text().contains("Exception"), output.text());
    }

    /** An application registers handles of io_uring with a loop. A cancelled registration lasts as long as its operation. */
    @Test
    void runsHandlesOfUring() throws Exception {
        List<String> expected = List.of("result: ready 1, in the loop true", "result: cancelled true, ended true",
            "result: cancelled true, valid false", "result: ended false", "result: ready 1, in the loop true",
            "result: ended true", "result: terminated true");
        Program.Output plain = Program.plain().run(UringHandles.class);
        // The kernel, or the rules of a container, may not allow io_uring.
        assumeTrue(plain.exitCode() == 0, "io_uring is not available");
        assertEquals(expected, plain.result());
        Program.Output output = Program.withAgent("").run(UringHandles.class);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(expected, output.result(), output.text());
    }

    /** Other transports have their own objects for options that epoll has too. */
    @ParameterizedTest
    @ValueSource(strings = {"nio", "uring"})
    void setsOptionsOfOtherTransports(String transport) throws Exception {
        Program.Output plain = Program.plain().run(ForeignOptions.class, transport);
        // The kernel, or the rules of a container, may not allow io_uring.
        assumeTrue(!transport.equals("uring") || plain.exitCode() == 0, "io_uring is not available");
        Program.Output output = Program.withAgent("ports=1").run(ForeignOptions.class, transport);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(plain.result(), output.result(), output.text());
        assertEquals(List.of("channels: EpollSocketChannel"), channels(output), output.text());
    }

    /** A channel of RPMA has some options that it stores, or that have an effect. */
    @Test
    void setsOptionsOfNioForRpma() throws Exception {
        Program.Output output = Program.withAgent("").run(ForeignOptions.class, "nio");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("result: linger 7, idle null", "result: set later true, idle null",
            "result: set by a socket true, idle null", "result: second bind true"), output.result(), output.text());
        assertEquals(List.of("channels: RpmaChannel"), channels(output), output.text());
    }

    /** An option of TCP alone would otherwise cause a warning for each connection. */
    @Test
    void acceptsTheOptionsOfFastOpen() throws Exception {
        Program.Output output = Program.withAgent("").run(ForeignOptions.class, "fast-open");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: RpmaServerChannel, RpmaChannel"), channels(output), output.text());
        assertFalse(output.text().contains("Unknown channel option"), output.text());
    }

    /** The options of the agent decide what stays on TCP, so nobody has to be told to configure the application. */
    @Test
    void logsNoNoticeOfChannelsThatStayOnTcp() throws Exception {
        Program.Output output = Program.withAgent("ports=1").run(NettyEcho.class, "epoll", "class");
        assertEquals(0, output.exitCode(), output.text());
        assertFalse(output.text().contains("TcpNotice"), output.text());
    }

    @Test
    void putsDatagramsOnEpoll() throws Exception {
        Program.Output output = Program.withAgent("report").run(NioManners.class, "datagram");
        assertEquals(List.of("result: received 100"), output.result(), output.text());
        assertEquals(List.of("channels: EpollDatagramChannel, EpollDatagramChannel"), channels(output), output.text());
    }

    @Test
    void leavesChannelsThatAHandlerInsistsOn() throws Exception {
        Program.Output output = Program.withAgent("report").run(NioManners.class, "insists");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: NioServerSocketChannel, NioSocketChannel"), channels(output), output.text());
        assertTrue(output.text().contains("a handler takes io.netty.channel.socket.nio.NioSocketChannel only"), output.text());
    }

    /** The initializer of a channel has a method with a class that is absent. Netty does not look at that method. */
    @Test
    void swapsWhereAnOptionalLibraryIsAbsent(@TempDir Path folder) throws Exception {
        Program.Output output = withoutLibrary(folder).run(NioManners.class, "optional");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: RpmaServerChannel, RpmaChannel"), channels(output), output.text());
        assertEquals(ECHO, output.carried(), output.text());
    }

    @Test
    void leavesChannelsThatAHandlerInsistsOnWhereAnOptionalLibraryIsAbsent(@TempDir Path folder) throws Exception {
        Program.Output output = withoutLibrary(folder).run(NioManners.class, "optional-insists");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: NioServerSocketChannel, NioSocketChannel"), channels(output), output.text());
        assertTrue(output.text().contains("a handler takes io.netty.channel.socket.nio.NioSocketChannel only"), output.text());
    }

    /** Returns a program whose class path lacks the library. */
    private static Program withoutLibrary(Path folder) throws Exception {
        Path classes = Path.of(NioManners.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path programs = classes.relativize(classes.resolve(NioManners.class.getPackageName().replace('.', '/')));
        Files.createDirectories(folder.resolve(programs));
        try (Stream<Path> files = Files.list(classes.resolve(programs))) {
            for (Path file : files.filter(each -> !each.endsWith("OptionalLibrary.class")).toList()) {
                Files.copy(file, folder.resolve(programs).resolve(file.getFileName()));
            }
        }
        Program program = Program.withAgent("report");
        List<String> entries = new ArrayList<>(program.classPath());
        entries.removeIf(entry -> Path.of(entry).toAbsolutePath().equals(classes));
        entries.add(folder.toString());
        return program.classPath(entries);
    }

    @Test
    void leavesChannelsOfOtherClasses() throws Exception {
        Program.Output output = Program.withAgent("report").run(NioManners.class, "own-class");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: OwnServerChannel, NioSocketChannel"), channels(output), output.text());
    }

    /** The event loop of a channel that is left as it is can be given to a bootstrap whose channel is replaced. */
    @ParameterizedTest
    @CsvSource({"'', RpmaChannel", "ports=1, EpollSocketChannel"})
    void connectsByTheLoopOfAChannelOfAnotherClass(String options, String channel) throws Exception {
        assertEquals(List.of("channels: NioSocketChannel"), channels(Program.plain().run(NioManners.class, "relays")));
        Program.Output output = Program.withAgent(options).run(NioManners.class, "relays");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: " + channel), channels(output), output.text());
    }

    /** A group that has ended has no open channels, even if they were on an event loop that the agent has created. */
    @Test
    void endsAfterChannelsOfOtherClasses() throws Exception {
        assertEquals(List.of("result: group ended before its channel false"),
            Program.plain().run(NioManners.class, "ends").result());
        Program.Output output = Program.withAgent("report").run(NioManners.class, "ends");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("result: group ended before its channel false"), output.result(), output.text());
    }

    /** The application's factory has bound or connected the channel, or has added a handler to it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "bound | active true, echo 7 | NioServerSocketChannel | has already bound or connected it",
        "connected | active true, echo 7 | EpollSocketChannel | has already bound or connected it",
        "handler | first handler first | RpmaServerChannel, NioSocketChannel | has already added handlers to it"})
    void leavesChannelsThatTheFactoryHasPrepared(String how, String result, String channels, String reason) throws Exception {
        assertEquals(List.of("result: " + result), Program.plain().run(PreparedChannels.class, how).result());
        Program.Output output = Program.withAgent("report").run(PreparedChannels.class, how);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("result: " + result), output.result(), output.text());
        assertEquals(List.of("channels: " + channels), channels(output), output.text());
        assertEquals(1, output.text().lines().filter(line -> line.contains(" is left as it is: the application's channel factory "
            + reason)).count(), output.text());
    }

    /** What another channel can have too: attributes, options that are not those of a socket, and the protocol family. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"settings | RpmaServerChannel, RpmaChannel", "ipv4 | EpollDatagramChannel"})
    void keepsWhatTheFactoryHasSet(String what, String channels) throws Exception {
        Program.Output output = Program.withAgent("report").run(PreparedChannels.class, what);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(Program.plain().run(PreparedChannels.class, what).result(), output.result(), output.text());
        assertEquals(List.of("channels: " + channels), channels(output), output.text());
    }

    @Test
    void bringsEpollWhereTheApplicationHasNone() throws Exception {
        for (String missing : new String[] {"netty-transport-native-epoll", "epoll"}) {
            Program.Output output = Program.withAgent("report").without(missing).run(ClassicNio.class);
            assertEquals(0, output.exitCode(), output.text());
            assertEquals(ECHO, output.carried(), output.text());
        }
    }

    @Test
    void bringsALoggerWhereTheApplicationHasNone() throws Exception {
        Program.Output output = Program.withAgent("report").without("slf4j").run(ClassicNio.class);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(ECHO, output.carried(), output.text());
    }

    @Test
    void findsNettyInAChildLoader() throws Exception {
        Program program = Program.withAgent("report");
        List<String> entries = program.classPath();
        Path launcher = Path.of(Nested.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Program.Output output = program.classPath(List.of(launcher.toString()))
            .run(Nested.class, String.join(File.pathSeparator, entries), NettyEcho.class.getName(), "nio", "class");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(ECHO, output.carried(), output.text());
    }

    @Test
    void swapsTheOldestNetty() throws Exception {
        Program.Output output = withNetty("oldest-netty");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(ECHO, output.carried(), output.text());
    }

    @Test
    void leavesNetty41() throws Exception {
        Program.Output output = withNetty("netty-4.1");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: NioServerSocketChannel, NioSocketChannel"), channels(output), output.text());
        assertEquals(1, output.text().lines().filter(line -> line.contains("is left as it is: RPMA needs Netty 4.2")).count(),
            output.text());
    }

    private static Program.Output withNetty(String folder) throws Exception {
        Program program = Program.withAgent("report");
        return program.classPath(withTests(program, folder)).run(ClassicNio.class);
    }

    @Test
    void leavesEverythingWhereNativeAccessIsRefused() throws Exception {
        Program program = Program.withAgentAlone("report").jvm("--illegal-native-access=deny");
        Program.Output output = program.run(ClassicNio.class);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: NioServerSocketChannel, NioSocketChannel"), channels(output), output.text());
        assertTrue(output.text().contains("this JVM refuses native access"), output.text());
        assertTrue(output.text().contains("nothing went over RPMA"), output.text());
    }

    @Test
    void leavesRelocatedNetty() throws Exception {
        Program.Output output = shaded("report");
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(0, output.carried(), output.text());
        assertEquals(1, output.text().lines().filter(line -> line.contains("the option prefix=io.grpc.netty.shaded.io.netty"))
            .count(), output.text());
    }

    @Test
    void swapsRelocatedNettyThatIsNamed() throws Exception {
        Program.Output output = shaded("report;prefix=io.grpc.netty.shaded.io.netty");
        assertEquals(0, output.exitCode(), output.text());
        assertTrue(output.carried() > 0, output.text());
    }

    private static Program.Output shaded(String options) throws Exception {
        Program program = Program.withAgent(options);
        return program.classPath(withTests(program, "grpc-shaded")).run(GrpcEcho.class);
    }

    /** Returns a class path with the jars of a folder in place of all jars with "netty" in their names. */
    private static List<String> withTests(Program program, String folder) throws Exception {
        List<String> entries = new ArrayList<>(program.classPath());
        entries.removeIf(entry -> Path.of(entry).getFileName().toString().contains("netty"));
        entries.addAll(jars(folder));
        return entries;
    }

    private static List<String> jars(String folder) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("target", folder))) {
            return files.map(file -> file.toAbsolutePath().toString()).toList();
        }
    }

    @Test
    void refusesUnknownOptionsAndLeavesTheApplication() throws Exception {
        Program.Output output = Program.withAgent("prots=80").run(ClassicNio.class);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(List.of("channels: NioServerSocketChannel, NioSocketChannel"), channels(output), output.text());
        assertTrue(output.text().contains("unknown option 'prots'"), output.text());
    }

    private static List<String> channels(Program.Output output) {
        return output.text().lines().filter(line -> line.startsWith("channels: ")).toList();
    }
}
