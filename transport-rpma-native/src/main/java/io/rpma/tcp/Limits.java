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
package io.rpma.tcp;

import io.rpma.DeviceLimits;

/** The limits of software RDMA over TCP: what the device reports, and what the queues and the protocol are made for. */
final class Limits {
    /** Slots of a send, receive or shared receive queue. */
    static final int MAX_WORK_REQUESTS = 1 << 15;
    /** Entries of a completion queue: enough for a full send and a full receive queue. */
    static final int MAX_COMPLETIONS = 1 << 16;
    /** Bytes of one message, read or write. */
    static final long MAX_MESSAGE = 1L << 30;
    private static final int MAX_QUEUE_PAIRS = 1 << 20;
    private static final int MAX_REGIONS = 1 << 24;
    private static final long MAX_REGION = 1L << 46;

    /** All limits, as the device reports them. */
    static final DeviceLimits OF_DEVICE = new DeviceLimits(MAX_QUEUE_PAIRS, MAX_WORK_REQUESTS, MAX_QUEUE_PAIRS, MAX_COMPLETIONS,
        MAX_WORK_REQUESTS, MAX_REGIONS, MAX_REGION, MAX_MESSAGE);

    private Limits() {
    }
}
