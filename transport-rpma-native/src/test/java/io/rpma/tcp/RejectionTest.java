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
package io.rpma.tcp;

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaLog;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what the log contains of the reason that a listener sends with a rejection. */
@Timeout(120)
class RejectionTest {
    @Test
    void aListenerCannotForgeLinesOfTheLog() throws Exception {
        Queue<String> messages = new ConcurrentLinkedQueue<>();
        TcpLog.INSTANCE.sink((level, file, line, function, message) -> messages.add(message));
        TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.WARNING);
        try (Station station = new Station(); RawServer server = new RawServer();
                Connection client = station.request(server.address()).connect(null)) {
            server.reject("no\r\nanother line\u2028\u001b[31m\u00e9");
            assertEquals(ConnectionEvent.REJECTED, client.waitForEvent(Station.LONG));
        } finally {
            TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.DISABLED);
            TcpLog.INSTANCE.sink(null);
        }
        assertTrue(messages.stream().anyMatch(
            message -> message.endsWith(": no\\u{d}\\u{a}another line\\u{2028}\\u{1b}[31m\u00e9")), messages::toString);
    }
}
