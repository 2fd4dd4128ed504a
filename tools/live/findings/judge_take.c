#include "judge_take.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JUDGE_ENDED_MOST = 200 };

static const char *judge_text(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string) ? json_object_get_string(v)
                                                                                             : NULL;
}

static severity judge_verdict(json_object *o, const char **text)
{
    json_object *verdict;
    severity s = SEVERITY_UNKNOWN;
    *text = NULL;
    if (!json_object_object_get_ex(o, "verdict", &verdict)) return s;
    const char *name = judge_text(verdict, "severity");
    *text = judge_text(verdict, "text");
    if (!name || !severity_parse(name, &s)) return SEVERITY_UNKNOWN;
    return s;
}

// ---- one group ----

const char *judge_file_of(const judge *j, const judge_group *g, size_t host)
{
    return g->small ? j->hosts[host].small : j->hosts[host].file;
}

// Of a group of thousands each is looked for.
static judge_names *judge_by_file(const judge *j, const judge_group *g)
{
    judge_names *files = NULL;
    sh_new_strdup(files);
    for (size_t i = 0; i < arrlenu(g->hosts); i++) {
        const char *file = judge_file_of(j, g, g->hosts[i]);
        if (file) shput(files, file, g->hosts[i]);
    }
    return files;
}

static void judge_take_verdict(judge_host *h, json_object *told)
{
    const char *text;
    severity s = judge_verdict(told, &text);
    // In several groups: the worst counts.
    if (h->state == JUDGE_JUDGED && h->text && s <= h->severity) return;
    free(h->text);
    h->state = JUDGE_JUDGED;
    h->severity = s;
    h->text = memory_strdup(text ? text : "");
}

static void judge_take_finding(const judge_group *g, const judge_host *h, json_object *told, judge_raw **to)
{
    json_object *v;
    const char *name = judge_text(told, "severity"), *device = judge_text(told, "device"),
               *name_of_rule = judge_text(told, "rule");
    severity s;
    if (!name || !name_of_rule || !severity_parse(name, &s) || s < SEVERITY_WATCH) return;
    bool several = json_object_object_get_ex(told, "host_count", &v) && json_object_get_int64(v) > 1;
    judge_raw r = {.told = json_object_get(told),
                   .session = g->session,
                   .host = memory_strdup(several ? "" : h->name),
                   .severity = s,
                   .cost_s = NAN};
    if (json_object_object_get_ex(told, "cost_s", &v) && v) r.cost_s = json_object_get_double(v);
    r.key = judge_key(r.host, device ? device : "", name_of_rule, g->session ? g->session : "");
    arrput(*to, r);
}

static void judge_take_findings(const judge_group *g, const judge_host *h, json_object *told, judge_raw **to)
{
    json_object *list;
    if (!json_object_object_get_ex(told, "findings", &list) || !json_object_is_type(list, json_type_array)) return;
    for (size_t i = 0; i < json_object_array_length(list); i++)
        judge_take_finding(g, h, json_object_array_get_idx(list, i), to);
}

// The worst first; of one severity as they are.
static void judge_sort_by_severity(judge_raw *raw)
{
    judge_raw *sorted = NULL;
    for (int s = SEVERITIES; s-- > 0;)
        for (size_t i = 0; i < arrlenu(raw); i++)
            if ((int)raw[i].severity == s) arrput(sorted, raw[i]);
    if (sorted) memcpy(raw, sorted, arrlenu(sorted) * sizeof *raw);
    arrfree(sorted);
}

void judge_take_group(judge *j, judge_group *g, judge_raw **to)
{
    json_object *hosts;
    const char *text = NULL;
    g->severity = judge_verdict(g->told, &text);
    g->text = memory_strdup(text ? text : "");
    if (json_object_object_get_ex(g->told, "hosts", &hosts) && json_object_is_type(hosts, json_type_array)) {
        judge_names *files = judge_by_file(j, g);
        for (size_t i = 0; i < json_object_array_length(hosts); i++) {
            json_object *one = json_object_array_get_idx(hosts, i);
            const char *file = judge_text(one, "files");
            ptrdiff_t at = file ? shgeti(files, file) : -1;
            if (at < 0) continue;
            judge_host *h = &j->hosts[files[at].value];
            judge_take_verdict(h, one);
            judge_take_findings(g, h, one, to);
        }
        shfree(files);
    } else if (arrlenu(g->hosts) == 1) {
        judge_take_verdict(&j->hosts[g->hosts[0]], g->told);
        judge_take_findings(g, &j->hosts[g->hosts[0]], g->told, to);
    }
    judge_sort_by_severity(*to);
}

// ---- all groups ----

static bool judge_is_before(const judge_raw *a, const judge_raw *b)
{
    if (a->severity != b->severity) return a->severity > b->severity;
    return (isnan(b->cost_s) && !isnan(a->cost_s)) || a->cost_s > b->cost_s;
}

judge_raw *judge_merge(judge_raw **lists, size_t count)
{
    size_t *at = memory_calloc(count + 1, sizeof *at);
    judge_raw *all = NULL;
    for (;;) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (at[i] < arrlenu(lists[i]) &&
                (best == count || judge_is_before(&lists[i][at[i]], &lists[best][at[best]])))
                best = i;
        if (best == count) break;
        arrput(all, lists[best][at[best]]);
        at[best]++;
    }
    for (size_t i = 0; i < count; i++)
        arrfree(lists[i]);
    free(at);
    return all;
}

// ---- over time ----

static void judge_see(judge *j, judge_finding *x, judge_raw *r)
{
    json_object_put(x->told);
    free(x->session);
    x->told = r->told;
    x->session = r->session ? memory_strdup(r->session) : NULL;
    x->severity = r->severity;
    if (x->worst < x->severity) x->worst = x->severity;
    x->seen_ns = j->window.to_ns;
    x->now = true;
    free(r->host);
    free(r->key);
}

static judge_finding judge_begin(judge *j, judge_raw *r)
{
    judge_finding x = {.key = memory_strdup(r->key), .host = memory_strdup(r->host), .begin_ns = j->window.to_ns};
    judge_see(j, &x, r);
    return x;
}

// Where it was found it would be found again. A node that is not judged may have it still.
static bool judge_has_ended(judge *j, const judge_finding *x, int64_t hold_ns)
{
    const judge_host *h = *x->host ? judge_find_host(j, x->host) : NULL;
    if (*x->host && h && h->state == JUDGE_GONE) return true;
    if (*x->host && (!h || h->state != JUDGE_JUDGED)) return false;
    // Of several nodes: as long as their session goes on, only where they were held against each other again.
    ptrdiff_t s = !*x->host && x->session && j->sessions ? shgeti(j->sessions, x->session) : -1;
    if (s >= 0 && !j->sessions[s].value) return false;
    return j->window.to_ns - x->seen_ns >= hold_ns;
}

// Ended now, and before.
static void judge_move_rest(judge *j, judge_finding **to, judge_finding **fresh, judge_finding **ended, int64_t hold_ns)
{
    for (size_t i = 0; i < arrlenu(j->findings); i++) {
        judge_finding x = j->findings[i];
        if (!x.key) continue; // moved before
        x.now = false;
        if (!x.end_ns && !judge_has_ended(j, &x, hold_ns)) {
            arrput(*to, x);
            continue;
        }
        if (!x.end_ns) {
            x.end_ns = x.seen_ns;
            arrput(*fresh, x);
        } else if (arrlenu(*ended) < JUDGE_ENDED_MOST) {
            arrput(*ended, x);
        } else {
            judge_free_finding(&x);
        }
    }
}

void judge_update(judge *j, judge_raw *raw, int64_t hold_ns)
{
    judge_names *open = NULL, *taken = NULL;
    judge_finding *next = NULL, *fresh = NULL, *ended = NULL;
    for (size_t i = 0; i < arrlenu(j->findings); i++) // between windows that do not meet nobody knows that it went on
        if (!j->findings[i].end_ns && j->findings[i].seen_ns + hold_ns >= j->window.from_ns)
            shput(open, j->findings[i].key, i);
    for (size_t i = 0; i < arrlenu(raw); i++) {
        ptrdiff_t again = shgeti(taken, raw[i].key), k = shgeti(open, raw[i].key);
        if (again >= 0) { // another group found it as well: the worse one came first
            json_object_put(raw[i].told);
            free(raw[i].host);
            free(raw[i].key);
            continue;
        }
        judge_finding x;
        if (k >= 0) {
            size_t at = open[k].value;
            x = j->findings[at];
            j->findings[at] = (judge_finding){.key = NULL};
            judge_see(j, &x, &raw[i]);
        } else {
            x = judge_begin(j, &raw[i]);
        }
        arrput(next, x);
        shput(taken, x.key, 1);
    }
    shfree(open);
    shfree(taken);
    judge_move_rest(j, &next, &fresh, &ended, hold_ns);
    for (size_t i = 0; i < arrlenu(fresh); i++)
        arrput(next, fresh[i]);
    arrfree(fresh);
    for (size_t i = 0; i < arrlenu(ended); i++)
        arrput(next, ended[i]);
    arrfree(ended);
    arrfree(j->findings);
    arrfree(raw);
    j->findings = next;
}

// ---- the verdict ----

static char *judge_unjudged_text(const judge *j, size_t count, size_t all, const judge_host *first)
{
    (void)j;
    return memory_format("Could not be judged on %zu of %s, first %s: %s", count, words_many(all, "node").text,
                         first->name, first->text);
}

static void judge_append(char **text, char *more)
{
    char *whole = memory_format("%s; %s", *text, more);
    free(*text);
    free(more);
    *text = whole;
}

static const judge_group *judge_worst(const judge_group *groups, size_t count)
{
    const judge_group *worst = NULL;
    for (size_t i = 0; i < count; i++)
        if (groups[i].told && (!worst || groups[i].severity > worst->severity)) worst = &groups[i];
    return worst;
}

// "warn on 2 of 1000 nodes, first n11: ...", as netprof check says it of one group.
static char *judge_groups_text(const judge *j, const judge_group *worst, const judge_raw *raw, size_t judged)
{
    const judge_host *first = NULL;
    size_t alike = 0;
    for (size_t i = 0; i < arrlenu(j->hosts); i++) {
        const judge_host *h = &j->hosts[i];
        if (h->state != JUDGE_JUDGED || h->severity != worst->severity) continue;
        if (!alike++) first = h;
    }
    if (worst->severity < SEVERITY_UNKNOWN)
        return memory_format("No fault found on %s", words_many(judged, "node").text);
    if (arrlenu(raw) && *raw[0].host)
        for (size_t i = 0; i < arrlenu(j->hosts); i++)
            if (strcmp(j->hosts[i].name, raw[0].host) == 0) first = &j->hosts[i];
    if (!first || (arrlenu(raw) && !*raw[0].host)) return memory_strdup(worst->text);
    return memory_format("%s on %zu of %s, first %s: %s",
                         worst->severity == SEVERITY_UNKNOWN ? "Could not be judged" : severity_name(worst->severity),
                         alike, words_many(judged, "node").text, first->name, first->text);
}

void judge_conclude(judge *j, const judge_group *groups, size_t count, const judge_raw *raw)
{
    const judge_group *worst = judge_worst(groups, count);
    const judge_host *first = NULL;
    size_t unjudged = 0, judged = 0, gone = 0;
    for (size_t i = 0; i < arrlenu(j->hosts); i++) {
        bool is_judged = j->hosts[i].state == JUDGE_JUDGED, is_gone = j->hosts[i].state == JUDGE_GONE;
        if (!is_judged && !is_gone && !unjudged++) first = &j->hosts[i];
        judged += is_judged;
        gone += is_gone;
    }
    free(j->window.text);
    j->window.severity = worst ? worst->severity : SEVERITY_UNKNOWN;
    if (worst)
        j->window.text = count == 1 ? memory_strdup(worst->text) : judge_groups_text(j, worst, raw, judged);
    else if (!unjudged)
        j->window.text = memory_strdup("Could not be judged: no node has sent anything yet");
    if (unjudged && (!worst || worst->severity < SEVERITY_UNKNOWN)) {
        // Good of some says nothing of the others.
        if (worst) free(j->window.text);
        j->window.severity = SEVERITY_UNKNOWN;
        j->window.text = judge_unjudged_text(j, unjudged, judged + unjudged, first);
    } else if (unjudged) {
        judge_append(&j->window.text, memory_format("%s could not be judged, first %s: %s",
                                                    words_many(unjudged, "other node").text, first->name, first->text));
    }
    if (gone)
        judge_append(&j->window.text,
                     memory_format("%s left out, not heard from for more than a day", words_many(gone, "node").text));
}
