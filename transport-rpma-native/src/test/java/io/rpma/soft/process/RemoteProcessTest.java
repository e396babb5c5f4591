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
package io.rpma.soft.process;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.Station;
import io.rpma.soft.TakenAddresses;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Link;
import io.rpma.soft.host.MappingLimit;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.soft.shared.SharedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests the views that two processes have of each other, with a connection between them. One of them does not read for a while.
 */
@Timeout(60)
class RemoteProcessTest {
    /** More files than fit into a link, with one file per message. */
    private static final int MANY = 600;
    /** After this many turns, two sides that read have exchanged everything. */
    private static final int TURNS = 100;
    /** The name of files that only the test of their descriptors creates. */
    private static final String NAME = "rpma-test-descriptors";
    private static final int UNKNOWN_KIND = 99;

    private final RemoteProcesses here = newProcess(1);
    private final RemoteProcesses there = newProcess(2);
    private final List<Range> files = new ArrayList<>();
    private RemoteProcess toThere;
    private RemoteProcess toHere;
    private ControlSocket control;
    private ControlSocket otherControl;
    private Link link;

    /** Returns what a process knows of others, with an identity of its own and no queue pairs. */
    static RemoteProcesses newProcess(long number) {
        try {
            return new RemoteProcesses(new RemoteProcess.Identity((int) ProcessHandle.current().pid(), number, number),
                new RegionTable(), MappingLimit.ofKernel(), () -> { });
        } catch (RpmaException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void connect() throws Exception {
        link = Link.create();
        int end = Posix.duplicate(link.otherEnd());
        assertEquals(0, Math.min(0, end));
        toThere = RemoteProcess.linked(here, there.identity().pid(), null, 1, link, true);
        toHere = RemoteProcess.linked(there, here.identity().pid(), null, 1, Link.of(end), false);
        toThere.confirm(there.identity());
        toHere.confirm(here.identity());
        int[] ends = new int[2];
        assertEquals(0, Sockets.socketPair(ends));
        control = new ControlSocket(toThere, ends[0], there.identity().pid());
        otherControl = new ControlSocket(toHere, ends[1], here.identity().pid());
    }

    @AfterEach
    void close() {
        control.close();
        otherControl.close();
        toThere.close();
        toHere.close();
        files.forEach(Range::close);
        here.regions().memory().release();
        there.regions().memory().release();
        assertEquals(0, there.mappings().bytes(), "mappings of another process are left");
    }

    private Range newFile() throws RpmaException {
        Range file = Range.create(files.size() + 1, Posix.PAGE_SIZE);
        files.add(file);
        return file;
    }

    /** Both sides handle their events, as event loops do. */
    private void exchange() throws RpmaException {
        for (int i = 0; i < TURNS; i++) {
            assertNull(otherControl.next(false));
            assertNull(control.next(false));
        }
    }

    private void assertAlive() {
        for (ControlSocket socket : List.of(control, otherControl)) {
            assertFalse(socket.isBroken());
            assertFalse(socket.hasEnded());
        }
        assertFalse(toThere.isGone());
        assertFalse(toHere.isGone());
    }

    @Test
    void whatALinkHasNoRoomForComesWhenTheOtherSideReads() throws Exception {
        for (int i = 0; i < MANY; i++) {
            control.announce(List.of(newFile()), true);
        }
        assertTrue(toHere.rangeCount() == 0);
        assertThrows(RpmaException.class, toThere::checkHasAll);
        assertAlive();
        exchange();
        assertEquals(MANY, toHere.rangeCount());
        toThere.checkHasAll();
        assertAlive();
    }

    /** If a connection needs more space than the link has, only this connection fails, with a message that gives the reason. */
    @Test
    void aConnectionThatIsInWantOfRoomFailsAlone() throws Exception {
        RpmaException full = null;
        for (int i = 0; full == null && i < MANY; i++) {
            SharedMemory slab = SharedMemory.create("rpma-test", Posix.PAGE_SIZE);
            try {
                toThere.announceSlab(i, slab);
            } catch (RpmaException e) {
                full = e;
            } finally {
                slab.release();
            }
        }
        assertEquals(RpmaError.PROVIDER, full.error());
        assertTrue(full.getMessage().contains("does not read the notifications of shared memory"), full.getMessage());
        assertAlive();
        toHere.read();
        assertTrue(toThere.announce(List.of(newFile())) || toHere.rangeCount() == 0);
        toHere.read();
        assertEquals(1, toHere.rangeCount(), "there is room again");
    }

    @Test
    void whatIsGivenBackIsUnmappedHoweverMuchItIs() throws Exception {
        for (int i = 0; i < MANY; i++) {
            control.announce(List.of(newFile()), true);
            if (i % 100 == 0) {
                exchange();
            }
        }
        exchange();
        assertEquals(MANY, toHere.rangeCount());
        for (Range file : files) {
            toThere.withdraw(file);
            control.askToLook();
        }
        assertAlive();
        exchange();
        assertEquals(0, toHere.rangeCount());
        assertEquals(RegionTable.SIZE, there.mappings().bytes());
        assertAlive();
    }

    /**
     * A message contains both files. It stays in the link while one of them cannot be mapped for lack of address space, and the
     * other process is not blamed.
     */
    @Test
    void whatThereAreNoAddressesForIsMappedLater() throws Exception {
        Range small = newFile();
        long size = there.mappings().mostBytesEach() / 2;
        Range large = Range.create(files.size() + 1, size);
        files.add(large);
        control.announce(List.of(small, large), true);
        try (TakenAddresses taken = new TakenAddresses(size)) {
            assertTrue(taken.areAny());
            assertEquals(Posix.ENOMEM, toHere.read());
            assertEquals(0, toHere.rangeCount());
            assertAlive();
        }
        assertEquals(0, toHere.read());
        assertEquals(2, toHere.rangeCount());
        assertEquals(RegionTable.SIZE + size + Posix.PAGE_SIZE, there.mappings().bytes());
        assertAlive();
    }

    /** A process that lacks memory for a shared receive queue, and keeps trying, must not run out of descriptors as well. */
    @Test
    void aQueueThatThereAreNoAddressesForLeavesNoDescriptorBehind() throws Exception {
        long size = there.mappings().mostBytesEach() / 2;
        SharedMemory queue = SharedMemory.create(NAME, size);
        SharedMemory posted = SharedMemory.create(NAME, Posix.PAGE_SIZE);
        long before = descriptors();
        assertEquals(0, link.send(ControlMessage.of(ControlMessage.SHARED)
            .attach(ControlMessage.QUEUE, 1, size, queue.fd())
            .attach(ControlMessage.QUEUE_POSTED, 1, Posix.PAGE_SIZE, posted.fd())));
        try (TakenAddresses taken = new TakenAddresses(size)) {
            assertTrue(taken.areAny());
            for (int i = 0; i < 3; i++) {
                assertEquals(Posix.ENOMEM, toHere.read());
            }
            assertEquals(before, descriptors());
            assertAlive();
        }
        assertEquals(0, toHere.read());
        assertEquals(before, descriptors());
        assertEquals(RegionTable.SIZE + size + Posix.PAGE_SIZE, there.mappings().bytes());
        assertAlive();
        queue.release();
        posted.release();
    }

    /** A malicious process creates one link after another, and sends an invalid file with further files behind it on each. */
    @Test
    void whatComesBehindAnInvalidFileLeavesNoDescriptorBehind() throws Exception {
        SharedMemory sent = SharedMemory.create(NAME, Posix.PAGE_SIZE);
        long before = descriptors();
        assertEquals(0, link.send(ControlMessage.of(ControlMessage.SHARED)
            .attach(UNKNOWN_KIND, 1, Posix.PAGE_SIZE, sent.fd())
            .attach(ControlMessage.RANGE, 2, Posix.PAGE_SIZE, sent.fd())
            .attach(ControlMessage.RANGE, 3, Posix.PAGE_SIZE, sent.fd())));
        toHere.read();
        assertTrue(toHere.isGone());
        assertEquals(0, toHere.rangeCount());
        assertEquals(before, descriptors());
        sent.release();
    }

    /** Returns the number of descriptors of files with {@link #NAME}. */
    private static long descriptors() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(descriptor -> {
                try {
                    return Files.readSymbolicLink(descriptor).toString().contains(NAME);
                } catch (IOException e) {
                    // The descriptor was closed after the folder was listed.
                    return false;
                }
            }).count();
        }
    }

    /**
     * Two files of half the size that one process may map here exceed the limit, because the process's table is mapped as well.
     */
    @Test
    void aProcessThatWantsTooMuchMappedLosesItsConnections() throws Exception {
        long size = there.mappings().mostBytesEach() / 2;
        for (int id = 1; id <= 2; id++) {
            Range file = Range.create(id, size);
            files.add(file);
            control.announce(List.of(file), true);
        }
        toHere.read();
        assertEquals(1, toHere.rangeCount());
        assertEquals(RegionTable.SIZE + size, there.mappings().bytes());
        assertTrue(toHere.isGone());
    }

    /** Neither side handles its events while ranges are created and closed, and neither of the two sockets overflows. */
    @Test
    void rangesThatComeAndGoDoNotBreakAConnectionThatDoesNotLook() throws Exception {
        for (int i = 0; i < MANY; i++) {
            Range file = newFile();
            control.announce(List.of(file), true);
            toThere.withdraw(file);
            control.askToLook();
        }
        assertAlive();
        exchange();
        assertEquals(0, toHere.rangeCount());
        assertAlive();
    }

    /**
     * The link is full of ranges that have been withdrawn when one more is registered. The other side takes no events, but this
     * side sends the range when the other side, which needs it, requests that.
     */
    @Test
    void aRangeForWhichThereWasNoRoomIsSentWhenItIsNeeded() throws Exception {
        for (int i = 0; i < MANY; i++) {
            Range file = newFile();
            control.announce(List.of(file), true);
            toThere.withdraw(file);
            control.askToLook();
        }
        Range last = newFile();
        int key = here.regions().enter(1, last.address(), last.size(), last.id(), 0, 1);
        control.announce(List.of(last), true);
        assertSame(RemoteRegion.NOT_SENT, toHere.find(key));
        for (int i = 0; i < MANY; i++) {
            otherControl.requestUnsent();
            assertNull(control.next(false));
        }
        assertTrue(toHere.find(key).local() != 0);
        assertEquals(1, toHere.rangeCount());
        assertAlive();
        exchange();
        assertAlive();
    }

    /** A range of which only the table of regions tells is waited for only while it can still arrive. */
    @Test
    void aRangeThatCannotArriveAnyMoreIsNotWaitedFor() throws Exception {
        Range file = newFile();
        int key = here.regions().enter(1, file.address(), file.size(), file.id(), 0, 1);
        assertSame(RemoteRegion.NOT_SENT, toHere.find(key));
        assertEquals(0, link.send(ControlMessage.bare(ControlMessage.READY)));
        assertNull(toHere.find(key));
        assertTrue(toHere.isGone());
    }

    @Test
    void ofAFileThatWasNotSentTheOtherSideIsToldNothing() throws Exception {
        int sent = 0;
        Range unsent = newFile();
        while (isSent(unsent)) {
            sent++;
            unsent = newFile();
        }
        toThere.withdraw(unsent);
        toHere.read();
        toThere.announce(List.of());
        toHere.read();
        assertEquals(sent, toHere.rangeCount());
        assertAlive();
    }

    private boolean isSent(Range file) throws RpmaException {
        toThere.announce(List.of(file));
        try {
            toThere.checkHasAll();
            return true;
        } catch (RpmaException e) {
            return false;
        }
    }

    /** The message that connects must be the first one, because the listener accepts no other. */
    @Test
    void nothingIsAskedBeforeTheMessageThatConnects() throws Exception {
        for (int i = 0; i < 200; i++) {
            control.announce(List.of(newFile()), false);
        }
        assertFalse(Station.isReadable(otherControl.fd()));
        assertAlive();
    }
}
