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

/*
 * An ordinary program that uses librpma, as the peer of a message channel.
 *
 *   peer server ADDRESS PORT SCENARIO   listens, prints "listening", serves, prints "done"
 *   peer client ADDRESS PORT SCENARIO   connects, runs the scenario, prints "done"
 *
 * SCENARIO is one of: ping, immediate, read, write-flush, atomic-append, srq. The server accepts with the descriptor of its
 * memory as private data. A message has eight bytes, which are a number in the byte order of the machine. CPeersTest is the other
 * side of each scenario.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <librpma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_SIZE 4096
#define SLOTS 16
#define SLOT_SIZE 64
#define SEND_OFFSET SHARED_SIZE
#define RECEIVE_OFFSET (2 * SHARED_SIZE)
#define MEMORY_SIZE (3 * SHARED_SIZE)
#define DESCRIPTOR_SIZE 21
#define SENT ((void *) 1000)
#define CONNECTIONS 3

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;
static uint8_t *memory;
static struct rpma_mr_remote *remote;
static struct rpma_srq *srq;

/* A connection, and a receive that completed while the program waited for a send. */
struct side {
    struct rpma_conn *conn;
    struct rpma_cq *cq;
    uint32_t qp_num;
    struct ibv_wc early;
    int has_early;
};

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void check(int ret, const char *function) {
    if (ret != 0) {
        int cause = errno;
        fprintf(stderr, "%s: %s, errno %d (%s)\n", function, rpma_err_2str(ret), cause, strerror(cause));
        exit(1);
    }
}

static void expect(uint64_t value, uint64_t expected, const char *what) {
    if (value != expected) {
        fprintf(stderr, "%s is %llu, not %llu\n", what, (unsigned long long) value, (unsigned long long) expected);
        exit(1);
    }
}

static void put(size_t offset, uint64_t value) {
    memcpy(memory + offset, &value, sizeof(value));
}

static uint64_t get(size_t offset) {
    uint64_t value;
    memcpy(&value, memory + offset, sizeof(value));
    return value;
}

static void prepare(const char *address, enum rpma_util_ibv_context_type type) {
    struct ibv_context *context = NULL;
    check(rpma_utils_get_ibv_context(address, type, &context), "rpma_utils_get_ibv_context");
    check(rpma_peer_new(context, &peer), "rpma_peer_new");
    if (posix_memalign((void **) &memory, SHARED_SIZE, MEMORY_SIZE) != 0) {
        fail("no memory");
    }
    memset(memory, 0, MEMORY_SIZE);
    int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST |
                RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV;
    check(rpma_mr_reg(peer, memory, MEMORY_SIZE, usage, &mr), "rpma_mr_reg");
}

static size_t slot_offset(uint64_t slot) {
    return RECEIVE_OFFSET + slot * SLOT_SIZE;
}

static void post_receive(struct side *side, uint64_t slot) {
    if (srq != NULL) {
        check(rpma_srq_recv(srq, mr, slot_offset(slot), SLOT_SIZE, (void *) slot), "rpma_srq_recv");
    } else {
        check(rpma_recv(side->conn, mr, slot_offset(slot), SLOT_SIZE, (void *) slot), "rpma_recv");
    }
}

static void share_receives(void) {
    check(rpma_srq_new(peer, NULL, &srq), "rpma_srq_new");
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        post_receive(NULL, slot);
    }
}

static struct rpma_conn_cfg *config(void) {
    struct rpma_conn_cfg *cfg = NULL;
    check(rpma_conn_cfg_new(&cfg), "rpma_conn_cfg_new");
    check(rpma_conn_cfg_set_sq_size(cfg, SLOTS), "rpma_conn_cfg_set_sq_size");
    check(rpma_conn_cfg_set_rq_size(cfg, SLOTS), "rpma_conn_cfg_set_rq_size");
    check(rpma_conn_cfg_set_cq_size(cfg, 2 * SLOTS), "rpma_conn_cfg_set_cq_size");
    if (srq != NULL) {
        check(rpma_conn_cfg_set_srq(cfg, srq), "rpma_conn_cfg_set_srq");
    }
    return cfg;
}

/* Receives are posted before the connection exists, so that no message can arrive too early. */
static void establish(struct side *side, struct rpma_conn_req *req, const struct rpma_conn_private_data *data) {
    enum rpma_conn_event event;
    memset(side, 0, sizeof(*side));
    for (uint64_t slot = 0; srq == NULL && slot < SLOTS; slot++) {
        check(rpma_conn_req_recv(req, mr, slot_offset(slot), SLOT_SIZE, (void *) slot), "rpma_conn_req_recv");
    }
    check(rpma_conn_req_connect(&req, data, &side->conn), "rpma_conn_req_connect");
    check(rpma_conn_next_event(side->conn, &event), "rpma_conn_next_event");
    if (event != RPMA_CONN_ESTABLISHED) {
        fail(rpma_utils_conn_event_2str(event));
    }
    check(rpma_conn_get_cq(side->conn, &side->cq), "rpma_conn_get_cq");
    check(rpma_conn_get_qp_num(side->conn, &side->qp_num), "rpma_conn_get_qp_num");
}

static struct ibv_wc next(struct rpma_cq *cq) {
    struct ibv_wc wc;
    int ret;
    while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION) {
        ret = rpma_cq_wait(cq);
        if (ret != RPMA_E_NO_COMPLETION) {
            check(ret, "rpma_cq_wait");
        }
    }
    check(ret, "rpma_cq_get_wc");
    if (wc.status != IBV_WC_SUCCESS) {
        fail(ibv_wc_status_str(wc.status));
    }
    return wc;
}

/* Waits until the send, or the other work request that was posted last, has completed. */
static void complete(struct side *side) {
    for (;;) {
        struct ibv_wc wc = next(side->cq);
        if (wc.wr_id == (uint64_t) SENT) {
            return;
        }
        if (side->has_early) {
            fail("two messages came where one was to come");
        }
        side->early = wc;
        side->has_early = 1;
    }
}

static void send_number(struct side *side, uint64_t number) {
    put(SEND_OFFSET, number);
    check(rpma_send(side->conn, mr, SEND_OFFSET, 8, RPMA_F_COMPLETION_ALWAYS, SENT), "rpma_send");
    complete(side);
}

/* Waits for a message, posts its receive again, and returns its number. */
static uint64_t receive(struct side *side, struct ibv_wc *wc) {
    if (side->has_early) {
        side->has_early = 0;
        *wc = side->early;
    } else {
        *wc = next(side->cq);
    }
    if (wc->wr_id >= SLOTS) {
        fail("a send completed where a message was to come");
    }
    expect(wc->byte_len, 8, "the length of a message");
    uint64_t number = get(slot_offset(wc->wr_id));
    post_receive(side, wc->wr_id);
    return number;
}

static void receive_number(struct side *side, uint64_t expected) {
    struct ibv_wc wc;
    expect(receive(side, &wc), expected, "a message");
    expect(wc.wc_flags & IBV_WC_WITH_IMM, 0, "the flag of immediate data");
}

static void receive_immediate(struct side *side, uint64_t expected, uint32_t immediate) {
    struct ibv_wc wc;
    expect(receive(side, &wc), expected, "a message");
    expect(wc.opcode, IBV_WC_RECV, "the operation");
    expect(ntohl(wc.imm_data), immediate, "immediate data");
}

/* ---- the scenarios ---- */

static void ping_client(struct side *side) {
    for (uint64_t i = 0; i < 1000; i++) {
        send_number(side, i);
        receive_number(side, i + 1);
    }
}

static void ping_server(struct side *side) {
    for (uint64_t i = 0; i < 1000; i++) {
        receive_number(side, i);
        send_number(side, i + 1);
    }
}

static void immediate_client(struct side *side) {
    put(SEND_OFFSET, 77);
    check(rpma_send_with_imm(side->conn, mr, SEND_OFFSET, 8, RPMA_F_COMPLETION_ALWAYS, 0x81223344, SENT),
          "rpma_send_with_imm");
    complete(side);
    receive_immediate(side, 78, 0x81223345);
    put(SEND_OFFSET, 99);
    check(rpma_write_with_imm(side->conn, remote, 64, mr, SEND_OFFSET, 8, RPMA_F_COMPLETION_ALWAYS, 5, SENT),
          "rpma_write_with_imm");
    complete(side);
    receive_number(side, 99);
}

static void immediate_server(struct side *side) {
    struct ibv_wc wc;
    receive_immediate(side, 77, 0x81223344);
    put(SEND_OFFSET, 78);
    check(rpma_send_with_imm(side->conn, mr, SEND_OFFSET, 8, RPMA_F_COMPLETION_ALWAYS, 0x81223345, SENT),
          "rpma_send_with_imm");
    complete(side);
    receive(side, &wc);
    expect(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM, "the operation");
    expect(ntohl(wc.imm_data), 5, "immediate data");
    send_number(side, get(64));
}

static void read_client(struct side *side) {
    check(rpma_read(side->conn, mr, 1024, remote, 1024, 1024, RPMA_F_COMPLETION_ALWAYS, SENT), "rpma_read");
    complete(side);
    for (int i = 0; i < 1024; i++) {
        expect(memory[1024 + i], (uint8_t) (3 * i), "a byte that was read");
    }
    send_number(side, 1);
    receive_number(side, 2);
}

static void read_server(struct side *side) {
    receive_number(side, 1);
    send_number(side, 2);
}

static void write_flush_client(struct side *side) {
    for (int i = 0; i < 512; i++) {
        memory[2048 + i] = (uint8_t) (5 * i);
    }
    check(rpma_write(side->conn, remote, 2048, mr, 2048, 512, RPMA_F_COMPLETION_ON_ERROR, NULL), "rpma_write");
    check(rpma_flush(side->conn, remote, 2048, 512, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, SENT),
          "rpma_flush");
    complete(side);
    send_number(side, 1);
    receive_number(side, 2);
}

static void write_flush_server(struct side *side) {
    receive_number(side, 1);
    for (int i = 0; i < 512; i++) {
        expect(memory[2048 + i], (uint8_t) (5 * i), "a byte that was written");
    }
    send_number(side, 2);
}

static void atomic_append_client(struct side *side) {
    for (uint64_t k = 1; k <= 100; k++) {
        put(SEND_OFFSET, k * 1000003);
        check(rpma_write(side->conn, remote, 2048 + 8 * k, mr, SEND_OFFSET, 8, RPMA_F_COMPLETION_ON_ERROR, NULL),
              "rpma_write");
        check(rpma_flush(side->conn, remote, 2048 + 8 * k, 8, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, SENT),
              "rpma_flush");
        complete(side);
        char tail[8];
        memcpy(tail, &k, sizeof(tail));
        check(rpma_atomic_write(side->conn, remote, 0, tail, RPMA_F_COMPLETION_ALWAYS, SENT), "rpma_atomic_write");
        complete(side);
    }
    send_number(side, 1);
    receive_number(side, 2);
}

static void atomic_append_server(struct side *side) {
    receive_number(side, 1);
    expect(get(0), 100, "the tail");
    for (uint64_t k = 1; k <= 100; k++) {
        expect(get(2048 + 8 * k), k * 1000003, "a record");
    }
    send_number(side, 2);
}

struct scenario {
    const char *name;
    void (*client)(struct side *);
    void (*server)(struct side *);
};

static const struct scenario SCENARIOS[] = {
    {"ping", ping_client, ping_server},
    {"immediate", immediate_client, immediate_server},
    {"read", read_client, read_server},
    {"write-flush", write_flush_client, write_flush_server},
    {"atomic-append", atomic_append_client, atomic_append_server},
};

/* ---- several connections that share a receive queue: receives complete in its queue, with the number of the queue pair ---- */

static struct side *by_number(struct side *sides, uint32_t qp_num) {
    for (int i = 0; i < CONNECTIONS; i++) {
        if (sides[i].qp_num == qp_num) {
            return sides + i;
        }
    }
    fail("a message came by no connection");
    return NULL;
}

static uint64_t receive_shared(struct side *sides, struct rpma_cq *rcq, struct side **from) {
    struct ibv_wc wc = next(rcq);
    *from = by_number(sides, wc.qp_num);
    expect(wc.byte_len, 8, "the length of a message");
    uint64_t number = get(slot_offset(wc.wr_id));
    post_receive(NULL, wc.wr_id);
    return number;
}

static void srq_server(struct side *sides) {
    struct rpma_cq *rcq = NULL;
    struct side *from;
    check(rpma_srq_get_rcq(srq, &rcq), "rpma_srq_get_rcq");
    for (int i = 0; i < 100 * CONNECTIONS; i++) {
        uint64_t number = receive_shared(sides, rcq, &from);
        send_number(from, number + 1);
    }
}

static void srq_client(struct side *sides) {
    struct rpma_cq *rcq = NULL;
    struct side *from;
    check(rpma_srq_get_rcq(srq, &rcq), "rpma_srq_get_rcq");
    for (uint64_t i = 0; i < 100; i++) {
        for (uint64_t c = 0; c < CONNECTIONS; c++) {
            send_number(sides + c, 1000 * c + i);
        }
        for (int c = 0; c < CONNECTIONS; c++) {
            uint64_t number = receive_shared(sides, rcq, &from);
            expect(number, 1000 * (uint64_t) (from - sides) + i + 1, "an answer");
        }
    }
}

/* ---- the two roles ---- */

static void await_closed(struct side *side) {
    enum rpma_conn_event event;
    check(rpma_conn_next_event(side->conn, &event), "rpma_conn_next_event");
    if (event != RPMA_CONN_CLOSED) {
        fail(rpma_utils_conn_event_2str(event));
    }
}

static void serve(const char *address, const char *port, const struct scenario *scenario) {
    struct rpma_ep *ep = NULL;
    struct side sides[CONNECTIONS];
    int count = scenario == NULL ? CONNECTIONS : 1;
    uint8_t descriptor[DESCRIPTOR_SIZE];
    struct rpma_conn_private_data data = {descriptor, DESCRIPTOR_SIZE};
    prepare(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    for (int i = 0; i < 1024; i++) {
        memory[1024 + i] = (uint8_t) (3 * i);
    }
    check(rpma_mr_get_descriptor(mr, descriptor), "rpma_mr_get_descriptor");
    if (scenario == NULL) {
        share_receives();
    }
    struct rpma_conn_cfg *cfg = config();
    check(rpma_ep_listen(peer, address, port, &ep), "rpma_ep_listen");
    printf("listening\n");
    for (int i = 0; i < count; i++) {
        struct rpma_conn_req *req = NULL;
        check(rpma_ep_next_conn_req(ep, cfg, &req), "rpma_ep_next_conn_req");
        establish(sides + i, req, &data);
    }
    if (scenario == NULL) {
        srq_server(sides);
    } else {
        scenario->server(sides);
    }
    for (int i = 0; i < count; i++) {
        await_closed(sides + i);
        check(rpma_conn_disconnect(sides[i].conn), "rpma_conn_disconnect");
        check(rpma_conn_delete(&sides[i].conn), "rpma_conn_delete");
    }
    check(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
    check(rpma_ep_shutdown(&ep), "rpma_ep_shutdown");
}

static void play(const char *address, const char *port, const struct scenario *scenario) {
    struct side sides[CONNECTIONS];
    int count = scenario == NULL ? CONNECTIONS : 1;
    prepare(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    if (scenario == NULL) {
        share_receives();
    }
    struct rpma_conn_cfg *cfg = config();
    for (int i = 0; i < count; i++) {
        struct rpma_conn_req *req = NULL;
        struct rpma_conn_private_data data;
        check(rpma_conn_req_new(peer, address, port, cfg, &req), "rpma_conn_req_new");
        establish(sides + i, req, NULL);
        check(rpma_conn_get_private_data(sides[i].conn, &data), "rpma_conn_get_private_data");
        if (data.len < DESCRIPTOR_SIZE) {
            fail("the private data holds no descriptor");
        }
        if (remote == NULL) {
            check(rpma_mr_remote_from_descriptor(data.ptr, DESCRIPTOR_SIZE, &remote), "rpma_mr_remote_from_descriptor");
        }
    }
    if (scenario == NULL) {
        srq_client(sides);
    } else {
        scenario->client(sides);
    }
    for (int i = 0; i < count; i++) {
        check(rpma_conn_disconnect(sides[i].conn), "rpma_conn_disconnect");
        await_closed(sides + i);
        check(rpma_conn_delete(&sides[i].conn), "rpma_conn_delete");
    }
    check(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
    check(rpma_mr_remote_delete(&remote), "rpma_mr_remote_delete");
}

int main(int argc, char *argv[]) {
    const struct scenario *scenario = NULL;
    int known = argc == 5 && strcmp(argv[4], "srq") == 0;
    for (size_t i = 0; argc == 5 && i < sizeof(SCENARIOS) / sizeof(SCENARIOS[0]); i++) {
        if (strcmp(argv[4], SCENARIOS[i].name) == 0) {
            scenario = SCENARIOS + i;
            known = 1;
        }
    }
    /* This program reports failures. By default, the library also reports them to syslog. */
    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (known && strcmp(argv[1], "server") == 0) {
        serve(argv[2], argv[3], scenario);
    } else if (known && strcmp(argv[1], "client") == 0) {
        play(argv[2], argv[3], scenario);
    } else {
        fprintf(stderr, "usage: peer server|client ADDRESS PORT ping|immediate|read|write-flush|atomic-append|srq\n");
        return 2;
    }
    if (srq != NULL) {
        check(rpma_srq_delete(&srq), "rpma_srq_delete");
    }
    check(rpma_mr_dereg(&mr), "rpma_mr_dereg");
    check(rpma_peer_delete(&peer), "rpma_peer_delete");
    printf("done\n");
    return 0;
}
