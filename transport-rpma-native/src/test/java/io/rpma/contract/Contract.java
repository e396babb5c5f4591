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
package io.rpma.contract;

import io.rpma.Device;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.function.Executable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** The provider under test, its device, and how a refusal is recognised. */
final class Contract {
    /** How many times as long everything may take that must happen, in the environment: an emulated machine needs it. */
    static final int PATIENCE = Integer.parseInt(System.getenv().getOrDefault("RPMA_TEST_PATIENCE", "1"));

    /** How long anything may take that must happen, in milliseconds. A case that passes takes a small part of it. */
    static final long DEADLINE = 10_000L * PATIENCE;

    /** How long is watched for something that must not happen, in milliseconds. */
    static final long ABSENCE = 200;

    /** An address of documentation networks (RFC 5737): never this host's. */
    static final InetAddress FOREIGN = address("192.0.2.254");

    static {
        if (System.getProperty(Rpma.PROVIDER_PROPERTY) == null && System.getenv("RPMA_PROVIDER") == null) {
            System.setProperty(Rpma.PROVIDER_PROPERTY, "soft");
        }
    }

    /** The provider that the process was told to use; software RDMA where it was told nothing. */
    static final RpmaProvider PROVIDER = Rpma.provider();

    /** This host's address on the device. */
    static final InetAddress HOST;

    static final Device DEVICE;

    static {
        try {
            HOST = PROVIDER.reachable(InetAddress.getLoopbackAddress());
            DEVICE = PROVIDER.localDevice(HOST);
        } catch (RpmaException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Contract() {
    }

    /** Returns an address to listen at whose port the provider chooses. */
    static InetSocketAddress anyPort() {
        return new InetSocketAddress(HOST, 0);
    }

    /** iWARP devices differ by their nature: exact private data lengths, no immediate data. */
    static boolean isIwarp() {
        return DEVICE.name().startsWith("siw");
    }

    /** Checks that the call is refused with this error, and says why. */
    static RpmaException refused(RpmaError error, Executable call) {
        RpmaException e = assertThrows(RpmaException.class, call);
        assertEquals(error, e.error(), () -> "the refusal was: " + e);
        assertFalse(e.getMessage() == null || e.getMessage().isBlank(), "a refusal says why");
        return e;
    }

    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }
}
