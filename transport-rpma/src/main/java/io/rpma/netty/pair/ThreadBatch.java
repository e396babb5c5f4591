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
package io.rpma.netty.pair;

import io.netty.util.concurrent.FastThreadLocal;
import io.rpma.WorkCompletions;

/**
 * A batch of completions for callers that process completions immediately and keep nothing of them. It holds data only between a
 * poll and the processing, so that one batch for each thread is enough.
 */
public final class ThreadBatch {
    private static final FastThreadLocal<WorkCompletions> BATCH = new FastThreadLocal<>() {
        @Override
        protected WorkCompletions initialValue() {
            return new WorkCompletions(64);
        }
    };

    private ThreadBatch() {
    }

    /** Returns the batch of this thread. */
    public static WorkCompletions get() {
        return BATCH.get();
    }
}
