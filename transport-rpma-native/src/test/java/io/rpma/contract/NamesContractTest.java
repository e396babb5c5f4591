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
package io.rpma.contract;

import io.rpma.ConnectionEvent;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaLog;
import io.rpma.RpmaLog.Level;
import io.rpma.RpmaLog.Threshold;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.contract.Contract.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Tests names, descriptions and the log. */
class NamesContractTest extends ContractCase {
    @Test
    void providerIsTheOneThatWasAskedFor() {
        String wish = System.getProperty(Rpma.PROVIDER_PROPERTY, System.getenv("RPMA_PROVIDER"));
        if (!"auto".equals(wish)) {
            assertEquals(wish, PROVIDER.name());
        }
        assertSame(PROVIDER, Rpma.provider());
        assertFalse(PROVIDER.description().isBlank());
    }

    /** rpma_err_2str(3): a string for every code. */
    @Test
    void everyErrorHasWordsOfItsOwn() {
        for (RpmaError error : RpmaError.values()) {
            assertFalse(PROVIDER.describe(error).isBlank(), error.name());
            for (RpmaError other : RpmaError.values()) {
                if (other != error) {
                    assertNotEquals(PROVIDER.describe(other), PROVIDER.describe(error));
                }
            }
        }
    }

    /** rpma_utils_conn_event_2str(3): a string for every event. */
    @Test
    void everyEventHasWordsOfItsOwn() {
        for (ConnectionEvent event : ConnectionEvent.values()) {
            assertFalse(PROVIDER.describe(event).isBlank(), event.name());
            for (ConnectionEvent other : ConnectionEvent.values()) {
                if (other != event) {
                    assertNotEquals(PROVIDER.describe(other), PROVIDER.describe(event));
                }
            }
        }
    }

    /** librpma.h: RPMA_E_* are -100000 to -100009, RPMA_CONN_* are -1 to 4. */
    @Test
    void codesAreThoseOfTheHeader() {
        for (RpmaError error : RpmaError.values()) {
            assertEquals(-100000 - error.ordinal(), error.code());
            assertSame(error, RpmaError.of(error.code()));
        }
        for (ConnectionEvent event : ConnectionEvent.values()) {
            assertEquals(event.ordinal() - 1, event.code());
            assertSame(event, ConnectionEvent.of(event.code()));
        }
    }

    /** rpma_log_set_threshold(3), rpma_log_get_threshold(3). */
    @ParameterizedTest
    @EnumSource(Threshold.class)
    void logThresholdIsKept(Threshold threshold) throws Exception {
        RpmaLog log = PROVIDER.log();
        Level before = log.threshold(threshold);
        scope.onClose(() -> log.threshold(threshold, before));
        // No function is called in between, so nothing is logged.
        for (Level level : Level.values()) {
            log.threshold(threshold, level);
            assertEquals(level, log.threshold(threshold));
        }
    }

    /** RpmaLog: the log is off when the provider is loaded, but errors are still reported. */
    @Test
    void logIsOffAtFirst() throws Exception {
        assertEquals(Level.DISABLED, PROVIDER.log().threshold(Threshold.MAIN));
        assertEquals(Level.DISABLED, PROVIDER.log().threshold(Threshold.AUXILIARY));
    }

    /** rpma_log_set_threshold(3): RPMA_E_INVAL - threshold or level is not valid. */
    @Test
    void logRefusesNull() {
        RpmaLog log = PROVIDER.log();
        refused(INVALID, () -> log.threshold(null));
        refused(INVALID, () -> log.threshold(null, Level.ERROR));
        refused(INVALID, () -> log.threshold(Threshold.MAIN, null));
    }

    /** rpma_log_set_function(3): the function receives the messages that pass the threshold; NULL restores the default. */
    @Test
    void logSinkHearsOfFailures() throws Exception {
        // The test runs in its own process, because a provider need not accept a sink after it has made connections.
        ContractChild child = ContractChild.logging();
        scope.onClose(child::end);
        child.expect("heard");
        child.expect("silent");
        child.expect("silent");
    }
}
