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
 * How a work request ended ({@code enum ibv_wc_status}). Anything but {@link #SUCCESS} means that the queue pair is in the
 * error state and the connection can no longer be used.
 */
public enum CompletionStatus {
    /** The operation is done. */
    SUCCESS("success"),
    /** A message was longer than the buffer that received it. */
    LOC_LEN_ERR("local length error"),
    /** The queue pair could not execute the work request. */
    LOC_QP_OP_ERR("local queue pair operation error"),
    /** End-to-end context error. */
    LOC_EEC_OP_ERR("local end-to-end context operation error"),
    /** The work request named memory outside its local region, or a region without the right usage. */
    LOC_PROT_ERR("local protection error"),
    /** The queue pair entered the error state, or was disconnected, before the work request was executed. */
    WR_FLUSH_ERR("work request flushed"),
    /** Memory window bind error. */
    MW_BIND_ERR("memory window bind error"),
    /** The peer answered with something unexpected. */
    BAD_RESP_ERR("bad response error"),
    /** The receiving side could not access its own buffer. */
    LOC_ACCESS_ERR("local access error"),
    /** The peer could not accept the request: most often a message longer than its buffer. */
    REM_INV_REQ_ERR("remote invalid request error"),
    /** The peer's region does not allow the access: outside its bounds, wrong usage, or no such region. */
    REM_ACCESS_ERR("remote access error"),
    /** The peer could not complete the operation. */
    REM_OP_ERR("remote operation error"),
    /** The peer did not respond to any of the retries. */
    RETRY_EXC_ERR("transport retry counter exceeded"),
    /** The peer had no receive posted at any of the retries. */
    RNR_RETRY_EXC_ERR("receiver-not-ready retry counter exceeded"),
    /** Reliable datagram domain violation. */
    LOC_RDD_VIOL_ERR("local reliable datagram domain violation"),
    /** Reliable datagram: invalid read request. */
    REM_INV_RD_REQ_ERR("remote invalid read request"),
    /** The peer aborted the operation. */
    REM_ABORT_ERR("remote aborted error"),
    /** Invalid end-to-end context number. */
    INV_EECN_ERR("invalid end-to-end context number"),
    /** Invalid end-to-end context state. */
    INV_EEC_STATE_ERR("invalid end-to-end context state"),
    /** The device failed. */
    FATAL_ERR("fatal error"),
    /** The peer's response came too late. */
    RESP_TIMEOUT_ERR("response timeout"),
    /** Some other error of the device. */
    GENERAL_ERR("general error"),
    /** Tag matching error. */
    TM_ERR("tag matching error"),
    /** Tag matching rendezvous is incomplete. */
    TM_RNDV_INCOMPLETE("tag matching rendezvous incomplete");

    private static final CompletionStatus[] VALUES = values();

    private final String text;

    CompletionStatus(String text) {
        this.text = text;
    }

    /** Returns the value of the C enumeration. */
    public int code() {
        return ordinal();
    }

    /** Returns the status in words. */
    public String text() {
        return text;
    }

    /**
     * Returns the status of a value of the C enumeration.
     *
     * @param code a status of {@code struct ibv_wc}
     * @return the status; {@link #GENERAL_ERR} for a value that this enumeration does not contain
     */
    public static CompletionStatus of(int code) {
        return code >= 0 && code < VALUES.length ? VALUES[code] : GENERAL_ERR;
    }
}
