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

package io.rpma.netty.memory;

import io.netty.buffer.AbstractDerivedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.SwappedByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Determines whether the holder of a buffer is the only holder of the registered memory behind it. A view may have a reference
 * count of its own, as a {@link io.netty.buffer.CompositeByteBuf} has, which does not reflect the references to the memory.
 * What counts is the buffer that owns the memory, and that no view in between keeps an additional reference.
 */
public final class SoleHolder {
    // Both classes are internal to Netty. The creator of an unreleasable buffer keeps its reference; WRAPPER is the superclass
    // of that class and of the views of leak detection.
    private static final Class<?> UNRELEASABLE = Unpooled.unreleasableBuffer(Unpooled.buffer(1, 1)).getClass();
    private static final Class<?> WRAPPER = UNRELEASABLE.getSuperclass();

    private SoleHolder() {
    }

    /** Returns whether the buffer shows registered memory that nothing but the holder of the buffer can access. */
    public static boolean of(ByteBuf buf) {
        ByteBuf view = buf;
        while (!(view instanceof RpmaByteBuf)) {
            if (!sharesItsCount(view)) {
                return false;
            }
            view = view.unwrap();
        }
        return view.refCnt() == 1 && (view == buf || buf.refCnt() == 1);
    }

    /**
     * Returns whether a view shares the reference count of its buffer: slices, duplicates, read-only and leak-detecting views
     * do.
     */
    @SuppressWarnings("deprecation")
    private static boolean sharesItsCount(ByteBuf view) {
        return view instanceof AbstractDerivedByteBuf || view instanceof SwappedByteBuf
            || WRAPPER.isInstance(view) && view.getClass() != UNRELEASABLE;
    }
}
