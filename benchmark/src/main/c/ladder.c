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
 * The least that a program does on librpma: messages there and back, or one way as fast as they go. Both ends poll.
 * io.rpma.benchmark.LadderEnd does the same in Java, for its cost.
 *
 *     ladder server|client rtt|tput ADDRESS PORT BYTES COUNT
 *
 * The first quarter of COUNT is not measured. The client prints "rtt P50 P99" in microseconds or "tput MIB_PER_SECOND".
 */

#include <librpma.h>

#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WINDOW = 32,  /* messages that may be under way, one way; as many receives are posted */
    POLLED = 16,
    CREDIT_BYTES = 8,
};

static struct rpma_conn *conn;
static struct rpma_cq *cq;
static struct rpma_mr_local *receives, *sends;
static char *received_memory, *sent_memory;
static long bytes, sent, sends_done, received;
static int64_t last_number;

static void
check(int ret, const char *what)
{
    if (ret) {
        fprintf(stderr, "%s: %s\n", what, rpma_err_2str(ret));
        exit(1);
    }
}

static double
now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* Takes what has completed, and posts each receive again. */
static void
poll_queue(void)
{
    struct ibv_wc wc[POLLED];
    int n = 0;
    int ret = rpma_cq_get_wc(cq, POLLED, wc, &n);
    if (ret == RPMA_E_NO_COMPLETION)
        return;
    check(ret, "rpma_cq_get_wc");
    for (int i = 0; i < n; i++) {
        if (wc[i].status != IBV_WC_SUCCESS) {
            fprintf(stderr, "a work request failed: %s\n", ibv_wc_status_str(wc[i].status));
            exit(1);
        }
        if (wc[i].opcode & IBV_WC_RECV) {
            size_t offset = wc[i].wr_id;
            memcpy(&last_number, received_memory + offset, sizeof(last_number));
            received++;
            check(rpma_recv(conn, receives, offset, bytes, (void *)offset), "rpma_recv");
        } else {
            sends_done++;
        }
    }
}

static void
send_message(int64_t number, long length)
{
    while (sent - sends_done >= WINDOW)
        poll_queue();
    size_t offset = sent % WINDOW * bytes;
    memcpy(sent_memory + offset, &number, sizeof(number));
    check(rpma_send(conn, sends, offset, length, RPMA_F_COMPLETION_ALWAYS, NULL), "rpma_send");
    sent++;
}

static void
await_received(long count)
{
    while (received < count)
        poll_queue();
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void
client_rtt(long count)
{
    double *times = malloc(count * sizeof(*times));
    for (long i = 0; i < count; i++) {
        double began = now_us();
        send_message(i, bytes);
        await_received(i + 1);
        times[i] = now_us() - began;
        if (last_number != i) {
            fprintf(stderr, "message %ld came back as %ld\n", i, (long)last_number);
            exit(1);
        }
    }
    long first = count / 4;
    long measured = count - first;
    qsort(times + first, measured, sizeof(*times), compare);
    printf("rtt %.2f %.2f\n", times[first + measured / 2], times[first + measured * 99 / 100]);
    free(times);
}

static void
client_tput(long count)
{
    double began = 0;
    long first = count / 4;
    for (long i = 0; i < count; i++) {
        if (i == first)
            began = now_us();
        /* A credit is for half a window. */
        while (i - received * (WINDOW / 2) >= WINDOW)
            poll_queue();
        send_message(i, bytes);
    }
    await_received(count / (WINDOW / 2));
    printf("tput %.1f\n", (double)(count - first) * bytes / (1 << 20) / ((now_us() - began) / 1e6));
}

static void
server(int is_rtt, long count)
{
    for (long done = 0; done < count; ) {
        await_received(done + 1);
        for (; done < received; done++) {
            if (is_rtt)
                send_message(last_number, bytes);
            else if ((done + 1) % (WINDOW / 2) == 0)
                send_message(done, CREDIT_BYTES);
        }
    }
    while (sends_done < sent)
        poll_queue();
}

int
main(int argc, char *argv[])
{
    if (argc != 7) {
        fprintf(stderr, "usage: ladder server|client rtt|tput ADDRESS PORT BYTES COUNT\n");
        return 2;
    }
    int is_server = strcmp(argv[1], "server") == 0;
    int is_rtt = strcmp(argv[2], "rtt") == 0;
    bytes = atol(argv[5]);
    /* Whole windows, so that every message is paid for by a credit. */
    long count = atol(argv[6]) / (4 * WINDOW) * (4 * WINDOW);

    struct ibv_context *context;
    struct rpma_peer *peer;
    struct rpma_conn_cfg *config;
    struct rpma_conn_req *request;
    struct rpma_ep *endpoint = NULL;
    enum rpma_conn_event event;
    check(rpma_utils_get_ibv_context(argv[3], is_server ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE,
        &context), "rpma_utils_get_ibv_context");
    check(rpma_peer_new(context, &peer), "rpma_peer_new");
    size_t size = WINDOW * bytes;
    received_memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    sent_memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    memset(sent_memory, 1, size);
    check(rpma_mr_reg(peer, received_memory, size, RPMA_MR_USAGE_RECV, &receives), "rpma_mr_reg");
    check(rpma_mr_reg(peer, sent_memory, size, RPMA_MR_USAGE_SEND, &sends), "rpma_mr_reg");
    check(rpma_conn_cfg_new(&config), "rpma_conn_cfg_new");
    check(rpma_conn_cfg_set_sq_size(config, WINDOW), "rpma_conn_cfg_set_sq_size");
    check(rpma_conn_cfg_set_rq_size(config, WINDOW), "rpma_conn_cfg_set_rq_size");
    check(rpma_conn_cfg_set_cq_size(config, 2 * WINDOW), "rpma_conn_cfg_set_cq_size");
    if (is_server) {
        check(rpma_ep_listen(peer, argv[3], argv[4], &endpoint), "rpma_ep_listen");
        printf("listening\n");
        fflush(stdout);
        check(rpma_ep_next_conn_req(endpoint, config, &request), "rpma_ep_next_conn_req");
    } else {
        check(rpma_conn_req_new(peer, argv[3], argv[4], config, &request), "rpma_conn_req_new");
    }
    for (size_t i = 0; i < WINDOW; i++)
        check(rpma_conn_req_recv(request, receives, i * bytes, bytes, (void *)(i * bytes)), "rpma_conn_req_recv");
    check(rpma_conn_req_connect(&request, NULL, &conn), "rpma_conn_req_connect");
    check(rpma_conn_next_event(conn, &event), "rpma_conn_next_event");
    if (event != RPMA_CONN_ESTABLISHED) {
        fprintf(stderr, "not connected: %s\n", rpma_utils_conn_event_2str(event));
        return 1;
    }
    check(rpma_conn_get_cq(conn, &cq), "rpma_conn_get_cq");
    if (is_server)
        server(is_rtt, count);
    else if (is_rtt)
        client_rtt(count);
    else
        client_tput(count);

    if (!is_server)
        check(rpma_conn_disconnect(conn), "rpma_conn_disconnect");
    check(rpma_conn_next_event(conn, &event), "rpma_conn_next_event");
    if (is_server)
        check(rpma_conn_disconnect(conn), "rpma_conn_disconnect");
    check(rpma_conn_delete(&conn), "rpma_conn_delete");
    check(rpma_mr_dereg(&receives), "rpma_mr_dereg");
    check(rpma_mr_dereg(&sends), "rpma_mr_dereg");
    if (endpoint)
        check(rpma_ep_shutdown(&endpoint), "rpma_ep_shutdown");
    check(rpma_conn_cfg_delete(&config), "rpma_conn_cfg_delete");
    check(rpma_peer_delete(&peer), "rpma_peer_delete");
    free(received_memory);
    free(sent_memory);
    return 0;
}
