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

/**
 * What the agent does to one copy of Netty. The types are those that every class loader has: the implementation is loaded beside
 * that copy of Netty, and knows its classes.
 */
public interface Swap {
    /**
     * Returns what makes a channel in place of a factory of the application.
     *
     * @param factory a {@code ChannelFactory}
     * @param bootstrap the bootstrap that asks for a channel, or {@code null} if something else does
     * @return a {@code ChannelFactory}, perhaps the same
     */
    Object channelFactory(Object factory, Object bootstrap) throws Throwable;

    /**
     * Returns what makes the handler of an event loop in place of a factory of the application.
     *
     * @param factory an {@code IoHandlerFactory}
     * @return an {@code IoHandlerFactory}, perhaps the same
     */
    Object handlerFactory(Object factory) throws Throwable;

    /**
     * Returns the event loop that a channel is to be registered with in place of the one that was chosen.
     *
     * @param loop an {@code EventLoop}
     * @param promise the {@code ChannelPromise} of the registration
     * @return an {@code EventLoop}, perhaps the same
     */
    Object loop(Object loop, Object promise) throws Throwable;

    /** Returns what the connections of RPMA have carried so far, in one line. */
    String carried();

    /** The handler of an event loop that does the work of another. */
    interface StandIn {
        /** Returns the class of the handler whose work it does. */
        Class<?> original();
    }

    /** What an implementation is given. */
    interface Context {
        /** Whether what has this address goes over RPMA. */
        boolean includes(Target target);

        /** Returns the target of the channel that is being made on this thread; never {@code null}. */
        Target target();

        /** Sets the target of the channel that is being made on this thread; {@code null} for none. */
        void target(Target target);

        /** Says something that matters to everybody, once. */
        void say(String line);

        /** Says what was done, where a report is asked for. */
        void report(String line);
    }
}
