// Chrome's trace JSON (Trace Event Format), which Perfetto and chrome://tracing open: counters over time, findings and
// gaps, a process of the trace for each node. Every row is written as it comes; what is kept is a few bytes for each
// counter of the run at hand.
//
// A rate stands at the begin of its interval, since viewers draw a value until the next one. What is not known has no
// point, and its gap begins with an instant that says why.
#define _GNU_SOURCE // fopencookie
#include "export/export.h"
#include "sink_text.h"
#include "analysis/base/index_map.h"
#include "analysis/base/json_text.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/data/clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { THREAD_RECORDINGS, THREAD_FINDINGS, THREAD_GAPS, THREADS };

typedef struct perfetto_process {
    char *name;
    uint64_t id, threads[THREADS]; // 0: not there yet
} perfetto_process;

typedef struct perfetto_run {
    char *path, *host, *node;
    int64_t begin_ns, end_ns;
    uint64_t sampled_pid; // of a file in which a process sampled its own regions; 0: of none
    size_t process;       // INDEX_NONE: nothing of it was written yet
} perfetto_run;

typedef struct perfetto_track {
    bool wanted, gap;
} perfetto_track;

typedef struct perfetto_state {
    export_sink *sink;
    FILE *to;
    bool any;                    // event
    uint64_t last_id;            // of processes and threads: no two share one
    int64_t zero_ns;             // where the time stamps begin; 0: not chosen yet
    clocks clocks;               // of the runs, by number
    perfetto_process *processes; // arrays of stb_ds, as what follows
    index_map *process_of;       // name -> index
    index_map *thread_of;        // of a process's index and a lane's name -> index
    struct perfetto_thread {
        uint64_t id;
        int64_t end_ns;
    } * threads;            // of lanes: where the last of each ended
    perfetto_run *runs;     // by number - 1
    perfetto_track *tracks; // of the last run
    index_map *track_of;
    struct perfetto_lane {
        uint64_t thread;
        double end_s;
    } * lanes; // of what was found in the job: what overlaps cannot be on one thread
} perfetto_state;

// ---- gzip ----

static ssize_t perfetto_gzip_write(void *cookie, const char *bytes, size_t size)
{
    return gzwrite(cookie, bytes, size < 1 << 20 ? (unsigned)size : 1 << 20);
}

static int perfetto_gzip_close(void *cookie)
{
    return gzclose(cookie) == Z_OK ? 0 : -1;
}

static FILE *perfetto_gzip_open(const char *path)
{
    gzFile file = gzopen(path, "wbe");
    if (!file) return NULL;
    FILE *to =
        fopencookie(file, "w", (cookie_io_functions_t){.write = perfetto_gzip_write, .close = perfetto_gzip_close});
    if (!to) gzclose(file);
    return to;
}

// ---- time ----

#define PERFETTO_HOUR_NS (INT64_C(3600) * 1000000000)

// Readers keep time stamps as doubles, in which ns since 1970 are not exact: they count from a midnight (UTC) at least an
// hour before the first.
static void perfetto_set_zero(perfetto_state *p, int64_t first_ns)
{
    const int64_t day_ns = 24 * PERFETTO_HOUR_NS;
    if (p->zero_ns || first_ns < 2 * day_ns) return;
    p->zero_ns = (first_ns - PERFETTO_HOUR_NS) / day_ns * day_ns;
}

static int64_t perfetto_place(const perfetto_state *p, uint64_t run, int64_t ns)
{
    return run && run <= p->clocks.count ? clocks_place(&p->clocks, run - 1, ns) : ns;
}

// ns as microseconds, exact.
static void perfetto_put_us(FILE *to, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    fprintf(to, "%s%llu.%03u", ns < 0 ? "-" : "", (unsigned long long)(size / 1000), (unsigned)(size % 1000));
}

static void perfetto_put_time(perfetto_state *p, int64_t ns)
{
    int64_t since;
    perfetto_set_zero(p, ns);
    fputs(",\"ts\":", p->to);
    perfetto_put_us(p->to, __builtin_sub_overflow(ns, p->zero_ns, &since) ? ns : since);
}

static void perfetto_put_length(perfetto_state *p, int64_t from_ns, int64_t to_ns)
{
    fputs(",\"dur\":", p->to);
    perfetto_put_us(p->to, to_ns > from_ns ? difference_capped(to_ns, from_ns) : 0);
}

// ---- events ----

static void perfetto_put_text(perfetto_state *p, const char *before, const char *key, const char *text)
{
    fputs(before, p->to);
    json_text_quoted(put_to_file, p->to, key);
    putc(':', p->to);
    json_text_quoted(put_to_file, p->to, text);
}

static void perfetto_begin(perfetto_state *p, char phase, const perfetto_process *process, uint64_t thread,
                           const char *name)
{
    fputs(p->any ? ",\n" : "\n", p->to);
    p->any = true;
    fprintf(p->to, "{\"ph\":\"%c\",\"pid\":%llu", phase, (unsigned long long)process->id);
    if (thread) fprintf(p->to, ",\"tid\":%llu", (unsigned long long)thread);
    perfetto_put_text(p, ",", "name", name);
}

static void perfetto_name(perfetto_state *p, const perfetto_process *process, uint64_t thread, const char *name)
{
    const char *what = thread ? "thread" : "process";
    char *event = memory_format("%s_name", what), *order = memory_format("%s_sort_index", what);
    perfetto_begin(p, 'M', process, thread, event);
    perfetto_put_text(p, ",\"args\":{", "name", name);
    fputs("}}", p->to);
    perfetto_begin(p, 'M', process, thread, order);
    fprintf(p->to, ",\"args\":{\"sort_index\":%llu}}", (unsigned long long)(thread ? thread : process->id));
    free(event);
    free(order);
}

static size_t perfetto_process_named(perfetto_state *p, const char *name)
{
    size_t next = arrlenu(p->processes), found = index_map_put(&p->process_of, map_key_of_name(0, name), next);
    if (found < next) return found;
    arrput(p->processes, ((perfetto_process){.name = memory_strdup(name), .id = ++p->last_id}));
    perfetto_name(p, &p->processes[next], 0, name);
    return next;
}

static perfetto_process *perfetto_host(perfetto_state *p, const char *host)
{
    size_t at = perfetto_process_named(p, *host ? host : "unknown host");
    return &p->processes[at];
}

static uint64_t perfetto_thread(perfetto_state *p, perfetto_process *process, int which)
{
    static const char *const names[THREADS] = {"recordings", "findings", "gaps"};
    if (!process->threads[which]) {
        process->threads[which] = ++p->last_id;
        perfetto_name(p, process, process->threads[which], names[which]);
    }
    return process->threads[which];
}

// ---- runs ----

static const char *perfetto_known_text(const export_cell *cell)
{
    return cell->known ? cell->as.text : "";
}

static int64_t perfetto_known_time(const export_cell *cell)
{
    return cell->known ? cell->as.i64 : 0;
}

static perfetto_run *perfetto_run_of(perfetto_state *p, const export_cell *cells)
{
    uint64_t number = cells[0].as.u64;
    return number && number <= arrlenu(p->runs) ? &p->runs[number - 1] : NULL;
}

// Another run of the same node at the same time, whose points must not be mixed with this one's.
static bool perfetto_is_second(const perfetto_state *p, const perfetto_run *r)
{
    for (const perfetto_run *x = p->runs; x < r; x++)
        if (!x->sampled_pid && strcmp(x->node, r->node) == 0 && x->begin_ns < r->end_ns && r->begin_ns < x->end_ns)
            return true;
    return false;
}

static perfetto_process *perfetto_process_of(perfetto_state *p, perfetto_run *r)
{
    if (r->process == INDEX_NONE) {
        const char *node = *r->node ? r->node : r->path;
        char *name = r->sampled_pid ? memory_format("%s: process %llu", node, (unsigned long long)r->sampled_pid)
                     : perfetto_is_second(p, r) ? memory_format("%s (%s)", node, r->path)
                                                : memory_strdup(node);
        r->process = perfetto_process_named(p, name);
        free(name);
    }
    return &p->processes[r->process];
}

static void perfetto_take_run(perfetto_state *p, const export_cell *c)
{
    arrput(p->runs, ((perfetto_run){.path = memory_strdup(perfetto_known_text(&c[1])),
                                    .host = memory_strdup(perfetto_known_text(&c[3])),
                                    .node = memory_strdup(perfetto_known_text(&c[8])),
                                    .begin_ns = perfetto_known_time(&c[5]),
                                    .end_ns = perfetto_known_time(&c[6]),
                                    .process = INDEX_NONE}));
    arrsetlen(p->tracks, 0);
    hmfree(p->track_of);
}

static void perfetto_put_recording(perfetto_state *p, uint64_t number)
{
    perfetto_run *r = &p->runs[number - 1];
    int64_t from_ns = perfetto_place(p, number, r->begin_ns), to_ns = perfetto_place(p, number, r->end_ns);
    perfetto_process *process = perfetto_process_of(p, r);
    perfetto_begin(p, 'X', process, perfetto_thread(p, process, THREAD_RECORDINGS), r->path);
    perfetto_put_time(p, from_ns);
    perfetto_put_length(p, from_ns, to_ns);
    putc('}', p->to);
}

// Processes that sample their own regions are a device of this name, with their number.
static void perfetto_take_device(perfetto_state *p, const export_cell *c)
{
    perfetto_run *r = perfetto_run_of(p, c);
    bool process =
        strcmp(perfetto_known_text(&c[2]), "regions") == 0 && strcmp(perfetto_known_text(&c[3]), "process") == 0;
    if (r && process && c[4].known && r->process == INDEX_NONE) r->sampled_pid = c[4].as.u64;
}

// ---- counters ----

static size_t perfetto_track_put(perfetto_state *p, const export_cell *source, bool wanted)
{
    char *name = memory_format("%s\x1f%s\x1f%s", perfetto_known_text(&source[0]), perfetto_known_text(&source[1]),
                               perfetto_known_text(&source[2]));
    size_t next = arrlenu(p->tracks), found = index_map_put(&p->track_of, map_key_of_name(0, name), next);
    if (found == next) arrput(p->tracks, ((perfetto_track){.wanted = wanted}));
    free(name);
    return found;
}

// What a node's whole tree of counters holds would be too much for a viewer: --include asks for others.
static void perfetto_take_counter(perfetto_state *p, const export_cell *c)
{
    bool fast = c[10].known && c[10].as.u64, bytes = c[12].known;
    perfetto_track_put(p, &c[2], export_options_of(p->sink)->include || fast || bytes);
}

static char *perfetto_counter_name(const export_cell *source)
{
    return memory_format("%s/%s/%s", perfetto_known_text(&source[0]), perfetto_known_text(&source[1]),
                         perfetto_known_text(&source[2]));
}

static void perfetto_put_gap(perfetto_state *p, perfetto_process *process, const char *name, const char *status,
                             int64_t at_ns)
{
    char *text = memory_format("%s: %s", name, status);
    perfetto_begin(p, 'i', process, perfetto_thread(p, process, THREAD_GAPS), text);
    perfetto_put_time(p, at_ns);
    fputs(",\"s\":\"t\"}", p->to);
    free(text);
}

static void perfetto_put_value(FILE *to, const export_cell *value, export_type type)
{
    if (type == EXPORT_U64)
        put_u64(to, value->as.u64);
    else if (type == EXPORT_I64)
        put_i64(to, value->as.i64);
    else
        put_f64(to, value->as.f64);
}

typedef struct perfetto_point {
    const export_cell *row, *source; // the run's number, and where source, device and counter are
    int64_t time_ns;
    export_cell value;
    export_type type;
    const char *unit, *per, *status; // status: why the value is not known
} perfetto_point;

// The value of a counter from then on.
static void perfetto_take_point(perfetto_state *p, const perfetto_point *x)
{
    perfetto_run *r = perfetto_run_of(p, x->row);
    size_t at = perfetto_track_put(p, x->source, false);
    if (!r || !p->tracks[at].wanted || !x->time_ns) return;
    perfetto_process *process = perfetto_process_of(p, r);
    char *name = perfetto_counter_name(x->source);
    int64_t at_ns = perfetto_place(p, x->row->as.u64, x->time_ns);
    if (x->value.known) {
        char *unit = memory_format("%s%s", *x->unit ? x->unit : *x->per ? "1" : "value", x->per);
        perfetto_begin(p, 'C', process, 0, name);
        perfetto_put_time(p, at_ns);
        fputs(",\"args\":{", p->to);
        json_text_quoted(put_to_file, p->to, unit);
        putc(':', p->to);
        perfetto_put_value(p->to, &x->value, x->type);
        fputs("}}", p->to);
        free(unit);
    } else if (!p->tracks[at].gap) {
        perfetto_put_gap(p, process, name, x->status, at_ns);
    }
    p->tracks[at].gap = !x->value.known;
    free(name);
}

// A lower bound could not be told from a rate.
static void perfetto_take_rate(perfetto_state *p, const export_cell *c)
{
    bool bound = c[14].known && c[14].as.u64;
    perfetto_take_point(p, &(perfetto_point){.row = c,
                                             .source = &c[4],
                                             .time_ns = perfetto_known_time(&c[2]),
                                             .value = bound ? cell_none() : c[9],
                                             .type = EXPORT_F64,
                                             .unit = perfetto_known_text(&c[11]),
                                             .per = "/s",
                                             .status = perfetto_known_text(&c[13])});
}

static void perfetto_take_value(perfetto_state *p, const export_cell *c)
{
    const char *kind = perfetto_known_text(&c[10]);
    if (strcmp(kind, netprof_kind_name(NETPROF_KIND_GAUGE)) != 0 &&
        strcmp(kind, netprof_kind_name(NETPROF_KIND_STATE)) != 0)
        return; // its rates are told
    perfetto_take_point(p, &(perfetto_point){.row = c,
                                             .source = &c[4],
                                             .time_ns = perfetto_known_time(&c[3]),
                                             .value = c[7].known ? c[7] : c[8],
                                             .type = c[7].known ? EXPORT_U64 : EXPORT_I64,
                                             .unit = perfetto_known_text(&c[9]),
                                             .per = "",
                                             .status = perfetto_known_text(&c[11])});
}

// ---- findings, processes, GPUs ----

static void perfetto_take_finding(perfetto_state *p, const export_cell *c)
{
    static const struct {
        const char *key;
        int column;
    } texts[] = {{"severity", 5}, {"rule", 6},    {"class", 7},        {"source", 8},
                 {"device", 9},   {"advice", 13}, {"explained_by", 14}};
    perfetto_run *r = perfetto_run_of(p, c);
    const char *before = ",\"args\":{";
    if (!r || !c[3].known || !c[4].known) return;
    perfetto_process *process = perfetto_process_of(p, r);
    int64_t from_ns = perfetto_place(p, c[0].as.u64, c[3].as.i64), to_ns = perfetto_place(p, c[0].as.u64, c[4].as.i64);
    perfetto_begin(p, 'X', process, perfetto_thread(p, process, THREAD_FINDINGS), perfetto_known_text(&c[12]));
    perfetto_put_time(p, from_ns);
    perfetto_put_length(p, from_ns, to_ns);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!c[texts[i].column].known) continue;
        perfetto_put_text(p, before, texts[i].key, c[texts[i].column].as.text);
        before = ",";
    }
    fputs(*before == ',' && !before[1] ? "}}" : "}", p->to);
}

// The first snapshot of all, where the job's time begins.
static int64_t perfetto_job_begin(const perfetto_state *p)
{
    int64_t first_ns = 0;
    for (size_t i = 0; i < arrlenu(p->runs); i++) {
        const perfetto_run *r = &p->runs[i];
        if (r->sampled_pid || !r->begin_ns || r->begin_ns == r->end_ns) continue;
        int64_t at_ns = perfetto_place(p, i + 1, r->begin_ns);
        if (!first_ns || at_ns < first_ns) first_ns = at_ns;
    }
    return first_ns;
}

static uint64_t perfetto_lane_of(perfetto_state *p, const perfetto_process *process, const export_incident *x)
{
    size_t i = 0;
    while (i < arrlenu(p->lanes) && p->lanes[i].end_s > x->from_s)
        i++;
    if (i == arrlenu(p->lanes)) {
        arrput(p->lanes, ((struct perfetto_lane){.thread = ++p->last_id}));
        perfetto_name(p, process, p->lanes[i].thread, "findings");
    }
    p->lanes[i].end_s = x->to_s;
    return p->lanes[i].thread;
}

static void sink_perfetto_incident(void *state, const export_incident *x)
{
    perfetto_state *p = state;
    int64_t begin_ns = perfetto_job_begin(p);
    if (!begin_ns || !(x->from_s >= 0 && x->to_s < 1e9)) return;
    size_t at = perfetto_process_named(p, "job");
    perfetto_process *process = &p->processes[at];
    int64_t from_ns = sum_capped_signed(begin_ns, (int64_t)(x->from_s * 1e9)),
            to_ns = sum_capped_signed(begin_ns, (int64_t)(x->to_s * 1e9));
    perfetto_begin(p, 'X', process, perfetto_lane_of(p, process, x), x->claim);
    perfetto_put_time(p, from_ns);
    perfetto_put_length(p, from_ns, to_ns);
    perfetto_put_text(p, ",\"args\":{", "severity", x->severity);
    perfetto_put_text(p, ",", "rule", x->rule);
    if (*x->node) perfetto_put_text(p, ",", "node", x->node);
    if (*x->device) perfetto_put_text(p, ",", "device", x->device);
    if (*x->advice) perfetto_put_text(p, ",", "advice", x->advice);
    fputs("}}", p->to);
}

// The number of a run of this host, of its node where there is one; 0: none.
static uint64_t perfetto_run_on(const perfetto_state *p, const char *host)
{
    uint64_t run = 0;
    for (size_t i = 0; i < arrlenu(p->runs); i++) {
        if (!*host || strcmp(p->runs[i].host, host) != 0) continue;
        if (!p->runs[i].sampled_pid) return i + 1;
        if (!run) run = i + 1;
    }
    return run;
}

// A process whose regions were measured, as long as it ran; how long each region took has no place in time.
static void perfetto_take_rank(perfetto_state *p, const export_cell *c)
{
    const char *host = perfetto_known_text(&c[3]);
    if (!c[9].known || !c[10].known || c[10].as.i64 < 0) return;
    uint64_t run = perfetto_run_on(p, host);
    perfetto_process *process = run ? perfetto_process_of(p, &p->runs[run - 1]) : perfetto_host(p, host);
    uint64_t thread = ++p->last_id;
    int64_t end_ns;
    if (__builtin_add_overflow(c[9].as.i64, c[10].as.i64, &end_ns)) return;
    char *name = memory_format("rank %s", perfetto_known_text(&c[0]));
    perfetto_name(p, process, thread, name);
    perfetto_begin(p, 'X', process, thread, c[5].known ? c[5].as.text : name);
    perfetto_put_time(p, perfetto_place(p, run, c[9].as.i64));
    perfetto_put_length(p, c[9].as.i64, end_ns);
    putc('}', p->to);
    free(name);
}

// The thread of this lane that is free at begin_ns: what overlaps cannot be on one.
static uint64_t perfetto_free_thread(perfetto_state *p, const perfetto_process *process, const export_span *x,
                                     int64_t begin_ns, int64_t end_ns)
{
    for (uint64_t number = 0;; number++) {
        char *key = memory_format("%llu\x1f%s", (unsigned long long)number, x->lane);
        size_t next = arrlenu(p->threads),
               found = index_map_put(&p->thread_of, map_key_of_name(process->id, key), next);
        free(key);
        if (found < next && p->threads[found].end_ns > begin_ns) continue;
        if (found == next) {
            arrput(p->threads, ((struct perfetto_thread){.id = ++p->last_id}));
            perfetto_name(p, process, p->threads[found].id, x->lane);
        }
        p->threads[found].end_ns = end_ns;
        return p->threads[found].id;
    }
}

static void perfetto_put_notes(perfetto_state *p, const export_span *x)
{
    const char *before = ",\"args\":{";
    for (size_t i = 0; i < x->note_count; i++) {
        const export_note *note = &x->notes[i];
        if (!note->value.known) continue;
        fputs(before, p->to);
        json_text_quoted(put_to_file, p->to, note->key);
        putc(':', p->to);
        if (note->type == EXPORT_TEXT)
            json_text_quoted(put_to_file, p->to, note->value.as.text);
        else
            perfetto_put_value(p->to, &note->value, note->type);
        before = ",";
    }
    fputs(*before == ',' && !before[1] ? "}}" : "}", p->to);
}

// A kernel in the lane of its stream, a call of NCCL in that of its rank.
static void sink_perfetto_span(void *state, const export_span *x)
{
    perfetto_state *p = state;
    uint64_t run = x->host_clock ? perfetto_run_on(p, x->node) : 0;
    const perfetto_process *process = run ? perfetto_process_of(p, &p->runs[run - 1]) : perfetto_host(p, x->node);
    int64_t begin_ns = perfetto_place(p, run, x->begin_ns), end_ns = perfetto_place(p, run, x->end_ns);
    uint64_t thread = perfetto_free_thread(p, process, x, begin_ns, end_ns);
    perfetto_begin(p, x->instant ? 'i' : 'X', process, thread, x->name);
    perfetto_put_text(p, ",", "cat", x->kind);
    perfetto_put_time(p, begin_ns);
    if (x->instant)
        fputs(",\"s\":\"t\"", p->to);
    else
        perfetto_put_length(p, begin_ns, end_ns);
    perfetto_put_notes(p, x);
    if (ferror(p->to)) export_fail(p->sink, "%s", strerror(errno ? errno : EIO));
}

// How busy a GPU was, from a profile of Nsight Systems: shares of a stretch of time.
static void perfetto_take_busy(perfetto_state *p, const export_cell *c)
{
    static const char *const what[] = {"kernels", "NCCL kernels", "memory operations"};
    const char *host = perfetto_known_text(&c[1]);
    if (!c[5].known) return;
    perfetto_process *process = perfetto_host(p, host);
    char *of = c[3].known ? memory_format(" of process %lld", (long long)c[3].as.i64) : memory_strdup("");
    for (int i = 0; i < 3; i++) {
        if (!c[8 + i].known) continue;
        char *name = memory_format("GPU %lld%s: %s", (long long)c[2].as.i64, of, what[i]);
        perfetto_begin(p, 'C', process, 0, name);
        perfetto_put_time(p, c[5].as.i64);
        fputs(",\"args\":{\"share of time\":", p->to);
        put_f64(p->to, c[8 + i].as.f64);
        fputs("}}", p->to);
        free(name);
    }
    free(of);
}

// ---- the driver ----

static void *sink_perfetto_open(export_sink *sink, const char *path)
{
    const char *name = export_options_of(sink)->path;
    perfetto_state *p = memory_calloc(1, sizeof *p);
    size_t n = strlen(name);
    p->sink = sink;
    p->to = strcmp(path, "-") == 0                                  ? stdout
            : n > 3 && strcmp(name + n - strlen(".gz"), ".gz") == 0 ? perfetto_gzip_open(path)
                                                                    : fopen(path, "we");
    if (p->to)
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", p->to);
    else
        export_fail(sink, "%s", strerror(errno ? errno : EIO));
    return p;
}

static void sink_perfetto_clock(void *state, const clocks *c, int64_t begin_ns)
{
    perfetto_state *p = state;
    p->clocks = *c;
    p->clocks.runs = memory_calloc(c->count + 1, sizeof *c->runs);
    if (c->count) memcpy(p->clocks.runs, c->runs, c->count * sizeof *c->runs);
    p->clocks.text = memory_strdup(c->text ? c->text : "");
    perfetto_set_zero(p, begin_ns);
}

static void sink_perfetto_table(void *state, export_id id, const export_table *table)
{
    (void)state, (void)id, (void)table; // a trace has none
}

static void sink_perfetto_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    perfetto_state *p = state;
    (void)table;
    switch (id) {
    case EXPORT_RUNS: perfetto_take_run(p, cells); break;
    case EXPORT_DEVICES: perfetto_take_device(p, cells); break;
    case EXPORT_COUNTERS: perfetto_take_counter(p, cells); break;
    case EXPORT_VALUES: perfetto_take_value(p, cells); break;
    case EXPORT_RATES: perfetto_take_rate(p, cells); break;
    case EXPORT_FINDINGS: perfetto_take_finding(p, cells); break;
    case EXPORT_RANKS: perfetto_take_rank(p, cells); break;
    case EXPORT_NSYS_BUSY: perfetto_take_busy(p, cells); break;
    default: break;
    }
    if (ferror(p->to)) export_fail(p->sink, "%s", strerror(errno ? errno : EIO));
}

static void perfetto_put_end(perfetto_state *p)
{
    for (size_t i = 0; i < arrlenu(p->runs); i++)
        if (p->runs[i].begin_ns) perfetto_put_recording(p, i + 1);
    fprintf(p->to, "\n],\"otherData\":{\"netprof\":\"%s\",\"zero_ns\":\"%lld\"", netprof_version(),
            (long long)p->zero_ns);
    if (p->clocks.text && *p->clocks.text) perfetto_put_text(p, ",", "clocks", p->clocks.text);
    fputs("}}\n", p->to);
}

static void sink_perfetto_close(void *state, bool finish)
{
    perfetto_state *p = state;
    if (p->to && finish) perfetto_put_end(p);
    bool bad = p->to && ferror(p->to);
    if (p->to && p->to != stdout && fclose(p->to)) bad = true;
    if (bad && finish && p->to != stdout) export_fail(p->sink, "%s", strerror(errno ? errno : EIO));
    for (size_t i = 0; i < arrlenu(p->processes); i++)
        free(p->processes[i].name);
    for (size_t i = 0; i < arrlenu(p->runs); i++) {
        free(p->runs[i].path);
        free(p->runs[i].host);
        free(p->runs[i].node);
    }
    arrfree(p->processes);
    arrfree(p->runs);
    arrfree(p->tracks);
    arrfree(p->lanes);
    arrfree(p->threads);
    hmfree(p->process_of);
    hmfree(p->thread_of);
    hmfree(p->track_of);
    clocks_free(&p->clocks);
    free(p);
}

const export_driver export_perfetto = {.name = "perfetto",
                                       .stream = true,
                                       .events = true,
                                       .open = sink_perfetto_open,
                                       .clock = sink_perfetto_clock,
                                       .incident = sink_perfetto_incident,
                                       .span = sink_perfetto_span,
                                       .table = sink_perfetto_table,
                                       .row = sink_perfetto_row,
                                       .close = sink_perfetto_close};
