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

import io.rpma.posix.Posix;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The functions of librpma off the data path ({@link LibrpmaDataPath} has the others), without conversions: handles are longs,
 * and the result is C's return value. A function is one constant, and {@code call} exists once for each list of argument types.
 *
 * <p>{@link LibrpmaLibrary#load()} must have succeeded before this class is initialised.
 */
final class Librpma {
    private static final AddressLayout C_STRING =
        ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(4096, JAVA_BYTE));
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    // int f(handle)
    private static final FunctionDescriptor HANDLE = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
    // int f(handle *): creates one without a parent, or deletes one and clears the pointer; also the log's function pointer.
    private static final FunctionDescriptor POINTER = FunctionDescriptor.of(JAVA_INT, ADDRESS);
    // int f(handle, something *)
    private static final FunctionDescriptor GET = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS);
    private static final FunctionDescriptor SET_INT = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final FunctionDescriptor SET_BOOLEAN = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_BOOLEAN);
    private static final FunctionDescriptor SET_POINTER = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG);
    // int f(const void *descriptor, size_t, handle *)
    private static final FunctionDescriptor FROM_DESCRIPTOR = FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
    // const char *f(int)
    private static final FunctionDescriptor TEXT = FunctionDescriptor.of(C_STRING, JAVA_INT);

    // Devices and errors.
    static final MethodHandle UTILS_GET_IBV_CONTEXT = LibrpmaLibrary.bind("rpma_utils_get_ibv_context",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS), ERRNO);
    static final MethodHandle UTILS_IBV_CONTEXT_IS_ODP_CAPABLE = LibrpmaLibrary.bind("rpma_utils_ibv_context_is_odp_capable",
        GET);
    static final MethodHandle UTILS_CONN_EVENT_2STR = LibrpmaLibrary.bind("rpma_utils_conn_event_2str", TEXT);
    static final MethodHandle ERR_2STR = LibrpmaLibrary.bind("rpma_err_2str", TEXT);

    // Peer configuration.
    static final MethodHandle PEER_CFG_NEW = LibrpmaLibrary.bind("rpma_peer_cfg_new", POINTER);
    static final MethodHandle PEER_CFG_DELETE = LibrpmaLibrary.bind("rpma_peer_cfg_delete", POINTER);
    static final MethodHandle PEER_CFG_SET_DIRECT_WRITE_TO_PMEM = LibrpmaLibrary.bind("rpma_peer_cfg_set_direct_write_to_pmem",
        SET_BOOLEAN);
    static final MethodHandle PEER_CFG_GET_DIRECT_WRITE_TO_PMEM = LibrpmaLibrary.bind("rpma_peer_cfg_get_direct_write_to_pmem",
        GET);
    static final MethodHandle PEER_CFG_GET_DESCRIPTOR = LibrpmaLibrary.bind("rpma_peer_cfg_get_descriptor", GET);
    static final MethodHandle PEER_CFG_GET_DESCRIPTOR_SIZE = LibrpmaLibrary.bind("rpma_peer_cfg_get_descriptor_size", GET);
    static final MethodHandle PEER_CFG_FROM_DESCRIPTOR = LibrpmaLibrary.bind("rpma_peer_cfg_from_descriptor", FROM_DESCRIPTOR);

    // Peer.
    static final MethodHandle PEER_NEW = LibrpmaLibrary.bind("rpma_peer_new", GET);
    static final MethodHandle PEER_DELETE = LibrpmaLibrary.bind("rpma_peer_delete", POINTER);

    // Memory regions.
    static final MethodHandle MR_REG = LibrpmaLibrary.bind("rpma_mr_reg",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS), ERRNO);
    static final MethodHandle MR_DEREG = LibrpmaLibrary.bind("rpma_mr_dereg", POINTER);
    static final MethodHandle MR_GET_DESCRIPTOR = LibrpmaLibrary.bind("rpma_mr_get_descriptor", GET);
    static final MethodHandle MR_GET_DESCRIPTOR_SIZE = LibrpmaLibrary.bind("rpma_mr_get_descriptor_size", GET);
    static final MethodHandle MR_GET_PTR = LibrpmaLibrary.bind("rpma_mr_get_ptr", GET);
    static final MethodHandle MR_GET_SIZE = LibrpmaLibrary.bind("rpma_mr_get_size", GET);
    static final MethodHandle MR_ADVISE = LibrpmaLibrary.bind("rpma_mr_advise",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
    static final MethodHandle MR_REMOTE_FROM_DESCRIPTOR = LibrpmaLibrary.bind("rpma_mr_remote_from_descriptor", FROM_DESCRIPTOR);
    static final MethodHandle MR_REMOTE_GET_SIZE = LibrpmaLibrary.bind("rpma_mr_remote_get_size", GET);
    static final MethodHandle MR_REMOTE_GET_FLUSH_TYPE = LibrpmaLibrary.bind("rpma_mr_remote_get_flush_type", GET);
    static final MethodHandle MR_REMOTE_DELETE = LibrpmaLibrary.bind("rpma_mr_remote_delete", POINTER);

    // Connection configuration.
    static final MethodHandle CONN_CFG_NEW = LibrpmaLibrary.bind("rpma_conn_cfg_new", POINTER);
    static final MethodHandle CONN_CFG_DELETE = LibrpmaLibrary.bind("rpma_conn_cfg_delete", POINTER);
    static final MethodHandle CONN_CFG_SET_TIMEOUT = LibrpmaLibrary.bind("rpma_conn_cfg_set_timeout", SET_INT);
    static final MethodHandle CONN_CFG_GET_TIMEOUT = LibrpmaLibrary.bind("rpma_conn_cfg_get_timeout", GET);
    static final MethodHandle CONN_CFG_SET_CQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_set_cq_size", SET_INT);
    static final MethodHandle CONN_CFG_GET_CQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_get_cq_size", GET);
    static final MethodHandle CONN_CFG_SET_RCQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_set_rcq_size", SET_INT);
    static final MethodHandle CONN_CFG_GET_RCQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_get_rcq_size", GET);
    static final MethodHandle CONN_CFG_SET_SQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_set_sq_size", SET_INT);
    static final MethodHandle CONN_CFG_GET_SQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_get_sq_size", GET);
    static final MethodHandle CONN_CFG_SET_RQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_set_rq_size", SET_INT);
    static final MethodHandle CONN_CFG_GET_RQ_SIZE = LibrpmaLibrary.bind("rpma_conn_cfg_get_rq_size", GET);
    static final MethodHandle CONN_CFG_SET_COMPL_CHANNEL = LibrpmaLibrary.bind("rpma_conn_cfg_set_compl_channel", SET_BOOLEAN);
    static final MethodHandle CONN_CFG_GET_COMPL_CHANNEL = LibrpmaLibrary.bind("rpma_conn_cfg_get_compl_channel", GET);
    static final MethodHandle CONN_CFG_SET_SRQ = LibrpmaLibrary.bind("rpma_conn_cfg_set_srq", SET_POINTER);
    static final MethodHandle CONN_CFG_GET_SRQ = LibrpmaLibrary.bind("rpma_conn_cfg_get_srq", GET);

    // Shared receive queue and its configuration.
    static final MethodHandle SRQ_CFG_NEW = LibrpmaLibrary.bind("rpma_srq_cfg_new", POINTER);
    static final MethodHandle SRQ_CFG_DELETE = LibrpmaLibrary.bind("rpma_srq_cfg_delete", POINTER);
    static final MethodHandle SRQ_CFG_SET_RQ_SIZE = LibrpmaLibrary.bind("rpma_srq_cfg_set_rq_size", SET_INT);
    static final MethodHandle SRQ_CFG_GET_RQ_SIZE = LibrpmaLibrary.bind("rpma_srq_cfg_get_rq_size", GET);
    static final MethodHandle SRQ_CFG_SET_RCQ_SIZE = LibrpmaLibrary.bind("rpma_srq_cfg_set_rcq_size", SET_INT);
    static final MethodHandle SRQ_CFG_GET_RCQ_SIZE = LibrpmaLibrary.bind("rpma_srq_cfg_get_rcq_size", GET);
    static final MethodHandle SRQ_NEW = LibrpmaLibrary.bind("rpma_srq_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS));
    static final MethodHandle SRQ_DELETE = LibrpmaLibrary.bind("rpma_srq_delete", POINTER);
    static final MethodHandle SRQ_GET_RCQ = LibrpmaLibrary.bind("rpma_srq_get_rcq", GET);

    // Endpoint.
    static final MethodHandle EP_LISTEN = LibrpmaLibrary.bind("rpma_ep_listen",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS), ERRNO);
    static final MethodHandle EP_SHUTDOWN = LibrpmaLibrary.bind("rpma_ep_shutdown", POINTER);
    static final MethodHandle EP_GET_FD = LibrpmaLibrary.bind("rpma_ep_get_fd", GET);
    static final MethodHandle EP_NEXT_CONN_REQ = LibrpmaLibrary.bind("rpma_ep_next_conn_req",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS), ERRNO);

    // Connection request.
    static final MethodHandle CONN_REQ_NEW = LibrpmaLibrary.bind("rpma_conn_req_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS), ERRNO);
    static final MethodHandle CONN_REQ_DELETE = LibrpmaLibrary.bind("rpma_conn_req_delete", POINTER);
    static final MethodHandle CONN_REQ_RECV = LibrpmaLibrary.bind("rpma_conn_req_recv",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    static final MethodHandle CONN_REQ_GET_PRIVATE_DATA = LibrpmaLibrary.bind("rpma_conn_req_get_private_data", GET);
    static final MethodHandle CONN_REQ_CONNECT = LibrpmaLibrary.bind("rpma_conn_req_connect",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

    // Connection.
    static final MethodHandle CONN_GET_EVENT_FD = LibrpmaLibrary.bind("rpma_conn_get_event_fd", GET);
    static final MethodHandle CONN_NEXT_EVENT = LibrpmaLibrary.bind("rpma_conn_next_event", GET, ERRNO);
    static final MethodHandle CONN_GET_PRIVATE_DATA = LibrpmaLibrary.bind("rpma_conn_get_private_data", GET);
    static final MethodHandle CONN_APPLY_REMOTE_PEER_CFG = LibrpmaLibrary.bind("rpma_conn_apply_remote_peer_cfg", SET_POINTER);
    static final MethodHandle CONN_GET_QP_NUM = LibrpmaLibrary.bind("rpma_conn_get_qp_num", GET);
    static final MethodHandle CONN_GET_CQ = LibrpmaLibrary.bind("rpma_conn_get_cq", GET);
    static final MethodHandle CONN_GET_RCQ = LibrpmaLibrary.bind("rpma_conn_get_rcq", GET);
    static final MethodHandle CONN_GET_COMPL_FD = LibrpmaLibrary.bind("rpma_conn_get_compl_fd", GET);
    static final MethodHandle CONN_DISCONNECT = LibrpmaLibrary.bind("rpma_conn_disconnect", HANDLE);
    static final MethodHandle CONN_DELETE = LibrpmaLibrary.bind("rpma_conn_delete", POINTER);

    // Completion queue.
    static final MethodHandle CQ_GET_FD = LibrpmaLibrary.bind("rpma_cq_get_fd", GET);

    // Log.
    static final MethodHandle LOG_SET_THRESHOLD = LibrpmaLibrary.bind("rpma_log_set_threshold",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    static final MethodHandle LOG_GET_THRESHOLD = LibrpmaLibrary.bind("rpma_log_get_threshold",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    static final MethodHandle LOG_SET_FUNCTION = LibrpmaLibrary.bind("rpma_log_set_function", POINTER);

    private Librpma() {
    }

    /** Calls {@code int f(void *)}, which creates, deletes, or takes a function pointer. */
    static int call(MethodHandle function, MemorySegment pointer) {
        try {
            return (int) function.invokeExact(pointer);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code int f(handle)}. */
    static int call(MethodHandle function, long handle) {
        try {
            return (int) function.invokeExact(handle);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code int f(handle, something *)}. */
    static int call(MethodHandle function, long handle, MemorySegment pointer) {
        try {
            return (int) function.invokeExact(handle, pointer);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code int f(handle, int)}. */
    static int call(MethodHandle function, long handle, int value) {
        try {
            return (int) function.invokeExact(handle, value);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code int f(handle, bool)}. */
    static int call(MethodHandle function, long handle, boolean value) {
        try {
            return (int) function.invokeExact(handle, value);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code int f(handle, handle)}. */
    static int call(MethodHandle function, long handle, long other) {
        try {
            return (int) function.invokeExact(handle, other);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code int f(const void *descriptor, size_t size, handle *)}. */
    static int call(MethodHandle function, MemorySegment descriptor, long size, MemorySegment pointer) {
        try {
            return (int) function.invokeExact(descriptor, size, pointer);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Calls {@code const char *f(int)} and copies the text. */
    static String text(MethodHandle function, int value) {
        try {
            return ((MemorySegment) function.invokeExact(value)).getString(0);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int getIbvContext(MemorySegment errno, MemorySegment address, int type, MemorySegment context) {
        try {
            return (int) UTILS_GET_IBV_CONTEXT.invokeExact(errno, address, type, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int mrReg(MemorySegment errno, long peer, long address, long size, int usage, MemorySegment region) {
        try {
            return (int) MR_REG.invokeExact(errno, peer, address, size, usage, region);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int mrAdvise(long region, long offset, long length, int advice, int flags) {
        try {
            return (int) MR_ADVISE.invokeExact(region, offset, length, advice, flags);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int srqNew(long peer, long config, MemorySegment queue) {
        try {
            return (int) SRQ_NEW.invokeExact(peer, config, queue);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int epListen(MemorySegment errno, long peer, MemorySegment address, MemorySegment port, MemorySegment endpoint) {
        try {
            return (int) EP_LISTEN.invokeExact(errno, peer, address, port, endpoint);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int epNextConnReq(MemorySegment errno, long endpoint, long config, MemorySegment request) {
        try {
            return (int) EP_NEXT_CONN_REQ.invokeExact(errno, endpoint, config, request);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int connReqNew(MemorySegment errno, long peer, MemorySegment address, MemorySegment port, long config,
            MemorySegment request) {
        try {
            return (int) CONN_REQ_NEW.invokeExact(errno, peer, address, port, config, request);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int connReqRecv(long request, long region, long offset, long length, long context) {
        try {
            return (int) CONN_REQ_RECV.invokeExact(request, region, offset, length, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int connReqConnect(MemorySegment request, MemorySegment privateData, MemorySegment connection) {
        try {
            return (int) CONN_REQ_CONNECT.invokeExact(request, privateData, connection);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int connNextEvent(MemorySegment errno, long connection, MemorySegment event) {
        try {
            return (int) CONN_NEXT_EVENT.invokeExact(errno, connection, event);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int logSetThreshold(int threshold, int level) {
        try {
            return (int) LOG_SET_THRESHOLD.invokeExact(threshold, level);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int logGetThreshold(int threshold, MemorySegment level) {
        try {
            return (int) LOG_GET_THRESHOLD.invokeExact(threshold, level);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
