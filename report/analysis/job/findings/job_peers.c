// Devices and nodes of a job that are alike, over time: the one that alone does less, more or nothing, and since when.
#include "job_findings_make.h"
#include "job_effect.h"
#include "job_finding.h"
#include "job_peers_kinds.h"

#include "analysis/base/text.h"
#include "analysis/base/threads/parallel.h"
#include "analysis/base/words.h"
#include "analysis/job/job_columns.h"
#include "analysis/job/job_words.h"
#include "analysis/peers/peers.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 64, FEW_NODES = 3 };
static const double job_peers_least_s = 10;

// Peers, and what each did in each window.
typedef struct job_peers_group {
    const job_peers_of *of;
    size_t *members; // stb_ds: devices, or nodes
    size_t *rails;   // stb_ds: of devices, the place within the node
    size_t nodes, windows;
    double silent; // below this it is nothing
    float *values; // [members * windows]
    peers_mark *marks;
    peers_outcome outcome;
    size_t usual; // on so many nodes this one is unlike its node's others: most of them; 0: it is not so
} job_peers_group;

// ---- what each did ----

static const job_lane *job_peers_lane(const job_report *r, const job_peers_group *g, size_t member, job_meter meter)
{
    return g->of->source ? r->devices[member].lanes[meter] : r->nodes[member].lanes[meter];
}

// Of as many samples each, as far as these divide evenly: where two windows share a sample, what happened in it by chance
// looks as if it lasted.
static size_t job_peers_windows(const job_report *r)
{
    double least = fmax(r->bin_s, r->interval_s > 0 ? r->interval_s : 0);
    double samples = least > 0 ? fmax(1, floor(r->end_s / least + 1e-6)) : 1;
    return (size_t)floor(samples / ceil(samples / WINDOWS));
}

// What tells of a GPU only while it works: of one that does nothing a low clock is right.
static bool job_peers_is_of_work(const job_peers_of *of)
{
    return of->meters[0] == JOB_GPU_CLOCK || of->meters[0] == JOB_POWER_GPU;
}

// Windows in which a GPU worked for less than half of the time are not known.
static void job_peers_leave_idle(const job_report *r, job_peers_group *g, size_t i)
{
    job_column busy[WINDOWS];
    const job_lane *lane = job_peers_lane(r, g, g->members[i], JOB_GPU_BUSY);
    if (lane) job_lane_columns(r, lane, 0, r->end_s, busy, g->windows);
    for (size_t w = 0; w < g->windows; w++)
        if (!lane || !(busy[w].mean >= 0.5)) g->values[i * g->windows + w] = NAN;
}

typedef struct job_peers_measuring {
    const job_report *r;
    job_peers_group *g;
} job_peers_measuring;

static void job_peers_measure_one(void *user, size_t i)
{
    const job_peers_measuring *x = user;
    job_peers_group *g = x->g;
    job_column columns[WINDOWS];
    for (size_t k = 0; k < 2 && g->of->meters[k] != JOB_METERS; k++) {
        const job_lane *lane = job_peers_lane(x->r, g, g->members[i], g->of->meters[k]);
        if (lane) job_lane_columns(x->r, lane, 0, x->r->end_s, columns, g->windows);
        for (size_t w = 0; w < g->windows; w++)
            g->values[i * g->windows + w] += lane ? (float)columns[w].mean : NAN;
    }
    if (job_peers_is_of_work(g->of)) job_peers_leave_idle(x->r, g, i);
}

// Many members by several threads.
static void job_peers_measure(const job_report *r, job_peers_group *g)
{
    enum { MANY = 64 };
    size_t count = arrlenu(g->members);
    const parallel_options pool = {.threads = count < MANY ? 1 : r->reader->options->threads};
    g->windows = job_peers_windows(r);
    g->values = memory_calloc(count * g->windows + 1, sizeof *g->values);
    g->marks = memory_calloc(count + 1, sizeof *g->marks);
    parallel_for(&pool, count, job_peers_measure_one, &(job_peers_measuring){r, g});
}

static void job_peers_free(job_peers_group *g)
{
    arrfree(g->members);
    arrfree(g->rails);
    free(g->values);
    free(g->marks);
}

// ---- who is held against whom ----

static void job_peers_follow_some(job_peers_group *g, const size_t *some, size_t count, const peers_spread *beside,
                                  peers_outcome *o)
{
    float *values = memory_calloc(count * g->windows + 1, sizeof *values);
    peers_mark *marks = memory_calloc(count + 1, sizeof *marks);
    for (size_t i = 0; i < count; i++)
        memcpy(values + i * g->windows, g->values + some[i] * g->windows, g->windows * sizeof *values);
    peers_follow_beside(o, values, count, g->windows, g->silent, beside, marks);
    for (size_t i = 0; i < count; i++)
        g->marks[some[i]] = marks[i], g->marks[some[i]].unlike &= !o->doubtful;
    if (o->kind == PEERS_ONE || o->kind == PEERS_TWO) o->odd = some[o->odd];
    free(values);
    free(marks);
}

// In the mean of the windows that are known; NAN: none is.
static double job_peers_mean(const job_peers_group *g, size_t i, size_t from, size_t to)
{
    double sum = 0, known = 0;
    for (size_t w = from; w < to; w++) {
        double x = (double)g->values[i * g->windows + w];
        if (isnan(x)) continue;
        sum += x;
        known++;
    }
    return known > 0 ? sum / known : NAN;
}

// What the nodes' other NICs vary by from node to node, where there are too few windows to tell it of each.
static peers_spread job_peers_spread(const job_peers_group *g, size_t but, size_t rails)
{
    peers_spread s = {0};
    size_t count = arrlenu(g->members);
    double *values = memory_calloc(count + 1, sizeof *values);
    for (size_t rail = 0; rail < rails && g->windows < 2 * PEERS_LEAST_WINDOWS; rail++) {
        size_t n = 0;
        if (rail == but) continue;
        for (size_t i = 0; i < count; i++)
            if (g->rails[i] == rail) values[n++] = job_peers_mean(g, i, 0, g->windows);
        peers_spread_add(&s, values, n, g->silent);
    }
    free(values);
    return s;
}

// The same NIC of every node, where there are nodes enough; else all NICs. The outcome is that of the one that is odd; a
// doubtful one counts only where there is no other.
static void job_peers_follow(job_peers_group *g)
{
    size_t count = arrlenu(g->members), rails = 0, unlike = 0, *some = NULL;
    peers_outcome kept = {.kind = PEERS_ALIKE};
    for (size_t i = 0; i < count && g->rails && g->nodes > FEW_NODES; i++)
        rails = g->rails[i] + 1 > rails ? g->rails[i] + 1 : rails;
    for (size_t rail = 0; rail < (rails ? rails : 1); rail++) {
        peers_outcome o;
        peers_spread beside = job_peers_spread(g, rail, rails);
        arrsetlen(some, 0);
        for (size_t i = 0; i < count; i++)
            if (!rails || g->rails[i] == rail) arrput(some, i);
        job_peers_follow_some(g, some, arrlenu(some), &beside, &o);
        if (o.kind >= PEERS_ONE && !o.doubtful) unlike += o.unlike;
        if (o.kind > kept.kind || (o.kind == kept.kind && kept.doubtful) || !rail) kept = o;
    }
    g->outcome = kept;
    g->outcome.unlike = kept.kind >= PEERS_ONE && !kept.doubtful ? unlike : kept.unlike;
    if (unlike > 1) g->outcome.kind = 3 * unlike <= count ? PEERS_SEVERAL : PEERS_SPLIT;
    arrfree(some);
}

// ---- words ----

static words_text job_peers_value(const job_peers_group *g, double value)
{
    if (strcmp(g->of->unit, "%") == 0) return words_share(value);
    return words_quantity(value, strcmp(g->of->unit, "B") == 0 ? "B/s" : g->of->unit);
}

static size_t job_peers_node(const job_report *r, const job_peers_group *g, size_t i)
{
    return g->of->source ? r->devices[g->members[i]].node : g->members[i];
}

// "n17 NIC 3 (cxi2)", "n17’s NIC 3 (cxi2)", "n17".
static char *job_peers_who(const job_report *r, const job_peers_group *g, size_t i, bool title)
{
    const char *node = r->nodes[job_peers_node(r, g, i)].name;
    if (!g->of->source) return memory_strdup(node);
    return memory_format("%s%s %s", node, title ? "\u2019s" : "", r->devices[g->members[i]].label);
}

static char *job_peers_others(const job_peers_group *g, const peers_outcome *o)
{
    words_text low = job_peers_value(g, o->low), high = job_peers_value(g, o->high);
    size_t n = o->known > o->unlike ? o->known - 1 : 1;
    char *range = strcmp(low.text, high.text) == 0 ? memory_format("%s%s", low.text, n > 1 ? " each" : "")
                                                   : memory_format("%s to %s", low.text, high.text);
    char *text = g->of->source && g->nodes > FEW_NODES
                     ? memory_format("the same %s of the %zu other nodes %s", g->of->noun, n, range)
                 : n == 1 ? memory_format("the other %s %s", g->of->noun, range)
                          : memory_format("the %zu other %ss %s", n, g->of->noun, range);
    free(range);
    return text;
}

static double job_peers_time(const job_report *r, const job_peers_group *g, size_t window)
{
    return r->end_s * (double)window / (double)g->windows;
}

// " from 12:40 on", " from 12:40 to 13:10"; "" all the time.
static char *job_peers_when(const job_report *r, const job_peers_group *g, const peers_outcome *o)
{
    if (o->always) return memory_strdup("");
    words_text from = words_moment(job_peers_time(r, g, o->from), r->end_s),
               to = words_moment(job_peers_time(r, g, o->to), r->end_s);
    if (o->to == g->windows) return memory_format(" from %s on", from.text);
    return o->from ? memory_format(" from %s to %s", from.text, to.text) : memory_format(" until %s", to.text);
}

// ---- what is left alone ----

// A node that reads or writes files does so over the network, too: half of what it moved beyond the others.
static bool job_peers_is_files(const job_report *r, const job_peers_group *g, const peers_outcome *o)
{
    static const job_meter files[] = {JOB_FILES_READ, JOB_FILES_WRITTEN};
    size_t node = job_peers_node(r, g, o->odd);
    double from = job_peers_time(r, g, o->from), to = job_peers_time(r, g, o->to), own = 0;
    if (g->of->meters[0] != JOB_SENT || o->value < o->centre) return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        double mean = job_mean_between(r, files[i], node, from, to);
        if (mean > 0) own += mean;
    }
    return own >= 0.5 * (o->value - o->centre);
}

static bool job_peers_works(const job_peers_group *g)
{
    double most = 0;
    size_t count = arrlenu(g->members);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t w = 0; w < g->windows; w++)
            sum += isnan(g->values[i * g->windows + w]) ? 0 : (double)g->values[i * g->windows + w];
        most = fmax(most, sum / (double)g->windows);
    }
    return most > 0 && most >= 10 * g->silent;
}

// Ports that nobody set up do nothing, and what a node moves less may be what one of its NICs does.
static bool job_peers_is_unused(const job_peers_group *g, const peers_outcome *o)
{
    return o->is_silent && o->always && g->of->source && strcmp(g->of->source, "netdev") == 0;
}

static bool job_peers_is_of_a_nic(const job_report *r, const job_peers_group *g, size_t node)
{
    for (size_t i = 0; i < r->finding_count && g->of->meters[0] == JOB_SENT && !g->of->source; i++) {
        const job_finding *x = &r->findings[i];
        if (x->node == node && x->device != JOB_NONE && x->severity >= SEVERITY_WATCH && x->meter == JOB_SENT &&
            job_is_of_peers(x->rule))
            return true;
    }
    return false;
}

// ---- findings ----

// A finding about the same device, or its node, that is as bad: its cause.
static const char *job_peers_cause(const job_report *r, size_t node, size_t device)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        bool here = device == JOB_NONE ? x->node == node : x->device == device;
        if (here && x->severity >= SEVERITY_WATCH && !job_is_of_peers(x->rule) &&
            x->class_rank < rules_class_rank("utilisation"))
            return x->rule;
    }
    return "";
}

// A GPU that was slowed for half of that time or more: its clock is the same event, which is told.
static bool job_peers_is_slowed(const job_report *r, const job_peers_group *g, const job_finding *x)
{
    for (size_t i = 0; i < r->finding_count && g->of->meters[0] == JOB_GPU_CLOCK; i++) {
        const job_finding *y = &r->findings[i];
        if (y->meter != JOB_GPU_THROTTLED || y->device != x->device || y->severity < SEVERITY_WATCH) continue;
        double both = fmin(x->to_s, y->to_s) - fmax(x->from_s, y->from_s);
        if (both >= 0.5 * (x->to_s - x->from_s)) return true;
    }
    return false;
}

static job_finding job_peers_blank(const job_report *r, const job_peers_group *g, severity s)
{
    job_finding x = job_finding_blank;
    x.severity = s;
    x.class_rank = rules_class_rank("utilisation");
    x.rule = (char *)(uintptr_t)g->of->rule;
    x.advice = (char *)(uintptr_t)g->of->advice;
    x.origin = (char *)(uintptr_t) "own: a third less, or half more, than its peers, and more than these vary";
    x.unit = (char *)(uintptr_t) "of what its peers did";
    x.meter = g->of->meters[0];
    x.to_s = r->end_s;
    return x;
}

static void job_peers_add_one(job_report *r, const job_peers_group *g)
{
    const peers_outcome *o = &g->outcome;
    char *who = job_peers_who(r, g, o->odd, false), *others = job_peers_others(g, o), *when = job_peers_when(r, g, o);
    char *owner = job_peers_who(r, g, o->odd, true), *less = NULL;
    words_text value = job_peers_value(g, o->value);
    const char *amount = o->is_silent ? "nothing" : value.text;
    bool files = job_peers_is_files(r, g, o);
    bool known = files || job_peers_is_unused(g, o) || job_peers_is_of_a_nic(r, g, job_peers_node(r, g, o->odd));
    // How much it draws says what it did rather than what is wrong with it; a clock that is higher harms nobody.
    known |= g->of->meters[0] == JOB_POWER_GPU || (g->of->meters[0] == JOB_GPU_CLOCK && o->value > o->centre);
    known |= o->doubtful;
    job_finding x = job_peers_blank(r, g, known ? SEVERITY_INFO : SEVERITY_WATCH);
    x.node = job_peers_node(r, g, o->odd);
    x.device = g->of->source ? g->members[o->odd] : JOB_NONE;
    x.nodes = x.devices = 1;
    x.value = o->centre > 0 ? o->value / o->centre : NAN;
    x.threshold = o->value < o->centre ? 1 / PEERS_APART : PEERS_APART;
    x.from_s = job_peers_time(r, g, o->from);
    x.to_s = job_peers_time(r, g, o->to);
    x.explained_by = (char *)(uintptr_t)job_peers_cause(r, x.node, x.device);
    bool slowed = job_peers_is_slowed(r, g, &x);
    if (slowed) x.severity = SEVERITY_INFO;
    known |= slowed;
    text_append(&x.claim, "%s alone %s %s%s; %s", who, g->of->did, amount, when, others);
    if (slowed) text_append(&x.claim, "; that it was slowed explains it");
    if (files) text_append(&x.claim, "; it read or wrote files, which explains it");
    if (o->doubtful) text_append(&x.claim, "; %zu may differ so by chance", o->known);
    if (!o->always && !known && o->value < o->centre) {
        job_effect e = job_effect_of(r, x.from_s, x.to_s);
        less = job_effect_text(r, &e);
        bool waited = e.sent < 0.9 && e.slowed > 1 && 2 * (e.slowed - 1) >= e.known - 1;
        if (*less) text_append(&x.claim, "; %s meanwhile", less);
        if (waited) {
            x.severity = SEVERITY_WARN;
            x.cost_s = x.lost_s = (1 - e.sent) * (x.to_s - x.from_s);
            x.sent_ratio = e.sent;
        }
    }
    x.title = memory_format("%s alone %s %s%s; %s", owner, g->of->did, amount, when, others);
    job_add_finding(r, x);
    free(less);
    free(who);
    free(owner);
    free(others);
    free(when);
}

// Those that are unlike: all of one node, the same of every node, or no pattern.
typedef struct job_peers_pattern {
    size_t nodes, all, first, rail;
    bool one_rail;
} job_peers_pattern;

static job_peers_pattern job_peers_pattern_of(const job_report *r, const job_peers_group *g)
{
    job_peers_pattern p = {.first = JOB_NONE, .one_rail = true};
    size_t last = JOB_NONE;
    for (size_t i = 0; i < arrlenu(g->members); i++) {
        if (!g->marks[i].unlike) continue;
        size_t node = job_peers_node(r, g, i);
        if (p.first == JOB_NONE) p.first = node, p.rail = g->of->source ? g->rails[i] : 0;
        p.nodes += node != last;
        if (g->of->source) p.one_rail &= g->rails[i] == p.rail;
        last = node;
    }
    for (size_t i = 0; i < arrlenu(g->members); i++)
        p.all += job_peers_node(r, g, i) == p.first;
    return p;
}

static void job_peers_add_several(job_report *r, const job_peers_group *g)
{
    const peers_outcome *o = &g->outcome;
    job_peers_pattern p = job_peers_pattern_of(r, g);
    size_t count = arrlenu(g->members);
    bool of_node = g->of->source && p.nodes == 1, of_rail = g->of->source && p.one_rail && p.nodes == g->nodes;
    if (of_node && g->nodes > 1 && o->unlike == p.all) return; // said of the node
    bool meant = of_rail || of_node || o->kind == PEERS_SPLIT;
    job_finding x = job_peers_blank(r, g, meant ? SEVERITY_INFO : SEVERITY_WATCH);
    words_text value = job_peers_value(g, o->value), centre = job_peers_value(g, o->centre);
    x.nodes = p.nodes;
    x.devices = o->unlike;
    x.node = of_node ? p.first : JOB_NONE;
    x.value = o->centre > 0 ? o->value / o->centre : NAN;
    x.threshold = o->value < o->centre ? 1 / PEERS_APART : PEERS_APART;
    text_append(&x.claim, "%zu of %s", o->unlike, words_many(count, g->of->noun).text);
    if (of_node)
        text_append(&x.claim, "%s%s%s", g->nodes > 1 ? ", all on " : " of ", r->nodes[p.first].name,
                    g->nodes > 1 ? "," : "");
    else if (of_rail)
        text_append(&x.claim, ", the same one of every node,");
    else if (g->of->source)
        text_append(&x.claim, " on %zu of %zu nodes", p.nodes, g->nodes);
    text_append(&x.claim, " %s %s, the others about %s: none stands alone", g->of->did,
                o->is_silent ? "nothing" : value.text, centre.text);
    x.title = memory_strdup(x.claim);
    job_add_finding(r, x);
}

// Some do less and some more.
static bool job_peers_go_both_ways(const job_peers_group *g)
{
    bool less = false, more = false;
    for (size_t i = 0; i < arrlenu(g->members); i++) {
        less |= g->marks[i].unlike && g->marks[i].ratio < 1;
        more |= g->marks[i].unlike && g->marks[i].ratio > 1;
    }
    return less && more;
}

// Several of one node, each of them unlike the same one of the other nodes in the same way; of all that it has the node is told.
static void job_peers_add_some(job_report *r, const job_peers_group *g)
{
    const peers_outcome *o = &g->outcome;
    job_peers_pattern p = job_peers_pattern_of(r, g);
    words_text value = job_peers_value(g, o->value), centre = job_peers_value(g, o->centre);
    char *names = NULL;
    if (o->unlike >= p.all) return;
    job_finding x = job_peers_blank(r, g, SEVERITY_WATCH);
    for (size_t i = 0; i < arrlenu(g->members); i++)
        if (g->marks[i].unlike) text_append(&names, "%s%s", names ? ", " : "", r->devices[g->members[i]].label);
    x.node = p.first;
    x.nodes = 1;
    x.devices = o->unlike;
    x.value = o->centre > 0 ? o->value / o->centre : NAN;
    x.threshold = o->value < o->centre ? 1 / PEERS_APART : PEERS_APART;
    text_append(&x.claim, "%zu of %zu %ss of %s %s%s%s: %s; the same ones of the %zu other nodes about %s", o->unlike,
                p.all, g->of->noun, r->nodes[p.first].name, g->of->did, o->is_silent ? " " : " about ",
                o->is_silent ? "nothing" : value.text, names ? names : "", g->nodes - 1, centre.text);
    x.title = memory_strdup(x.claim);
    job_add_finding(r, x);
    free(names);
}

static void job_peers_add_info(job_report *r, const job_peers_group *g)
{
    const peers_outcome *o = &g->outcome;
    job_finding x = job_peers_blank(r, g, SEVERITY_INFO);
    words_text value = job_peers_value(g, o->value), centre = job_peers_value(g, o->centre);
    char *where = !g->of->source  ? memory_strdup("")
                  : g->nodes == 1 ? memory_format(" of %s", r->nodes[job_peers_node(r, g, 0)].name)
                                  : memory_format(" of the %s", words_many(g->nodes, "node").text);
    x.nodes = g->nodes;
    x.devices = o->known;
    x.value = o->centre > 0 ? o->value / o->centre : NAN;
    x.threshold = 1 / PEERS_APART;
    x.claim =
        o->kind == PEERS_TWO
            ? memory_format("the two %ss%s differ, %s and %s: which is the odd one cannot be known from them alone",
                            g->of->noun, where, value.text, centre.text)
            : memory_format("some %ss%s were not used: it may be meant so", g->of->noun, where);
    x.title = memory_strdup(x.claim);
    job_add_finding(r, x);
    free(where);
}

// False: nothing is to be compared.
static bool job_peers_weigh(const job_report *r, job_peers_group *g)
{
    if (arrlenu(g->members) < 2 || !(r->end_s >= job_peers_least_s)) return false;
    job_peers_measure(r, g);
    if (!job_peers_works(g)) return false;
    job_peers_follow(g);
    return true;
}

static bool job_peers_is_told(const job_report *r, size_t device)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].device == device && r->findings[i].severity >= SEVERITY_WATCH &&
            job_is_of_peers(r->findings[i].rule))
            return true;
    return false;
}

static void job_peers_tell(job_report *r, const job_peers_group *g)
{
    bool of_work = job_peers_is_of_work(g->of);
    if (g->outcome.kind == PEERS_ONE && (!of_work || !job_peers_is_told(r, g->members[g->outcome.odd])))
        job_peers_add_one(r, g);
    else if (of_work)
        return; // several that differ are of several kinds of work
    else if (g->outcome.kind == PEERS_SEVERAL || g->outcome.kind == PEERS_SPLIT)
        job_peers_add_several(r, g);
    else if (g->outcome.kind == PEERS_TWO || g->outcome.kind == PEERS_PART)
        job_peers_add_info(r, g);
}

// ---- groups ----

static bool job_peers_same_line(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.001 * a;
}

static bool job_peers_takes(const job_report *r, const job_peers_of *of, size_t device)
{
    const job_device *d = &r->devices[device];
    return strcmp(d->source, of->source) == 0 && d->lanes[of->meters[0]] && (d->alike || !r->reader->options->rules);
}

static bool job_peers_are_alike(const job_device *a, const job_device *b)
{
    if (!a->alike != !b->alike || (a->alike && strcmp(a->alike, b->alike) != 0)) return false;
    return job_peers_same_line(a->line_rate, b->line_rate);
}

// ---- what is so on other nodes, too ----

// What a NIC did in these windows, of what its node's others did in the middle; NAN: they did nothing, or it is not known.
static double job_peers_beside(const job_peers_group *g, size_t member, size_t from, size_t to)
{
    size_t count = arrlenu(g->members), n = 0;
    double *others = memory_calloc(count + 1, sizeof *others), own = 0;
    for (size_t i = 0; i < count; i++) {
        double mean = job_peers_mean(g, i, from, to);
        if (i == member)
            own = mean;
        else if (!isnan(mean))
            others[n++] = mean;
    }
    if (n) job_median(others, n);
    double centre = n ? others[n / 2] : 0;
    free(others);
    return centre > 0 ? own / centre : NAN;
}

static bool job_peers_same_layout(const job_report *r, const job_peers_group *a, const job_peers_group *b)
{
    return a->nodes == 1 && b->nodes == 1 && arrlenu(a->members) == arrlenu(b->members) &&
           r->devices[a->members[0]].node != r->devices[b->members[0]].node &&
           job_peers_are_alike(&r->devices[a->members[0]], &r->devices[b->members[0]]);
}

// Ports that are meant to be uneven: of most other nodes, two or more, the same one is unlike its node's others, by half of
// what this one is (in logarithms) at the least. That one of them is odd, the same ports of the nodes tell.
static size_t job_peers_usual(const job_report *r, const job_peers_group *groups, size_t which)
{
    static const double least = 0.01; // what is nothing has no logarithm
    const job_peers_group *g = &groups[which];
    const peers_outcome *o = &g->outcome;
    size_t known = 0, same = 0;
    if (g->nodes != 1 || o->kind != PEERS_ONE) return 0;
    double own = log(fmax(job_peers_beside(g, o->odd, o->from, o->to), least));
    if (!(fabs(own) > 0)) return 0;
    for (size_t i = 0; i < arrlenu(groups); i++) {
        if (!job_peers_same_layout(r, g, &groups[i])) continue;
        double its = job_peers_beside(&groups[i], o->odd, o->from, o->to);
        if (isnan(its)) continue;
        known++;
        same += log(fmax(its, least)) / own >= 0.5;
    }
    return known >= 2 && 2 * same > known ? same + 1 : 0;
}

static bool job_peers_is_first_usual(const job_peers_group *groups, size_t which)
{
    const peers_outcome *o = &groups[which].outcome;
    for (size_t i = 0; i < which; i++) {
        const peers_outcome *other = &groups[i].outcome;
        if (groups[i].usual && other->odd == o->odd && (other->value < other->centre) == (o->value < o->centre))
            return false;
    }
    return true;
}

// Said once for all nodes.
static void job_peers_add_usual(job_report *r, const job_peers_group *g)
{
    const peers_outcome *o = &g->outcome;
    job_finding x = job_peers_blank(r, g, SEVERITY_INFO);
    x.nodes = x.devices = g->usual;
    x.value = o->centre > 0 ? o->value / o->centre : NAN;
    x.threshold = o->value < o->centre ? 1 / PEERS_APART : PEERS_APART;
    x.claim = memory_format("%s of %s %s %s than its node's other %ss: it may be meant so",
                            r->devices[g->members[o->odd]].label, words_many(x.nodes, "node").text, g->of->did,
                            o->value < o->centre ? "less" : "more", g->of->noun);
    x.title = memory_strdup(x.claim);
    job_add_finding(r, x);
}

// Devices of one kind and one speed, from the first on; of nodes on which anything may run, one node's only.
static job_peers_group job_peers_collect(const job_report *r, const job_peers_of *of, size_t first, bool is_job,
                                         bool *done)
{
    double line = r->devices[first].line_rate;
    job_peers_group g = {.of = of, .silent = strcmp(of->unit, "%") == 0 ? 0.001 : line > 0 ? 0.001 * line : 0};
    size_t last = JOB_NONE, rail = 0;
    for (size_t i = first; i < r->device_count; i++) {
        if (done[i] || !job_peers_takes(r, of, i) || !job_peers_are_alike(&r->devices[first], &r->devices[i])) continue;
        if (!is_job && r->devices[i].node != r->devices[first].node) break;
        done[i] = true;
        rail = r->devices[i].node == last ? rail + 1 : 0;
        g.nodes += r->devices[i].node != last;
        last = r->devices[i].node;
        arrput(g.members, i);
        arrput(g.rails, rail);
    }
    return g;
}

typedef struct job_peers_weighing {
    const job_report *r;
    job_peers_group *groups;
    bool *weighed; // false: nothing is to be compared
} job_peers_weighing;

static void job_peers_weigh_one(void *user, size_t i)
{
    const job_peers_weighing *x = user;
    x->weighed[i] = job_peers_weigh(x->r, &x->groups[i]);
}

// Keeps those in which there is something to compare.
static void job_peers_weigh_all(const job_report *r, job_peers_group *groups)
{
    size_t count = arrlenu(groups), kept = 0;
    bool *weighed = memory_calloc(count + 1, sizeof *weighed);
    const parallel_options pool = {.threads = r->reader->options->threads};
    parallel_for(&pool, count, job_peers_weigh_one, &(job_peers_weighing){r, groups, weighed});
    for (size_t i = 0; i < count; i++) {
        if (weighed[i])
            groups[kept++] = groups[i];
        else
            job_peers_free(&groups[i]);
    }
    arrsetlen(groups, kept);
    free(weighed);
}

static void job_peers_of_devices(job_report *r, const job_peers_of *of, bool is_job)
{
    bool *done = memory_calloc(r->device_count + 1, sizeof *done);
    job_peers_group *groups = NULL;
    for (size_t first = 0; first < r->device_count; first++) {
        if (done[first] || !job_peers_takes(r, of, first)) continue;
        job_peers_group g = job_peers_collect(r, of, first, is_job, done);
        arrput(groups, g);
    }
    if (groups) job_peers_weigh_all(r, groups);
    for (size_t i = 0; i < arrlenu(groups); i++)
        groups[i].usual = job_peers_usual(r, groups, i);
    for (size_t i = 0; i < arrlenu(groups); i++) {
        if (!groups[i].usual)
            job_peers_tell(r, &groups[i]);
        else if (job_peers_is_first_usual(groups, i))
            job_peers_add_usual(r, &groups[i]);
    }
    for (size_t i = 0; i < arrlenu(groups); i++)
        job_peers_free(&groups[i]);
    arrfree(groups);
    free(done);
}

// Without a job: the same NIC of all nodes on which something moves, where its own node's others did not tell. A node's
// only NIC is the node.
static void job_peers_of_rails(job_report *r, const job_peers_of *of)
{
    job_peers_group g = {.of = of};
    size_t last = JOB_NONE, rail = 0, most = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        if (!job_peers_takes(r, of, i)) continue;
        const job_device *d = &r->devices[i], *first = arrlenu(g.members) ? &r->devices[g.members[0]] : d;
        const job_lane *lane = r->nodes[d->node].lanes[of->meters[0]];
        if (!job_peers_are_alike(first, d) || !lane || !(lane->mean > 0.001 * lane->capacity)) continue;
        rail = d->node == last ? rail + 1 : 0;
        most = rail > most ? rail : most;
        g.nodes += d->node != last;
        last = d->node;
        g.silent = d->line_rate > 0 ? 0.001 * d->line_rate : 0;
        arrput(g.members, i);
        arrput(g.rails, rail);
    }
    if (most && g.nodes > FEW_NODES) {
        job_peers_measure(r, &g);
        if (r->end_s >= job_peers_least_s && job_peers_works(&g)) job_peers_follow(&g);
        const peers_outcome *o = &g.outcome;
        bool some = o->kind > PEERS_ONE && job_peers_pattern_of(r, &g).nodes == 1;
        // Where they go both ways, each of them stands alone: one is told.
        bool one = o->kind == PEERS_ONE || (some && job_peers_go_both_ways(&g));
        if (one && !job_peers_is_told(r, g.members[o->odd])) job_peers_add_one(r, &g);
        if (some && !one) job_peers_add_some(r, &g);
    }
    job_peers_free(&g);
}

void job_find_device_peers(job_report *r)
{
    bool is_job = job_is_known(r);
    for (size_t k = 0; job_peers_kinds[k].rule; k++)
        if (is_job || job_peers_kinds[k].meters[0] == JOB_SENT) job_peers_of_devices(r, &job_peers_kinds[k], is_job);
    for (size_t k = 0; !is_job && job_peers_kinds[k].rule; k++)
        if (job_peers_kinds[k].meters[0] == JOB_SENT) job_peers_of_rails(r, &job_peers_kinds[k]);
}

// Of the node in the middle: most nodes have it where they are alike.
static double job_peers_capacity(const job_report *r, job_meter meter)
{
    double *all = memory_calloc(r->node_count + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[meter];
        if (lane && lane->capacity > 0) all[n++] = lane->capacity;
    }
    double usual = 0;
    if (n) {
        job_median(all, n);
        usual = all[n / 2];
    }
    free(all);
    return usual;
}

// Below a twentieth of what there is, there is too little to divide.
static void job_peers_of_nodes(job_report *r, const job_peers_of *of, bool is_job)
{
    job_peers_group g = {.of = of};
    double usual = job_peers_capacity(r, of->meters[0]);
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[of->meters[0]];
        if (!lane || isnan(lane->mean)) continue;
        if (usual > 0 && !job_peers_same_line(usual, lane->capacity)) continue; // of another kind
        // Who does nothing may take no part, where nobody says that there is a job.
        if (!is_job && !(lane->mean > 0.001 * lane->capacity)) continue;
        if (lane->capacity > 0) g.silent = fmax(g.silent, 0.005 * lane->capacity);
        arrput(g.members, i);
        g.nodes++;
    }
    if (job_peers_weigh(r, &g)) job_peers_tell(r, &g);
    job_peers_free(&g);
}

// After the devices, which explain their nodes. Without a job nodes need not do the same but on the network, when they do.
void job_find_node_peers(job_report *r)
{
    bool is_job = job_is_known(r);
    for (size_t k = 0; job_peers_nodes[k].rule; k++)
        if (is_job || job_peers_nodes[k].meters[0] == JOB_SENT) job_peers_of_nodes(r, &job_peers_nodes[k], is_job);
}
