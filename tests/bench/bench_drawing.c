// What drawing costs by itself, each a whole process: an empty page by cairo, a picture of many points.
// usage: netprof-bench-drawing page FILE.pdf | scatter POINTS FILE.pdf
#include "render/chart/charts_plots.h"
#include "render/document/document.h"

#include <cairo-pdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int page(const char *path)
{
    cairo_surface_t *surface = cairo_pdf_surface_create(path, 595.28, 841.89);
    cairo_t *cr = cairo_create(surface);
    cairo_show_page(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    int failed = cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS;
    cairo_surface_destroy(surface);
    return failed;
}

static int scatter(size_t count, const char *path)
{
    double *x = malloc(2 * count * sizeof *x), *y = x + count;
    uint64_t seed = 1;
    if (!x) return 1;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)i;
        y[i] = 1e-3 * (1 + (double)(seed >> 40) / 16777216.0 * (double)(seed >> 20 & 255) / 255);
    }
    const scatter_set set = {"calls", INK_RECEIVED, x, y, count};
    const scatter_style style = {.x_scale = {.format = AXES_SI, .unit = ""},
                                 .y_scale = {.format = AXES_DURATION},
                                 .x_head = "sn",
                                 .y_head = "seconds"};
    document *d = document_open("Benchmark");
    document_add(d, chart_scatter((chart_head){"scatter", "Calls", "time over number"}, &style, &set, 1));
    free(x);
    netprof_err err = document_write(d, path, NULL, NULL, NULL);
    document_close(d);
    return err != NETPROF_OK;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "page") == 0) return page(argv[2]);
    if (argc == 4 && strcmp(argv[1], "scatter") == 0) return scatter(strtoul(argv[2], NULL, 10), argv[3]);
    fputs("usage: netprof-bench-drawing page FILE.pdf | scatter POINTS FILE.pdf\n", stderr);
    return 2;
}
