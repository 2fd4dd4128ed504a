// The report of an Nsight Systems export: how busy the GPUs were over time, and its tables.
#include "arena.h"
#include "charts_plots.h"
#include "number.h"
#include "pages.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DOT "  \xc2\xb7  "

enum { ROWS = 20, NAME_CHARACTERS = 56, MAP_ROWS = 24, COLUMNS = 9 };

typedef struct page {
    const nsys *n;
    document *doc;
    arena *memory;
} page;

static double span_s(const nsys *n)
{
    return (double)(n->end_ns - n->begin_ns) / 1e9;
}

// The share of the time, over all GPUs; NAN without any.
static double mean_busy(const nsys *n, int what)
{
    double sum = 0;
    for (size_t i = 0; i < n->gpu_count; i++)
        sum += (double)n->gpus[i].busy_ns[what];
    double all = span_s(n) * 1e9 * (double)n->gpu_count;
    return all > 0 ? sum / all : (double)NAN;
}

// ---- head ----

static void add_head(page *p)
{
    const nsys *n = p->n;
    double kernels = mean_busy(n, NSYS_BUSY_KERNELS), nccl = mean_busy(n, NSYS_BUSY_NCCL);
    const char *host = n->host && *n->host ? arena_format(p->memory, "%s" DOT, n->host) : "", *when = "";
    if (n->session_ns)
        when = arena_format(p->memory, DOT "%s UTC", number_utc(n->session_ns + n->begin_ns, 0).text);
    else
        when = DOT "the file does not tell the date";
    if (!isfinite(kernels)) {
        document_title(p->doc, "The file tells of no work of a GPU");
    } else {
        const char *of = n->gpu_count > 1 ? arena_format(p->memory, "The %zu GPUs", n->gpu_count) : "The GPU";
        document_title(
            p->doc,
            arena_format(p->memory, "%s ran kernels %s of the time%s", of, number_percent(kernels).text,
                         nccl > 0 ? arena_format(p->memory, ", those of NCCL %s", number_percent(nccl).text)
                                  : ""));
    }
    document_subline(p->doc, arena_format(p->memory, "%s%zu GPU%s%s%s%s", host, n->gpu_count,
                                          n->gpu_count == 1 ? "" : "s", n->gpu_count ? DOT : "",
                                          n->gpu_count ? number_duration(span_s(n)).text : "", when));
}

// ---- busy over time ----

static axes_scale time_axis(const nsys *n)
{
    return (axes_scale){.axis = {0, span_s(n), false, false}, .format = AXES_TIME, .unit = ""};
}

static void add_map(page *p)
{
    const nsys *n = p->n;
    size_t shown = n->gpu_count < MAP_ROWS ? n->gpu_count : MAP_ROWS, columns = n->bin_count;
    map_row *rows = arena_make(p->memory, shown, sizeof *rows);
    for (size_t i = 0; rows && i < shown; i++) {
        double share = (double)n->gpus[i].busy_ns[NSYS_BUSY_KERNELS] / (span_s(n) * 1e9);
        rows[i] = (map_row){.label = arena_format(p->memory, "GPU %lld", (long long)n->gpus[i].device),
                            .values = n->gpus[i].busy[NSYS_BUSY_KERNELS],
                            .right = arena_text(p->memory, number_percent(share).text)};
    }
    map_style style = {.columns = columns,
                       .axis = time_axis(n),
                       .from = 0,
                       .to = span_s(n),
                       .ramp = INK_BLUE,
                       .max = 1,
                       .format = AXES_PERCENT,
                       .unit = "",
                       .label_head = "GPU",
                       .right_head = "of all time"};
    if (rows && columns <= MAP_COLUMNS)
        document_add(p->doc,
                     chart_map((chart_head){"gpu-busy", "Busy GPUs",
                                            n->gpu_count > shown
                                                ? "share of the time in which a kernel ran; the first GPUs"
                                                : "share of the time in which a kernel ran"},
                               &style, rows, shown));
}

static bool band_of(page *p, int what, lines_curve *curve)
{
    const nsys *n = p->n;
    double *all = arena_make(p->memory, 3 * n->bin_count, sizeof *all), *low = all + n->bin_count,
           *high = low + n->bin_count;
    for (size_t k = 0; all && k < n->bin_count; k++) {
        low[k] = 1;
        for (size_t i = 0; i < n->gpu_count; i++) {
            double share = n->gpus[i].busy[what][k];
            all[k] += share / (double)n->gpu_count;
            low[k] = fmin(low[k], share);
            high[k] = fmax(high[k], share);
        }
    }
    bool many = n->gpu_count > 1;
    *curve = (lines_curve){.label = "",
                           .ink = INK_RECEIVED,
                           .pale = INK_RECEIVED_PALE,
                           .y = all,
                           .low = many ? low : NULL,
                           .high = many ? high : NULL,
                           .step = true};
    return all != NULL;
}

static void add_lines(page *p)
{
    static const char *const below[NSYS_BUSY] = {"of the time", "waiting included", "copies and fills"};
    const nsys *n = p->n;
    lines_curve curves[NSYS_BUSY];
    lines_panel panels[NSYS_BUSY];
    size_t count = 0;
    double *x = arena_make(p->memory, n->bin_count, sizeof *x);
    if (!x) return;
    for (size_t k = 0; k < n->bin_count; k++)
        x[k] = span_s(n) * ((double)k + .5) / (double)n->bin_count;
    for (int what = 0; what < NSYS_BUSY; what++) {
        if (!(mean_busy(n, what) > 0)) continue;
        if (!band_of(p, what, &curves[count])) return;
        panels[count] = (lines_panel){.label = what == NSYS_BUSY_KERNELS ? "Kernels"
                                               : what == NSYS_BUSY_NCCL  ? "NCCL"
                                                                         : "Memory",
                                      .below = below[what],
                                      .format = AXES_PERCENT,
                                      .unit = "",
                                      .curves = &curves[count],
                                      .curve_count = 1,
                                      .limit = NAN};
        count++;
    }
    lines_style style = {.x = x, .count = n->bin_count, .axis = time_axis(n), .x_head = "seconds"};
    if (count)
        document_add(p->doc, chart_lines((chart_head){"gpu-busy-lines", "Busy over time",
                                                      n->gpu_count > 1
                                                          ? "line: mean of the GPUs; band: lowest to highest"
                                                          : "share of each stretch of time"},
                                         &style, panels, count));
}

// ---- tables ----

// The beginning of a name: those of kernels are as long as their types.
static const char *short_name(page *p, const char *name)
{
    const char *end = name;
    size_t length, left = NAME_CHARACTERS;
    while (*end && left--)
        utf8_next(&end, &length);
    return *end ? arena_format(p->memory, "%.*s\xe2\x80\xa6", (int)(end - name), name) : name;
}

static const char *quantity(page *p, const nsys_table *t, double value)
{
    bool bytes = strcmp(t->unit, "bytes") == 0;
    if (!isfinite(value)) return NUMBER_UNKNOWN;
    if (value <= 0) return "0";
    return arena_text(p->memory,
                      bytes ? number_prefixed(value, "B").text : number_duration(value / 1e9).text);
}

static void fill_row(page *p, const nsys_table *t, const nsys_row *row, const char **cells)
{
    const double values[] = {(double)row->total, row->mean,        row->median,
                             (double)row->min,   (double)row->max, row->deviation};
    cells[0] = isfinite(row->share) ? arena_text(p->memory, number_percent(row->share).text) : NUMBER_UNKNOWN;
    cells[1] = quantity(p, t, values[0]);
    cells[2] = arena_text(p->memory, number_grouped(row->count).text);
    for (size_t k = 1; k < sizeof values / sizeof *values; k++)
        cells[2 + k] = quantity(p, t, values[k]);
    cells[8] = short_name(p, row->name);
}

static void add_table(page *p, int kind)
{
    static const char *const names[NSYS_TABLES] = {"cuda-api",       "kernels", "memory-by-time",
                                                   "memory-by-size", "nvtx",    "os-runtime"};
    const nsys_table *t = &p->n->tables[kind];
    bool bytes = strcmp(t->unit, "bytes") == 0;
    const table_column columns[COLUMNS] = {{bytes ? "size" : "time", TABLE_NUMBER, 0},
                                           {"total", TABLE_NUMBER, 0},
                                           {"count", TABLE_NUMBER, 0},
                                           {"mean", TABLE_NUMBER, 0},
                                           {"median", TABLE_NUMBER, 0},
                                           {"min", TABLE_NUMBER, 0},
                                           {"max", TABLE_NUMBER, 0},
                                           {"std. dev.", TABLE_NUMBER, 0},
                                           {"name", TABLE_NAME, 1}};
    size_t shown = t->row_count < ROWS ? t->row_count : ROWS;
    const char **cells = arena_make(p->memory, COLUMNS * shown + 1, sizeof *cells), *question = t->name;
    for (size_t i = 0; cells && i < shown; i++)
        fill_row(p, t, &t->rows[i], cells + COLUMNS * i);
    if (shown < t->row_count)
        question = arena_format(p->memory, "%s: the first %zu of %zu", t->name, shown, t->row_count);
    if (cells && shown)
        document_add(p->doc, chart_table((chart_head){names[kind], t->title, question}, columns, COLUMNS,
                                         cells, shown));
    if (t->left_out)
        document_note(p->doc,
                      arena_format(p->memory, "%s: %s events without a plausible %s were left out.", t->title,
                                   number_grouped(t->left_out).text, bytes ? "size" : "time"));
}

document *pages_nsys(const nsys *n, bool brief, netprof_error *error)
{
    page p = {n, document_open("GPU program tables"), arena_open()};
    bool failed = !p.doc || !p.memory;
    if (!failed) {
        add_head(&p);
        if (n->gpu_count && n->end_ns > n->begin_ns) {
            add_map(&p);
            add_lines(&p);
        }
        for (int i = 0; i < (brief ? NSYS_MEMORY_TIME : NSYS_TABLES); i++)
            add_table(&p, i);
        document_foot(p.doc, arena_format(p.memory,
                                          "Nsight Systems export" DOT "netprof %s" DOT
                                          "busy: at least one kernel ran, "
                                          "whatever the number of streams; deviation of the sample",
                                          netprof_version()));
        document_metadata(p.doc, "GPU program tables", "netprof, CUDA, Nsight Systems, NCCL", n->session_ns);
        failed = arena_failed(p.memory);
    }
    arena_close(p.memory);
    return document_made(p.doc, !failed, error);
}
