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
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Determines which paths this process has, and which of them a channel may take. */
final class Paths {
    /** The system property that names the paths of all channels, best first. */
    static final String PROPERTY = "io.rpma.netty.paths";

    // Determined once, when the first channel needs it.
    private static volatile List<RpmaPath> defaults;

    private Paths() {
    }

    /** Declares {@link RpmaChannelOption#RPMA_PATHS} among the options of a channel. */
    @SuppressWarnings("unchecked")
    static DeclaredOptions.Declared<List<RpmaPath>> declare(DeclaredOptions options) {
        return options.value(RpmaChannelOption.RPMA_PATHS, (Class<List<RpmaPath>>) (Class<?>) List.class, List.of(),
            Paths::checked, set -> set.isEmpty() ? defaults() : set);
    }

    private static List<RpmaPath> checked(List<RpmaPath> paths) {
        Set<RpmaPath> named = new LinkedHashSet<>();
        // The types of the elements exist at compile time only.
        for (Object each : paths.toArray()) {
            if (!(each instanceof RpmaPath path) || !named.add(path)) {
                throw invalid(paths);
            }
        }
        if (named.isEmpty()) {
            throw invalid(paths);
        }
        return List.copyOf(named);
    }

    private static IllegalArgumentException invalid(List<RpmaPath> paths) {
        return new IllegalArgumentException("RPMA_PATHS is " + paths + "; it must name at least one of "
            + List.of(RpmaPath.values()) + ", and none twice");
    }

    /**
     * Returns those providers of this process that implement one of the paths, in the order of the paths.
     *
     * @throws IllegalArgumentException if there is none; the message lists those that the process has
     */
    static List<RpmaProvider> providers(List<RpmaPath> paths) {
        List<RpmaProvider> all = Rpma.providers();
        List<RpmaProvider> usable = new ArrayList<>(all.size());
        for (RpmaPath path : paths) {
            for (RpmaProvider provider : all) {
                if (RpmaPath.of(provider) == path) {
                    usable.add(provider);
                }
            }
        }
        if (usable.isEmpty()) {
            throw new IllegalArgumentException("none of the paths " + paths + " can be used: this process has " + of(all)
                + " (-D" + Rpma.PROVIDER_PROPERTY + "=auto uses all that work; RPMA_PATHS and -D" + PROPERTY
                + " choose among them)");
        }
        return usable;
    }

    static List<RpmaPath> of(List<RpmaProvider> providers) {
        return providers.stream().map(RpmaPath::of).toList();
    }

    /** Parses the system property. */
    static List<RpmaPath> parse(String property) {
        List<RpmaPath> paths = new ArrayList<>();
        for (String name : property.split(",", -1)) {
            RpmaPath found = null;
            for (RpmaPath path : RpmaPath.values()) {
                if (path.toString().equals(name.trim())) {
                    found = path;
                }
            }
            if (found == null || paths.contains(found)) {
                throw new IllegalArgumentException("-D" + PROPERTY + " is '" + property + "'; it must name some of "
                    + List.of(RpmaPath.values()) + ", each once, with commas between them");
            }
            paths.add(found);
        }
        return List.copyOf(paths);
    }

    /**
     * Returns the paths of channels that do not name any.
     *
     * @throws IllegalArgumentException if the system property is invalid
     * @throws io.rpma.RpmaUnavailableException if the provider that was requested cannot be used
     */
    private static List<RpmaPath> defaults() {
        List<RpmaPath> paths = defaults;
        if (paths == null) {
            String property = System.getProperty(PROPERTY);
            paths = property == null ? of(Rpma.providers()) : parse(property);
            defaults = paths;
        }
        return paths;
    }
}
