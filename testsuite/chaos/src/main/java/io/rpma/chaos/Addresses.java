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

import java.net.InetSocketAddress;

/**
 * The addresses of the server.
 *
 * @param host the address of the host
 * @param streamPort the port for stream channels
 * @param messagePort the port for message channels
 * @param region the descriptor of the server's region, in hexadecimal digits
 * @param loop the file that shows how the server's event loop is scheduled
 */
public record Addresses(String host, int streamPort, int messagePort, String region, String loop) {
    /** Parses the result of {@link #toString} from the arguments of a program. */
    public static Addresses parse(String[] arguments, int from) {
        return new Addresses(arguments[from], Integer.parseInt(arguments[from + 1]), Integer.parseInt(arguments[from + 2]),
            arguments[from + 3], arguments[from + 4]);
    }

    /** Returns the address for stream channels. */
    public InetSocketAddress stream() {
        return new InetSocketAddress(host, streamPort);
    }

    /** Returns the address for message channels. */
    public InetSocketAddress message() {
        return new InetSocketAddress(host, messagePort);
    }

    @Override
    public String toString() {
        return host + ' ' + streamPort + ' ' + messagePort + ' ' + region + ' ' + loop;
    }
}
