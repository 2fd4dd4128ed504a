#include "pair.h"

#include <math.h>
#include <string.h>

static const netprof_device *pair_device_at(const pair *p, size_t device)
{
    return &p->schema->devices[device];
}

double pair_role_rate(const pair *p, size_t device, uint32_t role)
{
    const netprof_device *dev = pair_device_at(p, device);
    double most = NAN;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &p->d->rows[i];
        if (row->entry && row->entry->marks & role) most = fmax(most, row->rate_per_s);
    }
    return most;
}

double pair_counter_rate(const pair *p, size_t device, const char *counter)
{
    size_t c = evaluation_counter(&p->e, device, counter);
    return c == DIFFERENCE_NONE || !p->d->rows[c].compared ? NAN : p->d->rows[c].rate_per_s;
}

bool pair_was_reset(const pair *p, size_t device)
{
    for (size_t i = 0; i < p->f->count; i++)
        if (p->f->items[i].device == device && strcmp(p->f->items[i].rule->name, "counter-reset") == 0) return true;
    return false;
}

reading pair_value(pair *p, const char *formula, size_t device)
{
    expression x = {0};
    expression_names names = {0};
    expression_error error;
    rule about = {.source = pair_device_at(p, device)->source};
    reading r = {.status = READING_NONE};
    if (!expression_parse(&x, formula, &names, &error)) return r;
    evaluation_of(&p->e, &about, device);
    r = evaluate(&p->e, &x);
    p->e.rule = NULL;
    expression_free(&x);
    // From zero to zero with a reset between: what came before it is not known.
    if (r.status == READING_OK && r.number == 0 && pair_was_reset(p, device))
        r = (reading){.status = READING_UNKNOWN, .reason = "started again from zero in the interval"};
    return r;
}

// ---- sources ----

static bool pair_counts_bytes(const pair *p, size_t device)
{
    return !evaluation_counts_again(&p->e, device) &&
           (!isnan(pair_role_rate(p, device, CATALOG_RX_BYTES)) || !isnan(pair_role_rate(p, device, CATALOG_TX_BYTES)));
}

static bool pair_taken(const pair *p, size_t device, const char *source, bool physical)
{
    const netprof_device *dev = pair_device_at(p, device);
    if (strcmp(dev->source, source) != 0) return false;
    bool port = dev->flags & NETPROF_DEVICE_PHYSICAL, changed = p->d->devices[device].changed > 0;
    if (p->is_virtual) return port || (changed && pair_counts_bytes(p, device));
    return physical ? port : changed;
}

static void pair_collect(pair *p, pair_source *s)
{
    size_t n = p->schema->device_count;
    s->devices = arena_make(p->memory, n, sizeof *s->devices);
    s->labels = arena_make(p->memory, n, sizeof *s->labels);
    for (int physical = 1; physical >= 0 && !s->count; physical--) {
        s->physical = physical;
        for (size_t i = 0; i < n; i++) {
            if (!pair_taken(p, i, s->name, physical)) continue;
            s->labels[s->count] = pair_device_at(p, i)->name;
            s->devices[s->count++] = i;
        }
    }
}

static double pair_traffic_of(const pair *p, const pair_source *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        double in = pair_role_rate(p, s->devices[i], CATALOG_RX_BYTES);
        double out = pair_role_rate(p, s->devices[i], CATALOG_TX_BYTES);
        if (!evaluation_counts_again(&p->e, s->devices[i])) sum += (isnan(in) ? 0 : in) + (isnan(out) ? 0 : out);
    }
    return sum;
}

// Cassini first where there is any, then physical ports by traffic.
static double pair_importance(const pair *p, const pair_source *s)
{
    if (!s->count) return -1;
    if (strcmp(s->name, "cxi") == 0) return INFINITY;
    return pair_traffic_of(p, s) + (s->physical ? 1e18 : 0) + (strcmp(s->name, "ip") == 0 ? 0 : 1);
}

static void pair_find_sources(pair *p)
{
    p->sources = arena_make(p->memory, p->schema->device_count, sizeof *p->sources);
    for (size_t i = 0; i < p->schema->device_count; i++) {
        size_t k = 0;
        while (k < p->source_count && strcmp(p->sources[k].name, pair_device_at(p, i)->source) != 0)
            k++;
        if (k < p->source_count) continue;
        p->sources[k].name = pair_device_at(p, i)->source;
        p->source_count++;
        pair_collect(p, &p->sources[k]);
    }
    for (size_t i = 1; i < p->source_count; i++) { // few: by insertion
        pair_source s = p->sources[i];
        size_t k = i;
        for (; k && pair_importance(p, &s) > pair_importance(p, &p->sources[k - 1]); k--)
            p->sources[k] = p->sources[k - 1];
        p->sources[k] = s;
    }
}

static bool pair_moved(const pair *p, size_t device)
{
    static const uint32_t roles[] = {CATALOG_RX_BYTES, CATALOG_TX_BYTES, CATALOG_RX_PACKETS, CATALOG_TX_PACKETS};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (pair_role_rate(p, device, roles[i]) > 0) return true;
    return false;
}

// It has counters of bytes, and what they did is not known.
static bool pair_unknown_bytes(const pair *p, size_t device)
{
    const netprof_device *dev = pair_device_at(p, device);
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const catalog_entry *entry = p->d->rows[i].entry;
        if (entry && entry->marks & (CATALOG_RX_BYTES | CATALOG_TX_BYTES) && isnan(p->d->rows[i].rate_per_s))
            return true;
    }
    return false;
}

// Physical ports; where all of them are known to have moved nothing, the virtual devices that did.
static void pair_find_traffic(pair *p)
{
    size_t n = p->schema->device_count, ports = 0, virtual = 0, busy = 0;
    p->traffic = arena_make(p->memory, n, sizeof *p->traffic);
    size_t *others = arena_make(p->memory, n, sizeof *others);
    for (size_t i = 0; i < n; i++) {
        bool port = pair_device_at(p, i)->flags & NETPROF_DEVICE_PHYSICAL;
        busy += port && pair_unknown_bytes(p, i);
        if (!pair_counts_bytes(p, i)) continue;
        if (port) {
            p->traffic[ports++] = i;
            busy += pair_moved(p, i);
        } else if (pair_moved(p, i)) {
            others[virtual ++] = i;
        }
    }
    p->is_virtual = !busy && virtual;
    p->idle_ports = p->is_virtual ? ports : 0;
    p->traffic_count = p->is_virtual ? virtual : ports;
    if (p->is_virtual) memcpy(p->traffic, others, virtual * sizeof *others);
}

void pair_begin(pair *p, const pages_pair_input *in)
{
    *p = (pair){.in = in, .d = in->d, .f = in->f, .schema = in->d->delta->schema, .memory = arena_open()};
    evaluation_begin(&p->e, in->d);
    pair_find_traffic(p);
    pair_find_sources(p);
}

void pair_end(pair *p)
{
    evaluation_end(&p->e);
    arena_close(p->memory);
}

size_t pair_of(const pair *p, size_t device)
{
    for (size_t i = 0; i < p->source_count; i++)
        if (strcmp(p->sources[i].name, pair_device_at(p, device)->source) == 0) return i;
    return DIFFERENCE_NONE;
}

const char *pair_noun(const char *source, bool plural)
{
    static const char *const nouns[][3] = {{"cxi", "NIC", "NICs"},
                                           {"netdev", "interface", "interfaces"},
                                           {"ethtool", "interface", "interfaces"},
                                           {"rdma", "port", "ports"},
                                           {"tcp", "connection", "connections"}};
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
        if (strcmp(nouns[i][0], source) == 0) return nouns[i][1 + plural];
    return plural ? "devices" : "device";
}

bool pair_alike(const finding *a, const finding *b)
{
    return a->rule == b->rule && a->severity == b->severity;
}

bool pair_is_first(const findings *f, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (pair_alike(&f->items[i], &f->items[at])) return false;
    return true;
}

// A description that only repeats the name says nothing: "network interface: sts rx octets multi".
const char *pair_gloss(const catalog_entry *entry, const char *name)
{
    const char *rest = entry ? strstr(entry->description, ": ") : NULL;
    char spelled[128];
    size_t n = 0;
    if (!entry) return "";
    if (!rest) return entry->description;
    for (rest += 2; *rest && *rest != ',' && n + 1 < sizeof spelled; rest++)
        spelled[n++] = *rest == ' ' ? '_' : *rest;
    spelled[n] = 0;
    return strstr(name, spelled) ? "" : entry->description;
}
