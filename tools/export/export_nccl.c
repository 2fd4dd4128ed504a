// NCCL's calls over time, for formats that show it: from files of netprof's profiler plugin, and from logs of the
// Inspector. Files of the plugin tell of each call when its operations on the network ran, by the host's clock, or how
// long its kernels ran, by the GPU's. Logs of the Inspector tell when a call ran only where NCCL was asked to be verbose;
// of others it is known when their line was written, and nothing else: they are instants.
#include "export.h"
#include "export_nccl.h"
#include "analysis/base/index_map.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"
#include "analysis/nccl/logs/nccl_recorded.h"
#include "cli/nccl_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NCCLX_NOTES = 11 };

// One call of one rank.
typedef struct ncclx_call {
    size_t host, lane; // in ncclx.texts
    const char *func, *algo, *proto, *timing;
    int64_t rank, peer, begin_ns, end_ns; // peer: of point to point; -1: a collective
    uint64_t sn, bytes;
    double first_data_us, gpu_us, time_us, bus_gbs; // NAN: not known
    bool instant, by_gpu;                           // by_gpu: times are the GPU's
} ncclx_call;

typedef struct ncclx {
    export_sink *to;
    size_t host;       // of the file at hand
    ncclx_call *calls; // arrays of stb_ds
    char **texts;
    index_map *text_of;
} ncclx;

// ---- what was gathered ----

static size_t ncclx_keep(ncclx *x, const char *text)
{
    size_t next = arrlenu(x->texts), found = index_map_put(&x->text_of, map_key_of_name(0, text), next);
    if (found == next) arrput(x->texts, memory_strdup(text));
    return found;
}

static const char *ncclx_text(ncclx *x, const char *text)
{
    size_t at = ncclx_keep(x, text); // which may move the texts
    return x->texts[at];
}

// Takes the name.
static size_t ncclx_lane(ncclx *x, char *name)
{
    size_t lane = ncclx_keep(x, name);
    free(name);
    return lane;
}

static int ncclx_by_time(const void *a, const void *b)
{
    const ncclx_call *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->sn > y->sn) - (x->sn < y->sn);
}

static void ncclx_put(const ncclx *x, const ncclx_call *c)
{
    const export_note all[NCCLX_NOTES] = {{"rank", EXPORT_I64, cell_i64(c->rank)},
                                          {"peer", EXPORT_I64, c->peer < 0 ? cell_none() : cell_i64(c->peer)},
                                          {"sequence_number", EXPORT_U64, cell_u64(c->sn)},
                                          {"bytes", EXPORT_U64, cell_u64(c->bytes)},
                                          {"algorithm", EXPORT_TEXT, cell_text(c->algo)},
                                          {"protocol", EXPORT_TEXT, cell_text(c->proto)},
                                          {"time_us", EXPORT_F64, cell_f64(c->time_us)},
                                          {"timing", EXPORT_TEXT, cell_text(c->timing)},
                                          {"bus_gb_per_s", EXPORT_F64, cell_f64(c->bus_gbs)},
                                          {"first_data_us", EXPORT_F64, cell_f64(c->first_data_us)},
                                          {"gpu_us", EXPORT_F64, cell_f64(c->gpu_us)}};
    char *name = memory_format("%s %s", c->func, words_binary((double)c->bytes).text);
    export_put_span(x->to, &(export_span){.node = x->texts[c->host],
                                          .lane = x->texts[c->lane],
                                          .name = name,
                                          .kind = c->peer < 0 ? "NCCL collective" : "NCCL point to point",
                                          .begin_ns = c->begin_ns,
                                          .end_ns = c->end_ns,
                                          .host_clock = true,
                                          .instant = c->instant,
                                          .notes = all,
                                          .note_count = NCCLX_NOTES});
    free(name);
}

// In the order of time, lane after lane.
static void ncclx_flush(ncclx *x)
{
    if (x->calls) qsort(x->calls, arrlenu(x->calls), sizeof *x->calls, ncclx_by_time);
    for (size_t i = 0; i < arrlenu(x->calls) && !export_failed(x->to); i++)
        ncclx_put(x, &x->calls[i]);
    arrsetlen(x->calls, 0);
}

static void ncclx_free(ncclx *x)
{
    for (size_t i = 0; i < arrlenu(x->texts); i++)
        free(x->texts[i]);
    arrfree(x->texts);
    hmfree(x->text_of);
    arrfree(x->calls);
}

// ---- files of the plugin ----

typedef struct ncclx_comm {
    int64_t serial, rank;
    const char *name;
} ncclx_comm;

typedef struct ncclx_rows {
    const netprof_events *e;
    size_t row;
} ncclx_rows;

static const netprof_events_column *ncclx_column(const ncclx_rows *t, const char *name)
{
    for (size_t i = 0; i < t->e->column_count; i++)
        if (strcmp(t->e->columns[i].name, name) == 0) return &t->e->columns[i];
    return NULL;
}

static int64_t ncclx_number(const ncclx_rows *t, const char *name)
{
    const netprof_events_column *c = ncclx_column(t, name);
    return c && c->numbers ? c->numbers[t->row] : 0;
}

static const char *ncclx_word(const ncclx_rows *t, const char *name)
{
    const netprof_events_column *c = ncclx_column(t, name);
    return c && c->texts ? c->texts[t->row] : "";
}

static double ncclx_us(int64_t from_ns, int64_t to_ns)
{
    return from_ns > 0 && to_ns >= from_ns ? (double)(to_ns - from_ns) * 1e-3 : NAN;
}

// When it ran: its operations on the network; else its kernels; else nobody knows, but when it was enqueued.
static void ncclx_place(ncclx_call *c, const ncclx_rows *t)
{
    int64_t first = ncclx_number(t, "first_ns"), last = ncclx_number(t, "last_ns"),
            gpu_begin = ncclx_number(t, "gpu_begin_ns"), gpu_end = ncclx_number(t, "gpu_end_ns");
    bool network = first > 0 && last > first, kernels = gpu_begin > 0 && gpu_end > gpu_begin;
    c->first_data_us = network ? ncclx_us(first, ncclx_number(t, "ready_ns")) : NAN;
    c->gpu_us = kernels ? ncclx_us(gpu_begin, gpu_end) : NAN;
    c->by_gpu = !network && kernels;
    c->instant = !network && !kernels;
    c->begin_ns = network ? first : kernels ? gpu_begin : ncclx_number(t, "enqueue_ns");
    c->end_ns = network ? last : kernels ? gpu_end : c->begin_ns;
}

static void ncclx_take_call(ncclx *x, const ncclx_comm *comms, const ncclx_rows *t)
{
    int64_t serial = ncclx_number(t, "comm"), bytes = ncclx_number(t, "bytes");
    const ncclx_comm *of = NULL;
    for (size_t i = arrlenu(comms); i-- > 0 && !of;)
        if (comms[i].serial == serial) of = &comms[i];
    ncclx_call c = {.host = x->host,
                    .func = ncclx_text(x, ncclx_word(t, "func")),
                    .algo = ncclx_text(x, ncclx_word(t, "algo")),
                    .proto = ncclx_text(x, ncclx_word(t, "proto")),
                    .rank = of ? of->rank : 0,
                    .peer = strcmp(ncclx_word(t, "kind"), "p2p") == 0 ? ncclx_number(t, "peer") : -1,
                    .sn = (uint64_t)ncclx_number(t, "sn"),
                    .bytes = bytes > 0 ? (uint64_t)bytes : 0,
                    .time_us = NAN,
                    .bus_gbs = NAN};
    if (!of) return;
    ncclx_place(&c, t);
    c.lane = ncclx_lane(x, memory_format("NCCL %s rank %lld%s", of->name, (long long)of->rank,
                                         c.by_gpu    ? ": kernels (by the GPU's clock, as early as they fit)"
                                         : c.instant ? ": enqueued (when it ran is not known)"
                                                     : ""));
    if (c.begin_ns > 0) arrput(x->calls, c);
}

static void ncclx_take_comm(ncclx *x, ncclx_comm **comms, const ncclx_rows *t)
{
    const char *name = ncclx_word(t, "name"), *id = ncclx_word(t, "id");
    ncclx_comm c = {ncclx_number(t, "comm"), ncclx_number(t, "rank"), ncclx_text(x, *name ? name : id)};
    arrput(*comms, c);
}

// Where the GPU's clock begins nobody knows; but no kernel began before its call was enqueued. All are moved by as much
// as puts the first of them, against its enqueueing, there.
static void ncclx_move_kernels(ncclx *x, const int64_t *enqueued_ns)
{
    int64_t by_ns = 0;
    bool any = false;
    for (size_t i = 0; i < arrlenu(x->calls); i++) {
        int64_t later_ns; // neither is below 0
        if (!x->calls[i].by_gpu || enqueued_ns[i] <= 0) continue;
        later_ns = enqueued_ns[i] - x->calls[i].begin_ns;
        by_ns = any && later_ns <= by_ns ? by_ns : later_ns;
        any = true;
    }
    for (size_t i = 0; i < arrlenu(x->calls); i++) {
        ncclx_call *c = &x->calls[i];
        if (!c->by_gpu) continue;
        // It is enqueued_ns[i] or later; only damaged files hold what has no sum.
        if (__builtin_add_overflow(c->begin_ns, by_ns, &c->begin_ns)) c->begin_ns = INT64_MAX;
        if (__builtin_add_overflow(c->end_ns, by_ns, &c->end_ns)) c->end_ns = c->begin_ns;
    }
}

typedef struct ncclx_file {
    ncclx_comm *comms;
    int64_t *enqueued_ns; // beside the calls
} ncclx_file;

static void ncclx_take_events(ncclx *x, ncclx_file *f, const netprof_events *e)
{
    bool call = strcmp(e->kind, "nccl.call") == 0, comm = strcmp(e->kind, "nccl.comm") == 0;
    for (ncclx_rows t = {e, 0}; (call || comm) && t.row < e->count; t.row++) {
        if (comm) ncclx_take_comm(x, &f->comms, &t);
        if (call) ncclx_take_call(x, f->comms, &t);
        while (arrlenu(f->enqueued_ns) < arrlenu(x->calls))
            arrput(f->enqueued_ns, ncclx_number(&t, "enqueue_ns"));
    }
}

// Of one process; another's may follow, in files that were put together.
static void ncclx_file_end(ncclx *x, ncclx_file *f)
{
    ncclx_move_kernels(x, f->enqueued_ns);
    ncclx_flush(x);
    arrfree(f->comms);
    arrfree(f->enqueued_ns);
}

static int ncclx_read_recorded(ncclx *x, const char *path)
{
    netprof_reader *r = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_error error;
    ncclx_file f = {NULL, NULL};
    netprof_err err = netprof_reader_open(&r, path, NULL, &error);
    if (err) return fail_error(path, &error);
    netprof_reader_pass(r, UINT64_MAX); // its snapshots were read
    x->host = ncclx_keep(x, "");
    while (!err && item.type != NETPROF_ITEM_END && !export_failed(x->to)) {
        err = netprof_reader_next(r, &item, &error);
        if (err) break;
        if (item.type == NETPROF_ITEM_FILE) ncclx_file_end(x, &f);
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "host") == 0)
            x->host = ncclx_keep(x, item.fact->value);
        if (item.type == NETPROF_ITEM_EVENTS) ncclx_take_events(x, &f, item.events);
    }
    ncclx_file_end(x, &f);
    netprof_reader_close(r);
    return err ? fail_error(path, &error) : EXIT_DONE;
}

// ---- logs of the Inspector ----

static void ncclx_take_record(ncclx *x, const nccl *n, const nccl_instance *call, const nccl_record *r)
{
    const nccl_series *s = &n->series[call->series];
    const nccl_communicator *comm = &n->communicators[s->communicator];
    const nccl_member *m = &n->members[nccl_record_member(n, r)];
    const nccl_what *what = nccl_record_what(n, r);
    const nccl_trace none = {0}, *t = r->trace ? &n->traces[r->trace - 1] : &none;
    bool kernels = t->kernel_start_us && t->kernel_stop_us > t->kernel_start_us;
    uint64_t begin = kernels ? t->kernel_start_us : t->start_us, end = kernels ? t->kernel_stop_us : t->stop_us;
    bool placed = begin && end > begin && end < INT64_MAX / 1000;
    if (!placed) begin = end = r->dump_us < INT64_MAX / 1000 ? r->dump_us : 0;
    ncclx_call c = {.host = ncclx_keep(x, n->hosts[n->processes[m->process].host].name),
                    .func = what->coll,
                    .algo = what->algo,
                    .proto = what->proto,
                    .timing = what->timing,
                    .rank = m->rank,
                    .peer = -1,
                    .sn = r->sn,
                    .bytes = s->size,
                    .begin_ns = (int64_t)begin * 1000,
                    .end_ns = (int64_t)end * 1000,
                    .first_data_us = NAN,
                    .gpu_us = NAN,
                    .time_us = (double)r->time_us,
                    .bus_gbs = r->bus_gbs,
                    .instant = !placed};
    c.lane = ncclx_lane(x, memory_format("NCCL %s rank %lld%s", comm->label, (long long)m->rank,
                                         placed ? "" : ": written (when it ran was not logged)"));
    if (begin) arrput(x->calls, c);
}

static int ncclx_read_logs(ncclx *x, const char **paths, size_t count)
{
    nccl n = {0};
    int code = nccl_logs_read(&n, paths, count, &(nccl_reading){.quiet = true});
    for (size_t i = 0; i < n.instance_count && !code; i++)
        for (uint32_t k = 0; k < n.instances[i].count; k++)
            ncclx_take_record(x, &n, &n.instances[i], &n.records[n.instances[i].first + k]);
    ncclx_flush(x);
    if (!code && n.p2p_count)
        warn("%s: the Inspector's point to point calls are summed up, which have no place in time", safe(paths[0]));
    nccl_free(&n);
    return code;
}

// ---- all ----

bool export_nccl_is_log(const char *path)
{
    struct stat st; // what comes by a pipe is not looked into: it could not be read again
    bool lies = stat(path, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
    return lies && !nccl_recorded_recognise(path) && nccl_recognise(path);
}

int export_nccl(export_sink *sink, const char **recorded, size_t recorded_count, const char **logs, size_t log_count)
{
    ncclx x = {.to = sink};
    int code = EXIT_DONE;
    for (size_t i = 0; i < recorded_count && !code && !export_failed(sink); i++)
        code = ncclx_read_recorded(&x, recorded[i]);
    if (!code && log_count && !export_failed(sink)) code = ncclx_read_logs(&x, logs, log_count);
    ncclx_free(&x);
    return code;
}
