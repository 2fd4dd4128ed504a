#include "job_explained.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/regions/pairs/regions_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- what the layers say ----

static size_t job_explained_node_of(const job_report *r, const char *host)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (strcmp(r->nodes[i].name, host) == 0) return i;
    for (size_t i = 0; i < r->node_count; i++)
        if (strcmp(r->nodes[i].host, host) == 0) return i;
    return JOB_NONE;
}

static job_explained_node *job_explained_find(job_explained *e, size_t node)
{
    for (size_t i = 0; i < e->node_count; i++)
        if (e->nodes[i].node == node) return &e->nodes[i];
    return NULL;
}

// Node after node: hosts that no recording is of are counted and left out.
static void job_explained_add_nodes(job_explained *e, const job_report *r, const pairs *p, bool *left_out)
{
    size_t count = arrlenu(p->nodes);
    uint64_t *sent = memory_calloc(count, sizeof *sent), *received = memory_calloc(count, sizeof *received);
    pairs_sums s = pairs_sum(p, sent, received);
    e->within = sum_capped(e->within, s.within);
    for (size_t i = 0; i < count; i++) {
        size_t node = job_explained_node_of(r, p->nodes[i]);
        if (node == JOB_NONE) {
            *left_out = true;
            continue;
        }
        job_explained_node *to = job_explained_find(e, node);
        if (!to) {
            e->nodes = memory_array(e->nodes, e->node_count + 1, sizeof *e->nodes);
            e->nodes[e->node_count++] = (job_explained_node){.node = node};
            to = &e->nodes[e->node_count - 1];
        }
        to->sent[e->layer_count] = sum_capped(to->sent[e->layer_count], sent[i]);
        to->received[e->layer_count] = sum_capped(to->received[e->layer_count], received[i]);
    }
    free(sent);
    free(received);
}

static void job_explained_add_layer(job_explained *e, const job_report *r, const pairs *p, bool *left_out)
{
    if (p->unknown) e->not_told = p->layer;
    if (p->unknown || e->layer_count == JOB_LAYERS) return;
    job_explained_add_nodes(e, r, p, left_out);
    e->at_least[e->layer_count] = p->at_least;
    e->layers[e->layer_count++] = p->layer;
    e->outside = sum_capped(e->outside, p->outside_bytes);
    e->together = sum_capped(e->together, p->together_bytes);
}

// ---- what the NICs say ----

static const job_lane *job_explained_lane(const job_node *node, bool sent, bool *virtual)
{
    const job_lane *lane = node->lanes[sent ? JOB_SENT : JOB_RECEIVED];
    if (lane && !isnan(lane->total)) return lane;
    lane = node->lanes[sent ? JOB_VIRTUAL_SENT : JOB_VIRTUAL_RECEIVED];
    if (lane) *virtual = true;
    return lane && !isnan(lane->total) ? lane : NULL;
}

// Nodes whose NICs are not known are left out: what their ranks sent explains nothing of the others.
static void job_explained_add_nics(job_explained *e, const job_report *r, bool *left_out)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->node_count; i++) {
        job_explained_node x = e->nodes[i];
        const job_node *node = &r->nodes[x.node];
        bool virtual = false;
        const job_lane *sent = job_explained_lane(node, true, &virtual),
                       *received = job_explained_lane(node, false, &virtual);
        if (!sent || !received) {
            *left_out = true;
            continue;
        }
        x.nic_sent = sent->total;
        x.nic_received = received->total;
        x.lower_bound = sent->lower_bound || received->lower_bound;
        e->is_virtual |= virtual;
        e->lower_bound |= x.lower_bound;
        e->nic_sent += x.nic_sent;
        e->nic_received += x.nic_received;
        for (size_t k = 0; k < e->layer_count; k++) {
            e->sent[k] = sum_capped(e->sent[k], x.sent[k]);
            e->received[k] = sum_capped(e->received[k], x.received[k]);
        }
        e->nodes[kept++] = x;
    }
    e->node_count = kept;
}

static int job_explained_by_node(const void *a, const void *b)
{
    const job_explained_node *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

// Which share of MPI's run no recording covers; NAN: not known.
static double job_explained_missing(const job_report *r)
{
    double from = INFINITY, to = -INFINITY;
    for (size_t i = 0; i < r->regions.rank_count; i++) {
        const regions_blocks *b = &r->regions.ranks[i].blocks;
        if (b->began_ns <= 0 || b->ended_ns <= b->began_ns) continue;
        from = fmin(from, (double)(b->began_ns - r->begin_ns) / 1e9);
        to = fmax(to, (double)(b->ended_ns - r->begin_ns) / 1e9);
    }
    double covered = to, begin = from;
    for (size_t i = 0; i < r->node_count; i++) {
        begin = fmax(begin, r->nodes[i].begin_s);
        covered = fmin(covered, r->nodes[i].end_s);
    }
    return to > from ? 1 - fmax(covered - begin, 0) / (to - from) : NAN;
}

static bool job_explained_is_kernels(const job_report *r, const job_explained *e)
{
    for (size_t i = 0; i < r->device_count; i++) {
        const job_device *d = &r->devices[i];
        for (size_t k = 0; k < e->node_count; k++)
            if (e->nodes[k].node == d->node && d->lanes[JOB_SENT] && strcmp(d->source, "netdev") != 0) return false;
    }
    return true;
}

// ---- words ----

static uint64_t job_explained_sum(const job_explained *e)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < e->layer_count; k++)
        sum = sum_capped(sum, e->sent[k]);
    return sum;
}

static words_text job_explained_bytes(double bytes)
{
    return words_amount(bytes, "bytes");
}

static void job_explained_say_layers(const job_explained *e, char **text)
{
    for (size_t k = 0; k < e->layer_count; k++)
        text_append(text, "%s%s", k ? " and " : "", e->layers[k]);
}

static bool job_explained_is_at_least(const job_explained *e)
{
    for (size_t k = 0; k < e->layer_count; k++)
        if (e->at_least[k]) return true;
    return false;
}

// More than the NICs moved: why, as far as anybody can tell.
static void job_explained_say_more(const job_report *r, job_explained *e, char **text)
{
    double missing = job_explained_missing(r);
    text_append(text, ", more than the NICs: ");
    if (missing >= 0.01)
        text_append(text, "%s of the run was not recorded", words_share(missing).text);
    else if (e->lower_bound)
        text_append(text, "their counters were not read all the time");
    else if (job_explained_is_kernels(r, e))
        text_append(text, "only the kernel's interfaces were read, which RDMA passes by, or nodes share memory");
    else
        text_append(text, "why is not known");
}

static void job_explained_say_rest(job_explained *e, double rest, char **text)
{
    bool more = job_explained_is_at_least(e), known = !more || !e->lower_bound; // of two bounds the difference has none
    words_text share = words_share((double)job_explained_sum(e) / e->nic_sent), other = job_explained_bytes(rest);
    share = more ? words_at_least(true, share) : words_at_most(e->lower_bound, share);
    other = more ? words_at_most(true, other) : words_at_least(e->lower_bound, other);
    if (known)
        text_append(text, " (%s). The rest, %s: headers, acknowledgements, what was sent again", share.text,
                    other.text);
    else
        text_append(text, ". The rest: headers, acknowledgements, what was sent again");
    if (more) text_append(text, ", transfers of which it was not recorded how much they moved");
    if (e->together)
        text_append(text, ", collectives (given %s; which way these went is not known)",
                    job_explained_bytes((double)e->together).text);
    if (e->not_told) text_append(text, ", what %s sent (the steps of its transfers were not recorded)", e->not_told);
    text_append(text, "%s", e->outside ? ", messages to ranks without a file" : "");
    text_append(text, ", and what else used these nodes");
}

static char *job_explained_words(const job_report *r, job_explained *e)
{
    char *text = NULL;
    double sent = (double)job_explained_sum(e), rest = e->nic_sent - sent;
    text_append(&text, "the %s of %s sent %s; the messages of ", e->is_virtual ? "virtual interfaces" : "NICs",
                words_many(e->node_count, "node").text,
                words_at_least(e->lower_bound, job_explained_bytes(e->nic_sent)).text);
    job_explained_say_layers(e, &text);
    text_append(&text, " to other nodes are %s",
                words_at_least(job_explained_is_at_least(e), job_explained_bytes(sent)).text);
    if (rest < 0)
        job_explained_say_more(r, e, &text);
    else if (e->nic_sent > 0)
        job_explained_say_rest(e, rest, &text);
    text_append(&text, ".");
    if (e->within) text_append(&text, " Within nodes, past the NICs: %s.", job_explained_bytes((double)e->within).text);
    if (e->ranks_told < e->ranks)
        text_append(&text, " Only %zu of %s told.", e->ranks_told, words_many(e->ranks, "rank").text);
    if (e->partial) text_append(&text, " Nodes whose NICs were not read are left out.");
    return text;
}

// ---- all ----

void job_explain(job_report *r, const pairs *const *layers, size_t count)
{
    job_explained *e = &r->explained;
    pairs mpi = {0};
    bool left_out = false;
    if (r->regions.runs > 1) return; // of which of them?
    if (regions_pairs(&mpi, &r->regions)) {
        job_explained_add_layer(e, r, &mpi, &left_out);
        e->ranks_told = regions_pairs_told(&r->regions);
        e->ranks = r->regions.rank_count - r->regions.children;
        if (r->regions.rank_count_told > (long)e->ranks) e->ranks = (size_t)r->regions.rank_count_told;
    }
    pairs_free(&mpi);
    for (size_t i = 0; i < count; i++)
        job_explained_add_layer(e, r, layers[i], &left_out);
    if (!e->layer_count) return;
    job_explained_add_nics(e, r, &left_out);
    e->partial = left_out;
    if (!e->node_count) return;
    qsort(e->nodes, e->node_count, sizeof *e->nodes, job_explained_by_node);
    e->text = job_explained_words(r, e);
}

void job_explained_free(job_explained *e)
{
    free(e->nodes);
    free(e->text);
    *e = (job_explained){0};
}
