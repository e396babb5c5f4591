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

package io.rpma.chaos;

import io.rpma.netty.RpmaPath;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The addresses of the server on one of its paths. A server with several RDMA devices has such addresses for each device.
 *
 * @param path the path
 * @param device the name of the device
 * @param host the address of the host
 * @param streamPort the port for stream channels
 * @param messagePort the port for message channels
 * @param region the descriptor of the server's region for connections on this path, in hexadecimal digits
 * @param loop the file that shows how the server's event loop is scheduled
 */
public record Addresses(RpmaPath path, String device, String host, int streamPort, int messagePort, String region,
        String loop) {
    private static final int WORDS = 7;

    /** Parses the result of {@link #toString} from the arguments of a program. */
    public static Addresses parse(String[] arguments, int from) {
        return new Addresses(RpmaPath.valueOf(arguments[from]), arguments[from + 1], arguments[from + 2],
            Integer.parseInt(arguments[from + 3]), Integer.parseInt(arguments[from + 4]), arguments[from + 5],
            arguments[from + 6]);
    }

    /** Parses the addresses of several paths. */
    static List<Addresses> parseAll(String[] arguments) {
        List<Addresses> all = new ArrayList<>();
        for (int i = 0; i < arguments.length; i += WORDS) {
            all.add(parse(arguments, i));
        }
        return all;
    }

    /** Returns the name of the path for people: that of the path, followed by that of the device if it is an RDMA device. */
    public String name() {
        return path == RpmaPath.RDMA ? path + "-" + device : path.toString();
    }

    /** Returns the name of the provider of the path. A process that uses only this provider connects only on this path. */
    public String provider() {
        return switch (path) {
            case SHARED_MEMORY -> "soft";
            case RDMA -> "librpma";
            case TCP -> "tcp";
        };
    }

    /** Returns the address for stream channels. */
    public InetSocketAddress stream() {
        return new InetSocketAddress(host, streamPort);
    }

    /** Returns the address for message channels. */
    public InetSocketAddress message() {
        return new InetSocketAddress(host, messagePort);
    }

    /** Returns the arguments of a program that connects to these addresses. */
    List<String> arguments() {
        return Arrays.asList(toString().split(" "));
    }

    @Override
    public String toString() {
        return path.name() + ' ' + device + ' ' + host + ' ' + streamPort + ' ' + messagePort + ' ' + region + ' ' + loop;
    }
}
