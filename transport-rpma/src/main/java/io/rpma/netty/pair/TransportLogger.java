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

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

/**
 * The logger of the classes that accept connections, and of those that serve several channels and have no logger of their own.
 * It has the name of {@code RpmaServerChannel}, because that is a name that users know. Any thread may use it.
 */
public final class TransportLogger {
    public static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.RpmaServerChannel");

    private TransportLogger() {
    }
}
