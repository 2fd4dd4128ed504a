#include "render/pages/pages.h"

#include "render/base/buffer.h"
#include "pair.h"

#include <stdio.h>
#include <string.h>

const pages_kind pages_pair_kind = {
    "Node counter report",
    "verdict, traffic, health, activity; findings and balance; devices unlike the others; distributions; appendix",
    "traffic read questions remedies health health-* activity activity-* findings balance background unknown key-* "
    "volume-* packets-* cycles-* "
    "errors-* changes-* sizes sizes-* latency host-access translation quality metrics metrics-* groups-* gauges "
    "clocks-* method"};

static void pages_pair_set_foot(const pair *p, document *doc)
{
    buffer b = {0};
    for (size_t i = 0; i < p->in->path_count; i++)
        buffer_printf(&b, "%s%s", i ? " \xe2\x86\x92 " : "", pages_file_name(p->in->paths[i]));
    buffer_printf(&b, "%snetprof %s  \xc2\xb7  %s", b.size ? "  \xc2\xb7  " : "", netprof_version(),
                  p->f->severity == SEVERITY_UNKNOWN
                      ? "netprof check of these files ends with exit status 5, could not be judged"
                      : "rates use each counter's own pair of time stamps");
    document_foot(doc, b.data ? b.data : "");
    buffer_free(&b);
}

static void pages_pair_set_metadata(const pair *p, document *doc)
{
    buffer b = {0};
    const dataset *set = p->in->set;
    buffer_text(&b, "netprof");
    if (set && set->run_count && *set->runs[set->run_count - 1].host)
        buffer_printf(&b, ", %s", set->runs[set->run_count - 1].host);
    for (size_t i = 0; i < p->source_count; i++)
        buffer_printf(&b, ", %s", p->sources[i].name);
    document_metadata(doc, p->f->verdict ? p->f->verdict : "", b.data ? b.data : "", p->d->delta->wall_end_ns);
    buffer_free(&b);
}

// Nothing is worth watching: the evidence would say so on many pages of equal numbers.
static bool pages_pair_is_well(const pair *p)
{
    return !p->in->full && p->f->judged && p->f->severity < SEVERITY_UNKNOWN;
}

// A node with one NIC has one page; more of them may differ, and have what tells it.
static void pages_pair_add_rest(pair *p, document *doc)
{
    const char *rest = "Nothing was found that is worth watching: the evidence counter by counter is left out; "
                       "--all-nics draws it, netprof diff --all lists it.";
    if (p->source_count && p->sources[0].count > 1) {
        pair_findings(p, doc);
        pair_sizes(p, doc);
    }
    document_note(doc, rest);
}

static void pages_pair_add_pages(pair *p, document *doc)
{
    pages_pair_set_foot(p, doc);
    pages_pair_set_metadata(p, doc);
    pair_overview(p, doc);
    if (p->in->brief) return;
    if (pages_pair_is_well(p)) {
        pages_pair_add_rest(p, doc);
        return;
    }
    pair_findings(p, doc);
    pair_devices(p, doc);
    pair_sizes(p, doc);
    pair_appendix(p, doc);
}

document *pages_pair(const pages_pair_input *in)
{
    pair p;
    document *doc = document_open(pages_pair_kind.name);
    pair_begin(&p, in);
    pages_pair_add_pages(&p, doc);
    pair_end(&p);
    return doc;
}
