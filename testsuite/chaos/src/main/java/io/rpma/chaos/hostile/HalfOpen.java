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

package io.rpma.chaos.hostile;

import io.rpma.chaos.Addresses;
import io.rpma.posix.Posix;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Connects to the listener as often as possible, sends nothing, and keeps the connections open. */
final class HalfOpen implements Attack {
    private static final int MOST = 5000;

    @Override
    public void run(Addresses addresses, SplittableRandom random, long end) throws Exception {
        String listener = ListenerNames.of(addresses.streamPort()).getFirst();
        List<Integer> open = new ArrayList<>();
        Report.say("ready");
        int made = 0;
        while (System.nanoTime() < end && made < MOST) {
            int fd = UnixSocket.create(UnixSocket.SEQPACKET);
            if (fd < 0) {
                break;
            }
            if (UnixSocket.connect(fd, listener) == 0) {
                open.add(fd);
                made++;
            } else {
                // The backlog is full because the server has not accepted the connections yet.
                Posix.close(fd);
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        Report.say("count " + made);
        long left = (end - System.nanoTime()) / 1_000_000;
        TimeUnit.MILLISECONDS.sleep(Math.max(0, left));
    }
}
