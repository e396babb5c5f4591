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

package io.rpma.netty.jit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * A method that the just-in-time compiler never inlines into its caller. The transport uses it for three purposes.
 *
 * <p><b>The handlers of the application are compiled separately from the transport.</b> HotSpot's C2 compiler inlines at most 15
 * levels of calls ({@code -XX:MaxInlineLevel}). In a pipeline with few handlers, C2 can inline the poll of the completion queue,
 * the read loop, the pipeline and the handler into one another. The handler then begins at level 11, and C2 does not inline what
 * the handler calls below level 15, not even the accessor of the JDK that reads eight bytes in a loop over the payload. Whether
 * this happens depends on which method is compiled first: the throughput of the same program differed by a factor of five from
 * one run to the next. Behind a barrier, the levels are counted from 0 again.
 *
 * <p><b>The parts of the data path are compiled separately from one another.</b> Otherwise C2 compiles each part several times:
 * by itself, and inlined into each of its callers, and into their callers. In the first seconds of a process C2 competes with the
 * event loops for the processors, so this work decides how soon a process reaches its full rate. Barriers therefore stand between
 * the event loop, the reading, the writing, the buffers and the provider.
 *
 * <p><b>The steps in the life of a connection are compiled separately</b>, for the same reason: connecting, accepting, the
 * events of the connection, and closing. Each executes many methods once, so C2 would inline tens of thousands of bytes of
 * bytecode.
 *
 * <p>C2 inlines a call through a method handle only if the handle is a constant to the compiler. The field that holds the handle
 * is therefore not final, although it never changes. A call allocates nothing, and takes a few nanoseconds.
 *
 * <p>Any thread may use a barrier that may call the method.
 */
public final class InliningBarrier {
    // Must not be final. See above.
    private MethodHandle method;

    private InliningBarrier(MethodHandle method) {
        this.method = method;
    }

    /**
     * Creates a barrier in front of an instance method. Called when a class that holds the barrier is initialized.
     *
     * @param lookup a lookup that has access to the method
     * @param owner the class or interface that declares the method
     * @param name the name of the method
     * @param type the types of the result and of the parameters, without the receiver
     * @throws ExceptionInInitializerError if there is no such method, or if it is not accessible
     */
    public InliningBarrier(MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type) {
        try {
            method = lookup.findVirtual(owner, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Creates a barrier in front of a static method; see the constructor.
     *
     * @param type the types of the result and of the parameters
     */
    public static InliningBarrier ofStatic(MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type) {
        try {
            return new InliningBarrier(lookup.findStatic(owner, name, type));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Returns the method, to be called by {@link MethodHandle#invokeExact} with exactly the types of its parameters. */
    public MethodHandle method() {
        return method;
    }
}
