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

package io.rpma.agent.programs;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.uring.IoUringIoEvent;
import io.netty.channel.uring.IoUringIoHandle;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoOps;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Pipes that are registered with an event loop of io_uring. */
public final class UringHandles {
    /** The number of the operation that waits until a descriptor is ready, as in the kernel's header file. */
    private static final byte POLL_ADD = 6;
    private static final int POLLIN = 1;

    private UringHandles() {
    }

    /** Runs the program, and prints the results. */
    public static void main(String[] arguments) throws Exception {
        IoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, IoUringIoHandler.newFactory());
        completes(group.next());
        cancels(group.next());
        ends(group);
    }

    /** Cancels a registration after its operation has completed. */
    private static void completes(IoEventLoop loop) throws Exception {
        FileDescriptor[] pipe = FileDescriptor.pipe();
        Watch watch = new Watch(loop, pipe[0]);
        IoRegistration registration = loop.register(watch).get();
        loop.submit(() -> registration.submit(watch.untilReadable())).sync();
        write(pipe);
        System.out.println("result: " + watch.ready.get(30, TimeUnit.SECONDS));
        System.out.println("result: cancelled " + loop.submit(registration::cancel).get() + ", ended "
            + watch.ended.get(30, TimeUnit.SECONDS));
        close(pipe);
    }

    /** Cancels a registration while its operation is under way. It ends when the operation does. */
    private static void cancels(IoEventLoop loop) throws Exception {
        FileDescriptor[] pipe = FileDescriptor.pipe();
        Watch watch = new Watch(loop, pipe[0]);
        IoRegistration registration = loop.register(watch).get();
        System.out.println("result: cancelled " + loop.submit(() -> {
            registration.submit(watch.untilReadable());
            return registration.cancel();
        }).get() + ", valid " + registration.isValid());
        // The loop has many turns during the operation.
        for (int turn = 0; turn < 20; turn++) {
            loop.schedule(() -> { }, 2, TimeUnit.MILLISECONDS).sync();
        }
        System.out.println("result: ended " + watch.ended.isDone());
        write(pipe);
        System.out.println("result: " + watch.ready.get(30, TimeUnit.SECONDS));
        System.out.println("result: ended " + watch.ended.get(30, TimeUnit.SECONDS));
        close(pipe);
    }

    /** Shuts the group down during an operation that does not end. */
    private static void ends(IoEventLoopGroup group) throws Exception {
        FileDescriptor[] pipe = FileDescriptor.pipe();
        IoEventLoop loop = group.next();
        Watch watch = new Watch(loop, pipe[0]);
        IoRegistration registration = loop.register(watch).get();
        loop.submit(() -> registration.submit(watch.untilReadable())).sync();
        System.out.println("result: terminated "
            + group.shutdownGracefully(0, 10, TimeUnit.SECONDS).await(30, TimeUnit.SECONDS));
        // The thread of a loop that does not end would keep the JVM running.
        System.exit(0);
    }

    private static void write(FileDescriptor[] pipe) throws IOException {
        pipe[1].write(ByteBuffer.allocateDirect(1), 0, 1);
    }

    private static void close(FileDescriptor[] pipe) throws IOException {
        pipe[0].close();
        pipe[1].close();
    }

    /** Waits until a descriptor is readable. */
    private static final class Watch implements IoUringIoHandle {
        private final CompletableFuture<String> ready = new CompletableFuture<>();
        private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
        private final IoEventLoop loop;
        private final FileDescriptor descriptor;

        Watch(IoEventLoop loop, FileDescriptor descriptor) {
            this.loop = loop;
            this.descriptor = descriptor;
        }

        IoUringIoOps untilReadable() {
            return new IoUringIoOps(POLL_ADD, (byte) 0, (short) 0, descriptor.intValue(), 0, 0, 0, POLLIN, 0L, (short) 0,
                (short) 0, 0, 0);
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            ready.complete("ready " + ((IoUringIoEvent) event).res() + ", in the loop " + loop.inEventLoop());
        }

        @Override
        public void unregistered() {
            ended.complete(true);
        }

        @Override
        public void close() {
            // The program closes the descriptor.
        }
    }
}
