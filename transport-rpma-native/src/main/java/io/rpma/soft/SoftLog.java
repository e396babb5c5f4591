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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log: off until a threshold is set, then handed to the sink, which is the SLF4J logger {@code io.rpma.soft} unless
 * another one is set. Only what a peer does against the protocol, and what the kernel cannot protect from peers, goes to SLF4J in
 * any case: it has no other way out.
 */
final class SoftLog implements RpmaLog {
    /** The one log of the process. */
    static final SoftLog INSTANCE = new SoftLog();

    private static final Logger LOGGER = LoggerFactory.getLogger("io.rpma.soft");
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final LogLimit VIOLATIONS = new LogLimit(System::nanoTime,
        CompletableFuture.delayedExecutor(LogLimit.WINDOW_NANOS, TimeUnit.NANOSECONDS), SoftLog::logViolation);

    private static final Set<Class<?>> OWN = Set.of(SoftLog.class, LogLimit.class);

    private volatile Level main = Level.DISABLED;
    private volatile Level auxiliary = Level.DISABLED;
    private volatile Sink sink;

    private SoftLog() {
    }

    /** Reports that a peer broke the protocol: of each calling class a few lines a second, and the number of the others. */
    static void violation(String message) {
        VIOLATIONS.log(WALKER.getCallerClass().getSimpleName(), message);
    }

    private static void logViolation(String message) {
        LOGGER.warn("{}", message);
        INSTANCE.log(Level.ERROR, message, false);
    }

    /** Reports what weakens this process although every call succeeds; goes to SLF4J in any case. */
    static void warn(String message) {
        LOGGER.warn("{}", message);
        INSTANCE.log(Level.WARNING, message, false);
    }

    /** Reports something that the user of the interface learns by other means as well. */
    static void log(Level level, String message) {
        INSTANCE.log(level, message, true);
    }

    /** Returns whether anybody would see a message of this level; asked before one is put together. */
    static boolean isEnabled(Level level) {
        return level.ordinal() <= INSTANCE.main.ordinal() || level.ordinal() <= INSTANCE.auxiliary.ordinal();
    }

    /** Reports a call that fails; to be thrown. */
    static RpmaException failure(RpmaError error, String message) {
        return failure(error, 0, message, null);
    }

    /** Reports a call that fails; to be thrown. */
    static RpmaException failure(RpmaError error, int errno, String message, Throwable cause) {
        INSTANCE.log(Level.ERROR, message, true);
        return new RpmaException(error, errno, message, cause);
    }

    private void log(Level level, String message, boolean ownSink) {
        boolean toMain = level.ordinal() <= main.ordinal();
        boolean toAuxiliary = level.ordinal() <= auxiliary.ordinal();
        if (!toMain && !toAuxiliary) {
            return;
        }
        StackWalker.StackFrame frame = WALKER.walk(frames -> frames
            .filter(candidate -> !OWN.contains(candidate.getDeclaringClass())).findFirst().orElseThrow());
        if (toAuxiliary) {
            System.err.println("[rpma] " + level + " " + frame.getFileName() + ':' + frame.getLineNumber() + ": " + message);
        }
        if (toMain) {
            Sink target = sink;
            if (target != null) {
                target.log(level, frame.getFileName(), frame.getLineNumber(), frame.getMethodName(), message);
            } else if (ownSink) {
                toLogger(level, message);
            }
        }
    }

    private static void toLogger(Level level, String message) {
        switch (level) {
            case FATAL, ERROR -> LOGGER.error("{}", message);
            case WARNING -> LOGGER.warn("{}", message);
            case NOTICE, INFO -> LOGGER.info("{}", message);
            default -> LOGGER.debug("{}", message);
        }
    }

    @Override
    public Level threshold(Threshold threshold) throws RpmaException {
        if (threshold == null) {
            throw failure(RpmaError.INVALID, "log: the threshold is null");
        }
        return threshold == Threshold.MAIN ? main : auxiliary;
    }

    @Override
    public void threshold(Threshold threshold, Level level) throws RpmaException {
        if (threshold == null || level == null) {
            throw failure(RpmaError.INVALID, "log: threshold " + threshold + ", level " + level + ": both must be given");
        }
        if (threshold == Threshold.MAIN) {
            main = level;
        } else {
            auxiliary = level;
        }
    }

    @Override
    public void sink(Sink sink) {
        this.sink = sink;
    }
}
