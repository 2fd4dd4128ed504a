#include "nccl_counters.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/json_values.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double nccl_counters_time_s(const series *s, uint64_t time_us)
{
    return (double)time_us / 1e6 - (double)s->begin_ns / 1e9;
}

static void nccl_counters_window(const nccl *n, const nccl_host *h, const series *s, double *from_s, double *to_s)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t i = h->first_process; i < h->first_process + h->process_count; i++) {
        if (n->processes[i].first_dump_us < first) first = n->processes[i].first_dump_us;
        if (n->processes[i].last_dump_us > last) last = n->processes[i].last_dump_us;
    }
    *from_s = nccl_counters_time_s(s, first);
    *to_s = nccl_counters_time_s(s, last);
}

static double nccl_counters_overlap(double from_s, double to_s, const nccl_counters_host *h)
{
    double from = from_s > h->from_s ? from_s : h->from_s, to = to_s < h->to_s ? to_s : h->to_s;
    return to > from ? to - from : 0;
}

static void nccl_counters_add_bytes(nccl_counters_host *h, const series *s)
{
    const series_run *run = &s->runs[h->run];
    h->bytes[0] = h->bytes[1] = h->peak_rate[0] = h->peak_rate[1] = NAN;
    for (size_t i = run->first_device; i < run->first_device + run->device_count; i++) {
        const series_device *d = &s->devices[i];
        for (size_t k = 0; d->chosen && k < d->count; k++)
            for (int way = 0; way < 2; way++) {
                double seconds = nccl_counters_overlap(d->steps[k].from_s, d->steps[k].to_s, h),
                       rate = d->steps[k].rate[way];
                if (d->steps[k].gap || isnan(rate) || seconds <= 0) continue;
                h->bytes[way] = (isnan(h->bytes[way]) ? 0 : h->bytes[way]) + rate * seconds;
                if (!(h->peak_rate[way] >= rate)) h->peak_rate[way] = rate;
            }
    }
}

typedef struct tally {
    size_t steps;
    double amount;
} tally;

static void nccl_counters_keep(nccl_counters_host *h, const series *s, const tally *tallies)
{
    size_t most[2] = {0, 0};
    for (size_t i = 0; i < s->counter_count; i++) {
        const series_counter *c = &s->counters[i];
        nccl_moved *to = c->trouble ? &h->trouble : &h->waiting;
        if (!tallies[i].steps) continue;
        ++*(c->trouble ? &h->trouble_count : &h->waiting_count);
        if (tallies[i].steps <= most[c->trouble]) continue;
        most[c->trouble] = tallies[i].steps;
        *to = (nccl_moved){c->name, c->unit ? c->unit : "", tallies[i].amount};
    }
}

static void nccl_counters_add_events(nccl_counters_host *h, const series *s)
{
    const series_run *run = &s->runs[h->run];
    tally *tallies = memory_calloc(s->counter_count, sizeof *tallies);
    for (size_t i = 0; i < s->event_count; i++) {
        const series_event *e = &s->events[i];
        if (e->device < run->first_device || e->device >= run->first_device + run->device_count) continue;
        if (nccl_counters_overlap(e->from_s, e->to_s, h) <= 0) continue;
        tallies[e->counter].steps++;
        tallies[e->counter].amount += e->amount;
    }
    nccl_counters_keep(h, s, tallies);
    free(tallies);
}

static void nccl_counters_add_host(nccl_counters *c, uint32_t host, size_t run)
{
    nccl_counters_host h = {.host = host, .run = run};
    const series_run *r = &c->s->runs[run];
    nccl_counters_window(c->n, &c->n->hosts[host], c->s, &h.from_s, &h.to_s);
    if (r->begin_s > h.from_s) h.from_s = r->begin_s;
    if (r->end_s < h.to_s) h.to_s = r->end_s;
    if (!(h.to_s > h.from_s)) return; // another time
    nccl_counters_add_bytes(&h, c->s);
    nccl_counters_add_events(&h, c->s);
    c->hosts[c->count++] = h;
}

void nccl_counters_make(nccl_counters *c, const nccl *n, const series *s)
{
    *c = (nccl_counters){.n = n, .s = s};
    c->hosts = memory_calloc(n->host_count, s->run_count * sizeof *c->hosts);
    for (uint32_t i = 0; i < n->host_count; i++)
        for (size_t k = 0; k < s->run_count; k++)
            if (text_same_host(n->hosts[i].name, s->runs[k].host)) nccl_counters_add_host(c, i, k);
}

void nccl_counters_free(nccl_counters *c)
{
    free(c->hosts);
    *c = (nccl_counters){0};
}

// ---- findings ----

static bool nccl_counters_is_accused(const nccl_findings *f, uint32_t host)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].severity >= SEVERITY_WATCH && f->items[i].host == host) return true;
    return false;
}

static void nccl_counters_describe(char *text, size_t size, const nccl_moved *moved, size_t count, const char *kind)
{
    if (!moved->counter)
        snprintf(text, size, "no %s", kind);
    else
        snprintf(text, size, "%s (%.400s %s%s)", kind, moved->counter, words_volume(moved->amount, moved->unit).text,
                 count > 1 ? ", and others" : "");
}

static char *nccl_counters_claim(const nccl_counters *c, const nccl_counters_host *h)
{
    char trouble[700], waiting[700], text[2400];
    nccl_counters_describe(trouble, sizeof trouble, &h->trouble, h->trouble_count, "trouble");
    nccl_counters_describe(waiting, sizeof waiting, &h->waiting, h->waiting_count, "waiting or congestion");
    snprintf(text, sizeof text,
             "the NIC counters of host %.511s show %s and %s in the %s that recording and logs share",
             c->n->hosts[h->host].name, trouble, waiting, words_duration(h->to_s - h->from_s).text);
    return memory_strdup(text);
}

void nccl_counters_findings(nccl_findings *f, const nccl_counters *c)
{
    const nccl_rule *found = nccl_rules();
    while (found->name && strcmp(found->name, "nccl-nic-counters") != 0)
        found++;
    size_t known = f->count;
    for (size_t i = 0; i < c->count; i++) {
        const nccl_counters_host *h = &c->hosts[i];
        if (!nccl_counters_is_accused(f, h->host)) continue;
        nccl_finding finding = {.rule = found,
                                .severity = SEVERITY_INFO,
                                .claim = nccl_counters_claim(c, h),
                                .value = (double)(h->trouble_count + h->waiting_count),
                                .device = c->n->hosts[h->host].name,
                                .communicator = NCCL_NONE,
                                .operation = NCCL_NONE,
                                .series = NCCL_NONE,
                                .member = NCCL_NONE,
                                .host = h->host,
                                .receiver = NCCL_NONE,
                                .rail = NCCL_NONE,
                                .cost_us = NAN,
                                .cost_share = NAN};
        arrput(f->items, finding);
        f->count++;
    }
    f->judged += f->count - known;
}

// ---- JSON ----

static json_object *nccl_counters_moved_json(const nccl_moved *moved)
{
    json_object *o;
    if (!moved->counter) return NULL;
    o = json_new_object();
    json_put(o, "counter", json_text_value(moved->counter));
    json_put(o, "delta", json_number_value(moved->amount));
    json_put(o, "unit", json_text_value(moved->unit));
    return o;
}

json_object *nccl_counters_json(const nccl_counters *c)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < c->count; i++) {
        const nccl_counters_host *h = &c->hosts[i];
        json_object *o = json_new_object();
        json_put(o, "host", json_text_value(c->n->hosts[h->host].name));
        json_put(o, "elapsed_s", json_number_value(h->to_s - h->from_s));
        json_put(o, "rx_bytes", json_number_value(h->bytes[SERIES_IN]));
        json_put(o, "tx_bytes", json_number_value(h->bytes[SERIES_OUT]));
        json_put(o, "peak_rx_bytes_per_s", json_number_value(h->peak_rate[SERIES_IN]));
        json_put(o, "peak_tx_bytes_per_s", json_number_value(h->peak_rate[SERIES_OUT]));
        json_put(o, "trouble", nccl_counters_moved_json(&h->trouble));
        json_put(o, "waiting", nccl_counters_moved_json(&h->waiting));
        json_append(list, o);
    }
    return list;
}
