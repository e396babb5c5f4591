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
package io.rpma.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.FullLoop.Refusal;
import io.rpma.netty.connect.ConnectAttempt;
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.connect.PathRace;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests several paths, some of which fail or do not answer. The paths are represented by stand-ins, which use the only provider
 * of these tests or do not connect.
 */
@Timeout(60)
class PathRaceTest {
    /** The head start of the best path that RpmaChannelOption.RPMA_PATHS documents. */
    private static final int DOCUMENTED_HEAD_START_MILLIS = 250;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final AtomicInteger accepted = new AtomicInteger();
    private final CountDownLatch answers = new CountDownLatch(1);
    private final CountDownLatch asked = new CountDownLatch(1);
    /** The thread that prepares the first path that does not answer. */
    private final CompletableFuture<Thread> preparing = new CompletableFuture<>();
    /** Runs on the event loop before each attempt. */
    private volatile Runnable beforeAttempt = () -> { };
    private Channel server;
    private InetSocketAddress address;

    @BeforeEach
    void start() throws Exception {
        server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel child) {
                    accepted.incrementAndGet();
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        address = (InetSocketAddress) server.localAddress();
    }

    @AfterEach
    void stop() {
        answers.countDown();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Runs before a stand-in connects. */
    private interface Obstacle {
        void pass() throws Exception;
    }

    private static RpmaProvider standIn(RpmaPath path, Obstacle obstacle) {
        RpmaProvider real = Rpma.provider();
        return (RpmaProvider) Proxy.newProxyInstance(PathRaceTest.class.getClassLoader(), new Class<?>[] {RpmaProvider.class},
            (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "name" -> {
                        return path.provider();
                    }
                    case "hashCode" -> {
                        return System.identityHashCode(proxy);
                    }
                    case "equals" -> {
                        return proxy == arguments[0];
                    }
                    case "remoteDevice" -> obstacle.pass();
                    case "reachable" -> {
                        return real.reachable(NetUtil.LOCALHOST);
                    }
                    default -> {
                        // The real implementation does the same.
                    }
                }
                try {
                    return method.invoke(real, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    private static RpmaProvider open(RpmaPath path) {
        return standIn(path, () -> { });
    }

    private static RpmaProvider refusing(RpmaPath path, String why) {
        return standIn(path, () -> {
            throw new RpmaException(RpmaError.PROVIDER, why);
        });
    }

    private RpmaProvider silent(RpmaPath path) {
        return standIn(path, () -> {
            preparing.complete(Thread.currentThread());
            asked.countDown();
            answers.await();
        });
    }

    /** Connects as a channel does, and keeps the connection. */
    private final class Client implements PathRace.Owner {
        private final CompletableFuture<QueuePair> result = new CompletableFuture<>();
        private final RpmaChannel options = new RpmaChannel();
        private final EventLoop loop;
        private final InetSocketAddress remote;
        private final TcpFallback fallback;
        private final PathRace race;
        // Written before the result.
        private Map<RpmaPath, String> passedOver;

        Client(RpmaProvider... candidates) {
            this(address, TcpFallback.INSTANCE, candidates);
        }

        Client(InetSocketAddress remote, TcpFallback fallback, RpmaProvider... candidates) {
            this(group.next(), remote, fallback, candidates);
        }

        Client(EventLoop loop, InetSocketAddress remote, TcpFallback fallback, RpmaProvider... candidates) {
            this.loop = loop;
            this.remote = remote;
            this.fallback = fallback;
            race = new PathRace(this, PublicTypes.INSTANCE, List.of(candidates), remote, 100_000);
            loop.execute(() -> race.begin(loop));
        }

        QueuePair get() throws Exception {
            return result.get(30, TimeUnit.SECONDS);
        }

        void close() throws Exception {
            loop.submit(() -> {
                race.cancel();
                if (result.isDone() && !result.isCompletedExceptionally()) {
                    result.join().close();
                }
            }).sync();
        }

        @Override
        public Dialer newDialer() {
            beforeAttempt.run();
            StreamOptions stream = options.config().stream();
            return new StreamDialer(stream.messageBytes(), stream.credits(), false, stream.bulkBytes(), stream.privateData(),
                loop);
        }

        @Override
        public void won(QueuePair established, RpmaProvider taken, Map<RpmaProvider, String> better) {
            passedOver = PathChoice.byPath(better);
            fallback.taken(RpmaPath.of(taken), remote, passedOver);
            assertTrue(result.complete(established));
        }

        @Override
        public void lost(Throwable cause) {
            assertTrue(result.completeExceptionally(cause));
        }
    }

    @Test
    void theNextPathIsAskedWhenOneHasFailed() throws Exception {
        long before = System.nanoTime();
        Client client = new Client(refusing(RpmaPath.SHARED_MEMORY, "not here"), open(RpmaPath.RDMA));
        assertTrue(client.get().isEstablished());
        assertTrue(System.nanoTime() - before < TimeUnit.SECONDS.toNanos(30));
        assertEquals(Map.of(RpmaPath.SHARED_MEMORY, "not here"), client.passedOver);
        client.close();
    }

    /** The path that did not answer answers later. Its connection is abandoned, and the server is not notified. */
    @Test
    void thePathThatDoesNotAnswerIsOvertaken() throws Exception {
        long before = System.nanoTime();
        Client client = new Client(silent(RpmaPath.SHARED_MEMORY), open(RpmaPath.RDMA));
        QueuePair won = client.get();
        assertTrue(System.nanoTime() - before >= TimeUnit.MILLISECONDS.toNanos(DOCUMENTED_HEAD_START_MILLIS));
        assertTrue(client.passedOver.get(RpmaPath.SHARED_MEMORY).matches("no answer within \\d+ ms"),
            client.passedOver::toString);
        answers.countDown();
        // This connection is made after the connection of the silent path.
        Client second = new Client(silent(RpmaPath.SHARED_MEMORY), open(RpmaPath.RDMA));
        second.get();
        while (accepted.get() < 2) {
            group.next().submit(() -> { }).sync();
        }
        assertEquals(2, accepted.get());
        assertTrue(won.isEstablished());
        client.close();
        second.close();
    }

    /**
     * A host that has never answered has one thread for connections to it, which must not be that of another path. The address
     * belongs to another host, but the stand-ins connect to this host.
     */
    @Test
    void theNextPathIsAskedThoughTheHostHasNeverAnswered() throws Exception {
        InetSocketAddress remote =
            new InetSocketAddress(InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 77}), address.getPort());
        TcpFallback fallback = new TcpFallback(10, TcpFallbackTest.recording(Collections.synchronizedList(new ArrayList<>())));
        Client client = new Client(remote, fallback, silent(RpmaPath.SHARED_MEMORY), open(RpmaPath.RDMA));
        assertTrue(client.get().isEstablished());
        client.close();
    }

    /** A channel that leaves its loop while it connects. */
    private final class MovedChannel implements ConnectAttempt.Owner, ConnectAttempt.Choice {
        private final RpmaChannel options = new RpmaChannel();
        private final CompletableFuture<QueuePair> connecting = new CompletableFuture<>();
        private final CompletableFuture<QueuePair> connected = new CompletableFuture<>();
        private final EventLoop first;
        private final List<RpmaProvider> candidates;
        private final CompletableFuture<ConnectAttempt> entering = new CompletableFuture<>();
        private volatile EventLoop loop;

        MovedChannel(EventLoop first, RpmaProvider... candidates) {
            this.first = first;
            this.candidates = List.of(candidates);
            loop = first;
        }

        void connectAndMove(EventLoop to) {
            first.execute(() -> {
                ConnectAttempt attempt = new ConnectAttempt(this, PublicTypes.INSTANCE, options.newPromise(), address, this);
                attempt.begin(0);
                loop = to;
                entering.complete(attempt);
            });
        }

        /** The other loop begins to use the channel. */
        void enter() {
            loop.execute(() -> entering.join().enter());
        }

        @Override
        public List<RpmaProvider> candidates() {
            return candidates;
        }

        @Override
        public EventLoop eventLoop() {
            return loop;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public Dialer newDialer() {
            StreamOptions stream = options.config().stream();
            StreamDialer dialer = new StreamDialer(stream.messageBytes(), stream.credits(), false, stream.bulkBytes(),
                stream.privateData(), first);
            return new Dialer() {
                @Override
                public ConnectionConfig newConfig(Fabric fabric, int timeoutMillis) throws RpmaException {
                    return dialer.newConfig(fabric, timeoutMillis);
                }

                @Override
                public QueuePair connect(Fabric fabric, ConnectionRequest request, InetSocketAddress remote)
                        throws RpmaException {
                    QueuePair pair = dialer.connect(fabric, request, remote);
                    connecting.complete(pair);
                    return pair;
                }

                @Override
                public void dropped() {
                    dialer.dropped();
                }
            };
        }

        @Override
        public void dialled(QueuePair pair) {
            throw new AssertionError("there are several paths");
        }

        @Override
        public void connected(QueuePair established) {
            assertTrue(loop.inEventLoop());
            connected.complete(established);
        }

        @Override
        public void notConnected(Throwable cause) {
            connecting.completeExceptionally(cause);
            connected.completeExceptionally(cause);
        }

        @Override
        public void exceptionCaught(Throwable cause) {
            connecting.completeExceptionally(cause);
        }

        @Override
        public void won(RpmaProvider taken, InetSocketAddress remote, Map<RpmaProvider, String> passedOver) {
            assertTrue(loop.inEventLoop());
        }

        @Override
        public void failed(Map<RpmaProvider, String> reasons) {
            // The result of the attempt says so as well.
        }
    }

    /** No loop can take the connection over, so the loop on which it was established closes it. */
    @Test
    void aConnectionIsClosedIfTheLoopOfItsChannelHasEnded() throws Exception {
        RpmaEventLoopGroup ended = new RpmaEventLoopGroup(1);
        ended.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        MovedChannel channel = new MovedChannel(group.next(), open(RpmaPath.SHARED_MEMORY), open(RpmaPath.RDMA));
        channel.connectAndMove(ended.next());
        QueuePair pair = channel.connecting.get(30, TimeUnit.SECONDS);
        // Each check is a turn of the event loop.
        while (!channel.first.submit(pair::isClosed).get()) {
            continue;
        }
        assertTrue(pair.isEstablished());
        assertFalse(channel.connected.isDone());
    }

    /** The first path has been prepared by another thread while the loop accepts no task. The other one never answers. */
    @ParameterizedTest
    @EnumSource
    void aPathThatIsPreparedWhileTheLoopIsFullIsTaken(Refusal refusal) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        try (FullLoop full = new FullLoop(refusal)) {
            Client client = new Client(full.loop, address, TcpFallback.INSTANCE, silent(RpmaPath.SHARED_MEMORY),
                standIn(RpmaPath.RDMA, never::await));
            Thread thread = preparing.get(30, TimeUnit.SECONDS);
            full.fill();
            answers.countDown();
            FullLoopTest.awaitHandOver(thread);
            full.free();
            assertTrue(client.get().isEstablished());
            client.close();
        } finally {
            never.countDown();
        }
    }

    /** Waits until a loop that was full has run its tasks. */
    private static void awaitTurn(EventLoop loop) throws InterruptedException {
        CountDownLatch turn = new CountDownLatch(1);
        while (turn.getCount() > 0) {
            try {
                loop.execute(turn::countDown);
                turn.await();
            } catch (RuntimeException e) {
                Thread.onSpinWait();
            }
        }
    }

    /** The channel has been moved to another loop, which cancels the race. */
    @ParameterizedTest
    @EnumSource
    void aRaceIsCancelledWhileItsLoopIsFull(Refusal refusal) throws Exception {
        try (FullLoop full = new FullLoop(refusal)) {
            Client client = new Client(full.loop, address, TcpFallback.INSTANCE, silent(RpmaPath.SHARED_MEMORY),
                silent(RpmaPath.RDMA));
            preparing.get(30, TimeUnit.SECONDS);
            full.fill();
            client.race.cancel();
            full.free();
            awaitTurn(full.loop);
            answers.countDown();
            assertThrows(TimeoutException.class, () -> client.result.get(500, TimeUnit.MILLISECONDS));
        }
    }

    /** The channel has been moved to a loop that accepts no task when the connection is established. */
    @ParameterizedTest
    @EnumSource
    void aConnectionIsPassedToTheLoopOfItsChannelAlthoughThatIsFull(Refusal refusal) throws Exception {
        try (FullLoop full = new FullLoop(refusal)) {
            full.fill();
            MovedChannel channel = new MovedChannel(group.next(), open(RpmaPath.SHARED_MEMORY), open(RpmaPath.RDMA));
            channel.connectAndMove(full.loop);
            QueuePair pair = channel.connecting.get(30, TimeUnit.SECONDS);
            // Each check is a turn of the event loop.
            while (!channel.first.submit(() -> pair.isEstablished() || pair.isClosed()).get()) {
                continue;
            }
            // Waits for the task in which the connection has been found.
            channel.first.submit(() -> { }).get();
            full.free();
            assertSame(pair, channel.connected.get(30, TimeUnit.SECONDS));
            full.loop.submit(pair::close).get();
        }
    }

    /** The loop on which the paths were tried has ended when they answer. */
    @Test
    void thePathsAreTriedAgainByTheNextLoopOfTheChannel() throws Exception {
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        MovedChannel channel = new MovedChannel(ending.next(), silent(RpmaPath.SHARED_MEMORY), silent(RpmaPath.RDMA));
        channel.connectAndMove(group.next());
        assertTrue(asked.await(30, TimeUnit.SECONDS));
        assertTrue(ending.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(30, TimeUnit.SECONDS));
        channel.enter();
        answers.countDown();
        QueuePair pair = channel.connected.get(30, TimeUnit.SECONDS);
        assertTrue(pair.isEstablished());
        channel.loop.submit(pair::close).get();
    }

    /** A path of a race that has been cancelled is still being prepared when the loop ends. */
    @Test
    void aCancelledRaceWhoseLoopHasEndedReportsNothing() throws Exception {
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        EventLoop loop = ending.next();
        CountDownLatch dropped = new CountDownLatch(1);
        RpmaProvider path = standIn(RpmaPath.SHARED_MEMORY, () -> {
            asked.countDown();
            answers.await();
            dropped.countDown();
            throw new RpmaException(RpmaError.PROVIDER, "not here");
        });
        Client client = new Client(loop, address, TcpFallback.INSTANCE, path, silent(RpmaPath.RDMA));
        assertTrue(asked.await(30, TimeUnit.SECONDS));
        loop.submit(client.race::cancel).sync();
        assertTrue(ending.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(30, TimeUnit.SECONDS));
        answers.countDown();
        assertTrue(dropped.await(30, TimeUnit.SECONDS));
        assertThrows(TimeoutException.class, () -> client.result.get(500, TimeUnit.MILLISECONDS));
    }

    /** The first connection of a process loads classes, for example, for which its event loop may need longer than 250 ms. */
    @Test
    void theHeadStartBeginsWhenTheEventLoopHasStartedTheAttempt() throws Exception {
        AtomicLong started = new AtomicLong();
        beforeAttempt = () -> {
            beforeAttempt = () -> { };
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2 * DOCUMENTED_HEAD_START_MILLIS));
            started.set(System.nanoTime());
        };
        AtomicLong next = new AtomicLong();
        Client client = new Client(silent(RpmaPath.SHARED_MEMORY), standIn(RpmaPath.RDMA, () -> next.set(System.nanoTime())));
        client.get();
        long millis = TimeUnit.NANOSECONDS.toMillis(next.get() - started.get());
        assertTrue(millis >= DOCUMENTED_HEAD_START_MILLIS, () -> "the next path was tried after " + millis + " ms");
        client.close();
    }

    @Test
    void whereTheBestPathIsTakenNoneIsPassedOver() throws Exception {
        Client client = new Client(open(RpmaPath.SHARED_MEMORY), refusing(RpmaPath.RDMA, "is not to be asked"));
        client.get();
        assertEquals(Map.of(), client.passedOver);
        client.close();
    }

    /** The address belongs to another host, but the stand-ins connect to this host. */
    @Test
    void aHostThatIsReachedByTcpThoughThereIsADeviceIsNamedOnce() throws Exception {
        List<String> warnings = Collections.synchronizedList(new ArrayList<>());
        TcpFallback fallback = new TcpFallback(10, TcpFallbackTest.recording(warnings));
        for (int host = 1; host <= 2; host++) {
            InetSocketAddress remote =
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, (byte) host}), address.getPort());
            for (int connection = 0; connection < 3; connection++) {
                Client client = new Client(remote, fallback, refusing(RpmaPath.RDMA, "no route"), open(RpmaPath.TCP));
                assertTrue(client.get().isEstablished());
                assertEquals(Map.of(RpmaPath.RDMA, "no route"), client.passedOver);
                client.close();
            }
            assertEquals(host, warnings.size(), warnings::toString);
            assertTrue(warnings.getLast().contains("192.0.2." + host + ", no route"), warnings::toString);
        }
        Client direct = new Client(new InetSocketAddress(InetAddress.getByName("192.0.2.3"), address.getPort()), fallback,
            open(RpmaPath.RDMA), refusing(RpmaPath.TCP, "is not to be asked"));
        direct.get();
        direct.close();
        assertEquals(2, warnings.size(), warnings::toString);
    }

    @Test
    void whenEveryPathFailsEachReasonIsTold() {
        Client client = new Client(refusing(RpmaPath.SHARED_MEMORY, "no memory"), refusing(RpmaPath.RDMA, "no device"),
            refusing(RpmaPath.TCP, "no route"));
        Throwable failure = assertThrows(ExecutionException.class, client::get).getCause();
        assertInstanceOf(ConnectException.class, failure);
        assertEquals("Connection failed by every path (shared-memory: no memory; rdma: no device; tcp: no route)",
            failure.getMessage());
        assertEquals(3, failure.getSuppressed().length);
    }

    /** The decision of the server's application is final, because it would be the same on another path. */
    @Test
    void anApplicationsRefusalIsFinal() throws Exception {
        server.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, request -> request.refuse("not you"));
        Client client = new Client(open(RpmaPath.SHARED_MEMORY), refusing(RpmaPath.RDMA, "is not to be asked"));
        Throwable failure = assertThrows(ExecutionException.class, client::get).getCause();
        assertInstanceOf(RpmaRefusedException.class, failure);
        client.close();
    }

    @Test
    void aRaceThatIsCancelledEndsWithoutAWord() throws Exception {
        Client client = new Client(silent(RpmaPath.SHARED_MEMORY), silent(RpmaPath.RDMA));
        asked.await();
        client.close();
        answers.countDown();
        Client next = new Client(open(RpmaPath.RDMA), open(RpmaPath.TCP));
        assertSame(next.get(), next.result.join());
        assertTrue(!client.result.isDone());
        next.close();
    }
}
