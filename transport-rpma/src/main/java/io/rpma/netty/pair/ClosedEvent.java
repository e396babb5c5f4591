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
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The end of a connection, with its reason. */
@Name("io.rpma.Close")
@Label("RDMA connection ended")
@Description("The end of a connection, and why")
@Category({"Netty over RPMA", "Connections"})
@StackTrace(false)
final class ClosedEvent extends jdk.jfr.Event {
    @Label("Local address")
    String local;
    @Label("Remote address")
    String remote;
    @Label("Reason")
    String reason;
    @Label("Bytes sent")
    @DataAmount
    long bytesSent;
    @Label("Bytes received")
    @DataAmount
    long bytesReceived;

    /** Records the end of the queue pair, if anybody records such events. */
    static void commit(QueuePair pair) {
        ClosedEvent event = new ClosedEvent();
        if (event.shouldCommit()) {
            event.local = String.valueOf(pair.localAddress);
            event.remote = String.valueOf(pair.remoteAddress);
            event.reason = pair.endReason();
            event.bytesSent = pair.counters.bytesSent;
            event.bytesReceived = pair.counters.bytesReceived;
            event.commit();
        }
    }
}
