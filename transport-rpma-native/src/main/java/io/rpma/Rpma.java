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
package io.rpma;

import io.rpma.librpma.LibrpmaProvider;
import io.rpma.posix.NativeAccess;
import io.rpma.soft.SoftProvider;
import io.rpma.tcp.TcpProvider;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry point: selects the provider that this process uses.
 *
 * <p>{@code -Dio.rpma.provider} (or, where it is not set, the environment variable {@code RPMA_PROVIDER}) is one of
 * {@code auto} (the default: librpma where the library is 1.x and a device is usable, otherwise soft, with one warning that
 * says why), {@code librpma}, {@code soft} (software RDMA within one host) and {@code tcp} (software RDMA over TCP, between
 * hosts). The choice is made once, at first use.
 *
 * <p>{@link #isAvailable()}, {@link #unavailabilityCause()} and {@link #ensureAvailability()} refer to librpma and a real device,
 * regardless of the selected provider.
 */
public final class Rpma {
    /** The system property that chooses the provider: {@code auto}, {@code librpma}, {@code soft} or {@code tcp}. */
    public static final String PROVIDER_PROPERTY = "io.rpma.provider";

    private static final String PROVIDER_VARIABLE = "RPMA_PROVIDER";

    /** The values of the property, each with the function that returns its provider. */
    private static final Map<String, Supplier<RpmaProvider>> CHOICES = new LinkedHashMap<>();

    static {
        CHOICES.put("auto", Rpma::automatic);
        CHOICES.put("librpma", Rpma::insisted);
        CHOICES.put("soft", SoftProvider::instance);
        CHOICES.put("tcp", TcpProvider::instance);
    }

    private static volatile RpmaProvider chosen;
    private static volatile List<RpmaProvider> all;

    private Rpma() {
    }

    /**
     * Returns the provider of this process.
     *
     * @throws RpmaUnavailableException if {@code librpma} was requested by name and cannot be used; the message says what is
     *     missing. If soft or tcp was requested, only if the platform is not 64-bit Linux, or as long as the folder that is
     *     configured for soft cannot be used. With every choice, if the JVM refuses native access (the message names the
     *     flag that grants it), or if a system property that must be true or false has another value
     */
    public static RpmaProvider provider() {
        RpmaProvider provider = chosen;
        return provider != null ? provider : chooseOnce();
    }

    /**
     * Returns all providers that this process may use side by side. If the choice is {@code auto}, these are soft, librpma if it
     * has a usable device, and tcp, in this order: a faster provider, which reaches fewer peers, precedes a slower one. Otherwise
     * the list contains only the provider that was chosen.
     *
     * @throws RpmaUnavailableException as {@link #provider()}
     */
    public static List<RpmaProvider> providers() {
        List<RpmaProvider> providers = all;
        return providers != null ? providers : chooseAll();
    }

    /** Returns whether the real library is loaded, is 1.x, and has a usable device. */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /** Returns why the real library cannot be used, or {@code null} if it can. */
    public static Throwable unavailabilityCause() {
        return Real.CAUSE;
    }

    /**
     * Fails unless the real library can be used.
     *
     * @throws UnsatisfiedLinkError if it cannot; the cause says why
     */
    public static void ensureAvailability() {
        if (Real.CAUSE != null) {
            throw (Error) new UnsatisfiedLinkError("librpma cannot be used: " + Real.CAUSE.getMessage())
                .initCause(Real.CAUSE);
        }
    }

    /**
     * Returns the provider of librpma, regardless of the selected provider and of whether there is a usable device, for
     * diagnosis. Empty if the library cannot be loaded or is not 1.x; {@link #unavailabilityCause()} then returns the cause.
     */
    public static Optional<RpmaProvider> library() {
        return Optional.ofNullable(Real.PROVIDER);
    }

    private static synchronized RpmaProvider chooseOnce() {
        if (chosen == null) {
            KnownProperties.check();
            chosen = choose(wish());
        }
        return chosen;
    }

    private static synchronized List<RpmaProvider> chooseAll() {
        if (all == null) {
            RpmaProvider best = chooseOnce();
            if (!wish().equals("auto")) {
                all = List.of(best);
            } else if (best == SoftProvider.instance()) {
                all = List.of(best, TcpProvider.instance());
            } else {
                all = List.of(SoftProvider.instance(), best, TcpProvider.instance());
            }
        }
        return all;
    }

    private static String wish() {
        String property = System.getProperty(PROVIDER_PROPERTY);
        String variable = System.getenv(PROVIDER_VARIABLE);
        String wish = property != null ? property : variable != null ? variable : "auto";
        return wish.isBlank() ? "auto" : wish.trim().toLowerCase(Locale.ROOT);
    }

    /** Returns where the wish comes from, so that users change what they have set. */
    private static String wishedBy() {
        return System.getProperty(PROVIDER_PROPERTY) == null && System.getenv(PROVIDER_VARIABLE) != null ? PROVIDER_VARIABLE
            : "-D" + PROVIDER_PROPERTY;
    }

    static RpmaProvider choose(String wish) {
        // Every provider calls native functions. If the JVM refuses native access, report that before any other cause.
        NativeAccess.ensure();
        String name = wish.trim().toLowerCase(Locale.ROOT);
        Supplier<RpmaProvider> choice = CHOICES.get(name.isEmpty() ? "auto" : name);
        if (choice == null) {
            throw new RpmaUnavailableException(wishedBy() + " is '" + wish + "'; it must be one of "
                + String.join(", ", CHOICES.keySet()), null);
        }
        return choice.get();
    }

    private static RpmaProvider automatic() {
        if (Real.CAUSE == null) {
            return Real.PROVIDER;
        }
        // Before the warning: as long as this throws, a later call tries again.
        RpmaProvider soft = SoftProvider.instance();
        logger().warn("Using the software RDMA provider, because librpma cannot be used: {} Set -D{}=soft to choose"
            + " it without this warning, -D{}=librpma to insist on the library.",
            Real.CAUSE.getMessage(), PROVIDER_PROPERTY, PROVIDER_PROPERTY);
        return soft;
    }

    private static RpmaProvider insisted() {
        if (Real.CAUSE != null) {
            throw new RpmaUnavailableException(wishedBy() + "=librpma was asked for, but "
                + Real.CAUSE.getMessage() + " (-D" + PROVIDER_PROPERTY + "=soft needs neither library nor device)",
                Real.CAUSE);
        }
        return Real.PROVIDER;
    }

    private static Logger logger() {
        return LoggerFactory.getLogger(Rpma.class);
    }

    /** The provider of librpma, opened once at the first use of this class. */
    private static final class Real {
        static final RpmaProvider PROVIDER;
        static final Throwable CAUSE;

        static {
            RpmaProvider provider = null;
            Throwable cause = null;
            try {
                provider = LibrpmaProvider.open();
                List<Device> devices = provider.devices();
                if (devices.isEmpty()) {
                    cause = new RpmaUnavailableException("no usable RDMA device was found (the library is "
                        + provider.description() + "); 'rdma link' and 'ibv_devinfo' show what the system sees, and a port"
                        + " must be ACTIVE and its network interface must have an address.", null);
                }
            } catch (RpmaException | RpmaUnavailableException e) {
                cause = e;
            }
            PROVIDER = provider;
            CAUSE = cause;
        }
    }
}
