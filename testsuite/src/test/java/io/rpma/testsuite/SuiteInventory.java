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
package io.rpma.testsuite;

import io.netty.testsuite.transport.AbstractTestsuiteTest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * The classes of Netty's suite, which of them this project runs, which it does not run and why, and which of their methods it
 * overrides.
 */
final class SuiteInventory {
    /** Classes of the suite that do not apply to another stream transport, with the reasons. */
    static final Map<String, String> OUT_OF_SCOPE = new TreeMap<>(Map.ofEntries(
        Map.entry("AbstractComboTestsuiteTest", "base class"),
        Map.entry("AbstractTestsuiteTest", "base class"),
        Map.entry("AbstractClientSocketTest", "base class"),
        Map.entry("AbstractServerSocketTest", "base class"),
        Map.entry("AbstractSocketTest", "base class"),
        Map.entry("AbstractDatagramTest", "datagrams"),
        Map.entry("AbstractSctpTest", "SCTP"),
        Map.entry("DatagramConnectNotExistsTest", "datagrams"),
        Map.entry("DatagramConnectedWriteExceptionTest", "datagrams"),
        Map.entry("DatagramMulticastIPv6Test", "datagrams"),
        Map.entry("DatagramMulticastTest", "datagrams"),
        Map.entry("DatagramUnicastIPv6MappedTest", "datagrams"),
        Map.entry("DatagramUnicastIPv6Test", "datagrams"),
        Map.entry("DatagramUnicastInetTest", "datagrams"),
        Map.entry("DatagramUnicastTest", "datagrams"),
        Map.entry("DefaultEventLoopTest", "tests the loop of the in-process transport"),
        Map.entry("NioEventLoopTest", "tests the loop of NIO"),
        Map.entry("SctpEchoTest", "SCTP"),
        Map.entry("SocketShutdownOutputByPeerTest", "the same two cases run through its base class, with an RDMA peer"),
        Map.entry("SocketSslLargeCertificateTest", "tests a fix of NIO, which does not concern other transports"),
        Map.entry("UDTClientServerConnectionTest", "UDT")));

    private SuiteInventory() {
    }

    /** Returns the names of all test classes in Netty's suite below {@code io.netty.testsuite.transport}. */
    static List<String> classesOfNetty() {
        try (JarFile jar = new JarFile(Path.of(location(AbstractTestsuiteTest.class)).toFile())) {
            return jar.stream().map(entry -> entry.getName())
                .filter(name -> name.startsWith("io/netty/testsuite/transport/") && name.endsWith("Test.class"))
                .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.')).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the test classes of this project. */
    static List<Class<?>> classesOfOurs() {
        Path folder = Path.of(location(SuiteInventory.class)).resolve("io/rpma/testsuite");
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith("Test.class"))
                .map(name -> name.substring(0, name.length() - ".class".length())).sorted()
                .<Class<?>>map(SuiteInventory::load).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether a class of this project runs tests that Netty requires of its own transports. */
    static boolean isNettys(Class<?> ours) {
        return ours == DetectPeerCloseWithoutReadTest.class || ours.getSuperclass().getName().startsWith("io.netty.");
    }

    /** Returns the suite's name for a class of this project. */
    static String nettysName(Class<?> ours) {
        return ours == DetectPeerCloseWithoutReadTest.class ? ours.getSimpleName() : ours.getSuperclass().getSimpleName();
    }

    /**
     * Returns the methods with which a class of this project replaces code of the suite, except for those that select the
     * transport and the allocator.
     */
    static List<Method> overrides(Class<?> ours) {
        if (!isNettys(ours) || ours == DetectPeerCloseWithoutReadTest.class) {
            return List.of();
        }
        List<Method> found = new ArrayList<>();
        for (Method method : ours.getDeclaredMethods()) {
            boolean chooses = method.getName().equals("newFactories") || method.getName().equals("newAllocators");
            if (!chooses && !method.isSynthetic() && replacesCode(ours.getSuperclass(), method)) {
                found.add(method);
            }
        }
        found.sort(Comparator.comparing(Method::getName));
        return found;
    }

    private static boolean replacesCode(Class<?> base, Method method) {
        for (Class<?> c = base; c != null; c = c.getSuperclass()) {
            for (Method candidate : c.getDeclaredMethods()) {
                if (candidate.getName().equals(method.getName()) && !Modifier.isPrivate(candidate.getModifiers())
                    && !Modifier.isStatic(candidate.getModifiers())
                    && Arrays.equals(candidate.getParameterTypes(), method.getParameterTypes())) {
                    // The nearest declaration decides, because a class of the suite may make a method abstract again.
                    return !Modifier.isAbstract(candidate.getModifiers());
                }
            }
        }
        return false;
    }

    /** Returns the folder or jar from which a class was loaded. */
    static URI location(Class<?> type) {
        try {
            return type.getProtectionDomain().getCodeSource().getLocation().toURI();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Class<?> load(String simpleName) {
        try {
            return Class.forName(SuiteInventory.class.getPackageName() + '.' + simpleName, false,
                SuiteInventory.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
