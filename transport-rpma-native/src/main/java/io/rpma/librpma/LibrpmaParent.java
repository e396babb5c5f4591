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
package io.rpma.librpma;

import io.rpma.RpmaError;
import io.rpma.RpmaException;

/**
 * An object from which others are created. The library would free it even while they still point to it; this class refuses that
 * until the last of them is closed.
 */
abstract class LibrpmaParent extends LibrpmaHandle {
    private int children;

    LibrpmaParent(String what, long handle) {
        super(what, handle);
    }

    /**
     * Adds an object that uses this one.
     *
     * @return the pointer
     * @throws RpmaException {@link RpmaError#INVALID} if this object is closed
     */
    final synchronized long retain() throws RpmaException {
        long pointer = handle();
        children++;
        return pointer;
    }

    /** Removes an object that used this one. */
    final synchronized void release() {
        children--;
    }

    /**
     * Returns the pointer to the first caller, which has to free it, and 0 to all others.
     *
     * @param function the function that will free it
     * @throws RpmaException {@link RpmaError#PROVIDER} if it is in use
     */
    final synchronized long takeUnused(String function) throws RpmaException {
        if (isOpen() && children > 0) {
            throw new RpmaException(RpmaError.PROVIDER, function + " refused: the " + what() + " is still used by " + children
                + " open object(s) made from it; close those first");
        }
        return take();
    }
}
