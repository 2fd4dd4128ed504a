// The first page of what could not be judged: what was read, which questions are open, what opens them.
#include "render/base/arena.h"
#include "render/base/number.h"
#include "render/chart/charts_cause.h"
#include "render/pages/sheet.h"
#include "analysis/base/words.h"
#include "pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UNJUDGED_COLUMNS = 8, UNJUDGED_SOURCES = 10, UNJUDGED_MADE = 8, UNJUDGED_OPEN = 14, UNJUDGED_CAUSES = 5 };

typedef struct unjudged {
    pair *p;
    const pair_source *s; // whose devices are the columns; NULL: none
    size_t columns;       // 0: all in one
} unjudged;

static const char *unjudged_source_words(const char *source)
{
    static const char *const words[][2] = {{"cxi", "NIC hardware counters"},
                                           {"netdev", "Network interfaces"},
                                           {"ethtool", "Driver counters"},
                                           {"rdma", "RDMA ports"},
                                           {"ip", "IP stack"},
                                           {"tcp", "TCP connections"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], source) == 0) return words[i][1];
    return source;
}

static const pair_source *unjudged_source(const pair *p, const char *name)
{
    for (size_t i = 0; i < p->source_count; i++)
        if (strcmp(p->sources[i].name, name) == 0) return &p->sources[i];
    return NULL;
}

static unjudged unjudged_begin(pair *p)
{
    unjudged u = {.p = p};
    const findings *f = p->f;
    if (f->gap_count) u.s = unjudged_source(p, f->unknown[f->gaps[0].unknown].source);
    if (!u.s && p->source_count) u.s = &p->sources[0];
    if (u.s && u.s->count > 1 && u.s->count <= UNJUDGED_COLUMNS) u.columns = u.s->count;
    return u;
}

// ---- what was read ----

static cover_cell unjudged_read_cell(pair *p, size_t read, size_t of, size_t devices)
{
    const char *text = arena_format(p->memory, "%s of %s", number_grouped(read).text, number_grouped(of).text);
    if (devices > 1) text = arena_format(p->memory, "%s, of %zu devices", text, devices);
    return (cover_cell){.text = text, .state = 2 * read >= of ? COVER_KNOWN : COVER_HATCHED};
}

static const char *unjudged_why(pair *p, const char *source, size_t read, size_t of)
{
    const findings *f = p->f;
    for (size_t i = 0; i < f->gap_count; i++)
        if (strcmp(f->unknown[f->gaps[i].unknown].source, source) == 0) return f->gaps[i].cause;
    return read == of ? "all read" : arena_format(p->memory, "%zu not read", of - read);
}

static cover_row unjudged_source_row(const unjudged *u, const char *source)
{
    pair *p = u->p;
    const pair_source *s = unjudged_source(p, source);
    size_t read = 0, of = 0, devices = 0;
    bool split = u->columns && s && s->count == u->columns;
    cover_cell *cells = arena_make(p->memory, split ? u->columns : 1, sizeof *cells);
    for (size_t i = 0; i < p->schema->device_count; i++) {
        if (strcmp(p->schema->devices[i].source, source) != 0) continue;
        read += p->d->devices[i].compared;
        of += p->d->devices[i].counters;
        devices++;
    }
    for (size_t i = 0; split && i < u->columns; i++) {
        const difference_counts *n = &p->d->devices[s->devices[i]];
        cells[i] = unjudged_read_cell(p, n->compared, n->counters, 1);
    }
    if (!split) cells[0] = unjudged_read_cell(p, read, of, devices);
    const char *words = unjudged_source_words(source);
    const char *why = unjudged_why(p, source, read, of);
    return (cover_row){.label = words,
                       .sub = words == source ? "" : source,
                       .right = why,
                       .cells = cells,
                       .count = split ? u->columns : 1,
                       .strong = read < of && strcmp(why, "all read") != 0};
}

static void unjudged_add_read(const unjudged *u, document *doc)
{
    pair *p = u->p;
    cover_row rows[UNJUDGED_SOURCES];
    size_t count = 0;
    for (size_t i = 0; i < p->schema->device_count && count < UNJUDGED_SOURCES; i++) {
        const char *source = p->schema->devices[i].source;
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || strcmp(p->schema->devices[k].source, source) == 0;
        if (!again) rows[count++] = unjudged_source_row(u, source);
    }
    if (!count) return;
    document_add(doc,
                 chart_cover((chart_head){"read", "What was read",
                                          "counters with a value in both readings; hatched: most could not be read"},
                             u->columns ? u->s->labels : NULL, u->columns, rows, count, "why not", false));
}

// ---- the questions ----

// All of a rule's outcomes.
typedef struct unjudged_rule {
    const rule *rule;
    size_t made, open;
    severity worst;
} unjudged_rule;

static unjudged_rule unjudged_outcome(const findings *f, const rule *x)
{
    unjudged_rule o = {.rule = x};
    for (size_t i = 0; i < f->check_count; i++) {
        if (f->checks[i].rule != x) continue;
        o.made += f->checks[i].judged;
        o.open += !f->checks[i].judged;
        if (f->checks[i].judged && f->checks[i].severity > o.worst) o.worst = f->checks[i].severity;
    }
    return o;
}

// Without the noun: the question has it.
static const char *unjudged_value(pair *p, const finding_check *check)
{
    bool share = strncmp(check->rule->unit, "of ", 3) == 0;
    if (check->value == 0) return "0";
    return arena_text(p->memory, share ? number_percent(check->value).text : number_prefixed(check->value, "").text);
}

static const finding_check *unjudged_check(const findings *f, const rule *x, size_t device)
{
    for (size_t i = 0; i < f->check_count; i++)
        if (f->checks[i].rule == x && (f->checks[i].device == device || device == DIFFERENCE_NONE))
            return &f->checks[i];
    return NULL;
}

static cover_row unjudged_made_row(const unjudged *u, const unjudged_rule *o)
{
    pair *p = u->p;
    bool split = u->columns && strcmp(o->rule->source, u->s->name) == 0 && !o->rule->per_node;
    cover_cell *cells = arena_make(p->memory, split ? u->columns : 1, sizeof *cells);
    for (size_t i = 0; split && i < u->columns; i++) {
        const finding_check *check = unjudged_check(p->f, o->rule, u->s->devices[i]);
        cells[i] = check ? (cover_cell){unjudged_value(p, check), COVER_KNOWN, true, check->severity}
                         : (cover_cell){"", COVER_ABSENT, false, SEVERITY_OK};
    }
    if (!split) {
        const char *text = o->made == 1 ? unjudged_value(p, unjudged_check(p->f, o->rule, DIFFERENCE_NONE))
                                        : arena_format(p->memory, "%zu devices", o->made);
        cells[0] = (cover_cell){text, COVER_KNOWN, true, o->worst};
    }
    return (cover_row){.label = arena_format(p->memory, "%s?", rules_words(o->rule)),
                       .sub = "",
                       .right = o->rule->source,
                       .cells = cells,
                       .count = split ? u->columns : 1,
                       .severity = o->worst};
}

static cover_row unjudged_open_row(const unjudged *u, const rule *x)
{
    cover_cell *cell = arena_make(u->p->memory, 1, sizeof *cell);
    *cell = (cover_cell){x->shows, COVER_HATCHED, false, SEVERITY_UNKNOWN};
    return (cover_row){.label = arena_format(u->p->memory, "%s?", rules_words(x)),
                       .sub = "",
                       .right = x->source,
                       .cells = cell,
                       .count = 1,
                       .severity = SEVERITY_UNKNOWN};
}

static bool unjudged_has_words(const rule *x)
{
    return x->words && *x->words && x->shows && *x->shows;
}

static bool unjudged_is_listed(const rule *const *list, size_t count, const rule *x)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == x || strcmp(rules_words(list[i]), rules_words(x)) == 0) return true;
    return false;
}

// What was made first, then what is open, what hides most first.
static void unjudged_add_checks(const unjudged *u, document *doc)
{
    const findings *f = u->p->f;
    cover_row rows[UNJUDGED_MADE + UNJUDGED_OPEN];
    const rule *listed[UNJUDGED_MADE + UNJUDGED_OPEN];
    size_t count = 0, made = 0;
    for (size_t i = 0; i < f->check_count && made < UNJUDGED_MADE; i++) {
        const rule *x = f->checks[i].rule;
        unjudged_rule o = unjudged_outcome(f, x);
        if (o.open || !unjudged_has_words(x) || unjudged_is_listed(listed, count, x)) continue;
        listed[count] = x;
        rows[count++] = unjudged_made_row(u, &o);
        made++;
    }
    for (int hides = SEVERITY_CRITICAL; hides > SEVERITY_OK; hides--)
        for (size_t i = 0; i < f->unknown_count && count < made + UNJUDGED_OPEN; i++) {
            const rule *x = f->unknown[i].rule;
            if (!x || (int)f->unknown[i].hides != hides || !unjudged_has_words(x)) continue;
            if (unjudged_is_listed(listed, count, x)) continue;
            listed[count] = x;
            rows[count++] = unjudged_open_row(u, x);
        }
    if (!count) return;
    const char *question = arena_format(u->p->memory, "%s made, %zu could not be; hatched: what the value would show",
                                        words_many(f->judged, "check").text, f->unknown_checks);
    document_add(doc, chart_cover((chart_head){"questions", "Checks", question}, u->columns ? u->s->labels : NULL,
                                  u->columns, rows, count, "needs", true));
    document_note(doc, "The questions that weigh most are here; netprof check --all names every check.");
}

// ---- what to do ----

static void unjudged_add_remedies(const unjudged *u, document *doc)
{
    static const table_column columns[] = {{"opens", TABLE_NUMBER, 0},
                                           {"where", TABLE_TEXT, 0},
                                           {"because", TABLE_TEXT, .45},
                                           {"what to do", TABLE_TEXT, .55}};
    const findings *f = u->p->f;
    sheet t = sheet_open(4);
    for (size_t i = 0; i < f->gap_count && i < UNJUDGED_CAUSES; i++) {
        const finding_gap *gap = &f->gaps[i];
        const char *remedy = finding_gap_remedy(f, gap);
        sheet_text(&t, arena_text(u->p->memory, words_many(gap->checks, "check").text));
        sheet_text(&t, gap->where);
        sheet_text(&t, gap->why);
        sheet_text(&t, remedy ? remedy : NUMBER_UNKNOWN);
    }
    sheet_end(&t, doc, (chart_head){"remedies", "What to do", "what opens most checks that matter first"}, columns);
    if (f->gap_count)
        document_note(doc, "What is missing from these two files cannot be had later: take both readings again.");
}

bool pair_is_unjudged(const pair *p)
{
    return p->f->severity == SEVERITY_UNKNOWN && p->f->unknown_checks > p->f->judged;
}

void pair_unjudged(pair *p, document *doc)
{
    unjudged u = unjudged_begin(p);
    unjudged_add_read(&u, doc);
    unjudged_add_checks(&u, doc);
    unjudged_add_remedies(&u, doc);
}
