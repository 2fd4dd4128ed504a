// The data files and commands for gnuplot. It gets places between 0 and 1 only: what an axis is, linear or
// logarithmic, and where a line has gaps was settled here.
#include "plot.h"
#include "plot_parts.h"

#include <math.h>

// Data sets of a series, in the order of its commands.
typedef enum part_kind { PART_LINES, PART_STEPS, PART_BAND, PART_DOTS, PART_BARS, PART_BOXES } part_kind;

typedef struct place {
    long x, y, y2; // in PLOT_UNIT
    bool there;
} place;

static long plot_script_whole(double at)
{
    return lround(fmin(fmax(at, -1e3), 1e3) * PLOT_UNIT); // far outside: the line's direction is kept well enough
}

static place plot_script_place_of(const plot *p, const plot_series *s, size_t i)
{
    double x = plot_at(p->x, s->x[i]), y = plot_at(p->y, s->y[i]);
    double y2 = s->kind == PLOT_BAND ? plot_at(p->y, s->y2[i]) : 0;
    if (isnan(x) || isnan(y) || isnan(y2)) return (place){0, 0, 0, false};
    return (place){plot_script_whole(x), plot_script_whole(y), plot_script_whole(y2), true};
}

// Between gaps on both sides: a line of one point cannot be seen.
static bool plot_script_is_alone(const plot *p, const plot_series *s, size_t i)
{
    return !(i && plot_script_place_of(p, s, i - 1).there) &&
           !(i + 1 < s->count && plot_script_place_of(p, s, i + 1).there);
}

// Runs of neighbours, an empty line between two of them.
static size_t plot_script_write_runs(FILE *to, const plot *p, const plot_series *s)
{
    size_t written = 0;
    bool open = false;
    for (size_t i = 0; i < s->count; i++) {
        place at = plot_script_place_of(p, s, i);
        if (!at.there || plot_script_is_alone(p, s, i)) {
            open = false;
            continue;
        }
        if (written && !open) fputc('\n', to);
        open = true;
        written++;
        fprintf(to, "%ld %ld %ld\n", at.x, at.y, at.y2);
    }
    return written;
}

// Lone points: dots; of a band upright lines.
static size_t plot_script_write_alone(FILE *to, const plot *p, const plot_series *s)
{
    size_t written = 0;
    for (size_t i = 0; i < s->count; i++) {
        place at = plot_script_place_of(p, s, i);
        if (!at.there || !(s->kind == PLOT_POINTS || plot_script_is_alone(p, s, i))) continue;
        if (s->kind == PLOT_BAND)
            fprintf(to, "%s%ld %ld\n%ld %ld\n", written ? "\n" : "", at.x, at.y, at.x, at.y2);
        else
            fprintf(to, "%ld %ld\n", at.x, at.y);
        written++;
    }
    return written;
}

// Left and right edge of a box of a width in x units.
static bool plot_script_edges_of(const plot *p, const plot_series *s, size_t i, long *left, long *right)
{
    double half = s->x2 ? s->x2[i] / 2 : 0.5, from = plot_at(p->x, s->x[i] - half), to = plot_at(p->x, s->x[i] + half);
    if (isnan(plot_at(p->x, s->x[i])) || isnan(to)) return false;
    *left = isnan(from) ? 0 : plot_script_whole(from); // below zero on a logarithmic axis
    *right = plot_script_whole(to);
    return *right > *left;
}

static size_t plot_script_write_bars(FILE *to, const plot *p, const plot_series *s)
{
    size_t written = 0;
    long left, right;
    for (size_t i = 0; i < s->count; i++) {
        double up = plot_at(p->y, s->y[i]);
        if (!(up > 0) || !plot_script_edges_of(p, s, i, &left, &right)) continue;
        fprintf(to, "%ld %ld %ld\n", (left + right) / 2, plot_script_whole(up), right - left);
        written++;
    }
    return written;
}

// A box plot's five places; false when one of them has none.
static bool plot_script_box_of(const plot *p, const plot_series *s, size_t i, long at[5])
{
    for (size_t k = 0; k < 5; k++) {
        double up = plot_at(p->y, s->boxes[i][k]);
        if (isnan(up)) return false;
        at[k] = plot_script_whole(up);
    }
    return true;
}

static size_t plot_script_write_boxes(FILE *to, const plot *p, const plot_series *s, bool medians)
{
    size_t written = 0;
    long at[5], left, right;
    for (size_t i = 0; i < s->count; i++) {
        if (!plot_script_box_of(p, s, i, at) || !plot_script_edges_of(p, s, i, &left, &right)) continue;
        if (medians)
            fprintf(to, "%s%ld %ld\n%ld %ld\n", written ? "\n" : "", left, at[2], right, at[2]);
        else
            fprintf(to, "%ld %ld %ld %ld %ld %ld\n", (left + right) / 2, at[1], at[0], at[4], at[3], right - left);
        written++;
    }
    return written;
}

// The parts of a kind of series, and how each is drawn. One writer and one list of commands follow this table.
static const struct {
    plot_kind kind;
    part_kind part;
    bool extra; // the second part: what is alone, medians
} parts[] = {{PLOT_LINE, PART_LINES, false}, {PLOT_LINE, PART_DOTS, true},  {PLOT_STEP, PART_STEPS, false},
             {PLOT_STEP, PART_DOTS, true},   {PLOT_BAND, PART_BAND, false}, {PLOT_BAND, PART_LINES, true},
             {PLOT_POINTS, PART_DOTS, true}, {PLOT_BARS, PART_BARS, false}, {PLOT_BOX, PART_BOXES, false},
             {PLOT_BOX, PART_LINES, true}};
enum { PARTS = sizeof parts / sizeof *parts };

static size_t plot_script_write_part(FILE *to, const plot *p, const plot_series *s, size_t part)
{
    switch (s->kind) {
    case PLOT_BARS: return plot_script_write_bars(to, p, s);
    case PLOT_BOX: return plot_script_write_boxes(to, p, s, parts[part].extra);
    default: return parts[part].extra ? plot_script_write_alone(to, p, s) : plot_script_write_runs(to, p, s);
    }
}

bool plot_write_data(FILE *to, const plot_job *job)
{
    const plot *p = job->plot;
    size_t written = 0;
    for (size_t i = 0; i < p->series_count; i++)
        for (size_t k = 0; k < PARTS; k++) {
            if (parts[k].kind != p->series[i].kind) continue;
            // A data set that would be empty is no data set for gnuplot: a place far outside keeps the count.
            size_t count = plot_script_write_part(to, p, &p->series[i], k);
            if (!count) fprintf(to, "%d 0 0 0 0 0\n", -9 * PLOT_UNIT);
            fputs("\n\n", to);
            written += count;
        }
    return written > 0;
}

unsigned plot_width(const plot_series *s, bool extra)
{
    double width = s->line_width > 0 ? fmin(s->line_width, 100) : 1;
    return (unsigned)lround(width * (s->kind == PLOT_BOX && extra ? 200 : 100)); // medians: thicker
}

static void plot_script_write_part_command(FILE *to, const plot_series *s, size_t part, unsigned paint)
{
    static const char *const styles[] = {[PART_LINES] = "1:2 with lines",
                                         [PART_STEPS] = "1:2 with steps",
                                         [PART_BAND] = "1:2:3 with filledcurves fs solid noborder",
                                         [PART_DOTS] = "1:2 with points pt 7",
                                         [PART_BARS] = "1:2:3 with boxes fs solid noborder",
                                         [PART_BOXES] =
                                             "1:2:3:4:5:6 with candlesticks whiskerbars 0.6 fs solid border"};
    part_kind kind = parts[part].part;
    bool filled = kind == PART_BAND || kind == PART_BARS || kind == PART_BOXES;
    unsigned width = plot_width(s, parts[part].extra);
    fprintf(to, "using %s", styles[kind]);
    if (filled && kind != PART_BOXES) fprintf(to, " fc rgb '#%06x'", paint);
    if (kind == PART_BOXES) fprintf(to, " lc rgb '#%06x' fc rgb '#%06x'", paint, paint);
    if (!filled) fprintf(to, " lc rgb '#%06x'", paint);
    if (kind == PART_LINES || kind == PART_STEPS || kind == PART_BOXES)
        fprintf(to, " lw %u.%02u", width / 100, width % 100);
}

void plot_write_commands(FILE *to, const plot_job *job, const char *data, const char *svg)
{
    const plot *p = job->plot;
    unsigned index = 0;
    unsigned width = (unsigned)lround(job->width * 100), height = (unsigned)lround(job->height * 100);
    fprintf(to, "set terminal svg size %u.%02u,%u.%02u fixed\nset output '%s'\nplot ", width / 100, width % 100,
            height / 100, height % 100, svg);
    for (size_t i = 0; i < p->series_count; i++)
        for (size_t k = 0; k < PARTS; k++) {
            if (parts[k].kind != p->series[i].kind) continue;
            if (index) fputs(", \\\n ", to);
            fprintf(to, "'%s' index %u ", data, index++);
            plot_script_write_part_command(to, &p->series[i], k, PLOT_PAINT | (unsigned)i << 1 | parts[k].extra);
        }
    fputs("\nunset output\n", to);
}
