// The NCCL profiler plugin, played to as NCCL does: what it keeps, what it survives, what it hands on.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/findings/nccl_findings_make.h"
#include "analysis/nccl/findings/nccl_overlap.h"
#include "analysis/nccl/view/nccl_pairs.h"
#include "analysis/nccl/findings/nccl_waits.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "cluster.h"
#include "player.h"
#include "plugin_pool.h"
#include "support.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

// ---- what a directory of files holds ----

enum { CELLS = 32 };

typedef struct rows {
    size_t count, columns;
    char names[CELLS][24];
    int64_t *numbers[CELLS]; // NULL: texts
    char **texts[CELLS];
} rows;

typedef struct kept {
    rows comm, call, transfer, device, drops;
    size_t files, complete, snapshots;
    char host[64], pid[16];
} kept;

static void rows_add(rows *t, const netprof_events *e)
{
    t->columns = e->column_count;
    for (size_t i = 0; i < e->column_count; i++) {
        snprintf(t->names[i], sizeof t->names[i], "%s", e->columns[i].name);
        if (e->columns[i].texts)
            t->texts[i] = realloc(t->texts[i], (t->count + e->count) * sizeof(char *));
        else
            t->numbers[i] = realloc(t->numbers[i], (t->count + e->count) * sizeof(int64_t));
        for (size_t k = 0; k < e->count; k++)
            if (e->columns[i].texts)
                t->texts[i][t->count + k] = strdup(e->columns[i].texts[k]);
            else
                t->numbers[i][t->count + k] = e->columns[i].numbers[k];
    }
    t->count += e->count;
}

static size_t rows_column(const rows *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->names[i], name) == 0) return i;
    fail_msg("no column %s", name);
    return 0;
}

static int64_t number_at(const rows *t, size_t row, const char *name)
{
    assert_true(row < t->count);
    return t->numbers[rows_column(t, name)][row];
}

static const char *text_at(const rows *t, size_t row, const char *name)
{
    assert_true(row < t->count);
    return t->texts[rows_column(t, name)][row];
}

static void kept_read_file(kept *k, const char *path)
{
    const struct {
        const char *kind;
        rows *to;
    } kinds[] = {{"nccl.comm", &k->comm},
                 {"nccl.call", &k->call},
                 {"nccl.transfer", &k->transfer},
                 {"nccl.device", &k->device},
                 {"nccl.drops", &k->drops}};
    netprof_reader *r;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    assert_int_equal(netprof_reader_open(&r, path, NULL, NULL), NETPROF_OK);
    k->files++;
    while (item.type != NETPROF_ITEM_END) {
        assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
        assert_int_not_equal(item.type, NETPROF_ITEM_DAMAGE);
        k->snapshots += item.type == NETPROF_ITEM_SNAPSHOT;
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "host") == 0)
            snprintf(k->host, sizeof k->host, "%s", item.fact->value);
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "pid") == 0)
            snprintf(k->pid, sizeof k->pid, "%s", item.fact->value);
        for (size_t i = 0; item.events && i < COUNT(kinds); i++)
            if (strcmp(item.events->kind, kinds[i].kind) == 0) rows_add(kinds[i].to, item.events);
    }
    k->complete += (size_t)item.complete;
    netprof_reader_close(r);
}

static kept kept_read(const char *directory)
{
    kept k = {.files = 0};
    DIR *d = opendir(directory);
    const struct dirent *entry;
    assert_non_null(d);
    while ((entry = readdir(d))) {
        char path[1024];
        if (strncmp(entry->d_name, "netprof-nccl-", 13) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        kept_read_file(&k, path);
    }
    closedir(d);
    assert_int_equal(k.complete, k.files);
    return k;
}

static void rows_free(rows *t)
{
    for (size_t i = 0; i < t->columns; i++) {
        for (size_t k = 0; t->texts[i] && k < t->count; k++)
            free(t->texts[i][k]);
        free(t->texts[i]);
        free(t->numbers[i]);
    }
}

static void kept_free(kept *k)
{
    rows_free(&k->comm);
    rows_free(&k->call);
    rows_free(&k->transfer);
    rows_free(&k->device);
    rows_free(&k->drops);
}

static int64_t drops_of(const kept *k, const char *what)
{
    int64_t sum = 0;
    for (size_t i = 0; i < k->drops.count; i++)
        if (strcmp(text_at(&k->drops, i, "what"), what) == 0) sum += number_at(&k->drops, i, "count");
    return sum;
}

// ---- a directory for each test, and settings ----

static char *directory;
static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID"};

static int begin_directory(void **state)
{
    (void)state;
    directory = tree_make();
    setenv("NETPROF_NCCL_DIR", directory, 1);
    setenv("NETPROF", "time", 1); // no network devices
    setenv("NETPROF_NCCL", "all", 1);
    unsetenv("NETPROF_NCCL_NEXT");
    for (size_t i = 0; i < COUNT(jobs); i++)
        unsetenv(jobs[i]);
    player_ns = 1000000000000;
    player_pid = 4711;
    snprintf(player_host, sizeof player_host, "node0");
    return 0;
}

static int end_directory(void **state)
{
    (void)state;
    tree_remove(directory);
    player_ns = -1;
    player_pid = 0;
    return 0;
}

// ---- what is kept ----

// A call that sends in three steps to 3 and gets one from 1; times by the script.
static void play_one(player *p)
{
    player_ns = 1000000000000;
    void *coll = player_coll(p, "AllReduce", 7, 1000);
    player_ns += 10;
    player_stop(p, coll); // it is enqueued; what follows comes from the proxy's thread
    void *send = player_op(p, coll, 3, true, 0), *get = player_op(p, coll, 1, false, 1);
    player_step(p, send, true, 512, 100, 20, 300); // ready after 10 + 120
    player_step(p, send, true, 256, 1, 2, 3);
    player_step(p, get, false, 128, 1000, 200, 50);
    player_stop(p, send);
    player_stop(p, get);
    player_kernel(p, coll, 0, 5000, 9000);
    player_kernel(p, coll, 1, 5100, 9500);
}

static void check_one(const kept *k, int version)
{
    assert_int_equal(k->comm.count, 1);
    assert_string_equal(text_at(&k->comm, 0, "id"), "0xabc");
    assert_string_equal(text_at(&k->comm, 0, "name"), "dp");
    assert_int_equal(number_at(&k->comm, 0, "rank"), 2);
    assert_int_equal(number_at(&k->comm, 0, "ranks"), 4);
    assert_int_equal(number_at(&k->comm, 0, "nodes"), 2);
    assert_int_equal(number_at(&k->comm, 0, "interface"), version);
    assert_int_equal(k->call.count, 1);
    assert_string_equal(text_at(&k->call, 0, "kind"), "coll");
    assert_string_equal(text_at(&k->call, 0, "func"), "AllReduce");
    assert_string_equal(text_at(&k->call, 0, "datatype"), "ncclFloat32");
    assert_string_equal(text_at(&k->call, 0, "algo"), "RING");
    assert_string_equal(text_at(&k->call, 0, "proto"), "SIMPLE");
    const struct {
        const char *column;
        int64_t value;
    } numbers[] = {{"sn", 7},
                   {"count", 1000},
                   {"bytes", 4000},
                   {"channels", 2},
                   {"enqueue_ns", 1000000000000},
                   {"enqueued_ns", 1000000000010},
                   {"first_ns", 1000000000010},
                   {"ready_ns", 1000000000130},
                   {"last_ns", 1000000000010 + 420 + 6 + 1250},
                   {"kernels", 2},
                   {"gpu_begin_ns", 5000},
                   {"gpu_end_ns", 9500},
                   {"ops", 2},
                   {"finished", 1},
                   {"user_tag", 0}};
    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_int_equal(number_at(&k->call, 0, numbers[i].column), numbers[i].value);
}

static void check_transfers(const kept *k)
{
    static const struct {
        const char *direction;
        int64_t peer, steps, bytes, gpu, credit, wire, flush;
    } expected[] = {{"send", 3, 2, 768, 101, 22, 303, 0}, {"recv", 1, 1, 128, 1000, 0, 50, 200}};
    assert_int_equal(k->transfer.count, 2);
    // In either order: the library's thread may see the second operation's end first.
    bool turned = strcmp(text_at(&k->transfer, 0, "direction"), "send") != 0;
    for (size_t i = 0; i < 2; i++) {
        size_t row = turned ? 1 - i : i;
        assert_string_equal(text_at(&k->transfer, row, "direction"), expected[i].direction);
        assert_int_equal(number_at(&k->transfer, row, "peer"), expected[i].peer);
        assert_int_equal(number_at(&k->transfer, row, "call"), number_at(&k->call, 0, "call"));
        assert_int_equal(number_at(&k->transfer, row, "steps"), expected[i].steps);
        assert_int_equal(number_at(&k->transfer, row, "timed"), expected[i].steps);
        assert_int_equal(number_at(&k->transfer, row, "bytes"), expected[i].bytes);
        assert_int_equal(number_at(&k->transfer, row, "own_gpu_ns"), expected[i].gpu);
        assert_int_equal(number_at(&k->transfer, row, "credit_ns"), expected[i].credit);
        assert_int_equal(number_at(&k->transfer, row, "wire_ns"), expected[i].wire);
        assert_int_equal(number_at(&k->transfer, row, "flush_ns"), expected[i].flush);
    }
}

static void every_interface(void **state)
{
    for (int version = 4; version <= 7; version++) {
        begin_directory(state);
        player p;
        player_init(&p, version, player_table(version), 0xabc, "dp", 2, 4, 2);
        assert_non_null(p.context);
        assert_int_equal(p.mask, EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP | EVENT_PROXY_STEP | EVENT_NET | EVENT_KERNEL);
        play_one(&p);
        player_finalize(&p);
        assert_null(p.wrong);
        kept k = kept_read(directory);
        assert_int_equal(k.files, 1);
        assert_string_equal(k.host, "node0");
        assert_string_equal(k.pid, "4711");
        check_one(&k, version);
        check_transfers(&k);
        assert_int_equal(k.drops.count, 0);
        kept_free(&k);
        end_directory(state);
    }
}

// Requests of the built-in transports: bytes by device and queue pair, and which device a transfer used.
static void requests_by_device(void **state)
{
    (void)state;
    player p;
    player_init(&p, 5, player_table(5), 0xabc, NULL, 2, 4, 0);
    void *coll = player_coll(&p, "AllGather", 1, 8), *op = player_op(&p, coll, 1, true, 0);
    abi_event e = {.parent = op};
    void *step = player_start(&p, EVENT_PROXY_STEP, &e);
    player_request(&p, step, 2, 11, 100);
    player_request(&p, step, 2, 11, 50);
    player_request(&p, step, 3, 12, 7);
    player_request(&p, NULL, -1, 0, 1000);
    player_stop(&p, step);
    player_stop(&p, op);
    player_stop(&p, coll);
    player_finalize(&p);
    kept k = kept_read(directory);
    int64_t seen = 0;
    assert_int_equal(k.device.count, 3);
    for (size_t i = 0; i < 3; i++) {
        int64_t qp = number_at(&k.device, i, "qp"), bytes = number_at(&k.device, i, "bytes");
        if (strcmp(text_at(&k.device, i, "transport"), "socket") == 0)
            seen += bytes == 1000 && number_at(&k.device, i, "device") == -1;
        else
            seen += number_at(&k.device, i, "device") == qp - 9 && bytes == (qp == 11 ? 150 : 7);
    }
    assert_int_equal(seen, 3);
    assert_int_equal(number_at(&k.transfer, 0, "device"), 3);
    assert_string_equal(text_at(&k.transfer, 0, "transport"), "ib");
    assert_string_equal(text_at(&k.comm, 0, "name"), "");
    kept_free(&k);
}

// The row of a device with that queue pair and direction.
static size_t device_row(const kept *k, int64_t qp, const char *direction)
{
    for (size_t i = 0; i < k->device.count; i++)
        if (number_at(&k->device, i, "qp") == qp && strcmp(text_at(&k->device, i, "direction"), direction) == 0)
            return i;
    fail_msg("no row of queue pair %d, %s", (int)qp, direction);
    return 0;
}

// Each way by itself; a flush is none; who receives does not know how much. The adapter is the one on which the kernel
// knows the queue pair as this process's; where two have the number, both are named.
static void directions_and_adapters(void **state)
{
    (void)state;
    static const player_queue_pair listed[] = {{"mlx5_0", 11, 4711}, {"mlx5_0", 77, 4711}, {"mlx5_1", 12, 4711},
                                               {"mlx5_1", 77, 4711}, {"mlx5_1", 11, 99},   {NULL, 0, 0}};
    player p;
    player_queue_pairs = listed;
    player_listings = 0;
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 0);
    void *coll = player_coll(&p, "AllGather", 1, 8), *ops[2], *steps[2];
    for (int i = 0; i < 2; i++) {
        ops[i] = player_op(&p, coll, 1, !i, 0);
        abi_event e = {.parent = ops[i]};
        steps[i] = player_start(&p, EVENT_PROXY_STEP, &e);
    }
    player_request(&p, steps[0], 0, 11, 100);
    player_request(&p, steps[0], 1, 12, 60);
    player_request(&p, steps[0], 0, 77, 1);
    player_request(&p, steps[1], 0, 11, 5000); // what stands there is not this request's
    player_flush(&p, steps[1], 0, 11);
    player_request(&p, steps[1], 1, 13, 0); // the kernel does not list it
    for (int i = 0; i < 2; i++) {
        player_stop(&p, steps[i]);
        player_stop(&p, ops[i]);
    }
    player_stop(&p, coll);
    player_finalize(&p);
    player_queue_pairs = NULL;
    kept k = kept_read(directory);
    static const struct {
        int64_t qp;
        const char *direction, *adapter;
        int64_t device, requests, bytes;
    } expected[] = {{11, "send", "mlx5_0", 0, 1, 100},
                    {12, "send", "mlx5_1", 1, 1, 60},
                    {77, "send", "mlx5_0|mlx5_1", 0, 1, 1},
                    {11, "recv", "mlx5_0", 0, 1, 0},
                    {13, "recv", "", 1, 1, 0}};
    assert_int_equal(k.device.count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        size_t row = device_row(&k, expected[i].qp, expected[i].direction);
        assert_string_equal(text_at(&k.device, row, "adapter"), expected[i].adapter);
        assert_int_equal(number_at(&k.device, row, "device"), expected[i].device);
        assert_int_equal(number_at(&k.device, row, "requests"), expected[i].requests);
        assert_int_equal(number_at(&k.device, row, "bytes"), expected[i].bytes);
    }
    assert_true(player_listings <= 2); // one, and one for what it did not have
    kept_free(&k);
}

// The shim of v4 does not set p2p.nChannels; tags exist since v7 only: what lies there otherwise is not read.
static void fields_that_an_interface_lacks(void **state)
{
    for (int version = 4; version <= 7; version++) {
        begin_directory(state);
        player p;
        player_init(&p, version, player_table(version), 1, "", 1, 2, 0);
        abi_event e = {
            .p2p = {.func = "Send", .datatype = "ncclUint8", .count = 5, .peer = 1, .channels = 99, .tag = 1234}};
        player_stop(&p, player_start(&p, EVENT_P2P, &e));
        player_finalize(&p);
        kept k = kept_read(directory);
        assert_string_equal(text_at(&k.call, 0, "kind"), "p2p");
        assert_int_equal(number_at(&k.call, 0, "channels"), version == 4 ? 0 : 99);
        assert_int_equal(number_at(&k.call, 0, "user_tag"), version == 7 ? 1234 : 0);
        assert_int_equal(number_at(&k.call, 0, "peer"), 1);
        assert_int_equal(number_at(&k.call, 0, "sn"), 1);
        assert_int_equal(number_at(&k.call, 0, "bytes"), 5);
        kept_free(&k);
        end_directory(state);
    }
}

// An operation begins when the proxy comes to it, not when it was queued; where NCCL does not tell, when it was made.
static void operations_begin_in_their_turn(void **state)
{
    (void)state;
    player p;
    player_init(&p, 6, player_table(6), 0xabc, "dp", 2, 4, 2);
    for (int told = 0; told < 2; told++) {
        player_ns = 1000000000000 + told * 100000000;
        void *coll = player_coll(&p, "AllReduce", (uint64_t)told, 1), *op = player_op(&p, coll, 1, true, 0);
        player_stop(&p, coll);
        player_ns += 5000;
        if (told) player_state(&p, op, STATE_OP_IN_PROGRESS, 0);
        player_ns += 300;
        player_stop(&p, op);
    }
    player_finalize(&p);
    kept k = kept_read(directory);
    assert_int_equal(k.call.count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool told = number_at(&k.call, i, "sn") == 1;
        int64_t begin = 1000000000000 + told * 100000000;
        assert_int_equal(number_at(&k.call, i, "first_ns"), begin + told * 5000);
        assert_int_equal(number_at(&k.call, i, "last_ns"), begin + 5300);
        assert_int_equal(number_at(&k.transfer, i, "first_ns"), number_at(&k.call, i, "first_ns"));
    }
    kept_free(&k);
}

// ---- no more is read than is there ----

// A place that ends where memory does.
static void *memory_at_an_end(char *pages, size_t size)
{
    return pages + (size_t)sysconf(_SC_PAGESIZE) - size;
}

// Descriptors are as long as their interface's, and what a state brings is 8 bytes: one more byte is not there.
static void descriptors_that_end(void **state)
{
    static const size_t sizes[] = {104, 112, 112, 136};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages[2];
    for (int i = 0; i < 2; i++) {
        pages[i] = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(pages[i], MAP_FAILED);
        assert_int_equal(mprotect(pages[i] + page, page, PROT_NONE), 0);
    }
    for (int version = 4; version <= 7; version++) {
        begin_directory(state);
        player p;
        player_init(&p, version, player_table(version), 0xabc, "dp", 2, 4, 2);
        abi_event *e = memory_at_an_end(pages[0], sizes[version - 4]);
        abi_state *value = memory_at_an_end(pages[1], 8);
        for (int bit = 0; bit < (version == 4 ? 8 : 16); bit++) {
            memset(e, 0, sizes[version - 4]);
            if (1 << bit == EVENT_PROXY_OP) e->op.pid = player_pid;
            void *handle = player_start(&p, UINT64_C(1) << bit, e);
            for (int one = 0; one < 32; one++)
                player_events_state(&p, handle, one, value);
            player_stop(&p, handle);
        }
        player_finalize(&p);
        assert_null(p.wrong);
        kept k = kept_read(directory);
        assert_int_equal(k.call.count, 2);
        kept_free(&k);
        end_directory(state);
    }
    for (int i = 0; i < 2; i++)
        munmap(pages[i], 2 * page);
}

// RCCL's v6: fields of its own behind NVIDIA's of an operation, and more room for what a state brings.
static void operations_of_rccl(void **state)
{
    (void)state;
    enum { APPENDED = 48, LENGTH = 160 };
    union {
        abi_event event;
        char bytes[LENGTH];
    } longer;
    union {
        abi_state value;
        char bytes[24];
    } more;
    player p;
    player_init(&p, 6, player_table(6), 0xabc, "dp", 2, 4, 2);
    void *coll = player_coll(&p, "AllReduce", 1, 1000);
    memset(&longer, 0x5a, sizeof longer);
    memset(&more, 0x5a, sizeof more);
    longer.event.parent = coll;
    longer.event.op = (abi_op){.pid = player_pid, .channel = 1, .peer = 3, .steps = 1, .chunk = 512, .sends = 1};
    memset(longer.bytes + APPENDED, 0x5a, LENGTH - APPENDED);
    void *op = player_start(&p, EVENT_PROXY_OP, &longer.event);
    abi_event e = {.parent = op};
    void *step = player_start(&p, EVENT_PROXY_STEP, &e);
    more.value.bytes = 512;
    player_events_state(&p, step, STATE_SEND_GPU, &more.value);
    player_ns += 700;
    player_events_state(&p, step, STATE_SEND_WIRE, &more.value);
    player_ns += 40;
    player_stop(&p, step);
    player_stop(&p, op);
    player_stop(&p, coll);
    for (size_t i = APPENDED; i < LENGTH; i++) // nobody wrote there
        assert_int_equal(longer.bytes[i], 0x5a);
    player_finalize(&p);
    assert_null(p.wrong);
    kept k = kept_read(directory);
    assert_int_equal(k.transfer.count, 1);
    assert_int_equal(number_at(&k.transfer, 0, "peer"), 3);
    assert_string_equal(text_at(&k.transfer, 0, "direction"), "send");
    assert_int_equal(number_at(&k.transfer, 0, "bytes"), 512);
    assert_int_equal(number_at(&k.transfer, 0, "own_gpu_ns"), 700);
    assert_int_equal(number_at(&k.transfer, 0, "wire_ns"), 40);
    kept_free(&k);
}

// ---- what it survives ----

static void hostile(player *p)
{
    const uint64_t mark = POOL_HANDLE_MARK << POOL_MARK_SHIFT; // of handles: without a context, a slot, of a free slot
    void *coll = player_coll(p, NULL, 0, SIZE_MAX),
         *garbage[] = {NULL,
                       (void *)8,
                       (void *)UINTPTR_MAX,
                       &coll,
                       (void *)(mark | UINT64_C(0xfff) << POOL_NUMBER_SHIFT | SLOT_LIVE),
                       (void *)(mark | UINT64_C(0x3fff) << POOL_SLOT_SHIFT | SLOT_LIVE),
                       (void *)(mark | UINT64_C(5) << POOL_SLOT_SHIFT | SLOT_FREE),
                       (void *)((uintptr_t)coll - SLOT_LIVE + SLOT_DONE)};
    abi_event e = {.type.wide = 0};
    for (size_t i = 0; i < COUNT(garbage); i++) {
        player_stop(p, garbage[i]);
        player_state(p, garbage[i], STATE_SEND_GPU, 1);
    }
    for (int bit = 0; bit < (p->version == 4 ? 8 : 63); bit++) { // of every type, with nothing set and no parent
        memset(&e, 0, sizeof e);
        void *handle = player_start(p, UINT64_C(1) << bit, &e);
        player_state(p, handle, 1000000, 1);
        player_state(p, handle, -1, 1);
        player_stop(p, handle);
        player_stop(p, handle); // twice
        player_state(p, handle, STATE_SEND_WIRE, 1);
    }
    memset(&e, 0, sizeof e);
    e.parent = &e; // of a process that is not this one (PXN)
    e.op.pid = 99999;
    e.op.peer = 1;
    void *op = player_start(p, EVENT_PROXY_OP, &e);
    player_step(p, op, true, 10, 1, 1, 1);
    player_stop(p, op);
    e.op.pid = player_pid; // and of this one, but no call
    op = player_start(p, EVENT_PROXY_OP, &e);
    player_step(p, op, true, 10, 1, 1, 1);
    player_stop(p, op);
    player_step(p, coll, true, 10, 1, 1, 1); // a step of no operation
    player_stop(p, coll);
}

static void hostile_callers(void **state)
{
    for (int version = 4; version <= 7; version++) {
        begin_directory(state);
        player p, nobody = {.version = version, .table = player_table(version)};
        void *handle = &p;
        const abi_plugin *table = player_table(version);
        hostile(&nobody); // before any init
        player_init(&p, version, table, 0, NULL, 0, 0, -1);
        hostile(&p);
        assert_int_equal(table->start(p.context, NULL, NULL), 0);
        assert_int_equal(table->start(p.context, &handle, NULL), 0);
        assert_null(handle);
        assert_int_equal(table->state(player_coll(&p, "", 0, 0), STATE_SEND_GPU, NULL), 0);
        assert_int_equal(table->finalize(NULL), 0);
        assert_int_equal(table->finalize(&handle), 0);
        void *live = player_coll(&p, "AllReduce", 1, 1), *op = player_op(&p, live, 1, true, 0);
        player_finalize(&p);
        player_stop(&p, op); // late ones
        player_stop(&p, live);
        assert_null(player_coll(&p, "AllReduce", 2, 1));
        assert_int_equal(table->finalize(p.context), 0);
        assert_null(p.wrong);
        kept k = kept_read(directory);
        size_t unfinished = 0;
        for (size_t i = 0; i < k.call.count; i++)
            unfinished += number_at(&k.call, i, "finished") == 0;
        assert_int_equal(unfinished, 2); // what was live at the end
        kept_free(&k);
        end_directory(state);
    }
}

// With PXN, NCCL hands a proxy the context of the process that it works for: nothing is there, and that is counted.
static void contexts_of_other_processes(void **state)
{
    (void)state;
    player p, other = {.version = 5, .table = player_table(5)};
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 2);
    void *contexts[] = {p.context, (void *)16, &p, (void *)UINTPTR_MAX};
    player_finalize(&p);
    player_pid = 4712; // another process, and its first communicator
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 2);
    for (size_t i = 0; i < COUNT(contexts); i++) {
        abi_event e = {.parent = &e, .op = {.pid = 4711, .peer = 1, .sends = 1}};
        other.context = contexts[i];
        assert_null(player_start(&other, EVENT_PROXY_OP, &e));
    }
    assert_null(other.wrong);
    player_finalize(&p);
    kept k = kept_read(directory);
    assert_int_equal(k.transfer.count, 0);
    assert_int_equal(drops_of(&k, "foreign"), COUNT(contexts));
    kept_free(&k);
}

// A kernel's times are the GPU's: when it was heard of is not when the network had ended.
static void kernels_after_the_network(void **state)
{
    (void)state;
    player p;
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 2);
    void *coll = player_coll(&p, "AllReduce", 1, 1), *op = player_op(&p, coll, 1, true, 0);
    player_stop(&p, coll);
    player_ns += 1000;
    player_stop(&p, op);
    player_ns += 5000000;
    player_kernel(&p, coll, 0, 10, 20);
    player_finalize(&p);
    kept k = kept_read(directory);
    assert_int_equal(k.call.count, 1);
    assert_int_equal(number_at(&k.call, 0, "kernels"), 1);
    assert_int_equal(number_at(&k.call, 0, "last_ns"), 1000000001000);
    kept_free(&k);
}

static void exhausted_pools(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static void *calls[MANY];
    player p;
    player_init(&p, 6, player_table(6), 1, "", 1, 2, 0);
    size_t without = 0;
    for (size_t i = 0; i < MANY; i++) {
        calls[i] = player_coll(&p, "AllReduce", i, 1);
        without += !calls[i];
    }
    assert_true(without >= MANY - 2048 && without < MANY);
    for (size_t i = 0; i < MANY; i++)
        player_stop(&p, calls[i]);
    player_finalize(&p);
    kept k = kept_read(directory);
    assert_int_equal(drops_of(&k, "calls"), without);
    assert_int_equal(k.call.count, MANY - without);
    kept_free(&k);
    end_directory(state);
    begin_directory(state); // and all places are free again
    player_init(&p, 6, player_table(6), 1, "", 1, 2, 0);
    for (size_t i = 0; i < 2048; i++)
        assert_non_null(player_coll(&p, "AllReduce", i, 1));
    player_finalize(&p);
}

// Operations beyond the pool are lost: what the others waited for is said to be a part, and no good news.
static void parts_that_were_lost(void **state)
{
    (void)state;
    enum { MANY = 30000 };
    static void *ops[MANY];
    size_t without = 0;
    player p;
    player_init(&p, 6, player_table(6), 1, "dp", 1, 2, 0);
    void *coll = player_coll(&p, "AllReduce", 1, 1);
    for (size_t i = 0; i < MANY; i++) {
        ops[i] = player_op(&p, coll, 1, true, 0);
        without += !ops[i];
    }
    assert_true(without > 0);
    for (size_t i = 0; i < MANY; i++)
        player_stop(&p, ops[i]);
    player_stop(&p, coll);
    player_finalize(&p);
    nccl n = {0};
    nccl_findings f;
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL), NETPROF_OK);
    assert_int_equal(n.members[0].stats.parts_dropped, without);
    nccl_findings_make(&f, &n, NULL);
    size_t said = 0;
    for (size_t i = 0; i < f.count; i++)
        said += strcmp(f.items[i].rule->name, "nccl-parts-dropped") == 0 &&
                (size_t)f.items[i].evidence[0].value == without &&
                strstr(f.items[i].claim, "rank 0 on host node0 in communicator dp") != NULL;
    assert_int_equal(said, 1);
    assert_true(f.severity != SEVERITY_OK && f.unknown_count > 0);
    nccl_findings_free(&f);
    nccl_free(&n);
}

// ---- the file's name ----

static bool is_file(const char *name)
{
    struct stat s;
    return stat(tree_path(directory, name), &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 100;
}

// A job's number may hold anything; a name that is a link to nowhere is somebody's, too.
static void names_of_files(void **state)
{
    (void)state;
    player p;
    setenv("PBS_JOBID", "12/3[4].pbs", 1);
    assert_int_equal(symlink("nowhere", tree_path(directory, "netprof-nccl-12_3[4].pbs-node0-4711.netprof")), 0);
    for (int i = 0; i < 2; i++) {
        player_init(&p, 6, player_table(6), 1, "dp", 1, 2, 0);
        play_one(&p);
        player_finalize(&p);
    }
    assert_false(is_file("nowhere"));
    assert_true(is_file("netprof-nccl-12_3[4].pbs-node0-4711-2.netprof"));
    assert_true(is_file("netprof-nccl-12_3[4].pbs-node0-4711-3.netprof"));
}

// ---- threads ----

enum { COMMUNICATORS = 6, CALLS = 1500 };

typedef struct lane {
    player p;
    atomic_size_t enqueued;
    void *calls[CALLS];
} lane;

static void *launch_thread(void *user)
{
    lane *l = user;
    for (size_t i = 0; i < CALLS; i++) {
        l->calls[i] = player_coll(&l->p, "AllReduce", i, 256);
        player_stop(&l->p, l->calls[i]);
        atomic_store(&l->enqueued, i + 1);
    }
    return NULL;
}

static void *proxy_thread(void *user)
{
    lane *l = user;
    player *p = &l->p;
    for (size_t i = 0; i < CALLS; i++) {
        while (atomic_load(&l->enqueued) <= i)
            sched_yield();
        if (!l->calls[i]) continue;
        void *op = player_op(p, l->calls[i], 1, true, 0);
        abi_event e = {.parent = op};
        void *step = player_start(p, EVENT_PROXY_STEP, &e);
        player_state(p, step, STATE_SEND_WIRE, 64);
        player_stop(p, step);
        player_stop(p, op);
        player_kernel(p, l->calls[i], 0, 1, 2);
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    static lane lanes[COMMUNICATORS];
    pthread_t launch[COMMUNICATORS], proxy[COMMUNICATORS];
    extern int netprof_nccl_level(const char *name);
    player_ns = -1;
    memset(lanes, 0, sizeof lanes);
    for (int i = 0; i < COMMUNICATORS; i++)
        player_init(&lanes[i].p, 4 + i % 4, player_table(4 + i % 4), (uint64_t)i, "tp", 2, 2, 0);
    for (int i = 0; i < COMMUNICATORS; i++) {
        pthread_create(&launch[i], NULL, launch_thread, &lanes[i]);
        pthread_create(&proxy[i], NULL, proxy_thread, &lanes[i]);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(netprof_nccl_level(i % 2 ? "coll" : "all"), 0);
    assert_int_not_equal(netprof_nccl_level("everything"), 0);
    for (int i = 0; i < COMMUNICATORS; i++) {
        pthread_join(launch[i], NULL);
        pthread_join(proxy[i], NULL);
    }
    for (int i = 0; i < COMMUNICATORS; i++)
        player_finalize(&lanes[i].p);
    kept k = kept_read(directory);
    assert_int_equal(k.comm.count, COMMUNICATORS);
    assert_int_equal((int64_t)k.call.count + drops_of(&k, "calls"), COMMUNICATORS * CALLS);
    int64_t ops = 0;
    for (size_t i = 0; i < k.transfer.count; i++)
        ops += number_at(&k.transfer, i, "ops");
    assert_true(ops + drops_of(&k, "parts") >= (int64_t)k.call.count && ops <= COMMUNICATORS * CALLS);
    kept_free(&k);
}

static void *come_and_go(void *user)
{
    player p;
    (void)user;
    for (int i = 0; i < 150; i++) {
        player_init(&p, 5, player_table(5), 1, "dp", 2, 4, 2);
        if (!p.context || p.wrong) return "init";
        player_stop(&p, player_coll(&p, "AllReduce", 1, 1));
        player_finalize(&p);
        if (p.wrong) return "finalize";
    }
    return NULL;
}

// The last communicator of one thread ends while another's first one begins.
static void communicators_come_and_go(void **state)
{
    (void)state;
    pthread_t threads[2];
    setenv("NETPROF_NCCL_DIR", "/nowhere/at/all", 1); // so much the faster
    setenv("NETPROF_QUIET", "1", 1);
    player_ns = -1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, come_and_go, NULL);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    unsetenv("NETPROF_QUIET");
}

// ---- settings ----

static void levels(void **state)
{
    static const struct {
        const char *name;
        int mask;
    } known[] = {{"off", 0},
                 {"coll", EVENT_COLL | EVENT_P2P},
                 {"proxy", EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP},
                 {"nonsense", EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP},
                 {"step", EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP | EVENT_PROXY_STEP | EVENT_NET}};
    (void)state;
    extern int netprof_nccl_level(const char *name);
    for (size_t i = 0; i < COUNT(known); i++) {
        player p;
        setenv("NETPROF_NCCL", known[i].name, 1);
        player_init(&p, 5, player_table(5), 1, "", 1, 2, 0);
        assert_int_equal(p.mask, known[i].mask);
        assert_int_equal(netprof_nccl_level("coll"), 0); // NCCL reads the mask at every operation
        assert_int_equal(p.mask, EVENT_COLL | EVENT_P2P);
        player_finalize(&p);
    }
}

// The file of NETPROF_NCCL_CONTROL is read while it runs.
static void control_file(void **state)
{
    (void)state;
    player p;
    const char *path = tree_path(directory, "control");
    FILE *to = fopen(path, "w");
    fputs("step\n", to);
    fclose(to);
    setenv("NETPROF_NCCL_CONTROL", path, 1);
    player_ns = -1;
    player_init(&p, 5, player_table(5), 1, "", 1, 2, 0);
    for (int i = 0; i < 2000 && !(__atomic_load_n(&p.mask, __ATOMIC_RELAXED) & EVENT_PROXY_STEP); i++)
        usleep(10000);
    assert_true(__atomic_load_n(&p.mask, __ATOMIC_RELAXED) & EVENT_PROXY_STEP);
    player_finalize(&p);
    unsetenv("NETPROF_NCCL_CONTROL");
}

static void a_directory_that_is_missing(void **state)
{
    (void)state;
    player p;
    setenv("NETPROF_NCCL_DIR", "/nowhere/at/all", 1);
    setenv("NETPROF_QUIET", "1", 1);
    player_init(&p, 5, player_table(5), 1, "", 1, 2, 0);
    play_one(&p);
    player_finalize(&p);
    assert_null(p.wrong);
    unsetenv("NETPROF_QUIET");
}

// What the disk takes no more of is said, once.
static void a_disk_that_is_full(void **state)
{
    (void)state;
    player p;
    int ends[2], before = dup(STDERR_FILENO);
    char text[512] = "";
    struct rlimit old, small;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 300;
    unsetenv("NETPROF_QUIET");
    dup2(ends[1], STDERR_FILENO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 2);
    play_one(&p);
    player_finalize(&p);
    setrlimit(RLIMIT_FSIZE, &old);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    assert_null(p.wrong);
    assert_non_null(strstr(text, "cannot be kept"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void a_limit_of_bytes(void **state)
{
    (void)state;
    player p;
    setenv("NETPROF_NCCL_LIMIT", "0", 1);
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 2);
    play_one(&p);
    player_finalize(&p);
    unsetenv("NETPROF_NCCL_LIMIT");
    kept k = kept_read(directory);
    assert_int_equal(k.comm.count, 1);
    assert_int_equal(k.call.count + k.transfer.count, 0);
    kept_free(&k);
}

// ---- a child of fork() ----

static void a_child_leaves_the_file_alone(void **state)
{
    (void)state;
    player p;
    int status;
    player_pid = 0;
    player_init(&p, 5, player_table(5), 0xabc, "dp", 2, 4, 2);
    pid_t child = fork();
    if (!child) {
        player_finalize(&p);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    play_one(&p);
    player_finalize(&p);
    kept k = kept_read(directory);
    assert_int_equal(k.files, 1);
    assert_int_equal(k.call.count, 1);
    kept_free(&k);
}

// ---- the library itself ----

static size_t threads_now(void)
{
    size_t count = 0;
    DIR *d = opendir("/proc/self/task");
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

static void loaded_again_and_again(void **state)
{
    (void)state;
    enum { TIMES = 12 };
    size_t before = threads_now();
    setenv("NETPROF", "sampler", 1);
    player_ns = -1;
    for (int i = 0; i < TIMES; i++) {
        void *library = dlopen(NETPROF_TEST_BIN "/librccl-profiler-netprof.so", RTLD_NOW | RTLD_LOCAL);
        assert_non_null(library);
        player p;
        player_init(&p, 5, dlsym(library, "ncclProfiler_v5"), 0xabc, "dp", 2, 4, i % 4);
        assert_non_null(p.context);
        player_pid = (int)getpid();
        void *coll = player_coll(&p, "AllReduce", 1, 1), *op = player_op(&p, coll, 1, true, 0);
        player_stop(&p, op);
        player_stop(&p, coll);
        player_finalize(&p);
        assert_null(p.wrong);
        dlclose(library);
        assert_null(dlopen(NETPROF_TEST_BIN "/librccl-profiler-netprof.so", RTLD_NOW | RTLD_NOLOAD)); // it is gone
        assert_int_equal(threads_now(), before);
    }
    kept k = kept_read(directory);
    assert_int_equal(k.files, TIMES);
    assert_int_equal(k.call.count, TIMES);
    for (size_t i = 0; i < TIMES; i++)
        assert_int_equal(number_at(&k.call, i, "ops"), 1);
    kept_free(&k);
}

// ---- another plugin behind it ----

typedef struct chained {
    unsigned count, stopped, wrong, colls, steps, parents;
} chained;

static chained play_chained(int version, const char *mask)
{
    chained c = {.count = 0};
    char says[512];
    snprintf(says, sizeof says, "%s/says", directory);
    setenv("NEXT_PLUGIN_SAYS", says, 1);
    setenv("NEXT_PLUGIN_MASK", mask, 1);
    setenv("NETPROF_NCCL_NEXT", NETPROF_TEST_BUILD "/tests/libnccl-next.so", 1);
    setenv("NETPROF_NCCL", "coll", 1);
    player p;
    player_init(&p, version, player_table(version), 0xabc, "dp", 2, 4, 2);
    assert_int_equal(p.mask, EVENT_COLL | EVENT_P2P | atoi(mask));
    abi_event group = {.rank = 2};
    void *outer = player_start(&p, EVENT_GROUP, &group);
    for (uint64_t i = 0; i < 100; i++) {
        abi_event e = {.parent = outer, .coll = {.func = "AllReduce", .sn = i, .count = 1, .datatype = "ncclInt8"}};
        e.coll.group = outer;
        void *coll = player_start(&p, EVENT_COLL, &e);
        assert_ptr_equal(e.parent, outer); // NCCL's own descriptor is as it was
        assert_ptr_equal(e.coll.group, outer);
        player_stop(&p, coll);
        void *op = player_op(&p, coll, 1, true, 0);
        player_step(&p, op, true, 10, 1, 1, 1);
        player_stop(&p, op);
    }
    player_stop(&p, outer);
    player_finalize(&p);
    assert_null(p.wrong);
    FILE *from = fopen(says, "r");
    assert_non_null(from);
    assert_int_equal(fscanf(from, "%u %u %u %u %u %u", &c.count, &c.stopped, &c.wrong, &c.colls, &c.steps, &c.parents),
                     6);
    fclose(from);
    return c;
}

static void chained_plugins(void **state)
{
    for (int version = 4; version <= 7; version++) {
        begin_directory(state);
        chained c = play_chained(version, "18"); // collectives and steps, and so what is around them
        assert_int_equal(c.wrong, 0);
        assert_int_equal(c.colls, 100);
        assert_int_equal(c.steps, 100);
        assert_int_equal(c.count, 1 + 3 * 100);
        assert_int_equal(c.stopped, c.count);
        assert_int_equal(c.parents, 300);
        kept k = kept_read(directory);
        assert_int_equal(k.call.count, 100);
        kept_free(&k);
        end_directory(state);
        begin_directory(state);
        c = play_chained(version, "4"); // only sends and receives: it hears of no collective
        assert_int_equal(c.wrong, 0);
        assert_int_equal(c.colls + c.steps, 0);
        end_directory(state);
    }
}

static void a_chained_plugin_that_is_missing(void **state)
{
    (void)state;
    player p;
    setenv("NETPROF_NCCL_NEXT", "libthere-is-none.so", 1);
    player_init(&p, 6, player_table(6), 0xabc, "dp", 2, 4, 2);
    play_one(&p);
    player_finalize(&p);
    kept k = kept_read(directory);
    check_one(&k, 6);
    kept_free(&k);
}

// The library itself behind it, which would chain itself again: it stays at one.
static void a_plugin_that_is_chained_to_itself(void **state)
{
    (void)state;
    player p;
    setenv("NETPROF_NCCL_NEXT", NETPROF_TEST_BIN "/libnccl-profiler-netprof.so", 1);
    player_init(&p, 6, player_table(6), 0xabc, "dp", 2, 4, 2);
    assert_non_null(p.context);
    play_one(&p);
    player_finalize(&p);
    assert_null(p.wrong);
    kept k = kept_read(directory);
    assert_int_equal(k.files, 2);
    kept_free(&k);
}

// ---- what is said of a cluster ----

typedef struct said {
    nccl n;
    nccl_findings f;
} said;

static said say(cluster_fault fault, double strength, unsigned seed)
{
    said s = {.n = {0}};
    netprof_error error;
    cluster_play(fault, strength, seed);
    assert_int_equal(nccl_read(&s.n, (const char *const *)&directory, 1, NULL, &error), NETPROF_OK);
    nccl_findings_make(&s.f, &s.n, NULL);
    return s;
}

static void said_free(said *s)
{
    nccl_findings_free(&s->f);
    nccl_free(&s->n);
}

// Somebody is accused.
static bool accuses(const said *s)
{
    return s->f.severity >= SEVERITY_WATCH;
}

// Another than the planted one is.
static bool accuses_another(const said *s)
{
    for (size_t k = 1; k < s->f.count; k++)
        if (s->f.items[k].severity >= SEVERITY_WATCH && !strstr(s->f.items[k].claim, "rank 17") &&
            !strstr(s->f.items[k].claim, "host node04"))
            return true;
    return false;
}

// In a directory of its own. The waits that are played are real ones, of microseconds: a thread that lost its processor meanwhile
// was late in truth, so that there are two more tries where more is said than was planted.
static said say_undisturbed(void **state, cluster_fault fault, double strength, unsigned seed,
                            bool (*disturbed)(const said *s))
{
    begin_directory(state);
    setenv("NETPROF_NCCL", "step", 1);
    said s = say(fault, strength, seed);
    for (int more = 0; more < 2 && disturbed(&s); more++) {
        said_free(&s);
        end_directory(state);
        begin_directory(state);
        s = say(fault, strength, seed);
    }
    return s;
}

// The planted cause is the first finding, and nothing else is accused of anything as bad.
static void faults_of_a_cluster(void **state)
{
    static const struct {
        cluster_fault fault;
        const char *rule, *who[2];
    } planted[] = {
        {CLUSTER_SLOW_GPU, "nccl-slow-sender", {"rank 17 of", "its own GPU"}},
        {CLUSTER_SLOW_SENDER, "nccl-slow-sender", {"rank 17 of", "on the wire"}},
        {CLUSTER_SLOW_RECEIVER, "nccl-slow-receiver", {"rank 17 of", "receives slowly"}},
        {CLUSTER_SLOW_LINK, "nccl-slow-link", {"from rank 17", "to rank 22"}},
        {CLUSTER_SLOW_RAIL, "nccl-slow-rail", {"ranks that send through mlx5_6 and mlx5_7", "on the wire"}},
        {CLUSTER_SOCKETS, "nccl-sockets", {"host node04 sends through sockets (100 %", "15 other hosts send through"}},
        {CLUSTER_UNEQUAL,
         "nccl-unequal-members",
         {"rank 17 of world, on host node04,", "1 rank sends so unequally, of 64 ranks with joined devices"}},
        {CLUSTER_OTHER_RAIL,
         "nccl-other-adapter",
         {"rank 17 of world, on host node04, sends through mlx5_4 and mlx5_5",
          "the rank of its place (1, in the order of ranks, from 0) on 15 other hosts sends through mlx5_2 and "
          "mlx5_3"}},
    };
    for (size_t i = 0; i < COUNT(planted); i++)
        for (unsigned seed = 1; seed <= 2; seed++) {
            said s = say_undisturbed(state, planted[i].fault, seed + 1, seed, accuses_another);
            assert_true(s.f.count > 0 && s.f.severity >= SEVERITY_WATCH);
            assert_string_equal(s.f.items[0].rule->name, planted[i].rule);
            for (int k = 0; k < 2; k++)
                assert_non_null(strstr(s.f.items[0].claim, planted[i].who[k]));
            assert_false(accuses_another(&s));
            said_free(&s);
            end_directory(state);
        }
}

// Of the world's matrix: 64 senders, 4 receivers each, of 40 steps of 64 KiB.
static void check_cells(const nccl_view_matrix *m)
{
    assert_string_equal(m->label, "world");
    assert_false(m->by_host);
    assert_int_equal(m->units.count, 64);
    assert_int_equal(m->cells.count, 64 * 4);
    for (size_t i = 0; i < 64; i++) {
        char host[16];
        snprintf(host, sizeof host, "node%02zu", i / 4);
        assert_string_equal(m->units.items[i].host, host);
        assert_true(m->units.items[i].rank == (double)i);
    }
    for (size_t i = 0; i < m->cells.count; i++) {
        const nccl_view_cell *c = &m->cells.items[i];
        uint64_t ahead = (c->column + 64 - c->row) % 64;
        assert_true(ahead == 5 || ahead == 9 || ahead == 4 || ahead == 16);
        assert_int_equal(c->bytes, 40 * 65536);
        assert_int_equal(c->steps, 40);
        assert_true(c->gpu_us > 17 && c->wire_us > 45 && c->flush_us > 7); // at least what the script waits, less 5 %
    }
}

// A slow sender is a row, a slow receiver a column, a slow link a cell, a rail the cells between its GPUs.
static void matrices_of_a_cluster(void **state)
{
    static const struct {
        cluster_fault fault;
        uint64_t row, column, cells; // UINT64_MAX: any
        double delay_us;             // what the script adds: so many times the wait
    } planted[] = {{CLUSTER_CLEAN, 0, 0, 0, 0},
                   {CLUSTER_SLOW_GPU, 17, UINT64_MAX, 4, 3 * 20},
                   {CLUSTER_SLOW_SENDER, 17, UINT64_MAX, 4, 3 * 50},
                   {CLUSTER_SLOW_RECEIVER, UINT64_MAX, 17, 4, 3 * (10 + 8)},
                   {CLUSTER_SLOW_LINK, 17, 22, 1, 3 * 50},
                   {CLUSTER_SLOW_RAIL, UINT64_MAX, UINT64_MAX, 2 * 16, 3 * 50}};
    for (size_t i = 0; i < COUNT(planted); i++) {
        begin_directory(state);
        setenv("NETPROF_NCCL", "step", 1);
        said s = say(planted[i].fault, 4, 1);
        nccl_view v = {0};
        size_t marked = 0;
        nccl_view_make(&v, &s.n, &s.f, NULL, NULL);
        assert_int_equal(v.matrices.count, 1);
        const nccl_view_matrix *m = &v.matrices.items[0];
        check_cells(m);
        assert_string_equal(m->claim, planted[i].cells ? s.f.items[0].claim : "");
        for (size_t k = 0; k < m->cells.count; k++) {
            const nccl_view_cell *c = &m->cells.items[k];
            if (c->severity == SEVERITY_OK) {
                assert_true(c->delay_us < 10);
                continue;
            }
            marked++;
            assert_true(planted[i].row == UINT64_MAX || c->row == planted[i].row);
            assert_true(planted[i].column == UINT64_MAX || c->column == planted[i].column);
            assert_true(c->delay_us > 0.85 * planted[i].delay_us && c->delay_us < 1.15 * planted[i].delay_us);
        }
        assert_int_equal(marked, planted[i].cells);
        nccl_view_free(&v);
        said_free(&s);
        end_directory(state);
    }
}

static int count_lines(void *user, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *(size_t *)user += ((const char *)data)[i] == '\n';
    return 0;
}

static size_t lines_of(const nccl *n, nccl_table table)
{
    size_t lines = 0;
    assert_int_equal(nccl_export(n, table, NULL, count_lines, &lines), NETPROF_OK);
    return lines;
}

// What pages show of transfers: a collective of 64 ranks, whose steps wait 10 us for credit, 20 for the GPU, 50 on the wire, and
// two adapters of each rank, of which rank 17's second carries 4 of 64 KiB in each step. Of four rings two are between unlike
// places.
static void transfers_of_a_cluster(void **state)
{
    said s = say_undisturbed(state, CLUSTER_UNEQUAL, 4, 1, accuses_another);
    const double all = 64.0 * 4 * 40 * 65536;
    nccl_view v = {0};
    nccl_view_make(&v, &s.n, &s.f, NULL, NULL);
    assert_int_equal(v.waits.count, 1);
    const nccl_view_wait *w = &v.waits.items[0];
    double sending = w->gpu_us + w->credit_us + w->wire_us;
    assert_string_equal(w->coll, "AllReduce");
    assert_string_equal(w->mostly, "wire");
    assert_int_equal(w->calls, 40);
    assert_int_equal(w->ranks, 64);
    assert_int_equal(w->items.count, NCCL_VIEW_WAITING);
    assert_true(fabs(w->gpu_us / sending - .25) < .02 && fabs(w->credit_us / sending - .125) < .02);
    assert_true(w->middle_us > 75 && w->middle_us < 90 && w->longest_us >= w->middle_us);
    for (size_t i = 1; i < w->items.count; i++) // the longest steps first; all sent as much
        assert_true(w->items.items[i].gpu_us + w->items.items[i].credit_us + w->items.items[i].wire_us <=
                    w->items.items[i - 1].gpu_us + w->items.items[i - 1].credit_us + w->items.items[i - 1].wire_us);
    assert_int_equal(v.transfers.count + v.transfers_left, 64);
    assert_int_equal(v.adapters.count, 64 * 2);
    assert_int_equal(v.recorded_files, 64);
    double bytes = 0;
    for (size_t i = 0; i < v.adapters.count; i++) {
        const nccl_view_adapter *x = &v.adapters.items[i];
        bytes += x->bytes;
        assert_string_equal(x->way, "sends");
        assert_string_equal(x->remark, i < 2 ? "unequal members" : "");
        assert_true(fabs(x->share - (i == 0 ? 60. / 64 : i == 1 ? 4. / 64 : .5)) < 1e-9);
    }
    assert_string_equal(v.adapters.items[1].adapter, "mlx5_3");
    assert_string_equal(v.adapters.items[1].name, "17 of world");
    assert_true(bytes == all && v.between_bytes == all && v.across_bytes == all / 2 && v.places_by_adapter);
    assert_int_equal(lines_of(&s.n, NCCL_WAITS_CSV), 1 + 64);
    assert_int_equal(lines_of(&s.n, NCCL_ADAPTERS_CSV), 1 + 128);
    nccl_view_free(&v);
    said_free(&s);
    end_directory(state);
}

static const nccl_finding *finding_of(const nccl_findings *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->name, name) == 0) return &f->items[i];
    return NULL;
}

// That nobody uses RDMA is a finding only where it is known to be there. One lost part of 640 is said, and no more than that.
static void what_is_not_used_and_what_is_lost(void **state)
{
    said s = say_undisturbed(state, CLUSTER_ALL_SOCKETS, 1, 1, accuses);
    assert_null(finding_of(&s.f, "nccl-rdma-unused"));
    assert_null(finding_of(&s.f, "nccl-sockets"));
    nccl_findings_free(&s.f);
    s.n.files[9].rdma = "mlx5_0";
    s.n.files[9].host = s.n.processes[9].host; // as its snapshots tell
    nccl_findings_make(&s.f, &s.n, NULL);
    const nccl_finding *x = finding_of(&s.f, "nccl-rdma-unused");
    assert_non_null(x);
    assert_int_equal(x->severity, SEVERITY_WATCH);
    assert_non_null(strstr(x->claim, "all 16 hosts that send use sockets"));
    assert_non_null(strstr(x->claim, "1 of them has an RDMA adapter whose port is active (mlx5_0 on host node02)"));
    s.n.files[9].rdma = NULL;
    static const struct {
        uint64_t lost;
        severity severity;
    } cases[] = {{6, SEVERITY_INFO}, {7, SEVERITY_WATCH}}; // of 8 ways of 40 operations and 40 steps, 1 %: 6.46
    for (size_t i = 0; i < COUNT(cases); i++) {
        nccl_findings_free(&s.f);
        s.n.members[17].stats.parts_dropped = cases[i].lost;
        nccl_findings_make(&s.f, &s.n, NULL);
        x = finding_of(&s.f, "nccl-parts-dropped");
        assert_non_null(x);
        assert_int_equal(x->severity, cases[i].severity);
        assert_non_null(strstr(x->claim, "of rank 17 on host node04"));
    }
    said_free(&s);
    end_directory(state);
}

static void make_adapter(const char *root, const char *state)
{
    static const char *const directories[] = {"sys",
                                              "sys/class",
                                              "sys/class/infiniband",
                                              "sys/class/infiniband/mlx5_0",
                                              "sys/class/infiniband/mlx5_0/ports",
                                              "sys/class/infiniband/mlx5_0/ports/1",
                                              "sys/class/infiniband/mlx5_0/ports/1/counters"};
    for (size_t i = 0; i < COUNT(directories); i++)
        assert_int_equal(mkdir(tree_path(root, directories[i]), 0777), 0);
    tree_write(root, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "1000\n");
    tree_write(root, "sys/class/infiniband/mlx5_0/ports/1/state", "%s\n", state);
}

// The first reading is of all counters: a port's state is known from it.
static void adapters_that_are_there(void **state)
{
    static const struct {
        const char *port, *known;
    } cases[] = {{"4: ACTIVE", "mlx5_0"}, {"1: DOWN", NULL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_directory(state);
        char *root = tree_make();
        player p;
        nccl n = {0};
        make_adapter(root, cases[i].port);
        setenv("NETPROF", "counters", 1);
        setenv("NETPROF_ROOT", root, 1);
        setenv("NETPROF_SOURCES", "rdma", 1);
        player_init(&p, 5, player_table(5), 1, "dp", 1, 2, 0);
        play_one(&p);
        player_finalize(&p);
        unsetenv("NETPROF_ROOT");
        unsetenv("NETPROF_SOURCES");
        assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL), NETPROF_OK);
        assert_true(n.files[0].snapshots >= 2);
        if (cases[i].known)
            assert_string_equal(n.files[0].rdma, cases[i].known);
        else
            assert_null(n.files[0].rdma);
        nccl_free(&n);
        tree_remove(root);
        end_directory(state);
    }
}

static void a_healthy_cluster(void **state)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        // Places on a host are in the order of ranks: where they have another, as many processes use each adapter as elsewhere.
        said s = say_undisturbed(state, seed == 4 ? CLUSTER_REORDERED : CLUSTER_CLEAN, 1, seed, accuses);
        assert_false(accuses(&s));
        assert_int_equal(s.n.member_count, 64);
        assert_int_equal(s.n.host_count, 16);
        assert_int_equal(s.n.record_count, 64 * 40);
        assert_int_equal(s.n.instance_count, 40);
        assert_int_equal(s.n.untimed, 0);
        for (size_t k = 0; k < s.n.proxy_count; k++) { // 4 rings, both ways: 40 steps of 64 KiB each
            assert_int_equal(s.n.proxies[k].timed, 40);
            assert_int_equal(s.n.proxies[k].bytes, 40 * 65536);
            assert_int_equal(s.n.proxies[k].operations, 40);
        }
        assert_int_equal(s.n.proxy_count, 64 * 8);
        said_free(&s);
        end_directory(state);
    }
}

static int write_to(void *to, const void *data, size_t size)
{
    return fwrite(data, 1, size, to) == size ? 0 : -1;
}

// Without steps or kernels nobody knows how long a call took on a rank: that is said, and nothing is judged by it. When it was
// is known: from the first call on to the end of the last, 40 that begin each 10 ms and take 2.
static void calls_without_times(void **state)
{
    (void)state;
    setenv("NETPROF_NCCL", "proxy", 1);
    said s = say(CLUSTER_SLOW_GPU, 8, 1);
    for (int more = 0; more < 4 && s.f.count;
         more++) { // where the machine stood still, the plugin lost records and says so
        assert_string_equal(s.f.items[0].rule->name, "nccl-parts-dropped");
        said_free(&s);
        end_directory(state);
        begin_directory(state);
        setenv("NETPROF_NCCL", "proxy", 1);
        s = say(CLUSTER_SLOW_GPU, 8, 1);
    }
    assert_int_equal(s.n.untimed, 64 * 40);
    assert_int_equal(s.n.record_count, 0);
    assert_int_equal(s.n.first_dump_us, UINT64_C(1700000000000000));
    // The script's threads share its clock: one that lost its processor ends its call at another's time.
    assert_in_range(s.n.last_dump_us, UINT64_C(1700000000000000) + 39 * 10000 + 1500,
                    UINT64_C(1700000000000000) + 39 * 10000 + 2500);
    assert_int_equal(s.f.severity, SEVERITY_UNKNOWN);
    assert_string_equal(s.f.verdict, "Nothing could be judged: 2560 calls were recorded without the time they took");
    assert_int_equal(s.f.count, 0);
    assert_true(s.f.unknown_count > 0);
    // Nor how many bytes they sent: that is no zero.
    pairs who;
    nccl_pairs(&who, &s.n);
    assert_true(who.unknown);
    pairs_free(&who);
    nccl_view v = {0};
    nccl_view_make(&v, &s.n, &s.f, NULL, NULL);
    assert_int_equal(v.matrices.count, 0);
    nccl_view_free(&v);
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_int_equal(nccl_export(&s.n, NCCL_PEERS_CSV, NULL, write_to, to), NETPROF_OK);
    fclose(to);
    assert_non_null(strstr(text, ",node00,1000,5,node01,1005,,0,0,")); // rank 0 to 5: bytes, sent and received steps
    free(text);
    said_free(&s);
}

// Replays of a graph repeat the sequence number: they are calls of their own all the same.
static void replays_of_a_graph(void **state)
{
    (void)state;
    nccl n = {0};
    netprof_error error;
    for (int rank = 0; rank < 2; rank++) {
        player p;
        player_pid = 100 + rank;
        player_init(&p, 5, player_table(5), 0x77, "dp", 2, 2, rank);
        for (uint64_t i = 0; i < 30; i++) {
            player_ns = 1000000000000 + (int64_t)i * 1000000;
            void *coll = player_coll(&p, "AllReduce", i < 10 ? i : 10, 64);
            player_stop(&p, coll);
            player_kernel(&p, coll, 0, 1000000 * (i + 1), 1000000 * (i + 1) + 500000);
        }
        player_finalize(&p);
    }
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, &error), NETPROF_OK);
    assert_int_equal(n.communicator_count, 1);
    assert_int_equal(n.instance_count, 30);
    assert_int_equal(n.communicators[0].complete, 30);
    assert_int_equal(n.conflicts + n.duplicates, 0);
    for (size_t i = 0; i < n.instance_count; i++)
        assert_int_equal(n.instances[i].min_us, 500);
    nccl_free(&n);
}

// A process is in two communicators: it has the name of its rank in the wider one in both.
static void one_name_for_a_rank(void **state)
{
    (void)state;
    nccl n = {0};
    for (int rank = 0; rank < 2; rank++) {
        player p[2];
        player_pid = 100 + rank;
        player_init(&p[0], 5, player_table(5), 0x77, "tp", 1, 2, rank);
        player_init(&p[1], 5, player_table(5), 0x78, "world", 2, 4, 2 + rank);
        for (int i = 0; i < 2; i++) {
            play_one(&p[i]);
            player_finalize(&p[i]);
        }
    }
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL), NETPROF_OK);
    assert_int_equal(n.member_count, 4);
    for (uint32_t i = 0; i < n.member_count; i++) {
        bool world = strcmp(n.communicators[n.members[i].communicator].label, "world") == 0;
        char expected[64], *name = nccl_finding_rank(&n, i);
        long long rank = n.members[i].rank + (world ? 0 : 2);
        snprintf(expected, sizeof expected, "rank %lld %s", rank, world ? "on host node0" : "of world, on host node0,");
        assert_string_equal(name, expected);
        free(name);
    }
    nccl_free(&n);
}

// Waits of a call's steps are its own: by collective, size and rank.
static void waits_by_collective(void **state)
{
    (void)state;
    static const struct {
        const char *func;
        size_t count;
        int64_t gpu, credit, wire, data, flush, consume; // ns of a step
    } calls[] = {{"AllReduce", 1000, 100000, 20000, 300000, 50000, 7000, 3000},
                 {"AllReduce", 1000, 200000, 10000, 100000, 30000, 1000, 5000},
                 {"AllGather", 64, 1000, 2000, 9000, 4000, 0, 6000}};
    nccl n = {0};
    nccl_waits w;
    for (int rank = 0; rank < 2; rank++) {
        player p;
        player_pid = 100 + rank;
        player_ns = 1000000000000;
        player_init(&p, 5, player_table(5), 0x77, "dp", 2, 2, rank);
        for (size_t i = 0; i < COUNT(calls); i++) {
            void *coll = player_coll(&p, calls[i].func, i, calls[i].count);
            void *send = player_op(&p, coll, !rank, true, 0), *get = player_op(&p, coll, !rank, false, 0);
            player_stop(&p, coll);
            player_step(&p, send, true, 512, calls[i].gpu * (1 + rank), calls[i].credit, calls[i].wire);
            player_step(&p, get, false, 256, calls[i].consume, calls[i].flush, calls[i].data);
            player_stop(&p, send);
            player_stop(&p, get);
        }
        player_finalize(&p);
    }
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL), NETPROF_OK);
    nccl_waits_make(&w, &n);
    assert_int_equal(w.count, 2);
    const nccl_waits_row *reduce = &w.items[0], *gather = &w.items[1];
    assert_string_equal(reduce->coll, "AllReduce");
    assert_int_equal(reduce->size, 4000);
    assert_int_equal(reduce->calls, 2);
    assert_int_equal(reduce->count, 2);
    assert_int_equal(reduce->sum.sent, 4);
    assert_int_equal(reduce->sum.sent_bytes, 4 * 512);
    assert_int_equal(reduce->sum.received_bytes, 4 * 256);
    assert_float_equal(reduce->sum.gpu_us, 300 + 600, 1e-6);
    assert_float_equal(reduce->sum.credit_us, 2 * 30, 1e-6);
    assert_float_equal(reduce->sum.wire_us, 2 * 400, 1e-6);
    assert_float_equal(reduce->sum.receive_us, 2 * 80, 1e-6);
    assert_float_equal(reduce->sum.flush_us, 2 * 8, 1e-6);
    assert_float_equal(reduce->sum.consume_us, 2 * 8, 1e-6);
    assert_string_equal(nccl_split_mostly(&reduce->sum), "own GPU"); // 900 of 1760
    assert_int_equal(n.members[reduce->longest].rank, 1);
    assert_float_equal(reduce->longest_us, (600 + 30 + 400) / 2.0, 1e-6);
    assert_float_equal(reduce->middle_us, ((600 + 430) / 2.0 + (300 + 430) / 2.0) / 2, 1e-6);
    nccl_split first = nccl_spent_split(&n, &n.spent[w.ranks[reduce->first]]);
    assert_string_equal(nccl_split_mostly(&first), "wire"); // 400 of 730
    assert_string_equal(gather->coll, "AllGather");
    assert_string_equal(nccl_split_mostly(&gather->sum), "wire"); // 18 of 25
    nccl_waits_free(&w);
    nccl_free(&n);
}

// A call that uses the network so long.
static void play_network(player *p, const char *func, uint64_t sn, int64_t from_ms, int64_t to_ms)
{
    bool p2p = strcmp(func, "Send") == 0;
    player_ns = 1000000000000 + from_ms * 1000000;
    void *call = p2p ? player_p2p(p, func, 1, 25) : player_coll(p, func, sn, 25), *op = player_op(p, call, 1, true, 0);
    player_stop(p, call);
    player_step(p, op, true, 700, 1000, 1000, 1000);
    player_ns = 1000000000000 + to_ms * 1000000;
    player_stop(p, op);
}

// What a NIC moved between two readings belongs to the call that was alone then; of two, to each by its time; while it was
// not read, to none.
static void calls_and_counters(void **state)
{
    (void)state;
    player p;
    nccl n = {0};
    for (int rank = 0; rank < 2; rank++) { // of one host: together they are one call
        player_pid = 100 + rank;
        player_ns = 1000000000000;
        player_init(&p, 5, player_table(5), 0x77, "dp", 2, 4, rank);
        play_network(&p, "AllReduce", 1, 20 + 10 * rank, 40 + 10 * rank);
        play_network(&p, "AllReduce", 2, 100, 120);
        if (!rank) play_network(&p, "Send", 0, 140, 200);
        play_network(&p, "AllReduce", 3, 220, 240);
        player_finalize(&p);
    }
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL), NETPROF_OK);
    series_step steps[] = {{0, 0.1, {1000, 2000}, false}, {0.1, 0.2, {4000, 8000}, false}, {0.2, 0.3, {1, 1}, true}};
    series_step others[] = {{0, 0.3, {1e9, 1e9}, false}};
    series_device devices[] = {{.chosen = true, .steps = steps, .count = 3}, {.steps = others, .count = 1}};
    series_run run = {.device_count = 2, .end_s = 0.3};
    const series s = {
        .begin_ns = 1000000000000, .end_s = 0.3, .runs = &run, .run_count = 1, .devices = devices, .device_count = 2};
    nccl_counters_host host = {.to_s = 0.3};
    const nccl_counters c = {&n, &s, &host, 1};
    nccl_overlap o;
    nccl_overlap_make(&o, &c);
    assert_int_equal(o.count, 2);
    const nccl_overlap_row *send = &o.items[0], *reduce = &o.items[1];
    assert_string_equal(send->coll, "Send"); // 60 of 80 ms of the second interval
    assert_int_equal(send->calls, 1);
    assert_int_equal(send->alone, 0);
    assert_float_equal(send->bytes[SERIES_IN], 400 * 0.75, 1e-3);
    assert_float_equal(send->bytes[SERIES_OUT], 800 * 0.75, 1e-3);
    assert_float_equal(send->share, 0.75, 1e-6);
    assert_float_equal(send->others, 1, 0);
    assert_float_equal(send->own_bytes[SERIES_OUT], 700, 0);
    assert_string_equal(reduce->coll, "AllReduce");
    assert_int_equal(reduce->calls, 2);
    assert_int_equal(reduce->alone, 1);
    assert_int_equal(reduce->unknown, 1);
    assert_float_equal(reduce->bytes[SERIES_OUT], 200 + 800 * 0.25, 1e-3);
    assert_float_equal(reduce->share, (1 + 0.25) / 2, 1e-6);
    assert_float_equal(reduce->own_bytes[SERIES_OUT], 2 * 3 * 700, 0);
    nccl_overlap_free(&o);
    nccl_free(&n);
}

// Where a rank first sends what it got from another, it does not begin when these data are ready.
static void calls_that_begin_with_others(void **state)
{
    static const struct {
        const char *func, *algo;
    } calls[] = {{"AllReduce", "RING"},
                 {"AllReduce", "TREE"},
                 {"Broadcast", "RING"},
                 {"ReduceScatter", "RING"},
                 {"Reduce", "RING"}};
    (void)state;
    nccl n = {0};
    netprof_error error;
    player p;
    setenv("NETPROF_NCCL", "step", 1);
    player_init(&p, 5, player_table(5), 0x77, "dp", 2, 2, 0);
    for (size_t i = 0; i < COUNT(calls); i++) {
        abi_event e = {.coll = {.func = calls[i].func, .algo = calls[i].algo, .count = 64, .datatype = "ncclInt8"}};
        void *coll = player_start(&p, EVENT_COLL, &e), *op = player_op(&p, coll, 1, true, 0);
        player_stop(&p, coll);
        player_step(&p, op, true, 64, 2000, 1000, 3000);
        player_stop(&p, op);
    }
    player_finalize(&p);
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, &error), NETPROF_OK);
    assert_int_equal(n.record_count, 2);
    assert_int_equal(n.untimed, 3);
    nccl_free(&n);
}

// One file behind the other is read as both.
static void files_put_together(void **state)
{
    (void)state;
    static char bytes[65536];
    char path[2][512];
    nccl n = {0};
    netprof_error error;
    for (int rank = 0; rank < 2; rank++) {
        player p;
        player_pid = 100 + rank;
        player_init(&p, 5, player_table(5), 0x77, "dp", 2, 4, rank);
        play_one(&p);
        player_finalize(&p);
        snprintf(path[rank], sizeof path[rank], "%s/netprof-nccl-node0-%d.netprof", directory, 100 + rank);
    }
    FILE *from = fopen(path[1], "r"), *to = fopen(path[0], "a");
    assert_true(from && to);
    size_t size = fread(bytes, 1, sizeof bytes, from);
    assert_true(size > 500 && size < sizeof bytes);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    fclose(from);
    fclose(to);
    unlink(path[1]);
    assert_int_equal(nccl_read(&n, (const char *const *)&directory, 1, NULL, &error), NETPROF_OK);
    assert_int_equal(n.file_count, 1);
    assert_int_equal(n.member_count, 2);
    assert_int_equal(n.record_count, 2);
    for (size_t i = 0; i < n.proxy_count; i++)
        assert_int_equal(n.proxies[i].operations, 1);
    nccl_free(&n);
}

// No more ranks than a job can have, whatever a file says.
static void ranks_beyond_belief(void **state)
{
    (void)state;
    static const int64_t one = 1, none = 0, many = INT64_C(1) << 40;
    const netprof_events_column columns[] = {
        {"comm", &one, NULL}, {"rank", &none, NULL}, {"ranks", &many, NULL}, {"nodes", &one, NULL}};
    const netprof_events row = {"nccl.comm", columns, COUNT(columns), 1};
    netprof_writer *w;
    nccl n = {0};
    assert_int_equal(netprof_writer_open(&w, tree_path(directory, "netprof-nccl-x.netprof"), 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_events(w, &row, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL);
    assert_int_equal(n.member_count, 0);
    assert_int_equal(n.outcomes[NCCL_BAD_VALUE], 1);
    nccl_free(&n);
}

// A million rows that are all the same take a few bytes: they are no calls, and no memory.
static void more_rows_than_bytes(void **state)
{
    (void)state;
    enum { MANY = NETPROF_EVENTS_MAX };
    static const int64_t one = 1, none = 0;
    static int64_t ones[MANY], ends[MANY];
    static const char *words[2][MANY];
    const netprof_events_column comms[] = {
        {"comm", &one, NULL}, {"rank", &none, NULL}, {"ranks", &one, NULL}, {"nodes", &one, NULL}};
    for (size_t i = 0; i < MANY; i++) {
        ones[i] = 1;
        words[0][i] = "p2p";
        words[1][i] = "Send";
    }
    const netprof_events_column calls[] = {
        {"comm", ones, NULL},     {"bytes", ones, NULL},      {"kernels", ones, NULL}, {"gpu_begin_ns", ones, NULL},
        {"kind", NULL, words[0]}, {"gpu_end_ns", ends, NULL}, {"func", NULL, words[1]}};
    for (size_t i = 0; i < MANY; i++)
        ends[i] = 5000;
    const netprof_events tables[] = {{"nccl.comm", comms, COUNT(comms), 1}, {"nccl.call", calls, COUNT(calls), MANY}};
    netprof_writer *w;
    nccl n = {0};
    assert_int_equal(netprof_writer_open(&w, tree_path(directory, "netprof-nccl-x.netprof"), 0, NULL), NETPROF_OK);
    for (size_t i = 0; i < COUNT(tables); i++)
        assert_int_equal(netprof_write_events(w, &tables[i], NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL);
    assert_int_equal(n.file_count, 1);
    assert_true(n.files[0].size < 1000);
    assert_int_equal(n.lines, 1);
    assert_int_equal(n.p2p_count, 0);
    assert_non_null(n.files[0].problem);
    assert_non_null(strstr(n.files[0].problem, "more rows than bytes"));
    nccl_free(&n);
}

// A serial number that is not the next is no communicator: calls would be of another.
static void communicators_out_of_order(void **state)
{
    (void)state;
    static const int64_t serials[] = {1, 3, 3, 2, 5}, ranks[] = {0, 0, 0, 0, 0}, sizes[] = {2, 2, 2, 2, 2};
    static const char *const ids[] = {"0xa", "0xb", "0xc", "0xd", "0xe"};
    const netprof_events_column columns[] = {{"comm", serials, NULL},
                                             {"id", NULL, ids},
                                             {"rank", ranks, NULL},
                                             {"ranks", sizes, NULL},
                                             {"nodes", sizes, NULL}};
    const netprof_events tables = {"nccl.comm", columns, COUNT(columns), COUNT(serials)};
    netprof_writer *w;
    nccl n = {0};
    assert_int_equal(netprof_writer_open(&w, tree_path(directory, "netprof-nccl-x.netprof"), 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_events(w, &tables, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL);
    assert_int_equal(n.outcomes[NCCL_BAD_VALUE], 2);
    assert_int_equal(n.communicator_count, 3);
    nccl_free(&n);
}

// A file that is cut anywhere is read up to there.
static void files_cut_anywhere(void **state)
{
    (void)state;
    char path[512];
    static char bytes[65536];
    player p;
    player_init(&p, 5, player_table(5), 0x77, "dp", 1, 2, 0);
    play_one(&p);
    player_finalize(&p);
    snprintf(path, sizeof path, "%s/netprof-nccl-node0-4711.netprof", directory);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    size_t size = fread(bytes, 1, sizeof bytes, from), used = 0;
    fclose(from);
    assert_true(size > 500 && size < sizeof bytes);
    for (size_t cut = 0; cut <= size; cut += 3) {
        nccl n = {0};
        FILE *to = fopen(path, "w");
        assert_int_equal(fwrite(bytes, 1, cut, to), cut);
        fclose(to);
        used += nccl_read(&n, (const char *const *)&directory, 1, NULL, NULL) == NETPROF_OK;
        if (n.file_count) assert_true(n.files[0].tail_cut || n.files[0].problem || cut == size);
        nccl_free(&n);
    }
    assert_true(used > 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_directory, end_directory)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interface),
        TEST(requests_by_device),
        TEST(directions_and_adapters),
        cmocka_unit_test(fields_that_an_interface_lacks),
        TEST(operations_begin_in_their_turn),
        cmocka_unit_test(descriptors_that_end),
        TEST(operations_of_rccl),
        cmocka_unit_test(hostile_callers),
        TEST(contexts_of_other_processes),
        TEST(kernels_after_the_network),
        TEST(exhausted_pools),
        TEST(parts_that_were_lost),
        TEST(names_of_files),
        TEST(many_threads),
        TEST(communicators_come_and_go),
        TEST(levels),
        TEST(control_file),
        TEST(a_directory_that_is_missing),
        TEST(a_disk_that_is_full),
        TEST(a_limit_of_bytes),
        TEST(a_child_leaves_the_file_alone),
        TEST(loaded_again_and_again),
        cmocka_unit_test(chained_plugins),
        TEST(a_chained_plugin_that_is_missing),
        TEST(a_plugin_that_is_chained_to_itself),
        cmocka_unit_test(faults_of_a_cluster),
        cmocka_unit_test(matrices_of_a_cluster),
        cmocka_unit_test(transfers_of_a_cluster),
        cmocka_unit_test(what_is_not_used_and_what_is_lost),
        cmocka_unit_test(adapters_that_are_there),
        cmocka_unit_test(a_healthy_cluster),
        TEST(calls_without_times),
        TEST(replays_of_a_graph),
        TEST(one_name_for_a_rank),
        TEST(waits_by_collective),
        TEST(calls_and_counters),
        TEST(calls_that_begin_with_others),
        TEST(files_put_together),
        TEST(ranks_beyond_belief),
        TEST(more_rows_than_bytes),
        TEST(communicators_out_of_order),
        TEST(files_cut_anywhere),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
