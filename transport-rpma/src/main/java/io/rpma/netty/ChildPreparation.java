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

import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;

/** Prepares the children of a server channel. */
@FunctionalInterface
interface ChildPreparation {
    /**
     * Prepares the next child according to the limits of the device; the result must be accepted or dropped. Called on the event
     * loop of the server channel.
     *
     * @param first whether the channel is being bound
     */
    NextChild newNext(Fabric fabric, boolean first) throws RpmaException;
}
