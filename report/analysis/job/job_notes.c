// The title, the verdict box and the lines below the page: a job in a few sentences.
#include "job_words.h"
#include "job_store.h"
#include "analysis/base/list.h"
#include "analysis/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_note(job_report *r, severity s, char *text, size_t which)
{
    if (!text || !list_grow_one(&r->notes, r->note_count, sizeof *r->notes)) {
        free(text);
        return false;
    }
    r->notes[r->note_count++] = (job_note){s, text, which};
    return true;
}

static const job_use *use_of(const job_report *r, job_meter meter)
{
    for (size_t i = 0; i < r->use_count; i++)
        if (r->uses[i].meter == meter) return &r->uses[i];
    return NULL;
}

static bool falls(double ratio)
{
    return ratio < 0.95;
}

// What the other meters did during an incident. Lost work assumes that steps follow the bytes that are sent.
static bool note_effect(job_report *r, size_t which)
{
    const job_finding *x = &r->findings[which];
    char share[32], lost[32], part[32];
    if (!falls(x->sent_ratio)) return true;
    double cpu = x->cpu_ratio, gpu = x->gpu_ratio;
    const char *who = r->node_count > 1 ? "the nodes together" : "the node";
    rules_format(share, sizeof share, "%", 1 - x->sent_ratio);
    rules_format(part, sizeof part, "%", r->end_s > 0 ? x->lost_s / r->end_s : 0);
    job_length_text(lost, sizeof lost, x->lost_s);
    char busy[96] = "", shown[32];
    if (falls(gpu))
        snprintf(busy, sizeof busy, ", GPUs were busy %s less", rules_format(shown, sizeof shown, "%", 1 - gpu));
    else if (falls(cpu))
        snprintf(busy, sizeof busy, ", CPUs were busy %s less", rules_format(shown, sizeof shown, "%", 1 - cpu));
    return add_note(r, x->severity,
                    text_make("In that time %s sent %s less%s: about %s of work lost (%s), if work follows the bytes",
                              who, share, busy, lost, part),
                    which);
}

// Good signs, of what was watched.
static bool note_good(job_report *r)
{
    static const struct {
        const char *source, *counter, *text;
    } signs[] = {{"cgroup", "oom_kills", "out-of-memory kill"},
                 {"memory", "oom_kill", "out-of-memory kill"},
                 {"cxi", "hni_pcs_uncorrected_cw", "uncorrected codeword"},
                 {"cxi", "pct_retry_srb_requests", "retry"},
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
    if (!*text) return true;
    text[0] = 'N';
    return add_note(r, SEVERITY_OK, text_make("%s", text), JOB_NONE);
}

static bool note_energy(job_report *r)
{
    const job_energy *e = &r->energy;
    char total[32], share[48] = "", number[32];
    if (isnan(e->total_j)) {
        bool denied = e->state[JOB_PART_CPU] == JOB_DENIED;
        return !denied ||
               add_note(r, SEVERITY_INFO,
                        text_make("No CPU energy: reading it is not permitted (root, or the site's leave)"), JOB_NONE);
    }
    if (e->total_j > 0 && !isnan(e->part_j[JOB_PART_GPU]))
        snprintf(share, sizeof share, ", %s of it GPUs",
                 rules_format(number, sizeof number, "%", e->part_j[JOB_PART_GPU] / e->total_j));
    return add_note(r, SEVERITY_INFO,
                    text_make("Energy %s%s%s; mean %s per node%s%s", e->lower_bound ? "at least " : "",
                              job_energy_text(total, sizeof total, e->total_j), share,
                              words_quantity(e->node_w, "W").text, e->whole ? "" : "; ", e->whole ? "" : e->how),
                    JOB_NONE);
}

// On how many nodes the stretch lies alike, to an interval; 0: an earlier node told of it.
static size_t nodes_alike(const job_report *r, size_t node, const job_gap *gap)
{
    double slack = isnan(r->interval_s) ? 0 : 2 * r->interval_s;
    size_t count = 1;
    for (size_t i = 0; i < r->node_count; i++)
        for (size_t k = 0; k < r->nodes[i].gap_count && i != node; k++) {
            const job_gap *x = &r->nodes[i].gaps[k];
            if (!(fabs(x->from_s - gap->from_s) <= slack) || !(fabs(x->to_s - gap->to_s) <= slack)) continue;
            if (i < node) return 0;
            count++;
            break;
        }
    return count;
}

// At most three stretches without samples.
static bool note_gaps(job_report *r)
{
    enum { LOOKED_AT = 4096 };
    char text[400] = "", more[48] = "";
    size_t shown = 0, all = 0, looked = 0;
    for (size_t i = 0; i < r->node_count; i++)
        for (size_t k = 0; k < r->nodes[i].gap_count; k++) {
            const job_gap *gap = &r->nodes[i].gaps[k];
            char from[32], to[32], who[96];
            size_t n = strlen(text), alike = looked++ < LOOKED_AT ? nodes_alike(r, i, gap) : 0;
            if (!alike || gap->idle) continue;
            all++;
            if (shown >= 3) continue;
            shown++;
            if (alike == r->node_count && alike > 1)
                snprintf(who, sizeof who, "all nodes");
            else if (alike > 1)
                snprintf(who, sizeof who, "%.60s and %zu more", r->nodes[i].name, alike - 1);
            else
                snprintf(who, sizeof who, "%.60s", r->nodes[i].name);
            job_time_text(from, sizeof from, gap->from_s, r->end_s);
            job_time_text(to, sizeof to, gap->to_s, r->end_s);
            bool brief = strcmp(from, to) == 0; // then how long it was says more
            if (brief) job_length_text(to, sizeof to, gap->to_s - gap->from_s);
            snprintf(text + n, sizeof text - n, brief ? "%s%s %s (%s)" : "%s%s %s-%s", n ? ", " : "", who, from, to);
        }
    if (!all) return true;
    if (all > shown) snprintf(more, sizeof more, " and %zu more", all - shown);
    return add_note(r, SEVERITY_INFO, text_make("No samples: %s%s; left out of means, not of totals", text, more),
                    JOB_NONE);
}

static bool note_findings(job_report *r)
{
    enum { SHOWN = 4 };
    size_t shown = 0, worth = 0;
    bool good = true;
    for (size_t i = 0; i < r->finding_count && good; i++) {
        const job_finding *x = &r->findings[i];
        worth += x->severity >= SEVERITY_WATCH;
        if (x->severity < SEVERITY_WATCH || shown >= SHOWN) continue;
        good = add_note(r, x->severity, text_make("%s", x->claim), i);
        shown++;
        if (good && x->incident && shown < SHOWN) good = note_effect(r, i);
    }
    if (good && worth > shown)
        good = add_note(r, SEVERITY_INFO, text_make("%zu more finding%s", worth - shown, worth - shown == 1 ? "" : "s"),
                        JOB_NONE);
    return good;
}

static double bytes_of(const job_lane *const lanes[], job_meter sent, job_meter received)
{
    return fmax(lanes[sent] ? lanes[sent]->total : NAN, lanes[received] ? lanes[received]->total : NAN);
}

// The virtual device that moved the most, where it moved more than all ports of its node; NULL: none did.
static const job_device *busiest_virtual(const job_report *r, size_t *count)
{
    const job_device *most = NULL;
    double highest = 0;
    *count = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        const job_device *d = &r->devices[i];
        double moved = bytes_of((const job_lane *const *)d->lanes, JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED);
        if (!(moved > bytes_of((const job_lane *const *)r->nodes[d->node].lanes, JOB_SENT, JOB_RECEIVED))) continue;
        ++*count;
        if (!most || moved > highest) most = d, highest = moved;
    }
    return most;
}

static const char *amount_text(char *text, size_t size, const job_lane *lane)
{
    return lane ? rules_format(text, size, "B", lane->total) : "an unknown amount";
}

// What ran over the loopback or a bridge is not the network's, but who looks for it shall not read 0 alone.
static bool note_virtual(job_report *r)
{
    size_t count;
    const job_device *d = busiest_virtual(r, &count);
    char sent[32], received[32], more[48] = "";
    if (!d) return true;
    if (count > 1) snprintf(more, sizeof more, "; and %zu more such device%s", count - 1, count == 2 ? "" : "s");
    return add_note(r, SEVERITY_INFO,
                    text_make("Not in the network figures, virtual: %.60s%s%.60s sent %s, received %s%s",
                              r->node_count > 1 ? r->nodes[d->node].name : "", r->node_count > 1 ? " " : "", d->name,
                              amount_text(sent, sizeof sent, d->lanes[JOB_VIRTUAL_SENT]),
                              amount_text(received, sizeof received, d->lanes[JOB_VIRTUAL_RECEIVED]), more),
                    JOB_NONE);
}

// A busy node that did not keep the job waiting.
static bool note_others(job_report *r)
{
    size_t worst = JOB_NONE, count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        double share = r->reader->nodes[i].others_wait;
        if (!(share > 0)) continue;
        count++;
        if (worst == JOB_NONE || share > r->reader->nodes[worst].others_wait) worst = i;
    }
    if (worst == JOB_NONE) return true;
    char share[32], own[32], more[48] = "", theirs[80] = "";
    const job_lane *lane = r->nodes[worst].lanes[JOB_CPU];
    double waited = r->reader->nodes[worst].waited_s, of_own = lane ? waited / (waited + lane->total) : NAN;
    if (of_own >= 0)
        snprintf(theirs, sizeof theirs, ", those of the job %s of theirs", rules_format(own, sizeof own, "%", of_own));
    if (count > 1) snprintf(more, sizeof more, "; so on %zu more node%s", count - 1, count == 2 ? "" : "s");
    rules_format(share, sizeof share, "%", r->reader->nodes[worst].others_wait);
    return add_note(r, SEVERITY_INFO,
                    text_make("%.60s is busy: threads waited for a CPU %s of the time%s%s", r->nodes[worst].name, share,
                              theirs, more),
                    JOB_NONE);
}

// "CPU 63 % busy, network 1.2 GB/s sent a node".
static char *summary(const job_report *r)
{
    const job_use *cpu = use_of(r, JOB_CPU), *gpu = use_of(r, JOB_GPU_BUSY), *sent = use_of(r, JOB_SENT);
    char text[256] = "", number[32];
    size_t n = 0, beside;
    bool ports = busiest_virtual(r, &beside) != NULL; // say that there is more
    if (gpu)
        n += (size_t)snprintf(text + n, sizeof text - n, "GPUs %s busy",
                              rules_format(number, sizeof number, "%", gpu->mean));
    if (cpu && cpu->capacity > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sCPUs %s busy", n ? ", " : "",
                              rules_format(number, sizeof number, "%", cpu->mean / cpu->capacity));
    else if (cpu)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s CPUs busy", n ? ", " : "", words_number(cpu->mean).text);
    if (sent)
        snprintf(text + n, sizeof text - n, "%s%s/s sent%s%s", n ? ", " : "",
                 rules_format(number, sizeof number, "B", sent->mean), ports ? " through ports" : "",
                 r->node_count > 1 ? " a node" : "");
    return text_make("No fault found%s%s", *text ? ": " : "", text);
}

static char *clock_words(const job_report *r)
{
    if (r->node_count < 2) return text_make("one node: no clocks to compare");
    if (!r->clocks_aligned) return text_make("node clocks as they are, not compared");
    if (isnan(r->uncertainty_s)) return text_make("node clocks aligned, how well is not known");
    char text[32];
    return text_make("node clocks agree to %s", job_length_text(text, sizeof text, r->uncertainty_s));
}

bool job_make_notes(job_report *r)
{
    bool bad = r->finding_count && r->findings[0].severity >= SEVERITY_WATCH;
    r->title = bad ? text_make("%s", r->findings[0].title) : summary(r);
    r->clock_text = clock_words(r);
    bool good = r->title && r->clock_text && note_findings(r) && note_others(r) && note_virtual(r) && note_good(r) &&
                note_energy(r) && note_gaps(r);
    if (good && !r->note_count)
        good = add_note(r, SEVERITY_OK, text_make("Nothing to say: no rule found what it looks for"), JOB_NONE);
    return good;
}
