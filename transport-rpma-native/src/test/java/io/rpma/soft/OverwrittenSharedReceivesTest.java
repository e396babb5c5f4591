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
package io.rpma.soft;

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.ReceiveEntry;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A process overwrites the memory of a shared receive queue or breaks its rules, and the connections of other processes must
 * continue.
 */
@Timeout(120)
class OverwrittenSharedReceivesTest {
    private static final int SLOTS = 4;
    private static final int SLOT_BYTES = 64;
    private static final int NOBODY = 12_345;

    private Station station;
    private SoftSharedReceiveQueue shared;
    private ConnectionConfig config;
    private Ends honest;
    private Ends hostile;
    private int messages;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        shared = (SoftSharedReceiveQueue) station.peer.newSharedReceiveQueue(
            station.provider.newSharedReceiveQueueConfig().receiveQueueSize(SLOTS).receiveCompletionQueueSize(0));
        config = station.provider.newConnectionConfig().sharedReceiveQueue(shared);
        honest = new Ends(station, null, config);
        hostile = new Ends(station, null, config);
    }

    @AfterEach
    void close() throws Exception {
        honest.closeConnections();
        hostile.closeConnections();
        config.close();
        shared.close();
        station.close();
    }

    private static QueuePair queuePair(Connection connection) {
        return ((SoftConnection) connection).queuePair();
    }

    private void post(int slot) throws Exception {
        shared.receive(station.region, (long) slot * SLOT_BYTES, SLOT_BYTES, slot);
    }

    private void postAll() throws Exception {
        for (int i = 0; i < SLOTS; i++) {
            post(i);
        }
    }

    /**
     * Sends a message over the well-behaved connection and checks it. The test keeps the receive. Returns the slot of the
     * receive.
     */
    private int exchange() throws Exception {
        long source = 8192;
        int number = ++messages;
        Memory.putInt(station.memory.address() + source, number);
        honest.client.send(station.region, source, 8, CompletionFlag.ALWAYS, number);
        WorkCompletions sent = new WorkCompletions(1);
        WorkCompletions one = new WorkCompletions(1);
        boolean isSent = false;
        boolean isReceived = false;
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!isSent || !isReceived) {
            // Both queues are polled, as event loops do, because the owner of the shared queue repairs it.
            isSent |= honest.client.completionQueue().poll(sent) > 0;
            isReceived |= honest.server.completionQueue().poll(one) > 0;
            Station.pause();
            assertTrue(System.nanoTime() < deadline, "message " + number + " did not arrive");
        }
        assertEquals(CompletionStatus.SUCCESS, sent.status(0));
        assertEquals(CompletionStatus.SUCCESS, one.status(0));
        assertEquals(number, Memory.getInt(station.memory.address() + one.context(0) * SLOT_BYTES));
        return (int) one.context(0);
    }

    /** Checks that all receives can be taken, each exactly once. */
    private void expectAll() throws Exception {
        boolean[] seen = new boolean[SLOTS];
        for (int i = 0; i < SLOTS; i++) {
            int slot = exchange();
            assertTrue(!seen[slot], "receive " + slot + " was completed twice");
            seen[slot] = true;
        }
    }

    private long base() {
        return shared.memory().address();
    }

    private void hint(int distance) {
        Memory.putIntVolatile(base() + SharedReceives.HEAD, Memory.getIntVolatile(base() + SharedReceives.HEAD) + distance);
    }

    /** The hint for the search points behind the posted receives, into the middle of them, or before them. */
    @ParameterizedTest
    @CsvSource({"1000", "4", "3", "1", "-1", "-1000000", "2000000000", "-2147483648"})
    void aWrongHintKeepsNobodyFromSending(int distance) throws Exception {
        postAll();
        for (int round = 0; round < 20; round++) {
            hint(distance);
            post(exchange());
        }
        hint(distance);
        expectAll();
    }

    private long takeWord(int index) {
        return base() + SharedReceives.TAKES + index * 8L;
    }

    private interface Overwriting {
        void overwrite(long word);
    }

    /** Regardless of the content of the take words, no sender waits forever, and no receive is lost. */
    private void overwriteTakeWords(Overwriting overwriting) throws Exception {
        postAll();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < SLOTS; i++) {
                overwriting.overwrite(takeWord(i));
            }
            post(exchange());
        }
        expectAll();
    }

    @Test
    void takeWordsThatMakeNoSenseAreRepaired() throws Exception {
        overwriteTakeWords(word -> Memory.putLong(word, 0x0123_4567_89ab_cdefL));
    }

    @Test
    void takeWordsOfZeroAreRepaired() throws Exception {
        overwriteTakeWords(word -> Memory.putLong(word, 0));
    }

    /** All posted receives are marked as taken by a process that completes none of them. */
    @ParameterizedTest
    @CsvSource({"0", "1", "2", "12345", "-1", "2147483647"})
    void receivesMarkedAsTakenAreRepaired(int taker) throws Exception {
        overwriteTakeWords(word -> {
            int position = (int) (Memory.getLong(word) >>> 32) - 1 + SLOTS;
            Memory.putLong(word, SharedReceives.taken(position, taker));
        });
    }

    /**
     * The receive of a well-behaved sender is marked as taken by another one, between the moment when it is taken and the moment
     * when its completion is polled.
     */
    @ParameterizedTest
    @CsvSource({"0x0badbeef", "12345", "-1", "0", "1", "2"})
    void aTakerThatIsNobodyDoesNotHurtTheHonest(String lower) throws Exception {
        postAll();
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
        for (int i = 0; i < SLOTS; i++) {
            Memory.putInt(takeWord(i) + lowerHalf(), Integer.decode(lower));
        }
        Station.expect(honest.client.completionQueue(), 1, 0);
        Station.expect(honest.server.completionQueue(), 0, 0);
        post(0);
        expectAll();
    }

    /**
     * One bit of a take word is wrong, or the word is too large or too small by one, while its receive holds a message that has
     * not been polled. No other sender takes the receive, and the message arrives unchanged.
     */
    @ParameterizedTest
    @MethodSource("slightChanges")
    void aTakeWordThatIsSlightlyWrongDoesNotMakeAReceiveFree(LongUnaryOperator change) throws Exception {
        postAll();
        long[] before = takeWords();
        Memory.putInt(station.memory.address() + 8192, 1);
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
        Station.expect(honest.client.completionQueue(), 1, 0);
        for (int i = 0; i < SLOTS; i++) {
            long word = Memory.getLong(takeWord(i));
            if (word != before[i]) {
                Memory.putLong(takeWord(i), change.applyAsLong(word));
            }
        }
        Memory.putInt(station.memory.address() + 8256, 2);
        hostile.client.send(station.region, 8256, 8, CompletionFlag.ALWAYS, 2);
        Station.expect(hostile.client.completionQueue(), 2, 0);
        assertEquals(1, Memory.getInt(station.memory.address() + received(honest) * SLOT_BYTES));
        assertEquals(2, Memory.getInt(station.memory.address() + received(hostile) * SLOT_BYTES));
    }

    private static Stream<Named<LongUnaryOperator>> slightChanges() {
        return Stream.concat(
            IntStream.range(0, Long.SIZE).mapToObj(bit -> Named.of("bit " + bit, word -> word ^ 1L << bit)),
            Stream.of(Named.of("one more", word -> word + 1), Named.of("one less", word -> word - 1),
                Named.of("the upper half increased by one", word -> word + (1L << 32))));
    }

    private long[] takeWords() {
        long[] words = new long[SLOTS];
        for (int i = 0; i < SLOTS; i++) {
            words[i] = Memory.getLong(takeWord(i));
        }
        return words;
    }

    /**
     * A take word is wrong, its receive is posted again elsewhere, and then the same change is undone. The receive is not taken
     * at its previous position.
     */
    @ParameterizedTest
    @MethodSource("slightChanges")
    void aReceiveThatWasPostedAgainIsNotTakenWhereItWasBefore(LongUnaryOperator change) throws Exception {
        int slots = 5;
        try (SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(slots).receiveCompletionQueueSize(slots));
            ConnectionConfig member = station.provider.newConnectionConfig().sharedReceiveQueue(queue)) {
            Ends ends = new Ends(station, null, member);
            SoftSharedReceiveQueue soft = (SoftSharedReceiveQueue) queue;
            long ring = soft.posted().address();
            for (int i = 0; i < slots; i++) {
                queue.receive(station.region, i * (long) SLOT_BYTES, SLOT_BYTES, i);
            }
            int head = Memory.getInt(soft.memory().address() + SharedReceives.HEAD);
            long word = soft.memory().address() + SharedReceives.TAKES + (head + 1 & soft.capacity() - 1) * 8L;
            long free = Memory.getLong(word);
            Memory.putLong(word, change.applyAsLong(free));
            soft.scheduleRepair();
            long next = SharedReceives.entry(ring, soft.capacity(), head + slots) + ReceiveEntry.STATE;
            long deadline = System.nanoTime() + 20_000_000_000L;
            while ((int) Memory.getLongAcquire(next) != head + slots + 1) {
                Station.pause();
                assertTrue(System.nanoTime() < deadline, "the receive was not posted again");
            }
            // A bit is flipped back, or the word becomes smaller by what it was increased by.
            long difference = change.applyAsLong(free) - free;
            Memory.putLong(word, Long.bitCount(change.applyAsLong(free) ^ free) == 1
                ? change.applyAsLong(Memory.getLong(word)) : Memory.getLong(word) - difference);
            boolean[] seen = new boolean[slots];
            for (int i = 0; i < slots; i++) {
                ends.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, i);
                WorkCompletions one = new WorkCompletions(1);
                Station.await(queue.receiveCompletionQueue(), one, Station.Waiting.BLOCKING);
                assertEquals(CompletionStatus.SUCCESS, one.status(0));
                assertTrue(!seen[(int) one.context(0)]);
                seen[(int) one.context(0)] = true;
            }
            ends.closeConnections();
        }
    }

    private static long received(Ends ends) throws Exception {
        WorkCompletions one = new WorkCompletions(1);
        Station.await(ends.server.completionQueue(), one, Station.Waiting.SPINNING);
        assertEquals(CompletionStatus.SUCCESS, one.status(0));
        return one.context(0);
    }

    private static int lowerHalf() {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 0 : 4;
    }

    /**
     * A queue pair that permanently claims to be executing an operation only keeps the receive that it names. The other receives
     * are posted again.
     */
    @Test
    void aPeerThatIsBusyForEverKeepsOneReceive() throws Exception {
        postAll();
        int first = (int) (Memory.getLong(takeWord(0)) >>> 32) - 1 + SLOTS;
        long half = queuePair(hostile.server).remote().base();
        Memory.putInt(half + Half.BUSY_RECEIVE, first);
        Memory.putIntVolatile(half + Half.BUSY, Memory.getInt(half + Half.BUSY) + 1);
        for (int i = 0; i < SLOTS; i++) {
            Memory.putLong(takeWord(i), 0x0123_4567_89ab_cdefL);
        }
        boolean[] seen = new boolean[SLOTS];
        for (int i = 1; i < SLOTS; i++) {
            seen[exchange()] = true;
        }
        int kept = 0;
        while (seen[kept]) {
            kept++;
        }
        Memory.putIntVolatile(half + Half.BUSY, Memory.getInt(half + Half.BUSY) + 1);
        assertEquals(kept, exchange());
    }

    /**
     * A peer completes a receive that another peer has taken, or that nobody has taken. Its connection ends, and the message of
     * the other peer arrives.
     */
    @ParameterizedTest
    @CsvSource({"0", "2"})
    void aCompletionOfWhatOneHasNotTakenIsItsOwnEnd(int slot) throws Exception {
        postAll();
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
        Station.expect(honest.client.completionQueue(), 1, 0);
        RemoteEnd end = queuePair(hostile.client).remote();
        CompletionRing.publish(end.ring(), end.ringCapacity() - 1, 0, slot, 8, 0, 0, 0);
        assertEquals(0, hostile.server.completionQueue().poll(new WorkCompletions(4)));
        assertTrue(queuePair(hostile.server).isError());
        assertEquals(ConnectionEvent.LOST, hostile.server.nextEvent());
        assertEquals(ConnectionEvent.CLOSED, hostile.client.nextEvent());
        Station.expect(honest.server.completionQueue(), 0, 0);
        assertTrue(!queuePair(honest.server).isError());
        assertNull(honest.server.nextEvent());
        post(0);
        expectAll();
    }

    private void overwrite(long[] before) {
        for (int i = 0; i < SLOTS; i++) {
            if (Memory.getLong(takeWord(i)) != before[i]) {
                Memory.putLong(takeWord(i), 0x0123_4567_89ab_cdefL);
            }
        }
    }

    private static void publish(Ends ends, int position, int slot) {
        RemoteEnd end = queuePair(ends.client).remote();
        CompletionRing.publish(end.ring(), end.ringCapacity() - 1, position, slot, 8, 0, 0, 0);
    }

    /**
     * The take word of a message that has not been polled is overwritten, and another peer completes the receive of this message:
     * without having taken one, as the last of several completions, or instead of the receive that it has taken. Its connection
     * ends, and the message arrives.
     */
    @ParameterizedTest
    @CsvSource({"nothing taken", "the first of two", "another one taken"})
    void aCompletionOfAnotherOnesReceiveIsRefusedIfTheTakeWordIsOverwritten(String how) throws Exception {
        postAll();
        long[] before = takeWords();
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
        Station.expect(honest.client.completionQueue(), 1, 0);
        if (how.startsWith("another")) {
            hostile.client.send(station.region, 8256, 8, CompletionFlag.ALWAYS, 2);
            Station.expect(hostile.client.completionQueue(), 2, 0);
        }
        overwrite(before);
        publish(hostile, 0, 0);
        if (how.startsWith("the first")) {
            publish(hostile, 1, 1);
        }
        assertEquals(0, hostile.server.completionQueue().poll(new WorkCompletions(4)));
        assertTrue(queuePair(hostile.server).isError());
        Station.expect(honest.server.completionQueue(), 0, 0);
        assertNull(honest.server.nextEvent());
        post(0);
        expectAll();
    }

    /** A well-behaved peer has published its completion, and another one has forged a completion of the same receive before. */
    @Test
    void aForgedCompletionThatIsPolledLaterCostsOnlyItsOwnConnection() throws Exception {
        postAll();
        long[] before = takeWords();
        publish(hostile, 0, 0);
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
        Station.expect(honest.client.completionQueue(), 1, 0);
        overwrite(before);
        Station.expect(honest.server.completionQueue(), 0, 0);
        assertEquals(0, hostile.server.completionQueue().poll(new WorkCompletions(4)));
        assertTrue(queuePair(hostile.server).isError());
        post(0);
        expectAll();
    }

    /**
     * A sender has taken a receive, and then lost the race for another one. The take word of the first one is overwritten before
     * its message is polled.
     */
    @Test
    void aSenderThatLostARaceStillOwnsWhatItTookBefore() throws Exception {
        post(0);
        post(1);
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
        Station.expect(honest.client.completionQueue(), 1, 0);
        long[] before = takeWords();
        hostile.client.send(station.region, 8256, 8, CompletionFlag.ALWAYS, 2);
        Station.expect(hostile.client.completionQueue(), 2, 0);
        // The sender has loaded the second receive in advance, and finds out now that it is gone.
        honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 3);
        assertEquals(0, honest.client.completionQueue().poll(new WorkCompletions(1)));
        for (int i = 0; i < SLOTS; i++) {
            if (Memory.getLong(takeWord(i)) == before[i]) {
                Memory.putLong(takeWord(i), 0x0123_4567_89ab_cdefL);
            }
        }
        Station.expect(honest.server.completionQueue(), 0, 0);
        Station.expect(hostile.server.completionQueue(), 1, 0);
        post(0);
        Station.expect(honest.client.completionQueue(), 3, 0);
        Station.expect(honest.server.completionQueue(), 0, 0);
    }

    /** The marks of senders that wait for a receive are erased. */
    @Test
    void aWaitingSenderIsServedEvenIfItsMarksAreErased() throws Exception {
        WorkCompletions one = new WorkCompletions(1);
        for (int round = 0; round < 2; round++) {
            honest.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, round);
            assertEquals(0, honest.client.completionQueue().poll(one));
            Memory.putIntVolatile(base() + SharedReceives.WAITING, 0);
            Memory.zero(base() + SharedReceives.WAITERS, SharedReceives.MAX_ATTACHED / 8);
            post(round);
            Station.expect(honest.client.completionQueue(), round, 0);
            Station.expect(honest.server.completionQueue(), round, 0);
        }
    }

    /** The bits that show which rings contain messages are erased, or set without a reason. */
    @ParameterizedTest
    @CsvSource({"0,false", "0,true", "-1,false", "-1,true"})
    void aMessageIsFoundThoughItsReadyBitsAreGone(byte value, boolean asleep) throws Exception {
        try (SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(SLOTS));
            ConnectionConfig member = station.provider.newConnectionConfig().sharedReceiveQueue(queue)) {
            Ends ends = new Ends(station, null, member);
            long words = ((SoftSharedReceiveQueue) queue).memory().address();
            for (int i = 0; i < SLOTS; i++) {
                queue.receive(station.region, i * (long) SLOT_BYTES, SLOT_BYTES, i);
            }
            ends.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, 1);
            Memory.segment(words + SharedReceives.READY_TOP, Long.BYTES).fill((byte) 0);
            Memory.segment(words + SharedReceives.READY_MIDDLE, SharedReceives.WAITERS - SharedReceives.READY_MIDDLE).fill(value);
            Station.await(queue.receiveCompletionQueue(), new WorkCompletions(1),
                asleep ? Station.Waiting.BLOCKING : Station.Waiting.SPINNING);
            ends.closeConnections();
        }
    }

    /**
     * Everything that peers can write, except the take words, is overwritten while the owner sleeps. A message still wakes the
     * owner.
     */
    @ParameterizedTest
    @CsvSource({"0", "-1", "1"})
    void theOwnerIsWokenWhateverIsOverwritten(byte value) throws Exception {
        try (SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(SLOTS));
            ConnectionConfig member = station.provider.newConnectionConfig().sharedReceiveQueue(queue)) {
            Ends ends = new Ends(station, null, member);
            for (int i = 0; i < SLOTS; i++) {
                queue.receive(station.region, i * (long) SLOT_BYTES, SLOT_BYTES, i);
            }
            CompletionQueue completions = queue.receiveCompletionQueue();
            WorkCompletions one = new WorkCompletions(1);
            for (int round = 0; round < 3; round++) {
                completions.consumeEvent();
                assertEquals(0, completions.poll(one));
                Memory.segment(((SoftSharedReceiveQueue) queue).memory().address(), SharedReceives.TAKES).fill(value);
                ends.client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, round);
                Station.awaitReadable(completions.fd(), "message");
                assertTrue(completions.consumeEvent());
                assertEquals(1, completions.poll(one));
            }
            ends.closeConnections();
        }
    }

    /** Peers cannot write to the memory that determines where messages are placed. */
    @Test
    void postedReceivesAreReadOnlyForPeers() {
        SharedMemory posted = shared.posted();
        assertEquals(-Posix.EPERM,
            Posix.mmap(0, posted.size(), Posix.PROT_READ | Posix.PROT_WRITE, Posix.MAP_SHARED, posted.fd(), 0));
    }

    /**
     * Random values are repeatedly written to random places, and each message of the well-behaved connection arrives unchanged.
     */
    @ParameterizedTest
    @CsvSource({"1", "2", "3", "7"})
    void overwritingAtRandomCostsNothing(long seed) throws Exception {
        Random random = new Random(seed);
        postAll();
        int size = (int) shared.memory().size();
        for (int round = 0; round < 300; round++) {
            int words = random.nextInt(4);
            for (int i = 0; i < words; i++) {
                // Half of the values are written to words that are in use.
                int offset = random.nextBoolean() ? random.nextInt(size / 4) * 4
                    : SharedReceives.TAKES + random.nextInt(2 * SLOTS) * 4;
                Memory.putInt(base() + offset, random.nextInt(3) == 0 ? random.nextInt(NOBODY) : random.nextInt());
            }
            post(exchange());
        }
        expectAll();
        assertNull(honest.client.nextEvent());
        assertNull(hostile.client.nextEvent());
        hostile.server.disconnect();
        Station.expect(ConnectionEvent.CLOSED, hostile.client);
    }
}
