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

package io.rpma.netty.pair;

/** The queue pair to which entries are posted. */
public interface PostTarget {
    /** Returns whether a message is posted as an entry that completes later, and not as data of a stream. */
    boolean takes(Object message);

    /** Returns whether there is room for another work request. */
    boolean canPost();

    /**
     * Posts a work request. If it cannot be posted, the failure becomes its outcome.
     *
     * @param last whether no other request follows immediately
     */
    void post(Object message, boolean last);

    Outcomes outcomes();
}
