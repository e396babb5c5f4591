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

/** How many users something has that the last of them releases. Thread-safe. */
final class UseCount {
    private final AtomicInteger users = new AtomicInteger(1);

    /** Starts anew with one user. Only before anybody knows of it. */
    void restart() {
        users.set(1);
    }

    /** Counts one more user. Only a user may call it. */
    void retain() {
        users.incrementAndGet();
    }

    /** Counts one more user, unless the last one has gone. Returns whether it has. */
    boolean tryRetain() {
        int count = users.get();
        while (count > 0) {
            if (users.compareAndSet(count, count + 1)) {
                return true;
            }
            count = users.get();
        }
        return false;
    }

    /** Gives up one use. Returns whether it was the last one. */
    boolean release() {
        return users.decrementAndGet() == 0;
    }
}
