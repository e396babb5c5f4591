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

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;

/**
 * Changes the classes that create channels and event loops: those of Netty, and those of frameworks and applications that call
 * Netty's factories directly. It also changes the classes that name the options of NIO or io_uring, which the channels that
 * replace those of NIO or io_uring have by other names. If a change fails, the class stays as it was.
 */
final class NettyTransformer implements ClassFileTransformer {
    private static final String LANDMARK = "io/netty/" + NettyCopy.LANDMARK;

    private final Options options;
    private final ClassFileLocator advice;
    // The packages of Netty in internal form, with slashes.
    private final List<String> roots = new ArrayList<>();
    private final Map<String, Set<String>> constants = new HashMap<>();
    // For each class loader and root, whether the copy of Netty that the loader sees is changed. Guarded by itself.
    private final Map<ClassLoader, Map<String, Boolean>> copies = new WeakHashMap<>();

    NettyTransformer(Options options, ClassFileLocator advice) {
        this.options = options;
        this.advice = advice;
        List<String> packages = new ArrayList<>(options.prefixes());
        packages.add(Options.NETTY);
        for (String name : packages) {
            String root = name.replace('.', '/');
            roots.add(root);
            constants.put(root, Set.of(root + "/channel/ChannelFactory", root + "/bootstrap/ChannelFactory",
                root + "/channel/IoHandlerFactory", root + "/channel/socket/nio/NioChannelOption",
                root + "/channel/uring/IoUringChannelOption"));
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] file) {
        if (loader == null || loader instanceof TransportLoader || name == null || redefined != null
                || name.startsWith("io/rpma/")) {
            return null;
        }
        try {
            if (name.endsWith(LANDMARK)) {
                meet(loader, name.substring(0, name.length() - NettyCopy.LANDMARK.length() - 1));
            }
            return change(loader, name, file);
        } catch (Throwable e) {
            Log.failed("the class " + name.replace('/', '.') + " is left as it is", e);
            return null;
        }
    }

    /** Handles the loading of a copy of Netty. */
    private void meet(ClassLoader loader, String root) {
        if (!roots.contains(root)) {
            Log.once(NettyCopy.unnamed(loader, root.replace('/', '.')));
        }
    }

    private byte[] change(ClassLoader loader, String name, byte[] file) {
        byte[] result = null;
        for (String root : roots) {
            boolean ofNetty = name.startsWith(root) && isCandidate(name.substring(root.length()));
            List<Scopes> scopes = scopes(root, name, file);
            if (!ofNetty && scopes.isEmpty() && !ConstantPool.hasOneOf(file, constants.get(root))) {
                continue;
            }
            if (isChanged(loader, root)) {
                byte[] changed = change(loader, name, result == null ? file : result, root, scopes);
                if (changed != null) {
                    result = changed;
                }
            }
        }
        return result;
    }

    /** Returns whether this class of Netty is changed although its constant pool names no factory. */
    private static boolean isCandidate(String name) {
        return name.equals("/channel/SingleThreadEventLoop") || name.equals("/channel/nio/NioEventLoop")
            || name.startsWith("/channel/nio/NioEventLoop$") || name.equals("/channel/epoll/EpollEventLoop");
    }

    /** Returns the methods of a class that receive the address of the channels that they create by this copy of Netty. */
    private static List<Scopes> scopes(String root, String name, byte[] file) {
        List<Scopes> found = new ArrayList<>();
        for (Scopes scope : Scopes.ALL) {
            if (scope.ofNetty() ? name.equals(root + '/' + scope.className())
                    : name.equals(scope.className()) && ConstantPool.hasOneOf(file, Set.of(root + "/channel/Channel"))) {
                found.add(scope);
            }
        }
        return found;
    }

    private boolean isChanged(ClassLoader loader, String root) {
        synchronized (copies) {
            Boolean known = copies.computeIfAbsent(loader, key -> new HashMap<>()).get(root);
            if (known != null) {
                return known;
            }
        }
        // The lock is not held here, because the loader may load classes while it answers.
        String reason = NettyCopy.reasonAgainst(loader, root.replace('/', '.'));
        if (reason != null) {
            Log.once(reason);
        }
        synchronized (copies) {
            copies.get(loader).put(root, reason == null);
        }
        return reason == null;
    }

    private byte[] change(ClassLoader loader, String name, byte[] file, String root, List<Scopes> scopes) {
        String className = name.replace('/', '.');
        ClassFileLocator locator = new ClassFileLocator.Compound(ClassFileLocator.Simple.of(className, file),
            ClassFileLocator.ForClassLoader.of(loader), advice);
        TypePool pool = TypePool.Default.WithLazyResolution.of(locator);
        TypeDescription type = pool.describe(className).resolve();
        CallSites calls = new CallSites(root);
        DynamicType.Builder<?> builder = new ByteBuddy().with(TypeValidation.DISABLED).decorate(type, locator).visit(calls);
        Set<String> methods = new HashSet<>();
        for (Scopes scope : scopes) {
            TypeDescription with = pool.describe(scope.advice().getName()).resolve();
            builder = builder.visit(Advice.to(with, locator).on(ElementMatchers.named(scope.method())));
            methods.add(scope.method());
        }
        byte[] changed = builder.make().getBytes();
        if (calls.changed() == 0 && scopes.isEmpty()) {
            return null;
        }
        if (options.report()) {
            Log.say("changed " + className + ": " + calls.changed() + (calls.changed() == 1 ? " call" : " calls")
                + (methods.isEmpty() ? "" : ", the address of " + String.join(", ", methods) + "()"));
        }
        return changed;
    }
}
