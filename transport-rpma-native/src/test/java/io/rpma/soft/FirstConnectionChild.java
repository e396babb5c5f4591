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
import io.rpma.Endpoint;
import io.rpma.PreloadedClasses;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.OpenFiles;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;

/**
 * A process that asks for the provider while it has no descriptors: none at first, and then one more each time until it gets it.
 * It requests its first connection in the same way, and prints what happened last.
 */
final class FirstConnectionChild {
    private final Deque<Integer> taken = new ArrayDeque<>();

    private FirstConnectionChild() {
    }

    public static void main(String[] arguments) throws Exception {
        PreloadedClasses.load(OpenFiles.class, FirstConnectionChild.class, "io\\.rpma\\.soft\\.(FirstConnectionChild|Station).*");
        // The JDK itself never recovers if it cannot read its file of security properties at first.
        new SecureRandom().nextLong();
        FirstConnectionChild child = new FirstConnectionChild();
        child.insist(SoftProvider::instance);
        Station station = new Station();
        Endpoint endpoint = station.listen();
        Connection client =
            child.insist(() -> station.peer.newConnectionRequest(endpoint.localAddress(), null).connect(null));
        try (Connection accepted = Station.awaitRequest(endpoint, null).connect(null)) {
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        }
        System.out.println("established");
        System.exit(0);
    }

    private <T> T insist(Callable<T> attempt) throws Exception {
        int free = 0;
        while (true) {
            exhaust();
            for (int i = 0; i < free; i++) {
                Posix.close(taken.pop());
            }
            try {
                return attempt.call();
            } catch (RpmaException | RpmaUnavailableException e) {
                free++;
            } finally {
                taken.forEach(Posix::close);
                taken.clear();
            }
        }
    }

    private void exhaust() {
        int fd = Posix.duplicate(0);
        while (fd >= 0) {
            taken.push(fd);
            fd = Posix.duplicate(0);
        }
    }
}
