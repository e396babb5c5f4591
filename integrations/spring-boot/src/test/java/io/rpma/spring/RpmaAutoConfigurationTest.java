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
package io.rpma.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import io.rpma.reactor.RpmaLoopResources;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.boot.web.server.WebServerException;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.ChannelBindException;
import reactor.netty.resources.LoopResources;

/** Tests what the properties of the starter configure, and when it leaves the application unchanged. */
@Timeout(120)
class RpmaAutoConfigurationTest {
    @RegisterExtension
    final CapturedLog log = new CapturedLog();

    private static final String ENABLED = "server.rpma.enabled=true";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(RpmaAutoConfiguration.class, NettyReactiveWebServerAutoConfiguration.class));

    private static LoopResources own(LoopResources loops, ApplicationContextRunner context, String... properties) {
        context.withBean("own", ReactorResourceFactory.class, () -> {
            ReactorResourceFactory factory = new ReactorResourceFactory();
            factory.setUseGlobalResources(false);
            factory.setLoopResources(loops);
            return factory;
        }).withPropertyValues(properties).run(started -> {
            assertThat(started).hasNotFailed().hasSingleBean(ReactorResourceFactory.class).hasBean("own");
            assertThat(started.getBean(ReactorResourceFactory.class).getLoopResources()).isSameAs(loops);
        });
        return loops;
    }

    @Test
    void nothingIsConfiguredWithoutTheProperty() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ReactorResourceFactory.class)
            .doesNotHaveBean(RpmaReport.class));
        runner.withPropertyValues("server.rpma.enabled=false", "server.rpma.threads=1").run(context ->
            assertThat(context).hasNotFailed().doesNotHaveBean(ReactorResourceFactory.class));
        assertThat(log.text()).doesNotContain("RPMA");
    }

    @Test
    void serversAndClientsRunOverRpma() {
        AtomicReference<LoopResources> closed = new AtomicReference<>();
        runner.withPropertyValues(ENABLED).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ReactorResourceFactory.class);
            ReactorResourceFactory factory = context.getBean(ReactorResourceFactory.class);
            assertThat(factory.isUseGlobalResources()).isFalse();
            LoopResources loops = factory.getLoopResources();
            closed.set(loops);
            assertThat(loops).isInstanceOf(RpmaLoopResources.class);
            assertThat(loops.<SocketChannel>onChannelClass(SocketChannel.class, loops.onClient(true)))
                .isSameAs(RpmaChannel.class);
        });
        assertThat(closed.get().isDisposed()).isTrue();
        assertThat(log.text()).containsOnlyOnce("Reactor Netty's event loops run RPMA, with the provider ")
            .contains(", for servers and WebClients.").doesNotContain("no effect");
    }

    @Test
    void clientsCanStayOnTcp() {
        AtomicReference<LoopResources> closed = new AtomicReference<>();
        runner.withPropertyValues(ENABLED, "server.rpma.clients=false").run(context -> {
            assertThat(context).hasNotFailed();
            LoopResources loops = context.getBean(ReactorResourceFactory.class).getLoopResources();
            closed.set(loops);
            assertThat(loops.daemon()).isTrue();
            EventLoopGroup server = loops.onServer(true);
            assertThat(server).isInstanceOf(RpmaEventLoopGroup.class);
            assertThat(loops.<ServerSocketChannel>onChannelClass(ServerSocketChannel.class, loops.onServerSelect(true)))
                .isSameAs(RpmaServerChannel.class);
            assertThat(loops.onChannel(ServerSocketChannel.class, server)).isInstanceOf(RpmaServerChannel.class);
            EventLoopGroup client = loops.onClient(true);
            assertThat(client).isNotInstanceOf(RpmaEventLoopGroup.class);
            assertThat(loops.onChannel(SocketChannel.class, client)).isNotInstanceOf(RpmaChannel.class);
        });
        assertThat(closed.get().isDisposed()).isTrue();
        assertThat(log.text()).contains(", for servers; WebClients stay on TCP.");
    }

    @Test
    void thereAreAsManyThreadsAsAskedFor() {
        runner.withPropertyValues(ENABLED, "server.rpma.threads=3").run(context -> {
            int threads = 0;
            for (EventExecutor loop : context.getBean(ReactorResourceFactory.class).getLoopResources().onServer(true)) {
                assertThat(loop.isShuttingDown()).isFalse();
                threads++;
            }
            assertThat(threads).isEqualTo(3);
        });
    }

    @Test
    void aNegativeNumberOfThreadsIsRefused() {
        runner.withPropertyValues(ENABLED, "server.rpma.threads=-1").run(context -> assertThat(context).hasFailed()
            .getFailure().rootCause().isInstanceOf(IllegalArgumentException.class)
            .hasMessage("server.rpma.threads is -1; a number of event loop threads is needed, or 0 for one per processor"));
    }

    @Test
    void theApplicationsOwnResourcesStay() {
        own(LoopResources.create("own"), runner, ENABLED).dispose();
        assertThat(log.text()).containsOnlyOnce("server.rpma.enabled=true has no effect on the servers and clients of the"
            + " application's own ReactorResourceFactory").doesNotContain("event loops run RPMA");
    }

    @Test
    void nothingIsWrongWithOwnResourcesThatAreRpmas() {
        own(RpmaLoopResources.create("own", 1), runner, ENABLED).dispose();
        assertThat(log.text()).doesNotContain("no effect");
    }

    @Test
    void aFailureToStartSaysWhatIsMissing() {
        RpmaUnavailableException missing = new RpmaUnavailableException("librpma.so.0 is not there", null);
        FailureAnalysis analysis =
            new RpmaUnavailableFailureAnalyzer().analyze(new IllegalStateException("no bean", missing));
        assertThat(analysis.getDescription()).contains("librpma.so.0 is not there");
        assertThat(analysis.getAction()).contains("server.rpma.enabled=false");
        assertThat(new ClassPathResource("META-INF/spring.factories")).satisfies(file ->
            assertThat(file.getContentAsString(StandardCharsets.UTF_8)).contains(RpmaUnavailableFailureAnalyzer.class.getName()));
    }

    /** The starter explains only failures of RPMA, and not those that Spring Boot explains. */
    @Test
    void aFailureToListenSaysWhatToChange() {
        InetSocketAddress local = new InetSocketAddress("127.0.0.1", 80);
        FailureAnalysis path = explained(local, new IllegalArgumentException("-Dio.rpma.netty.paths is 'foo'; it must name …"));
        assertThat(path.getDescription()).contains("cannot listen over RPMA: -Dio.rpma.netty.paths is 'foo'");
        assertThat(path.getAction()).contains("-Dio.rpma.netty.paths", "server.rpma.enabled=false");
        // This is how the JVM reports a static initializer that has failed before.
        FailureAnalysis memory = explained(local, new IllegalStateException(new ExceptionInInitializerError(
            "Exception java.lang.IllegalArgumentException: -Dio.rpma.netty.x is 5; allowed … [in thread \"a\"]")));
        assertThat(memory.getDescription()).endsWith("cannot listen over RPMA: -Dio.rpma.netty.x is 5; allowed …");
        assertThat(memory.getAction()).contains("Correct the value of the property", "server.rpma.enabled=false");
        BindException denied = new BindException("Permission denied: /127.0.0.1:80");
        denied.initCause(new RpmaException(RpmaError.PROVIDER, "ports below 1024 need a privilege"));
        FailureAnalysis port = explained(local, denied);
        assertThat(port.getDescription()).contains("cannot listen over RPMA: Permission denied: /127.0.0.1:80");
        assertThat(port.getAction()).contains("server.port", "server.rpma.enabled=false");
        assertThat(explained(local, new IllegalArgumentException("of something else"))).isNull();
        assertThat(explained(local, new BindException("of TCP"))).isNull();
        assertThat(new RpmaBindFailureAnalyzer().analyze(new PortInUseException(80, ChannelBindException.fail(local, denied))))
            .isNull();
        assertThat(new ClassPathResource("META-INF/spring.factories")).satisfies(file ->
            assertThat(file.getContentAsString(StandardCharsets.UTF_8)).contains(RpmaBindFailureAnalyzer.class.getName()));
    }

    private static FailureAnalysis explained(InetSocketAddress local, Exception cause) {
        ChannelBindException failure = ChannelBindException.fail(local, cause);
        return new RpmaBindFailureAnalyzer().analyze(new WebServerException("no server", failure));
    }

    /** Editors use the descriptions to complete and explain the properties. */
    @Test
    void thePropertiesAreDescribed() throws Exception {
        String descriptions = "";
        for (var files = getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json");
                files.hasMoreElements();) {
            descriptions += new String(files.nextElement().openStream().readAllBytes(), StandardCharsets.UTF_8);
        }
        for (String property : new String[] {"enabled", "clients", "threads"}) {
            assertThat(descriptions).contains("\"server.rpma." + property + "\"");
        }
    }
}
