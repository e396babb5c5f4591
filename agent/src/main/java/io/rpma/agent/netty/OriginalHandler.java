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

package io.rpma.agent.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The handler that an event loop would have without the agent. It runs the handles that no other handler accepts, on the thread
 * of the loop, in addition to the handler of RPMA. A thread can block in one handler only, so the loop blocks in that of RPMA,
 * for a limited time as long as there are such handles. Only the thread of the loop calls the methods, except {@link #handler}
 * and, if the loop has ended before this object was created, {@link #destroy}.
 */
final class OriginalHandler {
    /** The longest time after which a handle that has become ready is noticed. */
    private static final long INTERVAL_NANOS = 1_000_000;

    private final IoHandler handler;
    private final Limited now = new Limited(0);
    private final Limited brief = new Limited(INTERVAL_NANOS);
    // The registrations of NIO.
    private final List<IoRegistration> registrations = new ArrayList<>();
    // The number of the registrations of io_uring that have not ended.
    private int ofUring;
    private long lastRunNanos = System.nanoTime();
    private boolean isActive;

    OriginalHandler(IoHandler handler) {
        this.handler = handler;
    }

    IoHandler handler() {
        return handler;
    }

    void initialize() {
        handler.initialize();
        // Only if it may block does the handler of io_uring submit the read that ends its wait in prepareToDestroy(). Without the
        // read it waits there until an operation of a handle completes, possibly forever. Later there might be a completion, for
        // which the handler does not block.
        handler.run(new Start());
    }

    IoRegistration register(IoHandle handle) throws Exception {
        if (!(handle instanceof NioIoHandle)) {
            return handler.register(new UringHandle(handle, this));
        }
        IoRegistration registration = handler.register(handle);
        registrations.add(registration);
        return registration;
    }

    /** Called when a registration of io_uring begins. */
    void began() {
        ofUring++;
    }

    /** Called when a registration of io_uring ends. */
    void ended() {
        ofUring--;
    }

    /** Runs the handler of RPMA, and then this one if it is due. Returns the number of handles for which I/O was processed. */
    int run(IoHandlerContext context, IoHandler rpma) {
        if (registrations.isEmpty() && ofUring == 0) {
            return rpma.run(context);
        }
        int handled = rpma.run((isActive ? now : brief).of(context));
        if (!isActive && System.nanoTime() - lastRunNanos < INTERVAL_NANOS) {
            return handled;
        }
        // A registration of NIO also ends without being cancelled, when its channel is closed. It is removed before the handler
        // runs, so that the handler runs once more after the end of the last one: NIO closes the descriptor of a registered
        // channel only when its selector selects again.
        registrations.removeIf(registration -> !registration.isValid());
        int own = handler.run(now.of(context));
        isActive = own > 0;
        lastRunNanos = System.nanoTime();
        return handled + own;
    }

    void prepareToDestroy() {
        handler.prepareToDestroy();
    }

    void destroy() {
        handler.destroy();
    }

    /** A context that permits the handler to block, but for no time. */
    private static final class Start implements IoHandlerContext {
        @Override
        public boolean canBlock() {
            return true;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return System.nanoTime();
        }
    }

    /**
     * The context of a loop, except that the wait is limited. The transport has such a class too, but in a package that its
     * module does not export. It can be a named module, if the application contains it.
     */
    private static final class Limited implements IoHandlerContext {
        private final long maxNanos;
        private IoHandlerContext context;

        Limited(long maxNanos) {
            this.maxNanos = maxNanos;
        }

        Limited of(IoHandlerContext loop) {
            context = loop;
            return this;
        }

        @Override
        public boolean canBlock() {
            return maxNanos > 0 && context.canBlock();
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return Math.min(maxNanos, context.delayNanos(currentTimeNanos));
        }

        @Override
        public long deadlineNanos() {
            // Epoll sets its timer, to delayNanos(), only if the deadline differs from the one before.
            return System.nanoTime() + maxNanos;
        }

        @Override
        public void reportActiveIoTime(long activeNanos) {
            context.reportActiveIoTime(activeNanos);
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return context.shouldReportActiveIoTime();
        }
    }
}
