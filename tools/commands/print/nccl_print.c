#include "nccl_print.h"

#include "cli/output.h"
#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/findings/nccl_overlap.h"
#include "analysis/nccl/findings/nccl_waits.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- findings ----

static const char *nccl_print_paint(severity s)
{
    static const char *const sequences[SEVERITIES] = {[SEVERITY_OK] = "",
                                                      [SEVERITY_INFO] = "\033[2m",
                                                      [SEVERITY_UNKNOWN] = "\033[2m",
                                                      [SEVERITY_WATCH] = "\033[33m",
                                                      [SEVERITY_WARN] = "\033[33m",
                                                      [SEVERITY_HIGH] = "\033[31m",
                                                      [SEVERITY_CRITICAL] = "\033[31m"};
    return output_colour(stdout) ? sequences[s] : "";
}

// Which share of their time a finding's severity follows from.
static void nccl_print_cost(const nccl_finding *x)
{
    const nccl_cost_step *step = nccl_cost_steps;
    if (isnan(x->cost_share)) return;
    if (isnan(x->cost_us))
        printf("          cost: %s of the time of its steps (", words_share(x->cost_share).text);
    else
        printf("          cost: %s, %s of the time in collectives (", words_duration(x->cost_us / 1e6).text,
               words_share(x->cost_share).text);
    for (; step->share > 0; step++)
        printf("%s from %s on%s", severity_name(step->severity), words_share(step->share).text,
               step[1].share > 0 ? ", " : ")\n");
}

static void nccl_print_amount(const char *name, double value, const char *unit, const char *origin)
{
    char *amount = nccl_findings_amount(value, unit);
    printf("          %s: %s%s%s%s\n", safe(name), amount, *origin ? " (" : "", origin, *origin ? ")" : "");
    free(amount);
}

static void nccl_print_finding(const nccl_finding *x, bool details)
{
    const char *paint_on = nccl_print_paint(x->severity);
    printf("\n%s%-8s%s  %s: %s\n          %s\n", paint_on, severity_name(x->severity), *paint_on ? "\033[0m" : "",
           x->rule->name, safe(x->device), safe(x->claim));
    if (!details) return;
    for (size_t i = 0; i < x->evidence_count; i++)
        nccl_print_amount(x->evidence[i].name, x->evidence[i].value, x->evidence[i].unit, "");
    nccl_print_amount("threshold", x->rule->limit, x->rule->unit, x->rule->origin);
    if (x->rule->by_cost) nccl_print_cost(x);
    if (x->explained_by) printf("          explained by: %s\n", x->explained_by);
    if (*x->rule->advice) printf("          do: %s\n", x->rule->advice);
}

static void nccl_print_findings(const nccl_findings *f, bool all)
{
    enum { SHOWN = 12 };
    size_t shown = 0;
    heading(stdout, "%s", safe(f->verdict));
    for (; shown < f->count && (all || shown < SHOWN); shown++)
        nccl_print_finding(&f->items[shown], all || f->items[shown].severity >= SEVERITY_WATCH);
    if (shown < f->count) printf("\n  and %zu more (--all)\n", f->count - shown);
}

static void nccl_print_unknown(const nccl_findings *f, bool all)
{
    enum { SHOWN = 5 };
    if (!f->unknown_count) return;
    heading(stdout, "Could not be judged");
    for (size_t i = 0; i < f->unknown_count && (all || i < SHOWN); i++)
        printf("  %s\n", safe(f->unknown[i]));
    if (!all && f->unknown_count > SHOWN) printf("  and %zu more (--all)\n", f->unknown_count - SHOWN);
}

// ---- collectives ----

static int nccl_print_by_time(const void *a, const void *b)
{
    const nccl_kind *x = *(const nccl_kind *const *)a, *y = *(const nccl_kind *const *)b;
    if (x->time_us != y->time_us) return x->time_us > y->time_us ? -1 : 1;
    return (x > y) - (x < y);
}

// Empty where the number is not known.
static void nccl_print_number_cell(table *t, const char *format, double value)
{
    char text[48];
    snprintf(text, sizeof text, format, value);
    table_cell(t, PLAIN, isfinite(value) ? text : NULL);
}

static void nccl_print_kind_line(const nccl *n, const nccl_kind *k, table *t)
{
    table_cell(t, PLAIN, nccl_class_name(k->type));
    table_cell(t, PLAIN, n->colls[k->coll]);
    table_cell(t, PLAIN, words_binary((double)k->size).text);
    table_printf(t, PLAIN, "%llu", (unsigned long long)k->instances);
    nccl_print_number_cell(t, "%.3f", (double)k->time_us / 1e6);
    nccl_print_number_cell(t, "%.3f", k->spreads.wire_us.p50 / 1e3);
    nccl_print_number_cell(t, "%.3f", k->spreads.wire_us.p95 / 1e3);
    nccl_print_number_cell(t, "%.3f", k->type == NCCL_SINGLE_RANK ? NAN : k->spreads.skew_us.p50 / 1e3);
    nccl_print_number_cell(t, "%.3f", k->type == NCCL_SINGLE_RANK ? NAN : k->spreads.skew_us.p95 / 1e3);
    nccl_print_number_cell(t, "%.2f", k->spreads.bus_gbs.p50);
    nccl_print_number_cell(t, "%.2f", k->type == NCCL_SINGLE_RANK ? NAN : k->spreads.mean_bus_gbs.p50);
    table_cell(t, PLAIN, isfinite(k->peak_share) ? words_share(k->peak_share).text : NULL);
}

static void nccl_print_collectives(const nccl *n, bool all)
{
    enum { SHOWN = 15 };
    static const column columns[] = {{"communicators", 0},
                                     {"collective", 0},
                                     {"size", COLUMN_RIGHT},
                                     {"calls", COLUMN_RIGHT},
                                     {"time s", COLUMN_RIGHT},
                                     {"wire p50 ms", COLUMN_RIGHT},
                                     {"p95 ms", COLUMN_RIGHT},
                                     {"skew p50 ms", COLUMN_RIGHT},
                                     {"p95 ms", COLUMN_RIGHT},
                                     {"bus GB/s", COLUMN_RIGHT},
                                     {"rank mean GB/s", COLUMN_RIGHT},
                                     {"of peak", COLUMN_RIGHT | COLUMN_LEAN}};
    const nccl_kind **order = memory_alloc((n->kind_count + 1) * sizeof *order);
    if (n->kind_count)
        heading(stdout, "Collectives: wire, or waiting? (wire: shortest time of all ranks; skew: longest - shortest)");
    for (size_t i = 0; i < n->kind_count; i++)
        order[i] = &n->kinds[i];
    qsort(order, n->kind_count, sizeof *order, nccl_print_by_time);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n->kind_count && (all || i < SHOWN); i++)
        nccl_print_kind_line(n, order[i], t);
    table_end(t, stdout, 2);
    if (!all && n->kind_count > SHOWN) printf("  and %zu more (--all)\n", n->kind_count - SHOWN);
    free(order);
}

// ---- who is late ----

static int nccl_print_by_cost(const void *a, const void *b)
{
    const nccl_process *x = *(const nccl_process *const *)a, *y = *(const nccl_process *const *)b;
    if (x->waiting.cost_us != y->waiting.cost_us) return x->waiting.cost_us > y->waiting.cost_us ? -1 : 1;
    return (x > y) - (x < y);
}

// As claims name it.
static void nccl_print_rank_cell(const nccl *n, const nccl_process *p, table *t)
{
    const nccl_member *of = nccl_widest_member(n, (uint32_t)(p - n->processes));
    table_printf(t, PLAIN, "%lld of %.200s", (long long)of->rank, n->communicators[of->communicator].label);
}

static void nccl_print_late(const nccl *n, bool all)
{
    enum { SHOWN = 5 };
    static const column columns[] = {{"rank", 0},
                                     {"host", 0},
                                     {"pid", COLUMN_RIGHT},
                                     {"local", COLUMN_RIGHT},
                                     {"records", COLUMN_RIGHT},
                                     {"last", COLUMN_RIGHT},
                                     {"alone", COLUMN_RIGHT},
                                     {"cost s", COLUMN_RIGHT},
                                     {"waited s", COLUMN_RIGHT},
                                     {"behind median us", COLUMN_RIGHT}};
    const nccl_process **order = memory_alloc((n->process_count + 1) * sizeof *order);
    size_t count = 0;
    for (size_t i = 0; i < n->process_count; i++)
        if (n->processes[i].waiting.records) order[count++] = &n->processes[i];
    qsort(order, count, sizeof *order, nccl_print_by_cost);
    if (count) heading(stdout, "Who was late? (cost: what it alone added to the calls; waited: for others)");
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count && (all || i < SHOWN); i++) {
        const nccl_process *p = order[i];
        const nccl_waiting *w = &p->waiting;
        nccl_print_rank_cell(n, p, t);
        table_cell(t, PLAIN, n->hosts[p->host].name);
        table_printf(t, PLAIN, "%lld", (long long)p->pid);
        table_printf(t, PLAIN, "%u", p->local);
        table_printf(t, PLAIN, "%llu", (unsigned long long)w->records);
        table_cell(t, PLAIN, words_share((double)w->last_arrivals / (double)w->records).text);
        table_cell(t, PLAIN, words_share((double)w->last_alone / (double)w->records).text);
        nccl_print_number_cell(t, "%.3f", (double)w->cost_us / 1e6);
        nccl_print_number_cell(t, "%.3f", (double)w->suffered_us / 1e6);
        nccl_print_number_cell(t, "%+.1f", w->judged ? w->behind_us / (double)w->judged : NAN);
    }
    table_end(t, stdout, 2);
    if (!all && count > SHOWN) printf("  and %zu more (--all)\n", count - SHOWN);
    free(order);
}

// ---- where transfers waited ----

typedef struct nccl_print_split {
    const nccl_process *process;
    nccl_split split;
    double time_us;
} nccl_print_split;

static int nccl_print_by_step_time(const void *a, const void *b)
{
    const nccl_print_split *x = a, *y = b;
    if (x->time_us != y->time_us) return x->time_us > y->time_us ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static void nccl_print_share_cell(table *t, double part, double of)
{
    table_cell(t, PLAIN, of > 0 ? words_share(part / of).text : NULL);
}

static void nccl_print_split_line(const nccl *n, const nccl_print_split *x, table *t)
{
    const nccl_split *s = &x->split;
    double send = nccl_split_send_us(s), receive = nccl_split_receive_us(s);
    nccl_print_rank_cell(n, x->process, t);
    table_cell(t, PLAIN, n->hosts[x->process->host].name);
    table_printf(t, PLAIN, "%lld", (long long)x->process->pid);
    table_cell(t, PLAIN, words_at_least(s->sent_at_least, words_amount((double)s->sent_bytes, "bytes")).text);
    nccl_print_number_cell(t, "%.1f", s->sent ? send / (double)s->sent : NAN);
    nccl_print_share_cell(t, s->gpu_us, send);
    nccl_print_share_cell(t, s->credit_us, send);
    nccl_print_share_cell(t, s->wire_us, send);
    table_cell(t, PLAIN, words_at_least(s->received_at_least, words_amount((double)s->received_bytes, "bytes")).text);
    nccl_print_number_cell(t, "%.1f", s->received ? receive / (double)s->received : NAN);
    nccl_print_share_cell(t, s->receive_us, receive);
    nccl_print_share_cell(t, s->flush_us, receive);
    nccl_print_share_cell(t, s->consume_us, receive);
}

static void nccl_print_proxies(const nccl *n, bool all)
{
    enum { SHOWN = 5 };
    static const column columns[] = {{"rank", 0},
                                     {"host", 0},
                                     {"pid", COLUMN_RIGHT},
                                     {"sent", COLUMN_RIGHT},
                                     {"us a step", COLUMN_RIGHT},
                                     {"own GPU", COLUMN_RIGHT},
                                     {"credit", COLUMN_RIGHT},
                                     {"wire", COLUMN_RIGHT},
                                     {"received", COLUMN_RIGHT},
                                     {"us a step", COLUMN_RIGHT},
                                     {"data", COLUMN_RIGHT},
                                     {"flush", COLUMN_RIGHT},
                                     {"own GPU", COLUMN_RIGHT}};
    nccl_print_split *order = memory_array(NULL, n->process_count, sizeof *order);
    nccl_split *splits = nccl_splits_make(n);
    size_t count = 0;
    for (size_t i = 0; i < n->process_count; i++) {
        const nccl_split *s = &splits[i];
        if (s->sent || s->received)
            order[count++] =
                (nccl_print_split){&n->processes[i], *s, s->gpu_us + s->credit_us + s->wire_us + s->flush_us};
    }
    if (count) {
        qsort(order, count, sizeof *order, nccl_print_by_step_time);
        heading(stdout, "What did transfers wait for? (steps of NCCL's proxies, which overlap)");
        table *t = table_begin(columns, sizeof columns / sizeof *columns);
        for (size_t i = 0; i < count && (all || i < SHOWN); i++)
            nccl_print_split_line(n, &order[i], t);
        table_end(t, stdout, 2);
        if (!all && count > SHOWN) printf("  and %zu more (--all)\n", count - SHOWN);
    }
    free(order);
    free(splits);
}

// ---- where collectives waited ----

static void nccl_print_waits_line(const nccl *n, const nccl_waits_row *x, table *t)
{
    const nccl_split *s = &x->sum;
    double send = nccl_split_send_us(s), receive = nccl_split_receive_us(s);
    table_cell(t, PLAIN, n->communicators[x->communicator].label);
    table_cell(t, PLAIN, x->coll);
    table_cell(t, PLAIN, words_binary((double)x->size).text);
    table_printf(t, PLAIN, "%llu", (unsigned long long)x->calls);
    nccl_print_share_cell(t, s->gpu_us, send);
    nccl_print_share_cell(t, s->credit_us, send);
    nccl_print_share_cell(t, s->wire_us, send);
    nccl_print_share_cell(t, s->receive_us, receive);
    nccl_print_share_cell(t, s->flush_us, receive);
    table_cell(t, PLAIN, nccl_split_mostly(s));
    nccl_print_number_cell(t, "%.1f", x->middle_us);
    if (x->longest == NCCL_NONE)
        table_cell(t, PLAIN, NULL);
    else
        table_printf(t, PLAIN, "%.1f, rank %lld", x->longest_us, (long long)n->members[x->longest].rank);
}

static void nccl_print_waits(const nccl *n, bool all)
{
    enum { SHOWN = 8 };
    static const column columns[] = {{"communicator", 0},       {"collective", 0},           {"size", COLUMN_RIGHT},
                                     {"calls", COLUMN_RIGHT},   {"own GPU", COLUMN_RIGHT},   {"credit", COLUMN_RIGHT},
                                     {"wire", COLUMN_RIGHT},    {"data", COLUMN_RIGHT},      {"flush", COLUMN_RIGHT},
                                     {"sending waited for", 0}, {"us a step", COLUMN_RIGHT}, {"longest", COLUMN_RIGHT}};
    nccl_waits w;
    nccl_waits_make(&w, n);
    if (w.count) {
        heading(stdout, "What did collectives wait for? (own GPU, credit, wire: shares of sending; data, flush: of "
                        "receiving)");
        table *t = table_begin(columns, sizeof columns / sizeof *columns);
        for (size_t i = 0; i < w.count && (all || i < SHOWN); i++)
            nccl_print_waits_line(n, &w.items[i], t);
        table_end(t, stdout, 2);
        if (!all && w.count > SHOWN) printf("  and %zu more (--all)\n", w.count - SHOWN);
    }
    if (n->untied)
        printf("%sOf %s in the logs it is not known of which call %s: collectives count their calls alike, or "
               "the log lacks the call%s\n",
               w.count ? "  " : "\n", words_many(n->untied, "proxy record").text, n->untied == 1 ? "it is" : "they are",
               n->has_traces ? "" : " (NCCL_INSPECTOR_DUMP_VERBOSE=1 tells when they ran)");
    nccl_waits_free(&w);
}

// ---- through which devices ----

static int nccl_print_by_bytes(const void *a, const void *b)
{
    const nccl_used *x = *(const nccl_used *const *)a, *y = *(const nccl_used *const *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    if (x->requests != y->requests) return x->requests > y->requests ? -1 : 1;
    return (x > y) - (x < y);
}

static void nccl_print_device_line(const nccl *n, const nccl_used *x, table *t)
{
    const nccl_member *m = &n->members[x->member];
    table_cell(t, PLAIN, n->hosts[n->processes[m->process].host].name);
    table_cell(t, PLAIN, n->communicators[m->communicator].label);
    table_printf(t, PLAIN, "%lld", (long long)m->rank);
    table_cell(t, PLAIN, strcmp(x->direction, "recv") == 0 ? "receives" : *x->direction ? "sends" : "not known");
    table_cell(t, PLAIN, strcmp(x->transport, "ib") == 0 ? "RDMA" : "sockets");
    if (strchr(x->adapter, '|'))
        table_printf(t, PLAIN, "one of %s", x->adapter);
    else
        table_cell(t, PLAIN, *x->adapter ? x->adapter : NULL);
    if (x->device >= 0)
        table_printf(t, PLAIN, "%lld", (long long)x->device);
    else
        table_cell(t, PLAIN, NULL);
    table_printf(t, PLAIN, "%llu", (unsigned long long)x->requests);
    table_cell(t, PLAIN, x->bytes ? words_amount((double)x->bytes, "bytes").text : NULL);
}

// Steps were told, but nothing of the requests that they are made of.
static void nccl_print_no_devices(const nccl *n)
{
    bool recorded = false, timed = false;
    for (size_t i = 0; i < n->file_count; i++)
        recorded |= n->files[i].recorded;
    for (size_t i = 0; i < n->proxy_count; i++)
        timed |= n->proxies[i].timed > 0;
    if (recorded && timed)
        heading(stdout,
                "Through which network devices? Not known: NCCL told no requests to them (it does where it was built "
                "with NET_PROFILER=1, and uses a network transport of its own)");
}

static void nccl_print_devices(const nccl *n, bool all)
{
    enum { SHOWN = 8 };
    static const column columns[] = {{"host", 0},
                                     {"communicator", 0},
                                     {"rank", COLUMN_RIGHT},
                                     {"", 0},
                                     {"by", 0},
                                     {"adapter", 0},
                                     {"member", COLUMN_RIGHT},
                                     {"requests", COLUMN_RIGHT},
                                     {"bytes", COLUMN_RIGHT}};
    if (!n->used_count) {
        nccl_print_no_devices(n);
        return;
    }
    const nccl_used **order = memory_array(NULL, n->used_count, sizeof *order);
    for (size_t i = 0; i < n->used_count; i++)
        order[i] = &n->used[i];
    qsort(order, n->used_count, sizeof *order, nccl_print_by_bytes);
    heading(stdout, "Through which network devices? (member: of adapters that are joined to one device; bytes received "
                    "through RDMA are not told)");
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n->used_count && (all || i < SHOWN); i++)
        nccl_print_device_line(n, order[i], t);
    table_end(t, stdout, 2);
    if (!all && n->used_count > SHOWN) printf("  and %zu more (--all)\n", n->used_count - SHOWN);
    free(order);
}

// ---- two jobs ----

static void nccl_print_comparison(const nccl_comparison *c, bool all)
{
    static const column columns[] = {
        {"communicators", 0},       {"collective", 0},       {"size", COLUMN_RIGHT}, {"before ms", COLUMN_RIGHT},
        {"after ms", COLUMN_RIGHT}, {"ratio", COLUMN_RIGHT}, {"z", COLUMN_RIGHT},    {"", 0}};
    heading(stdout,
            "Wire time beside the compared job (slower or faster: median differs by more than %.0f %%, |z| > "
            "%.0f)",
            100 * NCCL_COMPARE_CHANGE, NCCL_COMPARE_Z);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->count; i++) {
        const nccl_compared *r = &c->rows[i];
        const nccl *n = r->after ? c->after : c->before;
        const nccl_kind *k = r->after ? r->after : r->before;
        if (!all && r->verdict == NCCL_ALIKE) continue;
        table_cell(t, PLAIN, nccl_class_name(k->type));
        table_cell(t, PLAIN, n->colls[k->coll]);
        table_cell(t, PLAIN, words_binary((double)k->size).text);
        nccl_print_number_cell(t, "%.3f", r->before ? r->before->spreads.wire_us.p50 / 1e3 : NAN);
        nccl_print_number_cell(t, "%.3f", r->after ? r->after->spreads.wire_us.p50 / 1e3 : NAN);
        nccl_print_number_cell(t, "%.3f", r->wire_ratio);
        nccl_print_number_cell(t, "%+.1f", r->z);
        table_cell(t, r->verdict == NCCL_SLOWER ? WARNING : PLAIN, nccl_verdict_name(r->verdict));
    }
    table_end(t, stdout, 2);
    printf("  %zu slower, %zu faster, %zu alike\n", c->slower, c->faster, c->alike);
}

// ---- what was read ----

static void nccl_print_logs(const nccl *n)
{
    heading(stdout, "Logs");
    printf("  %s, %s, %llu %s; %s, %s, %s", words_many(n->file_count, "file").text,
           words_amount((double)n->size, "bytes").text, (unsigned long long)n->lines, words_noun(n->lines, "line").text,
           words_many(n->host_count, "host").text, words_many(n->process_count, "process|processes").text,
           words_many(n->communicator_count, "communicator").text);
    char version[16];
    for (int i = 0; i < NCCL_VERSIONS; i++)
        if (n->versions >> i & 1) printf(", %s", nccl_version_name(i, version, sizeof version));
    printf("%s\n", n->foreign_version ? ", and a version that is not known" : "");
    if (n->member_count)
        printf("  written %s to %s\n",
               words_time((int64_t)(n->first_dump_us < INT64_MAX / 1000 ? n->first_dump_us * 1000 : 0)).text,
               words_time((int64_t)(n->last_dump_us < INT64_MAX / 1000 ? n->last_dump_us * 1000 : 0)).text);
    printf("  lines:");
    for (int i = NCCL_OUTCOMES; i-- > 0;)
        if (n->outcomes[i]) printf(" %llu %s;", (unsigned long long)n->outcomes[i], nccl_outcome_name((nccl_outcome)i));
    printf("\n");
    if (n->metric_count)
        printf("  %zu samples of Prometheus files: averages over windows, see metrics.csv\n", n->metric_count);
}

// ---- NIC counters ----

static void nccl_print_bytes_cell(table *t, double bytes, bool rate)
{
    table_cell(t, PLAIN,
               isnan(bytes) ? NULL
               : rate       ? words_amount_rate(bytes, "bytes").text
                            : words_amount(bytes, "bytes").text);
}

static void nccl_print_moved_cell(table *t, const nccl_moved *moved)
{
    if (moved->counter)
        table_printf(t, PLAIN, "%.300s %s", moved->counter, words_amount(moved->amount, moved->unit).text);
    else
        table_cell(t, PLAIN, "none");
}

static void nccl_print_counters(const nccl_counters *c)
{
    static const column columns[] = {{"host", 0},
                                     {"seconds", COLUMN_RIGHT},
                                     {"received", COLUMN_RIGHT},
                                     {"sent", COLUMN_RIGHT},
                                     {"at most", COLUMN_RIGHT},
                                     {"", COLUMN_RIGHT},
                                     {"trouble", 0},
                                     {"waiting", 0}};
    heading(stdout, "NIC counters of the same hosts and time");
    if (!c->count) printf("  the recordings are of other hosts, or of another time\n");
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->count; i++) {
        const nccl_counters_host *h = &c->hosts[i];
        table_cell(t, PLAIN, c->n->hosts[h->host].name);
        nccl_print_number_cell(t, "%.3f", h->to_s - h->from_s);
        nccl_print_bytes_cell(t, h->bytes[SERIES_IN], false);
        nccl_print_bytes_cell(t, h->bytes[SERIES_OUT], false);
        nccl_print_bytes_cell(t, h->peak_rate[SERIES_IN], true);
        nccl_print_bytes_cell(t, h->peak_rate[SERIES_OUT], true);
        nccl_print_moved_cell(t, &h->trouble);
        nccl_print_moved_cell(t, &h->waiting);
    }
    table_end(t, stdout, 2);
}

// ---- calls and NIC counters ----

static void nccl_print_own_cell(table *t, const nccl_overlap_row *x, int way)
{
    words_text bytes = words_at_least(x->own_at_least[way], words_amount(x->own_bytes[way], "bytes"));
    table_cell(t, PLAIN, isnan(x->own_bytes[way]) ? NULL : bytes.text);
}

static void nccl_print_overlap_line(const nccl *n, const nccl_overlap_row *x, table *t)
{
    table_cell(t, PLAIN, n->hosts[x->host].name);
    table_cell(t, PLAIN, n->communicators[x->communicator].label);
    table_cell(t, PLAIN, x->coll);
    table_cell(t, PLAIN, words_binary((double)x->size).text);
    table_printf(t, PLAIN, "%llu", (unsigned long long)x->calls);
    table_cell(t, PLAIN, isnan(x->bytes[SERIES_OUT]) ? NULL : words_amount(x->bytes[SERIES_OUT], "bytes").text);
    nccl_print_own_cell(t, x, SERIES_OUT);
    table_cell(t, PLAIN, isnan(x->bytes[SERIES_IN]) ? NULL : words_amount(x->bytes[SERIES_IN], "bytes").text);
    nccl_print_own_cell(t, x, SERIES_IN);
    table_cell(t, PLAIN, nccl_overlap_say(x).text);
}

static void nccl_print_overlap(const nccl *n, const nccl_counters *c, bool all)
{
    enum { SHOWN = 8 };
    static const column columns[] = {{"host", 0},
                                     {"communicator", 0},
                                     {"collective", 0},
                                     {"size", COLUMN_RIGHT},
                                     {"calls", COLUMN_RIGHT},
                                     {"NICs sent", COLUMN_RIGHT},
                                     {"NCCL", COLUMN_RIGHT},
                                     {"NICs received", COLUMN_RIGHT},
                                     {"NCCL", COLUMN_RIGHT},
                                     {"intervals of the counters", 0}};
    nccl_overlap o;
    nccl_overlap_make(&o, c);
    if (o.count) {
        heading(stdout,
                "NIC counters while calls used the network (shared: by the time that each used it, an estimate)");
        table *t = table_begin(columns, sizeof columns / sizeof *columns);
        for (size_t i = 0; i < o.count && (all || i < SHOWN); i++)
            nccl_print_overlap_line(n, &o.items[i], t);
        table_end(t, stdout, 2);
        if (!all && o.count > SHOWN) printf("  and %zu more (--all)\n", o.count - SHOWN);
    }
    nccl_overlap_free(&o);
}

void nccl_text_print(const nccl *n, const nccl_findings *f, const nccl_comparison *comparison,
                     const nccl_counters *counters, bool all)
{
    nccl_print_findings(f, all);
    if (comparison) nccl_print_comparison(comparison, all);
    if (counters) nccl_print_counters(counters);
    if (counters) nccl_print_overlap(n, counters, all);
    nccl_print_collectives(n, all);
    nccl_print_late(n, all);
    nccl_print_waits(n, all);
    nccl_print_proxies(n, all);
    nccl_print_devices(n, all);
    nccl_print_unknown(f, all);
    nccl_print_logs(n);
}
