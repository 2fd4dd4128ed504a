// The report of Nsight Systems exports: how busy the GPUs were over time, processes side by side, and the tables. Beside
// the recordings of a job it is a part of their report, on their axis.
#include "render/base/arena.h"
#include "render/chart/charts_plots.h"
#include "render/document/document.h"
#include "render/pages/job/pages_job_view.h"
#include "render/base/number.h"
#include "pages.h"
#include "render/pages/job/pages_job.h"
#include "render/pages/pages_signs.h"
#include "render/pages/pages_time.h"
#include "render/pages/sheet.h"
#include "analysis/base/text.h"
#include "analysis/base/utf8.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 20, NAME_CHARACTERS = 56, MAP_ROWS = 32, PROCESS_ROWS = 40, COLUMNS = 10 };

// One GPU over the columns of the page's time.
typedef struct gpu_lane {
    const nsys *file;
    const nsys_gpu *gpu;
    const char *label;
    double *busy[NSYS_BUSY];
    char *states; // of its columns: outside the file's time there was nothing to measure
} gpu_lane;

#define NSYS_CHARTS                                                                                                    \
    "gpu-busy gpu-busy-lines processes cuda-api kernels memory-by-time memory-by-size cuda-graphs nvtx mpi "           \
    "mpi-messages os-runtime"

const pages_kind pages_nsys_kind = {"GPU program tables", "busy GPUs over time, processes side by side, tables",
                                    NSYS_CHARTS};
const pages_kind pages_job_programs_kind = {"GPU programs", "the same on the time of the job's recordings",
                                            NSYS_CHARTS};

typedef struct nsys_page {
    nsys_job *job;
    document *doc;
    arena *memory;
    const job_view *over; // the job whose axis it is; NULL: its own
    gpu_lane *lanes;
    size_t lane_count, columns, gpu_count; // gpu_count: a GPU that is in several files counts once
    double span_s;
} nsys_page;

static const nsys *nsys_page_first_file(const nsys_page *p)
{
    return &p->job->files[0];
}

// The tables of all that was read.
static nsys *nsys_page_tables_of(const nsys_page *p)
{
    return p->job->file_count > 1 ? &p->job->together : &p->job->files[0];
}

// The share of each file's time, over all GPUs; NAN without any.
static double nsys_page_mean_busy(const nsys_page *p, int what)
{
    double sum = 0, all = 0;
    for (size_t i = 0; i < p->lane_count; i++) {
        sum += (double)p->lanes[i].gpu->busy_ns[what];
        all += (double)(p->lanes[i].file->end_ns - p->lanes[i].file->begin_ns);
    }
    return all > 0 ? sum / all : (double)NAN;
}

// ---- lanes ----

static const nsys_process *nsys_page_only_process(const nsys *n)
{
    return n->process_count == 1 ? &n->processes[0] : NULL;
}

// "rank 3, GPU 0"; files without a rank are named by their file.
static const char *nsys_page_lane_label(nsys_page *p, size_t file, const nsys_gpu *gpu)
{
    const nsys *n = &p->job->files[file];
    const nsys_process *process = nsys_page_only_process(n);
    const char *whose = "";
    if (p->job->file_count > 1) {
        if (process && process->rank >= 0)
            whose = arena_format(p->memory, "rank %lld, ", (long long)process->rank);
        else
            whose = arena_format(p->memory, "%s, ", pages_file_name(n->path));
    }
    if (gpu->pid >= 0)
        return arena_format(p->memory, "%sGPU %lld of %lld", whose, (long long)gpu->device, (long long)gpu->pid);
    return arena_format(p->memory, "%sGPU %lld", whose, (long long)gpu->device);
}

// The clocks of the job's nodes are known better: a file of such a node is moved as the node is.
static double nsys_page_node_shift_s(const nsys_page *p, const nsys *n)
{
    const job_report *job = p->over->job;
    for (size_t i = 0; i < job->node_count; i++)
        if (text_same_host(job->nodes[i].host, n->host)) return job->nodes[i].shift_s;
    return 0;
}

// Where the page's time begins, since the file's profile began.
static int64_t nsys_page_page_begin(const nsys_page *p, size_t file)
{
    const nsys *n = &p->job->files[file];
    if (p->over) return p->over->job->begin_ns - n->session_ns - (int64_t)llround(nsys_page_node_shift_s(p, n) * 1e9);
    return p->job->placed && p->job->file_count > 1 ? p->job->from_ns - p->job->begin_ns[file] : n->begin_ns;
}

static void nsys_page_find_span(nsys_page *p)
{
    p->columns = p->over ? 240 : 120; // profiles are finer than recordings
    if (p->over) {
        p->span_s = p->over->job->end_s;
    } else if (p->job->placed && p->job->file_count > 1) {
        p->span_s = (double)(p->job->to_ns - p->job->from_ns) / 1e9;
    } else {
        for (size_t i = 0; i < p->job->file_count; i++)
            p->span_s = fmax(p->span_s, (double)(p->job->files[i].end_ns - p->job->files[i].begin_ns) / 1e9);
    }
}

static bool nsys_page_same_gpu(const gpu_lane *a, const gpu_lane *b)
{
    const char *bus = a->gpu->bus, *other = b->gpu->bus;
    return a->file->host && b->file->host && bus && other && strcmp(bus, other) == 0 &&
           strcmp(a->file->host, b->file->host) == 0;
}

static size_t nsys_page_count_gpus(const nsys_page *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->lane_count; i++) {
        bool known = false;
        for (size_t k = 0; k < i && !known; k++)
            known = nsys_page_same_gpu(&p->lanes[i], &p->lanes[k]);
        count += !known;
    }
    return count;
}

// In the order of the ranks.
static void nsys_page_make_lanes(nsys_page *p)
{
    size_t count = 0, *order = arena_make(p->memory, p->job->file_count + 1, sizeof *order), files = 0;
    bool *taken = arena_make(p->memory, p->job->file_count + 1, sizeof *taken);
    for (size_t i = 0; i < p->job->file_count; i++)
        count += p->job->files[i].gpu_count;
    p->lanes = arena_make(p->memory, count + 1, sizeof *p->lanes);
    for (size_t i = 0; i < p->job->spent_count + p->job->file_count; i++) {
        size_t file = i < p->job->spent_count ? p->job->spent[i].file : i - p->job->spent_count;
        if (!taken[file]) order[files++] = file;
        taken[file] = true;
    }
    for (size_t i = 0; i < files; i++) {
        const nsys *n = &p->job->files[order[i]];
        int64_t from = nsys_page_page_begin(p, order[i]), to = from + (int64_t)llround(p->span_s * 1e9);
        for (size_t g = 0; g < n->gpu_count; g++) {
            gpu_lane *lane = &p->lanes[p->lane_count++];
            *lane = (gpu_lane){.file = n, .gpu = &n->gpus[g], .label = nsys_page_lane_label(p, order[i], &n->gpus[g])};
            for (int what = 0; what < NSYS_BUSY; what++) {
                lane->busy[what] = arena_make(p->memory, p->columns, sizeof(double));
                nsys_busy_columns(n, lane->gpu, what, from, to, lane->busy[what], p->columns);
            }
            lane->states = arena_make(p->memory, p->columns, 1);
            memset(lane->states, MAP_NOT_THERE, p->columns);
        }
    }
    p->gpu_count = nsys_page_count_gpus(p);
}

// ---- head ----

// The name of a process in a sentence.
static const char *nsys_page_process_name(nsys_page *p, size_t place)
{
    const nsys_spender *s = &p->job->spent[place];
    const nsys *n = &p->job->files[s->file];
    if (s->process->rank >= 0) return arena_format(p->memory, "rank %lld", (long long)s->process->rank);
    if (nsys_page_only_process(n) || s->process->pid < 0) return pages_file_name(n->path);
    return arena_format(p->memory, "process %lld", (long long)s->process->pid);
}

static const char *nsys_page_busy_sentence(nsys_page *p)
{
    double kernels = nsys_page_mean_busy(p, NSYS_BUSY_KERNELS), nccl = nsys_page_mean_busy(p, NSYS_BUSY_NCCL);
    if (!isfinite(kernels)) return "The file tells of no work of a GPU";
    // Shares of one GPU that are of several processes cannot be put together: they may have run at the same time.
    const char *of = p->gpu_count < p->lane_count ? "Processes that share GPUs each"
                     : p->lane_count > 1          ? arena_format(p->memory, "The %zu GPUs", p->lane_count)
                                                  : "The GPU";
    return arena_format(p->memory, "%s ran kernels %s of %s%s", of, number_percent(kernels).text,
                        p->over ? "the profiled time" : "the time",
                        nccl > 0 ? arena_format(p->memory, ", those of NCCL %s", number_percent(nccl).text) : "");
}

// Which host, how many GPUs, how long, from when on.
static const char *nsys_page_what_it_is(nsys_page *p)
{
    const nsys *n = nsys_page_first_file(p);
    size_t files = p->job->file_count;
    int64_t begin = !p->job->placed ? 0 : files > 1 ? p->job->from_ns : n->session_ns + n->begin_ns;
    const char *whose = files > 1             ? arena_format(p->memory, "%zu files" DOT, files)
                        : n->host && *n->host ? arena_format(p->memory, "%s" DOT, n->host)
                                              : "";
    const char *when = begin       ? arena_format(p->memory, DOT "%s UTC", number_utc(begin, 0).text)
                       : files > 1 ? DOT "no common date"
                                   : DOT "the file does not tell the date";
    return arena_format(p->memory, "%s%s%s%s%s", whose, words_many(p->gpu_count, "GPU").text, p->lane_count ? DOT : "",
                        p->lane_count ? number_duration(p->span_s).text : "", when);
}

// "Rank 2", at the beginning of a sentence.
static const char *nsys_page_process_begins(nsys_page *p, size_t place)
{
    long long rank = p->job->spent[place].process->rank;
    return rank >= 0 ? arena_format(p->memory, "Rank %lld", rank) : nsys_page_process_name(p, place);
}

// Does it need longer for each kernel, and not only run more of them?
static bool nsys_page_is_slow(const nsys_slow *s)
{
    return s->each_times >= 1.2;
}

static const char *nsys_page_slow_title(nsys_page *p, const nsys_slow *s)
{
    const char *who = nsys_page_process_begins(p, s->place);
    if (nsys_page_is_slow(s))
        return arena_format(p->memory, "%.40s is slowest: its kernels take %s" TIMES, who,
                            number_fixed(s->each_times, 2).text);
    if (!(s->count_times >= 1.2)) // some more of them, each somewhat longer
        return arena_format(p->memory, "%.40s spent %s" TIMES " the others' time in kernels", who,
                            number_fixed(s->times, 2).text);
    return arena_format(p->memory, "%.40s ran %s" TIMES " as many kernels", who, number_fixed(s->count_times, 2).text);
}

// The process that the others wait for, if one stands out.
static void nsys_page_add_slow(nsys_page *p, const nsys_slow *s)
{
    const char *lasts = arena_text(p->memory, number_duration(s->own_ns / 1e9).text);
    document_verdict(p->doc, nsys_page_is_slow(s) ? SEVERITY_WATCH : SEVERITY_INFO,
                     arena_format(p->memory,
                                  "%s spent %s in its own kernels (NCCL's left out), %s times the others' median: %s "
                                  "times as many kernels, %s times as long each.",
                                  nsys_page_process_begins(p, s->place), lasts, number_fixed(s->times, 2).text,
                                  arena_text(p->memory, number_fixed(s->count_times, 2).text),
                                  arena_text(p->memory, number_fixed(s->each_times, 2).text)));
    document_verdict(p->doc, SEVERITY_INFO, arena_format(p->memory, "%s.", nsys_page_busy_sentence(p)));
}

// Only what is worth a word: own threshold, 20 % above the mean.
static void nsys_page_add_balance(nsys_page *p, bool slow_is_said)
{
    for (int what = 0; what < NSYS_SPENT; what++) {
        const nsys_balance *b = &p->job->balance[what];
        if (b->count < 2 || !(b->ratio >= 1.2) || (slow_is_said && what == NSYS_SPENT_KERNELS)) continue;
        uint64_t high = p->job->spent[b->high].process->spent_ns[what];
        document_verdict(p->doc, SEVERITY_INFO,
                         arena_format(p->memory, "Most time in %s: %s, %s, %s times the mean of %zu processes.",
                                      nsys_spent_name(what), nsys_page_process_name(p, b->high),
                                      number_duration((double)high / 1e9).text, number_fixed(b->ratio, 2).text,
                                      b->count));
    }
}

// ---- busy over time ----

// 0: files that each begin at their own 0 have no clock in common.
static int64_t nsys_page_wall_ns(const nsys_page *p)
{
    const nsys *first = nsys_page_first_file(p);
    if (p->over) return p->over->time.wall_ns;
    if (p->job->file_count > 1) return p->job->placed ? p->job->from_ns : 0;
    return first->session_ns ? first->session_ns + first->begin_ns : 0;
}

static pages_time nsys_page_page_time(const nsys_page *p)
{
    return (pages_time){0, p->span_s, p->columns, nsys_page_wall_ns(p)};
}

static const char *nsys_page_map_question(nsys_page *p, size_t shown)
{
    if (shown < p->lane_count)
        return arena_format(p->memory, "share of the time in which a kernel ran; the first %zu of %zu", shown,
                            p->lane_count);
    if (!p->over && p->job->file_count > 1 && !p->job->placed)
        return "share in which a kernel ran; each since its first event";
    return "share of the time in which a kernel ran";
}

static void nsys_page_add_map(nsys_page *p)
{
    size_t shown = p->lane_count < MAP_ROWS ? p->lane_count : MAP_ROWS;
    const pages_time time = nsys_page_page_time(p);
    map_row *rows = arena_make(p->memory, shown, sizeof *rows);
    for (size_t i = 0; i < shown; i++) {
        const gpu_lane *lane = &p->lanes[i];
        double length = (double)(lane->file->end_ns - lane->file->begin_ns);
        double share = (double)lane->gpu->busy_ns[NSYS_BUSY_KERNELS] / length;
        rows[i] = (map_row){.label = lane->label,
                            .values = lane->busy[NSYS_BUSY_KERNELS],
                            .states = lane->states,
                            .right = arena_text(p->memory, number_percent(share).text)};
    }
    map_style style = {.columns = p->columns,
                       .axis = pages_time_axis(&time),
                       .from = 0,
                       .to = p->span_s,
                       .ramp = INK_BLUE,
                       .max = 1,
                       .format = AXES_PERCENT,
                       .unit = "",
                       .label_head = "GPU",
                       .right_head = p->job->file_count > 1 || p->over ? "of its file" : "of all time"};
    if (p->over) {
        style.phases = p->over->phases;
        style.phase_count = p->over->phase_count;
    }
    if (p->columns <= MAP_COLUMNS)
        document_add(p->doc, chart_map((chart_head){"gpu-busy", "Busy GPUs", nsys_page_map_question(p, shown)}, &style,
                                       rows, shown));
}

static lines_curve nsys_page_busy_curve(nsys_page *p, int what)
{
    const pages_time time = nsys_page_page_time(p);
    const double **rows = arena_make(p->memory, p->lane_count, sizeof *rows);
    for (size_t i = 0; i < p->lane_count; i++)
        rows[i] = p->lanes[i].busy[what];
    pages_band band = pages_band_of(p->memory, &time, rows, p->lane_count);
    // Where the map above shows each GPU, a band from the idlest to the busiest would only fill the panel.
    lines_curve curve =
        pages_band_curve(&band, p->lane_count > MAP_ROWS ? p->lane_count : 1, INK_RECEIVED, INK_RECEIVED_PALE);
    curve.step = true;
    return curve;
}

static void nsys_page_add_lines(nsys_page *p)
{
    static const char *const below[NSYS_BUSY] = {"of the time", "waiting included", "copies and fills"};
    static const char *const labels[NSYS_BUSY] = {"Kernels", "NCCL", "Memory"};
    lines_curve curves[NSYS_BUSY];
    lines_panel panels[NSYS_BUSY];
    size_t count = 0;
    const pages_time time = nsys_page_page_time(p);
    for (int what = 0; what < NSYS_BUSY; what++) {
        if (!(nsys_page_mean_busy(p, what) > 0)) continue;
        curves[count] = nsys_page_busy_curve(p, what);
        panels[count] = pages_time_panel(labels[what], below[what], AXES_PERCENT, "", &curves[count], 1);
        count++;
    }
    lines_style style = pages_time_lines(p->memory, &time);
    if (p->over) {
        style.phases = p->over->phases;
        style.phase_count = p->over->phase_count;
        style.phases_label = "Phases";
    }
    if (count)
        document_add(
            p->doc,
            chart_lines((chart_head){"gpu-busy-lines", "Busy over time",
                                     p->lane_count > MAP_ROWS ? "line: mean of the GPUs; band: lowest to highest"
                                     : p->lane_count > 1      ? "mean of the GPUs whose file covers it; each is above"
                                                              : "share of each stretch of time"},
                        &style, panels, count));
}

// ---- processes ----

static void nsys_page_process_row(nsys_page *p, sheet *t, const nsys_spender *s, const bool shown[NSYS_SPENT])
{
    const nsys *n = &p->job->files[s->file];
    sheet_text(t, s->process->rank >= 0 ? arena_format(p->memory, "%lld", (long long)s->process->rank) : "");
    for (int what = 0; what < NSYS_SPENT; what++) {
        double seconds = (double)s->process->spent_ns[what] / 1e9;
        const nsys_balance *b = &p->job->balance[what];
        if (!shown[what]) continue;
        if (!n->knows[what])
            sheet_text(t, NUMBER_UNKNOWN);
        else if (b->count > 1 && b->mean > 0)
            sheet_format(t, "%s (%s" TIMES ")", number_duration(seconds).text,
                         number_fixed(seconds * 1e9 / b->mean, 2).text);
        else
            sheet_number(t, number_duration(seconds));
    }
    sheet_text(t, s->process->pid >= 0 ? arena_format(p->memory, "%lld", (long long)s->process->pid) : "");
    sheet_format(t, "%s%s%s", n->host ? n->host : "", n->host ? ": " : "", pages_file_name(n->path));
}

static void nsys_page_add_processes(nsys_page *p)
{
    table_column columns[NSYS_SPENT + 3] = {{"rank", TABLE_TEXT, 0}};
    bool shown[NSYS_SPENT];
    size_t width = 1, rows = p->job->spent_count < PROCESS_ROWS ? p->job->spent_count : PROCESS_ROWS;
    if (p->job->spent_count < 2) return;
    for (int what = 0; what < NSYS_SPENT; what++) {
        shown[what] = p->job->balance[what].count > 0;
        if (shown[what]) columns[width++] = (table_column){nsys_spent_name(what), TABLE_NUMBER, 0};
    }
    columns[width++] = (table_column){"process", TABLE_TEXT, 0};
    columns[width++] = (table_column){"file", TABLE_NAME, 1};
    sheet t = sheet_open(width);
    for (size_t i = 0; i < rows; i++)
        nsys_page_process_row(p, &t, &p->job->spent[i], shown);
    const char *question = "time spent, added up over streams and threads (times the mean)";
    if (rows < p->job->spent_count)
        question = arena_format(p->memory, "the first %zu of %zu; time spent, added up (times the mean)", rows,
                                p->job->spent_count);
    sheet_end(&t, p->doc, (chart_head){"processes", "Processes side by side", question}, columns);
    if (p->job->repeated_rank >= 0)
        document_note(p->doc,
                      arena_format(p->memory, "Rank %lld is in several files: what these have in common counts twice.",
                                   (long long)p->job->repeated_rank));
}

// ---- tables ----

// The beginning of a name: those of kernels are as long as their types.
static const char *nsys_page_short_name(nsys_page *p, const char *name)
{
    const char *end = name;
    size_t length, left = NAME_CHARACTERS;
    while (*end && left--)
        utf8_next(&end, &length);
    return *end ? arena_format(p->memory, "%.*s\xe2\x80\xa6", (int)(end - name), name) : name;
}

static const char *nsys_page_quantity(nsys_page *p, const nsys_table *t, double value)
{
    bool bytes = strcmp(t->unit, "bytes") == 0;
    if (!isfinite(value)) return NUMBER_UNKNOWN;
    if (value <= 0) return "0";
    return arena_text(p->memory, bytes ? number_prefixed(value, "B").text : number_duration(value / 1e9).text);
}

static void nsys_page_fill_row(nsys_page *p, sheet *cells, const nsys_table *t, const nsys_row *row)
{
    const double values[] = {row->mean, row->median, (double)row->min, (double)row->max, row->deviation};
    sheet_number(cells, number_percent(row->share));
    sheet_text(cells, nsys_page_quantity(p, t, (double)row->total));
    sheet_number(cells, number_grouped(row->count));
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        sheet_text(cells, nsys_page_quantity(p, t, values[k]));
    if (t->of_title) sheet_text(cells, row->of);
    sheet_text(cells, nsys_page_short_name(p, row->name));
}

static void nsys_page_add_notes(nsys_page *p, const nsys_table *t)
{
    if (t->left_out)
        document_note(p->doc,
                      arena_format(p->memory, "%s: %s events without a plausible %s were left out.", t->title,
                                   number_grouped(t->left_out).text, strcmp(t->unit, "bytes") == 0 ? "size" : "time"));
    if (t->unended)
        document_note(p->doc, arena_format(p->memory, "%s: %s never ended; they count to the last event of NVTX.",
                                           t->title, number_grouped(t->unended).text));
}

static void nsys_page_add_table(nsys_page *p, nsys_kind kind)
{
    static const char *const names[NSYS_READ] = {
        "cuda-api", "kernels", "memory-by-time", "memory-by-size", "cuda-graphs",
        "nvtx",     "mpi",     "mpi-messages",   "os-runtime"};
    const nsys_table *t = &nsys_page_tables_of(p)->tables[kind];
    table_column columns[COLUMNS] = {{"share", TABLE_NUMBER, 0},  {"total", TABLE_NUMBER, 0},
                                     {"count", TABLE_NUMBER, 0},  {"mean", TABLE_NUMBER, 0},
                                     {"median", TABLE_NUMBER, 0}, {"min", TABLE_NUMBER, 0},
                                     {"max", TABLE_NUMBER, 0},    {"std. dev.", TABLE_NUMBER, 0}};
    size_t width = 8, shown = t->row_count < ROWS ? t->row_count : ROWS;
    if (t->of_title) columns[width++] = (table_column){t->of_title, TABLE_TEXT, 0};
    columns[width++] = (table_column){"name", TABLE_NAME, 1};
    const char *question = t->name;
    sheet cells = sheet_open(width);
    for (size_t i = 0; i < shown; i++)
        nsys_page_fill_row(p, &cells, t, &t->rows[i]);
    if (shown < t->row_count)
        question = arena_format(p->memory, "%s: the first %zu of %zu", t->name, shown, t->row_count);
    if (kind == NSYS_NVTX) question = arena_format(p->memory, "%s; a range within another counts in both", question);
    sheet_end(&cells, p->doc, (chart_head){names[kind], t->title, question}, columns);
    nsys_page_add_notes(p, t);
}

static void nsys_page_add_body(nsys_page *p, bool brief)
{
    if (p->lane_count && p->span_s > 0) {
        nsys_page_add_map(p);
        nsys_page_add_lines(p);
    }
    nsys_page_add_processes(p);
    for (int i = 0; i < (brief ? NSYS_MEMORY_TIME : NSYS_READ); i++)
        nsys_page_add_table(p, (nsys_kind)i);
    bool graphs = nsys_page_tables_of(p)->tables[NSYS_GRAPHS].row_count > 0;
    if (graphs) document_note(p->doc, "CUDA graphs were recorded whole: what NCCL ran in them is not told apart.");
    if (p->job->file_count > 1 && !p->over) document_note(p->doc, p->job->clock_text);
}

document *pages_nsys(nsys_job *job, bool brief)
{
    nsys_page p = {.job = job, .doc = document_open(pages_nsys_kind.name), .memory = arena_open()};
    nsys_page_find_span(&p);
    nsys_page_make_lanes(&p);
    nsys_slow slow;
    bool one_is_slow = nsys_job_slow(job, &slow);
    document_title(p.doc, one_is_slow ? nsys_page_slow_title(&p, &slow) : nsys_page_busy_sentence(&p));
    document_subline(p.doc, nsys_page_what_it_is(&p));
    if (one_is_slow) nsys_page_add_slow(&p, &slow);
    nsys_page_add_balance(&p, one_is_slow);
    nsys_page_add_body(&p, brief);
    document_foot(p.doc, arena_format(p.memory,
                                      "Nsight Systems export%s" DOT "netprof %s" DOT "busy: at least one kernel ran, "
                                      "whatever the number of streams; deviation of the sample",
                                      job->file_count > 1 ? "s" : "", netprof_version()));
    document_metadata(p.doc, pages_nsys_kind.name, "netprof, CUDA, Nsight Systems, NCCL",
                      nsys_page_first_file(&p)->session_ns);
    arena_close(p.memory);
    return p.doc;
}

// How much of the files lies in the job's time.
static const char *nsys_page_where_it_lies(nsys_page *p)
{
    size_t outside = 0, undated = 0, strange = 0, moved = 0;
    for (size_t i = 0; i < p->job->file_count; i++) {
        const nsys *n = &p->job->files[i];
        int64_t from = nsys_page_page_begin(p, i), to = from + (int64_t)llround(p->span_s * 1e9);
        bool known = false;
        for (size_t k = 0; k < p->over->job->node_count; k++)
            known |= text_same_host(p->over->job->nodes[k].host, n->host);
        undated += !n->session_ns;
        outside += n->session_ns && n->bin_count && (n->end_ns < from || n->begin_ns > to);
        strange += !known;
        moved += n->session_ns && nsys_page_node_shift_s(p, n) != 0;
    }
    return arena_format(
        p->memory, "%s, on the job's time by when each profile began (UTC), by its host's clock%s%s%s%s.",
        nsys_page_busy_sentence(p),
        moved ? arena_format(p->memory, "; %zu of %zu are moved with their node", moved, p->job->file_count) : "",
        undated ? arena_format(p->memory, "; %zu of %zu files do not tell when", undated, p->job->file_count) : "",
        outside ? arena_format(p->memory, "; %zu of %zu lie outside the job's time", outside, p->job->file_count) : "",
        strange ? arena_format(p->memory, "; %zu of %zu are of hosts without a recording", strange, p->job->file_count)
                : "");
}

void pages_job_programs(document *doc, const job_report *job, nsys_job *programs)
{
    job_view v = job_view_open(job);
    nsys_page p = {.job = programs, .doc = doc, .over = &v, .memory = v.memory};
    nsys_page_find_span(&p);
    nsys_page_make_lanes(&p);
    document_part(doc, pages_job_programs_kind.name);
    document_subline(doc, nsys_page_where_it_lies(&p));
    nsys_page_add_body(&p, false);
    job_view_close(&v);
}
