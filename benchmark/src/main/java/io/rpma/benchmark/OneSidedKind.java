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
package io.rpma.benchmark;

/** What is measured over a connection: the operations that need no processor at the other end, and messages beside them. */
enum OneSidedKind {
    /** A read of the peer's memory. */
    READ("read", true),
    /** A write to the peer's memory. */
    WRITE("write", true),
    /** A write that the peer is told of. */
    WRITE_WITH_IMMEDIATE("write-imm", true),
    /** A write, and a flush that makes it visible; the time is that of both. */
    FLUSH("write+flush", true),
    /** An atomic write, of eight bytes only. */
    ATOMIC_WRITE("atomic", true),
    /** A message; done when the device has delivered it, as a write is. */
    MESSAGE("message", true),
    /** A message there and back. */
    ECHO("echo", false);

    /** What an atomic write has. */
    static final int ATOMIC_BYTES = 8;

    private final String key;
    private final boolean hasRate;

    OneSidedKind(String key, boolean hasRate) {
        this.key = key;
        this.hasRate = hasRate;
    }

    /** Returns what selects it on the command line, and what it is called in the report. */
    String key() {
        return key;
    }

    static OneSidedKind withKey(String key) {
        for (OneSidedKind kind : values()) {
            if (kind.key.equals(key)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("there is no operation " + key);
    }

    /** Whether it exists for so many bytes. */
    boolean moves(int bytes) {
        return this != ATOMIC_WRITE || bytes == ATOMIC_BYTES;
    }

    /** Whether many under way at once are measured too. */
    boolean hasRate() {
        return hasRate;
    }

    /** Whether each takes one of the peer's receives. */
    boolean takesReceive() {
        return this == WRITE_WITH_IMMEDIATE || this == MESSAGE;
    }

    /** Whether it changes the peer's memory. */
    boolean writes() {
        return this == WRITE || this == WRITE_WITH_IMMEDIATE || this == FLUSH || this == ATOMIC_WRITE;
    }
}
