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

import java.util.Collection;

/**
 * The changes that the agent makes to one copy of Netty. The methods use only types that every class loader has, because the
 * implementation is loaded by a child of the loader of that copy of Netty and uses its classes.
 */
public interface Swap {
    /**
     * Returns the factory that creates a channel in place of a factory of the application.
     *
     * @param factory a {@code ChannelFactory}
     * @param bootstrap the bootstrap that creates the channel, or {@code null} if no bootstrap does
     * @return a {@code ChannelFactory}, possibly the same object
     */
    Object channelFactory(Object factory, Object bootstrap) throws Throwable;

    /**
     * Returns the factory that creates the handler of an event loop in place of a factory of the application.
     *
     * @param factory an {@code IoHandlerFactory}
     * @return an {@code IoHandlerFactory}, possibly the same object
     */
    Object handlerFactory(Object factory) throws Throwable;

    /**
     * Returns the event loop that a channel is registered with in place of the given one.
     *
     * @param loop an {@code EventLoop}
     * @param promise the {@code ChannelPromise} of the registration
     * @return an {@code EventLoop}, possibly the same object
     */
    Object loop(Object loop, Object promise) throws Throwable;

    /**
     * Returns the option that is set or read in place of an option of the application.
     *
     * @param config the {@code ChannelConfig} in which it is set or read
     * @param option a {@code ChannelOption}
     * @return a {@code ChannelOption} for the same values, possibly the same object
     */
    Object option(Object config, Object option) throws Throwable;

    /** Returns how much data the RPMA connections have transferred so far, in one line. */
    String carried();

    /** A handler of an event loop that replaces another handler. */
    interface StandIn {
        /** Returns the class of the handler that it replaces. */
        Class<?> original();

        /** Returns the handler that the event loop would have without the agent. */
        Object originalHandler();

        /** Returns the channels that the application has registered with the event loop and that are registered now. */
        Collection<?> channels();
    }

    /** The part of the agent that an implementation can call. */
    interface Context {
        /** Returns whether a channel with this target uses RPMA. */
        boolean includes(Target target);

        /** Returns the target of the channel that this thread is creating; never {@code null}. */
        Target target();

        /** Sets the target of the channel that this thread is creating; {@code null} for none. */
        void target(Target target);

        /** Prints a message that every user should see, but only once. */
        void say(String line);

        /** Prints a message about a failure, with the stack trace if the message has not been printed before. */
        void failed(String line, Throwable cause);

        /** Prints what the agent did, if the options request a report. */
        void report(String line);
    }
}
