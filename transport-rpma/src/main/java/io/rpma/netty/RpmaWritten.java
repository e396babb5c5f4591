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

/**
 * A message that an {@link RpmaMessageChannel} reads when the peer has written into this process's memory and has announced it
 * ({@code rpma_write_with_imm(3)}). The bytes are in the region already. Like any message, it consumes one receive.
 *
 * @param immediate the immediate data, in host order
 * @param bytes the number of bytes written; their location has to be encoded in the immediate data
 */
public record RpmaWritten(int immediate, int bytes) {
}
