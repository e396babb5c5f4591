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
import io.rpma.Endpoint;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.process.RemoteProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a client that makes one request after another that has to be refused. */
@Timeout(120)
class RefusedClientsTest {
    private static final int REQUESTS = 200;
    /** More than the number of links that a listener keeps of such a client, and far fewer than it creates. */
    private static final int FEW = 40;

    /** Each request comes with a new link, whose other end the client keeps open, and refers to memory that was never sent. */
    @Test
    void theLinksOfRefusedRequestsAreNotKeptForEver() throws Exception {
        try (Listening listening = new Listening()) {
            RemoteProcesses remotes = ((SoftProvider) listening.station.provider).process().remotes();
            List<Integer> links = new ArrayList<>();
            remotes.sweep();
            int views = remotes.count();
            long before = descriptors();
            try {
                for (int i = 1; i <= REQUESTS; i++) {
                    links.add(refuse(listening.station, listening.endpoint, i));
                    assertTrue(remotes.count() - views <= FEW, () -> remotes.count() + " views of the client");
                }
                long more = descriptors() - before - links.size();
                assertTrue(more <= FEW, () -> more + " more descriptors");
                serveAnother(listening);
            } finally {
                links.forEach(Posix::close);
            }
            remotes.sweep();
            assertTrue(remotes.count() <= views);
            assertTrue(descriptors() - before <= FEW);
        }
    }

    /** Makes a request on a new link. Returns the client's end of the link. */
    private static int refuse(Station station, Endpoint endpoint, long number) throws Exception {
        int[] ends = new int[2];
        assertEquals(0, Sockets.socketPair(ends));
        try (RawClient client = RawClient.connect(station.peer, endpoint)) {
            client.request(new EndDescription(number, number, number, 1, 0, 4, 1, 2, 16, 16, EndDescription.MAIN, 0, 0, 0),
                ends[1]);
            Posix.close(ends[1]);
            String rejection = null;
            while (rejection == null) {
                assertNull(endpoint.nextConnectionRequest(null));
                rejection = client.rejection();
            }
            assertEquals("the request makes no sense", rejection);
        }
        return ends[0];
    }

    private static void serveAnother(Listening listening) throws Exception {
        try (Child child = Child.start("idle", listening.port); Connection connection = listening.accept(null, 0, 0)) {
            child.expect("ready");
            assertTrue(connection.queuePairNumber() > 0);
        }
    }

    private static long descriptors() throws Exception {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
