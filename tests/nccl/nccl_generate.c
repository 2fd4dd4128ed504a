#define _GNU_SOURCE
#include "nccl_generate.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

// ---- chance ----

static uint64_t state;

static double uniform(void) // (0, 1)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
    return -mean * log(uniform());
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

// ---- what is there ----

enum { CLASSES = 3, MOST_OPERATIONS = 5 };
typedef struct operation {
    const char *coll;
    uint64_t size;
} operation;

static const struct class_plan {
    double peak_gbs, latency_us;
    const char *name, *algo, *proto;
    operation operations[MOST_OPERATIONS];
} classes[CLASSES] = {
    {330,
     18,
     "TP",
     "NVLS",
     "SIMPLE",
     {{"AllGather", 65536},
      {"ReduceScatter", 65536},
      {"AllGather", 8 << 20},
      {"ReduceScatter", 8 << 20},
      {"AllReduce", 16 << 20}}},
    {46,
     30,
     "DP",
     "RING",
     "SIMPLE",
     {{"ReduceScatter", 4 << 20}, {"AllGather", 4 << 20}, {"ReduceScatter", 64 << 20}, {"AllGather", 64 << 20}}},
    {190, 55, "world", "TREE", "LL128", {{"AllReduce", 32768}, {"AllReduce", 256 << 20}, {"Broadcast", 1 << 20}}}};

typedef struct communicator {
    int type, count, nodes;
    int *members; // global ranks
    char id[20], name[32];
    uint64_t sn[4]; // by collective
} communicator;

// The batch of one rank and communicator, for versions with dump_stats.
typedef struct batch {
    char *text;
    size_t size, room;
    int records;
} batch;

typedef struct rank {
    FILE *file;
    char path[600];
    batch *batches; // by communicator
    uint64_t lines;
} rank;

typedef struct world {
    const nccl_generate_plan *plan;
    nccl_generate_truth *truth;
    communicator *comms;
    rank *ranks;
    int rank_count, comm_count;
    double now_us;
    uint64_t instance;
} world;

static const uint64_t EPOCH_US = UINT64_C(1749490000000000), INTERVAL_US = 500000;

static void add_comm(world *w, int type, int count, int nodes, const char *name, int number)
{
    communicator *c = &w->comms[w->comm_count++];
    *c = (communicator){.type = type, .count = 0, .nodes = nodes, .members = calloc((size_t)count, sizeof(int))};
    snprintf(c->id, sizeof c->id, "0x%llx", (unsigned long long)(uniform() * 72057594037927936.0));
    if (number >= 0)
        snprintf(c->name, sizeof c->name, "%s %d", name, number);
    else
        snprintf(c->name, sizeof c->name, "%s", name);
}

static communicator *last_comm(world *w)
{
    return &w->comms[w->comm_count - 1];
}

static void add_member(world *w, int node, int gpu)
{
    communicator *c = last_comm(w);
    c->members[c->count++] = node * w->plan->gpus + gpu;
}

static int rows_of(const nccl_generate_plan *p)
{
    return p->rows ? p->rows : p->side;
}

static void make_comms(world *w)
{
    int side = w->plan->side, rows = rows_of(w->plan), gpus = w->plan->gpus, nodes = rows * side, number = 0;
    w->comms = calloc((size_t)(nodes + (side + rows) * gpus + 1), sizeof *w->comms);
    for (int n = 0; n < nodes; n++) {
        add_comm(w, 0, gpus, 1, "TP", n);
        for (int g = 0; g < gpus; g++)
            add_member(w, n, g);
    }
    for (int line = 0; line < (side + rows) * gpus; line++) {
        bool column = line >= rows * gpus;
        int at = column ? (line - rows * gpus) / gpus : line / gpus, length = column ? rows : side;
        if (length < 2) continue;
        add_comm(w, 1, length, length, column ? "PP" : "DP", number++);
        for (int k = 0; k < length; k++)
            add_member(w, column ? k * side + at : at * side + k, line % gpus);
    }
    add_comm(w, 2, nodes * gpus, nodes, "world", -1);
    for (int r = 0; r < nodes * gpus; r++)
        add_member(w, r / gpus, r % gpus);
}

static void host_name(int node, char *text, size_t size)
{
    snprintf(text, size, "sim-%03d", node + 1);
}

static long pid_of(int r)
{
    return 400000 + r * 37L + 11;
}

static int open_files(world *w)
{
    char host[64];
    w->ranks = calloc((size_t)w->rank_count, sizeof *w->ranks);
    for (int r = 0; r < w->rank_count; r++) {
        rank *x = &w->ranks[r];
        host_name(r / w->plan->gpus, host, sizeof host);
        snprintf(x->path, sizeof x->path, "%s/%s-pid%ld.log", w->plan->directory, host, pid_of(r));
        x->file = fopen(x->path, "we");
        x->batches = calloc((size_t)w->comm_count, sizeof *x->batches);
        if (!x->file) return -1;
    }
    return 0;
}

// ---- lines ----

static int member_index(const communicator *c, int r)
{
    for (int i = 0; i < c->count; i++)
        if (c->members[i] == r) return i;
    return -1;
}

static int put_context(world *w, char *to, size_t size, const communicator *c, int index, int r, uint64_t dump_us)
{
    char host[64];
    host_name(r / w->plan->gpus, host, sizeof host);
    return snprintf(to, size,
                    "\"header\":{\"id\":\"%s\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},"
                    "\"metadata\":{\"inspector_output_format_version\":\"v4.%d\",\"git_rev\":\"9019a1912-dirty\","
                    "\"rec_mechanism\":\"nccl_profiler_interface\",\"dump_timestamp_us\":%llu,\"hostname\":\"%s\","
                    "\"pid\":%ld},",
                    c->id, c->name, index, c->count, c->nodes, w->plan->minor, (unsigned long long)dump_us, host,
                    pid_of(r));
}

static void write_batch(world *w, int r, int comm, uint64_t dump_us)
{
    batch *b = &w->ranks[r].batches[comm];
    const communicator *c = &w->comms[comm];
    char text[1024];
    if (!b->size) return;
    put_context(w, text, sizeof text, c, member_index(c, r), r, dump_us);
    fprintf(w->ranks[r].file,
            "{%s\"dump_stats\":{\"coll_records\":%d,\"coll_dropped_total\":0,\"coll_dropped_since_last_dump\":0,"
            "\"p2p_records\":0,\"p2p_dropped_total\":0,\"p2p_dropped_since_last_dump\":0}}\n",
            text, b->records);
    fwrite(b->text, 1, b->size, w->ranks[r].file);
    b->size = 0;
    b->records = 0;
}

static void put_line(world *w, int r, int comm, const char *text, size_t size)
{
    batch *b = &w->ranks[r].batches[comm];
    w->ranks[r].lines++;
    if (!w->plan->minor) {
        fwrite(text, 1, size, w->ranks[r].file);
        return;
    }
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->text = realloc(b->text, b->room);
    }
    memcpy(b->text + b->size, text, size);
    b->size += size;
    b->records++;
}

static double factor(const char *coll, int n)
{
    if (strcmp(coll, "AllReduce") == 0) return 2.0 * (n - 1) / n;
    return strcmp(coll, "Broadcast") == 0 ? 1 : (double)(n - 1) / n;
}

static double traffic(const operation *o, int n)
{
    return strcmp(o->coll, "AllGather") == 0 || strcmp(o->coll, "ReduceScatter") == 0 ? (double)o->size * n
                                                                                      : (double)o->size;
}

static void put_record(world *w, int comm, int index, const operation *o, uint64_t sn, uint64_t us, uint64_t end_us)
{
    const communicator *c = &w->comms[comm];
    int r = c->members[index], size;
    char text[2048], algo[80] = "";
    double alg = traffic(o, c->count) / 1e9 / ((double)us / 1e6);
    uint64_t dump_us = (end_us / INTERVAL_US + 1) * INTERVAL_US + w->ranks[r].lines % 997;
    bool bare = w->plan->minor >= 3;
    if (w->plan->minor >= 2)
        snprintf(algo, sizeof algo, "\"coll_algo\":\"%s\",\"coll_proto\":\"%s\",", classes[c->type].algo,
                 classes[c->type].proto);
    size = snprintf(text, sizeof text, "{");
    if (!bare) size += put_context(w, text + size, sizeof text - (size_t)size, c, index, r, dump_us);
    size += snprintf(text + size, sizeof text - (size_t)size,
                     "\"coll_perf\":{\"coll\":\"%s\",%s\"coll_sn\":%llu,\"coll_msg_size_bytes\":%llu,\"coll_exec_"
                     "time_us\":%llu,"
                     "\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":%.6f,\"coll_busbw_gbs\":%.6f}}\n",
                     o->coll, algo, (unsigned long long)sn, (unsigned long long)o->size, (unsigned long long)us, alg,
                     alg * factor(o->coll, c->count));
    put_line(w, r, comm, text, (size_t)size);
}

// ---- records of the proxy threads ----

enum { STEPS = 4 };

// Where a step's time goes; a receiver: waiting for the data, flush, GPU.
typedef struct step_times {
    double gpu, credit, wire, flush, consume;
} step_times;

static double around(double mean)
{
    return mean * exp(0.1 * normal());
}

static step_times make_step(const nccl_generate_plan *p, int from, int to)
{
    double factor = p->peer_factor > 0 ? p->peer_factor : 3;
    bool sender = p->slow_sender == from + 1, receiver = p->slow_receiver == to + 1;
    bool slow = p->slow_sender && p->slow_receiver ? sender && receiver : sender || receiver;
    int node = p->slow_node - 1;
    bool slow_node = p->slow_node && (from / p->gpus == node || to / p->gpus == node);
    return (step_times){.gpu = around(20) * (p->slow_gpu == from + 1 ? factor : 1),
                        .credit = around(8) * (p->slow_credit == to + 1 ? factor : 1),
                        .wire = around(40) * (slow        ? factor
                                              : slow_node ? p->slow_factor
                                                          : 1),
                        .flush = around(6) * (p->slow_flush == to + 1 ? factor : 1),
                        .consume = around(10)};
}

static int put_step(const nccl_generate_plan *p, char *to, size_t size, bool sends, const step_times *t, uint64_t at)
{
    uint64_t phases[3] = {(uint64_t)(sends ? t->gpu : t->gpu + t->credit + t->wire),
                          (uint64_t)(sends ? t->credit : t->flush), (uint64_t)(sends ? t->wire : t->consume)};
    int used = snprintf(to, size, "\"trans_size_bytes\":%d", 1 << 19);
    if (p->proxy < 3)
        return used +
               snprintf(to + used, size - (size_t)used,
                        sends ? ",\"total_us\":%llu,\"gpu_produce_us\":%llu,\"peer_credit_us\":%llu,\"wire_us\":%llu"
                              : ",\"total_us\":%llu,\"wire_us\":%llu,\"flush_us\":%llu,\"gpu_consume_us\":%llu",
                        (unsigned long long)(phases[0] + phases[1] + phases[2] + 1), (unsigned long long)phases[0],
                        (unsigned long long)phases[1], (unsigned long long)phases[2]);
    static const char *const names[2][3] = {{"recv_wait", "recv_flush_wait", "recv_gpu_wait"},
                                            {"send_gpu_wait", "send_peer_wait", "send_wait"}};
    used += snprintf(to + used, size - (size_t)used, ",\"event_trace_ts\":{\"proxy_step_start_ts\":%llu",
                     (unsigned long long)at);
    for (int i = 0; i < 3; i++) {
        used += snprintf(to + used, size - (size_t)used, ",\"%s_ts\":%llu", names[sends][i], (unsigned long long)at);
        at += phases[i];
    }
    return used + snprintf(to + used, size - (size_t)used, ",\"proxy_step_stop_ts\":%llu}", (unsigned long long)at);
}

// One operation of a proxy: what rank r sent to, or received from, its peer in one call.
static void put_proxy(world *w, int comm, int index, int peer, bool sends, const step_times *steps, uint64_t sn,
                      uint64_t at)
{
    const nccl_generate_plan *p = w->plan;
    int r = w->comms[comm].members[index], size;
    char text[4096], head[400];
    snprintf(head, sizeof head,
             "\"parent_type\":\"coll\",\"parent_sn\":%llu,\"proxy_op_sn\":%llu,\"channel_id\":0,\"peer\":%d,"
             "\"direction\":\"%s\"",
             (unsigned long long)sn, (unsigned long long)w->truth->instances, peer, sends ? "send" : "recv");
    for (int i = 0; i < STEPS && p->proxy > 1; i++) {
        size = snprintf(text, sizeof text, "{\"proxy_trace\":{\"record_type\":\"proxy_step\",%s,\"step\":%d,", head, i);
        size += put_step(p, text + size, sizeof text - (size_t)size, sends, &steps[i], at);
        size += snprintf(text + size, sizeof text - (size_t)size, "}}\n");
        put_line(w, r, comm, text, (size_t)size);
        w->ranks[r].batches[comm].records--; // of collectives
    }
    size = snprintf(text, sizeof text,
                    "{\"proxy_trace\":{\"record_type\":\"proxy_op\",%s,\"rank\":%d,\"n_steps_completed\":%d,"
                    "\"n_steps_dropped\":0,\"trans_size_bytes\":%d,\"total_us\":%d",
                    head, index, STEPS, STEPS << 19, 400);
    if (p->proxy == 1) size += snprintf(text + size, sizeof text - (size_t)size, ",\"is_final\":true,\"steps\":[");
    for (int i = 0; i < STEPS && p->proxy == 1; i++) {
        size += snprintf(text + size, sizeof text - (size_t)size, "%s{\"step\":%d,", i ? "," : "", i);
        size += put_step(p, text + size, sizeof text - (size_t)size, sends, &steps[i], at);
        size += snprintf(text + size, sizeof text - (size_t)size, "}");
    }
    size += snprintf(text + size, sizeof text - (size_t)size, "%s}}\n", p->proxy == 1 ? "]" : "");
    put_line(w, r, comm, text, (size_t)size);
    w->ranks[r].batches[comm].records--;
}

// A ring; within a node no proxy is needed.
static void put_proxies(world *w, int comm, uint64_t sn, uint64_t at)
{
    const communicator *c = &w->comms[comm];
    for (int i = 0; c->nodes > 1 && i < c->count; i++) {
        step_times steps[STEPS];
        int next = (i + 1) % c->count, from = c->members[i], to = c->members[next];
        if (from / w->plan->gpus == to / w->plan->gpus) continue;
        for (int k = 0; k < STEPS; k++)
            steps[k] = make_step(w->plan, from, to);
        put_proxy(w, comm, i, next, true, steps, sn, at);
        put_proxy(w, comm, next, i, false, steps, sn, at);
    }
}

// ---- time ----

static bool has_node(const world *w, const communicator *c, int node)
{
    for (int i = 0; i < c->count; i++)
        if (c->members[i] / w->plan->gpus == node) return true;
    return false;
}

static double wire_time(const world *w, const communicator *c, const operation *o)
{
    const struct class_plan *p = &classes[c->type];
    double peak = p->peak_gbs, wire;
    if (c->nodes > 1 && w->plan->slow_node && has_node(w, c, w->plan->slow_node - 1)) peak /= w->plan->slow_factor;
    wire = p->latency_us + traffic(o, c->count) * factor(o->coll, c->count) / (peak * 1e3) * exp(0.06 * normal());
    return uniform() < 0.004 ? wire * (2 + 4 * uniform()) : wire; // others' traffic
}

static double arrival(const world *w, int r, int unlucky)
{
    const nccl_generate_plan *p = w->plan;
    double run = (double)w->truth->records / (double)p->records, at = exponential(p->spread_us > 0 ? p->spread_us : 12);
    if (p->early_rank && p->early_rank != r + 1 && run >= p->late_from) at += p->late_us;
    if (p->late_rank == r + 1 && run >= p->late_from) at += p->late_us;
    if (p->late_node && r == (p->late_node - 1) * p->gpus + unlucky) at += p->late_us;
    return at;
}

// Each kind of collective is counted by itself.
static uint64_t *sn_of(communicator *c, const char *coll)
{
    static const char *const colls[] = {"AllGather", "ReduceScatter", "AllReduce"};
    size_t i = 0;
    while (i < 3 && strcmp(coll, colls[i]) != 0)
        i++;
    return &c->sn[i];
}

static void one_call(world *w, int comm, const operation *o)
{
    communicator *c = &w->comms[comm];
    double at[4096], last = 0, wire = wire_time(w, c, o);
    uint64_t sn = (*sn_of(c, o->coll))++;
    int unlucky = (int)(uniform() * w->plan->gpus);
    for (int i = 0; i < c->count; i++) {
        at[i] = c->count > 1 ? arrival(w, c->members[i], unlucky) : 0;
        last = at[i] > last ? at[i] : last;
    }
    uint64_t end = EPOCH_US + (uint64_t)(w->now_us + last + wire);
    for (int i = 0; i < c->count; i++) {
        uint64_t us = (uint64_t)(last - at[i] + wire);
        w->truth->records++;
        if (w->plan->drop > 0 && uniform() < w->plan->drop) {
            w->truth->dropped++;
            w->truth->missed += c->count > 1;
            continue;
        }
        put_record(w, comm, i, o, sn, us ? us : 1, end);
    }
    if (w->plan->proxy && w->plan->minor >= 3) put_proxies(w, comm, sn, end);
    w->truth->instances++;
    w->now_us += last + wire + 20 + 380 * uniform();
}

static void write_batches(world *w)
{
    uint64_t now = EPOCH_US + (uint64_t)w->now_us;
    for (int r = 0; r < w->rank_count && w->plan->minor; r++)
        for (int c = 0; c < w->comm_count; c++)
            write_batch(w, r, c, now);
}

static void run(world *w)
{
    double next_dump = (double)INTERVAL_US;
    while (w->truth->records < w->plan->records)
        for (int type = 0; type < CLASSES; type++)
            for (int k = 0; k < MOST_OPERATIONS && classes[type].operations[k].coll; k++)
                for (int c = 0; c < w->comm_count; c++) {
                    if (w->comms[c].type != type || w->comms[c].count < 2 || w->truth->records >= w->plan->records)
                        continue;
                    one_call(w, c, &classes[type].operations[k]);
                    if (w->now_us < next_dump) continue;
                    write_batches(w);
                    next_dump += (double)INTERVAL_US;
                }
    write_batches(w);
}

// ---- damage, packing ----

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "re");
    char *text;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    text = malloc(*size + 1);
    if (fread(text, 1, *size, f) != *size) *size = 0;
    text[*size] = 0;
    fclose(f);
    return text;
}

static int write_file(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "we");
    if (!f) return -1;
    size_t written = fwrite(text, 1, size, f);
    return fclose(f) || written != size ? -1 : 0;
}

static char *insert_line(char *text, size_t *size, const char *line)
{
    size_t at = (size_t)(uniform() * (double)*size), length = strlen(line);
    while (at && text[at - 1] != '\n')
        at--;
    char *longer = malloc(*size + length + 1);
    memcpy(longer, text, at);
    memcpy(longer + at, line, length);
    memcpy(longer + at + length, text + at, *size - at);
    free(text);
    *size += length;
    return longer;
}

static char *pack_gzip(const char *text, size_t *size)
{
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size_t room = deflateBound(&z, *size);
    char *packed = malloc(room);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)*size;
    z.next_out = (unsigned char *)packed;
    z.avail_out = (unsigned)room;
    deflate(&z, Z_FINISH);
    *size = z.total_out;
    deflateEnd(&z);
    return packed;
}

static char *pack_zstd(const char *text, size_t *size)
{
    size_t room = ZSTD_compressBound(*size);
    char *packed = malloc(room);
    *size = ZSTD_compress(packed, room, text, *size, 3);
    return packed;
}

static int finish_file(world *w, int r, int corrupt)
{
    static const char *const nonsense[] = {"{\"header\":{\"id\":\"0xdead\",\"rank\":\n",
                                           "sim NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n", "{\"header\": {}\n",
                                           "\xff\xfe no text\n"};
    const nccl_generate_plan *p = w->plan;
    rank *x = &w->ranks[r];
    size_t size;
    char *text = read_file(x->path, &size), *packed = NULL;
    if (!text) return -1;
    for (int i = 0; i < corrupt; i++)
        text = insert_line(text, &size, nonsense[(size_t)(uniform() * 4)]);
    if (r < p->cut_tails && size > 100) size -= 20 + (size_t)(70 * uniform());
    w->truth->bytes += size;
    if (*p->packing) {
        unlink(x->path);
        strncat(x->path, p->packing, sizeof x->path - strlen(x->path) - 1);
        packed = strcmp(p->packing, ".gz") == 0 ? pack_gzip(text, &size) : pack_zstd(text, &size);
        if (r < p->cut_packed) size -= size / 20 > 20 ? size / 20 : 20;
    }
    int failed = write_file(x->path, packed ? packed : text, size);
    free(text);
    free(packed);
    return failed;
}

static int finish(world *w)
{
    const nccl_generate_plan *p = w->plan;
    int failed = 0;
    bool rewrite = *p->packing || p->corrupt || p->cut_tails;
    for (int r = 0; r < w->rank_count; r++) {
        w->truth->bytes += rewrite || !w->ranks[r].file ? 0 : (uint64_t)ftell(w->ranks[r].file);
        if (w->ranks[r].file && fclose(w->ranks[r].file)) failed = -1;
        int corrupt = p->corrupt / w->rank_count + (r < p->corrupt % w->rank_count);
        w->truth->corrupt += (uint64_t)corrupt;
        if (rewrite && !failed) failed = finish_file(w, r, corrupt);
        for (int c = 0; c < w->comm_count; c++)
            free(w->ranks[r].batches[c].text);
        free(w->ranks[r].batches);
    }
    for (int c = 0; c < w->comm_count; c++)
        free(w->comms[c].members);
    free(w->comms);
    free(w->ranks);
    return failed;
}

int nccl_generate(const nccl_generate_plan *plan, nccl_generate_truth *truth)
{
    nccl_generate_plan p = *plan;
    world w = {.plan = &p, .truth = truth, .rank_count = rows_of(plan) * plan->side * plan->gpus};
    memset(truth, 0, sizeof *truth);
    if (!p.packing) p.packing = "";
    if (w.rank_count < 1 || w.rank_count > 4096) {
        errno = EINVAL;
        return -1;
    }
    state = (p.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        uniform();
    truth->ranks = truth->files = w.rank_count;
    if (p.late_rank) {
        host_name((p.late_rank - 1) / p.gpus, truth->late_host, sizeof truth->late_host);
        truth->late_pid = pid_of(p.late_rank - 1);
    } else if (p.late_node) {
        host_name(p.late_node - 1, truth->late_host, sizeof truth->late_host);
    }
    make_comms(&w);
    int failed = open_files(&w);
    if (!failed) run(&w);
    return finish(&w) || failed ? -1 : 0;
}
