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

package io.rpma.netty;

import io.netty.buffer.AbstractDerivedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.SwappedByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Tells whether who holds a buffer is the only one who holds the registered memory that it shows. A view may have a count of
 * its own, as a {@link io.netty.buffer.CompositeByteBuf} has, which says nothing of the memory: what counts is the buffer that
 * the memory belongs to, and that nothing on the way to it keeps a reference besides.
 */
final class SoleHolder {
    // Both are internal to Netty: who makes the first keeps its reference; the second is what it and leak detection extend.
    private static final Class<?> UNRELEASABLE = Unpooled.unreleasableBuffer(Unpooled.buffer(1, 1)).getClass();
    private static final Class<?> WRAPPER = UNRELEASABLE.getSuperclass();

    private SoleHolder() {
    }

    /** Returns whether nobody but the holder of a buffer can reach the registered memory that it shows, if it shows any. */
    static boolean of(ByteBuf buf) {
        ByteBuf view = buf;
        while (!(view instanceof RpmaByteBuf)) {
            if (!sharesItsCount(view)) {
                return false;
            }
            view = view.unwrap();
        }
        return view.refCnt() == 1 && (view == buf || buf.refCnt() == 1);
    }

    /** Whether the count of a view is that of what it is a view of: slices, duplicates, read-only and checked views. */
    @SuppressWarnings("deprecation")
    private static boolean sharesItsCount(ByteBuf view) {
        return view instanceof AbstractDerivedByteBuf || view instanceof SwappedByteBuf
            || WRAPPER.isInstance(view) && view.getClass() != UNRELEASABLE;
    }
}
