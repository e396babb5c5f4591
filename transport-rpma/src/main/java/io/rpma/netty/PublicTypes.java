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

import io.rpma.CompletionStatus;
import io.rpma.RpmaProvider;
import io.rpma.netty.pair.UserTypes;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The public types that queue pairs need; passed to each of them when it is created. */
final class PublicTypes implements UserTypes {
    static final PublicTypes INSTANCE = new PublicTypes();

    private PublicTypes() {
    }

    @Override
    public IOException refused(InetSocketAddress remote, String reason) {
        return new RpmaRefusedException(remote, reason);
    }

    @Override
    public IOException failed(String what, CompletionStatus status) {
        return RpmaCompletionException.of(what, status);
    }

    @Override
    public boolean isRefusal(Throwable failure) {
        return failure instanceof RpmaRefusedException;
    }

    @Override
    public String path(RpmaProvider provider) {
        return RpmaPath.of(provider).toString();
    }
}
