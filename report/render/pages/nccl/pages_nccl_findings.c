#include "nccl_page.h"

#include "analysis/nccl/findings/nccl_findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIKE = 2 };

static const char *nccl_page_amount(nccl_page *p, double value, const char *unit)
{
    char *words = nccl_findings_amount(value, unit);
    const char *kept = arena_text(p->memory, words);
    free(words);
    return kept;
}

static findings_row nccl_page_finding_row(nccl_page *p, const nccl_view_finding *f)
{
    findings_evidence *e = arena_make(p->memory, f->evidence.count + 1, sizeof *e);
    findings_row r = {.severity = (severity)f->severity,
                      .rule = f->rule,
                      .devices = f->device,
                      .claim = f->claim,
                      .advice = f->advice,
                      .explained_by = f->explained_by,
                      .evidence = e,
                      .limit = NAN};
    r.threshold = arena_format(p->memory, "%s (%s)", nccl_page_amount(p, f->limit, f->unit), f->origin);
    for (size_t i = 0; i < f->evidence.count; i++) {
        const nccl_view_evidence *x = &f->evidence.items[i];
        e[i] = (findings_evidence){x->name, nccl_page_amount(p, x->value, x->unit), ""};
    }
    r.evidence_count = f->evidence.count;
    return r;
}

// The same of others, in one block: "and 7 more: DP 1, DP 2, ...".
static findings_row nccl_page_more_of(nccl_page *p, const nccl_view_finding *first, const findings_row *like)
{
    enum { NAMED = 24 };
    const nccl_view *v = p->v;
    size_t alike = 0, more = 0;
    const char *names = "";
    findings_row r = *like;
    for (size_t i = 0; i < v->findings.count; i++) {
        const nccl_view_finding *f = &v->findings.items[i];
        if (strcmp(f->rule, first->rule) != 0 || f->severity != first->severity || alike++ < ALIKE) continue;
        if (more++ < NAMED) names = arena_format(p->memory, "%s%s%s", names, *names ? ", " : "", f->device);
    }
    r.devices = arena_format(p->memory, "%zu more", more);
    r.claim = arena_format(p->memory, "The same of %s%s", names, more > NAMED ? ", and others" : "");
    r.evidence_count = 0;
    return r;
}

void nccl_page_add_findings(nccl_page *p)
{
    const nccl_view *v = p->v;
    findings_row *rows = arena_make(p->memory, v->findings.count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < v->findings.count; i++) {
        const nccl_view_finding *f = &v->findings.items[i];
        size_t alike = 0;
        for (size_t k = 0; k < i; k++)
            alike += strcmp(v->findings.items[k].rule, f->rule) == 0 && v->findings.items[k].severity == f->severity;
        if (alike > ALIKE) continue;
        rows[count] = nccl_page_finding_row(p, f);
        if (alike == ALIKE) rows[count] = nccl_page_more_of(p, f, &rows[count]);
        count++;
    }
    if (count)
        document_add(p->doc, chart_findings((chart_head){"findings", "Findings",
                                                         "what was judged, on what evidence, with which threshold"},
                                            rows, count));
    if (v->findings_left)
        document_note(p->doc, arena_format(p->memory,
                                           "%llu more findings are in the nccl.json that netprof nccl -o DIR writes.",
                                           (unsigned long long)v->findings_left));
}
