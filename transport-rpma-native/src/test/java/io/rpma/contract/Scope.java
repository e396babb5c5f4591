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
package io.rpma.contract;

import java.util.ArrayDeque;
import java.util.Deque;

/** Everything that one test has opened. All of it is closed in reverse order, even if closing some of it fails. */
final class Scope implements AutoCloseable {
    /** An action that releases something. */
    @FunctionalInterface
    interface Closing {
        void close() throws Exception;
    }

    private final Deque<Closing> open = new ArrayDeque<>();

    /** Takes responsibility for closing the object, and returns the object. */
    <T extends AutoCloseable> T own(T resource) {
        open.push(resource::close);
        return resource;
    }

    /** Registers an action that runs at the end of the test. */
    void onClose(Closing closing) {
        open.push(closing);
    }

    @Override
    public void close() {
        AssertionError failure = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception | AssertionError e) {
                if (failure == null) {
                    failure = new AssertionError("closing what the case had opened failed: " + e, e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
