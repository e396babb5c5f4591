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

/**
 * The Netty transport over RPMA. {@link io.rpma.netty.RpmaEventLoopGroup}, {@link io.rpma.netty.RpmaServerChannel} and
 * {@link io.rpma.netty.RpmaChannel} replace the corresponding classes of any other transport in a bootstrap; pipelines need no
 * change.
 *
 * <p>{@link io.rpma.netty.RpmaMessageChannel} exchanges messages with programs that use librpma directly. On both kinds of
 * channel an {@link io.rpma.netty.RpmaOperation} accesses memory of the peer, which the peer has registered as an
 * {@link io.rpma.netty.RpmaRegion}; an {@link io.rpma.netty.RpmaTransfer} moves more of it than one operation can.
 */
package io.rpma.netty;
