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

package io.rpma.netty.stream;

import io.netty.util.ReferenceCounted;
import io.rpma.CompletionStatus;
import io.rpma.netty.pair.OneSided;
import io.rpma.netty.pair.Outcomes;
import io.rpma.netty.pair.UserTypes;
import java.io.IOException;

/**
 * The work requests of a stream that have been posted and have not completed, with the buffers and operations that they use. They
 * are numbered in the order in which they were posted; the completion of one implies that all earlier ones have completed.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class SendWindow {
    private final int sendQueue;
    private final Outcomes outcomes;
    private final UserTypes types;
    private final int mask;
    // Null until a work request uses a buffer or is an operation: many connections are idle from the start.
    private ReferenceCounted[] users;
    private long posted;
    private long retired;
    private int unsignalled;
    // The number of the last message that carried stream data, or of the last operation.
    private long lastOfStream = -1;

    /**
     * Creates a window without work requests.
     *
     * @param sendQueue the number of slots of the send queue
     * @param outcomes receives the results of operations
     */
    SendWindow(int sendQueue, Outcomes outcomes, UserTypes types) {
        this.types = types;
        this.sendQueue = sendQueue;
        this.outcomes = outcomes;
        mask = Integer.highestOneBit(sendQueue * 2 - 1) - 1;
    }

    /** Returns a power of two, which is at least the number of slots: the numbers of work requests under way differ modulo it. */
    int length() {
        return mask + 1;
    }

    /** Returns how many slots of the send queue are free. */
    int free() {
        return sendQueue - (int) (posted - retired);
    }

    /** Returns the number of the next work request. */
    long next() {
        return posted;
    }

    /** Returns whether the work requests that are not signalled are as many as there should be at most. */
    boolean isSignalDue() {
        return unsignalled + 1 >= sendQueue >>> 2;
    }

    /**
     * Records what the next work request uses; it is released when the work request has completed or could not be posted.
     *
     * @param user the buffer or operation, or {@code null}
     */
    void use(ReferenceCounted user) {
        if (users == null) {
            users = new ReferenceCounted[mask + 1];
        }
        users[(int) posted & mask] = user;
    }

    /** Called when the next work request has been posted. */
    void posted(boolean signalled) {
        posted++;
        unsignalled = signalled ? 0 : unsignalled + 1;
    }

    /** Called when the next work request could not be posted. */
    void refused() {
        release((int) posted & mask);
    }

    /** Records that the work request that was posted last is part of the stream. */
    void isOfStream() {
        lastOfStream = posted - 1;
    }

    /** Returns whether nothing of the stream was posted with this number or a higher one. */
    boolean isAfterStream(long number) {
        return number > lastOfStream;
    }

    /** Completes all work requests up to this one. */
    void retire(long number) {
        ReferenceCounted[] all = users;
        if (all == null) {
            retired = Math.max(retired, number + 1);
            return;
        }
        while (retired <= number) {
            int index = (int) retired & mask;
            ReferenceCounted user = all[index];
            if (user != null) {
                all[index] = null;
                if (user instanceof OneSided) {
                    outcomes.end(null);
                }
                user.release();
            }
            retired++;
        }
    }

    /**
     * Called when a work request has failed: completes all earlier ones, and fails it if it is an operation.
     *
     * @param broken why the connection has ended, or {@code null}
     */
    void fail(long number, CompletionStatus status, IOException broken) {
        if (number >= retired) {
            retire(number - 1);
            int index = (int) number & mask;
            if (users != null && users[index] instanceof OneSided operation) {
                users[index] = null;
                outcomes.end(broken != null ? broken : types.failed(operation.text(), status));
                operation.release();
            }
        }
    }

    /** Returns whether all work requests have completed. */
    boolean isEmpty() {
        return posted == retired;
    }

    /** Returns whether all work requests have completed but for those whose completion is not signalled. */
    boolean isSettled() {
        return posted - retired == unsignalled;
    }

    /** Releases everything, when the queue pair has been destroyed. */
    void close() {
        for (int i = 0; i <= mask; i++) {
            release(i);
        }
    }

    private void release(int index) {
        ReferenceCounted user = users == null ? null : users[index];
        if (user != null) {
            users[index] = null;
            user.release();
        }
    }
}
