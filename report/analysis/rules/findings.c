#include "findings.h"

#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void findings_make_all(findings *f, const difference *d, const findings_far *far, const expected_devices *x,
                              const rules *set, severity least)
{
    findings_free(f);
    f->d = d;
    findings_making m = {.f = f, .set = set, .least = least};
    evaluation other = {0};
    // A rule about the node as a whole uses the first place even where there are no devices.
    findings_judgement *all = memory_calloc(d->delta->schema->device_count + 1, sizeof *all);
    evaluation_begin(&m.e, d);
    if (far) {
        evaluation_begin(&other, far->d);
        m.e.far = &other;
        m.e.far_devices = far->devices;
    }
    f->load = findings_weigh(&m);
    m.e.wire_bytes = f->load.wire_bytes;
    m.e.within = f->load.within;
    m.e.line_share = f->load.devices && f->load.is_whole ? f->load.share : NAN;
    findings_add_blind_sources(&m);
    for (size_t i = 0; i < set->count; i++)
        findings_apply(&m, set->items[i], all);
    free(all);
    findings_look_at_command(&m);
    findings_look_at_clock(&m);
    findings_look_for_expected(&m, x);
    for (size_t i = 0; i < f->count; i++)
        findings_explain(&m, &f->items[i]);
    findings_find_background(&m);
    findings_sort(f, set);
    findings_find_gaps(&m);
    findings_find_places(&m);
    findings_conclude(f);
    evaluation_end(&other);
    evaluation_end(&m.e);
}

void findings_make(findings *f, const difference *d, const rules *set)
{
    findings_make_all(f, d, NULL, NULL, set, SEVERITY_OK);
}

void findings_make_from(findings *f, const difference *d, const rules *set, severity least)
{
    findings_make_all(f, d, NULL, NULL, set, least);
}

void findings_make_pair(findings *f, const difference *d, const findings_far *far, const rules *set)
{
    findings_make_all(f, d, far, NULL, set, SEVERITY_OK);
}

void findings_make_expecting(findings *f, const difference *d, const expected_devices *x, const rules *set)
{
    findings_make_all(f, d, NULL, x, set, SEVERITY_OK);
}
