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
package io.rpma.librpma;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Arrays;
import java.util.Locale;
import org.slf4j.LoggerFactory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * The library's log. It is off unless it is requested, because each message costs a system call, goes to the system's log, and
 * may change {@code errno}.
 *
 * <p>A sink in Java and critical calls ({@link LibrpmaDataPath}) exclude each other. A sink that is set before the first data
 * path call makes the data path non-critical permanently. Afterwards a sink is refused, unless the process was started with
 * critical calls switched off.
 */
final class LibrpmaLog implements RpmaLog {
    /** The system property that turns the log on, by a level. */
    static final String LEVEL_PROPERTY = "io.rpma.librpma.log";

    /** The system property that turns critical calls off, by {@code false}. */
    static final String CRITICAL_PROPERTY = "io.rpma.librpma.critical";

    static final LibrpmaLog INSTANCE = new LibrpmaLog();

    private static final int AGAIN = RpmaError.AGAIN.code();

    // Guarded by the class.
    private static MemorySegment upcall = MemorySegment.NULL;
    // null until the data path has been bound
    private static Boolean dataPathCritical;

    private static volatile Sink sink;
    // Whether the main threshold lets messages through, so that errno is not reliable.
    private static volatile boolean speaking;

    private LibrpmaLog() {
    }

    /** Sets the thresholds that the process starts with. */
    static void init() throws RpmaException {
        String wish = System.getProperty(LEVEL_PROPERTY, "");
        Level level;
        try {
            level = wish.isBlank() ? Level.DISABLED : Level.valueOf(wish.trim().toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new RpmaUnavailableException("-D" + LEVEL_PROPERTY + " is '" + wish + "'; it must be one of "
                + Arrays.toString(Level.values()), e);
        }
        // The default function writes a message to the standard error output only if both thresholds let it through. It then
        // writes it to the system's log as well.
        INSTANCE.threshold(Threshold.MAIN, level);
        INSTANCE.threshold(Threshold.AUXILIARY, level);
    }

    /** Decides, once, whether the data path is bound with critical calls. */
    static synchronized boolean isDataPathCritical() {
        if (dataPathCritical == null) {
            dataPathCritical = upcall.equals(MemorySegment.NULL)
                && !"false".equalsIgnoreCase(System.getProperty(CRITICAL_PROPERTY, "true").trim())
                && System.getProperty(LEVEL_PROPERTY, "").isBlank();
        }
        return dataPathCritical;
    }

    /** Returns whether the library may be writing messages, which can change {@code errno}. */
    static boolean isSpeaking() {
        return speaking;
    }

    @Override
    public Level threshold(Threshold threshold) throws RpmaException {
        if (threshold == null) {
            throw LibrpmaFailure.invalid("rpma_log_get_threshold: the threshold is null");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment level = arena.allocate(JAVA_INT);
            int code;
            do {
                code = Librpma.logGetThreshold(threshold.ordinal(), level);
            } while (code == AGAIN);
            LibrpmaFailure.check("rpma_log_get_threshold", code);
            return level(level.get(JAVA_INT, 0));
        }
    }

    @Override
    public void threshold(Threshold threshold, Level level) throws RpmaException {
        if (threshold == null || level == null) {
            throw LibrpmaFailure.invalid("rpma_log_set_threshold: threshold " + threshold + ", level " + level
                + "; neither may be null");
        }
        synchronized (LibrpmaLog.class) {
            int code;
            do {
                code = Librpma.logSetThreshold(threshold.ordinal(), level.code());
            } while (code == AGAIN);
            LibrpmaFailure.check("rpma_log_set_threshold", code);
            if (threshold == Threshold.MAIN) {
                speaking = level != Level.DISABLED;
            }
        }
    }

    @Override
    public void sink(Sink receiver) throws RpmaException {
        synchronized (LibrpmaLog.class) {
            if (receiver != null && Boolean.TRUE.equals(dataPathCritical)) {
                throw new RpmaException(RpmaError.NOT_SUPPORTED, "rpma_log_set_function: the data path is already in use, and"
                    + " its native calls must not call back into Java. Set the sink before the first connection, or start the"
                    + " JVM with -D"
                    + CRITICAL_PROPERTY + "=false");
            }
            MemorySegment function = MemorySegment.NULL;
            if (receiver != null) {
                if (upcall.equals(MemorySegment.NULL)) {
                    upcall = upcall();
                }
                function = upcall;
                sink = receiver;
            }
            int code;
            do {
                code = Librpma.call(Librpma.LOG_SET_FUNCTION, function);
            } while (code == AGAIN);
            LibrpmaFailure.check("rpma_log_set_function", code);
            // A call in progress in another thread may still pass a message to the previous sink.
        }
    }

    // One stub for all sinks, for the life of the process, because the library may be executing it at any time.
    private static MemorySegment upcall() {
        FunctionDescriptor type = FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
        try {
            return Linker.nativeLinker().upcallStub(MethodHandles.lookup().findStatic(LibrpmaLog.class, "message",
                type.toMethodType()), type, Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("LibrpmaLog.message", e);
        }
    }

    // The C function is variadic. An upcall receives its fixed arguments, but not the values for the format.
    private static void message(int level, MemorySegment file, int line, MemorySegment function, MemorySegment format) {
        try {
            sink.log(level(level), text(file), line, text(function), text(format).stripTrailing());
        } catch (Throwable e) {
            // An exception must not leave an upcall: it would end the process.
            report(e);
        }
    }

    private static void report(Throwable failure) {
        try {
            LoggerFactory.getLogger(LibrpmaLog.class).warn("The sink of the librpma log failed", failure);
        } catch (Throwable ignored) {
            // The logger failed as well; the failure cannot be reported.
        }
    }

    private static String text(MemorySegment string) {
        return string.equals(MemorySegment.NULL) ? null : string.reinterpret(Long.MAX_VALUE).getString(0);
    }

    private static Level level(int code) {
        return Level.values()[code + 1];
    }
}
