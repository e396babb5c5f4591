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
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The paths that a connection may take to an address, and why each was not taken. */
final class PathChoice {
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

    /** Returns the providers to be tried, best first, at least one. */
    List<RpmaProvider> candidates() {
        return candidates;
    }

    /** Sets the reasons of the paths that were tried and not taken. */
    void asked(Map<RpmaPath, String> reasons) {
        asked = reasons;
    }

    /**
     * Called when no connection was made.
     *
     * @param race the race that tried the candidates, {@code null} if there was only one
     */
    void failed(PathRace race, Throwable cause) {
        asked = race != null ? race.passedOver() : Map.of(RpmaPath.of(candidates.getFirst()), String.valueOf(cause.getMessage()));
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
            return "this process has the provider " + all.getFirst().name() + " alone";
        }
        return Rpma.unavailabilityCause() == null ? "this process does not have it" : Rpma.unavailabilityCause().getMessage();
    }
}
