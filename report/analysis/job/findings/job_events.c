// The events: what counts trouble, over all nodes.
#include "job_findings_make.h"

#include <stdlib.h>
#include <string.h>

static bool job_is_background(const job_report *r, size_t event)
{
    double low = INFINITY, high = 0;
    size_t count = 0, all = 0;
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++) {
        const job_trouble *t = &r->reader->troubles[i];
        if (t->event != event) continue;
        low = fmin(low, t->sum);
        high = fmax(high, t->sum);
        count++;
    }
    for (size_t i = 0; i < r->device_count; i++)
        all += strcmp(r->devices[i].source, r->events[event].source) == 0 && r->devices[i].lanes[JOB_SENT];
    return count >= 3 && count >= all && high <= 2 * low;
}

static int job_by_event(const void *a, const void *b)
{
    const job_event *x = a, *y = b;
    if (!(x->sum > 0) != !(y->sum > 0)) return x->sum > 0 ? -1 : 1;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->background != y->background) return y->background ? -1 : 1;
    int order = x->devices < y->devices ? -1 : x->devices > y->devices;
    if (!order) order = strcmp(x->source, y->source);
    return order ? order : strcmp(x->counter, y->counter);
}

void job_finish_events(job_report *r)
{
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++) {
        const job_trouble *t = &r->reader->troubles[i];
        job_event *e = &r->events[t->event];
        e->devices++;
        e->sum += t->sum;
        if (t->sum > e->worst_sum) e->worst_sum = t->sum, e->worst = t->device;
    }
    for (size_t i = 0; i < r->event_count; i++)
        r->events[i].background = job_is_background(r, i);
    if (r->event_count) qsort(r->events, r->event_count, sizeof *r->events, job_by_event);
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++)
        job_bins_free(r->reader->troubles[i].bins);
    arrsetlen(r->reader->troubles, 0); // their indexes are no longer valid
}
