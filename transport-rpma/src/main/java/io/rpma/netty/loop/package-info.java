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
 * The parts of {@link io.rpma.netty.RpmaIoHandler}: what an event loop watches, which completion queues it polls, when it polls
 * and when it blocks, and how it ends what is left when it terminates. Internal; the module does not export this package.
 *
 * <p>The handler is made of these classes, and everything that lives on a loop implements {@link
 * io.rpma.netty.loop.RpmaIoHandle}. Of the other packages of the transport, this one uses {@code io.rpma.netty.jit} alone. One
 * thread uses these classes, that of the loop, except where they say otherwise.
 */
package io.rpma.netty.loop;
