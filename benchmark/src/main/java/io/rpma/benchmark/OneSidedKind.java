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

/** What is measured over a connection: the operations that need no processor of the peer, and messages for comparison. */
enum OneSidedKind {
    /** A read of the peer's memory. */
    READ("read", true),
    /** A write to the peer's memory. */
    WRITE("write", true),
    /** A write with immediate data, of which the peer is notified. */
    WRITE_WITH_IMMEDIATE("write-imm", true),
    /** A write followed by a flush that makes it visible; the duration includes both. */
    FLUSH("write+flush", true),
    /** An atomic write of exactly eight bytes. */
    ATOMIC_WRITE("atomic", true),
    /** A message. It completes when the device has delivered it, as a write does. */
    MESSAGE("message", true),
    /** A message that the server sends back. */
    ECHO("echo", false);

    /** The size of an atomic write. */
    static final int ATOMIC_BYTES = 8;

    private final String key;
    private final boolean hasRate;

    OneSidedKind(String key, boolean hasRate) {
        this.key = key;
        this.hasRate = hasRate;
    }

    /** Returns the name on the command line and in the report. */
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

    /** Returns whether this operation can transfer the given number of bytes. */
    boolean moves(int bytes) {
        return this != ATOMIC_WRITE || bytes == ATOMIC_BYTES;
    }

    /** Returns whether this operation is also measured with many outstanding operations. */
    boolean hasRate() {
        return hasRate;
    }

    /** Returns whether each operation consumes a receive of the peer. */
    boolean takesReceive() {
        return this == WRITE_WITH_IMMEDIATE || this == MESSAGE;
    }

    /** Returns whether this operation changes the peer's memory. */
    boolean writes() {
        return this == WRITE || this == WRITE_WITH_IMMEDIATE || this == FLUSH || this == ATOMIC_WRITE;
    }
}
