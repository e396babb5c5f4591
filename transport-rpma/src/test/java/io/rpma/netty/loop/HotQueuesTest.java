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
package io.rpma.netty.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.unix.FileDescriptor;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaLoopCounters;
import io.rpma.netty.RpmaMetrics;
import io.rpma.netty.RpmaPolling;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests an event loop that prepares to block. It arms its completion queues one after the other, and polls each of them once
 * more. The handling of what it polled may run epoll, because the loop is late. Epoll reports each event once, so the loop must
 * not block after an event of a queue that has just been armed.
 */
@Timeout(60)
class HotQueuesTest {
    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1, RpmaPolling.BLOCK);
    private final IoEventLoop loop = group.next();
    private FileDescriptor[] pipe;

    @BeforeEach
    void openPipe() throws IOException {
        pipe = FileDescriptor.pipe();
    }

    @AfterEach
    void close() throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        for (FileDescriptor each : pipe) {
            each.close();
        }
    }

    /** A completion queue whose descriptor is a pipe. */
    private static class PipeQueue implements CompletionQueue, RpmaIoHandle {
        private final FileDescriptor[] pipe;
        private final CountDownLatch handled = new CountDownLatch(1);
        private IoRegistration registration;
        private int pending;
        private long blocks;

        PipeQueue(FileDescriptor[] pipe) {
            this.pipe = pipe;
        }

        /** Adds a completion to this queue, which is armed. Must be called on the loop. */
        void complete() {
            pending++;
            blocks = blocksOfThisLoop();
            try {
                pipe[1].write(ByteBuffer.allocateDirect(1), 0, 1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        static RpmaLoopCounters countersOfThisLoop() {
            String name = Thread.currentThread().getName();
            return RpmaMetrics.loops().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
        }

        static long blocksOfThisLoop() {
            return countersOfThisLoop().blocks();
        }

        /** Waits until the loop has handled the completion, and returns how often the loop has blocked before it did so. */
        long blocksUntilHandled() throws InterruptedException {
            handled.await();
            return blocks;
        }

        /** Runs epoll, as the transport does in the middle of a turn that takes a long time. */
        void runEpollAsALateLoopDoes() {
            EpollSet epoll = registration.attachment();
            epoll.lastRunNanos -= TimeUnit.SECONDS.toNanos(1);
            epoll.catchUp();
        }

        @Override
        public int fd() {
            return pipe[0].intValue();
        }

        @Override
        public boolean consumeEvent() {
            try {
                return pipe[0].read(ByteBuffer.allocateDirect(1), 0, 1) > 0;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public int poll(WorkCompletions completions) {
            int n = pending;
            pending = 0;
            if (n > 0) {
                blocks = blocksOfThisLoop() - blocks;
                handled.countDown();
            }
            return n;
        }

        @Override
        public boolean hasEvents() {
            return false;
        }

        @Override
        public int[] eventFds(Runnable ready) {
            throw new AssertionError("this handle has no events");
        }

        @Override
        public void eventsReady() {
            throw new AssertionError("this handle has no events");
        }

        @Override
        public CompletionQueue completionQueue() {
            return this;
        }

        @Override
        public void close() {
            // The test closes the pipe.
        }

        @Override
        public void destroy() {
            // The test closes the pipe.
        }
    }

    private void register(PipeQueue queue) throws Exception {
        loop.register(queue).addListener(future -> {
            queue.registration = (IoRegistration) future.getNow();
            queue.registration.submit(RpmaIoOps.OPEN);
        }).sync();
    }

    @Test
    void anEventOfAQueueThatIsBeingArmedIsNotLost() throws Exception {
        PipeQueue queue = new PipeQueue(pipe) {
            private boolean armed;
            private boolean done;

            @Override
            public boolean consumeEvent() {
                armed = true;
                return super.consumeEvent();
            }

            @Override
            public int poll(WorkCompletions completions) {
                int n = super.poll(completions);
                if (armed && !done) {
                    done = true;
                    complete();
                    runEpollAsALateLoopDoes();
                }
                return n;
            }
        };
        register(queue);
        assertEquals(0, queue.blocksUntilHandled());
    }

    @Test
    void anEventOfAQueueThatHasBeenArmedBeforeAnotherIsNotLost() throws Exception {
        boolean[] armed = new boolean[1];
        PipeQueue armedFirst = new PipeQueue(pipe) {
            @Override
            public boolean consumeEvent() {
                armed[0] = true;
                return super.consumeEvent();
            }
        };
        FileDescriptor[] second = FileDescriptor.pipe();
        try {
            PipeQueue armedSecond = new PipeQueue(second) {
                private boolean done;

                @Override
                public int poll(WorkCompletions completions) {
                    if (armed[0] && !done) {
                        done = true;
                        armedFirst.complete();
                        runEpollAsALateLoopDoes();
                    }
                    return super.poll(completions);
                }
            };
            loop.submit(() -> {
                // The queue that was opened last is armed first.
                register(armedSecond);
                register(armedFirst);
                return null;
            }).sync();
            assertEquals(0, armedFirst.blocksUntilHandled());
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            for (FileDescriptor each : second) {
                each.close();
            }
        }
    }

    /** A queue that has a completion when it has just been armed for the first time, and none before and after that. */
    private static final class LuckyQueue extends PipeQueue {
        private final CountDownLatch armedTwice = new CountDownLatch(1);
        private int polls;
        private int arms;
        private int pollsAtFirstArm;
        private volatile int pollsBetween;

        LuckyQueue(FileDescriptor[] pipe) {
            super(pipe);
        }

        @Override
        public boolean consumeEvent() {
            arms++;
            if (arms == 1) {
                pollsAtFirstArm = polls;
            } else if (arms == 2) {
                pollsBetween = polls - pollsAtFirstArm;
                armedTwice.countDown();
            }
            return super.consumeEvent();
        }

        @Override
        public int poll(WorkCompletions completions) {
            polls++;
            return arms == 1 && polls == pollsAtFirstArm + 1 ? 1 : 0;
        }
    }

    /** The queue of a connection that is in use is not armed again after each poll, which would cost a system call each time. */
    @Test
    void aQueueThatHadACompletionWhenItWasArmedRemainsHot() throws Exception {
        FileDescriptor[] second = FileDescriptor.pipe();
        RpmaEventLoopGroup adaptive = new RpmaEventLoopGroup(1, RpmaPolling.ADAPTIVE);
        try {
            LuckyQueue queue = new LuckyQueue(pipe);
            // The loop does not block, because another queue always has a completion.
            PipeQueue busy = new PipeQueue(second) {
                @Override
                public int poll(WorkCompletions completions) {
                    return 1;
                }
            };
            for (PipeQueue each : List.of(busy, queue)) {
                adaptive.next().register(each).addListener(future -> {
                    each.registration = (IoRegistration) future.getNow();
                    each.registration.submit(RpmaIoOps.OPEN);
                }).sync();
            }
            assertTrue(queue.armedTwice.await(20, TimeUnit.SECONDS));
            assertTrue(queue.pollsBetween > 100, () -> "armed again after " + queue.pollsBetween + " polls");
        } finally {
            adaptive.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            for (FileDescriptor each : second) {
                each.close();
            }
        }
    }

    /** A queue whose descriptor cannot be created at first. It has one completion meanwhile. */
    private static final class LateQueue extends PipeQueue {
        private static final int POLLS = 20;

        private final Semaphore completions = new Semaphore(0);
        private int polls;
        private long blocksBefore;
        private volatile long blocksMeanwhile;
        private volatile boolean hasDescriptor;

        LateQueue(FileDescriptor[] pipe) {
            super(pipe);
        }

        @Override
        public int fd() {
            if (!hasDescriptor) {
                throw new IllegalStateException("Too many open files");
            }
            return super.fd();
        }

        @Override
        public int poll(WorkCompletions batch) {
            polls++;
            if (polls == 1) {
                blocksBefore = blocksOfThisLoop();
            }
            int n = polls == POLLS ? 1 : super.poll(batch);
            if (polls == POLLS) {
                blocksMeanwhile = blocksOfThisLoop() - blocksBefore;
            }
            completions.release(n);
            return n;
        }
    }

    /** The loop finds the completions of such a queue, and waits for a moment between two polls. */
    @Test
    void aQueueWhoseDescriptorCannotBeCreatedIsPolledAtIntervals() throws Exception {
        LateQueue queue = new LateQueue(pipe);
        register(queue);
        queue.completions.acquire();
        assertTrue(queue.blocksMeanwhile >= LateQueue.POLLS / 4, () -> "the loop blocked " + queue.blocksMeanwhile + " times");
        queue.hasDescriptor = true;
        RpmaLoopCounters counters = loop.submit(PipeQueue::countersOfThisLoop).get();
        while (counters.hotQueues() > 0) {
            Thread.onSpinWait();
        }
        loop.execute(queue::complete);
        queue.completions.acquire();
    }

    /**
     * The handle of a queue that has no descriptor any more ends, also if a class cannot be loaded that should say why. The loop,
     * and its other queues, are not affected.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aQueueWhoseDescriptorFailsEndsItsHandleAlone(boolean isError) throws Exception {
        CountDownLatch destroyed = new CountDownLatch(1);
        PipeQueue ended = new PipeQueue(pipe) {
            @Override
            public int fd() {
                if (isError) {
                    throw new NoClassDefFoundError("io/rpma/Reason");
                }
                return -1;
            }

            @Override
            public void destroy() {
                destroyed.countDown();
            }
        };
        PipeQueue other = new PipeQueue(pipe);
        loop.submit(() -> {
            // The queue that was opened last is armed first.
            register(other);
            register(ended);
            return null;
        }).sync();
        destroyed.await();
        loop.execute(other::complete);
        other.blocksUntilHandled();
    }
}
