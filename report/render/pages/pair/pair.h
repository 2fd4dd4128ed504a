// What the pages of a pair of snapshots are about: the devices by source, their names, numbers by formula.
#ifndef NETPROF_PAIR_H
#define NETPROF_PAIR_H

#include "render/base/arena.h"
#include "render/chart/charts.h"
#include "render/document/document.h"
#include "analysis/rules/evaluate.h"
#include "analysis/rules/findings.h"
#include "render/pages/pages.h"

typedef struct pair_source {
    const char *name;
    size_t *devices; // physical ones; if there are none, or they moved nothing, those that changed
    const char **labels;
    size_t count;
    bool physical;
} pair_source;

typedef struct pair {
    const pages_pair_input *in;
    const difference *d;
    const findings *f;
    const netprof_schema *schema;
    evaluation e;
    pair_source *sources; // the one with the most traffic first
    size_t source_count;
    size_t *traffic; // devices whose bytes count, each byte once
    size_t traffic_count;
    bool is_virtual;   // of the traffic: no physical port moved anything, and these are virtual devices
    size_t idle_ports; // then: physical ports that count bytes
    arena *memory;     // of everything that the pages need until they are written
} pair;

void pair_begin(pair *p, const pages_pair_input *in);
void pair_end(pair *p);

// A formula over a device's counters, by the text of it; status as of rules.
// A formula's value. A zero of a device that was reset in the interval is not known: what it counted before is lost.
reading pair_value(pair *p, const char *formula, size_t device);
bool pair_was_reset(const pair *p, size_t device);
// Over the counter's own two stamps; NAN: unknown.
double pair_counter_rate(const pair *p, size_t device, const char *counter);
// Bytes per second by the catalog's role (CATALOG_RX_BYTES, ...); NAN: it has no such counter, or it is not known.
double pair_role_rate(const pair *p, size_t device, uint32_t role);
// "Cassini NIC", "interface", ...: what the devices of a source are called.
const char *pair_noun(const char *source, bool plural);
size_t pair_of(const pair *p, size_t device); // its source; DIFFERENCE_NONE

// Findings of the same rule and severity are shown as one.
bool pair_alike(const finding *a, const finding *b);
bool pair_is_first(const findings *f, size_t at); // none before it is alike

// ---- rows of the strip and the heat map, as data (pair_rows.c) ----

typedef struct pair_check {
    const char *source, *label, *formula;
    const char *format; // "%" of the time, "x" plain
    const char *rules;  // whose findings this row shows, by commas
} pair_check;

typedef struct pair_rate {
    const char *source;
    int band;
    const char *label, *unit, *formula;
    bool harm;
} pair_rate;

extern const pair_check pair_checks[];
extern const size_t pair_check_count;
extern const pair_rate pair_rates[];
extern const size_t pair_rate_count;

// ---- the pages' parts ----

void pair_overview(pair *p, document *doc);                                // title, verdict, traffic, strip, heat map
void pair_strip(pair *p, document *doc, const pair_source *s, bool first); // health strip
void pair_heat(pair *p, document *doc, const pair_source *s, bool first);  // activity heat map
void pair_findings(pair *p, document *doc);                                // findings, balance
void pair_devices(pair *p, document *doc);                                 // a page for each device that is different
// The largest changes of each unit, of sources whose devices are parts of the kernel.
void pair_sums(pair *p, document *doc, const pair_source *s);
void pair_device_sizes(pair *p, document *doc, const pair_source *s, size_t device); // packet sizes of one device
void pair_sizes(pair *p, document *doc);                                             // histograms
void pair_appendix(pair *p, document *doc);
// What a counter means; "" where that is not known, or only its name spelled with blanks.
const char *pair_gloss(const catalog_entry *entry, const char *name);
bool pair_is_unjudged(const pair *p);       // more checks could not be made than were
void pair_unjudged(pair *p, document *doc); // in place of strip and map where the verdict is that nothing can be said

#endif
