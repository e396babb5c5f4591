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

import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.WorkCompletions;

/** A work completion that has been copied from its batch. */
record Completion(long context, CompletionStatus status, CompletionOpcode opcode, int byteLength, boolean hasImmediate,
        int immediate, int queuePairNumber) {

    static Completion of(WorkCompletions batch, int index) {
        return new Completion(batch.context(index), batch.status(index), batch.opcode(index), batch.byteLength(index),
            batch.hasImmediate(index), batch.immediate(index), batch.queuePairNumber(index));
    }

    boolean success() {
        return status == CompletionStatus.SUCCESS;
    }
}
