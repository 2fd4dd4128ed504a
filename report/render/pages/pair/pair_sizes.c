// Distributions: packets by size, and the latency histograms that the NICs keep.
#include "render/base/arena.h"
#include "render/base/number.h"
#include "pair.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_MOST = 32, SETS_MOST = 8 };

// Counters of a family, bin after bin: for each way the prefix and the suffix of the bin.
typedef struct family {
    const char *source, *name, *title, *question, *what;
    const char *way[2], *prefix[2];
    size_t bins;
    const char *const *suffixes; // NULL: the bin's number
    const char *const *labels;   // NULL: the bin's number
} family;

static const char *const size_suffixes[] = {"27",           "35",           "36_to_63",     "64",
                                            "65_to_127",    "128_to_255",   "256_to_511",   "512_to_1023",
                                            "1024_to_2047", "2048_to_4095", "4096_to_8191", "8192_to_max"};
static const char *const size_labels[] = {"27",  "35",  "36",  "64",  "65",  "128",
                                          "256", "512", "1 k", "2 k", "4 k", "8 k"};

static const family families[] = {
    {"cxi",
     "sizes",
     "Packet sizes",
     "share of packets; under each bar its smallest size, bytes",
     "packets",
     {"received", "sent"},
     {"hni_rx_ok_", "hni_tx_ok_"},
     12,
     size_suffixes,
     size_labels},
    {"cxi",
     "latency",
     "From request to response",
     "share of requests by bin; the bins have no published scale",
     "requests",
     {"requests", NULL},
     {"pct_req_rsp_latency_", NULL},
     32,
     NULL,
     NULL},
    {"cxi",
     "host-access",
     "Access to host memory",
     "share of accesses by bin; the bins have no published scale",
     "accesses",
     {"accesses", NULL},
     {"pct_host_access_latency_", NULL},
     16,
     NULL,
     NULL},
    {"cxi",
     "translation",
     "Time of address translation",
     "share of translations by bin; the bins have no published scale",
     "translations",
     {"translations", NULL},
     {"atu_ats_trans_latency_", NULL},
     4,
     NULL,
     NULL},
};
enum { FAMILIES = sizeof families / sizeof *families };

// The bins of one way; false when the device has none of them, or nothing was counted.
static bool sizes_read_bins(const pair *p, const family *f, size_t way, size_t device, double *values)
{
    double sum = 0;
    bool any = false;
    for (size_t b = 0; b < f->bins && f->prefix[way]; b++) {
        char name[96];
        if (f->suffixes)
            snprintf(name, sizeof name, "%s%s", f->prefix[way], f->suffixes[b]);
        else
            snprintf(name, sizeof name, "%s%zu", f->prefix[way], b);
        size_t c = evaluation_counter(&p->e, device, name);
        values[b] = c != DIFFERENCE_NONE && p->d->rows[c].compared ? (double)p->d->rows[c].magnitude : NAN;
        any = any || c != DIFFERENCE_NONE;
        if (values[b] > 0) sum += values[b];
    }
    return any && sum > 0;
}

static void sizes_fill_set(const pair *p, const family *f, size_t device, histogram_set *set, double *total)
{
    *set = (histogram_set){.label = p->schema->devices[device].name};
    *total = 0;
    for (size_t way = 0; way < 2 && f->prefix[way]; way++) {
        double *values = arena_make(p->memory, f->bins, sizeof *values);
        if (!sizes_read_bins(p, f, way, device, values)) continue;
        set->values[way] = values;
        for (size_t b = 0; b < f->bins; b++)
            if (values[b] > 0) *total += values[b];
    }
}

static const char *const *sizes_labels_of(const pair *p, const family *f)
{
    if (f->labels) return f->labels;
    const char **labels = arena_make(p->memory, f->bins, sizeof *labels);
    for (size_t b = 0; b < f->bins; b++)
        labels[b] = arena_format(p->memory, "%zu", b);
    return labels;
}

static chart sizes_family_chart(const pair *p, const family *f, const char *name, const histogram_set *sets,
                                size_t count)
{
    histogram_style style = {.way = {f->way[0], f->way[1]},
                             .bins = sizes_labels_of(p, f),
                             .bin_count = f->bins,
                             .what = f->what,
                             .bins_title = f->labels ? "Packet size (bytes)" : NULL};
    return chart_histograms((chart_head){name, f->title, f->question}, &style, sets, count);
}

void pair_device_sizes(pair *p, document *doc, const pair_source *s, size_t device)
{
    histogram_set set;
    double total;
    if (strcmp(families[0].source, s->name) != 0) return;
    sizes_fill_set(p, &families[0], device, &set, &total);
    set.label = "";
    if (total > 0)
        document_add(doc, sizes_family_chart(p, &families[0], arena_format(p->memory, "sizes-%zu", device), &set, 1));
}

typedef struct counted {
    double total;
    size_t device;
} counted;

static int sizes_by_total(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

static int sizes_by_device(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

// ---- devices that are alike ----

// How far the shares of two sets are apart, at most; INFINITY: one has a bin, or a way, that the other has not.
static double sizes_distance(const family *f, const histogram_set *a, const histogram_set *b)
{
    double most = 0;
    for (size_t way = 0; way < 2; way++) {
        double sums[2] = {0, 0};
        if (!a->values[way] != !b->values[way]) return INFINITY;
        for (size_t k = 0; a->values[way] && k < f->bins; k++) {
            if (isnan(a->values[way][k]) || isnan(b->values[way][k])) return INFINITY;
            sums[0] += a->values[way][k];
            sums[1] += b->values[way][k];
        }
        for (size_t k = 0; a->values[way] && k < f->bins; k++)
            most = fmax(most, fabs(a->values[way][k] / sums[0] - b->values[way][k] / sums[1]));
    }
    return most;
}

static void sizes_add_up(const pair *p, const family *f, histogram_set *sum, const histogram_set *x)
{
    for (size_t way = 0; way < 2; way++) {
        if (!x->values[way]) continue;
        double *values =
            arena_copy(p->memory, sum->values[way] ? sum->values[way] : x->values[way], f->bins, sizeof *values);
        for (size_t k = 0; sum->values[way] && k < f->bins; k++)
            values[k] += x->values[way][k];
        sum->values[way] = values;
    }
}

// Those like the one that most are like become one, first in the list; returns how many sets are left.
static size_t sizes_fold(const pair *p, const family *f, histogram_set *sets, size_t count)
{
    enum { LEAST_ALIKE = 3 };
    static const double alike = .05;
    size_t best = 0, most = 0, left = 1;
    for (size_t i = 0; i < count; i++) {
        size_t like = 0;
        for (size_t k = 0; k < count; k++)
            like += sizes_distance(f, &sets[i], &sets[k]) <= alike;
        if (like > most) most = like, best = i;
    }
    if (most < LEAST_ALIKE || 2 * most <= count) return count;
    const histogram_set *others = arena_copy(p->memory, sets, count, sizeof *sets), model = sets[best];
    const char **names = NULL;
    sets[0] = (histogram_set){0};
    for (size_t i = 0; i < count; i++) {
        if (sizes_distance(f, &model, &others[i]) > alike) {
            sets[left++] = others[i];
            continue;
        }
        sizes_add_up(p, f, &sets[0], &others[i]);
        arrput(names, others[i].label);
    }
    char *text = findings_names_text(names, arrlenu(names));
    sets[0].label = arena_format(p->memory, "%s, alike", text);
    arrfree(names);
    free(text);
    return left;
}

// ---- all of a family ----

typedef struct family_chart {
    chart chart;
    bool narrow; // of one set: two have room beside each other
    const char *note;
} family_chart;

static bool sizes_make_family(pair *p, const pair_source *s, const family *f, family_chart *to)
{
    counted *list = arena_make(p->memory, s->count, sizeof *list);
    histogram_set *sets = arena_make(p->memory, s->count, sizeof *sets);
    size_t count = 0, folded;
    double total;
    for (size_t i = 0; i < s->count; i++) {
        sizes_fill_set(p, f, s->devices[i], &sets[count], &total);
        if (total > 0) list[count++] = (counted){total, s->devices[i]};
    }
    if (!count) return false;
    folded = p->in->all_nics ? count : sizes_fold(p, f, sets, count);
    size_t shown = folded > SETS_MOST && !p->in->all_nics ? SETS_MOST : folded;
    if (folded == count && shown < count) { // the busiest of many
        qsort(list, count, sizeof *list, sizes_by_total);
        qsort(list, shown, sizeof *list, sizes_by_device);
        for (size_t i = 0; i < shown; i++)
            sizes_fill_set(p, f, list[i].device, &sets[i], &total);
    }
    *to = (family_chart){.chart = sizes_family_chart(p, f, f->name, sets, shown), .narrow = shown == 1};
    if (shown < folded)
        to->note =
            folded == count
                ? arena_format(p->memory, "The busiest %zu of %zu %s that counted any; --all-nics shows all.", shown,
                               count, pair_noun(s->name, true))
                : arena_format(p->memory,
                               "%zu of %zu distributions are shown, alike ones (no share more than 5 points off) as "
                               "their sum; --all-nics shows each.",
                               shown, folded);
    else if (folded < count)
        to->note = arena_format(
            p->memory, "Alike: no share is more than 5 points off; their sum is shown, --all-nics shows each.");
    return true;
}

static void sizes_add_charts(document *doc, family_chart *charts, size_t count)
{
    const char *note = NULL;
    for (size_t i = 0; i < count; i++) {
        bool beside = i + 1 < count && charts[i].narrow && charts[i + 1].narrow;
        note = charts[i].note ? charts[i].note : note;
        if (beside) {
            document_beside(doc, charts[i].chart, charts[i + 1].chart, .5);
            i++;
            note = charts[i].note ? charts[i].note : note;
        } else {
            document_add(doc, charts[i].chart);
        }
        if (note && (i + 1 >= count || !charts[i + 1].note || strcmp(charts[i + 1].note, note) != 0)) {
            document_note(doc, note);
            note = NULL;
        }
    }
}

void pair_sizes(pair *p, document *doc)
{
    family_chart charts[FAMILIES];
    bool begun = false;
    for (size_t i = 0; i < p->source_count; i++) {
        const pair_source *s = &p->sources[i];
        size_t count = 0;
        for (size_t k = 0; k < FAMILIES && s->count; k++)
            if (strcmp(families[k].source, s->name) == 0 && sizes_make_family(p, s, &families[k], &charts[count]))
                count++;
        if (count && !begun) document_part(doc, "Distributions");
        begun = begun || count;
        sizes_add_charts(doc, charts, count);
    }
}
