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
package io.rpma.software;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of a provider in Java. It is off until a threshold is set; messages then go to the sink, which is an SLF4J logger
 * unless another one is set. Violations of the protocol by a peer, and missing protection by the kernel, always go to SLF4J,
 * because they are not reported otherwise. Thread-safe.
 */
public final class SoftwareLog implements RpmaLog {
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private final Logger logger;
    private final LogLimit violations = new LogLimit(System::nanoTime,
        CompletableFuture.delayedExecutor(LogLimit.WINDOW_NANOS, TimeUnit.NANOSECONDS), this::logViolation);
    private final Set<Class<?>> own;

    private volatile Level main = Level.DISABLED;
    private volatile Level auxiliary = Level.DISABLED;
    private volatile Sink sink;

    /**
     * Creates a log.
     *
     * @param name of the SLF4J logger
     * @param facade the provider's own class in front of this one; a message names the caller of that
     */
    public SoftwareLog(String name, Class<?> facade) {
        logger = LoggerFactory.getLogger(name);
        own = Set.of(SoftwareLog.class, LogLimit.class, facade);
    }

    /** Reports that a peer violated the protocol. The number of lines of each source is limited ({@link LogLimit}). */
    public void violation(String source, String message) {
        violations.log(source, message);
    }

    private void logViolation(String message) {
        logger.warn("{}", message);
        log(Level.ERROR, message, false);
    }

    /** Reports a condition that weakens this process although every call succeeds. Always goes to SLF4J. */
    public void warn(String message) {
        logger.warn("{}", message);
        log(Level.WARNING, message, false);
    }

    /** Reports a condition that is also reported to the caller in another way. */
    public void log(Level level, String message) {
        log(level, message, true);
    }

    /** Returns whether messages of a level are logged. Called before a message is formatted. */
    public boolean isEnabled(Level level) {
        return level.ordinal() <= main.ordinal() || level.ordinal() <= auxiliary.ordinal();
    }

    /** Reports a call that fails; to be thrown. */
    public RpmaException failure(RpmaError error, String message) {
        return failure(error, 0, message, null);
    }

    /** Reports a call that fails; to be thrown. */
    public RpmaException failure(RpmaError error, int errno, String message, Throwable cause) {
        log(Level.ERROR, message, true);
        return new RpmaException(error, errno, message, cause);
    }

    private void log(Level level, String message, boolean ownSink) {
        boolean toMain = level.ordinal() <= main.ordinal();
        boolean toAuxiliary = level.ordinal() <= auxiliary.ordinal();
        if (!toMain && !toAuxiliary) {
            return;
        }
        StackWalker.StackFrame frame = WALKER.walk(frames -> frames
            .filter(candidate -> !own.contains(candidate.getDeclaringClass())).findFirst().orElseThrow());
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

    private void toLogger(Level level, String message) {
        switch (level) {
            case FATAL, ERROR -> logger.error("{}", message);
            case WARNING -> logger.warn("{}", message);
            case NOTICE, INFO -> logger.info("{}", message);
            default -> logger.debug("{}", message);
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
            throw failure(RpmaError.INVALID, "log: threshold " + threshold + ", level " + level + ": neither may be null");
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
