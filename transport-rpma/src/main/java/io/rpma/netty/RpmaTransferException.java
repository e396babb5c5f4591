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

package io.rpma.netty;

import java.io.IOException;

/**
 * The failure of an {@link RpmaTransfer}, with the offset that it reached. The cause is that of the operation that failed
 * first.
 */
public final class RpmaTransferException extends IOException {
    private static final long serialVersionUID = 1;

    private final long offset;

    RpmaTransferException(String message, long offset, Throwable cause) {
        super(message, cause);
        this.offset = offset;
    }

    /**
     * Returns the offset of the operation that failed, counted from the beginning of the transfer. The bytes before it have
     * been moved. Of the bytes from this offset on, all, some or none may have been moved.
     */
    public long offset() {
        return offset;
    }
}
