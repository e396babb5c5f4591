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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.Channel;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaMetrics;
import io.rpma.netty.RpmaServerChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.http.client.autoconfigure.reactive.ClientHttpConnectorBuilderCustomizer;
import org.springframework.boot.http.client.reactive.ReactorClientHttpConnectorBuilder;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.tomcat.reactive.TomcatReactiveWebServerFactory;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.web.server.servlet.ServletWebServerFactory;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** Tests applications of Spring Boot, started as users start them. */
@Timeout(120)
class SpringBootTest {
    @RegisterExtension
    final CapturedLog log = new CapturedLog();

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String HERE = "127.0.0.1";
    private static final int LENGTH = 200_000;
    private static final String[] NO_ARGUMENTS = {};

    /** The server channels of the application under test. */
    private static final BlockingQueue<Channel> LISTENING = new LinkedBlockingQueue<>();
    private static final BlockingQueue<Channel> ACCEPTED = new LinkedBlockingQueue<>();
    private static final BlockingQueue<Channel> CONNECTED = new LinkedBlockingQueue<>();

    /** An application that contains nothing of RPMA. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        RouterFunction<ServerResponse> echo() {
            return RouterFunctions.route().POST("/echo",
                request -> ServerResponse.ok().body(request.bodyToMono(byte[].class), byte[].class)).build();
        }

        @Bean
        NettyServerCustomizer watchServer() {
            return server -> server.doOnBound(bound -> LISTENING.add(bound.channel()))
                .doOnConnection(connection -> ACCEPTED.add(connection.channel()));
        }

        @Bean
        ClientHttpConnectorBuilderCustomizer<ReactorClientHttpConnectorBuilder> watchClient() {
            return builder -> builder.withHttpClientCustomizer(
                client -> client.doOnConnected(connection -> CONNECTED.add(connection.channel())));
        }
    }

    /** An application that creates its server itself. */
    @Configuration(proxyBeanMethods = false)
    static class OwnFactory {
        @Bean
        NettyReactiveWebServerFactory own() {
            return new NettyReactiveWebServerFactory();
        }

        /** Returns a customizer that runs after that of the starter. */
        @Bean
        WebServerFactoryCustomizer<NettyReactiveWebServerFactory> watch() {
            return factory -> factory.addServerCustomizers(
                server -> server.doOnBound(bound -> LISTENING.add(bound.channel())));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReactiveTomcat {
        @Bean
        TomcatReactiveWebServerFactory tomcat() {
            return new TomcatReactiveWebServerFactory(0);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ServletTomcat {
        @Bean
        ServletWebServerFactory tomcat() {
            return new TomcatServletWebServerFactory(0);
        }
    }

    private static ConfigurableApplicationContext start(List<Class<?>> sources, WebApplicationType type, String... properties) {
        Stream.of(LISTENING, ACCEPTED, CONNECTED).forEach(BlockingQueue::clear);
        return new SpringApplicationBuilder(sources.toArray(Class<?>[]::new)).web(type)
            .properties("server.port=0", "server.address=" + HERE, "spring.main.banner-mode=off", "spring.jmx.enabled=false")
            .properties(properties).run(NO_ARGUMENTS);
    }

    private static int port(ConfigurableApplicationContext application) {
        return ((WebServerApplicationContext) application).getWebServer().getPort();
    }

    private static void exchange(ConfigurableApplicationContext application, int port) {
        byte[] body = new byte[LENGTH];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) (i * 31 + (i >> 8));
        }
        byte[] answer = application.getBean(WebClient.Builder.class).baseUrl("http://" + HERE + ':' + port)
            .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(LENGTH)).build()
            .post().uri("/echo").bodyValue(body).retrieve().bodyToMono(byte[].class).block(PATIENCE);
        assertThat(answer).isEqualTo(body);
    }

    private static Channel take(BlockingQueue<Channel> channels) throws InterruptedException {
        Channel channel = channels.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(channel).isNotNull();
        return channel;
    }

    @Test
    void aPropertyPutsTheServerAndItsWebClientOntoRpma() throws Exception {
        long before = RpmaMetrics.channels().bytesSent();
        try (ConfigurableApplicationContext application =
                start(List.of(Application.class), WebApplicationType.REACTIVE, "server.rpma.enabled=true")) {
            exchange(application, port(application));
            assertThat(take(LISTENING)).isInstanceOf(RpmaServerChannel.class);
            assertThat(take(ACCEPTED)).isInstanceOf(RpmaChannel.class);
            assertThat(take(CONNECTED)).isInstanceOf(RpmaChannel.class);
        }
        // The bytes are sent in both directions.
        assertThat(RpmaMetrics.channels().bytesSent() - before).isGreaterThan(2 * LENGTH);
        assertThat(log.text()).containsOnlyOnce("event loops run RPMA").doesNotContain("no effect");
    }

    @Test
    void withoutThePropertyNothingChanges() throws Exception {
        long before = RpmaMetrics.channels().bytesSent();
        try (ConfigurableApplicationContext application = start(List.of(Application.class), WebApplicationType.REACTIVE)) {
            exchange(application, port(application));
            assertThat(take(LISTENING)).isNotInstanceOf(RpmaServerChannel.class);
            assertThat(take(CONNECTED)).isNotInstanceOf(RpmaChannel.class);
        }
        assertThat(RpmaMetrics.channels().bytesSent()).isEqualTo(before);
    }

    @Test
    void webClientsCanStayOnTcpBesideAServerOverRpma() throws Exception {
        LoopResources tcp = LoopResources.create("tcp");
        DisposableServer other = HttpServer.create().runOn(tcp).host(HERE).port(0)
            .handle((request, response) -> response.send(request.receive().retain())).bindNow(PATIENCE);
        try (ConfigurableApplicationContext application = start(List.of(Application.class), WebApplicationType.REACTIVE,
                "server.rpma.enabled=true", "server.rpma.clients=false")) {
            exchange(application, other.port());
            assertThat(take(LISTENING)).isInstanceOf(RpmaServerChannel.class);
            assertThat(take(CONNECTED)).isNotInstanceOf(RpmaChannel.class);
        } finally {
            other.disposeNow(PATIENCE);
            tcp.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
        }
    }

    @Test
    void aServerWithEventLoopsOfItsOwnIsNamed() throws Exception {
        try (ConfigurableApplicationContext application = start(List.of(Application.class, OwnFactory.class),
                WebApplicationType.REACTIVE, "server.rpma.enabled=true")) {
            assertThat(port(application)).isPositive();
            Channel listening = take(LISTENING);
            assertThat(listening).isNotInstanceOf(RpmaServerChannel.class);
            assertThat(log.text()).containsOnlyOnce("server.rpma.enabled=true has no effect on the application's server, which"
                + " listens by " + listening.getClass().getSimpleName());
        }
    }

    @Test
    void aReactiveServerThatIsNotReactorNettysIsNamed() {
        start(List.of(Application.class, ReactiveTomcat.class), WebApplicationType.REACTIVE, "server.rpma.enabled=true").close();
        assertThat(log.text()).containsOnlyOnce("no effect on the application's server, a TomcatWebServer, which listens by TCP");
    }

    /** Such an address of the documentation belongs to no host. */
    @Test
    void anAddressThatTheHostDoesNotHaveIsExplained() {
        assertThatThrownBy(() -> start(List.of(Application.class), WebApplicationType.REACTIVE, "server.rpma.enabled=true",
            "server.address=192.0.2.77")).isInstanceOf(ApplicationContextException.class);
        assertThat(log.text()).containsOnlyOnce("APPLICATION FAILED TO START")
            .contains("server.rpma.enabled=true, and the server cannot listen over RPMA: Cannot assign requested address: ")
            .contains("Change server.address or server.port");
    }

    /** Spring Boot explains a port that is in use. */
    @Test
    void aPortThatIsInUseIsExplained() {
        try (ConfigurableApplicationContext first =
                start(List.of(Application.class), WebApplicationType.REACTIVE, "server.rpma.enabled=true")) {
            assertThatThrownBy(() -> start(List.of(Application.class), WebApplicationType.REACTIVE, "server.rpma.enabled=true",
                "server.port=" + port(first))).isInstanceOf(ApplicationContextException.class);
            assertThat(log.text()).containsOnlyOnce("APPLICATION FAILED TO START")
                .contains("Port " + port(first) + " was already in use");
        }
    }

    @Test
    void aServletApplicationIsNamed() {
        start(List.of(ServletTomcat.class, RpmaAutoConfiguration.class), WebApplicationType.SERVLET, "server.rpma.enabled=true")
            .close();
        assertThat(log.text()).containsOnlyOnce("no effect on the application's server, a TomcatWebServer, which listens by TCP");
    }

    @Test
    void anApplicationWithoutAServerHasClientsOverRpma() throws Exception {
        try (ConfigurableApplicationContext server =
                start(List.of(Application.class), WebApplicationType.REACTIVE, "server.rpma.enabled=true");
                ConfigurableApplicationContext client =
                start(List.of(Application.class), WebApplicationType.NONE, "server.rpma.enabled=true")) {
            exchange(client, port(server));
            assertThat(take(CONNECTED)).isInstanceOf(RpmaChannel.class);
        }
    }
}
