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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ChecksumHandlerTest {
    /** The CRC-32C of the digits 1 to 9, which is the check value in descriptions of the algorithm. */
    private static final int CHECK = 0xE3069283;

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    @Test
    void doesNotDependOnHowAStreamIsCut() {
        ChecksumHandler handler = new ChecksumHandler();
        EmbeddedChannel channel = new EmbeddedChannel(handler);
        channel.writeInbound(text("1"), text("2345"), text("xx6789").skipBytes(2));
        channel.writeOutbound(Unpooled.wrappedBuffer(text("12"), text("3456")), text("789"));
        assertEquals(new EchoReport(9, CHECK, 9, CHECK), handler.report());
        channel.finishAndReleaseAll();
    }

    @Test
    void dependsOnEveryByteAndTheirOrder() {
        ChecksumHandler handler = new ChecksumHandler();
        EmbeddedChannel channel = new EmbeddedChannel(handler);
        channel.writeInbound(text("123456788"));
        channel.writeOutbound(text("213456789"));
        EchoReport report = handler.report();
        assertNotEquals(CHECK, report.receivedChecksum());
        assertNotEquals(CHECK, report.sentChecksum());
        channel.finishAndReleaseAll();
    }
}
