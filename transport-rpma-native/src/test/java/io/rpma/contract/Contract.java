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
import io.rpma.TestPatience;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.function.Executable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** The provider under test, its device, and a check for refused calls. */
final class Contract {
    /** The timeout in milliseconds for events that must happen. A test that passes uses a small part of it. */
    static final long DEADLINE = 30_000L * TestPatience.FACTOR;

    /** How long a test waits, in milliseconds, for an event that must not happen. */
    static final long ABSENCE = 200;

    /** An address of the documentation networks (RFC 5737), which is never an address of this host. */
    static final InetAddress FOREIGN = address("192.0.2.254");

    static {
        if (System.getProperty(Rpma.PROVIDER_PROPERTY) == null && System.getenv("RPMA_PROVIDER") == null) {
            System.setProperty(Rpma.PROVIDER_PROPERTY, "soft");
        }
    }

    /** The provider that was selected for the process, or software RDMA if none was selected. */
    static final RpmaProvider PROVIDER = Rpma.provider();

    /** The address of this host on the device. */
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

    /** Returns an address to listen on, for which the provider chooses the port. */
    static InetSocketAddress anyPort() {
        return new InetSocketAddress(HOST, 0);
    }

    /** iWARP devices differ in two ways: the length of private data is exact, and they have no immediate data. */
    static boolean isIwarp() {
        return DEVICE.name().startsWith("siw");
    }

    /** Checks that the call is refused with this error and that the exception has a message. */
    static RpmaException refused(RpmaError error, Executable call) {
        RpmaException e = assertThrows(RpmaException.class, call);
        assertEquals(error, e.error(), () -> "the refusal was: " + e);
        assertFalse(e.getMessage() == null || e.getMessage().isBlank(), "the exception has no message");
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
