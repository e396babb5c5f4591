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
package io.rpma.netty.stream;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Data was to be sent, and had to wait for a credit of the peer or a slot of the send queue. */
@Name("io.rpma.CreditStall")
@Label("Waited to send")
@Description("Something was to be sent, and had to wait for a credit of the peer or a slot of the send queue")
@Category({"Netty over RPMA", "Flow control"})
@StackTrace(false)
final class CreditStallEvent extends jdk.jfr.Event {
    @Label("Remote address")
    String remote;
    @Label("Whether for a credit")
    boolean credit;
}
