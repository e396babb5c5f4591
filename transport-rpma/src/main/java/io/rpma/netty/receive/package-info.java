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
 * The receives of streams: those that a connection has alone, those that many connections share, and the completion queue of an
 * event loop in which shared receives complete. Internal; the module does not export this package.
 *
 * <p>Streams use it, and server channels prepare the receives of the next connection with it. It depends on the packages for
 * memory, loops and queue pairs. The data path of a connection uses it on the event loop of that connection; what several loops
 * call says so.
 */
package io.rpma.netty.receive;
