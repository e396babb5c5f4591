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
package io.rpma.soft.shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The free list of the slots of a shared receive queue: a lock-free stack. Any thread may push and pop; the fields are accessed
 * by atomic operations only.
 */
final class FreeSlots {
    /** The result of {@link #pop()} if no slot is free. */
    static final int NONE = -1;

    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(FreeSlots.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Of each free slot: the slot below it on the stack.
    private final AtomicIntegerArray links;
    // The slot on top. The upper half changes with every push and pop, which prevents ABA.
    private volatile long head;

    /** Creates the list, with all slots on it: slot 0 is popped first. */
    FreeSlots(int slots) {
        links = new AtomicIntegerArray(slots);
        for (int i = 0; i < slots; i++) {
            links.setPlain(i, i + 1 < slots ? i + 1 : NONE);
        }
        head = slots > 0 ? 0 : NONE & 0xffff_ffffL;
    }

    /** Takes a slot off the list, or returns {@link #NONE}. */
    int pop() {
        long top = head;
        while (true) {
            int slot = (int) top;
            if (slot == NONE) {
                return NONE;
            }
            long next = (top >>> 32) + 1 << 32 | links.getAcquire(slot) & 0xffff_ffffL;
            if (HEAD.compareAndSet(this, top, next)) {
                return slot;
            }
            top = head;
        }
    }

    /** Puts a slot on the list. */
    void push(int slot) {
        long top = head;
        while (true) {
            links.setRelease(slot, (int) top);
            if (HEAD.compareAndSet(this, top, (top >>> 32) + 1 << 32 | slot)) {
                return;
            }
            top = head;
        }
    }
}
