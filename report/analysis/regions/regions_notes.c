// The verdict in sentences: which rank is unlike the others, what the NICs did, how good the data are.
#include "regions_store.h"

#include "analysis/base/text.h"
#include "analysis/data/traffic.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- where work and waiting cannot be told apart: region by region ----

// Does it stand for itself? Where ranks meet, a long time is a wait.
static bool regions_may_blame(const regions *r, const regions_node *n)
{
    return n->kind == REGIONS_WORK && n->odd_notable && n->odd_distance_ns >= 0.01 * regions_run_ns(r);
}

// The notable odd rank that costs most. Of nested regions that show nearly the same, the outermost.
static size_t regions_costliest_odd(const regions *r)
{
    double most = 0;
    for (size_t i = 0; i < r->node_count; i++)
        if (regions_may_blame(r, &r->nodes[i])) most = fmax(most, r->nodes[i].odd_distance_ns);
    for (size_t i = 0; i < r->node_count && most > 0; i++)
        if (regions_may_blame(r, &r->nodes[i]) && r->nodes[i].odd_distance_ns >= 0.9 * most) return i;
    return REGIONS_NONE;
}

// The second farthest rank on the same side as the odd one, if it is far from the median, too.
static size_t regions_next_to_odd(const regions_node *n)
{
    size_t best = REGIONS_NONE;
    double farthest = 0.1 * n->median_ns;
    for (size_t i = 0; i < n->cell_count; i++) {
        double apart = (double)n->cells[i].sums.inclusive_ns - n->median_ns;
        if (i == n->odd || apart <= farthest) continue;
        farthest = apart;
        best = i;
    }
    return best;
}

static void regions_say_slow(regions *r, size_t number)
{
    const regions_node *n = &r->nodes[number];
    const regions_cell *odd = &n->cells[n->odd];
    size_t next = regions_next_to_odd(n);
    double gain = fmin(n->odd_distance_ns, regions_run_ns(r));
    char who[512], behind[512] = "";
    if (next != REGIONS_NONE)
        snprintf(behind, sizeof behind, "; rank %s is next (%s)", r->ranks[n->cells[next].rank].label,
                 regions_above_text((double)n->cells[next].sums.inclusive_ns / n->median_ns).text);
    regions_rank_text(r, odd->rank, who, sizeof who);
    regions_say(r, regions_cost_severity(r, gain), number, odd->rank,
                memory_format("%s is slowest in %s, %s", who, n->name, regions_above_text(n->odd_over_median).text),
                "%s is slowest in %s: %s, %s of %s%s", who, n->name,
                regions_time_text((double)odd->sums.inclusive_ns).text, regions_above_text(n->odd_over_median).text,
                regions_time_text(n->median_ns).text, behind);
    regions_say(r, SEVERITY_INFO, number, odd->rank, NULL,
                "If it took the median there, at most %s of %s (%s) would be gained, if the others wait for it",
                regions_time_text(gain).text, regions_time_text(regions_run_ns(r)).text,
                words_share(gain / regions_run_ns(r)).text);
}

// Uneven, though no single rank stands out.
static void regions_say_uneven(regions *r)
{
    size_t best = REGIONS_NONE;
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        if (n->kind != REGIONS_WORK || n->cell_count < 2) continue;
        if (best == REGIONS_NONE || n->imbalance_ns > r->nodes[best].imbalance_ns) best = i;
    }
    if (best == REGIONS_NONE || r->nodes[best].imbalance_ns < 0.05 * regions_run_ns(r)) return;
    const regions_node *n = &r->nodes[best];
    regions_say(r, SEVERITY_WATCH, best, REGIONS_NONE, memory_format("%s is uneven over the ranks", n->name),
                "%s is uneven: %s on rank %s, %s in the mean of %zu ranks", n->name,
                regions_time_text((double)n->slowest_ns).text, r->ranks[n->cells[n->slowest].rank].label,
                regions_time_text(n->mean_ns).text, n->cell_count);
}

// ---- NICs ----

static bool regions_is_told(const regions_finding *const *told, size_t count, const rule *x)
{
    for (size_t i = 0; i < count; i++)
        if (told[i]->rule == x) return true;
    return false;
}

// The worst findings, each rule once, leaving out those whose trouble is in a region within.
static size_t regions_worst_findings(const regions *r, const regions_finding **worst, size_t most)
{
    size_t count = 0;
    for (; count < most; count++) {
        const regions_finding *best = NULL;
        for (size_t i = 0; i < r->finding_count; i++) {
            const regions_finding *x = &r->findings[i];
            if (x->part != REGIONS_NONE || regions_is_told(worst, count, x->rule)) continue;
            if (!best || x->severity > best->severity ||
                (x->severity == best->severity && r->nodes[x->node].share > r->nodes[best->node].share))
                best = x;
        }
        if (!best) break;
        worst[count] = best;
    }
    return count;
}

static void regions_say_troubles(regions *r, const regions_finding *const *worst, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const regions_finding *x = worst[i];
        const char *host = r->hosts[x->host].name, *device = regions_device_name(r, x);
        char others[64] = "";
        if (x->places > 1) snprintf(others, sizeof others, " (and at %zu more places)", x->places - 1);
        regions_say(r, x->severity, x->node, REGIONS_NONE,
                    memory_format("%s%s%s in %s: %.*s", host, *host && *device ? " " : "", device,
                                  r->nodes[x->node].name, (int)strcspn(x->claim, ":;"), x->claim),
                    "%s%s%s in %s: %s%s", host, *host && *device ? " " : "", device, r->nodes[x->node].name, x->claim,
                    others);
    }
}

static void regions_say_too_short(regions *r)
{
    size_t first = REGIONS_NONE, count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        if (r->nodes[i].nic.state != REGIONS_TOO_SHORT || r->nodes[i].span) continue;
        count++;
        if (first == REGIONS_NONE || r->nodes[i].share > r->nodes[first].share) first = i;
    }
    if (!count) return;
    const regions_node *n = &r->nodes[first];
    double call = n->sums.measured ? (double)n->sums.total_ns / (double)n->sums.measured : 0;
    char more[48] = "";
    if (count > 1) snprintf(more, sizeof more, " and %zu more regions", count - 1);
    regions_say(r, SEVERITY_INFO, first, REGIONS_NONE, NULL,
                "%s%s: %s per call, too short for the counters (limit %s): the time is exact, bytes are not shown",
                n->name, more, regions_time_text(call).text, regions_time_text((double)n->nic.limit_ns).text);
}

// ---- bytes declared by the program against bytes sent by the NICs (rule x-app-vs-nic) ----

// Headers add at most 5 % (TCP, MTU 1500). The thresholds, and how many bytes are enough to judge, are our own.
#define EXTRA_WATCH 1.2
#define EXTRA_WARN  1.5
#define TOO_LITTLE  0.95
enum { DECLARED_LEAST = 100000000 }; // bytes

// Regions of libnetprof-mpi.so.
static bool regions_is_mpi(const regions_node *n)
{
    return strncmp(n->name, "MPI_", 4) == 0;
}

// These calls declare what one peer gets from another. The other calls with bytes are collectives, where MPI sends as
// much as its algorithm needs.
static bool regions_is_point_to_point(const regions_node *n)
{
    static const char *const names[] = {"Send",  "Isend",    "Bsend",    "Ibsend",    "Ssend", "Issend",
                                        "Rsend", "Irsend",   "Sendrecv", "Isendrecv", "Recv",  "Mrecv",
                                        "Start", "Startall", "Put",      "Rput"};
    const char *name = n->name + strlen("MPI_");
    size_t length = strcspn(name, "_"); // without _c, _replace
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0) return true;
    return false;
}

// Must the NICs send exactly the declared bytes? So when the program itself declared them, or its sends within this region
// did, and not both.
static bool regions_is_plain(const regions *r, size_t number)
{
    const regions_node *n = &r->nodes[number];
    bool by_calls = false, directly = false;
    if (regions_is_mpi(n) || n->bytes < DECLARED_LEAST) return false;
    for (size_t i = number + 1; i < n->end; i++) {
        const regions_node *part = &r->nodes[i];
        if (!part->sums.bytes) continue;
        if (!regions_is_mpi(part) || !regions_is_point_to_point(part))
            return false; // a region of its own, or a collective
        by_calls = true;
        directly |= part->parent == number;
    }
    return n->sums.bytes ? !by_calls : directly;
}

// Can neither shared memory between ranks of a host nor other threads have moved the rest?
static bool regions_must_pass_nics(const regions *r, const regions_node *n)
{
    if (r->host_count < 2 || n->nic.hosts < 2) return false;
    for (size_t i = 0; i < r->host_count; i++)
        if (r->hosts[i].rank_count != 1) return false;
    for (size_t i = 0; i < n->cell_count; i++)
        if (n->cells[i].threads != 1) return false;
    return true;
}

static double regions_seen_over_declared(const regions_node *n)
{
    if (!n->nic.bytes_known[TRAFFIC_RECEIVED]) return NAN;
    return ((double)n->nic.bytes[TRAFFIC_SENT] + (double)n->nic.bytes[TRAFFIC_RECEIVED]) / (double)n->bytes;
}

static void regions_say_moved(regions *r)
{
    size_t most = REGIONS_NONE, least = REGIONS_NONE;
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        double sent = n->nic.sent_over_declared;
        if (isnan(sent) || n->span || n->nic.no_port || !regions_is_plain(r, i)) continue;
        if (sent > EXTRA_WATCH && (most == REGIONS_NONE || sent > r->nodes[most].nic.sent_over_declared)) most = i;
        if (regions_must_pass_nics(r, n) && regions_seen_over_declared(n) < TOO_LITTLE &&
            (least == REGIONS_NONE || sent < r->nodes[least].nic.sent_over_declared))
            least = i;
    }
    if (most != REGIONS_NONE) {
        const regions_node *n = &r->nodes[most];
        double k = n->nic.sent_over_declared;
        regions_say(
            r, k > EXTRA_WARN ? SEVERITY_WARN : SEVERITY_WATCH, most, REGIONS_NONE,
            memory_format("%s: the NICs sent %s bytes for each that the program moved", n->name, words_number(k).text),
            "%s: the NICs sent %s bytes for each byte that the program moved there: small messages, repetition, or "
            "traffic of others",
            n->name, words_number(k).text);
    }
    if (least != REGIONS_NONE)
        regions_say(
            r, SEVERITY_WATCH, least, REGIONS_NONE,
            memory_format("%s: not all bytes took the NICs that were counted", r->nodes[least].name),
            "%s: the NICs sent and received %s bytes for each byte that the program moved there: the rest took a "
            "way that was not counted",
            r->nodes[least].name, words_number(regions_seen_over_declared(&r->nodes[least])).text);
}

// ---- how good the data are ----

static void regions_say_missing(regions *r)
{
    char list[256] = "";
    size_t used = 0;
    if (!r->missing_count) return;
    for (size_t i = 0; i < r->missing_count && i < 8; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%ld", i ? ", " : "", r->missing[i]);
    bool blamed = r->waits.late_count > 0;
    regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                memory_format("%zu of %ld ranks left no file: who was late cannot be told", r->missing_count,
                              r->rank_count_told),
                "%zu of %ld ranks left no file: %s%s%s", r->missing_count, r->rank_count_told, list,
                r->missing_count > 8 ? ", ..." : "",
                blamed ? "; one of them may have been later" : "; so who was late cannot be told");
}

static void regions_say_open(regions *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        size_t ranks = 0, first = REGIONS_NONE;
        for (size_t k = 0; k < n->cell_count; k++) {
            if (!n->cells[k].sums.open) continue;
            if (!ranks++) first = n->cells[k].rank;
        }
        if (!ranks) continue;
        regions_say(r, SEVERITY_INFO, i, first, NULL,
                    *r->ranks[first].end
                        ? "%s was still open on %s when the file was written: its time is that up to then"
                        : "%s was open on %s when the file was written: its time is at least that of the "
                          "regions within",
                    n->name, words_many(ranks, r->children ? "process|processes" : "rank").text);
        return; // the outermost
    }
}

static void regions_say_dropped(regions *r)
{
    uint64_t handler = 0, deep = 0;
    bool told = true; // older files do not say why
    for (size_t i = 0; i < r->rank_count; i++) {
        handler = sum_capped(handler, r->ranks[i].lost_in_handler);
        deep = sum_capped(deep, r->ranks[i].lost_too_deep);
        told &= *r->ranks[i].end || !r->ranks[i].dropped;
    }
    if (!r->dropped) return;
    uint64_t other = r->dropped > handler + deep ? r->dropped - handler - deep : 0;
    char why[256] = "";
    size_t n = 0;
    if (handler)
        n += (size_t)snprintf(why, sizeof why, "%s in a signal handler that interrupted another call of netprof",
                              words_count((double)handler).text);
    if (deep)
        n += (size_t)snprintf(why + n, sizeof why - n, "%s%s too deep in other regions", n ? ", " : "",
                              words_count((double)deep).text);
    if (other)
        snprintf(why + n, sizeof why - n, "%s%s for want of memory, or with too many names", n ? ", " : "",
                 words_count((double)other).text);
    regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                memory_format("%s of regions could not be counted", words_many(r->dropped, "begin").text),
                "%s could not be counted: %s", words_many(r->dropped, "begin").text,
                told ? why : "too deep, too many regions, no memory, or in a signal handler");
}

// Calls that something else ended: their times are those up to then.
static void regions_say_aborted(regions *r)
{
    uint64_t aborted = 0;
    size_t first = REGIONS_NONE;
    for (size_t i = 0; i < r->node_count; i++) {
        aborted = sum_capped(aborted, r->nodes[i].sums.aborted);
        if (r->nodes[i].sums.aborted && first == REGIONS_NONE) first = i;
    }
    if (aborted)
        regions_say(r, SEVERITY_INFO, first, REGIONS_NONE, NULL,
                    "%s ended from outside, by the end of a thread or of a region around: first in %s",
                    words_many(aborted, "call was|calls were").text, r->nodes[first].name);
}

static void regions_say_wrong(regions *r)
{
    const char *first = "";
    for (size_t i = 0; i < r->rank_count && !*first; i++)
        first = r->ranks[i].warning;
    if (r->mismatched)
        regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                    memory_strdup("Regions do not nest: some times are wrong"), "%s %s not of the innermost region%s%s",
                    words_count((double)r->mismatched).text, words_noun(r->mismatched, "end was|ends were").text,
                    *first ? "; the first: " : "", first);
    else if (*first)
        regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE, memory_format("A process said: %s", first),
                    "A process said: %s", first);
    regions_say_dropped(r);
    if (r->store->jobs_differ)
        regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE, memory_strdup("The files are of several jobs"),
                    "The files are of several jobs");
    if (r->store->versions_differ)
        regions_say(r, SEVERITY_INFO, REGIONS_NONE, REGIONS_NONE, NULL,
                    "The files are of several versions of netprof.h");
}

// Is a region of this name within another one?
static size_t regions_same_below(const regions *r, const regions_node *top)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].depth && !r->nodes[i].span && strcmp(r->nodes[i].name, top->name) == 0) return i;
    return REGIONS_NONE;
}

// Threads that work for a region of another thread, and did not say so: their part of it is at the top.
static void regions_say_astray(regions *r)
{
    for (size_t i = 0; i < r->node_count; i = r->nodes[i].end) {
        const regions_node *n = &r->nodes[i];
        size_t below = n->span ? REGIONS_NONE : regions_same_below(r, n);
        if (below == REGIONS_NONE || n->threads <= n->cell_count || regions_is_mpi_name(n->name)) continue;
        regions_say(
            r, SEVERITY_INFO, i, REGIONS_NONE, NULL,
            "%s is within %s in one thread and at the top level in others: NETPROF_ADOPT puts threads below the "
            "region that they work for",
            n->name, r->nodes[r->nodes[below].parent].name);
        return;
    }
}

// How well the work beside overlapped: of the spans for which the program waited longest.
static void regions_say_overlap(regions *r)
{
    size_t best = REGIONS_NONE, count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_calls *c = &r->nodes[i].sums;
        if (!r->nodes[i].span || !c->waits || c->waits < c->measured) continue;
        count++;
        if (best == REGIONS_NONE || c->waited_ns > r->nodes[best].sums.waited_ns) best = i;
    }
    if (best == REGIONS_NONE || !r->nodes[best].sums.inclusive_ns) return;
    const regions_node *n = &r->nodes[best];
    double waited = fmin((double)n->sums.waited_ns / (double)n->sums.inclusive_ns, 1);
    char overlapped[40];
    snprintf(overlapped, sizeof overlapped, "%.30s", words_share(1 - waited).text);
    regions_say(r, SEVERITY_INFO, best, REGIONS_NONE, NULL,
                "%s: %s of the time of its %s overlapped with other work, %s was waited for (%s)%s", n->name,
                overlapped, words_many(n->sums.spans, "span").text, words_share(waited).text,
                regions_time_text((double)n->sums.waited_ns).text,
                count > 1 ? "; other spans were waited for less" : "");
}

// The region with most calls: where measuring costs most.
static size_t regions_most_called(const regions *r)
{
    size_t best = REGIONS_NONE;
    for (size_t i = 0; i < r->node_count; i++)
        if (best == REGIONS_NONE || r->nodes[i].sums.calls > r->nodes[best].sums.calls) best = i;
    return best;
}

// When measuring itself took much of the run: our own choice of what is much.
static void regions_say_measuring(regions *r)
{
    size_t most = regions_most_called(r);
    if (r->overhead_share < 0.1 || most == REGIONS_NONE) return;
    const regions_node *n = &r->nodes[most];
    char share[40];
    double pairs_ns = 0;
    bool sampler = false;
    for (size_t i = 0; i < r->rank_count; i++) {
        pairs_ns += (double)r->ranks[i].calls * (double)r->ranks[i].overhead_ps / 1e3;
        sampler |= r->ranks[i].interval_ns > 0;
    }
    snprintf(share, sizeof share, "%.30s", words_share(r->overhead_share).text);
    if ((double)r->reading_ns > pairs_ns && sampler)
        regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                    memory_format("The sampler's thread used a CPU for %s of the time", share),
                    "The sampler's thread used a CPU for %s of the time; a longer NETPROF_INTERVAL costs less", share);
    else if ((double)r->reading_ns > pairs_ns)
        regions_say(
            r, SEVERITY_WATCH, most, REGIONS_NONE,
            memory_format("Reading counters took %s of the time: it is no time of the regions", share),
            "Reading counters took %s of the time, most of it around %s (%s %s): the run was longer by that, and "
            "no region's time contains it; NETPROF=sampler or NETPROF=time costs less",
            share, n->name, words_count((double)n->sums.calls).text, words_noun(n->sums.calls, "call").text);
    else
        regions_say(r, SEVERITY_WATCH, most, REGIONS_NONE, memory_format("Measuring took about %s of the time", share),
                    "Measuring took about %s of the time, most of it in %s (%s %s): regions this short cost as much as "
                    "they measure; NETPROF_EVERY measures some of their calls",
                    share, n->name, words_count((double)n->sums.calls).text, words_noun(n->sums.calls, "call").text);
}

static void regions_say_complete(regions *r)
{
    bool much = r->overhead_share >= 0.1; // has a line of its own
    size_t cut = 0, running = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        cut += !r->ranks[i].complete;
        running += regions_ran_on(&r->ranks[i]);
    }
    if (cut || r->damaged) {
        regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                    memory_strdup("Files are damaged: not all ranks are known"),
                    "Files are damaged or could not be read: %s; what could be read of %s is here",
                    words_many(r->warning_count, "warning").text, words_many(r->rank_count, "rank").text);
        return;
    }
    const char *files = r->children ? "file is|files are" : "rank file is|rank files are";
    regions_say(r, running ? SEVERITY_INFO : SEVERITY_OK, REGIONS_NONE, REGIONS_NONE, NULL, "%s %s %s; %s %s%s%s%s%s",
                r->rank_count == 1 ? "The" : "All", words_many(r->rank_count, files).text,
                running ? "whole" : "complete", words_count((double)r->calls).text, words_noun(r->calls, "call").text,
                r->mismatched ? "" : ", none unmatched", much ? "" : "; measuring took ",
                much ? "" : words_share(r->overhead_share).text, much ? "" : " of the time (estimated)");
}

// ---- the title ----

static size_t regions_busiest(const regions *r, bool waiting)
{
    size_t best = REGIONS_NONE;
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        if (n->span || n->kind == REGIONS_APART || (waiting && !regions_class_waits(n->kind))) continue;
        if (best == REGIONS_NONE || n->own_run_share > r->nodes[best].own_run_share) best = i;
    }
    return best;
}

// What there is to say when nothing is wrong: of the run, not of the time in regions.
static char *regions_plain_title(const regions *r)
{
    const regions_waits *w = &r->waits;
    const char *who =
        r->rank_count > 1 && (w->known || r->rank_count >= REGIONS_ODD_RANKS) ? "No rank stands out: " : "";
    size_t best = regions_busiest(r, false), wait = regions_busiest(r, true);
    if (w->mpi && w->run_ns > 0) {
        if (w->wait_share < 0.05 || wait == REGIONS_NONE)
            return memory_format("%sMPI takes %s of the run", who, words_share(w->mpi_share).text);
        return memory_format("%sMPI takes %s of the run, most in %s", who, words_share(w->mpi_share).text,
                             r->nodes[wait].name);
    }
    if (best == REGIONS_NONE || !r->time_ns)
        return memory_strdup(r->span_nodes ? "Only spans were measured, no time of regions" : "No time was measured");
    return memory_format("%s%s time in %s (%s)", who, *who ? "most" : "Most", r->nodes[best].name,
                         words_share(r->nodes[best].own_run_share).text);
}

char *regions_run_text(const regions *r)
{
    const regions_waits *w = &r->waits;
    double apart = 0;
    if (r->runs > 1 || !(w->run_ns > 0) || !(w->mpi || w->known)) return memory_strdup("");
    for (size_t i = 0; i < r->rank_count; i++)
        apart = fmax(apart, r->ranks[i].times.apart_ns);
    const words_text run = regions_time_text(w->longest_ns);
    if (!w->mpi) return memory_format("run %s, waiting %s", run.text, words_share(w->wait_share).text);
    // Who polls waits between its questions as well: more than MPI's own time then.
    return memory_format("run %s, MPI %s of it, waiting%s or moving data %s; MPI_Init and MPI_Finalize %s beside it",
                         run.text, words_share(w->mpi_share).text, w->wait_share > w->mpi_share ? ", polling" : "",
                         words_share(w->wait_share).text, regions_time_text(apart).text);
}

// ---- all of it ----

// The worst first, otherwise in the order in which they were added.
static void regions_sort_notes(regions *r)
{
    for (size_t i = 1; i < r->note_count; i++) {
        regions_note x = r->notes[i];
        size_t k = i;
        for (; k > 0 && r->notes[k - 1].severity < x.severity; k--)
            r->notes[k] = r->notes[k - 1];
        r->notes[k] = x;
    }
}

static void regions_ask_about(regions *r, size_t from, const char *question)
{
    for (size_t i = from; i < r->note_count; i++)
        r->notes[i].question = question;
}

// A rank that is held works as long as the others do: said where both are known, and near.
static void regions_say_not(regions *r)
{
    static const double near = .02;
    const regions_waits *w = &r->waits;
    if (w->held == REGIONS_NONE || !(w->work_ns > 0) || !r->ranks[w->held].times.known) return;
    double work = r->ranks[w->held].times.work_ns;
    if (fabs(work / w->work_ns - 1) > near) return;
    regions_say(r, SEVERITY_OK, REGIONS_NONE, w->held, NULL,
                "Not its work: rank %s works %s, the ranks %s in the median", r->ranks[w->held].label,
                regions_time_text(work).text, regions_time_text(w->work_ns).text);
    r->notes[r->note_count - 1].question = "What it is not";
}

// The advice of the rule that found the worst place, where a verdict rests on one.
static void regions_say_next(regions *r)
{
    const regions_finding *worst[1];
    if (!regions_worst_findings(r, worst, 1) || worst[0]->severity < SEVERITY_WARN) return;
    const char *advice = worst[0]->rule->advice, *end = strstr(advice, ". ");
    if (!*advice) return;
    regions_say(r, SEVERITY_INFO, worst[0]->node, REGIONS_NONE, NULL, "%.*s",
                (int)(end ? end - advice : (ptrdiff_t)strlen(advice)), advice);
    r->notes[r->note_count - 1].question = "Look next";
}

void regions_conclude(regions *r)
{
    enum { FINDINGS_TOLD = 3 };
    const regions_finding *worst[FINDINGS_TOLD];
    size_t count = regions_worst_findings(r, worst, FINDINGS_TOLD);
    bool blamed = regions_blame(r, worst, &count);
    size_t slow = REGIONS_NONE;
    if (!blamed && !r->waits.known && r->runs == 1 && !r->children) {
        slow = regions_costliest_odd(r);
        if (slow != REGIONS_NONE)
            regions_say_slow(r, slow);
        else
            regions_say_uneven(r);
    }
    regions_say_over_time(r, slow);
    regions_ask_about(r, 0,
                      blamed && r->waits.held != REGIONS_NONE ? "Who is held?"
                      : blamed || r->note_count               ? "Who is unlike?"
                                                              : "Also");
    for (size_t i = 1; i < r->note_count; i++)
        r->notes[i].question = strncmp(r->notes[i].text, "At most", 7) == 0 ? "What it costs" : "Also";
    if (blamed) regions_say_not(r);
    regions_say_runs(r);
    size_t before;
    regions_say_troubles(r, worst, count);
    regions_say_moved(r);
    before = r->note_count;
    regions_say_too_short(r);
    regions_ask_about(r, before, "Not judged");
    regions_say_overlap(r);
    regions_say_astray(r);
    regions_say_missing(r);
    regions_say_not_ended(r);
    regions_say_children(r);
    regions_say_open(r);
    regions_say_aborted(r);
    regions_say_wrong(r);
    regions_say_measuring(r);
    before = r->note_count;
    regions_say_complete(r);
    regions_ask_about(r, before, "Complete?");
    regions_say_next(r);
    regions_make_step(r);
    regions_sort_notes(r);
    if (r->note_count && strcmp(r->notes[0].question, "Also") == 0) r->notes[0].question = "What stands out?";
    const regions_note *first = r->note_count ? &r->notes[0] : NULL;
    r->severity = first ? first->severity : SEVERITY_OK;
    r->title = first && first->title && first->severity >= SEVERITY_WATCH ? memory_strdup(first->title)
                                                                          : regions_plain_title(r);
}
