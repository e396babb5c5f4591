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
package io.rpma;

/**
 * The limits of a device ({@code struct ibv_device_attr}, {@code struct ibv_port_attr}). librpma does not check a configuration
 * against them: a queue that is too large makes a connection request fail, and the client is left waiting.
 *
 * @param maxQueuePairs queue pairs
 * @param maxQueuePairWorkRequests work requests in one send or receive queue
 * @param maxCompletionQueues completion queues
 * @param maxCompletionQueueSize entries of one completion queue
 * @param maxSharedReceiveQueueWorkRequests work requests in one shared receive queue
 * @param maxMemoryRegions memory regions
 * @param maxMemoryRegionSize bytes of one memory region
 * @param maxMessageSize bytes of one message, read or write
 */
public record DeviceLimits(int maxQueuePairs, int maxQueuePairWorkRequests, int maxCompletionQueues,
        int maxCompletionQueueSize, int maxSharedReceiveQueueWorkRequests, int maxMemoryRegions,
        long maxMemoryRegionSize, long maxMessageSize) {
}
