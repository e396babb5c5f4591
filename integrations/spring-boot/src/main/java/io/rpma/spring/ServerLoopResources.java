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
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/** Event loops of RPMA for servers, and event loops of another kind for clients. Thread-safe. */
final class ServerLoopResources implements LoopResources {
    private final LoopResources servers;
    private final LoopResources clients;

    /** Takes ownership of both arguments. Their threads must be daemon threads. */
    ServerLoopResources(LoopResources servers, LoopResources clients) {
        this.servers = servers;
        this.clients = clients;
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return servers.onServer(useNative);
    }

    @Override
    public EventLoopGroup onServerSelect(boolean useNative) {
        return servers.onServerSelect(useNative);
    }

    @Override
    public EventLoopGroup onClient(boolean useNative) {
        return clients.onClient(useNative);
    }

    private LoopResources of(EventLoopGroup loops) {
        return loops == servers.onServer(true) || loops == servers.onServerSelect(true) ? servers : clients;
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup loops) {
        return of(loops).onChannel(type, loops);
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup loops) {
        return of(loops).onChannelClass(type, loops);
    }

    @Override
    public boolean daemon() {
        return true;
    }

    @Override
    public boolean isDisposed() {
        return servers.isDisposed() && clients.isDisposed();
    }

    @Override
    public void dispose() {
        disposeLater().subscribe();
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return Mono.whenDelayError(servers.disposeLater(quietPeriod, timeout), clients.disposeLater(quietPeriod, timeout));
    }
}
