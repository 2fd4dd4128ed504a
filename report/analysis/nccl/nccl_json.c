// The results as JSON.
#include "nccl_export.h"

#include "nccl_private.h"
#include "analysis/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void add(json_object *o, const char *key, json_object *value)
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

static void add_text(json_object *o, const char *key, const char *text)
{
    if (text) add(o, key, nccl_json_string(text));
}

static void add_number(json_object *o, const char *key, double number)
{
    char text[40];
    snprintf(text, sizeof text, "%.9g", number);
    add(o, key, isfinite(number) ? json_object_new_double_s(number, text) : NULL);
}

static void add_u64(json_object *o, const char *key, uint64_t value)
{
    add(o, key, json_object_new_uint64(value));
}

// ---- findings ----

static json_object *finding_json(const nccl_finding *x)
{
    json_object *o = json_object_new_object(), *list = json_object_new_array(), *threshold = json_object_new_object();
    add_text(o, "rule", x->rule->name);
    add_text(o, "severity", severity_name(x->severity));
    add_text(o, "device", x->device);
    add_text(o, "class", x->rule->class_name);
    add_text(o, "claim", x->claim);
    add_number(o, "value", x->value);
    add_text(o, "unit", x->rule->unit);
    for (size_t i = 0; i < x->evidence_count; i++) {
        json_object *e = json_object_new_object();
        add_text(e, "counter", x->evidence[i].name);
        add_number(e, "value", x->evidence[i].value);
        add_text(e, "unit", x->evidence[i].unit);
        json_object_array_add(list, e);
    }
    add(o, "evidence", list);
    add_number(threshold, "value", x->rule->limit);
    add_text(threshold, "origin", x->rule->origin);
    add(o, "threshold", threshold);
    if (!isnan(x->cost_us)) add_number(o, "cost_us", x->cost_us);
    if (x->explained_by) add_text(o, "explained_by", x->explained_by);
    add_text(o, "advice", x->rule->advice);
    return o;
}

// "rule: what: reason" of the unknown ones.
static json_object *unknown_json(const char *text)
{
    json_object *o = json_object_new_object();
    const char *colon = strstr(text, ": "), *end = colon ? colon : text + strlen(text);
    add(o, "rule", json_object_new_string_len(text, (int)(end - text)));
    add_text(o, "device", "logs");
    add_text(o, "reason", colon ? colon + 2 : "");
    return o;
}

json_object *nccl_findings_json(const nccl_findings *f)
{
    json_object *o = json_object_new_object(), *verdict = json_object_new_object();
    json_object *items = json_object_new_array(), *unknown = json_object_new_array();
    add_text(o, "format", "netprof-findings");
    add(o, "version", json_object_new_int(1));
    add_text(verdict, "severity", severity_name(f->severity));
    add_text(verdict, "text", f->verdict);
    add(o, "verdict", verdict);
    for (size_t i = 0; i < f->count; i++)
        json_object_array_add(items, finding_json(&f->items[i]));
    for (size_t i = 0; i < f->unknown_count; i++)
        json_object_array_add(unknown, unknown_json(f->unknown[i]));
    add(o, "findings", items);
    add(o, "unknown", unknown);
    add(o, "background", json_object_new_array());
    add_u64(o, "judged", f->judged);
    return o;
}

// ---- everything else ----

static json_object *logs_json(const nccl *n)
{
    json_object *o = json_object_new_object(), *outcomes = json_object_new_object(), *list = json_object_new_array();
    add_u64(o, "files", n->file_count);
    add_u64(o, "bytes", n->size);
    add_u64(o, "unpacked_bytes", n->bytes);
    add_u64(o, "lines", n->lines);
    for (int i = 0; i < NCCL_OUTCOMES; i++)
        add_u64(outcomes, nccl_outcome_name((nccl_outcome)i), n->outcomes[i]);
    add(o, "outcomes", outcomes);
    add_u64(o, "duplicates", n->duplicates);
    add_u64(o, "conflicts", n->conflicts);
    add_u64(o, "invalid_sizes", n->invalid_sizes);
    add_u64(o, "disagreeing", n->disagreeing);
    for (int minor = 0; minor < 10; minor++) {
        char text[8];
        snprintf(text, sizeof text, "v4.%d", minor);
        if (n->versions >> minor & 1) json_object_array_add(list, json_object_new_string(text));
    }
    add(o, "versions", list);
    if (n->member_count) {
        add_u64(o, "first_dump_us", n->first_dump_us);
        add_u64(o, "last_dump_us", n->last_dump_us);
    }
    return o;
}

static json_object *problems_json(const nccl *n)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        json_object *o;
        if (!f->error && !f->problem && !f->tail_cut && !f->first_bad_line) continue;
        o = json_object_new_object();
        add_text(o, "path", f->path);
        add_text(o, "problem", f->error ? strerror(f->error) : f->problem);
        add(o, "tail_cut", json_object_new_boolean(f->tail_cut));
        add_u64(o, "first_bad_line", f->first_bad_line);
        for (int k = NCCL_BAD_JSON; k < NCCL_COLL; k++)
            if (f->outcomes[k]) add_u64(o, nccl_outcome_name((nccl_outcome)k), f->outcomes[k]);
        json_object_array_add(list, o);
    }
    return list;
}

static json_object *spread_json(const nccl_spread *s)
{
    const struct {
        const char *key;
        double value;
    } members[] = {{"min", s->min}, {"p5", s->p5},   {"p25", s->p25}, {"p50", s->p50},  {"p75", s->p75},
                   {"p95", s->p95}, {"p99", s->p99}, {"max", s->max}, {"mean", s->mean}};
    json_object *o = json_object_new_object();
    for (size_t i = 0; s->count && i < sizeof members / sizeof *members; i++)
        add_number(o, members[i].key, members[i].value);
    return o;
}

static void add_spreads(json_object *o, const nccl_spreads *s)
{
    add(o, "wire_us", spread_json(&s->wire_us));
    add(o, "skew_us", spread_json(&s->skew_us));
    add(o, "time_us", spread_json(&s->time_us));
    add(o, "algbw_gbs", spread_json(&s->alg_gbs));
    add(o, "busbw_gbs", spread_json(&s->bus_gbs));
    add(o, "mean_over_ranks_busbw_gbs", spread_json(&s->mean_bus_gbs));
}

static void add_change(json_object *o, const char *key, const nccl_change *change)
{
    json_object *c;
    if (!change->found) return;
    c = json_object_new_object();
    add_u64(c, "sn", change->sn);
    add_number(c, "before_us", change->before);
    add_number(c, "after_us", change->after);
    add(o, key, c);
}

static json_object *series_json(const nccl *n, const nccl_series *s)
{
    json_object *o = json_object_new_object();
    add_text(o, "coll", n->colls[s->coll]);
    add_u64(o, "size_bytes", s->size);
    add_u64(o, "calls", s->instance_count);
    add_u64(o, "incomplete", s->incomplete);
    add_u64(o, "missing_records", s->missing);
    add_u64(o, "total_us", s->time_us);
    add_u64(o, "total_wire_us", s->wire_total_us);
    add_spreads(o, &s->spreads);
    add_number(o, "peak_share", s->peak_share);
    add_change(o, "wire_change", &s->wire_change);
    add_change(o, "skew_change", &s->skew_change);
    return o;
}

static void add_waiting(json_object *o, const nccl_waiting *w)
{
    add_u64(o, "records", w->records);
    add_u64(o, "last_arrivals", w->last_arrivals);
    add_u64(o, "last_alone", w->last_alone);
    add_u64(o, "wait_us_suffered", w->suffered_us);
    add_u64(o, "wait_us_caused", w->caused_us);
    add_u64(o, "cost_us", w->cost_us);
    add_u64(o, "judged", w->judged);
    add_u64(o, "judged_last_alone", w->judged_last);
    add_u64(o, "judged_cost_us", w->judged_cost_us);
    add_number(o, "behind_median_us", w->judged ? w->behind_us / (double)w->judged : NAN);
    add_u64(o, "missing", w->missing);
    add_u64(o, "missing_tail", w->missing_tail);
}

static json_object *communicator_json(const nccl *n, const nccl_communicator *c)
{
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    add_text(o, "label", c->label);
    add_text(o, "id", c->id);
    add_text(o, "name", c->name);
    add_u64(o, "run", c->run);
    add_text(o, "comm_type", nccl_class_name(c->type));
    add_text(o, "meaning", nccl_class_meaning(c->type));
    add_u64(o, "n_ranks", (uint64_t)c->ranks);
    add_u64(o, "nnodes", (uint64_t)c->nodes);
    add_u64(o, "ranks_seen", c->member_count);
    add_u64(o, "calls", c->instances);
    add_u64(o, "complete", c->complete);
    add_u64(o, "records", c->records);
    add_u64(o, "missing", c->missing);
    add_u64(o, "missing_tail", c->missing_tail);
    add_u64(o, "missing_absent", c->missing_absent);
    add_u64(o, "total_us", c->time_us);
    add_u64(o, "total_wire_us", c->wire_us);
    add_number(o, "peak_gbs", c->peak_gbs);
    for (uint32_t i = 0; i < c->operation_count; i++) {
        const nccl_operation *op = &n->operations[c->first_operation + i];
        for (uint32_t k = 0; k < op->series_count; k++)
            json_object_array_add(list, series_json(n, &n->series[op->first_series + k]));
    }
    add(o, "series", list);
    return o;
}

static json_object *kind_json(const nccl *n, const nccl_kind *k)
{
    json_object *o = json_object_new_object();
    add_text(o, "comm_type", nccl_class_name(k->type));
    add_text(o, "meaning", nccl_class_meaning(k->type));
    add_text(o, "coll", n->colls[k->coll]);
    add_u64(o, "size_bytes", k->size);
    add_u64(o, "calls", k->instances);
    add_u64(o, "incomplete", k->incomplete);
    add_u64(o, "total_us", k->time_us);
    add_u64(o, "total_wire_us", k->wire_us);
    add_spreads(o, &k->spreads);
    add_number(o, "peak_share", k->peak_share);
    return o;
}

static json_object *path_json(const nccl_path *p)
{
    json_object *o = json_object_new_object();
    add_text(o, "comm_type", nccl_class_name(p->type));
    add_text(o, "coll", p->what.coll);
    add_text(o, "algo", p->what.algo);
    add_text(o, "proto", p->what.proto);
    add_u64(o, "size_bytes", p->size);
    add_u64(o, "calls", p->instances);
    add(o, "wire_us", spread_json(&p->wire_us));
    add(o, "busbw_gbs", spread_json(&p->bus_gbs));
    return o;
}

static json_object *process_json(const nccl *n, const nccl_process *p)
{
    json_object *o = json_object_new_object();
    add_text(o, "host", n->hosts[p->host].name);
    add(o, "pid", json_object_new_int64(p->pid));
    add_u64(o, "local_rank", p->local);
    add_waiting(o, &p->waiting);
    return o;
}

static json_object *host_json(const nccl_host *h)
{
    json_object *o = json_object_new_object();
    add_text(o, "host", h->name);
    add_u64(o, "processes", h->process_count);
    add_waiting(o, &h->waiting);
    return o;
}

static json_object *compared_json(const nccl_comparison *c, const nccl_compared *r)
{
    json_object *o = json_object_new_object();
    const nccl *n = r->after ? c->after : c->before;
    const nccl_kind *k = r->after ? r->after : r->before;
    add_text(o, "comm_type", nccl_class_name(k->type));
    add_text(o, "coll", n->colls[k->coll]);
    add_u64(o, "size_bytes", k->size);
    add_text(o, "verdict", nccl_verdict_name(r->verdict));
    add_number(o, "wire_us_before", r->before ? r->before->spreads.wire_us.p50 : NAN);
    add_number(o, "wire_us_after", r->after ? r->after->spreads.wire_us.p50 : NAN);
    add_number(o, "wire_ratio", r->wire_ratio);
    add_number(o, "skew_ratio", r->skew_ratio);
    add_number(o, "busbw_ratio", r->bus_ratio);
    add_number(o, "z", r->z);
    return o;
}

static json_object *comparison_json(const nccl_comparison *c)
{
    json_object *o = json_object_new_object(), *rows = json_object_new_array();
    add_number(o, "threshold", NCCL_COMPARE_CHANGE);
    add_number(o, "threshold_z", NCCL_COMPARE_Z);
    add_u64(o, "slower", c->slower);
    add_u64(o, "faster", c->faster);
    add_u64(o, "alike", c->alike);
    for (size_t i = 0; i < c->count; i++)
        json_object_array_add(rows, compared_json(c, &c->rows[i]));
    add(o, "rows", rows);
    return o;
}

static json_object *p2p_json(const nccl *n, const nccl_p2p *p)
{
    json_object *o = json_object_new_object();
    const nccl_member *m = &n->members[p->member];
    add_text(o, "communicator", n->communicators[m->communicator].label);
    add(o, "rank", json_object_new_int64(m->rank));
    add_text(o, "host", n->hosts[n->processes[m->process].host].name);
    add_text(o, "p2p", p->operation);
    if (p->peer >= 0) add(o, "peer", json_object_new_int64(p->peer));
    add_u64(o, "size_bytes", p->size);
    add_u64(o, "records", p->records);
    add(o, "time_us", spread_json(&p->time_us));
    add(o, "busbw_gbs", spread_json(&p->bus_gbs));
    return o;
}

json_object *nccl_json(const nccl *n, const nccl_findings *findings, const nccl_comparison *comparison)
{
    json_object *o = json_object_new_object(), *communicators = json_object_new_array(),
                *kinds = json_object_new_array();
    json_object *ranks = json_object_new_array(), *hosts = json_object_new_array(), *paths = json_object_new_array();
    json_object *pairs = json_object_new_array();
    add_text(o, "format", "netprof-nccl");
    add(o, "version", json_object_new_int(NCCL_JSON_VERSION));
    add(o, "logs", logs_json(n));
    add(o, "problems", problems_json(n));
    if (findings) add(o, "findings", nccl_findings_json(findings));
    for (size_t i = 0; i < n->communicator_count; i++)
        json_object_array_add(communicators, communicator_json(n, &n->communicators[i]));
    for (size_t i = 0; i < n->kind_count; i++)
        json_object_array_add(kinds, kind_json(n, &n->kinds[i]));
    for (size_t i = 0; i < n->path_count; i++)
        json_object_array_add(paths, path_json(&n->paths[i]));
    for (size_t i = 0; i < n->process_count; i++)
        json_object_array_add(ranks, process_json(n, &n->processes[i]));
    for (size_t i = 0; i < n->host_count; i++)
        json_object_array_add(hosts, host_json(&n->hosts[i]));
    for (size_t i = 0; i < n->p2p_count; i++)
        json_object_array_add(pairs, p2p_json(n, &n->p2p[i]));
    add(o, "communicators", communicators);
    add(o, "types", kinds);
    add(o, "algorithms", paths);
    add(o, "ranks", ranks);
    add(o, "hosts", hosts);
    add(o, "p2p", pairs);
    if (comparison) add(o, "comparison", comparison_json(comparison));
    return o;
}
