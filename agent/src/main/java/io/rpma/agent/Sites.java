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
import java.util.Iterator;
import java.util.regex.Pattern;

/**
 * The methods that the changed classes call. Each method returns its argument if the agent has no replacement. None of them
 * throws, except {@link #handler}.
 *
 * <p>The method of a bootstrap or a framework that creates a channel has the channel's address, but the factory of the channel
 * does not. The agent therefore wraps these methods: they store the address here for their thread, and the replacement of the
 * factory reads it.
 */
public final class Sites {
    /** The names of the options that only some transports have, among them those of TCP's fast open. */
    private static final Pattern TRANSPORT_OPTION = Pattern.compile("\\.channel\\.(epoll\\.Epoll|uring\\.IoUring|unix\\.Unix)"
        + "ChannelOption#|\\.channel\\.ChannelOption#TCP_FASTOPEN$|^TCP_FASTOPEN_CONNECT$");
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

    /**
     * Called at the start of a method that connects to the first address among its arguments. Returns the value to pass to {@link
     * #left}.
     */
    public static Object connects(Object[] arguments) {
        return enter(arguments, true);
    }

    /**
     * Called at the start of a method that listens on the first address among its arguments. Returns the value to pass to {@link
     * #left}.
     */
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

    /** Called at the end of a method that connects or listens. */
    public static void left(Object previous) {
        target((Target) previous);
    }

    /** Returns the object that replaces {@code factory} in {@code factory.newChannel()}. */
    public static Object channelFactory(Object factory, Object bootstrap, Class<?> netty) {
        try {
            return swaps.of(netty).channelFactory(factory, bootstrap);
        } catch (Throwable e) {
            Log.failed("a channel is left as it is", e);
            return factory;
        }
    }

    /** Returns the object that replaces {@code factory} in {@code factory.newHandler(executor)}. */
    public static Object handlerFactory(Object factory, Class<?> netty) {
        try {
            return swaps.of(netty).handlerFactory(factory);
        } catch (Throwable e) {
            Log.failed("an event loop is left as it is", e);
            return factory;
        }
    }

    /** Returns the object that replaces {@code loop} in {@code channel.unsafe().register(loop, promise)}. */
    public static Object loop(Object loop, Object promise, Class<?> netty) {
        try {
            return swaps.of(netty).loop(loop, promise);
        } catch (Throwable e) {
            Log.failed("the registration of a channel is left as it is", e);
            return loop;
        }
    }

    /**
     * Returns the option that replaces {@code option} in {@code config.setOption(option, value)} and in
     * {@code config.getOption(option)}.
     */
    public static Object option(Object config, Object option, Class<?> netty) {
        try {
            return swaps.of(netty).option(config, option);
        } catch (Throwable e) {
            Log.failed("the option " + option + " is left as it is", e);
            return option;
        }
    }

    /**
     * Returns whether a channel has accepted an option. An option that only another transport supports counts as accepted, so
     * that Netty does not log a warning for each connection.
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

    /** Returns the class that replaces {@code handler.getClass()} where an event loop checks the type of its handler. */
    public static Class<?> handlerType(Object handler) {
        return handler instanceof Swap.StandIn standIn ? standIn.original() : handler.getClass();
    }

    /**
     * Returns the handler whose own methods a class of Netty calls. A handler that replaces another one does not have them.
     *
     * @throws RuntimeException if the handler that was replaced cannot be created, for example because it cannot open a file
     */
    public static Object handler(Object handler) {
        return handler instanceof Swap.StandIn standIn ? standIn.originalHandler() : handler;
    }

    /** Returns whether the handler of an event loop replaces another one. */
    public static boolean isStandIn(Object handler) {
        return handler instanceof Swap.StandIn;
    }

    /** Returns the number of channels of the event loop of a handler that replaces another one. */
    public static int registeredChannels(Object handler) {
        return ((Swap.StandIn) handler).channels().size();
    }

    /** Returns the channels of the event loop of a handler that replaces another one. */
    public static Iterator<?> registeredChannelsIterator(Object handler) {
        return ((Swap.StandIn) handler).channels().iterator();
    }
}
