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
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.jar.JarFile;

/**
 * Holds the {@link Swap} of each copy of Netty in this process. It is created when the copy creates its first event loop or
 * channel.
 */
final class Swaps {
    private static final String IMPLEMENTATION = "io.rpma.agent.netty.NettySwap";
    /** The exception of the transport whose message says what is missing. The loader of this class does not have its class. */
    private static final String UNAVAILABLE = "io.rpma.RpmaUnavailableException";

    private final Options options;
    private final Selection selection;
    private final File jarFile;
    private final JarFile jar;
    // The keys are the loader of the copy and the package that replaces io.netty. Guarded by itself. The references are weak,
    // because a swap references its loader; the class of Netty in byClass keeps the swap reachable.
    private final Map<ClassLoader, Map<String, WeakReference<Swap>>> byLoader = new WeakHashMap<>();
    // A cache for the classes of Netty that call the agent repeatedly.
    private final ClassValue<Swap> byClass = new ClassValue<>() {
        @Override
        protected Swap computeValue(Class<?> netty) {
            return find(netty);
        }
    };

    Swaps(Options options, File jarFile, JarFile jar) {
        this.options = options;
        selection = new Selection(options);
        this.jarFile = jarFile;
        this.jar = jar;
    }

    Swap of(Class<?> netty) {
        return byClass.get(netty);
    }

    private Swap find(Class<?> netty) {
        String name = netty.getName();
        String root = Options.NETTY;
        for (String prefix : options.prefixes()) {
            if (name.startsWith(prefix + '.')) {
                root = prefix;
            }
        }
        synchronized (byLoader) {
            Map<String, WeakReference<Swap>> byRoot
                = byLoader.computeIfAbsent(netty.getClassLoader(), loader -> new HashMap<>());
            WeakReference<Swap> known = byRoot.get(root);
            Swap swap = known == null ? null : known.get();
            if (swap == null) {
                swap = make(netty.getClassLoader(), root);
                byRoot.put(root, new WeakReference<>(swap));
            }
            return swap;
        }
    }

    private Swap make(ClassLoader loader, String root) {
        try {
            TransportLoader transport = new TransportLoader(loader, root, jarFile, jar);
            return (Swap) Class.forName(IMPLEMENTATION, true, transport).getConstructor(Swap.Context.class)
                .newInstance(new Context());
        } catch (Throwable e) {
            Throwable cause = e instanceof InvocationTargetException && e.getCause() != null ? e.getCause() : e;
            String line = "the Netty of the package " + root + " is left as it is: RPMA cannot be used";
            if (cause.getClass().getName().equals(UNAVAILABLE)) {
                Log.once(line + ": " + cause.getMessage());
            } else {
                Log.failed(line, cause);
            }
            return Unchanged.INSTANCE;
        }
    }

    /** Prints what the agent did, if the options request a report, but only once. */
    void report(String line) {
        if (options.report()) {
            Log.once(line);
        }
    }

    /** Returns how much data the connections of all copies have transferred, in one line per copy. */
    List<String> carried() {
        List<String> lines = new ArrayList<>();
        synchronized (byLoader) {
            for (Map<String, WeakReference<Swap>> byRoot : byLoader.values()) {
                for (WeakReference<Swap> reference : byRoot.values()) {
                    Swap swap = reference.get();
                    if (swap != null) {
                        lines.add(swap.carried());
                    }
                }
            }
        }
        return lines;
    }

    private final class Context implements Swap.Context {
        @Override
        public boolean includes(Target target) {
            return target.isRemote() ? selection.includesRemote(target.address()) : selection.includesLocal(target.address());
        }

        @Override
        public Target target() {
            return Sites.target();
        }

        @Override
        public void target(Target target) {
            Sites.target(target);
        }

        @Override
        public void say(String line) {
            Log.once(line);
        }

        @Override
        public void failed(String line, Throwable cause) {
            Log.failed(line, cause);
        }

        @Override
        public void report(String line) {
            if (options.report()) {
                Log.say(line);
            }
        }
    }

    /** The swap of a copy of Netty that cannot use RPMA. */
    private enum Unchanged implements Swap {
        INSTANCE;

        @Override
        public Object channelFactory(Object factory, Object bootstrap) {
            return factory;
        }

        @Override
        public Object handlerFactory(Object factory) {
            return factory;
        }

        @Override
        public Object loop(Object loop, Object promise) {
            return loop;
        }

        @Override
        public Object option(Object config, Object option) {
            return option;
        }

        @Override
        public String carried() {
            return "nothing went over RPMA";
        }
    }
}
