// The title, the verdict box and the lines below the page: a job in a few sentences.
#include "analysis/job/job_columns.h"
#include "analysis/job/job_words.h"
#include "analysis/job/job_store.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/data/clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Takes the text. which: the finding it is about, or JOB_NONE.
static void job_add_note(job_report *r, severity s, char *text, size_t which)
{
    arrput(r->notes, ((job_note){s, text, which}));
    r->note_count++;
}

static const job_use *job_known_use(const job_report *r, job_meter meter)
{
    for (size_t i = 0; i < r->use_count; i++)
        if (r->uses[i].meter == meter) return &r->uses[i];
    return NULL;
}

static bool job_falls(double ratio)
{
    return ratio < 0.95;
}

// What else fell during an incident. Lost work, of a cause alone, is estimated from the bytes sent.
static void job_note_effect(job_report *r, size_t which)
{
    const job_finding *x = &r->findings[which];
    if (!job_falls(x->sent_ratio)) return;
    double cpu = x->cpu_ratio, gpu = x->gpu_ratio;
    const char *who = job_falls(gpu) ? "GPUs" : "CPUs";
    char *busy = job_falls(gpu) || job_falls(cpu)
                     ? memory_format("%s were busy %s less", who, words_share(1 - (job_falls(gpu) ? gpu : cpu)).text)
                     : NULL;
    if (x->lost_s > 0)
        job_add_note(r, x->severity,
                     memory_format("In that time %s%sabout %s of work was lost (%s), if work follows the bytes",
                                   busy ? busy : "", busy ? ": " : "", words_duration(x->lost_s).text,
                                   words_share(r->end_s > 0 ? x->lost_s / r->end_s : 0).text),
                     which);
    else if (busy)
        job_add_note(r, SEVERITY_INFO, memory_format("In that time %s", busy), which);
    free(busy);
}

// Good signs, of what was watched.
static void job_note_good(job_report *r)
{
    static const struct {
        const char *source, *counter, *text;
    } signs[] = {{"cgroup", "oom_kills", "out-of-memory kill"},
                 {"memory", "oom_kill", "out-of-memory kill"},
                 {"cxi", "hni_pcs_uncorrected_cw", "uncorrected codeword"},
                 {"cxi", "pct_retry_srb_requests", "request sent again"},
                 {"rdma", "link_downed", "link down"},
                 {"netdev", "rx_errors", "damaged frame"}};
    char text[256] = "";
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (size_t k = 0; k < r->event_count; k++) {
            const job_event *e = &r->events[k];
            bool same = strcmp(e->source, signs[i].source) == 0 && strcmp(e->counter, signs[i].counter) == 0;
            if (!same || !e->known || e->sum > 0 || strstr(text, signs[i].text)) continue;
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, "%sno %s", n ? ", " : "", signs[i].text);
        }
    if (!*text) return;
    text[0] = 'N';
    job_add_note(r, SEVERITY_OK, memory_strdup(text), JOB_NONE);
}

static void job_note_energy(job_report *r)
{
    const job_energy *e = &r->energy;
    char share[96] = "";
    if (isnan(e->total_j)) {
        if (e->state[JOB_PART_CPU] == JOB_DENIED)
            job_add_note(r, SEVERITY_INFO,
                         memory_strdup("No CPU energy: reading it is not permitted (root, or the site's leave)"),
                         JOB_NONE);
        return;
    }
    if (e->total_j > 0 && !isnan(e->part_j[JOB_PART_GPU]))
        snprintf(share, sizeof share, ", %s of it GPUs", words_share(e->part_j[JOB_PART_GPU] / e->total_j).text);
    job_add_note(r, SEVERITY_INFO,
                 memory_format("Energy %s%s%s; mean %s per node%s%s", e->lower_bound ? "at least " : "",
                               words_energy(e->total_j).text, share, words_quantity(e->node_w, "W").text,
                               e->whole ? "" : "; ", e->whole ? "" : e->how),
                 JOB_NONE);
}

static bool job_is_same_gap(const job_gap *a, const job_gap *b, double slack_s)
{
    return fabs(a->from_s - b->from_s) <= slack_s && fabs(a->to_s - b->to_s) <= slack_s;
}

static bool job_has_same_gap(const job_node *node, const job_gap *gap, double slack_s)
{
    for (size_t i = 0; i < node->gap_count; i++)
        if (job_is_same_gap(&node->gaps[i], gap, slack_s)) return true;
    return false;
}

// How many nodes have this gap, to two intervals; 0 when an earlier node has it, which counted it already.
static size_t job_nodes_with_gap(const job_report *r, size_t node, const job_gap *gap)
{
    double slack_s = isnan(r->interval_s) ? 0 : 2 * r->interval_s;
    size_t count = 1;
    for (size_t i = 0; i < r->node_count; i++) {
        if (i == node || !job_has_same_gap(&r->nodes[i], gap, slack_s)) continue;
        if (i < node) return 0;
        count++;
    }
    return count;
}

// "n4 and 2 more 3:20-4:10", "all nodes 3:20 (0.4 s)". free() it.
static char *job_gap_text(const job_report *r, size_t node, const job_gap *gap, size_t nodes)
{
    char who[96];
    words_text from = words_moment(gap->from_s, r->end_s), to = words_moment(gap->to_s, r->end_s);
    if (nodes == r->node_count && nodes > 1)
        snprintf(who, sizeof who, "all nodes");
    else if (nodes > 1)
        snprintf(who, sizeof who, "%.60s and %zu more", r->nodes[node].name, nodes - 1);
    else
        snprintf(who, sizeof who, "%.60s", r->nodes[node].name);
    if (strcmp(from.text, to.text) != 0) return memory_format("%s %s-%s", who, from.text, to.text);
    // It begins and ends at the same time as written: its length says more.
    return memory_format("%s %s (%s)", who, from.text, words_duration(gap->to_s - gap->from_s).text);
}

// The first three gaps, and how many more there are. Comparing gaps between nodes takes long, so only so many are.
static void job_note_gaps(job_report *r)
{
    enum { SHOWN = 3, COMPARED = 4096 };
    char *shown[SHOWN] = {NULL}, more[48] = "";
    size_t count = 0, compared = 0;
    for (size_t i = 0; i < r->node_count; i++)
        for (size_t k = 0; k < r->nodes[i].gap_count && compared < COMPARED; k++, compared++) {
            const job_gap *gap = &r->nodes[i].gaps[k];
            size_t nodes = gap->idle ? 0 : job_nodes_with_gap(r, i, gap);
            if (nodes && count < SHOWN) shown[count] = job_gap_text(r, i, gap, nodes);
            count += nodes > 0;
        }
    if (!count) return;
    if (count > SHOWN) snprintf(more, sizeof more, " and %zu more", count - SHOWN);
    job_add_note(r, SEVERITY_INFO,
                 memory_format("No samples: %s%s%s%s%s%s; left out of means, not of totals", shown[0],
                               shown[1] ? ", " : "", shown[1] ? shown[1] : "", shown[2] ? ", " : "",
                               shown[2] ? shown[2] : "", more),
                 JOB_NONE);
    for (size_t i = 0; i < SHOWN; i++)
        free(shown[i]);
}

// Retries that nearly all fell into an incident of the same NIC, which tells how many they were: one event is one line.
static bool job_is_told_by_incident(const job_report *r, const job_finding *x)
{
    const job_lane *retries = x->device == JOB_NONE ? NULL : r->devices[x->device].lanes[JOB_RETRIES];
    if (!retries || !(retries->total > 0) || strcmp(x->rule, "retries") != 0) return false;
    for (const job_finding *y = r->findings; y < x; y++)
        if (y->incident && y->meter == JOB_PAUSED && y->device == x->device &&
            job_lane_amount(r, retries, y->from_s, y->to_s) >= 0.9 * retries->total)
            return true;
    return false;
}

static void job_note_findings(job_report *r)
{
    enum { SHOWN = 4 };
    size_t shown = 0, worth = 0;
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        if (job_is_told_by_incident(r, x)) continue;
        worth += x->severity >= SEVERITY_UNKNOWN;
        if (x->severity < SEVERITY_UNKNOWN || shown >= SHOWN) continue;
        // Below its own words as a headline a line says what to do.
        bool repeats = strcmp(x->claim, r->title) == 0 && *x->advice;
        job_add_note(r, x->severity, repeats ? memory_format("%s. %s", x->claim, x->advice) : memory_strdup(x->claim),
                     i);
        shown++;
        if (x->incident && shown < SHOWN) job_note_effect(r, i);
    }
    if (worth > shown)
        job_add_note(r, SEVERITY_INFO, memory_strdup(words_many(worth - shown, "more finding").text), JOB_NONE);
}

// Bytes sent or received in all, whichever is more. NAN unknown.
static double job_bytes_moved(job_lane *const lanes[], job_meter sent, job_meter received)
{
    return fmax(lanes[sent] ? lanes[sent]->total : NAN, lanes[received] ? lanes[received]->total : NAN);
}

// The virtual device that moved the most, where it moved more than all ports of its node; NULL: none did.
static const job_device *job_busiest_virtual(const job_report *r, size_t *count)
{
    const job_device *most = NULL;
    double highest = 0;
    *count = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        const job_device *d = &r->devices[i];
        double moved = job_bytes_moved(d->lanes, JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED);
        if (!(moved > job_bytes_moved(r->nodes[d->node].lanes, JOB_SENT, JOB_RECEIVED))) continue;
        ++*count;
        if (!most || moved > highest) most = d, highest = moved;
    }
    return most;
}

static const char *job_amount_text(char *text, size_t size, const job_lane *lane)
{
    return lane ? rules_format(text, size, "B", lane->total) : "an unknown amount";
}

static bool job_is_loopback(const job_device *d)
{
    return strcmp(d->name, "lo") == 0;
}

// Bytes over the loopback or a bridge are not the network's, but whoever looks for them should not just read 0.
static void job_note_virtual(job_report *r)
{
    size_t count;
    const job_device *d = job_busiest_virtual(r, &count);
    char sent[32], received[32], more[96] = "";
    if (!d) return;
    if (count > 1) snprintf(more, sizeof more, "; and %s", words_many(count - 1, "more such device").text);
    if (r->node_count == 1 && job_is_loopback(d)) {
        double ports = job_bytes_moved(r->nodes[0].lanes, JOB_SENT, JOB_RECEIVED);
        job_add_note(
            r, SEVERITY_INFO,
            memory_format("%s went through lo, which is memory and not a network%s%s%s",
                          words_quantity(job_bytes_moved(d->lanes, JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED), "B").text,
                          isnan(ports) ? "" : "; the ports carried ",
                          isnan(ports) ? "" : words_quantity(ports, "B").text, more),
            JOB_NONE);
        return;
    }
    job_add_note(r, SEVERITY_INFO,
                 memory_format("Not in the network figures, virtual: %.60s%s%.60s sent %s, received %s%s",
                               r->node_count > 1 ? r->nodes[d->node].name : "", r->node_count > 1 ? " " : "", d->name,
                               job_amount_text(sent, sizeof sent, d->lanes[JOB_VIRTUAL_SENT]),
                               job_amount_text(received, sizeof received, d->lanes[JOB_VIRTUAL_RECEIVED]), more),
                 JOB_NONE);
}

// A busy node that did not keep the job waiting.
static void job_note_others(job_report *r)
{
    size_t worst = JOB_NONE, count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        double share = r->reader->nodes[i].others_wait;
        if (!(share > 0)) continue;
        count++;
        if (worst == JOB_NONE || share > r->reader->nodes[worst].others_wait) worst = i;
    }
    if (worst == JOB_NONE) return;
    char more[96] = "", theirs[128] = "";
    const job_lane *lane = r->nodes[worst].lanes[JOB_CPU];
    double waited = r->reader->nodes[worst].waited_s, of_own = lane ? waited / (waited + lane->total) : NAN;
    if (of_own >= 0) snprintf(theirs, sizeof theirs, ", those of the job %s of theirs", words_share(of_own).text);
    if (count > 1) snprintf(more, sizeof more, "; so on %s", words_many(count - 1, "more node").text);
    job_add_note(r, SEVERITY_INFO,
                 memory_format("%.60s is busy: threads waited for a CPU %s of the time%s%s", r->nodes[worst].name,
                               words_share(r->reader->nodes[worst].others_wait).text, theirs, more),
                 JOB_NONE);
}

// Of one node whose program has regions: which moved the most, by the bytes that they declare.
static void job_note_regions(job_report *r)
{
    const regions_node *most[2] = {NULL, NULL};
    if (r->node_count != 1 || r->regions.rank_count != 1) return; // several ranks: the bytes of which is no sentence
    for (size_t i = 0; i < r->regions.node_count; i++) {
        const regions_node *n = &r->regions.nodes[i];
        if (n->span || n->threads > 1 || !n->sums.bytes || !n->sums.inclusive_ns) continue;
        if (!most[0] || n->sums.bytes > most[0]->sums.bytes)
            most[1] = most[0], most[0] = n;
        else if (!most[1] || n->sums.bytes > most[1]->sums.bytes)
            most[1] = n;
    }
    if (!most[0]) return;
    char *text = NULL;
    for (size_t i = 0; i < 2 && most[i]; i++) {
        double rate = (double)most[i]->sums.bytes / ((double)most[i]->sums.inclusive_ns * 1e-9);
        text_append(&text, "%s%.40s moved %s/s", i ? ", " : "", most[i]->name, words_quantity(rate, "B").text);
    }
    text_append(&text, ", by the bytes that the program declares");
    job_add_note(r, SEVERITY_INFO, text, JOB_NONE);
}

// Of one node: where most of the CPU time was the kernel's, the program's own code is not what to look at first.
static void job_note_kernel(job_report *r)
{
    if (r->node_count != 1) return;
    const job_lane *all = r->nodes[0].lanes[JOB_CPU], *kernel = r->nodes[0].lanes[JOB_KERNEL];
    if (!all || !kernel || !(all->total >= 1) || !(kernel->total >= .5 * all->total) || kernel->total > all->total)
        return;
    job_add_note(r, SEVERITY_INFO,
                 memory_format("%s of its CPU time was spent in the kernel%s",
                               words_share(kernel->total / all->total).text,
                               r->nodes[0].cpu_by == JOB_BY_NODE ? ", that of the whole node" : ""),
                 JOB_NONE);
}

// "CPU 63 % busy, network 1.2 GB/s sent a node".
static char *job_summary(const job_report *r)
{
    const job_use *cpu = job_known_use(r, JOB_CPU), *gpu = job_known_use(r, JOB_GPU_BUSY),
                  *sent = job_known_use(r, JOB_SENT);
    char text[256] = "";
    size_t n = 0, beside;
    const job_device *elsewhere = job_busiest_virtual(r, &beside); // say that there is more
    bool ports = elsewhere != NULL;
    double moved = ports ? job_bytes_moved(elsewhere->lanes, JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED) : NAN;
    if (r->node_count == 1 && ports && job_is_loopback(elsewhere) && moved > 1e6 &&
        !(job_bytes_moved(r->nodes[0].lanes, JOB_SENT, JOB_RECEIVED) > .001 * moved))
        return memory_strdup("No fault found; its traffic stayed on this host");
    const job_bottleneck *thread = &r->bottlenecks[JOB_BOUND_THREAD];
    if (gpu) n += (size_t)snprintf(text + n, sizeof text - n, "GPUs %s busy", words_share(gpu->mean).text);
    if (thread->bound) // else half of the CPUs busy reads as if there were room
        n += (size_t)snprintf(text + n, sizeof text - n, "%sone thread at %s of its core", n ? ", " : "",
                              words_share(thread->mean).text);
    if (cpu && cpu->capacity > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sCPUs %s busy", n ? ", " : "",
                              words_share(cpu->mean / cpu->capacity).text);
    else if (cpu)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s CPUs busy", n ? ", " : "", words_number(cpu->mean).text);
    if (sent)
        snprintf(text + n, sizeof text - n, "%s%s/s sent%s%s", n ? ", " : "", words_quantity(sent->mean, "B").text,
                 ports ? " through ports" : "", r->node_count > 1 ? " a node" : "");
    return memory_format("No fault found%s%s", *text ? ": " : "", text);
}

// A stretch in which work slowed is no fault, but no good news either. NULL: there is none.
static const job_finding *job_slow_finding(const job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (strcmp(r->findings[i].rule, "work-slowed") == 0) return &r->findings[i];
    return NULL;
}

static char *job_clock_words(const job_report *r)
{
    if (r->node_count < 2) return memory_format("one node: no clocks to compare");
    if (!r->clocks_aligned) return memory_format("node clocks as they are, not compared");
    if (isnan(r->uncertainty_s)) return memory_format("node clocks aligned, how well is not known");
    return memory_format("node clocks agree to %s", words_duration(r->uncertainty_s).text);
}

static void job_note_clocks(job_report *r)
{
    enum { SHOWN = 4 };
    size_t found = 0;
    for (size_t i = 0; i < arrlenu(r->reader->runs); i++) {
        const job_run *x = &r->reader->runs[i];
        if (!x->clock_steps || ++found > SHOWN) continue;
        char *how = clocks_set_words(x->clock_steps, x->clock_set_ns);
        job_add_note(r, SEVERITY_INFO,
                     memory_format("%s: the wall clock was %s while it was recorded; times here go on from its first "
                                   "reading by the monotonic clock",
                                   r->nodes[x->node].name, how),
                     JOB_NONE);
        free(how);
    }
    if (found > SHOWN)
        job_add_note(
            r, SEVERITY_INFO,
            memory_format("The wall clock was set while %s recorded", words_many(found - SHOWN, "more file").text),
            JOB_NONE);
}

void job_make_notes(job_report *r)
{
    bool bad = r->finding_count && r->findings[0].severity >= SEVERITY_UNKNOWN;
    const job_finding *slow = job_slow_finding(r);
    r->title = bad ? memory_strdup(r->findings[0].title) : slow ? memory_strdup(slow->title) : job_summary(r);
    r->clock_text = job_clock_words(r);
    job_note_findings(r);
    if (slow) job_add_note(r, slow->severity, memory_strdup(slow->claim), (size_t)(slow - r->findings));
    job_note_others(r);
    job_note_virtual(r);
    job_note_regions(r);
    job_note_kernel(r);
    job_note_good(r);
    job_note_energy(r);
    job_note_gaps(r);
    job_note_clocks(r);
    if (!r->note_count)
        job_add_note(r, SEVERITY_OK, memory_strdup("Nothing to say: no rule found what it looks for"), JOB_NONE);
}
