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
import io.rpma.RpmaLog.Level;
import io.rpma.RpmaLog.Threshold;
import io.rpma.RpmaProvider;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** The state of the log belongs to the process, so tests that change it permanently run in a separate JVM. */
class LibrpmaLogTest {
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

    @ParameterizedTest
    @EnumSource(Threshold.class)
    void isOffAtFirstAndTakesEveryLevel(Threshold threshold) throws Exception {
        RpmaLog log = Library.provider().log();
        assertEquals(Level.DISABLED, log.threshold(threshold));
        try {
            for (Level level : Level.values()) {
                log.threshold(threshold, level);
                assertEquals(level, log.threshold(threshold));
                assertEquals(threshold == Threshold.MAIN && level != Level.DISABLED, LibrpmaLog.isSpeaking());
            }
        } finally {
            log.threshold(threshold, Level.DISABLED);
        }
        assertFalse(LibrpmaLog.isSpeaking());
    }

    @Test
    void refusesNull() throws Exception {
        RpmaLog log = Library.provider().log();
        LibrpmaConfigTest.assertRefused(RpmaError.INVALID, "threshold null", () -> log.threshold(null, Level.DEBUG));
        LibrpmaConfigTest.assertRefused(RpmaError.INVALID, "level null", () -> log.threshold(Threshold.MAIN, null));
        LibrpmaConfigTest.assertRefused(RpmaError.INVALID, "the threshold is null", () -> log.threshold(null));
    }

    @Test
    void aSinkSetFirstReceivesMessagesAndKeepsTheDataPathFromBeingCritical() throws Exception {
        Library.provider();
        ForkedJvm jvm = ForkedJvm.run(SinkFirst.class, NATIVE);
        jvm.assertOutputContains("sink: ERROR", "function rpma_info_", "then default: NULL accepted", "critical: false");
        assertEquals(0, jvm.exitCode(), jvm.output());
    }

    @Test
    void aSinkThatThrowsDoesNotEndTheProcess() throws Exception {
        Library.provider();
        ForkedJvm jvm = ForkedJvm.run(ThrowingSink.class, NATIVE);
        jvm.assertOutputContains("The sink of the librpma log failed", "a sink that fails", "still alive");
        assertEquals(0, jvm.exitCode(), jvm.output());
    }

    @Test
    void aSinkAfterTheDataPathIsRefusedAndTheMessageNamesTheProperty() throws Exception {
        Library.provider();
        ForkedJvm jvm = ForkedJvm.run(SinkLate.class, NATIVE);
        jvm.assertOutputContains("critical: true", "refused: NOT_SUPPORTED", "-Dio.rpma.librpma.critical=false",
            "default is still accepted");
        assertEquals(0, jvm.exitCode(), jvm.output());
    }

    @Test
    void aSinkAfterTheDataPathIsTakenWhereCriticalCallsAreSwitchedOff() throws Exception {
        Library.provider();
        ForkedJvm jvm = ForkedJvm.run(SinkLate.class, NATIVE, "-Dio.rpma.librpma.critical=false");
        jvm.assertOutputContains("critical: false", "taken");
        assertEquals(0, jvm.exitCode(), jvm.output());
    }

    @Test
    void thePropertyTurnsTheLogOnForTheStandardErrorOutput() throws Exception {
        Library.provider();
        ForkedJvm jvm = ForkedJvm.run(Provoke.class, NATIVE, "-Dio.rpma.librpma.log=error");
        jvm.assertOutputContains("*ERROR*", "rpma_info_", "thresholds: ERROR ERROR", "critical: false");
        assertEquals(0, jvm.exitCode(), jvm.output());
    }

    @Test
    void aLevelThatIsNoneIsRefused() throws Exception {
        Library.provider();
        ForkedJvm jvm = ForkedJvm.run(Provoke.class, NATIVE, "-Dio.rpma.librpma.log=loud");
        jvm.assertOutputContains("-Dio.rpma.librpma.log is 'loud'; it must be one of [DISABLED, FATAL, ERROR");
        assertEquals(1, jvm.exitCode(), jvm.output());
    }

    // An address of the documentation range, which no interface has, makes the library fail and log an error.
    private static void provoke(RpmaProvider provider) throws Exception {
        try {
            provider.localDevice(InetAddress.getByName("192.0.2.1"));
            throw new AssertionError("192.0.2.1 is an address of this host");
        } catch (RpmaException e) {
            System.out.println("failed as it should: " + e.error());
        }
    }

    private static final class SinkFirst {
        public static void main(String[] args) throws Exception {
            RpmaProvider provider = LibrpmaProvider.open();
            provider.log().sink((level, file, line, function, format) ->
                System.out.println("sink: " + level + " file " + file + " line " + line + " function " + function));
            provider.log().threshold(Threshold.MAIN, Level.DEBUG);
            provoke(provider);
            provider.log().sink(null);
            System.out.println("then default: NULL accepted");
            System.out.println("critical: " + LibrpmaLog.isDataPathCritical());
        }
    }

    private static final class ThrowingSink {
        public static void main(String[] args) throws Exception {
            RpmaProvider provider = LibrpmaProvider.open();
            provider.log().sink((level, file, line, function, format) -> {
                throw new IllegalStateException("a sink that fails");
            });
            provider.log().threshold(Threshold.MAIN, Level.DEBUG);
            provoke(provider);
            System.out.println("still alive");
        }
    }

    private static final class SinkLate {
        public static void main(String[] args) throws Exception {
            RpmaProvider provider = LibrpmaProvider.open();
            // This is the first use of the data path, without a connection: a null handle is an invalid argument.
            System.out.println("poll: " + LibrpmaDataPath.cqGetWc(0, 1, 0, 0));
            System.out.println("critical: " + LibrpmaLog.isDataPathCritical());
            try {
                provider.log().sink((level, file, line, function, format) -> { });
                System.out.println("taken");
            } catch (RpmaException e) {
                System.out.println("refused: " + e.error() + " " + e.getMessage());
                provider.log().sink(null);
                System.out.println("default is still accepted");
            }
        }
    }

    private static final class Provoke {
        public static void main(String[] args) throws Exception {
            RpmaProvider provider = LibrpmaProvider.open();
            System.out.println("thresholds: " + provider.log().threshold(Threshold.MAIN) + " "
                + provider.log().threshold(Threshold.AUXILIARY));
            provoke(provider);
            System.out.println("critical: " + LibrpmaLog.isDataPathCritical());
        }
    }
}
