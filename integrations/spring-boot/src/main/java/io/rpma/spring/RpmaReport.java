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

import io.netty.channel.Channel;
import io.rpma.Rpma;
import io.rpma.netty.RpmaServerChannel;
import io.rpma.reactor.RpmaLoopResources;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.NettyWebServer;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.resources.LoopResources;

/** Logs whether {@code server.rpma.enabled=true} has taken effect, or why it has not. */
final class RpmaReport implements SmartInitializingSingleton, WebServerFactoryCustomizer<NettyReactiveWebServerFactory>,
        ApplicationListener<WebServerInitializedEvent>, Ordered {
    private static final Log LOGGER = LogFactory.getLog(RpmaAutoConfiguration.class);

    private final ObjectProvider<ReactorResourceFactory> resources;
    private final RpmaProperties properties;
    private volatile boolean warned;

    RpmaReport(ObjectProvider<ReactorResourceFactory> resources, RpmaProperties properties) {
        this.resources = resources;
        this.properties = properties;
    }

    @Override
    public void afterSingletonsInstantiated() {
        resources.forEach(factory -> {
            LoopResources loops = factory.getLoopResources();
            if (!(loops instanceof RpmaLoopResources) && !(loops instanceof ServerLoopResources)) {
                warned = true;
                LOGGER.warn("server.rpma.enabled=true has no effect on the servers and clients of the application's own"
                    + " ReactorResourceFactory, whose event loops are " + loops + ": give it RpmaLoopResources, or remove it.");
            }
        });
        if (!warned) {
            LOGGER.info("Reactor Netty's event loops run RPMA, with the provider " + Rpma.provider().name() + ", for "
                + (properties.isClients() ? "servers and WebClients." : "servers; WebClients stay on TCP."));
        }
    }

    /** Returns the highest precedence, so that this customizer runs before those of the application. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void customize(NettyReactiveWebServerFactory factory) {
        factory.addServerCustomizers(server -> server.doOnBound(bound -> listens(bound.channel())));
    }

    private void listens(Channel server) {
        if (!(server instanceof RpmaServerChannel) && !warned) {
            LOGGER.warn("server.rpma.enabled=true has no effect on the application's server, which listens by "
                + server.getClass().getSimpleName() + ": give its own NettyReactiveWebServerFactory the ReactorResourceFactory.");
        }
    }

    @Override
    public void onApplicationEvent(WebServerInitializedEvent event) {
        WebServer server = event.getWebServer();
        // The management server is not the server of the application.
        if (!(server instanceof NettyWebServer) && event.getApplicationContext().getServerNamespace() == null) {
            LOGGER.warn("server.rpma.enabled=true has no effect on the application's server, a "
                + server.getClass().getSimpleName() + ", which listens by TCP: only Reactor Netty's, the one of"
                + " spring-boot-starter-webflux, can listen over RPMA.");
        }
    }
}
