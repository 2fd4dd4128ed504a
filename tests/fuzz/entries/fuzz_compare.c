/* Files, whatever is in them, in two sets: by the first byte the difference of each and its findings, or each compared with
   itself, or one with the other as healthy and faulty runs. What is chosen and ranked is there once, in order; a comparison
   of a file with itself accuses nobody. */
#define _GNU_SOURCE
#include "few_counters.h"
#include "pieces.h"
#include "analysis/compare/compare.h"
#include "analysis/rules/findings.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DIFFERENCES, ITSELF }; // bits 5 and 6 of the first byte; otherwise: the one with the other

static rules all;

static void check_rows(const difference *d)
{
    size_t flagged = 0;
    for (size_t i = 0; i < d->delta->schema->counter_count; i++) {
        const difference_row *row = &d->rows[i];
        expect(row->unit && row->flag < DIFFERENCE_FLAGS && (row->compared || !row->changed));
        expect(isnan(row->rate_per_s) || isfinite(row->rate_per_s));
    }
    for (int i = 0; i < DIFFERENCE_FLAGS; i++)
        flagged += d->total.flagged[i];
    expect(flagged == d->total.counters && d->total.changed <= d->total.compared);
    expect(d->total.compared <= d->total.counters);
}

static void check_chosen(const difference *d, uint8_t choice)
{
    const difference_query query = {.order = choice & 2 ? DIFFERENCE_RAW : DIFFERENCE_BY_UNIT,
                                    .kinds = DIFFERENCE_ANY_KIND,
                                    .clock = DIFFERENCE_WITH_CLOCK,
                                    .unchanged = choice & 4};
    size_t count, sum_count, balance_count, n = d->delta->schema->counter_count;
    size_t *rows = difference_select(d, &query, &count);
    unsigned char *seen = calloc(1, n + 1);
    expect(rows && seen && count <= n);
    for (size_t i = 0; i < count; i++) {
        expect(rows[i] < n && !seen[rows[i]]);
        seen[rows[i]] = 1;
        expect(choice & 4 || d->rows[rows[i]].changed);
        if (choice & 2 && i > 0)
            expect(d->rows[rows[i]].raw_magnitude <= d->rows[rows[i - 1]].raw_magnitude || !(choice & 2));
    }
    difference_sum *sums = difference_sums(d, rows, count, 5, &sum_count);
    for (size_t i = 0; i < sum_count; i++)
        expect(sums[i].first < n && sums[i].most < n && sums[i].devices > 0);
    difference_balance *balances = difference_balances(d, &balance_count);
    for (size_t i = 0; i < balance_count; i++)
        expect(balances[i].min <= balances[i].max && balances[i].max <= balances[i].sum &&
               (isnan(balances[i].max_over_mean) || balances[i].max_over_mean >= 1 - 1e-9));
    free(balances);
    free(sums);
    free(seen);
    free(rows);
}

static void check_findings(const difference *d)
{
    findings f = {0};
    findings_make(&f, d, &all);
    for (size_t i = 0; i < f.count; i++) {
        expect(i == 0 || f.items[i].severity <= f.items[i - 1].severity);
        expect(*f.items[i].claim && !(f.items[i].cost_s < 0));
    }
    json_object *o = findings_json(&f);
    expect(o != NULL);
    json_object_put(o);
    findings_free(&f);
}

static void check_difference(const dataset *set, uint8_t choice)
{
    difference d = {0};
    netprof_error error = {.code = NETPROF_OK};
    if (difference_of_dataset(&d, set, choice & 1, &error)) {
        expect(*error.text);
        return;
    }
    check_rows(&d);
    check_chosen(&d, choice);
    check_findings(&d);
    difference_free(&d);
}

/* itself: both sides are the same files. */
static void check_comparison(const dataset *healthy, const dataset *faulty, uint8_t choice, int itself)
{
    comparison c = {0};
    const comparison_options how = {.basis = (comparison_basis)(choice >> 4 & 1), .force = choice & 1};
    netprof_error error = {.code = NETPROF_OK};
    netprof_err failed = comparison_add(&c, COMPARISON_HEALTHY, healthy, &how, &error);
    if (!failed) failed = comparison_add(&c, COMPARISON_FAULTY, faulty, &how, &error);
    if (!failed) failed = comparison_make(&c, &all, &how, &error);
    expect(!failed || *error.text);
    if (!failed) {
        expect(c.title && *c.title);
        json_object *o = comparison_json(&c, 5, choice & 8);
        expect(o != NULL);
        for (size_t i = 0; itself && i < c.line_count; i++)
            expect(c.lines[i].score == 0);
        json_object_put(o);
    }
    comparison_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pieces p;
    dataset sets[2] = {{0}, {0}};
    const dataset_options how = {.max_bytes = 64 << 20};
    if (!all.count) rules_builtin(&all);
    pieces_take(&p, data, size);
    for (size_t i = 0; i < p.count; i++)
        dataset_read_memory(&sets[i * 2 / p.count], "input", p.data[i], p.size[i], &how, NULL);
    int what = p.choice >> 5 & 3;
    for (int i = 0; i < 2 && what <= ITSELF; i++) {
        if (!sets[i].run_count) continue;
        if (what == DIFFERENCES) check_difference(&sets[i], p.choice);
        if (what == ITSELF) check_comparison(&sets[i], &sets[i], p.choice, 1);
    }
    if (what > ITSELF && sets[0].run_count && sets[1].run_count) check_comparison(&sets[0], &sets[1], p.choice, 0);
    for (int i = 0; i < 2; i++)
        dataset_free(&sets[i]);
    pieces_free(&p);
    return 0;
}
