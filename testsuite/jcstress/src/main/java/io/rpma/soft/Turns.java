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
 * Prepared objects that states take in turn. To make one takes so long that hardly two threads would ever meet in it. Each object
 * is taken again after as many states as there are objects: their number has to be twice the number of states that are live at
 * the same time, which {@code run.sh} sets by the length and the number of the strides.
 */
final class Turns<T> {
    /** More than twice the number of states that are live when {@code run.sh} runs the cases. */
    static final int OBJECTS = 160;

    private final Object[] objects = new Object[OBJECTS];
    private final AtomicInteger next = new AtomicInteger();

    /** Makes an object. */
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
