#include "run_samples.h"

#include "analysis/base/stb_ds.h"

// Every second one is dropped, and from now on half as many come: they stay as far apart as the last of them.
static void run_samples_thin_out(execution *e)
{
    size_t left = 0;
    for (size_t i = 0; i < arrlenu(e->kept); i++)
        if (i % 2)
            e->kept[left++] = e->kept[i];
        else
            netprof_snapshot_free(&e->kept[i]);
    arrsetlen(e->kept, left);
    e->ask->interval_ns *= 2;
    e->ask->clock.rows[0].interval_ns = e->ask->interval_ns;
}

void run_samples_take(execution *e)
{
    netprof_snapshot s = {0};
    netprof_error error;
    if (!e->readable || netprof_take(e->np, &s, e->ask->set, &error)) return;
    arrput(e->kept, s);
    if (arrlenu(e->kept) == RUN_SAMPLES_MOST) run_samples_thin_out(e);
}

void run_samples_write(execution *e)
{
    recorder_number(e->to, "interval_ns", e->ask->interval_ns); // first, for readers find missing ticks by it
    if (e->before.schema) recorder_snapshot(e->to, &e->before);
    for (size_t i = 0; i < arrlenu(e->kept); i++)
        recorder_snapshot(e->to, &e->kept[i]);
    if (e->after.schema) recorder_snapshot(e->to, &e->after);
}

void run_samples_free(execution *e)
{
    for (size_t i = 0; i < arrlenu(e->kept); i++)
        netprof_snapshot_free(&e->kept[i]);
    arrfree(e->kept);
}
