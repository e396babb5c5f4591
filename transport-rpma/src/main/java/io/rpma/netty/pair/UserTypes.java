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

package io.rpma.netty.pair;

import io.rpma.CompletionStatus;
import io.rpma.RpmaProvider;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * The types of the public package that a queue pair needs, which it cannot name itself: the exceptions that users get, and the
 * names of the paths. Any thread may use it.
 */
public interface UserTypes {
    /** Returns the exception for a client whose connection the application of the server has refused. */
    IOException refused(InetSocketAddress remote, String reason);

    /**
     * Returns the exception for a work request that failed.
     *
     * @param what the work request, in words
     */
    IOException failed(String what, CompletionStatus status);

    /** Returns whether a failure says that the application of the server has refused the connection. */
    boolean isRefusal(Throwable failure);

    /** Returns the name of the path that a provider implements. */
    String path(RpmaProvider provider);
}
