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

import java.nio.ByteBuffer;
import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the encoding of handshakes, for all that an end may send and all that it may receive. */
class HandshakeTest {
    /** Handshakes of this version and of all later ones, which contain everything that this version knows. */
    @Provide
    static Arbitrary<Handshake> handshakes() {
        return Combinators.combine(Arbitraries.integers().between(Handshake.MINOR, 255),
                Arbitraries.integers().between(Handshake.MIN_MESSAGE_BYTES, Handshake.MAX_MESSAGE_BYTES),
                Arbitraries.integers().between(1, Immediate.MAX_CREDITS),
                Arbitraries.integers().between(0, Handshake.MAX_BULK_BYTES >>> Handshake.BULK_UNIT_SHIFT),
                Arbitraries.of(true, false), data())
            .as((minor, messageBytes, credits, units, prefixed, data) -> new Handshake(minor, Handshake.ACCEPTED, messageBytes,
                credits, units << Handshake.BULK_UNIT_SHIFT, prefixed, data));
    }

    @Provide
    static Arbitrary<Handshake> refusals() {
        return Combinators.combine(Arbitraries.integers().between(1, 255), data()).as(Handshake::refusal);
    }

    private static Arbitrary<ByteBuffer> data() {
        return Arbitraries.bytes().array(byte[].class).ofMaxSize(Handshake.MAX_ANSWER_DATA).map(ByteBuffer::wrap)
            .withoutEdgeCases();
    }

    /** Returns handshakes of any version in which a number of bytes were overwritten, and which may be too short or too long. */
    @Provide
    static Arbitrary<byte[]> damaged() {
        return Combinators.combine(Arbitraries.oneOf(handshakes(), refusals()), Arbitraries.integers().between(0, 4),
                Arbitraries.integers().between(0, Handshake.BYTES), Arbitraries.integers().between(0, 4),
                Arbitraries.of((byte) 0, (byte) 1, (byte) 127, (byte) -128, (byte) -1), Arbitraries.integers().between(-4, 8))
            .as((handshake, minor, start, length, value, longer) -> {
                byte[] encoded = handshake.encode().array();
                byte[] damaged = Arrays.copyOf(encoded, encoded.length + longer);
                damaged[5] = minor.byteValue();
                Arrays.fill(damaged, Math.min(start, damaged.length), Math.min(start + length, damaged.length), value);
                return damaged;
            }).withoutEdgeCases();
    }

    @Property(tries = 200)
    void whatAnEndSaysIsWhatTheOtherHearsHoweverItIsPadded(@ForAll("handshakes") Handshake handshake,
            @ForAll @IntRange(max = 20) int padding) throws Exception {
        assertEquals(handshake, Handshake.decode(padded(handshake, padding)));
        assertEquals(handshake, Handshake.decodeRequest(padded(handshake, padding)));
    }

    @Property(tries = 200)
    void refusalsAreHeardWithTheirReason(@ForAll("refusals") Handshake refusal, @ForAll @IntRange(max = 20) int padding)
            throws Exception {
        assertEquals(refusal, Handshake.decode(padded(refusal, padding)));
        assertThrows(Handshake.MismatchException.class, () -> Handshake.decodeRequest(padded(refusal, padding)));
    }

    private static ByteBuffer padded(Handshake handshake, int padding) {
        ByteBuffer encoded = handshake.encode();
        return ByteBuffer.allocate(encoded.remaining() + padding).put(encoded).rewind();
    }

    @Property(tries = 500)
    void whateverArrivesIsRefusedOrWithinItsLimits(@ForAll("damaged") byte[] bytes) throws Exception {
        decode(bytes);
    }

    @Property(tries = 500)
    void bytesOfAnotherProtocolAreRefusedOrWithinTheirLimits(@ForAll @Size(max = 64) byte[] bytes) throws Exception {
        decode(bytes);
        if (bytes.length >= Handshake.BYTES) {
            ByteBuffer.wrap(bytes).putInt(Handshake.MAGIC).put((byte) Handshake.MAJOR);
            decode(bytes);
        }
    }

    private static void decode(byte[] bytes) throws Handshake.MismatchException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        Handshake decoded;
        try {
            decoded = Handshake.decode(in);
        } catch (Handshake.MismatchException e) {
            assertTrue(e.status() == Handshake.REFUSED_VERSION || e.status() == Handshake.REFUSED_MALFORMED);
            return;
        } finally {
            assertEquals(bytes.length, in.remaining(), "decoding must not move the position");
        }
        if (decoded.status() == Handshake.ACCEPTED) {
            assertTrue(decoded.messageBytes() >= Handshake.MIN_MESSAGE_BYTES);
            assertTrue(decoded.messageBytes() <= Handshake.MAX_MESSAGE_BYTES);
            assertTrue(decoded.credits() >= 1 && decoded.credits() <= Immediate.MAX_CREDITS);
            assertTrue(!decoded.prefixed() || decoded.minor() >= 3, "only versions that know it may announce it");
            assertTrue(!decoded.data().hasRemaining() || decoded.minor() >= 2, "only versions that know it may announce it");
            assertTrue(decoded.bulkBytes() >= 0 && decoded.bulkBytes() <= Handshake.MAX_BULK_BYTES);
        }
        assertEquals(decoded, Handshake.decode(decoded.encode()), "the encoding must have the same meaning");
    }
}
