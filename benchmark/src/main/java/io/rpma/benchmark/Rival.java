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
package io.rpma.benchmark;

import io.rpma.Rpma;
import java.util.Arrays;
import java.util.List;

/** What is measured side by side. The first is what the others are compared with. */
enum Rival {
    /** This transport. */
    RPMA("rpma", "RPMA", "this transport, as it comes", NettyTransport.RPMA),
    /** This transport, whose loops never spin. */
    RPMA_BLOCKING("rpma-block", "RPMA, no spin", "this transport, whose loops never spin: -Dio.rpma.netty.spinNanos=0",
        NettyTransport.RPMA, "-Dio.rpma.netty.spinNanos=0"),
    /** This transport in shared memory, beside its other paths. */
    SHARED_MEMORY("shared-memory", "shared memory", "this transport by its path shared-memory", NettyTransport.RPMA, Place.HERE,
        "-Dio.rpma.provider=soft"),
    /** This transport on an RDMA device, beside its other paths. */
    RDMA("rdma", "RDMA", "this transport by its path rdma", NettyTransport.RPMA, Place.HERE, "-Dio.rpma.provider=librpma"),
    /** This transport by TCP, beside its other paths. */
    TCP("tcp", "path tcp", "this transport by its path tcp", NettyTransport.RPMA, Place.HERE, "-Dio.rpma.provider=tcp"),
    /** TCP over epoll. */
    EPOLL("epoll", "epoll TCP", "Netty's TCP over epoll", NettyTransport.EPOLL),
    /** This transport by TCP, from another host. */
    TCP_OF_HOSTS("tcp-hosts", "path tcp, 2 hosts", "this transport by its path tcp, between two network namespaces",
        NettyTransport.RPMA, Place.TWO_HOSTS, "-Dio.rpma.provider=tcp"),
    /** TCP over epoll, from another host. */
    EPOLL_OF_HOSTS("epoll-hosts", "epoll TCP, 2 hosts", "Netty's TCP over epoll, between two network namespaces",
        NettyTransport.EPOLL, Place.TWO_HOSTS),
    /** Unix domain sockets over epoll. */
    EPOLL_DOMAIN("uds", "epoll UDS", "Netty's Unix domain sockets over epoll", NettyTransport.EPOLL_DOMAIN),
    /** TCP over io_uring. */
    IO_URING("io_uring", "io_uring TCP", "Netty's TCP over io_uring", NettyTransport.IO_URING),
    /** TCP over the JDK's selectors. */
    NIO("nio", "NIO TCP", "Netty's TCP over the JDK's selectors", NettyTransport.NIO),
    /** Messages in shared memory. */
    AERON("aeron", "Aeron IPC", "a yardstick, not a Netty transport: messages of Aeron in shared memory, both ends spin",
        new AeronEngine()),
    /** Copying. */
    COPY("memcpy", "memcpy", "a yardstick: one thread that copies memory", MemoryEngine.COPY),
    /** Writing, copying, reading. */
    WRITE_COPY_READ("touch", "write+copy+read", "a yardstick: one thread that writes memory, copies it and reads the copy",
        MemoryEngine.WRITE_COPY_READ);

    private final String key;
    private final String title;
    private final String description;
    private final Engine engine;
    private final Place place;
    private final List<String> jvmOptions;

    /** Where both ends of a path are. */
    private enum Place { HERE, TWO_HOSTS }

    Rival(String key, String title, String description, Engine engine, String... jvmOptions) {
        this(key, title, description, engine, null, jvmOptions);
    }

    Rival(String key, String title, String description, Engine engine, Place place, String... jvmOptions) {
        this.key = key;
        this.title = title;
        this.description = description;
        this.engine = engine;
        this.place = place;
        this.jvmOptions = List.of(jvmOptions);
    }

    /** Returns what selects it on the command line. */
    String key() {
        return key;
    }

    /** Returns what it is called where there is little room. */
    String title() {
        return title;
    }

    String description() {
        return description;
    }

    Engine engine() {
        return engine;
    }

    /** Returns the options of its processes that make it this rival. */
    List<String> jvmOptions() {
        return jvmOptions;
    }

    /** Whether it is there for {@code --paths} alone. */
    boolean isOfPaths() {
        return place != null;
    }

    /** Whether its ends are on two hosts. */
    boolean needsTwoHosts() {
        return place == Place.TWO_HOSTS;
    }

    /** Returns what a path is compared with, {@code null} if this is no path. */
    Rival yardstick() {
        return place == null || engine == NettyTransport.EPOLL ? null : needsTwoHosts() ? EPOLL_OF_HOSTS : EPOLL;
    }

    /** Returns why this machine cannot run it, or {@code null} if it can. */
    Throwable unavailabilityCause() {
        return this == RDMA ? Rpma.unavailabilityCause() : engine.unavailabilityCause();
    }

    static Rival withKey(String key) {
        return Arrays.stream(values()).filter(each -> each.key.equals(key)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("there is no rival " + key));
    }
}
