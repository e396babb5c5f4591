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

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.commons.ClassRemapper;
import net.bytebuddy.jar.asm.commons.Remapper;
import net.bytebuddy.utility.OpenedClassReader;

/**
 * Loads the transport for one copy of Netty, as a child of the class loader that holds the copy. That loader may be the
 * application's loader or a descendant of it, as in an executable jar of Spring Boot. The transport's classes are in a folder of
 * the agent's jar that no other loader searches. If the application contains the transport or Netty's epoll transport itself, its
 * own classes take precedence.
 *
 * <p>For a relocated copy of Netty, the names of Netty's classes are changed in each class while it is loaded.
 */
final class TransportLoader extends ClassLoader {
    private static final String FOLDER = "META-INF/rpma-agent/";
    private static final String AGENT = "io.rpma.agent.netty.";
    private static final String EPOLL = ".channel.epoll.";
    private static final String NATIVE = "META-INF/native/lib";
    private static final String EPOLL_LIBRARY = "netty_transport_native_epoll_";

    static {
        registerAsParallelCapable();
    }

    private final String root;
    private final File file;
    private final JarFile jar;
    // The prefix of the names of the native libraries in this copy of Netty.
    private final String libraryPrefix;
    private final boolean bringsEpoll;

    /**
     * Creates a loader.
     *
     * @param root the package of this copy of Netty
     * @param file the jar file of the agent
     */
    TransportLoader(ClassLoader netty, String root, File file, JarFile jar) {
        super("rpma-agent", netty);
        this.root = root;
        this.file = file;
        this.jar = jar;
        libraryPrefix = root.substring(0, root.length() - Options.NETTY.length()).replace("_", "_1").replace('.', '_');
        bringsEpoll = netty.getResource(NATIVE + libraryPrefix + EPOLL_LIBRARY + architecture() + ".so") == null;
    }

    private static String architecture() {
        return System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64";
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null && isOwn(name)) {
                loaded = findClass(name);
            }
            if (loaded == null) {
                return super.loadClass(name, resolve);
            }
            if (resolve) {
                resolveClass(loaded);
            }
            return loaded;
        }
    }

    /** Returns whether this loader loads the class itself instead of asking its parent first. */
    private boolean isOwn(String name) {
        // The JVM binds a native library to the loader of the class that loads it. This loader therefore loads Netty's epoll
        // classes itself, because the parent may have the classes without the library.
        return name.startsWith(AGENT) || bringsEpoll && (name.startsWith(root + EPOLL) || name.equals(loaderOfLibraries()));
    }

    private String loaderOfLibraries() {
        return root + ".util.internal.NativeLibraryUtil";
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try {
            byte[] bytes = bytes(name);
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] bytes(String name) throws IOException {
        if (name.equals(loaderOfLibraries())) {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                return in == null ? null : in.readAllBytes();
            }
        }
        boolean ofNetty = name.startsWith(root + '.');
        String original = ofNetty ? Options.NETTY + name.substring(root.length()) : name;
        String path = original.replace('.', '/') + ".class";
        JarEntry entry = jar.getJarEntry(original.startsWith(AGENT) ? path : FOLDER + path);
        if (entry == null) {
            return null;
        }
        try (InputStream in = jar.getInputStream(entry)) {
            byte[] bytes = in.readAllBytes();
            return root.equals(Options.NETTY) ? bytes : relocate(bytes);
        }
    }

    private byte[] relocate(byte[] bytes) {
        String from = Options.NETTY.replace('.', '/') + '/';
        String to = root.replace('.', '/') + '/';
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(0);
        reader.accept(new ClassRemapper(writer, new Remapper(OpenedClassReader.ASM_API) {
            @Override
            public String map(String name) {
                return name.startsWith(from) ? to + name.substring(from.length()) : name;
            }
        }), 0);
        return writer.toByteArray();
    }

    @Override
    protected URL findResource(String name) {
        String path = name;
        if (name.startsWith(NATIVE + libraryPrefix)) {
            path = NATIVE + name.substring(NATIVE.length() + libraryPrefix.length());
        }
        if (jar.getJarEntry(FOLDER + path) == null) {
            return null;
        }
        try {
            return URI.create("jar:" + file.toURI() + "!/" + FOLDER + path).toURL();
        } catch (MalformedURLException e) {
            return null;
        }
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL found = findResource(name);
        return Collections.enumeration(found == null ? List.of() : List.of(found));
    }
}
