// Runs of both sides for tests of comparisons, made of situations; include cmocka.h and builtin_rules.h first.
#ifndef COMPARE_BENCH_H
#define COMPARE_BENCH_H

#include "analysis/compare/compare.h"
#include "situation.h"

#include <math.h>
#include <string.h>

static const int64_t SECOND = INT64_C(1000000000);

// ---- runs of both sides ----

enum { most_runs = 24 };

static inline netprof_snapshot snapshot_of(const char *root, const char *sources)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    config.root = root;
    config.sources = sources;
    config.hold = NETPROF_HOLD_NONE;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    netprof_close(np);
    return s;
}

// Files as a data set holds them: each with the two snapshots of a situation, or with one.
typedef struct files {
    dataset set;
    dataset_run runs[most_runs];
    netprof_snapshot snapshots[most_runs][2];
    netprof_delta deltas[most_runs];
} files;

typedef struct bench {
    files sides[COMPARISON_SIDES];
    comparison c;
    netprof_error error;
} bench;

static inline dataset_run *add_file(files *s, const char *path, const char *host)
{
    size_t i = s->set.run_count++;
    assert_true(i < most_runs);
    s->set.runs = s->runs;
    s->runs[i] = (dataset_run){.path = (char *)(uintptr_t)path,
                               .host = host,
                               .complete = true,
                               .snapshots = s->snapshots[i],
                               .deltas = &s->deltas[i]};
    return &s->runs[i];
}

static inline void add_run(bench *b, comparison_side which, const char *source, const char *text)
{
    situation x;
    dataset_run *file = add_file(&b->sides[which], which ? "bad" : "good", "node1");
    situation_make(&x, source, text);
    difference_free(&x.d);
    file->snapshots[0] = x.before;
    file->snapshots[1] = x.after;
    file->snapshot_count = 2;
}

// The last run of a side takes as long.
static inline void last_for(bench *b, comparison_side which, int seconds)
{
    dataset_run *file = &b->sides[which].runs[b->sides[which].set.run_count - 1];
    netprof_snapshot *after = &file->snapshots[1];
    int64_t shift = (seconds - situation_seconds) * SECOND;
    after->begin_ns += shift;
    after->end_ns += shift;
    after->wall_ns += shift;
    for (size_t d = 0; d < after->schema->device_count; d++) {
        after->device_begin_ns[d] += shift;
        after->device_end_ns[d] += shift;
    }
}

static inline netprof_err make(bench *b, const comparison_options *how)
{
    netprof_err err = NETPROF_OK;
    for (int which = 0; which < COMPARISON_SIDES && !err; which++)
        err = comparison_add(&b->c, (comparison_side)which, &b->sides[which].set, how, &b->error);
    return err ? err : comparison_make(&b->c, &built_in, how, &b->error);
}

static inline void clear(bench *b)
{
    comparison_free(&b->c);
    for (int which = 0; which < COMPARISON_SIDES; which++)
        for (size_t i = 0; i < most_runs; i++)
            for (int e = 0; e < 2; e++)
                netprof_snapshot_free(&b->sides[which].snapshots[i][e]);
    memset(b, 0, sizeof *b);
}

// One run on each side.
static inline void compare_two(bench *b, const char *source, const char *healthy, const char *faulty)
{
    memset(b, 0, sizeof *b);
    add_run(b, COMPARISON_HEALTHY, source, healthy);
    add_run(b, COMPARISON_FAULTY, source, faulty);
    assert_int_equal(make(b, NULL), NETPROF_OK);
}

static inline const comparison_line *find_line(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->line_count; i++)
        if (strcmp(c->lines[i].name, name) == 0) return &c->lines[i];
    return NULL;
}

static inline const comparison_cell *cell_of(const comparison *c, const char *name)
{
    const comparison_line *line = find_line(c, name);
    assert_non_null(line);
    return &line->cells[line->worst];
}

static inline const comparison_check *find_check(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->check_count; i++)
        if (strcmp(c->checks[i].rule->name, name) == 0) return &c->checks[i];
    return NULL;
}

static inline bool says(const comparison *c, const char *words)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (strstr(c->sentences[i].text, words)) return true;
    for (size_t i = 0; i < c->note_count; i++)
        if (strstr(c->notes[i], words)) return true;
    return false;
}

static inline const comparison_answer *find_answer(const comparison *c, const char *question)
{
    for (size_t i = 0; i < c->answer_count; i++)
        if (strcmp(c->answers[i].question, question) == 0) return &c->answers[i];
    return NULL;
}

static inline void is_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected))) fail_msg("%.9g, expected %.9g", value, expected);
}

#endif
