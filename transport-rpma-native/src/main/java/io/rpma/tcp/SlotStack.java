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
package io.rpma.tcp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A stack of slot numbers, for any threads. It locks nothing and allocates nothing (R. K. Treiber, Systems Programming: Coping
 * with Parallelism, 1986). Several stacks may share an array, because a slot is in one of them at most.
 */
final class SlotStack {
    private static final VarHandle TOP;

    static {
        try {
            TOP = MethodHandles.lookup().findVarHandle(SlotStack.class, "top", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // For each slot that is in a stack: the slot below it, 0 for the lowest one.
    private final int[] below;
    // The slot at the top in the lower half, 0 if the stack is empty. The upper half counts the changes: if the same slot has
    // come back while a thread was looking at it, the slot below it may be another one.
    private long top;

    /**
     * Creates an empty stack.
     *
     * @param below has an element for each slot number; number 0 is no slot
     */
    SlotStack(int[] below) {
        this.below = below;
    }

    /** Adds a slot. What the caller has stored before is visible to the thread that removes the slot. */
    void push(int slot) {
        while (true) {
            long before = (long) TOP.getVolatile(this);
            below[slot] = (int) before;
            if (TOP.compareAndSet(this, before, next(before, slot))) {
                return;
            }
            Thread.onSpinWait();
        }
    }

    /** Removes the slot that was added last; returns 0 if there is none. */
    int pop() {
        while (true) {
            long before = (long) TOP.getVolatile(this);
            int slot = (int) before;
            if (slot == 0) {
                return 0;
            }
            if (TOP.compareAndSet(this, before, next(before, below[slot]))) {
                return slot;
            }
            Thread.onSpinWait();
        }
    }

    boolean isEmpty() {
        return (int) (long) TOP.getVolatile(this) == 0;
    }

    private static long next(long before, int slot) {
        return (before >>> Integer.SIZE) + 1 << Integer.SIZE | slot;
    }
}
