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

import io.rpma.RpmaException;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.Range;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The ranges that contain regions of a protection domain which peers access. They are sent to the processes at the other ends of
 * the connections of the domain, and to no other process.
 *
 * <p>Any thread may call any method. The lock of the set of connections guards both fields.
 */
final class PublishedRanges {
    // The ranges, with the number of the regions in each that peers access; guarded by the lock of "controls".
    private final Map<Range, Integer> published = new LinkedHashMap<>();
    private final Set<ControlSocket> controls = new LinkedHashSet<>();

    /** Sends a range to the processes at the other ends of all connections, unless they have it. */
    void publish(Range range) {
        synchronized (controls) {
            if (published.merge(range, 1, Integer::sum) == 1) {
                List<Range> one = List.of(range);
                for (ControlSocket control : controls) {
                    control.announce(one, true);
                }
            }
        }
    }

    /** Removes a region from the count of its range. A range without such regions is not sent to new connections. */
    void retract(Range range) {
        synchronized (controls) {
            published.computeIfPresent(range, (key, regions) -> regions > 1 ? regions - 1 : null);
        }
    }

    /** Stops sending a range. */
    void unpublish(Range range) {
        synchronized (controls) {
            published.remove(range);
        }
    }

    /** Asks those of the given processes that are at the other end of a connection to read their link. */
    void askToLook(Set<RemoteProcess> told) {
        synchronized (controls) {
            for (ControlSocket control : controls) {
                if (told.contains(control.remote())) {
                    control.askToLook();
                }
            }
        }
    }

    /**
     * Sends the message that connects or accepts, after the ranges that the other process may need. Ranges that are published
     * later are sent as well.
     *
     * @return 0 or {@code -errno}
     * @throws RpmaException if the other process does not read its link, so that there is no room for the ranges
     */
    int publish(ControlSocket control, ControlMessage message) throws RpmaException {
        synchronized (controls) {
            control.announce(published.keySet(), false);
            control.remote().checkHasAll();
            int result = control.send(message);
            controls.add(control);
            return result;
        }
    }

    /** Stops sending ranges to the other end of a connection. */
    void removeControl(ControlSocket control) {
        synchronized (controls) {
            controls.remove(control);
        }
    }
}
