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

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The establishment of a connection. The duration begins with the request, or with its acceptance. */
@Name("io.rpma.Connect")
@Label("RDMA connection established")
@Description("From the request, or its acceptance, to the establishment")
@Category({"Netty over RPMA", "Connections"})
@StackTrace(false)
final class ConnectedEvent extends jdk.jfr.Event {
    @Label("Local address")
    String local;
    @Label("Remote address")
    String remote;
    @Label("Fabric")
    String fabric;
    @Label("Path")
    String path;
    @Label("Whether this end asked for it")
    boolean active;

    /** Records that the queue pair is established, if anybody records such events. */
    void commit(QueuePair pair) {
        if (shouldCommit()) {
            local = String.valueOf(pair.localAddress);
            remote = String.valueOf(pair.remoteAddress);
            fabric = pair.fabric.toString();
            path = pair.types.path(pair.fabric.provider());
            active = pair.active;
            commit();
        }
    }
}
