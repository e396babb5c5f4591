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

import java.net.SocketAddress;
import java.util.regex.Pattern;

/**
 * What the changed classes call. Each method returns what it was given if the agent cannot do better, and none throws.
 *
 * <p>The address of a channel is known to the method of a bootstrap or a framework that makes the channel, and not to the
 * factory. So the agent wraps those methods: they leave the address here, on their thread, and what replaces the factory finds
 * it.
 */
public final class Sites {
    private static final Pattern TRANSPORT_OPTION
        = Pattern.compile("\\.channel\\.(epoll\\.Epoll|uring\\.IoUring|unix\\.Unix)ChannelOption#");
    private static final ThreadLocal<Target> TARGET = new ThreadLocal<>();
    private static volatile Swaps swaps;

    private Sites() {
    }

    static void start(Swaps with) {
        swaps = with;
    }

    static Target target() {
        Target target = TARGET.get();
        return target != null ? target : Target.UNKNOWN;
    }

    static void target(Target target) {
        if (target != null) {
            TARGET.set(target);
        } else {
            TARGET.remove();
        }
    }

    /** A method that connects to the first address among its arguments begins. Returns what {@link #left} is to be given. */
    public static Object connects(Object[] arguments) {
        return enter(arguments, true);
    }

    /** A method that listens on the first address among its arguments begins. Returns what {@link #left} is to be given. */
    public static Object binds(Object[] arguments) {
        return enter(arguments, false);
    }

    private static Object enter(Object[] arguments, boolean isRemote) {
        Target previous = TARGET.get();
        for (Object argument : arguments) {
            if (argument instanceof SocketAddress address) {
                TARGET.set(new Target(address, isRemote));
                break;
            }
        }
        return previous;
    }

    /** A method that connects or listens has ended. */
    public static void left(Object previous) {
        target((Target) previous);
    }

    /** Replaces {@code factory} in {@code factory.newChannel()}. */
    public static Object channelFactory(Object factory, Object bootstrap, Class<?> netty) {
        try {
            return swaps.of(netty).channelFactory(factory, bootstrap);
        } catch (Throwable e) {
            Log.failed("a channel is left as it is", e);
            return factory;
        }
    }

    /** Replaces {@code factory} in {@code factory.newHandler(executor)}. */
    public static Object handlerFactory(Object factory, Class<?> netty) {
        try {
            return swaps.of(netty).handlerFactory(factory);
        } catch (Throwable e) {
            Log.failed("an event loop is left as it is", e);
            return factory;
        }
    }

    /** Replaces {@code loop} in {@code channel.unsafe().register(loop, promise)}. */
    public static Object loop(Object loop, Object promise, Class<?> netty) {
        try {
            return swaps.of(netty).loop(loop, promise);
        } catch (Throwable e) {
            Log.failed("the registration of a channel is left as it is", e);
            return loop;
        }
    }

    /**
     * Says whether a channel has taken an option. One that only another transport knows counts as taken, so that Netty does not
     * warn of each connection.
     */
    public static boolean accepted(Object option, Object value, boolean accepted) {
        if (accepted || !isOfAnotherTransport(option)) {
            return accepted;
        }
        swaps.report("the option " + option + " = " + value + " is accepted and has no effect");
        return true;
    }

    private static boolean isOfAnotherTransport(Object option) {
        return option.getClass().getName().endsWith(".NioChannelOption") || TRANSPORT_OPTION.matcher(option.toString()).find();
    }

    /** Replaces {@code handler.getClass()} where an event loop is asked what kind it is. */
    public static Class<?> handlerType(Object handler) {
        return handler instanceof Swap.StandIn standIn ? standIn.original() : handler.getClass();
    }
}
