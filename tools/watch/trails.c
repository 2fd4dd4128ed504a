#include "trails.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/words.h"
#include "analysis/catalog/catalog.h"
#include "analysis/data/series.h"
#include "cli/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 600, MOST_PORTS = 8, MOST_COLUMNS = 120 };
#define TRAILS_SPAN_NS  INT64_C(300000000000)
#define TRAILS_CLOSE_NS INT64_C(200000000)

// A counter that a track is made of.
typedef enum trails_part { PART_BUSY, PART_IDLE, PART_TOTAL, PART_FREE, PART_BYTES } trails_part;

struct trails_plan {
    size_t track, counter;
    trails_part part;
};

// ---- which counters ----

static const char trails_of_cpu[] = "CPU";

static size_t trails_track_named(trails *t, const char *title, bool share)
{
    size_t next = arrlenu(t->tracks), found = index_map_put(&t->track_of, map_key_of_name(share, title), next);
    if (found == next) arrput(t->tracks, ((trails_track){.title = memory_strdup(safe(title)), .share = share}));
    return found;
}

static void trails_plan_counter(trails *t, size_t track, size_t counter, trails_part part)
{
    if (counter != NETPROF_NONE) arrput(t->plan, ((struct trails_plan){track, counter, part}));
}

static void trails_plan_node(trails *t, const netprof_schema *schema)
{
    static const char *const busy[] = {"user", "nice", "system", "irq", "softirq", "steal"}, *const idle[] = {"idle",
                                                                                                              "iowait"};
    if (netprof_find(schema, "cpu", "cpu", "idle") != NETPROF_NONE) {
        size_t track = trails_track_named(t, trails_of_cpu, true);
        for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
            trails_plan_counter(t, track, netprof_find(schema, "cpu", "cpu", busy[i]), PART_BUSY);
        for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
            trails_plan_counter(t, track, netprof_find(schema, "cpu", "cpu", idle[i]), PART_IDLE);
    }
    size_t total = netprof_find(schema, "memory", "memory", "MemTotal"),
           available = netprof_find(schema, "memory", "memory", "MemAvailable");
    if (total == NETPROF_NONE || available == NETPROF_NONE) return;
    size_t track = trails_track_named(t, "Memory", true);
    trails_plan_counter(t, track, total, PART_TOTAL);
    trails_plan_counter(t, track, available, PART_FREE);
}

static void trails_plan_port(trails *t, const netprof_schema *schema, const netprof_device *d)
{
    if (strcmp(d->source, "ip") == 0 || !catalog_count(d->source, CATALOG_RX_BYTES | CATALOG_TX_BYTES) ||
        series_repeats(schema, d))
        return;
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++) {
        uint32_t marks = catalog_marks(d->source, schema->counters[i].name);
        if (!(marks & (CATALOG_RX_BYTES | CATALOG_TX_BYTES))) continue;
        char *title = memory_format("%s %s", d->name, marks & CATALOG_RX_BYTES ? "received" : "sent");
        trails_plan_counter(t, trails_track_named(t, title, false), i, PART_BYTES);
        free(title);
    }
}

// The schema is kept, so that no other one can be at its place in memory.
static void trails_plan_for(trails *t, const netprof_schema *schema)
{
    if (t->schema == schema) return;
    netprof_schema_release(t->schema);
    netprof_schema_retain(schema);
    t->schema = schema;
    arrsetlen(t->plan, 0);
    trails_plan_node(t, schema);
    for (size_t i = 0; i < schema->device_count; i++)
        trails_plan_port(t, schema, &schema->devices[i]);
}

// ---- numbers ----

static void trails_put(trails_track *x, int64_t ns, double value)
{
    size_t old = 0;
    if (!isfinite(value)) return;
    while (old < arrlenu(x->points) &&
           (x->points[old].ns < difference_capped(ns, TRAILS_SPAN_NS) || arrlenu(x->points) - old >= POINTS))
        old++;
    if (old) arrdeln(x->points, 0, old);
    arrput(x->points, ((trails_point){ns, value}));
}

// A reading right behind another one, as the closing one of a recording, makes no rate; neither do more than 600 in 5 minutes.
static bool trails_takes(const trails *t, int64_t ns)
{
    int64_t step = difference_capped(ns, t->taken_ns);
    return !t->taken_ns || step < 0 || (step >= t->step_ns / 4 && step >= TRAILS_CLOSE_NS);
}

static void trails_begin_anew(trails *t)
{
    for (size_t i = 0; i < arrlenu(t->tracks); i++) {
        arrsetlen(t->tracks[i].points, 0);
        t->tracks[i].there = false;
    }
}

typedef struct trails_sum {
    double value, of;
    bool known;
} trails_sum;

static void trails_sum_up(trails_sum *sum, trails_part part, double value)
{
    if (part == PART_BUSY || part == PART_BYTES) sum->value += value;
    if (part == PART_FREE) sum->value -= value;
    if (part == PART_TOTAL) sum->value += value;
    if (part != PART_FREE) sum->of += value;
}

// A share is that of the growth; of memory, which does not grow, that of the moment.
static void trails_take(trails *t, trails_track *x, const trails_sum *sum, bool gauge, int64_t ns)
{
    double grown = sum->value - x->last, of = sum->of - x->last_of;
    double seconds = (double)difference_capped(ns, t->taken_ns) / 1e9;
    if (gauge)
        trails_put(x, ns, sum->of > 0 ? sum->value / sum->of : NAN);
    else if (x->there && t->taken_ns && grown >= 0)
        trails_put(x, ns, x->share ? of > 0 ? grown / of : NAN : grown / seconds);
    x->there = true;
    x->last = sum->value;
    x->last_of = sum->of;
}

void trails_add(trails *t, const netprof_snapshot *s)
{
    if (!trails_takes(t, s->begin_ns)) return;
    if (t->taken_ns && s->begin_ns < t->taken_ns) trails_begin_anew(t);
    trails_plan_for(t, s->schema);
    for (size_t i = 0, end; i < arrlenu(t->plan); i = end) {
        trails_sum sum = {.known = true};
        size_t track = t->plan[i].track;
        for (end = i; end < arrlenu(t->plan) && t->plan[end].track == track; end++) {
            size_t counter = t->plan[end].counter;
            sum.known &= s->status[counter] == NETPROF_STATUS_OK;
            trails_sum_up(&sum, t->plan[end].part, (double)s->values[counter]);
        }
        if (sum.known)
            trails_take(t, &t->tracks[track], &sum, t->plan[i].part == PART_TOTAL, s->begin_ns);
        else
            t->tracks[track].there = false;
    }
    t->step_ns = t->taken_ns && s->begin_ns > t->taken_ns ? difference_capped(s->begin_ns, t->taken_ns) : 0;
    t->taken_ns = s->begin_ns;
}

// ---- as text ----

static double trails_most(const trails_track *x)
{
    double most = 0;
    for (size_t i = 0; i < arrlenu(x->points); i++)
        most = fmax(most, x->points[i].value);
    return most;
}

// The shortest time between two numbers.
static int64_t trails_usual_step(const trails_track *x)
{
    int64_t least = INT64_MAX / 4;
    for (size_t i = 1; i < arrlenu(x->points); i++) {
        int64_t step = difference_capped(x->points[i].ns, x->points[i - 1].ns);
        if (step < least) least = step;
    }
    return least;
}

static int trails_column(int64_t ns, int64_t from_ns, int64_t to_ns, int columns)
{
    int at = (int)((double)difference_capped(ns, from_ns) / (double)difference_capped(to_ns, from_ns) * columns);
    return at < 0 ? 0 : at >= columns ? columns - 1 : at;
}

// The highest number of each column; blank where there is none.
static char *trails_bars(const trails_track *x, int64_t from_ns, int64_t to_ns, int columns, double full)
{
    double most[MOST_COLUMNS];
    char *text = memory_calloc((size_t)columns * 4 + 1, 1), *to = text;
    for (int i = 0; i < columns; i++)
        most[i] = NAN;
    int64_t usual_ns = trails_usual_step(x);
    for (size_t i = 1; i < arrlenu(x->points) && to_ns > from_ns; i++) {
        // A number is of the time since the one before, unless some are missing between them.
        int64_t begin_ns = x->points[i - 1].ns, end_ns = x->points[i].ns;
        if (difference_capped(end_ns, begin_ns) > 3 * usual_ns) begin_ns = end_ns - usual_ns;
        int at = trails_column(begin_ns, from_ns, to_ns, columns), end = trails_column(end_ns, from_ns, to_ns, columns);
        for (at += at < end; at <= end; at++)
            most[at] = fmax(most[at], x->points[i].value); // of a NAN and a number it is the number
    }
    for (int i = 0; i < columns; i++) {
        const char *part = lines_block(full > 0 || isnan(most[i]) ? most[i] / full : 0);
        strcpy(to, part);
        to += strlen(part);
    }
    return text;
}

static int trails_compare(const void *a, const void *b)
{
    double x = trails_most(*(trails_track *const *)a), y = trails_most(*(trails_track *const *)b);
    return x > y ? -1 : x < y;
}

// CPU and memory, then the ports that moved, the busiest first; an array of stb_ds.
static trails_track **trails_shown(const trails *t)
{
    trails_track **shown = NULL;
    size_t fixed;
    for (size_t i = 0; i < arrlenu(t->tracks); i++)
        if (t->tracks[i].share && arrlenu(t->tracks[i].points) > 1) arrput(shown, &t->tracks[i]);
    fixed = arrlenu(shown);
    for (size_t i = 0; i < arrlenu(t->tracks); i++)
        if (!t->tracks[i].share && arrlenu(t->tracks[i].points) > 1 && trails_most(&t->tracks[i]) > 0)
            arrput(shown, &t->tracks[i]);
    if (arrlenu(shown) > fixed) qsort(shown + fixed, arrlenu(shown) - fixed, sizeof *shown, trails_compare);
    if (arrlenu(shown) > fixed + MOST_PORTS) arrsetlen(shown, fixed + MOST_PORTS);
    return shown;
}

static void trails_line(const trails_track *x, lines *l, int64_t from_ns, int64_t to_ns, int name, int columns)
{
    double most = trails_most(x);
    char *bars = trails_bars(x, from_ns, to_ns, columns, x->share ? 1 : most);
    words_text number = x->share ? words_share(most) : words_amount_rate(most, "bytes");
    lines_begin(l);
    lines_cell(l, x->share ? STRONG : NORMAL, name, false, x->title);
    lines_blank(l, 1);
    lines_add(l, NORMAL, bars);
    lines_printf(l, FAINT, " most %s", safe(number.text));
    free(bars);
}

void trails_lines(const trails *t, lines *l)
{
    int name = l->width >= 100 ? 24 : l->width >= 60 ? 16 : 10, columns = l->width - name - 18;
    trails_track **shown = columns >= 8 ? trails_shown(t) : NULL;
    int64_t from_ns = t->taken_ns;
    if (columns > MOST_COLUMNS) columns = MOST_COLUMNS;
    for (size_t i = 0; i < arrlenu(shown); i++)
        if (shown[i]->points[0].ns < from_ns) from_ns = shown[i]->points[0].ns;
    if (arrlenu(shown)) {
        lines_begin(l);
        lines_printf(l, TITLE, "HISTORY OF %s, NOW AT THE RIGHT",
                     safe(words_duration((double)difference_capped(t->taken_ns, from_ns) / 1e9).text));
    }
    for (size_t i = 0; i < arrlenu(shown); i++)
        trails_line(shown[i], l, from_ns, t->taken_ns, name, columns);
    arrfree(shown);
}

void trails_cpu(const trails *t, lines *l, int columns)
{
    const trails_track *x = NULL;
    for (size_t i = 0; i < arrlenu(t->tracks) && !x; i++)
        if (t->tracks[i].share && strcmp(t->tracks[i].title, trails_of_cpu) == 0) x = &t->tracks[i];
    if (!x || arrlenu(x->points) < 2) {
        lines_blank(l, columns);
        return;
    }
    char *bars = trails_bars(x, x->points[0].ns, t->taken_ns, columns, 1);
    lines_cell(l, NORMAL, columns, false, bars);
    free(bars);
}

void trails_free(trails *t)
{
    for (size_t i = 0; i < arrlenu(t->tracks); i++) {
        free(t->tracks[i].title);
        arrfree(t->tracks[i].points);
    }
    arrfree(t->tracks);
    arrfree(t->plan);
    hmfree(t->track_of);
    netprof_schema_release(t->schema);
    *t = (trails){0};
}
