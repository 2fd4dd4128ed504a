// The results as JSON.
#include "nccl_export.h"

#include "nccl_peers_export.h"

#include "analysis/base/json_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- findings ----

static json_object *nccl_json_finding(const nccl_finding *x)
{
    json_object *o = json_new_object(), *list = json_new_array(), *threshold = json_new_object();
    json_put_text(o, "rule", x->rule->name);
    json_put_text(o, "severity", severity_name(x->severity));
    json_put_text(o, "device", x->device);
    json_put_text(o, "class", x->rule->class_name);
    json_put_text(o, "claim", x->claim);
    json_put_number(o, "value", x->value);
    json_put_text(o, "unit", x->rule->unit);
    for (size_t i = 0; i < x->evidence_count; i++) {
        json_object *e = json_new_object();
        json_put_text(e, "counter", x->evidence[i].name);
        json_put_number(e, "value", x->evidence[i].value);
        json_put_text(e, "unit", x->evidence[i].unit);
        json_append(list, e);
    }
    json_put(o, "evidence", list);
    json_put_number(threshold, "value", x->rule->limit);
    json_put_text(threshold, "origin", x->rule->origin);
    json_put(o, "threshold", threshold);
    if (!isnan(x->cost_us)) json_put_number(o, "cost_s", x->cost_us / 1e6);
    if (!isnan(x->cost_share)) json_put_number(o, "cost_share", x->cost_share);
    if (x->explained_by) json_put_text(o, "explained_by", x->explained_by);
    json_put_text(o, "advice", x->rule->advice);
    return o;
}

// "rule: what: reason" of the unknown ones.
static json_object *nccl_json_unknown(const char *text)
{
    json_object *o = json_new_object();
    const char *colon = strstr(text, ": "), *end = colon ? colon : text + strlen(text);
    json_put(o, "rule", json_new_string_len(text, (int)(end - text)));
    json_put_text(o, "device", "logs");
    json_put_text(o, "reason", colon ? colon + 2 : "");
    return o;
}

static json_object *nccl_json_judged(const nccl_judged *what)
{
    json_object *o = json_new_object();
    json_put_exact(o, "rank_count", what->ranks);
    json_put_exact(o, "late_rank_count", what->late);
    json_put_number(o, "least_lateness_us", what->late_us);
    json_put_exact(o, "communicator_count", what->communicators);
    json_put_exact(o, "wire_communicator_count", what->wires);
    json_put_exact(o, "wire_rank_count", what->wire_ranks);
    json_put_number(o, "least_wire_ratio", what->wire_ratio > 0 ? what->wire_ratio : NAN);
    return o;
}

void nccl_findings_put_json(const nccl_findings *f, json_object *o)
{
    json_object *verdict = json_new_object(), *items = json_new_array(), *unknown = json_new_array();
    json_put_text(verdict, "severity", severity_name(f->severity));
    json_put_text(verdict, "text", f->verdict);
    json_put(o, "verdict", verdict);
    for (size_t i = 0; i < f->count; i++)
        json_append(items, nccl_json_finding(&f->items[i]));
    for (size_t i = 0; i < f->unknown_count; i++)
        json_append(unknown, nccl_json_unknown(f->unknown[i]));
    json_put(o, "findings", items);
    json_put(o, "unknown", unknown);
    json_put_exact(o, "judged", f->judged);
    json_put(o, "judged_of", nccl_json_judged(&f->what));
}

// ---- everything else ----

static json_object *nccl_json_logs(const nccl *n)
{
    json_object *o = json_new_object(), *outcomes = json_new_object(), *list = json_new_array();
    json_put_exact(o, "file_count", n->file_count);
    json_put_exact(o, "bytes", n->size);
    json_put_exact(o, "unpacked_bytes", n->bytes);
    json_put_exact(o, "lines", n->lines);
    for (int i = 0; i < NCCL_OUTCOMES; i++)
        json_put_exact(outcomes, nccl_outcome_name((nccl_outcome)i), n->outcomes[i]);
    json_put(o, "outcomes", outcomes);
    json_put_exact(o, "duplicates", n->duplicates);
    json_put_exact(o, "conflicts", n->conflicts);
    json_put_exact(o, "invalid_sizes", n->invalid_sizes);
    json_put_exact(o, "disagreeing", n->disagreeing);
    for (int i = 0; i < NCCL_VERSIONS; i++) {
        char text[16];
        if (n->versions >> i & 1) json_append(list, json_new_string(nccl_version_name(i, text, sizeof text)));
    }
    json_put(o, "versions", list);
    if (n->member_count) {
        json_put_exact(o, "first_dump_us", n->first_dump_us);
        json_put_exact(o, "last_dump_us", n->last_dump_us);
    }
    return o;
}

static json_object *nccl_json_problems(const nccl *n)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        json_object *o, *outcomes;
        if (!f->error && !f->problem && !f->tail_cut && !f->first_bad_line) continue;
        o = json_new_object();
        outcomes = json_new_object();
        json_put_text(o, "file", f->path);
        json_put_text(o, "text", f->error ? strerror(f->error) : f->problem);
        json_put(o, "tail_cut", json_new_boolean(f->tail_cut));
        json_put_exact(o, "first_bad_line", f->first_bad_line);
        for (int k = NCCL_BAD_JSON; k < NCCL_COLL; k++)
            if (f->outcomes[k]) json_put_exact(outcomes, nccl_outcome_name((nccl_outcome)k), f->outcomes[k]);
        json_put(o, "outcomes", outcomes);
        json_append(list, o);
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
    json_object *o = json_new_object();
    for (size_t i = 0; s->count && i < sizeof members / sizeof *members; i++)
        json_put_number(o, members[i].key, members[i].value);
    return o;
}

static void nccl_json_add_spreads(json_object *o, const nccl_spreads *s)
{
    json_put(o, "wire_us", nccl_json_spread(&s->wire_us));
    json_put(o, "skew_us", nccl_json_spread(&s->skew_us));
    json_put(o, "time_us", nccl_json_spread(&s->time_us));
    json_put(o, "algbw_gbs", nccl_json_spread(&s->alg_gbs));
    json_put(o, "busbw_gbs", nccl_json_spread(&s->bus_gbs));
    json_put(o, "mean_over_ranks_busbw_gbs", nccl_json_spread(&s->mean_bus_gbs));
}

static void nccl_json_add_change(json_object *o, const char *key, const nccl_change *change)
{
    json_object *c;
    if (!change->found) return;
    c = json_new_object();
    json_put_exact(c, "sn", change->sn);
    json_put_number(c, "before_us", change->before);
    json_put_number(c, "after_us", change->after);
    json_put(o, key, c);
}

static json_object *nccl_json_series(const nccl *n, const nccl_series *s)
{
    json_object *o = json_new_object();
    json_put_text(o, "coll", n->colls[s->coll]);
    json_put_exact(o, "size_bytes", s->size);
    json_put_exact(o, "calls", s->instance_count);
    json_put_exact(o, "incomplete_calls", s->incomplete);
    json_put_exact(o, "missing_records", s->missing);
    json_put_exact(o, "total_us", s->time_us);
    json_put_exact(o, "total_wire_us", s->wire_total_us);
    nccl_json_add_spreads(o, &s->spreads);
    json_put_number(o, "peak_share", s->peak_share);
    nccl_json_add_change(o, "wire_change", &s->wire_change);
    nccl_json_add_change(o, "skew_change", &s->skew_change);
    return o;
}

static void nccl_json_add_waiting(json_object *o, const nccl_waiting *w)
{
    json_put_exact(o, "records", w->records);
    json_put_exact(o, "last_arrivals", w->last_arrivals);
    json_put_exact(o, "last_alone", w->last_alone);
    json_put_exact(o, "wait_us_suffered", w->suffered_us);
    json_put_exact(o, "wait_us_caused", w->caused_us);
    json_put_exact(o, "cost_us", w->cost_us);
    json_put_exact(o, "judged", w->judged);
    json_put_exact(o, "judged_last_alone", w->judged_last);
    json_put_exact(o, "judged_cost_us", w->judged_cost_us);
    json_put_number(o, "behind_median_us", w->judged ? w->behind_us / (double)w->judged : NAN);
    json_put_exact(o, "missing", w->missing);
    json_put_exact(o, "missing_tail", w->missing_tail);
}

static json_object *nccl_json_communicator(const nccl *n, const nccl_communicator *c)
{
    json_object *o = json_new_object(), *list = json_new_array();
    json_put_text(o, "label", c->label);
    json_put_text(o, "id", c->id);
    json_put_text(o, "name", c->name);
    json_put_exact(o, "run_number", c->run);
    json_put_text(o, "comm_type", nccl_class_name(c->type));
    json_put_text(o, "meaning", nccl_class_meaning(c->type));
    json_put_exact(o, "rank_count", (uint64_t)c->ranks);
    json_put_exact(o, "host_count", (uint64_t)c->nodes);
    json_put_exact(o, "ranks_seen", c->member_count);
    json_put_exact(o, "calls", c->instances);
    json_put_exact(o, "complete_calls", c->complete);
    json_put_exact(o, "records", c->records);
    json_put_exact(o, "missing", c->missing);
    json_put_exact(o, "missing_tail", c->missing_tail);
    json_put_exact(o, "missing_absent", c->missing_absent);
    json_put_exact(o, "total_us", c->time_us);
    json_put_exact(o, "total_wire_us", c->wire_us);
    json_put_number(o, "peak_gbs", c->peak_gbs);
    for (uint32_t i = 0; i < c->operation_count; i++) {
        const nccl_operation *op = &n->operations[c->first_operation + i];
        for (uint32_t k = 0; k < op->series_count; k++)
            json_append(list, nccl_json_series(n, &n->series[op->first_series + k]));
    }
    json_put(o, "series", list);
    return o;
}

static json_object *nccl_json_kind(const nccl *n, const nccl_kind *k)
{
    json_object *o = json_new_object();
    json_put_text(o, "comm_type", nccl_class_name(k->type));
    json_put_text(o, "meaning", nccl_class_meaning(k->type));
    json_put_text(o, "coll", n->colls[k->coll]);
    json_put_exact(o, "size_bytes", k->size);
    json_put_exact(o, "calls", k->instances);
    json_put_exact(o, "incomplete_calls", k->incomplete);
    json_put_exact(o, "total_us", k->time_us);
    json_put_exact(o, "total_wire_us", k->wire_us);
    nccl_json_add_spreads(o, &k->spreads);
    json_put_number(o, "peak_share", k->peak_share);
    return o;
}

static json_object *nccl_json_path(const nccl_path *p)
{
    json_object *o = json_new_object();
    json_put_text(o, "comm_type", nccl_class_name(p->type));
    json_put_text(o, "coll", p->what.coll);
    json_put_text(o, "algo", p->what.algo);
    json_put_text(o, "proto", p->what.proto);
    json_put_exact(o, "size_bytes", p->size);
    json_put_exact(o, "calls", p->instances);
    json_put(o, "wire_us", nccl_json_spread(&p->wire_us));
    json_put(o, "busbw_gbs", nccl_json_spread(&p->bus_gbs));
    return o;
}

static json_object *nccl_json_process(const nccl *n, const nccl_process *p)
{
    json_object *o = json_new_object();
    json_put_text(o, "host", n->hosts[p->host].name);
    json_put(o, "pid", json_new_int64(p->pid));
    json_put_exact(o, "local_rank", p->local);
    nccl_json_add_waiting(o, &p->waiting);
    return o;
}

static json_object *nccl_json_host(const nccl_host *h)
{
    json_object *o = json_new_object();
    json_put_text(o, "host", h->name);
    json_put_exact(o, "process_count", h->process_count);
    nccl_json_add_waiting(o, &h->waiting);
    return o;
}

static json_object *nccl_json_compared(const nccl_comparison *c, const nccl_compared *r)
{
    json_object *o = json_new_object();
    const nccl *n = r->after ? c->after : c->before;
    const nccl_kind *k = r->after ? r->after : r->before;
    json_put_text(o, "comm_type", nccl_class_name(k->type));
    json_put_text(o, "coll", n->colls[k->coll]);
    json_put_exact(o, "size_bytes", k->size);
    json_put_text(o, "change", nccl_verdict_name(r->verdict));
    json_put_number(o, "wire_us_before", r->before ? r->before->spreads.wire_us.p50 : NAN);
    json_put_number(o, "wire_us_after", r->after ? r->after->spreads.wire_us.p50 : NAN);
    json_put_number(o, "wire_ratio", r->wire_ratio);
    json_put_number(o, "skew_ratio", r->skew_ratio);
    json_put_number(o, "busbw_ratio", r->bus_ratio);
    json_put_number(o, "z", r->z);
    return o;
}

static json_object *nccl_json_comparison(const nccl_comparison *c)
{
    json_object *o = json_new_object(), *rows = json_new_array();
    json_put_number(o, "threshold_ratio", NCCL_COMPARE_CHANGE);
    json_put_number(o, "threshold_z", NCCL_COMPARE_Z);
    json_put_exact(o, "slower", c->slower);
    json_put_exact(o, "faster", c->faster);
    json_put_exact(o, "alike", c->alike);
    for (size_t i = 0; i < c->count; i++)
        json_append(rows, nccl_json_compared(c, &c->rows[i]));
    json_put(o, "rows", rows);
    return o;
}

static json_object *nccl_json_p2p(const nccl *n, const nccl_p2p *p)
{
    json_object *o = json_new_object();
    const nccl_member *m = &n->members[p->member];
    json_put_text(o, "communicator", n->communicators[m->communicator].label);
    json_put(o, "rank", json_new_int64(m->rank));
    json_put_text(o, "host", n->hosts[n->processes[m->process].host].name);
    json_put_text(o, "operation", p->operation);
    if (p->peer >= 0) json_put(o, "peer", json_new_int64(p->peer));
    json_put_exact(o, "size_bytes", p->size);
    json_put_exact(o, "records", p->records);
    json_put(o, "time_us", nccl_json_spread(&p->time_us));
    json_put(o, "busbw_gbs", nccl_json_spread(&p->bus_gbs));
    return o;
}

json_object *nccl_json(const nccl *n, const nccl_findings *findings, const nccl_comparison *comparison)
{
    json_object *o = json_new_object(), *communicators = json_new_array(), *kinds = json_new_array();
    json_object *ranks = json_new_array(), *hosts = json_new_array(), *paths = json_new_array();
    json_object *pairs = json_new_array();
    json_put_text(o, "format", "netprof-nccl");
    json_put(o, "version", json_new_int(NCCL_JSON_VERSION));
    if (findings) nccl_findings_put_json(findings, o);
    json_put(o, "logs", nccl_json_logs(n));
    json_put(o, "problems", nccl_json_problems(n));
    for (size_t i = 0; i < n->communicator_count; i++)
        json_append(communicators, nccl_json_communicator(n, &n->communicators[i]));
    for (size_t i = 0; i < n->kind_count; i++)
        json_append(kinds, nccl_json_kind(n, &n->kinds[i]));
    for (size_t i = 0; i < n->path_count; i++)
        json_append(paths, nccl_json_path(&n->paths[i]));
    for (size_t i = 0; i < n->process_count; i++)
        json_append(ranks, nccl_json_process(n, &n->processes[i]));
    for (size_t i = 0; i < n->host_count; i++)
        json_append(hosts, nccl_json_host(&n->hosts[i]));
    for (size_t i = 0; i < n->p2p_count; i++)
        json_append(pairs, nccl_json_p2p(n, &n->p2p[i]));
    json_put(o, "communicators", communicators);
    json_put(o, "types", kinds);
    json_put(o, "algorithms", paths);
    json_put(o, "ranks", ranks);
    json_put(o, "hosts", hosts);
    json_put(o, "p2p", pairs);
    if (n->proxy_count) json_put(o, "proxies", nccl_proxies_json(n));
    if (n->proxy_count) json_put(o, "peers", nccl_peers_json(n));
    if (n->spent_count) json_put(o, "waits", nccl_waits_json(n));
    if (n->proxied) json_put_exact(o, "proxy_records_without_call", n->untied);
    if (n->used_count) json_put(o, "devices", nccl_devices_json(n));
    if (comparison) json_put(o, "comparison", nccl_json_comparison(comparison));
    return o;
}
