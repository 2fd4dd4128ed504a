#include "model.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_quantities = 160 };

typedef struct quantity {
    const char *name;
    double value;
} quantity;

typedef struct context {
    const model_step *step;
    model_result *result;
    quantity quantities[max_quantities];
    int quantity_count;
    uint64_t random;
    const char *formula, *at; /* being read */
    ptrdiff_t item;           /* the counter being computed, -1 for a quantity */
} context;

uint64_t model_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double model_uniform(uint64_t *state)
{
    return (double)(model_random(state) >> 11) * 0x1p-53;
}

/* Rounds up or down by chance, so that slow rates keep their mean over short steps. A whole number stays. */
static double whole(context *c, double x)
{
    double u = model_uniform(&c->random);
    return x > 0 ? (double)(uint64_t)(x + u * 0.999999) : 0;
}

/* First item whose name is not less than the given prefix. */
static size_t lower_bound(const model_item *items, size_t count, const char *name, size_t length)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = (low + count) / 2;
        if (strncmp(items[middle].name, name, length) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

ptrdiff_t model_find(const model_item *items, size_t count, const char *name, size_t length)
{
    size_t i = lower_bound(items, count, name, length);
    /* a name sorts before all that it is a prefix of */
    if (i < count && strncmp(items[i].name, name, length) == 0 && items[i].name[length] == 0) return (ptrdiff_t)i;
    return -1;
}

/* Next item from *i on that matches; the items are sorted, so only those with the literal prefix are tried.
 */
static ptrdiff_t next_match(const model_step *step, const char *pattern, size_t *i)
{
    size_t prefix = strcspn(pattern, "*?[");
    if (*i == 0) *i = lower_bound(step->items, step->item_count, pattern, prefix);
    while (*i < step->item_count && strncmp(step->items[*i].name, pattern, prefix) == 0) {
        size_t found = (*i)++;
        if (fnmatch(pattern, step->items[found].name, 0) == 0) return (ptrdiff_t)found;
    }
    return -1;
}

static double fail(context *c)
{
    if (!c->result->error) c->result->error = c->formula;
    c->at = "";
    return 0;
}

static quantity *quantity_find(context *c, const char *name, size_t length)
{
    for (int i = 0; i < c->quantity_count; i++)
        if (strncmp(c->quantities[i].name, name, length) == 0 && c->quantities[i].name[length] == 0)
            return &c->quantities[i];
    return NULL;
}

static void quantity_set(context *c, const char *name, double value)
{
    quantity *q = quantity_find(c, name, strlen(name));
    if (!q && c->quantity_count == max_quantities) {
        fail(c);
        return;
    }
    if (!q) {
        q = &c->quantities[c->quantity_count++];
        q->name = name;
    }
    q->value = value;
}

static int accept(context *c, char wanted)
{
    c->at += strspn(c->at, " ");
    if (*c->at != wanted) return 0;
    c->at++;
    return 1;
}

static double expression(context *c);

static double sum_of_matches(context *c)
{
    char pattern[80];
    size_t length = strcspn(c->at, ")"), i = 0;
    if (length >= sizeof pattern || c->at[length] != ')') return fail(c);
    memcpy(pattern, c->at, length);
    pattern[length] = 0;
    c->at += length;
    double total = 0;
    for (ptrdiff_t found; (found = next_match(c->step, pattern, &i)) >= 0;)
        total += (double)c->result->gains[found];
    return total;
}

static double value_before(context *c)
{
    size_t length = strcspn(c->at, ")");
    ptrdiff_t i = model_find(c->step->items, c->step->item_count, c->at, length);
    if (i < 0) return fail(c);
    c->at += length;
    return (double)c->step->values[i];
}

static double call(context *c, const char *name, size_t length)
{
    enum { SUM, VAL, MIN, MAX, NEAR, FLOOR, CEIL, COUNT, FUNCTIONS };
    static const struct {
        const char *name;
        int arguments; /* 0: takes a name */
    } functions[FUNCTIONS] = {{"sum", 0},  {"val", 0},   {"min", 2},  {"max", 2},
                              {"near", 2}, {"floor", 1}, {"ceil", 1}, {"count", 1}};
    int f = 0;
    while (f < FUNCTIONS && (strlen(functions[f].name) != length || strncmp(functions[f].name, name, length)))
        f++;
    if (f == FUNCTIONS) return fail(c);
    double a = 0, b = 0;
    if (f == SUM) a = sum_of_matches(c);
    if (f == VAL) a = value_before(c);
    if (functions[f].arguments > 0) a = expression(c);
    if (functions[f].arguments > 1) b = accept(c, ',') ? expression(c) : fail(c);
    if (!accept(c, ')')) return fail(c);
    double down = (double)(int64_t)a;
    switch (f) {
    case MIN: return a < b ? a : b;
    case MAX: return a > b ? a : b;
    case NEAR: return a * (1 + b * (2 * model_uniform(&c->random) - 1));
    case FLOOR: return down;
    case CEIL: return down < a ? down + 1 : down;
    case COUNT: return whole(c, a);
    default: return a;
    }
}

static double variable(context *c, const char *name, size_t length)
{
    const model_step *s = c->step;
    quantity *q = quantity_find(c, name, length);
    if (q) return q->value;
    ptrdiff_t i = model_find(s->items, s->item_count, name, length);
    if (i >= 0) return (double)c->result->gains[i];
    const struct {
        const char *name;
        double value;
    } known[] = {{"dt", c->item >= 0 ? s->intervals[c->item] : s->dt},
                 {"was", c->item >= 0 ? (double)s->values[c->item] : 0},
                 {"clk", s->clock_hz},
                 {"line", s->line_bits_per_s},
                 {"now", s->now},
                 {"first", s->first},
                 {"global", s->global_pause}};
    if (length == 3 && strncmp(name, "rnd", 3) == 0) return model_uniform(&c->random);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].name) == length && strncmp(known[k].name, name, length) == 0) return known[k].value;
    return fail(c);
}

static double primary(context *c)
{
    if (accept(c, '(')) {
        double value = expression(c);
        return accept(c, ')') ? value : fail(c);
    }
    if (accept(c, '-')) return -primary(c);
    if (isdigit((unsigned char)*c->at)) {
        char *end;
        double value = strtod(c->at, &end);
        c->at = end;
        return value;
    }
    const char *name = c->at;
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || (name[length] && strchr("_.:", name[length])))
        length++;
    if (length == 0) return fail(c);
    c->at += length;
    return accept(c, '(') ? call(c, name, length) : variable(c, name, length);
}

static double product(context *c)
{
    double value = primary(c);
    for (;;) {
        if (accept(c, '*'))
            value *= primary(c);
        else if (accept(c, '/'))
            value /= primary(c);
        else
            return value;
    }
}

static double expression(context *c)
{
    double value = product(c);
    for (;;) {
        if (accept(c, '+'))
            value += product(c);
        else if (accept(c, '-'))
            value -= product(c);
        else
            return value;
    }
}

static double evaluate(context *c, const char *formula, ptrdiff_t item)
{
    c->formula = c->at = formula;
    c->item = item;
    double value = expression(c);
    c->at += strspn(c->at, " ");
    return *c->at ? fail(c) : value;
}

/* Puts a counter just below its width, once: it is left alone when already in its upper half. */
static void set_to_top(context *c, const char *name, const char *margin)
{
    ptrdiff_t i = model_find(c->step->items, c->step->item_count, name, strlen(name));
    if (i < 0) {
        c->result->error = name;
        return;
    }
    double below = evaluate(c, margin, i);
    uint64_t max = c->step->items[i].max, value = c->step->values[i];
    if (value <= max / 2) c->result->gains[i] = max - (uint64_t)(below > 0 ? below : 0) - value;
}

static void set_items(context *c, const model_row *row, int add)
{
    size_t i = 0;
    int found = 0;
    for (ptrdiff_t item; (item = next_match(c->step, row->target, &i)) >= 0; found = 1) {
        double gain = whole(c, evaluate(c, row->formula, item));
        uint64_t *out = &c->result->gains[item];
        const model_item *it = &c->step->items[item];
        if (it->gauge)
            *out = gain > (double)it->max ? it->max : (uint64_t)gain;
        else
            *out = (add ? *out : 0) + (uint64_t)gain;
    }
    /* C2 only counters match nothing on C1 */
    if (!found && !strpbrk(row->target, "*?[")) c->result->error = row->target;
}

static void apply_row(context *c, const model_row *row, int add)
{
    if (strncmp(row->target, "@top ", 5) == 0)
        set_to_top(c, row->target + 5, row->formula);
    else if (strcmp(row->target, "@reset") == 0)
        c->result->reset = evaluate(c, row->formula, -1) > 0;
    else if (strcmp(row->target, "@restarts") == 0)
        c->result->restarts += (int)whole(c, evaluate(c, row->formula, -1));
    else if (strchr(row->target, '.'))
        quantity_set(c, row->target, evaluate(c, row->formula, -1));
    else
        set_items(c, row, add);
}

static void apply_rows(context *c, const model_row *rows)
{
    for (; rows->target && !c->result->error; rows++)
        apply_row(c, rows, 0);
}

static void apply_scenarios(context *c, int quantities)
{
    for (const model_scenario *const *s = c->step->scenarios; *s; s++)
        for (const model_row *row = (*s)->rows; row->target && !c->result->error; row++)
            if (quantities == (strchr(row->target, '.') != NULL)) apply_row(c, row, 1);
}

static void gain(context *c, const char *format, const char *a, const char *b, double amount)
{
    char name[80];
    int length = snprintf(name, sizeof name, format, a, b);
    ptrdiff_t i = model_find(c->step->items, c->step->item_count, name, (size_t)length);
    if (i < 0)
        fail(c);
    else
        c->result->gains[i] += (uint64_t)amount;
}

static void apply_frames(context *c, const model_frames *row)
{
    static const struct {
        int below;
        const char *name;
    } bins[] = {{28, "27"},
                {36, "35"},
                {64, "36_to_63"},
                {65, "64"},
                {128, "65_to_127"},
                {256, "128_to_255"},
                {512, "256_to_511"},
                {1024, "512_to_1023"},
                {2048, "1024_to_2047"},
                {4096, "2048_to_4095"},
                {8192, "4096_to_8191"},
                {1 << 30, "8192_to_max"}};
    double count = evaluate(c, row->count, -1), octets = evaluate(c, row->octets, -1);
    size_t bin = 0;
    while (octets >= bins[bin].below)
        bin++;
    gain(c, "hni_%s_ok_%s", row->direction, bins[bin].name, count);
    gain(c, "hni_%s_ok_%s", row->direction, row->kind, count);
    gain(c, "hni_sts_%s_octets_%s", row->direction, row->kind, count * octets);
    gain(c, "hni_sts_%s_ok_octets%s", row->direction, "", count * octets);
}

static void apply_spread(context *c, const model_spread *row)
{
    ptrdiff_t bins[64];
    double weights[64], all = 0, running = 0, given = 0;
    int count = 0;
    double total = whole(c, evaluate(c, row->total, -1));
    double centre = evaluate(c, row->centre, -1), width = evaluate(c, row->width, -1);
    for (; count < 64; count++) {
        char name[80];
        int length = snprintf(name, sizeof name, "%s%d", row->family, count);
        bins[count] = model_find(c->step->items, c->step->item_count, name, (size_t)length);
        if (bins[count] < 0) break;
        double distance = (count - centre) / width;
        all += weights[count] = 1 / (1 + distance * distance);
    }
    double chance = model_uniform(&c->random);
    for (int i = 0; i < count; i++) {
        running += weights[i];
        double upto = i + 1 == count ? total : (double)(uint64_t)(total * (running / all) + chance);
        if (upto > total) upto = total;
        c->result->gains[bins[i]] = (uint64_t)(upto - given);
        given = upto;
    }
}

void model_run(const model_step *step, model_result *result)
{
    context c = {.step = step, .result = result, .random = step->random, .item = -1};
    result->error = NULL;
    result->restarts = result->reset = 0;
    for (size_t i = 0; i < step->item_count; i++)
        result->gains[i] = step->items[i].gauge ? step->values[i] : 0;
    apply_rows(&c, model_knobs);
    apply_scenarios(&c, 1);
    apply_rows(&c, model_quantities);
    for (const model_frames *row = model_frame_rows; row->direction && !result->error; row++)
        apply_frames(&c, row);
    apply_rows(&c, model_counters);
    for (const model_spread *row = model_spreads; row->family && !result->error; row++)
        apply_spread(&c, row);
    apply_scenarios(&c, 0);
}

const model_scenario *model_scenario_find(const char *name, size_t length)
{
    for (const model_scenario *s = model_scenarios; s->name; s++)
        if (strlen(s->name) == length && strncmp(s->name, name, length) == 0) return s;
    return NULL;
}
