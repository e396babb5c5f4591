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

/**
 * The rules of the stream protocol that each message of a peer is checked against before it has any effect; see
 * {@code docs/protocol.md}.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class StreamRules {
    private final PeerCredits given;
    private final StreamSender sender;
    private final StreamReceiver receiver;

    StreamRules(PeerCredits given, StreamSender sender, StreamReceiver receiver) {
        this.given = given;
        this.sender = sender;
        this.receiver = receiver;
    }

    /**
     * Checks a message, and spends the credit that it takes.
     *
     * @param bytes the length of its payload, as reported by the peer or the device
     * @param written whether the payload was written into an area
     * @param bits the bits that the peer sent with it
     * @return what is wrong with it, or {@code null}
     */
    String violation(int bytes, boolean written, int bits) {
        int back = Immediate.credits(bits);
        if (sender.credits() + back > sender.peerCredits()) {
            return "the peer returned " + back + " credits on top of " + sender.credits() + ", but has only "
                + sender.peerCredits();
        }
        int kind = Immediate.kind(bits);
        if (receiver.isEndOfStream() && kind != Immediate.CREDIT && kind != Immediate.SEEN) {
            return "a message of kind " + kind + " came after the end of the stream";
        }
        if (written != (kind == Immediate.BULK)) {
            return "a message of kind " + kind + " was " + (written ? "written" : "sent");
        }
        if (Immediate.takesCredit(kind) && !given.spend()) {
            return "the peer sent a message of kind " + kind + " without a credit";
        }
        return switch (kind) {
            case Immediate.DATA -> bytes >= 1 && bytes <= receiver.mostBytes() ? null
                : "a message of data has " + bytes + " bytes; allowed are 1 to " + receiver.mostBytes();
            case Immediate.BULK -> ofBulk(bytes);
            case Immediate.RETURN -> ofReturn(Immediate.argument(bits));
            case Immediate.GRANT -> bytes >= 2 && bytes <= receiver.mostBytes() ? null : "a grant has " + bytes + " bytes";
            case Immediate.CREDIT -> ofCredit(back);
            case Immediate.FIN -> null;
            case Immediate.SEEN -> sender.awaitsConfirmation() ? null
                : "the peer confirmed an end of the stream that has not been sent or needs no confirmation";
            default -> "a message is of kind " + kind + ", which the protocol does not define";
        };
    }

    private String ofBulk(int bytes) {
        BulkAreas areas = receiver.areas();
        int area = areas == null ? 0 : areas.next();
        return bytes >= 1 && bytes <= area ? null : "large data has " + bytes + " bytes; the size of the next granted area is "
            + area;
    }

    private String ofReturn(int returned) {
        BulkAreas areas = receiver.areas();
        int outstanding = areas == null ? 0 : areas.outstanding();
        return returned >= 1 && returned <= outstanding ? null
            : returned + " areas for large data are returned; the number of granted areas is " + outstanding;
    }

    private String ofCredit(int back) {
        int least = PeerCredits.halfOf(sender.peerCredits());
        return back >= least ? null : "the peer returned " + back + " credits in a separate message; at least " + least
            + " of its " + sender.peerCredits() + " are required for that";
    }
}
