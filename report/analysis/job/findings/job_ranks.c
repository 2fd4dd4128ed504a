// Who of the ranks is late, as the regions of the job tell it: a job whose ranks wait for one of them is not well.
#include "job_findings_make.h"
#include "job_finding.h"

#include <string.h>

// What the ranks' verdict says about them first; NULL: it accuses nobody, or who waited is not known.
static const regions_note *job_ranks_note(const regions *x)
{
    static const char *const questions[] = {"Who is unlike?", "Who is held?"};
    for (size_t i = 0; i < x->note_count && x->waits.known; i++) {
        const regions_note *note = &x->notes[i];
        if (note->severity < SEVERITY_WATCH || !note->title || !note->question) continue;
        for (size_t k = 0; k < sizeof questions / sizeof *questions; k++)
            if (strcmp(note->question, questions[k]) == 0) return note;
    }
    return NULL;
}

void job_find_ranks(job_report *r)
{
    const regions *ranks = &r->regions;
    const regions_note *note = job_ranks_note(ranks);
    if (!note) return;
    job_finding x = job_finding_blank;
    x.severity = note->severity;
    x.class_rank = rules_class_rank("utilisation");
    x.rule = (char *)(uintptr_t) "ranks-wait";
    x.origin = (char *)(uintptr_t) "what the ranks recorded of their calls";
    x.advice = (char *)(uintptr_t) "netprof regions, of the same files, tells of each rank and call";
    x.unit = (char *)(uintptr_t) "of the run";
    x.value = ranks->waits.wait_share;
    x.nodes = ranks->host_count < r->node_count ? ranks->host_count : r->node_count;
    x.to_s = r->end_s;
    x.claim = memory_strdup(note->text);
    x.title = memory_strdup(note->title);
    job_add_finding(r, x);
}
