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

import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueueConfig;

/** {@code struct rpma_srq_cfg}. */
final class LibrpmaSharedReceiveQueueConfig extends LibrpmaHandle implements SharedReceiveQueueConfig {
    LibrpmaSharedReceiveQueueConfig() throws RpmaException {
        super("shared receive queue configuration", create(Librpma.SRQ_CFG_NEW, "rpma_srq_cfg_new"));
    }

    @Override
    public int receiveQueueSize() throws RpmaException {
        return getInt(Librpma.SRQ_CFG_GET_RQ_SIZE, "rpma_srq_cfg_get_rq_size", handle());
    }

    @Override
    public SharedReceiveQueueConfig receiveQueueSize(int size) throws RpmaException {
        setSize(Librpma.SRQ_CFG_SET_RQ_SIZE, "rpma_srq_cfg_set_rq_size", handle(), size);
        return this;
    }

    @Override
    public int receiveCompletionQueueSize() throws RpmaException {
        return getInt(Librpma.SRQ_CFG_GET_RCQ_SIZE, "rpma_srq_cfg_get_rcq_size", handle());
    }

    @Override
    public SharedReceiveQueueConfig receiveCompletionQueueSize(int size) throws RpmaException {
        setSize(Librpma.SRQ_CFG_SET_RCQ_SIZE, "rpma_srq_cfg_set_rcq_size", handle(), size);
        return this;
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer != 0) {
            delete(Librpma.SRQ_CFG_DELETE, "rpma_srq_cfg_delete", pointer);
        }
    }
}
