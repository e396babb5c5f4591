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

import java.util.concurrent.atomic.AtomicInteger;

/** A reference count: the last user releases the object. Thread-safe. */
public final class UseCount {
    private final AtomicInteger users = new AtomicInteger(1);

    /** Restarts the count with one user. Only before the object is published again. */
    public void restart() {
        users.set(1);
    }

    /** Adds a user. Only a user may call it. */
    public void retain() {
        users.incrementAndGet();
    }

    /** Adds a user unless the last one has released the object. Returns whether a user was added. */
    public boolean tryRetain() {
        int count = users.get();
        while (count > 0) {
            if (users.compareAndSet(count, count + 1)) {
                return true;
            }
            count = users.get();
        }
        return false;
    }

    /** Removes a user. Returns whether it was the last one. */
    public boolean release() {
        return users.decrementAndGet() == 0;
    }
}
