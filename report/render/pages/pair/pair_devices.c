// A page for each device that is unlike the others: its largest counters by unit, with the peers as a baseline.
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/base/number.h"
#include "pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES_MOST = 8 };

// ---- which devices ----

static bool devices_everywhere(const pair *p, const finding *x, const pair_source *s)
{
    size_t n = 0;
    for (size_t i = 0; i < p->f->count; i++)
        n += p->f->items[i].rule == x->rule && p->f->items[i].severity == x->severity &&
             p->f->items[i].device != DIFFERENCE_NONE;
    return n >= s->count;
}

static bool devices_has_own_finding(const pair *p, size_t device, const pair_source *s)
{
    for (size_t i = 0; i < p->f->count; i++) {
        const finding *x = &p->f->items[i];
        if (x->device == device && strcmp(x->rule->name, "idle") != 0 && !devices_everywhere(p, x, s)) return true;
    }
    return false;
}

static bool devices_carries_more(const pair *p, size_t device, const pair_source *s)
{
    static const uint32_t roles[2] = {CATALOG_RX_BYTES, CATALOG_TX_BYTES};
    for (int way = 0; way < 2; way++) {
        double sum = 0, own = pair_role_rate(p, device, roles[way]);
        for (size_t i = 0; i < s->count; i++) {
            double v = pair_role_rate(p, s->devices[i], roles[way]);
            sum += isnan(v) ? 0 : v;
        }
        if (own > 1.5 * sum / (double)s->count) return true;
    }
    return false;
}

// Whose finding is the worst; else the first.
static size_t devices_example_of(const pair *p, const pair_source *s)
{
    for (size_t i = 0; i < p->f->count; i++)
        for (size_t k = 0; k < s->count; k++)
            if (p->f->items[i].device == s->devices[k]) return s->devices[k];
    return s->devices[0];
}

// ---- classes of counters ----

typedef enum device_class { VOLUME = 0, PACKETS, CYCLES, HARM, CLASSES } device_class;

static const struct {
    const char *name, *title, *question, *unit;
    size_t rows;
    bool harm;
} classes[CLASSES] = {
    [VOLUME] = {"volume", "Volume", "bytes per second", "bytes", 5, false},
    [PACKETS] = {"packets", "Packets and transactions", "per second", "events", 5, false},
    [CYCLES] = {"cycles", "Stalled or blocked", "clock cycles per second; 1 G is all of the time", "cycles", 4, false},
    [HARM] = {"errors", "Errors and corrections", "per second", "events", 3, true},
};

static bool devices_is_one_of(const char *unit, const char *const *units, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(unit, units[i]) == 0) return true;
    return false;
}

static bool devices_is_background(const findings *f, const char *source, const char *counter)
{
    for (size_t i = 0; i < f->background_count; i++)
        if (strcmp(f->background[i].counter, counter) == 0 && strcmp(f->background[i].source, source) == 0) return true;
    return false;
}

// CLASSES: none of them.
static device_class devices_class_of(const pair *p, size_t counter)
{
    static const char *const plain[] = {"packets", "frames",   "messages",    "segments",  "datagrams",     "flits",
                                        "TLPs",    "commands", "requests",    "responses", "work requests", "events",
                                        "count",   "lookups",  "connections", "searches"};
    const netprof_counter *c = &p->schema->counters[counter];
    const difference_row *row = &p->d->rows[counter];
    const char *source = p->schema->devices[c->device].source;
    uint32_t marks = catalog_marks(source, c->name);
    if (row->flag != NETPROF_FLAG_OK && row->flag != NETPROF_FLAG_WRAPPED) return CLASSES;
    if (!(row->rate_per_s > 0) || marks & (CATALOG_CLOCK_ONLY | CATALOG_UNUSABLE)) return CLASSES;
    if (c->kind == NETPROF_KIND_HISTOGRAM) return CLASSES;
    bool codewords = strcmp(row->unit, "codewords") == 0 || strcmp(row->unit, "symbols") == 0;
    bool harm = codewords || strcmp(row->unit, "errors") == 0 || devices_is_background(p->f, source, c->name);
    if (harm || (catalog_is_trouble(source, c->name, row->unit) && strcmp(row->unit, "cycles") != 0)) return HARM;
    if (strcmp(row->unit, "bytes") == 0) return VOLUME;
    if (strcmp(row->unit, "cycles") == 0) return CYCLES;
    return devices_is_one_of(row->unit, plain, sizeof plain / sizeof *plain) ? PACKETS : CLASSES;
}

typedef struct ranked {
    double rate;
    size_t counter;
    uint64_t magnitude;
} ranked;

static int devices_by_rate(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->magnitude != y->magnitude) return x->magnitude < y->magnitude ? 1 : -1;
    return (x->counter > y->counter) - (x->counter < y->counter);
}

static size_t devices_rank(const pair *p, size_t device, device_class class, ranked *list)
{
    const netprof_device *dev = &p->schema->devices[device];
    size_t count = 0;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
        if (devices_class_of(p, i) == class)
            list[count++] = (ranked){p->d->rows[i].rate_per_s, i, p->d->rows[i].magnitude};
    qsort(list, count, sizeof *list, devices_by_rate);
    return count;
}

// The decades that hold this class on all devices of the source: the same axis on all their pages.
static void devices_span_of(const pair *p, const pair_source *s, device_class class, double *low, double *high)
{
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < s->count; k++) {
        const netprof_device *dev = &p->schema->devices[s->devices[k]];
        for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
            if (devices_class_of(p, i) != class) continue;
            least = fmin(least, p->d->rows[i].rate_per_s);
            most = fmax(most, p->d->rows[i].rate_per_s);
        }
    }
    *low = pow(10, floor(log10(least) + 1e-9));
    *high = fmax(pow(10, ceil(log10(most) - 1e-9)), *low * 100);
}

// Counters within a thousandth of each other are one bar.
static bool devices_equal(const ranked *a, const ranked *b)
{
    double x = (double)a->magnitude, y = (double)b->magnitude;
    return x - y <= x / 1000;
}

static void devices_fill_row(const pair *p, const pair_source *s, const ranked *r, size_t same, panel_row *row)
{
    const netprof_counter *c = &p->schema->counters[r->counter];
    const catalog_entry *entry = p->d->rows[r->counter].entry;
    double *peers = arena_make(p->memory, s->count + 1, sizeof *peers);
    row->name = same ? arena_format(p->memory, "%s (+%zu equal)", c->name, same) : c->name;
    row->gloss = pair_gloss(entry, c->name);
    row->value = r->rate;
    row->exact =
        arena_format(p->memory, "%s: %s %s", c->name, number_grouped(r->magnitude).text, p->d->rows[r->counter].unit);
    for (size_t i = 0; i < s->count; i++) {
        size_t peer = s->devices[i] == c->device ? DIFFERENCE_NONE : evaluation_counter(&p->e, s->devices[i], c->name);
        if (peer != DIFFERENCE_NONE) peers[row->peer_count++] = p->d->rows[peer].rate_per_s;
    }
    row->peers = peers;
    if (devices_is_background(p->f, s->name, c->name)) row->note = "alike on all: background";
}

// Returns how many of the class are left out.
static size_t devices_add_class(pair *p, document *doc, const pair_source *s, size_t device, device_class class,
                                ranked *list)
{
    size_t count = devices_rank(p, device, class, list), rows = 0, at = 0;
    panel_row *panel = arena_make(p->memory, classes[class].rows, sizeof *panel);
    while (at < count && rows < classes[class].rows) {
        size_t same = 0;
        while (at + same + 1 < count && devices_equal(&list[at], &list[at + same + 1]))
            same++;
        devices_fill_row(p, s, &list[at], same, &panel[rows++]);
        at += same + 1;
    }
    panel_style style = {.harm = classes[class].harm, .unit = classes[class].unit};
    devices_span_of(p, s, class, &style.low, &style.high);
    const chart_head head = {arena_format(p->memory, "%s-%zu", classes[class].name, device), classes[class].title,
                             classes[class].question};
    if (rows) document_add(doc, chart_panel(head, &style, panel, rows));
    return count - at;
}

// ---- a page ----

static void devices_add_sublines(pair *p, document *doc, size_t device)
{
    const netprof_device *dev = &p->schema->devices[device];
    double rx = pair_role_rate(p, device, CATALOG_RX_BYTES), tx = pair_role_rate(p, device, CATALOG_TX_BYTES);
    buffer b = {0};
    if (!isnan(rx) || !isnan(tx))
        buffer_printf(&b, "Received %s, sent %s. ", number_volume_rate(rx, "bytes").text,
                      number_volume_rate(tx, "bytes").text);
    buffer_printf(&b, "%zu of %zu counters changed.", p->d->devices[device].changed, p->d->devices[device].counters);
    for (size_t i = 0; i < dev->fact_count; i++) {
        const char *key = dev->facts[i].key;
        if (strcmp(key, "netdev") && strcmp(key, "pci") && strcmp(key, "numa_node") && strcmp(key, "driver")) continue;
        buffer_printf(&b, "  \xc2\xb7  %s %s", key, dev->facts[i].value);
    }
    document_subline(doc, b.data ? b.data : "");
    size_t said = 0;
    for (size_t i = 0; i < p->f->count && said < 2; i++) {
        const finding *x = &p->f->items[i];
        if (x->device != device || !x->claim || strcmp(x->rule->name, "idle") == 0) continue;
        b.size = 0;
        buffer_printf(&b, "%s: %s", theme_severity_word(x->severity), x->claim);
        document_subline(doc, b.data ? b.data : "");
        said++;
    }
    buffer_free(&b);
}

static void devices_add_page(pair *p, document *doc, const pair_source *s, size_t device, ranked *list)
{
    char title[300], name[64], peers[80] = "";
    size_t left = 0;
    snprintf(title, sizeof title, "%.200s: most active counters", p->schema->devices[device].name);
    document_part(doc, title);
    devices_add_sublines(p, doc, device);
    snprintf(name, sizeof name, "key-%zu", device);
    if (s->count == 2) snprintf(peers, sizeof peers, "the other %s", pair_noun(s->name, false));
    if (s->count > 2)
        snprintf(peers, sizeof peers, "the %zu other %s (zero is not drawn)", s->count - 1, pair_noun(s->name, true));
    document_add(doc, chart_panel_key((chart_head){name, "", ""}, p->schema->devices[device].name, peers,
                                      "every axis is logarithmic; equal counters are folded"));
    for (int class = 0; class < CLASSES; class ++)
        left += devices_add_class(p, doc, s, device, (device_class) class, list);
    pair_device_sizes(p, doc, s, device);
    if (left) {
        snprintf(title, sizeof title,
                 "%zu more counters changed; the appendix and netprof diff --all have them. Counters that "
                 "only measure time, histograms and gauges are left out here.",
                 left);
        document_note(doc, title);
    }
}

void pair_devices(pair *p, document *doc)
{
    const pair_source *s = p->source_count ? &p->sources[0] : NULL;
    size_t pages = 0, most = 0, different = 0;
    if (!s || !s->count || strcmp(s->name, "ip") == 0) return;
    for (size_t i = 0; i < s->count; i++)
        if (p->schema->devices[s->devices[i]].count > most) most = p->schema->devices[s->devices[i]].count;
    ranked *list = arena_make(p->memory, most, sizeof *list);
    for (size_t i = 0; i < s->count; i++) {
        size_t device = s->devices[i];
        bool unlike = s->count == 1 || devices_has_own_finding(p, device, s) || devices_carries_more(p, device, s);
        different += unlike;
        if (!p->d->devices[device].changed || (!p->in->all_nics && (!unlike || pages == PAGES_MOST))) continue;
        devices_add_page(p, doc, s, device, list);
        pages++;
    }
    if (!pages && p->d->devices[devices_example_of(p, s)].changed)
        devices_add_page(p, doc, s, devices_example_of(p, s), list), pages++;
    if (pages && pages < s->count && !p->in->all_nics)
        document_note(doc, arena_format(p->memory,
                                        "%zu of %zu %s have a page of their own: those unlike the others by traffic or "
                                        "by a finding%s. --all-nics makes one for each.",
                                        pages, s->count, pair_noun(s->name, true),
                                        different > pages ? " (the first of them)" : ""));
}
