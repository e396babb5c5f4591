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
package io.rpma.soft;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Prepared objects that states use in turn. Creating an object takes so long that two threads would hardly ever meet in a new
 * one. Each object is used again after as many states as there are objects. Their number must be at least twice the number of
 * states that are live at the same time, which {@code run.sh} determines by the length and the number of the strides.
 */
final class Turns<T> {
    /** The number of objects, more than twice the number of states that are live when {@code run.sh} runs the cases. */
    static final int OBJECTS = 160;

    private final Object[] objects = new Object[OBJECTS];
    private final AtomicInteger next = new AtomicInteger();

    /** Creates an object. */
    interface Maker<T> {
        T make() throws Exception;
    }

    Turns(Maker<T> maker) {
        try {
            for (int i = 0; i < objects.length; i++) {
                objects[i] = maker.make();
            }
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unchecked")
    T next() {
        return (T) objects[Math.floorMod(next.getAndIncrement(), OBJECTS)];
    }
}
