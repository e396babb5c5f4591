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

/** The transports that are measured and compared. The others are compared with the first one. */
enum Rival {
    /** This transport. */
    RPMA("rpma", "RPMA", "this transport, as it comes", NettyTransport.RPMA),
    /** This transport with event loops that never spin. */
    RPMA_BLOCKING("rpma-block", "RPMA, no spin", "this transport, whose loops never spin: -Dio.rpma.netty.polling=block",
        NettyTransport.RPMA, "-Dio.rpma.netty.polling=block"),
    /** This transport with event loops that always spin. */
    RPMA_SPINNING("rpma-spin", "RPMA, always spins", "this transport, whose loops always spin: -Dio.rpma.netty.polling=spin",
        NettyTransport.RPMA, "-Dio.rpma.netty.polling=spin"),
    /** This transport over shared memory, for the comparison of its paths. */
    SHARED_MEMORY("shared-memory", "shared memory", "this transport by its path shared-memory", NettyTransport.RPMA, Place.HERE,
        "-Dio.rpma.provider=soft"),
    /** This transport over an RDMA device, for the comparison of its paths. */
    RDMA("rdma", "RDMA", "this transport by its path rdma", NettyTransport.RPMA, Place.HERE, "-Dio.rpma.provider=librpma"),
    /** This transport over TCP, for the comparison of its paths. */
    TCP("tcp", "path tcp", "this transport by its path tcp", NettyTransport.RPMA, Place.HERE, "-Dio.rpma.provider=tcp"),
    /** TCP over epoll. */
    EPOLL("epoll", "epoll TCP", "Netty's TCP over epoll", NettyTransport.EPOLL),
    /** This transport over TCP, between two hosts. */
    TCP_OF_HOSTS("tcp-hosts", "path tcp, 2 hosts", "this transport by its path tcp, between two network namespaces",
        NettyTransport.RPMA, Place.TWO_HOSTS, "-Dio.rpma.provider=tcp"),
    /** TCP over epoll, between two hosts. */
    EPOLL_OF_HOSTS("epoll-hosts", "epoll TCP, 2 hosts", "Netty's TCP over epoll, between two network namespaces",
        NettyTransport.EPOLL, Place.TWO_HOSTS),
    /** Unix domain sockets over epoll. */
    EPOLL_DOMAIN("uds", "epoll UDS", "Netty's Unix domain sockets over epoll", NettyTransport.EPOLL_DOMAIN),
    /** TCP over io_uring. */
    IO_URING("io_uring", "io_uring TCP", "Netty's TCP over io_uring", NettyTransport.IO_URING),
    /** TCP over the JDK's selectors. */
    NIO("nio", "NIO TCP", "Netty's TCP over the JDK's selectors", NettyTransport.NIO),
    /** Aeron messages in shared memory. */
    AERON("aeron", "Aeron IPC", "a yardstick, not a Netty transport: messages of Aeron in shared memory, both ends spin",
        new AeronEngine()),
    /** Copying memory. */
    COPY("memcpy", "memcpy", "a yardstick: one thread that copies memory", MemoryEngine.COPY),
    /** Writing, copying and reading memory. */
    WRITE_COPY_READ("touch", "write+copy+read", "a yardstick: one thread that writes memory, copies it and reads the copy",
        MemoryEngine.WRITE_COPY_READ),
    /** Writing and copying memory on one processor, and reading it on another. */
    TWO_THREADS("two-threads", "two threads", "a yardstick: one thread writes memory and copies it past the caches, another one"
        + " reads the copy", new TwoThreadEngine());

    private final String key;
    private final String title;
    private final String description;
    private final Engine engine;
    private final Place place;
    private final List<String> jvmOptions;

    /** The places of the two ends of a path. */
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

    /** Returns the name on the command line. */
    String key() {
        return key;
    }

    /** Returns a short name for places with little space. */
    String title() {
        return title;
    }

    String description() {
        return description;
    }

    Engine engine() {
        return engine;
    }

    /** Returns the JVM options that configure the processes for this rival. */
    List<String> jvmOptions() {
        return jvmOptions;
    }

    /** Returns whether this rival is only part of a run with {@code --paths}. */
    boolean isOfPaths() {
        return place != null;
    }

    /** Returns whether the two ends are on two hosts. */
    boolean needsTwoHosts() {
        return place == Place.TWO_HOSTS;
    }

    /** Returns the rival that a path is compared with; {@code null} if this is not a path. */
    Rival yardstick() {
        return place == null || engine == NettyTransport.EPOLL ? null : needsTwoHosts() ? EPOLL_OF_HOSTS : EPOLL;
    }

    /** Returns why this rival cannot run on this machine, or {@code null} if it can. */
    Throwable unavailabilityCause() {
        return this == RDMA ? Rpma.unavailabilityCause() : engine.unavailabilityCause();
    }

    static Rival withKey(String key) {
        return Arrays.stream(values()).filter(each -> each.key.equals(key)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("there is no rival " + key));
    }
}
