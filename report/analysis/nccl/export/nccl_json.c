// The results as JSON.
#include "nccl_export.h"

#include "analysis/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void nccl_json_add(json_object *o, const char *key, json_object *value)
{
    json_object_object_add(o, key, value);
}

json_object *nccl_json_string(const char *text)
{
    size_t n = 0;
    char *copy = malloc(3 * strlen(text) + 1); // claims are longer than names: whatever the length
    if (!copy) return NULL;
    while (*text) {
        size_t bytes;
        const char *character = utf8_next(&text, &bytes);
        memcpy(copy + n, character, bytes);
        n += bytes;
    }
    json_object *o = json_object_new_string_len(copy, (int)n);
    free(copy);
    return o;
}

static void nccl_json_add_text(json_object *o, const char *key, const char *text)
{
    if (text) nccl_json_add(o, key, nccl_json_string(text));
}

static void nccl_json_add_number(json_object *o, const char *key, double number)
{
    char text[40];
    snprintf(text, sizeof text, "%.9g", number);
    nccl_json_add(o, key, isfinite(number) ? json_object_new_double_s(number, text) : NULL);
}

static void nccl_json_add_u64(json_object *o, const char *key, uint64_t value)
{
    nccl_json_add(o, key, json_object_new_uint64(value));
}

// ---- findings ----

static json_object *nccl_json_finding(const nccl_finding *x)
{
    json_object *o = json_object_new_object(), *list = json_object_new_array(), *threshold = json_object_new_object();
    nccl_json_add_text(o, "rule", x->rule->name);
    nccl_json_add_text(o, "severity", severity_name(x->severity));
    nccl_json_add_text(o, "device", x->device);
    nccl_json_add_text(o, "class", x->rule->class_name);
    nccl_json_add_text(o, "claim", x->claim);
    nccl_json_add_number(o, "value", x->value);
    nccl_json_add_text(o, "unit", x->rule->unit);
    for (size_t i = 0; i < x->evidence_count; i++) {
        json_object *e = json_object_new_object();
        nccl_json_add_text(e, "counter", x->evidence[i].name);
        nccl_json_add_number(e, "value", x->evidence[i].value);
        nccl_json_add_text(e, "unit", x->evidence[i].unit);
        json_object_array_add(list, e);
    }
    nccl_json_add(o, "evidence", list);
    nccl_json_add_number(threshold, "value", x->rule->limit);
    nccl_json_add_text(threshold, "origin", x->rule->origin);
    nccl_json_add(o, "threshold", threshold);
    if (!isnan(x->cost_us)) nccl_json_add_number(o, "cost_us", x->cost_us);
    if (x->explained_by) nccl_json_add_text(o, "explained_by", x->explained_by);
    nccl_json_add_text(o, "advice", x->rule->advice);
    return o;
}

// "rule: what: reason" of the unknown ones.
static json_object *nccl_json_unknown(const char *text)
{
    json_object *o = json_object_new_object();
    const char *colon = strstr(text, ": "), *end = colon ? colon : text + strlen(text);
    nccl_json_add(o, "rule", json_object_new_string_len(text, (int)(end - text)));
    nccl_json_add_text(o, "device", "logs");
    nccl_json_add_text(o, "reason", colon ? colon + 2 : "");
    return o;
}

json_object *nccl_findings_json(const nccl_findings *f)
{
    json_object *o = json_object_new_object(), *verdict = json_object_new_object();
    json_object *items = json_object_new_array(), *unknown = json_object_new_array();
    nccl_json_add_text(o, "format", "netprof-findings");
    nccl_json_add(o, "version", json_object_new_int(1));
    nccl_json_add_text(verdict, "severity", severity_name(f->severity));
    nccl_json_add_text(verdict, "text", f->verdict);
    nccl_json_add(o, "verdict", verdict);
    for (size_t i = 0; i < f->count; i++)
        json_object_array_add(items, nccl_json_finding(&f->items[i]));
    for (size_t i = 0; i < f->unknown_count; i++)
        json_object_array_add(unknown, nccl_json_unknown(f->unknown[i]));
    nccl_json_add(o, "findings", items);
    nccl_json_add(o, "unknown", unknown);
    nccl_json_add(o, "background", json_object_new_array());
    nccl_json_add_u64(o, "judged", f->judged);
    return o;
}

// ---- everything else ----

static json_object *nccl_json_logs(const nccl *n)
{
    json_object *o = json_object_new_object(), *outcomes = json_object_new_object(), *list = json_object_new_array();
    nccl_json_add_u64(o, "files", n->file_count);
    nccl_json_add_u64(o, "bytes", n->size);
    nccl_json_add_u64(o, "unpacked_bytes", n->bytes);
    nccl_json_add_u64(o, "lines", n->lines);
    for (int i = 0; i < NCCL_OUTCOMES; i++)
        nccl_json_add_u64(outcomes, nccl_outcome_name((nccl_outcome)i), n->outcomes[i]);
    nccl_json_add(o, "outcomes", outcomes);
    nccl_json_add_u64(o, "duplicates", n->duplicates);
    nccl_json_add_u64(o, "conflicts", n->conflicts);
    nccl_json_add_u64(o, "invalid_sizes", n->invalid_sizes);
    nccl_json_add_u64(o, "disagreeing", n->disagreeing);
    for (int minor = 0; minor < 10; minor++) {
        char text[8];
        snprintf(text, sizeof text, "v4.%d", minor);
        if (n->versions >> minor & 1) json_object_array_add(list, json_object_new_string(text));
    }
    nccl_json_add(o, "versions", list);
    if (n->member_count) {
        nccl_json_add_u64(o, "first_dump_us", n->first_dump_us);
        nccl_json_add_u64(o, "last_dump_us", n->last_dump_us);
    }
    return o;
}

static json_object *nccl_json_problems(const nccl *n)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        json_object *o;
        if (!f->error && !f->problem && !f->tail_cut && !f->first_bad_line) continue;
        o = json_object_new_object();
        nccl_json_add_text(o, "path", f->path);
        nccl_json_add_text(o, "problem", f->error ? strerror(f->error) : f->problem);
        nccl_json_add(o, "tail_cut", json_object_new_boolean(f->tail_cut));
        nccl_json_add_u64(o, "first_bad_line", f->first_bad_line);
        for (int k = NCCL_BAD_JSON; k < NCCL_COLL; k++)
            if (f->outcomes[k]) nccl_json_add_u64(o, nccl_outcome_name((nccl_outcome)k), f->outcomes[k]);
        json_object_array_add(list, o);
    }
    return list;
}

static json_object *nccl_json_spread(const nccl_spread *s)
{
    const struct {
        const char *key;
        double value;
    } members[] = {{"min", s->min}, {"p5", s->p5},   {"p25", s->p25}, {"p50", s->p50},  {"p75", s->p75},
                   {"p95", s->p95}, {"p99", s->p99}, {"max", s->max}, {"mean", s->mean}};
    json_object *o = json_object_new_object();
    for (size_t i = 0; s->count && i < sizeof members / sizeof *members; i++)
        nccl_json_add_number(o, members[i].key, members[i].value);
    return o;
}

static void nccl_json_add_spreads(json_object *o, const nccl_spreads *s)
{
    nccl_json_add(o, "wire_us", nccl_json_spread(&s->wire_us));
    nccl_json_add(o, "skew_us", nccl_json_spread(&s->skew_us));
    nccl_json_add(o, "time_us", nccl_json_spread(&s->time_us));
    nccl_json_add(o, "algbw_gbs", nccl_json_spread(&s->alg_gbs));
    nccl_json_add(o, "busbw_gbs", nccl_json_spread(&s->bus_gbs));
    nccl_json_add(o, "mean_over_ranks_busbw_gbs", nccl_json_spread(&s->mean_bus_gbs));
}

static void nccl_json_add_change(json_object *o, const char *key, const nccl_change *change)
{
    json_object *c;
    if (!change->found) return;
    c = json_object_new_object();
    nccl_json_add_u64(c, "sn", change->sn);
    nccl_json_add_number(c, "before_us", change->before);
    nccl_json_add_number(c, "after_us", change->after);
    nccl_json_add(o, key, c);
}

static json_object *nccl_json_series(const nccl *n, const nccl_series *s)
{
    json_object *o = json_object_new_object();
    nccl_json_add_text(o, "coll", n->colls[s->coll]);
    nccl_json_add_u64(o, "size_bytes", s->size);
    nccl_json_add_u64(o, "calls", s->instance_count);
    nccl_json_add_u64(o, "incomplete", s->incomplete);
    nccl_json_add_u64(o, "missing_records", s->missing);
    nccl_json_add_u64(o, "total_us", s->time_us);
    nccl_json_add_u64(o, "total_wire_us", s->wire_total_us);
    nccl_json_add_spreads(o, &s->spreads);
    nccl_json_add_number(o, "peak_share", s->peak_share);
    nccl_json_add_change(o, "wire_change", &s->wire_change);
    nccl_json_add_change(o, "skew_change", &s->skew_change);
    return o;
}

static void nccl_json_add_waiting(json_object *o, const nccl_waiting *w)
{
    nccl_json_add_u64(o, "records", w->records);
    nccl_json_add_u64(o, "last_arrivals", w->last_arrivals);
    nccl_json_add_u64(o, "last_alone", w->last_alone);
    nccl_json_add_u64(o, "wait_us_suffered", w->suffered_us);
    nccl_json_add_u64(o, "wait_us_caused", w->caused_us);
    nccl_json_add_u64(o, "cost_us", w->cost_us);
    nccl_json_add_u64(o, "judged", w->judged);
    nccl_json_add_u64(o, "judged_last_alone", w->judged_last);
    nccl_json_add_u64(o, "judged_cost_us", w->judged_cost_us);
    nccl_json_add_number(o, "behind_median_us", w->judged ? w->behind_us / (double)w->judged : NAN);
    nccl_json_add_u64(o, "missing", w->missing);
    nccl_json_add_u64(o, "missing_tail", w->missing_tail);
}

static json_object *nccl_json_communicator(const nccl *n, const nccl_communicator *c)
{
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    nccl_json_add_text(o, "label", c->label);
    nccl_json_add_text(o, "id", c->id);
    nccl_json_add_text(o, "name", c->name);
    nccl_json_add_u64(o, "run", c->run);
    nccl_json_add_text(o, "comm_type", nccl_class_name(c->type));
    nccl_json_add_text(o, "meaning", nccl_class_meaning(c->type));
    nccl_json_add_u64(o, "n_ranks", (uint64_t)c->ranks);
    nccl_json_add_u64(o, "nnodes", (uint64_t)c->nodes);
    nccl_json_add_u64(o, "ranks_seen", c->member_count);
    nccl_json_add_u64(o, "calls", c->instances);
    nccl_json_add_u64(o, "complete", c->complete);
    nccl_json_add_u64(o, "records", c->records);
    nccl_json_add_u64(o, "missing", c->missing);
    nccl_json_add_u64(o, "missing_tail", c->missing_tail);
    nccl_json_add_u64(o, "missing_absent", c->missing_absent);
    nccl_json_add_u64(o, "total_us", c->time_us);
    nccl_json_add_u64(o, "total_wire_us", c->wire_us);
    nccl_json_add_number(o, "peak_gbs", c->peak_gbs);
    for (uint32_t i = 0; i < c->operation_count; i++) {
        const nccl_operation *op = &n->operations[c->first_operation + i];
        for (uint32_t k = 0; k < op->series_count; k++)
            json_object_array_add(list, nccl_json_series(n, &n->series[op->first_series + k]));
    }
    nccl_json_add(o, "series", list);
    return o;
}

static json_object *nccl_json_kind(const nccl *n, const nccl_kind *k)
{
    json_object *o = json_object_new_object();
    nccl_json_add_text(o, "comm_type", nccl_class_name(k->type));
    nccl_json_add_text(o, "meaning", nccl_class_meaning(k->type));
    nccl_json_add_text(o, "coll", n->colls[k->coll]);
    nccl_json_add_u64(o, "size_bytes", k->size);
    nccl_json_add_u64(o, "calls", k->instances);
    nccl_json_add_u64(o, "incomplete", k->incomplete);
    nccl_json_add_u64(o, "total_us", k->time_us);
    nccl_json_add_u64(o, "total_wire_us", k->wire_us);
    nccl_json_add_spreads(o, &k->spreads);
    nccl_json_add_number(o, "peak_share", k->peak_share);
    return o;
}

static json_object *nccl_json_path(const nccl_path *p)
{
    json_object *o = json_object_new_object();
    nccl_json_add_text(o, "comm_type", nccl_class_name(p->type));
    nccl_json_add_text(o, "coll", p->what.coll);
    nccl_json_add_text(o, "algo", p->what.algo);
    nccl_json_add_text(o, "proto", p->what.proto);
    nccl_json_add_u64(o, "size_bytes", p->size);
    nccl_json_add_u64(o, "calls", p->instances);
    nccl_json_add(o, "wire_us", nccl_json_spread(&p->wire_us));
    nccl_json_add(o, "busbw_gbs", nccl_json_spread(&p->bus_gbs));
    return o;
}

static json_object *nccl_json_process(const nccl *n, const nccl_process *p)
{
    json_object *o = json_object_new_object();
    nccl_json_add_text(o, "host", n->hosts[p->host].name);
    nccl_json_add(o, "pid", json_object_new_int64(p->pid));
    nccl_json_add_u64(o, "local_rank", p->local);
    nccl_json_add_waiting(o, &p->waiting);
    return o;
}

static json_object *nccl_json_host(const nccl_host *h)
{
    json_object *o = json_object_new_object();
    nccl_json_add_text(o, "host", h->name);
    nccl_json_add_u64(o, "processes", h->process_count);
    nccl_json_add_waiting(o, &h->waiting);
    return o;
}

static json_object *nccl_json_compared(const nccl_comparison *c, const nccl_compared *r)
{
    json_object *o = json_object_new_object();
    const nccl *n = r->after ? c->after : c->before;
    const nccl_kind *k = r->after ? r->after : r->before;
    nccl_json_add_text(o, "comm_type", nccl_class_name(k->type));
    nccl_json_add_text(o, "coll", n->colls[k->coll]);
    nccl_json_add_u64(o, "size_bytes", k->size);
    nccl_json_add_text(o, "verdict", nccl_verdict_name(r->verdict));
    nccl_json_add_number(o, "wire_us_before", r->before ? r->before->spreads.wire_us.p50 : NAN);
    nccl_json_add_number(o, "wire_us_after", r->after ? r->after->spreads.wire_us.p50 : NAN);
    nccl_json_add_number(o, "wire_ratio", r->wire_ratio);
    nccl_json_add_number(o, "skew_ratio", r->skew_ratio);
    nccl_json_add_number(o, "busbw_ratio", r->bus_ratio);
    nccl_json_add_number(o, "z", r->z);
    return o;
}

static json_object *nccl_json_comparison(const nccl_comparison *c)
{
    json_object *o = json_object_new_object(), *rows = json_object_new_array();
    nccl_json_add_number(o, "threshold", NCCL_COMPARE_CHANGE);
    nccl_json_add_number(o, "threshold_z", NCCL_COMPARE_Z);
    nccl_json_add_u64(o, "slower", c->slower);
    nccl_json_add_u64(o, "faster", c->faster);
    nccl_json_add_u64(o, "alike", c->alike);
    for (size_t i = 0; i < c->count; i++)
        json_object_array_add(rows, nccl_json_compared(c, &c->rows[i]));
    nccl_json_add(o, "rows", rows);
    return o;
}

static json_object *nccl_json_p2p(const nccl *n, const nccl_p2p *p)
{
    json_object *o = json_object_new_object();
    const nccl_member *m = &n->members[p->member];
    nccl_json_add_text(o, "communicator", n->communicators[m->communicator].label);
    nccl_json_add(o, "rank", json_object_new_int64(m->rank));
    nccl_json_add_text(o, "host", n->hosts[n->processes[m->process].host].name);
    nccl_json_add_text(o, "p2p", p->operation);
    if (p->peer >= 0) nccl_json_add(o, "peer", json_object_new_int64(p->peer));
    nccl_json_add_u64(o, "size_bytes", p->size);
    nccl_json_add_u64(o, "records", p->records);
    nccl_json_add(o, "time_us", nccl_json_spread(&p->time_us));
    nccl_json_add(o, "busbw_gbs", nccl_json_spread(&p->bus_gbs));
    return o;
}

json_object *nccl_json(const nccl *n, const nccl_findings *findings, const nccl_comparison *comparison)
{
    json_object *o = json_object_new_object(), *communicators = json_object_new_array(),
                *kinds = json_object_new_array();
    json_object *ranks = json_object_new_array(), *hosts = json_object_new_array(), *paths = json_object_new_array();
    json_object *pairs = json_object_new_array();
    nccl_json_add_text(o, "format", "netprof-nccl");
    nccl_json_add(o, "version", json_object_new_int(NCCL_JSON_VERSION));
    nccl_json_add(o, "logs", nccl_json_logs(n));
    nccl_json_add(o, "problems", nccl_json_problems(n));
    if (findings) nccl_json_add(o, "findings", nccl_findings_json(findings));
    for (size_t i = 0; i < n->communicator_count; i++)
        json_object_array_add(communicators, nccl_json_communicator(n, &n->communicators[i]));
    for (size_t i = 0; i < n->kind_count; i++)
        json_object_array_add(kinds, nccl_json_kind(n, &n->kinds[i]));
    for (size_t i = 0; i < n->path_count; i++)
        json_object_array_add(paths, nccl_json_path(&n->paths[i]));
    for (size_t i = 0; i < n->process_count; i++)
        json_object_array_add(ranks, nccl_json_process(n, &n->processes[i]));
    for (size_t i = 0; i < n->host_count; i++)
        json_object_array_add(hosts, nccl_json_host(&n->hosts[i]));
    for (size_t i = 0; i < n->p2p_count; i++)
        json_object_array_add(pairs, nccl_json_p2p(n, &n->p2p[i]));
    nccl_json_add(o, "communicators", communicators);
    nccl_json_add(o, "types", kinds);
    nccl_json_add(o, "algorithms", paths);
    nccl_json_add(o, "ranks", ranks);
    nccl_json_add(o, "hosts", hosts);
    nccl_json_add(o, "p2p", pairs);
    if (comparison) nccl_json_add(o, "comparison", nccl_json_comparison(comparison));
    return o;
}
