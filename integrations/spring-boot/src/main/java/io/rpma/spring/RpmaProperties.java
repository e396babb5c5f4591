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
package io.rpma.spring;

import org.springframework.boot.context.properties.ConfigurationProperties;

/** The properties {@code server.rpma}, which configure whether and how Reactor Netty runs over RPMA. */
@ConfigurationProperties("server.rpma")
public final class RpmaProperties {
    /** Whether the reactive server of the application, and its WebClients, use RPMA instead of TCP. */
    private boolean enabled;

    /**
     * Whether the WebClients that Spring Boot configures also use RPMA if rpma is enabled. They can then only reach servers that
     * use RPMA.
     */
    private boolean clients = true;

    /**
     * Number of event loop threads, 0 for one per processor.
     */
    private int threads;

    /** Creates properties with their default values. */
    public RpmaProperties() {
        // The fields are initialized with the default values.
    }

    /** Returns whether RPMA is used. */
    public boolean isEnabled() {
        return enabled;
    }

    /** Sets whether RPMA is used. */
    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** Returns whether WebClients also use RPMA. */
    public boolean isClients() {
        return clients;
    }

    /** Sets whether WebClients also use RPMA. */
    public void setClients(boolean clients) {
        this.clients = clients;
    }

    /** Returns the number of event loop threads, 0 for one per processor. */
    public int getThreads() {
        return threads;
    }

    /**
     * Sets the number of event loop threads.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public void setThreads(int threads) {
        if (threads < 0) {
            throw new IllegalArgumentException("server.rpma.threads is " + threads
                + "; a number of event loop threads is needed, or 0 for one per processor");
        }
        this.threads = threads;
    }
}
