// The plots of a document, drawn in one run of gnuplot.
#include "document_model.h"
#include "analysis/base/memory.h"
#include "render/plot/plot.h"

#include <stdlib.h>

static void plots_count(void *user, canvas_plot_copy *p, canvas_box box)
{
    size_t *count = user;
    (void)p;
    (void)box;
    (*count)++;
}

static void plots_gather(void *user, canvas_plot_copy *p, canvas_box box)
{
    plots *all = user;
    p->job = &all->jobs[all->count++];
    *p->job = (plot_job){.plot = &p->plot, .width = box.width, .height = box.height, .coarse = all->coarse};
}

static void plots_say_missing(canvas *const *canvases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        canvas_plots_missing(canvases[i], "not drawn: gnuplot is missing or failed");
}

void plots_make(plots *p, canvas *const *canvases, size_t count, bool no_gnuplot,
                void (*warn)(void *user, const char *text), void *user)
{
    char message[512] = "";
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        canvas_plots(canvases[i], plots_count, &wanted);
    if (!wanted) return;
    if (no_gnuplot) {
        plots_say_missing(canvases, count);
        return;
    }
    p->jobs = memory_calloc(wanted, sizeof *p->jobs);
    for (size_t i = 0; i < count; i++)
        canvas_plots(canvases[i], plots_gather, p);
    if (plot_render(p->jobs, p->count, message, sizeof message)) return;
    if (warn) warn(user, message);
    plots_say_missing(canvases, count);
}

void plots_free(plots *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->jobs[i].svg);
    free(p->jobs);
    *p = (plots){0};
}
