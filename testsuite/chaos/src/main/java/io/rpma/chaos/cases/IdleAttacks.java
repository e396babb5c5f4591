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

package io.rpma.chaos.cases;

import java.util.function.Consumer;

/**
 * Notices that hostile processes end before they have attacked. One process may not get that far on a busy machine, but if
 * several in a row do not, the case attacks nothing, and its clean result would mean nothing.
 */
final class IdleAttacks {
    /** The number of processes in a row. */
    static final int MOST = 3;

    private final String attack;
    private final Consumer<String> failures;
    private int inARow;

    /**
     * Creates the watch of one run of a case.
     *
     * @param attack the name of the attack, for the message
     * @param failures receives the message
     */
    IdleAttacks(String attack, Consumer<String> failures) {
        this.attack = attack;
        this.failures = failures;
    }

    /** Records the end of a hostile process, and how many actions it has reported. */
    void ended(long actions) {
        if (actions > 0) {
            inARow = 0;
        } else if (++inARow == MOST) {
            failures.accept(MOST + " processes in a row ended before the attack \"" + attack + "\" had begun; see their logs");
            inARow = 0;
        }
    }
}
