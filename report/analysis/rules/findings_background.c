// Counters of trouble that moved alike on all devices.
#include "findings_making.h"

#include "analysis/base/stb_ds.h"

#include <math.h>
#include <string.h>

static bool findings_is_trouble(const difference_row *row, const char *name)
{
    static const char *const words[] = {"error", "drop", "reject", "discard", "bad", "oflw"};
    if (row->entry && row->entry->marks & (CATALOG_CLOCK_ONLY | CATALOG_UNUSABLE)) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

static bool findings_is_evidence(const findings *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->items[i].evidence_count; k++)
            if (strcmp(f->items[i].evidence[k].name, name) == 0) return true;
    return false;
}

// The counter with this name on all physical devices of the source: alike to 1 %, or by one event.
static void findings_look_behind(findings_making *m, size_t counter)
{
    findings *f = m->f;
    const netprof_schema *schema = f->d->delta->schema;
    const char *name = schema->counters[counter].name,
               *source = schema->devices[schema->counters[counter].device].source;
    finding_background b = {.source = source,
                            .counter = name,
                            .unit = f->d->rows[counter].unit,
                            .min = UINT64_MAX,
                            .rate_per_s = f->d->rows[counter].rate_per_s};
    for (size_t i = 0; i < schema->device_count; i++) {
        if (strcmp(schema->devices[i].source, source) != 0 || !(schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL))
            continue;
        size_t c = evaluation_counter(&m->e, i, name);
        uint64_t value = c == DIFFERENCE_NONE ? 0 : f->d->rows[c].magnitude;
        if (!value || f->d->rows[c].flag != NETPROF_FLAG_OK) return;
        if (value < b.min) b.min = value;
        if (value > b.max) b.max = value;
        b.devices++;
    }
    double slack = b.min >= 5 ? fmax(1, 0.01 * (double)b.min) : 0;
    if (b.devices < 3 || (double)(b.max - b.min) > slack || findings_is_evidence(f, name)) return;
    arrput(f->background, b);
    f->background_count = arrlenu(f->background);
}

// Each name once: asked of the first physical device of each source.
void findings_find_background(findings_making *m)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    const char *last = "";
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        if (!(dev->flags & NETPROF_DEVICE_PHYSICAL) || strcmp(dev->source, last) == 0) continue;
        last = dev->source;
        for (size_t c = dev->first; c < (size_t)dev->first + dev->count; c++)
            if (m->f->d->rows[c].magnitude && m->f->d->rows[c].flag == NETPROF_FLAG_OK &&
                findings_is_trouble(&m->f->d->rows[c], schema->counters[c].name))
                findings_look_behind(m, c);
    }
}
