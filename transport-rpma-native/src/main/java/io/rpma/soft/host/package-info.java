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
 * What the software provider needs from this process, its user and the kernel: the calls of the C library that only this provider
 * makes, the folder that processes of several users share, the limits of descriptors, memory and mappings with the errors for
 * them, the log, and the fault injection points.
 *
 * <p>All other packages of the provider use it. Any thread may call it. It depends on none of them, but only on
 * {@code io.rpma}, {@code io.rpma.posix} and {@code io.rpma.software}.
 */
package io.rpma.soft.host;
