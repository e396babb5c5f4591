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
 * The client and the server of the self test, which use librpma.
 *
 *   selftest pingpong ADDRESS PORT ROUNDS   exchanges and checks ROUNDS messages between two processes; prints the result
 *   selftest connect ADDRESS PORT SECONDS   tries to connect; prints the result, or that there was none within SECONDS
 *   selftest register ADDRESS BYTES         registers memory; prints the result
 *   selftest touch BYTES                    writes to each page of this much memory, in a scattered order, and reads it
 *
 * The exit code is 0 on success, 3 if a function of librpma failed, and 2 if the arguments are wrong.
 */

#include <errno.h>
#include <librpma.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_SIZE 64
#define REFUSED 3

/* The memory of the peer: a message to send, followed by one to receive. */
struct side {
    struct rpma_peer *peer;
    struct rpma_mr_local *mr;
    uint8_t *memory;
    struct rpma_conn *conn;
    struct rpma_cq *cq;
};

static void check(int ret, const char *function) {
    if (ret != 0) {
        int cause = errno;
        fprintf(stderr, "%s: %s, errno %d (%s)\n", function, rpma_err_2str(ret), cause, strerror(cause));
        exit(REFUSED);
    }
}

static double now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

static struct rpma_peer *open_peer(const char *address, enum rpma_util_ibv_context_type type) {
    struct ibv_context *context = NULL;
    struct rpma_peer *peer = NULL;
    check(rpma_utils_get_ibv_context(address, type, &context), "rpma_utils_get_ibv_context");
    if (context == NULL) {
        fprintf(stderr, "no device for %s\n", address);
        exit(REFUSED);
    }
    check(rpma_peer_new(context, &peer), "rpma_peer_new");
    return peer;
}

static void *allocate(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

static void prepare(struct side *side, const char *address, enum rpma_util_ibv_context_type type) {
    side->peer = open_peer(address, type);
    side->memory = allocate(4096);
    int usage = RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV;
    check(rpma_mr_reg(side->peer, side->memory, 4096, usage, &side->mr), "rpma_mr_reg");
}

/* A receive is posted before the connection exists, so that no message can arrive too early. */
static void establish(struct side *side, struct rpma_conn_req *req) {
    enum rpma_conn_event event;
    check(rpma_conn_req_recv(req, side->mr, MESSAGE_SIZE, MESSAGE_SIZE, side->memory + MESSAGE_SIZE),
          "rpma_conn_req_recv");
    check(rpma_conn_req_connect(&req, NULL, &side->conn), "rpma_conn_req_connect");
    check(rpma_conn_next_event(side->conn, &event), "rpma_conn_next_event");
    if (event != RPMA_CONN_ESTABLISHED) {
        fprintf(stderr, "connecting ended with %s\n", rpma_utils_conn_event_2str(event));
        exit(REFUSED);
    }
    check(rpma_conn_get_cq(side->conn, &side->cq), "rpma_conn_get_cq");
}

static void complete(struct side *side, enum ibv_wc_opcode opcode) {
    struct ibv_wc wc;
    int ret;
    while ((ret = rpma_cq_get_wc(side->cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION) {
        int waited = rpma_cq_wait(side->cq);
        if (waited != RPMA_E_NO_COMPLETION) {
            check(waited, "rpma_cq_wait");
        }
    }
    check(ret, "rpma_cq_get_wc");
    if (wc.status != IBV_WC_SUCCESS || wc.opcode != opcode) {
        fprintf(stderr, "completion: status %d (%s), operation %d\n", wc.status, ibv_wc_status_str(wc.status),
                wc.opcode);
        exit(1);
    }
    if (opcode == IBV_WC_RECV && wc.byte_len != MESSAGE_SIZE) {
        fprintf(stderr, "received %u bytes\n", wc.byte_len);
        exit(1);
    }
}

static void send_round(struct side *side, int seed) {
    for (int i = 0; i < MESSAGE_SIZE; i++) {
        side->memory[i] = (uint8_t) (seed + i);
    }
    check(rpma_send(side->conn, side->mr, 0, MESSAGE_SIZE, RPMA_F_COMPLETION_ON_ERROR, NULL), "rpma_send");
}

static void receive_round(struct side *side, int seed) {
    complete(side, IBV_WC_RECV);
    for (int i = 0; i < MESSAGE_SIZE; i++) {
        if (side->memory[MESSAGE_SIZE + i] != (uint8_t) (seed + i)) {
            fprintf(stderr, "message %d: wrong byte at %d\n", seed, i);
            exit(1);
        }
    }
    memset(side->memory + MESSAGE_SIZE, 0, MESSAGE_SIZE);
}

static void post_receive(struct side *side) {
    check(rpma_recv(side->conn, side->mr, MESSAGE_SIZE, MESSAGE_SIZE, side->memory + MESSAGE_SIZE), "rpma_recv");
}

static struct rpma_conn_cfg *connection_config(int rounds) {
    struct rpma_conn_cfg *cfg = NULL;
    check(rpma_conn_cfg_new(&cfg), "rpma_conn_cfg_new");
    /* The sends are unsignalled, so the send queue must hold all of them. */
    check(rpma_conn_cfg_set_sq_size(cfg, (uint32_t) rounds + 1), "rpma_conn_cfg_set_sq_size");
    check(rpma_conn_cfg_set_cq_size(cfg, (uint32_t) rounds + 11), "rpma_conn_cfg_set_cq_size");
    return cfg;
}

static void tear_down(struct side *side) {
    enum rpma_conn_event event;
    check(rpma_conn_disconnect(side->conn), "rpma_conn_disconnect");
    check(rpma_conn_next_event(side->conn, &event), "rpma_conn_next_event");
    if (event != RPMA_CONN_CLOSED) {
        fprintf(stderr, "closing ended with %s\n", rpma_utils_conn_event_2str(event));
        exit(1);
    }
    check(rpma_conn_delete(&side->conn), "rpma_conn_delete");
    check(rpma_mr_dereg(&side->mr), "rpma_mr_dereg");
    check(rpma_peer_delete(&side->peer), "rpma_peer_delete");
}

static void serve(const char *address, const char *port, int rounds, int ready) {
    struct side side;
    struct rpma_ep *ep = NULL;
    struct rpma_conn_req *req = NULL;
    struct rpma_conn_cfg *cfg = connection_config(rounds);
    prepare(&side, address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    check(rpma_ep_listen(side.peer, address, port, &ep), "rpma_ep_listen");
    if (write(ready, "", 1) != 1) {
        perror("write");
        exit(1);
    }
    check(rpma_ep_next_conn_req(ep, cfg, &req), "rpma_ep_next_conn_req");
    establish(&side, req);
    for (int i = 0; i < rounds; i++) {
        receive_round(&side, i);
        post_receive(&side);
        send_round(&side, i + 100);
    }
    enum rpma_conn_event event;
    check(rpma_conn_next_event(side.conn, &event), "rpma_conn_next_event");
    if (event != RPMA_CONN_CLOSED) {
        fprintf(stderr, "server: the connection ended with %s\n", rpma_utils_conn_event_2str(event));
        exit(1);
    }
    check(rpma_conn_disconnect(side.conn), "rpma_conn_disconnect");
    check(rpma_conn_delete(&side.conn), "rpma_conn_delete");
    check(rpma_ep_shutdown(&ep), "rpma_ep_shutdown");
    check(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
    check(rpma_mr_dereg(&side.mr), "rpma_mr_dereg");
    check(rpma_peer_delete(&side.peer), "rpma_peer_delete");
}

static void play(const char *address, const char *port, int rounds) {
    struct side side;
    struct rpma_conn_req *req = NULL;
    struct rpma_conn_cfg *cfg = connection_config(rounds);
    prepare(&side, address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    check(rpma_conn_req_new(side.peer, address, port, cfg, &req), "rpma_conn_req_new");
    establish(&side, req);
    double start = now();
    for (int i = 0; i < rounds; i++) {
        send_round(&side, i);
        receive_round(&side, i + 100);
        post_receive(&side);
    }
    double seconds = now() - start;
    tear_down(&side);
    check(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
    printf("%d round trips, %.1f us each\n", rounds, seconds / rounds * 1e6);
}

static int pingpong(const char *address, const char *port, int rounds) {
    int ready[2];
    /* The process forks first, because memory that is registered for RDMA does not survive a fork. */
    if (pipe(ready) != 0) {
        perror("pipe");
        return 1;
    }
    pid_t server = fork();
    if (server < 0) {
        perror("fork");
        return 1;
    }
    if (server == 0) {
        close(ready[0]);
        serve(address, port, rounds, ready[1]);
        return 0;
    }
    close(ready[1]);
    char byte;
    int listening = read(ready[0], &byte, 1) == 1;
    if (listening) {
        play(address, port, rounds);
    }
    int status;
    if (waitpid(server, &status, 0) != server) {
        perror("waitpid");
        return 1;
    }
    if (!WIFEXITED(status)) {
        fprintf(stderr, "the server ended by signal %d\n", WTERMSIG(status));
        return 1;
    }
    return WEXITSTATUS(status);
}

static int connect_to(const char *address, const char *port, int seconds) {
    double start = now();
    struct rpma_conn_req *req = NULL;
    struct rpma_conn *conn = NULL;
    struct rpma_peer *peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
    check(rpma_conn_req_new(peer, address, port, NULL, &req), "rpma_conn_req_new");
    printf("request made after %.1f s\n", now() - start);
    check(rpma_conn_req_connect(&req, NULL, &conn), "rpma_conn_req_connect");
    struct pollfd pollfd = {.events = POLLIN};
    check(rpma_conn_get_event_fd(conn, &pollfd.fd), "rpma_conn_get_event_fd");
    int polled = poll(&pollfd, 1, seconds * 1000);
    if (polled < 0) {
        perror("poll");
        return 1;
    }
    if (polled == 0) {
        printf("no event in %d s\n", seconds);
    } else {
        enum rpma_conn_event event;
        check(rpma_conn_next_event(conn, &event), "rpma_conn_next_event");
        printf("%s after %.1f s\n", rpma_utils_conn_event_2str(event), now() - start);
    }
    check(rpma_conn_delete(&conn), "rpma_conn_delete");
    check(rpma_peer_delete(&peer), "rpma_peer_delete");
    return 0;
}

static int register_memory(const char *address, size_t size) {
    struct rpma_mr_local *mr = NULL;
    struct rpma_peer *peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    check(rpma_mr_reg(peer, allocate(size), size, RPMA_MR_USAGE_SEND, &mr), "rpma_mr_reg");
    printf("registered %zu bytes\n", size);
    check(rpma_mr_dereg(&mr), "rpma_mr_dereg");
    check(rpma_peer_delete(&peer), "rpma_peer_delete");
    return 0;
}

/* Touches each page of this much memory in an order without adjacent pages, and checks that the content is kept. */
static int touch(size_t size) {
    size_t pages = size / 4096;
    /* The step is a prime number, so that each page is reached once. */
    size_t step = 0x9e3779b1;
    uint8_t *memory = allocate(size);
    for (size_t i = 0; i < pages; i++) {
        size_t page = i * step % pages;
        memory[page * 4096] = (uint8_t) (page + 1);
    }
    for (size_t page = 0; page < pages; page++) {
        if (memory[page * 4096] != (uint8_t) (page + 1)) {
            fprintf(stderr, "page %zu is not what was written\n", page);
            return 1;
        }
    }
    printf("touched %zu bytes\n", size);
    return 0;
}

int main(int argc, char *argv[]) {
    /* This program reports failures. By default, the library also reports them to syslog. */
    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 5 && strcmp(argv[1], "pingpong") == 0 && atoi(argv[4]) > 0) {
        return pingpong(argv[2], argv[3], atoi(argv[4]));
    }
    if (argc == 5 && strcmp(argv[1], "connect") == 0 && atoi(argv[4]) > 0) {
        return connect_to(argv[2], argv[3], atoi(argv[4]));
    }
    if (argc == 4 && strcmp(argv[1], "register") == 0 && atol(argv[3]) > 0) {
        return register_memory(argv[2], (size_t) atol(argv[3]));
    }
    if (argc == 3 && strcmp(argv[1], "touch") == 0 && atol(argv[2]) >= 4096) {
        return touch((size_t) atol(argv[2]));
    }
    fprintf(stderr, "usage: selftest pingpong ADDRESS PORT ROUNDS\n"
                    "       selftest connect ADDRESS PORT SECONDS\n"
                    "       selftest register ADDRESS BYTES\n"
                    "       selftest touch BYTES\n");
    return 2;
}
