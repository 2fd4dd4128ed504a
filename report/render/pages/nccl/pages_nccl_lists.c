// The last pages: communicators, algorithms, ranks, missing records, files, method.
#include "nccl_page.h"

#include <math.h>

static void nccl_page_say_left(nccl_page *p, uint64_t left, const char *what, const char *where)
{
    if (left)
        document_note(p->doc,
                      arena_format(p->memory, "%llu more %s are in %s.", (unsigned long long)left, what, where));
}

static void nccl_page_add_communicators(nccl_page *p)
{
    enum { COLUMNS = 12 };
    static const table_column columns[COLUMNS] = {
        {"communicator", TABLE_TEXT, 1}, {"ranks", TABLE_NUMBER, 0},    {"collective", TABLE_TEXT, 0},
        {"size", TABLE_NUMBER, 0},       {"calls", TABLE_NUMBER, 0},    {"time", TABLE_NUMBER, 0},
        {"wire p5", TABLE_NUMBER, 0},    {"p50", TABLE_NUMBER, 0},      {"p95", TABLE_NUMBER, 0},
        {"p99", TABLE_NUMBER, 0},        {"skew p50", TABLE_NUMBER, 0}, {"bus GB/s", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < v->series.count; i++) {
        const nccl_view_series *s = &v->series.items[i];
        sheet_text(&t, *s->label ? s->label : NUMBER_UNKNOWN);
        sheet_number(&t, number_grouped(s->ranks));
        sheet_text(&t, s->coll);
        sheet_number(&t, number_binary((double)s->size));
        sheet_number(&t, number_grouped(s->calls));
        sheet_number(&t, number_duration((double)s->time_us / 1e6));
        sheet_text(&t, nccl_page_us(p, &s->wire_us, s->wire_us.p5));
        sheet_text(&t, nccl_page_us(p, &s->wire_us, s->wire_us.p50));
        sheet_text(&t, nccl_page_us(p, &s->wire_us, s->wire_us.p95));
        sheet_text(&t, nccl_page_us(p, &s->wire_us, s->wire_us.p99));
        sheet_text(&t, s->ranks > 1 ? nccl_page_us(p, &s->skew_us, s->skew_us.p50) : NUMBER_UNKNOWN);
        sheet_text(&t, nccl_page_plain(p, &s->bus_gbs, s->bus_gbs.p50));
    }
    sheet_end(&t, p->doc,
              (chart_head){"communicators", "Communicators",
                           "percentiles by communicator, collective and size; those with the most time first"},
              columns);
    nccl_page_say_left(p, v->series_left, "rows", "communicators.csv");
}

static void nccl_page_add_algorithms(nccl_page *p)
{
    enum { COLUMNS = 8 };
    static const table_column columns[COLUMNS] = {{"class", TABLE_TEXT, 0},      {"collective", TABLE_TEXT, 1},
                                                  {"algorithm", TABLE_TEXT, 0},  {"protocol", TABLE_TEXT, 0},
                                                  {"size", TABLE_NUMBER, 0},     {"calls", TABLE_NUMBER, 0},
                                                  {"wire p50", TABLE_NUMBER, 0}, {"bus GB/s p50", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < v->paths.count; i++) {
        const nccl_view_path *x = &v->paths.items[i];
        const char *row[COLUMNS] = {x->type,
                                    x->coll,
                                    *x->algo ? x->algo : NUMBER_UNKNOWN,
                                    *x->proto ? x->proto : NUMBER_UNKNOWN,
                                    nccl_page_size(p, x->size),
                                    nccl_page_grouped(p, x->calls),
                                    nccl_page_us(p, &x->wire_us, x->wire_us.p50),
                                    nccl_page_plain(p, &x->bus_gbs, x->bus_gbs.p50)};
        sheet_row(&t, row);
    }
    sheet_end(&t, p->doc, (chart_head){"algorithms", "Algorithms and protocols", "which way did NCCL choose?"},
              columns);
}

static void nccl_page_add_ranks(nccl_page *p)
{
    enum { COLUMNS = 11 };
    static const table_column columns[COLUMNS] = {{"rank", TABLE_TEXT, 1},      {"host", TABLE_TEXT, 1},
                                                  {"local", TABLE_NUMBER, 0},   {"pid", TABLE_NUMBER, 0},
                                                  {"records", TABLE_NUMBER, 0}, {"last", TABLE_NUMBER, 0},
                                                  {"alone", TABLE_NUMBER, 0},   {"cost", TABLE_NUMBER, 0},
                                                  {"waited", TABLE_NUMBER, 0},  {"behind median", TABLE_NUMBER, 0},
                                                  {"missing", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < v->slowest.count; i++) {
        const nccl_view_process *x = &v->slowest.items[i];
        const char *row[COLUMNS] = {
            x->name,
            x->host,
            arena_format(p->memory, "%llu", (unsigned long long)x->local),
            arena_format(p->memory, "%llu", (unsigned long long)x->pid),
            nccl_page_grouped(p, x->records),
            nccl_page_keep(p, number_percent(x->records ? (double)x->last_arrivals / (double)x->records : NAN)),
            nccl_page_keep(p, number_percent(x->judged ? (double)x->last_alone / (double)x->judged : NAN)),
            x->records ? nccl_page_keep(p, number_duration((double)x->cost_us / 1e6)) : NUMBER_UNKNOWN,
            x->records ? nccl_page_keep(p, number_duration((double)x->suffered_us / 1e6)) : NUMBER_UNKNOWN,
            x->judged ? nccl_page_keep(p, number_duration(x->behind_us / 1e6)) : NUMBER_UNKNOWN,
            nccl_page_grouped(p, x->missing)};
        sheet_row(&t, row);
    }
    sheet_end(&t, p->doc,
              (chart_head){"ranks", "Ranks",
                           "one process each, in all its communicators; last: had the shortest "
                           "time; cost: what it alone added to its calls; waited: for others"},
              columns);
    nccl_page_say_left(p, v->slowest_left, "processes", "ranks.csv");
}

static void nccl_page_add_pairs(nccl_page *p)
{
    enum { COLUMNS = 9 };
    static const table_column columns[COLUMNS] = {{"communicator", TABLE_TEXT, 1}, {"rank", TABLE_NUMBER, 0},
                                                  {"host", TABLE_TEXT, 1},         {"", TABLE_TEXT, 0},
                                                  {"peer", TABLE_NUMBER, 0},       {"size", TABLE_NUMBER, 0},
                                                  {"records", TABLE_NUMBER, 0},    {"time p50", TABLE_NUMBER, 0},
                                                  {"GB/s p50", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < v->pairs.count; i++) {
        const nccl_view_pair *x = &v->pairs.items[i];
        const char *row[COLUMNS] = {*x->label ? x->label : NUMBER_UNKNOWN,
                                    arena_format(p->memory, "%llu", (unsigned long long)x->rank),
                                    x->host,
                                    x->operation,
                                    isfinite(x->peer) ? arena_format(p->memory, "%.0f", x->peer) : NUMBER_UNKNOWN,
                                    nccl_page_size(p, x->size),
                                    nccl_page_grouped(p, x->records),
                                    nccl_page_us(p, &x->time_us, x->time_us.p50),
                                    nccl_page_plain(p, &x->bus_gbs, x->bus_gbs.p50)};
        sheet_row(&t, row);
    }
    sheet_end(&t, p->doc,
              (chart_head){"pairs", "Point to point", "by rank, peer and size; those with the most time first"},
              columns);
    nccl_page_say_left(p, v->pairs_left, "rows", "p2p.csv");
}

static void nccl_page_add_metrics(nccl_page *p)
{
    static const table_column columns[] = {
        {"metric", TABLE_NAME, 0}, {"labels", TABLE_TEXT, 1}, {"value", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(3);
    for (size_t i = 0; i < v->metrics.count; i++) {
        const char *row[] = {v->metrics.items[i].name, v->metrics.items[i].labels,
                             nccl_page_keep(p, number_plain(v->metrics.items[i].value))};
        sheet_row(&t, row);
    }
    sheet_end(&t, p->doc,
              (chart_head){"metrics", "Prometheus files",
                           "averages over windows whose number of calls is not told: "
                           "neither late ranks nor percentiles can be had of them"},
              columns);
    nccl_page_say_left(p, v->metrics_left, "samples", "metrics.csv");
}

static void nccl_page_add_missing(nccl_page *p)
{
    static const table_column columns[] = {{"host", TABLE_TEXT, 1},
                                           {"pid", TABLE_NUMBER, 0},
                                           {"after the end of its log", TABLE_NUMBER, 0},
                                           {"lost in between", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(4);
    for (size_t i = 0; i < v->gone.count; i++) {
        const nccl_view_gone *g = &v->gone.items[i];
        const char *row[] = {g->host, arena_format(p->memory, "%llu", (unsigned long long)g->pid),
                             nccl_page_grouped(p, g->tail), nccl_page_grouped(p, g->between)};
        sheet_row(&t, row);
    }
    sheet_end(&t, p->doc,
              (chart_head){"missing", "Missing records",
                           "that other ranks of the same call have; small messages "
                           "are filtered on all ranks alike and are no loss"},
              columns);
    nccl_page_say_left(p, v->gone_left, "processes", "ranks.csv");
}

static void nccl_page_add_files(nccl_page *p)
{
    enum { COLUMNS = 6 };
    static const table_column columns[COLUMNS] = {{"file", TABLE_TEXT, 1},       {"lines", TABLE_NUMBER, 0},
                                                  {"unusable", TABLE_NUMBER, 0}, {"first at line", TABLE_NUMBER, 0},
                                                  {"why", TABLE_TEXT, 1},        {"the file", TABLE_TEXT, 1}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < v->damaged.count; i++) {
        const nccl_view_file *f = &v->damaged.items[i];
        const char *twice = f->duplicates ? arena_format(p->memory, "%s%llu duplicates", *f->reasons ? ", " : "",
                                                         (unsigned long long)f->duplicates)
                                          : "";
        const char *other = f->conflicts
                                ? arena_format(p->memory, "%s%llu conflicts", *f->reasons || *twice ? ", " : "",
                                               (unsigned long long)f->conflicts)
                                : "";
        const char *row[COLUMNS] = {*f->name ? f->name : NUMBER_UNKNOWN,
                                    nccl_page_grouped(p, f->lines),
                                    nccl_page_grouped(p, f->bad),
                                    f->first_bad_line ? nccl_page_grouped(p, f->first_bad_line) : NUMBER_UNKNOWN,
                                    arena_format(p->memory, "%s%s%s", f->reasons, twice, other),
                                    *f->problem ? f->problem : NUMBER_UNKNOWN};
        sheet_row(&t, row);
    }
    sheet_end(&t, p->doc,
              (chart_head){"files", "Lines and files that could not be used", "a bad line costs that line only"},
              columns);
    nccl_page_say_left(p, v->damaged_left, "files", "lines.csv");
}

static void nccl_page_add_unknown(nccl_page *p)
{
    enum { MOST = 12 };
    const nccl_view *v = p->v;
    for (size_t i = 0; i < v->unknown.count && i < MOST; i++)
        document_note(p->doc, arena_format(p->memory, "Not judged: %s.", v->unknown.items[i].text));
    if (v->unknown.count > MOST)
        document_note(p->doc,
                      arena_format(p->memory, "and %zu more that could not be judged.", v->unknown.count - MOST));
}

static void nccl_page_add_method(nccl_page *p)
{
    const nccl_view *v = p->v;
    document_note(
        p->doc,
        arena_format(p->memory,
                     "Read: %s files, %s of lines in %s, formats %s; %s lines could not be used. A rank's time is "
                     "waiting for the last rank, then the wire: of each call the shortest time "
                     "of all ranks is the wire, longest \xe2\x88\x92 shortest the skew, and the rank with the "
                     "shortest time came last. Sequence numbers are counted for each collective of a communicator. "
                     "Bus bandwidth is that of nccl-tests, recomputed from size and wire time. Quantiles are "
                     "interpolated linearly.",
                     number_grouped(v->files).text, number_grouped(v->lines).text,
                     number_volume((double)v->unpacked_bytes, "bytes").text, *v->versions ? v->versions : "not told",
                     number_grouped(v->unusable).text));
}

void nccl_page_add_lists(nccl_page *p)
{
    nccl_page_add_communicators(p);
    nccl_page_add_algorithms(p);
    nccl_page_add_ranks(p);
    nccl_page_add_pairs(p);
    nccl_page_add_metrics(p);
    nccl_page_add_missing(p);
    nccl_page_add_files(p);
    nccl_page_add_unknown(p);
    nccl_page_add_method(p);
}
