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
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The functions of librpma on the data path, without conversions. All arguments are primitives, including pointers: a call
 * allocates nothing, and the caller keeps the memory behind a pointer reachable.
 *
 * <p>The calls that neither block nor take long are <i>critical</i> ({@link Linker.Option#critical}): they omit the thread's
 * state transition from Java to native. A critical call must never call back into Java, as a log function written in Java would;
 * {@link LibrpmaLog} decides once, when this class is initialised.
 */
final class LibrpmaDataPath {
    private static final Linker.Option[] OPTIONS = LibrpmaLog.isDataPathCritical()
        ? new Linker.Option[] {Linker.Option.critical(false)} : new Linker.Option[0];

    private static final FunctionDescriptor RECEIVE =
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor ONE_SIDED = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
        JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

    static final MethodHandle CQ_GET_WC = LibrpmaLibrary.bind("rpma_cq_get_wc",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG), OPTIONS);
    // This call is short because every descriptor is made non-blocking before it is used.
    static final MethodHandle CQ_WAIT = LibrpmaLibrary.bind("rpma_cq_wait",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG), OPTIONS);
    static final MethodHandle SEND = LibrpmaLibrary.bind("rpma_send",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG), OPTIONS);
    static final MethodHandle SEND_WITH_IMM = LibrpmaLibrary.bind("rpma_send_with_imm",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG), OPTIONS);
    static final MethodHandle RECV = LibrpmaLibrary.bind("rpma_recv", RECEIVE, OPTIONS);
    static final MethodHandle SRQ_RECV = LibrpmaLibrary.bind("rpma_srq_recv", RECEIVE, OPTIONS);
    static final MethodHandle WRITE = LibrpmaLibrary.bind("rpma_write", ONE_SIDED, OPTIONS);
    static final MethodHandle WRITE_WITH_IMM = LibrpmaLibrary.bind("rpma_write_with_imm",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT,
            JAVA_LONG), OPTIONS);
    static final MethodHandle READ = LibrpmaLibrary.bind("rpma_read", ONE_SIDED);
    static final MethodHandle ATOMIC_WRITE = LibrpmaLibrary.bind("rpma_atomic_write",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    static final MethodHandle FLUSH = LibrpmaLibrary.bind("rpma_flush",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    static final MethodHandle CONN_WAIT = LibrpmaLibrary.bind("rpma_conn_wait",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));

    private LibrpmaDataPath() {
    }

    static int cqGetWc(long queue, int entries, long completions, long got) {
        try {
            return (int) CQ_GET_WC.invokeExact(queue, entries, completions, got);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int cqWait(long queue) {
        try {
            return (int) CQ_WAIT.invokeExact(queue);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int connWait(long connection, int flags, long queue, long isReceiveQueue) {
        try {
            return (int) CONN_WAIT.invokeExact(connection, flags, queue, isReceiveQueue);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int send(long connection, long source, long offset, long length, int flags, long context) {
        try {
            return (int) SEND.invokeExact(connection, source, offset, length, flags, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int sendWithImm(long connection, long source, long offset, long length, int flags, int immediate, long context) {
        try {
            return (int) SEND_WITH_IMM.invokeExact(connection, source, offset, length, flags, immediate, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int recv(long connection, long target, long offset, long length, long context) {
        try {
            return (int) RECV.invokeExact(connection, target, offset, length, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int srqRecv(long queue, long target, long offset, long length, long context) {
        try {
            return (int) SRQ_RECV.invokeExact(queue, target, offset, length, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int write(long connection, long target, long targetOffset, long source, long sourceOffset, long length, int flags,
            long context) {
        try {
            return (int) WRITE.invokeExact(connection, target, targetOffset, source, sourceOffset, length, flags, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int writeWithImm(long connection, long target, long targetOffset, long source, long sourceOffset, long length,
            int flags, int immediate, long context) {
        try {
            return (int) WRITE_WITH_IMM.invokeExact(connection, target, targetOffset, source, sourceOffset, length, flags,
                immediate, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int read(long connection, long target, long targetOffset, long source, long sourceOffset, long length, int flags,
            long context) {
        try {
            return (int) READ.invokeExact(connection, target, targetOffset, source, sourceOffset, length, flags, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int atomicWrite(long connection, long target, long targetOffset, long source, int flags, long context) {
        try {
            return (int) ATOMIC_WRITE.invokeExact(connection, target, targetOffset, source, flags, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int flush(long connection, long target, long targetOffset, long length, int type, int flags, long context) {
        try {
            return (int) FLUSH.invokeExact(connection, target, targetOffset, length, type, flags, context);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
