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

package io.rpma.netty.connect;

import io.netty.channel.ConnectTimeoutException;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.netty.pair.UserTypes;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;

/** Converts failures reported by the provider into the exceptions that sockets throw. */
public final class ConnectFailure {
    private static final int EACCES = 13;
    private static final int EAFNOSUPPORT = 97;
    private static final int EADDRINUSE = 98;
    private static final int EADDRNOTAVAIL = 99;
    private static final int ENETUNREACH = 101;
    private static final int ETIMEDOUT = 110;
    private static final int ECONNREFUSED = 111;
    private static final int EHOSTUNREACH = 113;

    /** The beginning of the message of a refused connection, as with TCP. */
    public static final String REFUSED = "Connection refused";

    private ConnectFailure() {
    }

    /** Returns whether listening failed because this host does not have the address, or no addresses of its family. */
    public static boolean isFamilyMissing(RpmaException e) {
        return e.errno() == EAFNOSUPPORT || e.errno() == EADDRNOTAVAIL;
    }

    /** Returns whether listening failed because the port is in use. */
    public static boolean isInUse(RpmaException e) {
        return e.errno() == EADDRINUSE;
    }

    /** Returns the exception for a failure to listen on an address. */
    public static IOException bind(RpmaException e, InetSocketAddress local) {
        String reason = switch (e.errno()) {
            case EADDRINUSE -> "Address already in use: ";
            case EADDRNOTAVAIL -> "Cannot assign requested address: ";
            case EACCES -> "Permission denied: ";
            default -> null;
        };
        return reason == null ? e : because(new BindException(reason + local + " (" + e.getMessage() + ")"), e);
    }

    /** Returns the exception for a failure to prepare a connection. */
    static IOException prepare(RpmaException e, InetSocketAddress remote) {
        return switch (e.errno()) {
            case ECONNREFUSED -> because(new ConnectException("Connection refused (" + e.getMessage() + ")"), e);
            case ETIMEDOUT -> because(new ConnectTimeoutException("Connection timed out: " + remote + " ("
                + e.getMessage() + ")"), e);
            case ENETUNREACH, EHOSTUNREACH -> because(new NoRouteToHostException("No route to host ("
                + e.getMessage() + ")"), e);
            default -> because(new ConnectException(e.getMessage()), e);
        };
    }

    /**
     * Returns the exception for a connection that was requested and not established.
     *
     * @param broken why it ended
     */
    public static IOException event(UserTypes types, ConnectionEvent event, IOException broken, InetSocketAddress remote) {
        if (types.isRefusal(broken)) {
            return broken;
        }
        if (broken instanceof RpmaException e) {
            return prepare(e, remote);
        }
        return switch (event) {
            case REJECTED -> new ConnectException("Connection refused");
            case UNREACHABLE -> new NoRouteToHostException("No route to host");
            case null, default -> because(new ConnectException("Connection failed: " + broken.getMessage()), broken);
        };
    }

    private static <E extends IOException> E because(E exception, Throwable cause) {
        exception.initCause(cause);
        return exception;
    }
}
