// The data files and commands for gnuplot. It gets places between 0 and 1 only: what an axis is, linear or
// logarithmic, and where a line has gaps was settled here.
#include "plot_private.h"

#include <math.h>

// Data sets of a series, in the order of its commands.
typedef enum part_kind { PART_LINES, PART_STEPS, PART_BAND, PART_DOTS, PART_BARS, PART_BOXES } part_kind;

typedef struct place {
    double x, y, y2;
    bool there;
} place;

static double bounded(double at)
{
    return fmin(fmax(at, -1e4), 1e4); // far outside: the line's direction is kept well enough
}

static place place_of(const plot *p, const plot_series *s, size_t i)
{
    place at = {plot_at(p->x, s->x[i]), s->y ? plot_at(p->y, s->y[i]) : NAN, 0, false};
    if (s->kind == PLOT_BAND) at.y2 = plot_at(p->y, s->y2[i]);
    at.there = !isnan(at.x) && !isnan(at.y) && !isnan(at.y2);
    at.x = bounded(at.x);
    at.y = bounded(at.y);
    at.y2 = bounded(at.y2);
    return at;
}

// Between gaps on both sides: a line of one point cannot be seen.
static bool is_alone(const plot *p, const plot_series *s, size_t i)
{
    return !(i && place_of(p, s, i - 1).there) && !(i + 1 < s->count && place_of(p, s, i + 1).there);
}

// Runs of neighbours, an empty line between two of them.
static size_t write_runs(FILE *to, const plot *p, const plot_series *s)
{
    size_t written = 0;
    bool open = false;
    for (size_t i = 0; i < s->count; i++) {
        place at = place_of(p, s, i);
        if (!at.there || is_alone(p, s, i)) {
            open = false;
            continue;
        }
        if (written && !open) fputc('\n', to);
        open = true;
        written++;
        fprintf(to, s->kind == PLOT_BAND ? "%.7g %.7g %.7g\n" : "%.7g %.7g\n", at.x, at.y, at.y2);
    }
    return written;
}

// Lone points: dots; of a band upright lines.
static size_t write_alone(FILE *to, const plot *p, const plot_series *s)
{
    size_t written = 0;
    for (size_t i = 0; i < s->count; i++) {
        place at = place_of(p, s, i);
        if (!at.there || !(s->kind == PLOT_POINTS || is_alone(p, s, i))) continue;
        if (s->kind == PLOT_BAND)
            fprintf(to, "%s%.7g %.7g\n%.7g %.7g\n", written ? "\n" : "", at.x, at.y, at.x, at.y2);
        else
            fprintf(to, "%.7g %.7g\n", at.x, at.y);
        written++;
    }
    return written;
}

// Left and right edge of a box of a width in x units.
static bool edges_of(const plot *p, const plot_series *s, size_t i, double *left, double *right)
{
    double half = s->x2 ? s->x2[i] / 2 : 0.5;
    *left = bounded(plot_at(p->x, s->x[i] - half));
    *right = bounded(plot_at(p->x, s->x[i] + half));
    if (p->x.log && s->x[i] - half <= 0) *left = 0;
    return *right > *left;
}

static size_t write_bars(FILE *to, const plot *p, const plot_series *s)
{
    size_t written = 0;
    double left, right;
    for (size_t i = 0; i < s->count; i++) {
        double up = plot_at(p->y, s->y[i]);
        if (!(up > 0) || isnan(plot_at(p->x, s->x[i])) || !edges_of(p, s, i, &left, &right)) continue;
        fprintf(to, "%.7g %.7g %.7g\n", (left + right) / 2, bounded(up), right - left);
        written++;
    }
    return written;
}

// A box plot's five places; false when one of them has none.
static bool box_of(const plot *p, const plot_series *s, size_t i, double at[5])
{
    for (size_t k = 0; k < 5; k++) {
        at[k] = plot_at(p->y, s->boxes[i][k]);
        if (isnan(at[k])) return false;
        at[k] = bounded(at[k]);
    }
    return !isnan(plot_at(p->x, s->x[i]));
}

static size_t write_boxes(FILE *to, const plot *p, const plot_series *s, bool medians)
{
    size_t written = 0;
    double at[5], left, right;
    for (size_t i = 0; i < s->count; i++) {
        if (!box_of(p, s, i, at) || !edges_of(p, s, i, &left, &right)) continue;
        if (medians)
            fprintf(to, "%s%.7g %.7g\n%.7g %.7g\n", written ? "\n" : "", left, at[2], right, at[2]);
        else
            fprintf(to, "%.7g %.7g %.7g %.7g %.7g %.7g\n", (left + right) / 2, at[1], at[0], at[4], at[3], right - left);
        written++;
    }
    return written;
}

// The parts of a kind of series, and how each is drawn. One writer and one list of commands follow this table.
static const struct {
    plot_kind kind;
    part_kind part;
    bool extra; // the second part: what is alone, medians
} parts[] = {{PLOT_LINE, PART_LINES, false},  {PLOT_LINE, PART_DOTS, true},    {PLOT_STEP, PART_STEPS, false},
             {PLOT_STEP, PART_DOTS, true},    {PLOT_BAND, PART_BAND, false},   {PLOT_BAND, PART_LINES, true},
             {PLOT_POINTS, PART_DOTS, true},  {PLOT_BARS, PART_BARS, false},   {PLOT_BOX, PART_BOXES, false},
             {PLOT_BOX, PART_LINES, true}};
enum { PARTS = sizeof parts / sizeof *parts };

static size_t write_part(FILE *to, const plot *p, const plot_series *s, size_t part)
{
    switch (s->kind) {
    case PLOT_BARS: return write_bars(to, p, s);
    case PLOT_BOX: return write_boxes(to, p, s, parts[part].extra);
    default: return parts[part].extra ? write_alone(to, p, s) : write_runs(to, p, s);
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
            size_t count = write_part(to, p, &p->series[i], k);
            if (!count) fputs("-9 -9 -9 -9 -9 0\n", to);
            fputs("\n\n", to);
            written += count;
        }
    return written > 0;
}

static void write_part_command(FILE *to, const plot_series *s, part_kind part, unsigned paint)
{
    double width = s->line_width > 0 ? s->line_width : 1;
    const char *dash = s->dashed ? " dt (6,4)" : "";
    switch (part) {
    case PART_LINES:
        fprintf(to, "using 1:2 with lines lw %.4g%s lc rgb '#%06x'", s->kind == PLOT_BOX ? 2 * width : width, dash, paint);
        break;
    case PART_STEPS: fprintf(to, "using 1:2 with steps lw %.4g%s lc rgb '#%06x'", width, dash, paint); break;
    case PART_BAND: fprintf(to, "using 1:2:3 with filledcurves fs solid 1.0 noborder fc rgb '#%06x'", paint); break;
    case PART_DOTS: fprintf(to, "using 1:2 with points pt 7 ps 1 lc rgb '#%06x'", paint); break;
    case PART_BARS: fprintf(to, "using 1:2:3 with boxes fs solid 1.0 noborder fc rgb '#%06x'", paint); break;
    case PART_BOXES:
        fprintf(to,
                "using 1:2:3:4:5:6 with candlesticks whiskerbars 0.6 lw %.4g fs transparent solid 0.25 border lc rgb"
                " '#%06x' fc rgb '#%06x'",
                width, paint, paint);
        break;
    }
}

void plot_write_commands(FILE *to, const plot_job *job, const char *data, const char *svg)
{
    const plot *p = job->plot;
    unsigned index = 0;
    fprintf(to, "set terminal svg size %.2f,%.2f fixed\nset output '%s'\nplot ", job->width, job->height, svg);
    for (size_t i = 0; i < p->series_count; i++)
        for (size_t k = 0; k < PARTS; k++) {
            if (parts[k].kind != p->series[i].kind) continue;
            if (index) fputs(", \\\n ", to);
            fprintf(to, "'%s' index %u ", data, index++);
            write_part_command(to, &p->series[i], parts[k].part, PLOT_PAINT | (unsigned)i);
        }
    fputs("\nunset output\n", to);
}
