// What files of netprof's plugin tell is put together: of copies of a file one counts, in all three tables; who is in no
// communicator, is left out; the order is by what a row is about, not by where it came from.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/logs/nccl_parts.h"
#include "support.h"

enum { CHUNKS = 3, NONE = -1 };

static nccl_member members[] = {{.process = 0}, {.process = 1}, {.process = 2}};
static nccl_process processes[] = {{.host = 1}, {.host = 0}, {.host = 1}};

// The chunk's member, collective, size, calls, steps; `gpu_us` tells rows apart.
typedef struct spent_row {
    int chunk;
    nccl_spent row;
} spent_row;

static const spent_row spent[] = {
    {0, {1, "AllReduce", 4096, 3, 10, .gpu_us = 1}}, // fewer calls than its copy in the other file
    {0, {2, "Broadcast", 64, 5, 7, .gpu_us = 2}},
    {0, {1, "AllReduce", 512, 2, 3, .gpu_us = 3, .received_bytes = 12, .received_at_least = true}},
    {0, {0, "AllReduce", 1, 1, 1, .gpu_us = 4}}, // of nobody
    {0, {2, "AllGather", 64, 6, 8, .gpu_us = 5}},
    {1, {1, "AllReduce", 4096, 4, 10, .gpu_us = 6}},
    {1, {1, "AllReduce", 512, 9, 2, .gpu_us = 7}}, // fewer steps
    {1, {2, "Broadcast", 32, 1, 1, .gpu_us = 8}},
    {1, {2, "AllReduce", 70000, 1, 1, .gpu_us = 9}},
    {1, {3, "Broadcast", 64, 5, 7, .gpu_us = 10}}, // just the same as that of the first file, which counts
    {1, {3, "AllGather", 64, 6, 8, .gpu_us = 11}},
    {1, {3, "AllGather", 64, 6, 8, .gpu_us = 12}},
    {2, {1, "AllReduce", 4096, 90, 90, .gpu_us = 13}}};

static const int kept[] = {5, 2, 9, 8, 3, 6}; // gpu_us of those that count, in their order

typedef struct span_row {
    int chunk;
    nccl_span span; // spent: the row in its chunk
} span_row;

static const span_row spans[] = {{0, {0, 1, 10, 20}}, // of rows that are copies
                                 {0, {3, 1, 10, 20}},   {1, {1, 1, 10, 20}},   {1, {4, 1, 10, 20}},
                                 {2, {0, 1, 10, 20}},   {0, {2, 7, 500, 600}}, {0, {1, 3, 500, 590}},
                                 {0, {4, 4, 500, 600}}, {0, {4, 2, 500, 600}}, {1, {0, 1, 499, 700}},
                                 {1, {2, 6, 800, 900}}, {1, {3, 5, 800, 850}}, {1, {3, 8, 790, 950}}};

static const nccl_span spans_kept[] = {{2, 8, 790, 950}, {2, 5, 800, 850}, {3, 6, 800, 900}, {5, 1, 499, 700},
                                       {1, 3, 500, 590}, {0, 2, 500, 600}, {0, 4, 500, 600}, {4, 7, 500, 600}};

typedef struct used_row {
    int chunk;
    nccl_used row;
} used_row;

static const used_row used[] = {
    {0, {1, "ib", "send", "mlx5_1", 0, 5, 100}},  {0, {1, "ib", "recv", "mlx5_1", 0, 6, 90}},
    {0, {1, "ib", "send", "mlx5_0", 1, 7, 80}},   {0, {2, "socket", "send", "", -1, 8, 70}},
    {0, {2, "ib", "send", "mlx5_0", 3, 9, 60}},   {0, {0, "ib", "send", "mlx5_0", 0, 1, 1}},
    {1, {1, "ib", "send", "mlx5_1", 0, 4, 101}},  {1, {1, "ib", "recv", "mlx5_1", 0, 11, 90}},
    {1, {1, "ib", "send", "mlx5_0", 1, 900, 79}}, {1, {2, "ib", "send", "mlx5_2", 0, 2, 3}},
    {1, {1, "ib", "send", "mlx5_0", 0, 12, 50}},  {2, {1, "ib", "send", "mlx5_9", 0, 1, 1}}};

static const nccl_used used_kept[] = {{0, "ib", "send", "mlx5_0", 3, 9, 60},  {0, "socket", "send", "", -1, 8, 70},
                                      {1, "ib", "send", "mlx5_2", 0, 2, 3},   {2, "ib", "send", "mlx5_0", 0, 12, 50},
                                      {2, "ib", "recv", "mlx5_1", 0, 11, 90}, {2, "ib", "send", "mlx5_1", 0, 4, 101},
                                      {2, "ib", "send", "mlx5_0", 1, 7, 80}};

// Whose they are in all: of the first member of each chunk nobody, of the third chunk nobody at all.
static const int globals[CHUNKS][4] = {{NONE, 2, 0, NONE}, {NONE, 2, 1, 0}, {NONE, NONE, NONE, NONE}};

static void make_chunks(nccl_chunk *chunks)
{
    for (int i = 0; i < CHUNKS; i++) {
        chunks[i] = (nccl_chunk){.file = (uint32_t)(CHUNKS - 1 - i)};
        for (int k = 0; k < 4; k++) {
            nccl_local_member m = {.host = k == 1 && i == 1 ? "" : "h", .global = (uint32_t)globals[i][k]};
            arrput(chunks[i].members, m);
        }
    }
    for (size_t i = 0; i < COUNT(spent); i++)
        arrput(chunks[spent[i].chunk].spent, spent[i].row);
    for (size_t i = 0; i < COUNT(spans); i++)
        arrput(chunks[spans[i].chunk].spans, spans[i].span);
    for (size_t i = 0; i < COUNT(used); i++)
        arrput(chunks[used[i].chunk].used, used[i].row);
}

static void check_spent(const nccl *n)
{
    assert_int_equal(n->spent_count, COUNT(kept));
    for (size_t i = 0; i < COUNT(kept); i++) {
        const spent_row *from = &spent[0];
        while (from->row.gpu_us < kept[i])
            from++;
        const nccl_spent *x = &n->spent[i], *y = &from->row;
        assert_true(x->gpu_us == y->gpu_us);
        assert_int_equal(x->member, globals[from->chunk][y->member]);
        assert_true(x->coll != y->coll); // its own: chunks are gone before
        assert_string_equal(x->coll, y->coll);
        assert_int_equal(x->size, y->size);
        assert_int_equal(x->calls, y->calls);
        assert_int_equal(x->sent, y->sent);
        assert_int_equal(x->received_bytes, y->received_bytes);
        assert_int_equal(x->received_at_least, y->received_at_least);
    }
}

static void check_spans(const nccl *n)
{
    assert_int_equal(n->span_count, COUNT(spans_kept));
    for (size_t i = 0; i < COUNT(spans_kept); i++) {
        assert_int_equal(n->spans[i].spent, spans_kept[i].spent);
        assert_int_equal(n->spans[i].sn, spans_kept[i].sn);
        assert_int_equal(n->spans[i].begin_ns, spans_kept[i].begin_ns);
        assert_int_equal(n->spans[i].end_ns, spans_kept[i].end_ns);
    }
}

static void check_used(const nccl *n)
{
    assert_int_equal(n->used_count, COUNT(used_kept));
    for (size_t i = 0; i < COUNT(used_kept); i++) {
        const nccl_used *x = &n->used[i], *y = &used_kept[i];
        assert_int_equal(x->member, y->member);
        assert_string_equal(x->transport, y->transport);
        assert_string_equal(x->direction, y->direction);
        assert_string_equal(x->adapter, y->adapter);
        assert_int_equal(x->device, y->device);
        assert_int_equal(x->requests, y->requests);
        assert_int_equal(x->bytes, y->bytes);
    }
}

static void copies_count_once(void **state)
{
    nccl_chunk chunks[CHUNKS];
    nccl_store store = {0};
    nccl_file files[CHUNKS] = {{.host = NCCL_NONE}, {.host = NCCL_NONE}, {.host = NCCL_NONE}};
    nccl n = {.members = members, .processes = processes, .files = files, .memory = &store};
    (void)state;
    make_chunks(chunks);
    for (int i = 0; i < CHUNKS; i++)
        chunks[i].snapshots = (uint64_t)(i + 1);
    chunks[0].snapshots = 0;
    nccl_merge_recorded(&n, chunks, CHUNKS);
    for (int i = 0; i < CHUNKS; i++)
        nccl_chunk_free(&chunks[i]);
    check_spent(&n);
    check_spans(&n);
    check_used(&n);
    assert_int_equal(files[2].host, NCCL_NONE); // no readings
    assert_int_equal(files[1].host, 0);         // of the first whose host is known
    assert_int_equal(files[0].host, NCCL_NONE); // of nobody
    free(n.spent);
    free(n.spans);
    free(n.used);
    nccl_arena_free(&store.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_count_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
