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
package io.rpma.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server in a child process. The child prints the address that it listens on to its standard output, and ends when its standard
 * input ends. It therefore ends with this process, even if this process is killed.
 */
final class ServerProcess implements AutoCloseable {
    /** The prefix of the line that the child prints; the host and the port follow it. */
    static final String LISTENING = "listening=";

    private final Process process;
    private final Thread hook;
    private final InetSocketAddress address;

    ServerProcess(List<String> arguments) throws IOException {
        process = new ProcessBuilder(ExampleJvm.command(arguments)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        hook = new Thread(process::destroyForcibly, "end the server process");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            address = readAddress();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Prints the address that this process listens on. {@link #address()} of the parent process reads this line, and people can
     * read it too.
     */
    static void say(InetSocketAddress listening) {
        System.out.println(LISTENING + format(listening));
    }

    /** Formats an address as the commands accept it: an IPv6 address is in brackets. */
    static String format(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + address.getPort();
    }

    private InetSocketAddress readAddress() throws IOException {
        BufferedReader lines = process.inputReader();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(LISTENING)) {
                int colon = line.lastIndexOf(':');
                int port = Integer.parseInt(line.substring(colon + 1));
                return new InetSocketAddress(line.substring(LISTENING.length(), colon), port);
            }
        }
        throw new IOException("the server process ended before it listened, with exit code " + exitCode());
    }

    InetSocketAddress address() {
        return address;
    }

    /** Throws an exception if the process has ended. */
    void check() throws IOException {
        if (!process.isAlive()) {
            throw new IOException("the server process ended with exit code " + exitCode());
        }
    }

    /**
     * Returns the exception to report: if the end of the process caused the failure, an exception about that end, otherwise the
     * failure itself.
     */
    IOException explain(IOException failure) {
        try {
            // The connection may be closed shortly before the process has ended.
            if (process.waitFor(1, TimeUnit.SECONDS)) {
                return new IOException("the server process ended with exit code " + process.exitValue(), failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return failure;
    }

    /** Asks the process to end, and throws an exception if it does not end or reports an error. */
    void end() throws IOException {
        process.getOutputStream().close();
        int code = exitCode();
        if (code != 0) {
            throw new IOException("the server process ended with exit code " + code);
        }
    }

    private int exitCode() throws IOException {
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                throw new IOException("the server process did not end within 10 s");
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the server process ended", e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The hook is already running because this process is ending.
            return;
        }
    }
}
