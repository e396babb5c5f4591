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
 * RPMA for Java, with librpma's terms: peer, endpoint, connection request, connection, completion queue, shared receive queue,
 * memory region. librpma's man pages also describe this package. {@link io.rpma.Rpma#provider()} is the entry point.
 *
 * <p>The package replaces the conventions of C: error numbers become {@link io.rpma.RpmaException}s, pointers to results become
 * results, and codes that report that there is nothing to return ({@code RPMA_E_NO_COMPLETION}, {@code RPMA_E_NO_EVENT}, and
 * {@code RPMA_E_PROVIDER} with {@code EAGAIN}) become {@code 0}, {@code false} or {@code null}. Closing an object twice does
 * nothing, and using a closed object fails with {@link io.rpma.RpmaError#INVALID}. Descriptors are non-blocking; the two calls
 * that block while they resolve an address are documented as such. Programs without an event loop wait by {@link
 * io.rpma.Endpoint#waitForConnectionRequest}, {@link io.rpma.Connection#waitForEvent} and {@link
 * io.rpma.CompletionQueue#poll(WorkCompletions, java.time.Duration)}, on threads of any kind: a single thread of the process
 * polls the descriptors for all of them.
 *
 * <table>
 * <caption>The functions of librpma 1.x</caption>
 * <tr><th>librpma</th><th>Java</th></tr>
 * <tr><th colspan="2">Errors and devices</th></tr>
 * <tr><td>{@code rpma_err_2str}</td><td>{@link RpmaProvider#describe(RpmaError)}</td></tr>
 * <tr><td>{@code rpma_utils_conn_event_2str}</td><td>{@link RpmaProvider#describe(ConnectionEvent)}</td></tr>
 * <tr><td>{@code rpma_utils_get_ibv_context}</td><td>{@link RpmaProvider#localDevice},
 *     {@link RpmaProvider#remoteDevice}</td></tr>
 * <tr><td>{@code rpma_utils_ibv_context_is_odp_capable}</td><td>{@link Device#isOnDemandPagingCapable}</td></tr>
 * <tr><th colspan="2">Log</th></tr>
 * <tr><td>{@code rpma_log_get_threshold}</td><td>{@link RpmaLog#threshold(RpmaLog.Threshold)}</td></tr>
 * <tr><td>{@code rpma_log_set_threshold}</td><td>{@link RpmaLog#threshold(RpmaLog.Threshold, RpmaLog.Level)}</td></tr>
 * <tr><td>{@code rpma_log_set_function}</td><td>{@link RpmaLog#sink}</td></tr>
 * <tr><th colspan="2">Peer configuration</th></tr>
 * <tr><td>{@code rpma_peer_cfg_new}</td><td>{@link RpmaProvider#newPeerConfig}</td></tr>
 * <tr><td>{@code rpma_peer_cfg_delete}</td><td>{@link PeerConfig#close}</td></tr>
 * <tr><td>{@code rpma_peer_cfg_set_direct_write_to_pmem}</td><td>{@link PeerConfig#directWriteToPmem}</td></tr>
 * <tr><td>{@code rpma_peer_cfg_get_direct_write_to_pmem}</td><td>{@link PeerConfig#isDirectWriteToPmem}</td></tr>
 * <tr><td>{@code rpma_peer_cfg_get_descriptor}</td><td>{@link PeerConfig#descriptor}</td></tr>
 * <tr><td>{@code rpma_peer_cfg_get_descriptor_size}</td><td>{@link PeerConfig#descriptorSize}</td></tr>
 * <tr><td>{@code rpma_peer_cfg_from_descriptor}</td><td>{@link RpmaProvider#peerConfigFromDescriptor}</td></tr>
 * <tr><th colspan="2">Peer</th></tr>
 * <tr><td>{@code rpma_peer_new}</td><td>{@link Device#newPeer}</td></tr>
 * <tr><td>{@code rpma_peer_delete}</td><td>{@link Peer#close}</td></tr>
 * <tr><th colspan="2">Memory regions</th></tr>
 * <tr><td>{@code rpma_mr_reg}</td><td>{@link Peer#register}</td></tr>
 * <tr><td>{@code rpma_mr_dereg}</td><td>{@link LocalMemoryRegion#close}</td></tr>
 * <tr><td>{@code rpma_mr_get_descriptor}</td><td>{@link LocalMemoryRegion#descriptor}</td></tr>
 * <tr><td>{@code rpma_mr_get_descriptor_size}</td><td>{@link LocalMemoryRegion#descriptorSize}</td></tr>
 * <tr><td>{@code rpma_mr_get_ptr}</td><td>{@link LocalMemoryRegion#address}, {@link LocalMemoryRegion#memory}</td></tr>
 * <tr><td>{@code rpma_mr_get_size}</td><td>{@link LocalMemoryRegion#size}, {@link LocalMemoryRegion#memory}</td></tr>
 * <tr><td>{@code rpma_mr_advise}</td><td>{@link LocalMemoryRegion#advise}</td></tr>
 * <tr><td>{@code rpma_mr_remote_from_descriptor}</td><td>{@link RpmaProvider#openRemoteRegion}</td></tr>
 * <tr><td>{@code rpma_mr_remote_get_size}</td><td>{@link RemoteMemoryRegion#size}</td></tr>
 * <tr><td>{@code rpma_mr_remote_get_flush_type}</td><td>{@link RemoteMemoryRegion#flushUsages}</td></tr>
 * <tr><td>{@code rpma_mr_remote_delete}</td><td>{@link RemoteMemoryRegion#close}</td></tr>
 * <tr><th colspan="2">Connection configuration</th></tr>
 * <tr><td>{@code rpma_conn_cfg_new}</td><td>{@link RpmaProvider#newConnectionConfig}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_delete}</td><td>{@link ConnectionConfig#close}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_timeout}</td><td>{@link ConnectionConfig#timeoutMillis(int)}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_timeout}</td><td>{@link ConnectionConfig#timeoutMillis()}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_cq_size}</td><td>{@link ConnectionConfig#completionQueueSize(int)}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_cq_size}</td><td>{@link ConnectionConfig#completionQueueSize()}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_rcq_size}</td><td>{@link ConnectionConfig#receiveCompletionQueueSize(int)}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_rcq_size}</td><td>{@link ConnectionConfig#receiveCompletionQueueSize()}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_sq_size}</td><td>{@link ConnectionConfig#sendQueueSize(int)}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_sq_size}</td><td>{@link ConnectionConfig#sendQueueSize()}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_rq_size}</td><td>{@link ConnectionConfig#receiveQueueSize(int)}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_rq_size}</td><td>{@link ConnectionConfig#receiveQueueSize()}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_compl_channel}</td><td>{@link ConnectionConfig#sharedCompletionChannel}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_compl_channel}</td><td>{@link ConnectionConfig#isSharedCompletionChannel}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_set_srq}</td><td>{@link ConnectionConfig#sharedReceiveQueue(SharedReceiveQueue)}</td></tr>
 * <tr><td>{@code rpma_conn_cfg_get_srq}</td><td>{@link ConnectionConfig#sharedReceiveQueue()}</td></tr>
 * <tr><th colspan="2">Endpoint</th></tr>
 * <tr><td>{@code rpma_ep_listen}</td><td>{@link Peer#listen}</td></tr>
 * <tr><td>{@code rpma_ep_get_fd}</td><td>{@link Endpoint#fd}</td></tr>
 * <tr><td>{@code rpma_ep_next_conn_req}</td><td>{@link Endpoint#nextConnectionRequest},
 *     {@link Endpoint#waitForConnectionRequest}</td></tr>
 * <tr><td>{@code rpma_ep_shutdown}</td><td>{@link Endpoint#close}</td></tr>
 * <tr><th colspan="2">Connection request</th></tr>
 * <tr><td>{@code rpma_conn_req_new}</td><td>{@link Peer#newConnectionRequest}</td></tr>
 * <tr><td>{@code rpma_conn_req_get_private_data}</td><td>{@link ConnectionRequest#privateData}</td></tr>
 * <tr><td>{@code rpma_conn_req_recv}</td><td>{@link ConnectionRequest#receive}</td></tr>
 * <tr><td>{@code rpma_conn_req_connect}</td><td>{@link ConnectionRequest#connect}</td></tr>
 * <tr><td>{@code rpma_conn_req_delete}</td><td>{@link ConnectionRequest#close}</td></tr>
 * <tr><th colspan="2">Connection</th></tr>
 * <tr><td>{@code rpma_conn_get_event_fd}</td><td>{@link Connection#eventFd}</td></tr>
 * <tr><td>{@code rpma_conn_next_event}</td><td>{@link Connection#nextEvent}, {@link Connection#waitForEvent}</td></tr>
 * <tr><td>{@code rpma_conn_get_private_data}</td><td>{@link Connection#privateData}</td></tr>
 * <tr><td>{@code rpma_conn_get_qp_num}</td><td>{@link Connection#queuePairNumber}</td></tr>
 * <tr><td>{@code rpma_conn_get_cq}</td><td>{@link Connection#completionQueue}</td></tr>
 * <tr><td>{@code rpma_conn_get_rcq}</td><td>{@link Connection#receiveCompletionQueue}</td></tr>
 * <tr><td>{@code rpma_conn_get_compl_fd}</td><td>{@link Connection#completionFd}</td></tr>
 * <tr><td>{@code rpma_conn_wait}</td><td>{@link Connection#consumeCompletionEvent},
 *     {@link Connection#waitForCompletionEvent}</td></tr>
 * <tr><td>{@code rpma_conn_apply_remote_peer_cfg}</td><td>{@link Connection#applyRemotePeerConfig}</td></tr>
 * <tr><td>{@code rpma_conn_disconnect}</td><td>{@link Connection#disconnect}</td></tr>
 * <tr><td>{@code rpma_conn_delete}</td><td>{@link Connection#close}</td></tr>
 * <tr><th colspan="2">Operations</th></tr>
 * <tr><td>{@code rpma_read}</td><td>{@link Connection#read}</td></tr>
 * <tr><td>{@code rpma_write}</td><td>{@link Connection#write}</td></tr>
 * <tr><td>{@code rpma_write_with_imm}</td><td>{@link Connection#writeWithImmediate}</td></tr>
 * <tr><td>{@code rpma_atomic_write}</td><td>{@link Connection#atomicWrite}</td></tr>
 * <tr><td>{@code rpma_flush}</td><td>{@link Connection#flush}</td></tr>
 * <tr><td>{@code rpma_send}</td><td>{@link Connection#send}</td></tr>
 * <tr><td>{@code rpma_send_with_imm}</td><td>{@link Connection#sendWithImmediate}</td></tr>
 * <tr><td>{@code rpma_recv}</td><td>{@link Connection#receive}</td></tr>
 * <tr><th colspan="2">Completion queue</th></tr>
 * <tr><td>{@code rpma_cq_get_fd}</td><td>{@link CompletionQueue#fd}</td></tr>
 * <tr><td>{@code rpma_cq_wait}</td><td>{@link CompletionQueue#consumeEvent}, {@link CompletionQueue#waitForCompletions}</td></tr>
 * <tr><td>{@code rpma_cq_get_wc}</td><td>{@link CompletionQueue#poll(WorkCompletions)}</td></tr>
 * <tr><th colspan="2">Shared receive queue</th></tr>
 * <tr><td>{@code rpma_srq_cfg_new}</td><td>{@link RpmaProvider#newSharedReceiveQueueConfig}</td></tr>
 * <tr><td>{@code rpma_srq_cfg_delete}</td><td>{@link SharedReceiveQueueConfig#close}</td></tr>
 * <tr><td>{@code rpma_srq_cfg_set_rq_size}</td><td>{@link SharedReceiveQueueConfig#receiveQueueSize(int)}</td></tr>
 * <tr><td>{@code rpma_srq_cfg_get_rq_size}</td><td>{@link SharedReceiveQueueConfig#receiveQueueSize()}</td></tr>
 * <tr><td>{@code rpma_srq_cfg_set_rcq_size}</td><td>{@link SharedReceiveQueueConfig#receiveCompletionQueueSize(int)}</td></tr>
 * <tr><td>{@code rpma_srq_cfg_get_rcq_size}</td><td>{@link SharedReceiveQueueConfig#receiveCompletionQueueSize()}</td></tr>
 * <tr><td>{@code rpma_srq_new}</td><td>{@link Peer#newSharedReceiveQueue}</td></tr>
 * <tr><td>{@code rpma_srq_recv}</td><td>{@link SharedReceiveQueue#receive}</td></tr>
 * <tr><td>{@code rpma_srq_get_rcq}</td><td>{@link SharedReceiveQueue#receiveCompletionQueue}</td></tr>
 * <tr><td>{@code rpma_srq_delete}</td><td>{@link SharedReceiveQueue#close}</td></tr>
 * </table>
 *
 * <p>{@link WorkCompletions#completion} gives a work completion the form of {@code rpma_cq_get_completion}, which librpma had
 * until 0.11.
 */
package io.rpma;
