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
package io.rpma.soft.control;

import io.rpma.posix.Posix;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests that the other end of a link is sent with several requests at once, until one of them has arrived. */
class LinkTest {
    private static final int EBADF = 9;

    @Test
    void theOtherEndIsNotClosedUnderAMessage() throws Exception {
        Link link = Link.create();
        int otherEnd = link.otherEnd();
        link.hold();
        link.hold();
        link.confirm();
        assertEquals(-1, link.otherEnd(), "no further message needs the descriptor");
        assertEquals(0, Posix.setNonBlocking(otherEnd), "the descriptor must stay open for messages that were not sent yet");
        link.release();
        assertEquals(0, Posix.setNonBlocking(otherEnd));
        link.release();
        assertEquals(-EBADF, Posix.setNonBlocking(otherEnd));
        link.close();
    }
}
