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

import io.rpma.reactor.RpmaLoopResources;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration;
import org.springframework.boot.reactor.netty.autoconfigure.ReactorNettyProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.resources.LoopResources;

/**
 * If {@code server.rpma.enabled=true}, configures Spring Boot's Reactor Netty with the event loops of RPMA, for its server and
 * for WebClients, unless the application defines its own {@link ReactorResourceFactory}.
 */
@AutoConfiguration(before = NettyReactiveWebServerAutoConfiguration.class, beforeName = {
    "org.springframework.boot.http.client.autoconfigure.reactive.ReactiveHttpClientAutoConfiguration",
    "org.springframework.boot.rsocket.autoconfigure.RSocketServerAutoConfiguration"})
@ConditionalOnBooleanProperty("server.rpma.enabled")
@EnableConfigurationProperties({RpmaProperties.class, ReactorNettyProperties.class})
public final class RpmaAutoConfiguration {
    private static final String THREADS = "rpma-http";

    /** Creates the configuration. */
    public RpmaAutoConfiguration() {
        // The class has no state.
    }

    @Bean
    @ConditionalOnMissingBean
    ReactorResourceFactory reactorResourceFactory(RpmaProperties properties, ReactorNettyProperties reactor) {
        ReactorResourceFactory factory = new ReactorResourceFactory();
        factory.setUseGlobalResources(false);
        factory.setLoopResourcesSupplier(() -> loops(properties));
        if (reactor.getShutdownQuietPeriod() != null) {
            factory.setShutdownQuietPeriod(reactor.getShutdownQuietPeriod());
        }
        return factory;
    }

    private static LoopResources loops(RpmaProperties properties) {
        LoopResources rpma = RpmaLoopResources.create(THREADS, properties.getThreads());
        return properties.isClients() ? rpma
            : new ServerLoopResources(rpma, LoopResources.create("webflux-http", LoopResources.DEFAULT_IO_WORKER_COUNT, true));
    }

    @Bean
    RpmaReport rpmaReport(ObjectProvider<ReactorResourceFactory> resources, RpmaProperties properties) {
        return new RpmaReport(resources, properties);
    }
}
