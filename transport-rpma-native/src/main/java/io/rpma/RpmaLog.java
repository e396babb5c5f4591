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

/**
 * The log of the library ({@code librpma_log}). It is off when the provider is loaded: every error is reported by an
 * exception or a completion, and librpma's own default is to write to the system's log. Thread-safe.
 */
public interface RpmaLog {
    /** The severity of a message ({@code enum rpma_log_level}). */
    enum Level {
        /** Nothing is logged. */
        DISABLED,
        /** The library stops working at once. */
        FATAL,
        /** The library cannot work properly. */
        ERROR,
        /** Errors that the layer above can handle. */
        WARNING,
        /** Events of the interface's functions. */
        NOTICE,
        /** Every operation. */
        INFO,
        /** Contents of operations. */
        DEBUG;

        /** Returns the value of the C enumeration, -1 to 5. */
        public int code() {
            return ordinal() - 1;
        }
    }

    /** A threshold of the log ({@code enum rpma_log_threshold}). */
    enum Threshold {
        /** {@code RPMA_LOG_THRESHOLD}: messages above it are not handed to the function. */
        MAIN,
        /** {@code RPMA_LOG_THRESHOLD_AUX}: messages up to it go to the standard error output as well. */
        AUXILIARY
    }

    /** Receives messages. Called on any thread that uses the library; must not call the library. */
    @FunctionalInterface
    interface Sink {
        /**
         * Takes a message.
         *
         * @param level the severity
         * @param file the source file of the library
         * @param line the line in it
         * @param function the function in it
         * @param format the message; with librpma its {@code printf(3)} format, without the values
         */
        void log(Level level, String file, int line, String function, String format);
    }

    /** Returns a threshold ({@code rpma_log_get_threshold}). */
    Level threshold(Threshold threshold) throws RpmaException;

    /** Sets a threshold ({@code rpma_log_set_threshold}). */
    void threshold(Threshold threshold, Level level) throws RpmaException;

    /**
     * Sets the receiver of the messages ({@code rpma_log_set_function}).
     *
     * @param sink the receiver; {@code null} for the library's own
     * @throws RpmaException {@link RpmaError#NOT_SUPPORTED} from librpma's provider, if a sink is set after the first connection:
     *     the data path then uses calls that must not call back into Java, unless the JVM was started with
     *     {@code -Dio.rpma.librpma.critical=false}
     */
    void sink(Sink sink) throws RpmaException;
}
