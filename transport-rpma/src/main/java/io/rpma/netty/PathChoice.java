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

import io.rpma.Rpma;
import io.rpma.RpmaProvider;
import io.rpma.netty.connect.ConnectAttempt;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The paths that a connection may take to an address, and why each was not taken. */
final class PathChoice implements ConnectAttempt.Choice {
    private final List<RpmaPath> paths;
    private final InetAddress remote;
    private final List<RpmaProvider> candidates;
    private volatile Map<RpmaPath, String> asked = Map.of();

    /**
     * Determines which providers are to be tried: those that may reach the address. If apparently none does, this is the first
     * one, whose failure gives the reason.
     *
     * @param paths best first
     * @throws IllegalArgumentException as {@link Paths#providers}
     */
    PathChoice(List<RpmaPath> paths, InetAddress remote) {
        this.paths = paths;
        this.remote = remote;
        List<RpmaProvider> usable = Paths.providers(paths);
        if (usable.size() > 1) {
            List<RpmaProvider> reaching = new ArrayList<>(usable);
            reaching.removeIf(provider -> !provider.mayReach(remote));
            usable = reaching.isEmpty() ? usable.subList(0, 1) : reaching;
        }
        candidates = usable;
    }

    @Override
    public List<RpmaProvider> candidates() {
        return candidates;
    }

    @Override
    public void won(RpmaProvider taken, InetSocketAddress to, Map<RpmaProvider, String> passedOver) {
        asked = byPath(passedOver);
        TcpFallback.INSTANCE.taken(RpmaPath.of(taken), to, asked);
    }

    @Override
    public void failed(Map<RpmaProvider, String> reasons) {
        asked = byPath(reasons);
    }

    /** Converts a map from providers to reasons to one from paths to reasons, in the same order. */
    static Map<RpmaPath, String> byPath(Map<RpmaProvider, String> reasons) {
        Map<RpmaPath, String> reasonsOfPaths = new LinkedHashMap<>();
        reasons.forEach((provider, reason) -> reasonsOfPaths.put(RpmaPath.of(provider), reason));
        return Collections.unmodifiableMap(reasonsOfPaths);
    }

    /**
     * Returns why each path was not taken, best first.
     *
     * @param taken the path at which the list ends; {@code null} for all paths that were tried or left out
     */
    Map<RpmaPath, String> notTaken(RpmaPath taken) {
        Map<RpmaPath, String> known = asked;
        if (taken == null && known.isEmpty() || paths.getFirst() == taken) {
            return Map.of();
        }
        Map<RpmaPath, String> reasons = new LinkedHashMap<>();
        for (RpmaPath path : paths) {
            if (path == taken) {
                break;
            }
            String reason = known.containsKey(path) ? known.get(path) : whyNotAsked(path);
            if (reason != null) {
                reasons.put(path, reason);
            }
        }
        return Collections.unmodifiableMap(reasons);
    }

    /** Returns why a path was left out, or {@code null} if it was not. */
    private String whyNotAsked(RpmaPath path) {
        List<RpmaProvider> all = Rpma.providers();
        for (RpmaProvider provider : all) {
            if (RpmaPath.of(provider) == path) {
                return provider.mayReach(remote) ? null : remote.getHostAddress() + " is not an address of this host";
            }
        }
        if (all.size() == 1) {
            return "this process has only the provider " + all.getFirst().name();
        }
        return Rpma.unavailabilityCause() == null ? "this process does not have it" : Rpma.unavailabilityCause().getMessage();
    }
}
