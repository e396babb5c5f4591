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

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** A process that is stopped (not dead) with a buffer in its hands cannot be waited for for ever, and not be passed over. */
@Timeout(120)
class StoppedPeerTest {
    @Test
    void closingSaysThatTheMemoryIsNotFree() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen();
            Child child = Child.start("die", endpoint.localAddress().getPort(), "taken", 1, "stop")) {
            ConnectionRequest request = Station.awaitRequest(endpoint, null);
            request.receive(station.region, 0, 64, 1);
            Connection connection = request.connect(null);
            Station.expect(ConnectionEvent.ESTABLISHED, connection);
            child.expect("ready");
            while (!Files.readString(Path.of("/proc/" + child.pid() + "/stat")).contains(") T ")) {
                Station.pause();
            }
            RpmaException stopped = assertThrows(RpmaException.class, connection::close);
            assertEquals(RpmaError.PROVIDER, stopped.error());
            // All else is closed, and closing again does nothing.
            connection.close();
            assertEquals(0, ((SoftProvider) station.provider).process().queuePairCount());
        }
    }
}
