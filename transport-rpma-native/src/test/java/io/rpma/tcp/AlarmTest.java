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

import io.rpma.RpmaException;
import io.rpma.posix.EpollSet;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests alarms, also those whose epoll set refuses a descriptor, as for lack of resources. */
class AlarmTest {
    /** More than the kernel's limit of nested sets with the same descriptor. */
    private static final int MANY = 600;
    private static final int EBADF = 9;
    private static final int PATIENCE_MILLIS = 30_000;
    private static final int NO_DESCRIPTOR = Integer.MAX_VALUE;

    private static boolean isReadable(int fd) {
        return Sockets.poll(fd, (short) Sockets.EPOLLIN, 0) != 0;
    }

    /** The set refuses the descriptor because it has it already, as it does for lack of resources. */
    @Test
    void anAlarmThatCannotBeRaisedAtOnceIsRaisedLater() throws Exception {
        Adapter.start();
        Alarm alarm = new Alarm().made();
        try {
            int readable = ((ReadableDescriptor) Station.field(alarm, "readable")).fd();
            assertEquals(0, EpollSet.add(alarm.fd(), readable, 0, 0));
            alarm.raise();
            assertFalse(isReadable(alarm.fd()));
            EpollSet.remove(alarm.fd(), readable);
            assertTrue(Sockets.poll(alarm.fd(), (short) Sockets.EPOLLIN, PATIENCE_MILLIS) > 0, "the alarm is not raised");
            alarm.clear();
            assertFalse(isReadable(alarm.fd()));
        } finally {
            alarm.close();
        }
    }

    /** The kernel limits the number of nested sets that contain the same descriptor. */
    @Test
    void manyAlarmsAreRaisedAtTheSameTime() throws Exception {
        int loop = Sockets.epollCreate();
        List<Alarm> alarms = new ArrayList<>();
        try {
            for (int i = 0; i < MANY; i++) {
                alarms.add(new Alarm().made());
                assertEquals(0, Sockets.epollAdd(loop, alarms.get(i).fd()), "the result for alarm " + i);
            }
            alarms.forEach(Alarm::raise);
            for (int i = 0; i < MANY; i++) {
                assertTrue(isReadable(alarms.get(i).fd()), "alarm " + i + " is not raised");
            }
        } finally {
            alarms.forEach(Alarm::close);
            Posix.close(loop);
        }
    }

    @Test
    void aReadableDescriptorIsSharedByFewAlarms() throws Exception {
        List<ReadableDescriptor> taken = new ArrayList<>();
        for (int i = 0; i <= 2 * ReadableDescriptor.MOST_USERS; i++) {
            taken.add(ReadableDescriptor.take());
        }
        Map<Integer, Long> users = taken.stream().collect(Collectors.groupingBy(ReadableDescriptor::fd, Collectors.counting()));
        assertTrue(users.size() >= 3, () -> "users by descriptor: " + users);
        assertTrue(users.values().stream().allMatch(count -> count <= ReadableDescriptor.MOST_USERS),
            () -> "users by descriptor: " + users);
        taken.forEach(ReadableDescriptor::release);
        ReadableDescriptor again = ReadableDescriptor.take();
        try {
            assertTrue(isReadable(again.fd()));
        } finally {
            again.release();
        }
    }

    @Test
    void aDescriptorThatCannotWatchTheSocketIsNotCreated() throws Exception {
        Alarm alarm = new Alarm();
        try {
            assertEquals(0, alarm.watch(NO_DESCRIPTOR));
            assertEquals(-EBADF, alarm.create());
            assertEquals(EBADF, assertThrows(RpmaException.class, alarm::made).errno());
            assertThrows(IllegalStateException.class, alarm::fd);
            alarm.raise();
            alarm.unwatch();
            assertTrue(isReadable(alarm.fd()));
        } finally {
            alarm.close();
        }
    }

    @Test
    void aSocketThatIsNotWatchedMayHaveData() throws Exception {
        Alarm alarm = new Alarm().made();
        int other = Posix.eventfd(0);
        try (Arena arena = Arena.ofConfined()) {
            long events = arena.allocate((long) Alarm.EVENTS * EpollSet.EVENT_BYTES, 8).address();
            assertFalse(alarm.mayHaveData(events));
            assertEquals(-EBADF, alarm.watch(NO_DESCRIPTOR));
            assertTrue(alarm.mayHaveData(events));
            alarm.unwatch();
            assertFalse(alarm.mayHaveData(events));
            assertEquals(-EBADF, alarm.add(NO_DESCRIPTOR, 0));
            assertEquals(0, alarm.add(other, 1));
            assertTrue(alarm.mayHaveData(events));
            alarm.remove(other);
            assertTrue(alarm.mayHaveData(events));
            alarm.remove(NO_DESCRIPTOR);
            assertFalse(alarm.mayHaveData(events));
        } finally {
            Posix.close(other);
            alarm.close();
        }
    }
}
