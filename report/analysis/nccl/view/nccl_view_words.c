// Findings and the sentences of the first page.
#include "nccl_view_parts.h"

#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/nccl/findings/nccl_findings_make.h"

#include <math.h>

// ---- findings and sentences ----

void nccl_view_add_findings(nccl_view_making *m)
{
    nccl_view *v = m->v;
    const nccl_findings *f = m->f;
    size_t count = f->count < NCCL_VIEW_FINDINGS ? f->count : NCCL_VIEW_FINDINGS;
    v->severity = f->severity;
    v->findings_left = f->count - count;
    v->findings.items = nccl_view_take(v, count, sizeof *v->findings.items);
    for (size_t i = 0; i < count; i++) {
        const nccl_finding *x = &f->items[i];
        nccl_view_finding *to = &v->findings.items[v->findings.count++];
        *to = (nccl_view_finding){.severity = x->severity, .value = x->value, .limit = x->rule->limit};
        to->rule = x->rule->name;
        to->device = nccl_view_text(v, x->device);
        to->claim = nccl_view_text(v, x->claim);
        to->unit = x->rule->unit;
        to->origin = x->rule->origin;
        to->advice = x->rule->advice;
        to->explained_by = x->explained_by ? x->explained_by : "";
        to->evidence.items = nccl_view_take(v, x->evidence_count, sizeof *to->evidence.items);
        for (size_t k = 0; k < x->evidence_count; k++)
            to->evidence.items[to->evidence.count++] = (nccl_view_evidence){
                nccl_view_text(v, x->evidence[k].name), nccl_view_text(v, x->evidence[k].unit), x->evidence[k].value};
    }
    v->unknown.items = nccl_view_take(v, f->unknown_count, sizeof *v->unknown.items);
    for (size_t i = 0; i < f->unknown_count && i < NCCL_VIEW_FINDINGS; i++)
        v->unknown.items[v->unknown.count++] = (nccl_view_line){SEVERITY_UNKNOWN, nccl_view_text(v, f->unknown[i])};
}

enum { SENTENCES = 6 };

static const char *say_capital(nccl_view_making *m, const char *text)
{
    char *copy = (char *)(uintptr_t)nccl_view_text(m->v, text);
    text_capital(copy);
    return copy;
}

static void say_sentence(nccl_view_making *m, severity s, const char *text)
{
    nccl_view *v = m->v;
    if (v->sentences.count < SENTENCES) v->sentences.items[v->sentences.count++] = (nccl_view_line){s, text};
}

// Which findings are said on the first page: the worst, at most two of a rule, one of the data's own.
static bool say_is_said(const nccl_view_making *m, size_t i, size_t said)
{
    const nccl_finding *x = &m->f->items[i];
    size_t alike = 0;
    bool data = strcmp(x->rule->class_name, "data") == 0;
    for (size_t k = 0; k < i; k++)
        alike += m->f->items[k].rule == x->rule || (data && strcmp(m->f->items[k].rule->class_name, "data") == 0);
    return x->severity >= SEVERITY_WATCH && !x->explained_by && alike < (data ? 1 : 2) && (data || said < 3);
}

static bool say_has_class(const nccl_view_making *m, const char *name)
{
    for (size_t i = 0; i < m->f->count; i++)
        if (m->f->items[i].severity >= SEVERITY_WATCH && strcmp(m->f->items[i].rule->class_name, name) == 0)
            return true;
    return false;
}

static const nccl_view_size *say_largest_size(const nccl_view *v)
{
    const nccl_view_size *best = NULL;
    for (size_t i = 0; i < v->sizes.count; i++)
        if (v->sizes.items[i].bus_gbs.count) best = &v->sizes.items[i];
    return best;
}

static const char *say_size(nccl_view_making *m, uint64_t bytes)
{
    return nccl_view_text(m->v, words_binary((double)bytes).text);
}

// Describes the wire if no finding is about it.
static void say_wire(nccl_view_making *m)
{
    const nccl_view *v = m->v;
    const nccl_view_size *s = say_largest_size(v);
    const char *of_peak = "";
    if (!s || say_has_class(m, "wire")) return;
    if (!isnan(v->main_peak_gbs))
        of_peak = nccl_view_format(m->v, ", %s of the peak", words_share(s->bus_gbs.p50 / v->main_peak_gbs).text);
    say_sentence(
        m, isnan(v->main_peak_gbs) ? SEVERITY_INFO : SEVERITY_OK,
        nccl_view_format(
            m->v, "The wire: %s of %s on %s moves %s in the median%s; nine of ten calls %s to %s.", v->main_coll,
            say_size(m, s->size), v->main_label, words_quantity(s->bus_gbs.p50 * 1e9, "B/s").text, of_peak,
            words_quantity(s->bus_gbs.p5 * 1e9, "B/s").text, words_quantity(s->bus_gbs.p95 * 1e9, "B/s").text));
}

static const char *say_seconds(nccl_view_making *m, double us)
{
    return nccl_view_text(m->v, words_duration(us / 1e6).text);
}

// The same process under the name that it has in the communicator of the finding, and what it cost in all.
static void say_process(nccl_view_making *m, const nccl_finding *x)
{
    const nccl *n = m->n;
    if (x->member == NCCL_NONE || strcmp(x->rule->class_name, "late") != 0 || isnan(x->cost_us)) return;
    const nccl_member *of = &n->members[x->member];
    const nccl_process *p = &n->processes[of->process];
    const char *also = nccl_widest_member(n, of->process) == of
                           ? ""
                           : nccl_view_format(m->v, "is rank %lld of %s, and ", (long long)of->rank,
                                              n->communicators[of->communicator].label);
    say_sentence(m, SEVERITY_INFO,
                 nccl_view_format(m->v,
                                  "That process (pid %lld, local rank %u) %scost %s in all its communicators together.",
                                  (long long)p->pid, p->local, also, say_seconds(m, x->cost_us)));
}

// Shortens advice for use after "Look next: ".
static const char *say_look_at(const char *advice)
{
    static const char verb[] = "look at ";
    return strncmp(advice, verb, sizeof verb - 1) == 0 ? advice + sizeof verb - 1 : advice;
}

void nccl_view_say_all(nccl_view_making *m)
{
    size_t said = 0;
    const nccl_finding *lead = NULL;
    m->v->sentences.items = nccl_view_take(m->v, SENTENCES, sizeof(nccl_view_line));
    for (size_t i = 0; i < m->f->count && said < 4; i++) {
        if (!say_is_said(m, i, said)) continue;
        if (!lead) lead = &m->f->items[i];
        say_sentence(m, m->f->items[i].severity, nccl_view_format(m->v, "%s.", say_capital(m, m->f->items[i].claim)));
        say_process(m, &m->f->items[i]);
        said++;
    }
    if (!said && (m->v->completeness_known || !m->n->instance_count))
        say_sentence(m, m->f->severity, nccl_view_format(m->v, "%s.", m->f->verdict));
    say_wire(m);
    for (size_t i = 0; i < m->f->count; i++)
        if (strcmp(m->f->items[i].rule->name, "nccl-mean-misleads") == 0)
            say_sentence(m, SEVERITY_INFO, nccl_view_format(m->v, "%s.", say_capital(m, m->f->items[i].claim)));
    if (lead && *lead->rule->advice)
        say_sentence(m, SEVERITY_INFO, nccl_view_format(m->v, "Look next: %s.", say_look_at(lead->rule->advice)));
    else if (!m->v->completeness_known && m->n->instance_count)
        say_sentence(m, SEVERITY_INFO,
                     "Every communicator has one rank: nobody waits for anybody, and nothing can be missed.");
}

// ---- the heading ----

static const char *say_good_title(nccl_view_making *m)
{
    const nccl_judged *what = &m->f->what;
    if (!what->ranks || (!what->late && !what->wires)) return nccl_view_text(m->v, m->f->verdict);
    const char *late = "Lateness not judged", *wire = "; wire not judged";
    if (what->late)
        late = nccl_view_format(m->v, "No %s among %s",
                                nccl_findings_mention(m->f, "late") ? "costly lateness" : "late rank",
                                nccl_judged_text(what->late, what->ranks, "rank").text);
    if (what->wires)
        wire = nccl_view_format(m->v, ", no %s in %s",
                                nccl_findings_mention(m->f, "wire") ? "costly slowness of the wire" : "slow wire",
                                nccl_judged_text(what->wires, what->communicators, "communicator").text);
    return nccl_view_format(m->v, "%s%s", late, wire);
}

static const char *say_late_title(nccl_view_making *m, const nccl_finding *x)
{
    const nccl *n = m->n;
    if (strcmp(x->rule->name, "nccl-late-host") == 0)
        return nccl_view_format(m->v, "Host %s was late: %s lost", n->hosts[x->host].name, say_seconds(m, x->cost_us));
    const nccl_member *of = nccl_widest_member(n, n->members[x->member].process);
    return nccl_view_format(m->v, "Rank %lld of %s, on %s, was late: %s lost", (long long)of->rank,
                            n->communicators[of->communicator].label, n->hosts[n->processes[of->process].host].name,
                            say_seconds(m, x->cost_us));
}

// Of findings about ways and adapters; NULL: of another.
static const char *say_way_title(nccl_view_making *m, const nccl_finding *x)
{
    const nccl *n = m->n;
    const char *name = x->rule->name;
    if (strcmp(name, "nccl-rdma-unused") == 0) return "All hosts send through sockets although RDMA is there";
    if (x->member == NCCL_NONE) return NULL;
    const nccl_member *of = nccl_widest_member(n, n->members[x->member].process);
    const char *who = nccl_view_format(m->v, "%lld of %s on %s", (long long)of->rank,
                                       n->communicators[of->communicator].label, nccl_finding_host(n, x->member));
    if (strcmp(name, "nccl-unequal-members") == 0)
        return nccl_view_format(m->v, "The adapters of rank %s carry unequal traffic", who);
    if (strcmp(name, "nccl-other-adapter") == 0)
        return nccl_view_format(m->v, "Rank %s sends through another adapter than its place elsewhere", who);
    if (strcmp(name, "nccl-slow-link") == 0 && x->receiver != NCCL_NONE)
        return nccl_view_format(m->v, "The way from %s to %s is slow: %s times as long as others",
                                nccl_finding_host(n, x->member), nccl_finding_host(n, x->receiver),
                                words_number(x->value).text);
    return NULL;
}

// Who it is as in the first line: a host, or a rank.
static const char *say_slow_title(nccl_view_making *m, const nccl_finding *x)
{
    const nccl *n = m->n;
    const char *does = strstr(x->claim, "sends late")                   ? "sends late"
                       : strcmp(x->rule->name, "nccl-slow-sender") == 0 ? "sends slowly"
                                                                        : "receives slowly";
    const words_text times = words_number(x->value);
    if (x->member == NCCL_NONE)
        return nccl_view_format(m->v, "Host %s %s: %s times as long as others", n->hosts[x->host].name, does,
                                times.text);
    const nccl_member *of = nccl_widest_member(n, n->members[x->member].process);
    return nccl_view_format(m->v, "Rank %lld of %s, on %s, %s: %s times as long as others", (long long)of->rank,
                            n->communicators[of->communicator].label, nccl_finding_host(n, x->member), does,
                            times.text);
}

// The first finding in as few words as a heading needs; else its claim.
const char *nccl_view_title(nccl_view_making *m)
{
    const nccl_finding *x = m->f->count ? &m->f->items[0] : NULL;
    const nccl *n = m->n;
    if (!x || x->severity < SEVERITY_WATCH) return say_good_title(m);
    const char *name = x->rule->name;
    if (strcmp(name, "nccl-below-peak") == 0)
        return nccl_view_format(m->v, "%s reaches %s of its peak", n->communicators[x->communicator].label,
                                words_share(x->value).text);
    if (strcmp(name, "nccl-slow-host") == 0 || strcmp(name, "nccl-slow-communicator") == 0)
        return nccl_view_format(m->v, "%s%s is slow on the wire: %s times its equals, %s lost",
                                x->host != NCCL_NONE ? "Host " : "", x->device, words_number(x->value).text,
                                say_seconds(m, x->cost_us));
    if (strcmp(name, "nccl-slow-sender") == 0 || strcmp(name, "nccl-slow-receiver") == 0) return say_slow_title(m, x);
    const char *way = say_way_title(m, x);
    if (way) return way;
    bool late = strcmp(name, "nccl-late-rank") == 0 || strcmp(name, "nccl-often-late") == 0 ||
                strcmp(name, "nccl-late-host") == 0;
    return late ? say_late_title(m, x) : nccl_view_text(m->v, m->f->verdict);
}
