// The plots of a document, drawn in one run of gnuplot.
#include "document_model.h"
#include "analysis/base/memory.h"
#include "render/plot/plot.h"

#include <pthread.h>
#include <signal.h>
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

// ---- gnuplot draws, and meanwhile texts are laid out ----

typedef struct plots_drawing {
    plots *p;
    char message[512];
    bool good;
} plots_drawing;

static void *plots_draw(void *user)
{
    plots_drawing *x = user;
    x->good = plot_render(x->p->jobs, x->p->count, x->message, sizeof x->message);
    return NULL;
}

// Signals are for the thread that called.
static bool plots_start(pthread_t *thread, plots_drawing *x)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(thread, NULL, plots_draw, x);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void plots_draw_beside(plots_drawing *x, canvas *const *canvases, size_t count)
{
    pthread_t thread;
    bool aside = x->p->texts && plots_start(&thread, x);
    if (!aside) plots_draw(x);
    for (size_t i = 0; i < count && aside; i++)
        canvas_lay_out_texts(canvases[i]);
    if (aside) pthread_join(thread, NULL);
}

void plots_make(plots *p, canvas *const *canvases, size_t count, bool no_gnuplot,
                void (*warn)(void *user, const char *text), void *user)
{
    plots_drawing drawing = {.p = p};
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
    plots_draw_beside(&drawing, canvases, count);
    if (drawing.good) return;
    if (warn) warn(user, drawing.message);
    plots_say_missing(canvases, count);
}

void plots_free(plots *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->jobs[i].svg);
    free(p->jobs);
    *p = (plots){0};
}
