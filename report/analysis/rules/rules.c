#include "rules.h"

#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Made from the .csv files by the build.
#include "rules_cxi.inc"
#include "rules_data.inc"
#include "rules_ethernet.inc"
#include "rules_ip.inc"
#include "rules_node.inc"
#include "rules_rdma.inc"
#include "analysis/base/words.h"

static const struct {
    const char *name;
    const char *const *lines;
} tables[] = {{"rules_cxi.csv", rules_cxi_lines},   {"rules_ethernet.csv", rules_ethernet_lines},
              {"rules_rdma.csv", rules_rdma_lines}, {"rules_ip.csv", rules_ip_lines},
              {"rules_node.csv", rules_node_lines}, {"rules_data.csv", rules_data_lines}};

static const char *const severities[SEVERITIES] = {"ok", "info", "unknown", "watch", "warn", "high", "critical"};
static const char *const classes[] = {"command",    "link-down", "link-errors", "host-loss", "back-pressure",
                                      "congestion", "transport", "utilisation", "data"};

const char *rules_class_name(int rank)
{
    return rank >= 0 && (size_t)rank < sizeof classes / sizeof *classes ? classes[rank] : "data";
}

int rules_class_rank(const char *class_name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i], class_name) == 0) return (int)i;
    return -1;
}
#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum column {
    NAME,
    CLASS,
    SOURCE,
    PER,
    DEFINE,
    VALUE,
    UNIT,
    NEEDS,
    INFO,
    WATCH,
    WARN,
    HIGH,
    CRITICAL,
    COST,
    CLAIM,
    ALIKE,
    ADVICE,
    EXPLAINED_BY,
    BACKGROUND,
    EVIDENCE,
    MARKS,
    WORDS,
    SHOWS,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {"name",       "class",    "source", "per",   "define", "value",
                                                  "unit",       "needs",    "info",   "watch", "warn",   "high",
                                                  "critical",   "cost",     "claim",  "alike", "advice", "explained_by",
                                                  "background", "evidence", "marks",  "words", "shows"};

enum { MAX_FIELDS = 32, MAX_LINE = 16384, MAX_FILE = 4 << 20, MAX_RULES = 4096, MAX_PROBLEMS = 1000 };

const char *severity_name(severity s)
{
    return s >= SEVERITY_OK && s < SEVERITIES ? severities[s] : "";
}

const char *rules_words(const rule *x)
{
    return x->words && *x->words ? x->words : x->name;
}

static bool rules_judges_alone(const rule *x, const char *counter)
{
    size_t own = 0;
    for (uint32_t i = 1; i <= x->value.count; i++) {
        const expression_node *n = &x->value.nodes[i];
        if (n->op == EXPRESSION_LOCAL) return false;
        if (n->op != EXPRESSION_COUNTER) continue;
        if (n->is_list || strcmp(n->text, counter) != 0) return false;
        own++;
    }
    return own > 0;
}

const char *rules_words_of(const rules *set, const char *source, const char *counter)
{
    for (size_t i = 0; set && i < set->count; i++) {
        const rule *x = set->items[i];
        if (x->words && *x->words && strcmp(x->source, source) == 0 && rules_judges_alone(x, counter)) return x->words;
    }
    return NULL;
}

bool severity_parse(const char *text, severity *s)
{
    for (int i = 0; i < SEVERITIES; i++) {
        if (strcmp(severities[i], text) != 0) continue;
        *s = (severity)i;
        return true;
    }
    return false;
}

// ---- one table being read ----

typedef struct reader {
    rules *set;
    const char *path;
    size_t line;
    int place[MAX_FIELDS]; // column of each field, -1: not yet known
    size_t field_count;
    size_t accepted;
    char problem[256]; // of the line at hand
} reader;

__attribute__((format(printf, 2, 3))) static bool rules_refuse(reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->problem, sizeof r->problem, format, arguments);
    va_end(arguments);
    return false;
}

static void rules_add_problem(reader *r)
{
    rules *set = r->set;
    if (set->problem_count >= MAX_PROBLEMS) return;
    rules_problem made = {memory_strdup(r->path), r->line, memory_strdup(r->problem)};
    arrput(set->problems, made);
    set->problem_count = arrlenu(set->problems);
}

// Cuts the line in place (RFC 4180, no line breaks in fields).
static bool rules_split(reader *r, char *line, char *fields[MAX_FIELDS], size_t *count)
{
    char *to = line;
    for (*count = 0; *count < MAX_FIELDS;) {
        bool quoted = *line == '"', open = quoted;
        line += quoted;
        fields[(*count)++] = to;
        for (; *line && (open || *line != ','); line++) {
            if (open && *line == '"' && line[1] == '"')
                line++;
            else if (open && *line == '"') {
                open = false;
                continue;
            } else if (quoted && !open)
                return rules_refuse(r, "text behind a closing quote");
            *to++ = *line;
        }
        if (open) return rules_refuse(r, "a quoted field is not closed in this line");
        bool last = !*line;
        *to++ = 0;
        if (last) return true;
        line++;
    }
    return rules_refuse(r, "more than %d fields", MAX_FIELDS);
}

// ---- formulas of a rule ----

// The locals, for the parser.
typedef struct scope {
    bool iterate[RULES_LOCALS];
    expression_names names;
} scope;

static void rules_scope_of(const rule *x, scope *to)
{
    for (size_t i = 0; i < x->local_count; i++)
        to->iterate[i] = x->locals[i].iterates;
    to->names = (expression_names){x->local_names, to->iterate, x->local_count, x->per_node};
}

static bool rules_parse(reader *r, const rule *x, expression *e, enum column column, const char *text)
{
    scope names;
    expression_error error = {0};
    rules_scope_of(x, &names);
    if (expression_parse(e, text, &names.names, &error)) return true;
    return rules_refuse(r, "%s: character %zu of '%.60s': %s", column_names[column], error.column, text, error.text);
}

static char *rules_trim(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    text[n] = 0;
    return text;
}

static bool rules_is_word(const char *text)
{
    if (!isalpha((unsigned char)*text)) return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '-') return false;
    return true;
}

// "name = formula; name = formula"
static bool rules_parse_define(reader *r, rule *x, char *text)
{
    while (text && *rules_trim(text)) {
        char *end = strchr(text, ';'), *equal = strchr(text, '=');
        if (end) *end = 0;
        if (!equal || (end && equal > end)) return rules_refuse(r, "define: expected name = formula");
        if (x->local_count == RULES_LOCALS) return rules_refuse(r, "define: more than %d names", RULES_LOCALS);
        *equal = 0;
        char *name = rules_trim(text);
        if (!rules_is_word(name)) return rules_refuse(r, "define: '%.40s' is no name", name);
        if (!rules_parse(r, x, &x->locals[x->local_count], DEFINE, rules_trim(equal + 1))) return false;
        x->local_names[x->local_count++] = name;
        text = end ? end + 1 : NULL;
    }
    return true;
}

static bool rules_parse_operator(const char **text, expression_op *op)
{
    static const struct {
        const char *sign;
        expression_op op;
    } signs[] = {{">=", EXPRESSION_GREATER_EQUAL},
                 {"<=", EXPRESSION_LESS_EQUAL},
                 {">", EXPRESSION_GREATER},
                 {"<", EXPRESSION_LESS}};
    for (size_t i = 0; i < LENGTH(signs); i++) {
        size_t n = strlen(signs[i].sign);
        if (strncmp(*text, signs[i].sign, n) != 0) continue;
        *text += n;
        *op = signs[i].op;
        return true;
    }
    return false;
}

// "> 3 [HPE: more than a few] if blocked > 1%"
static bool rules_parse_threshold(reader *r, const rule *x, rule_threshold *t, enum column column, char *text)
{
    const char *at = rules_trim(text);
    char *end;
    if (!*at) return true;
    if (!rules_parse_operator(&at, &t->op)) return rules_refuse(r, "%s: expected >, >=, < or <=", column_names[column]);
    t->value = strtod(at, &end);
    if (end == at || !isfinite(t->value)) return rules_refuse(r, "%s: expected a number", column_names[column]);
    if (*end == '%') {
        t->value /= 100;
        end++;
    }
    end += strspn(end, " ");
    t->origin = "own";
    if (*end == '{') {
        char *close = strchr(end, '}');
        if (!close) return rules_refuse(r, "%s: { without }", column_names[column]);
        *close = 0;
        t->shown = end + 1;
        end = close + 1;
        end += strspn(end, " ");
    }
    if (*end == '[') {
        char *close = strchr(end, ']');
        if (!close) return rules_refuse(r, "%s: [ without ]", column_names[column]);
        *close = 0;
        t->origin = end + 1;
        end = close + 1;
        end += strspn(end, " ");
    }
    if (!*end) return true;
    if (strncmp(end, "if ", 3) != 0) return rules_refuse(r, "%s: expected 'if' and a condition", column_names[column]);
    t->if_text = end + 3;
    return rules_parse(r, x, &t->condition, column, end + 3);
}

static bool rules_is_format(const char *format)
{
    static const char *const formats[] = {"", "x", "%", "p", "i", "B", "b", "e", "t", "s", "-", "c"};
    if (*format == '#' || *format == '?') return format[1] && strlen(format) < 64;
    for (size_t i = 0; i < LENGTH(formats); i++)
        if (strcmp(formats[i], format) == 0) return true;
    return false;
}

// "[, lane {number}]": a stretch that is said where its number is known. Other brackets are text.
static void rules_find_optional(rule_part *part, char *text, char *open, char *close)
{
    char *lead = open, *end = close + strcspn(close, "]{[");
    while (lead > text && *lead != '[' && *lead != ']')
        lead--;
    if (*lead != '[' || *end != ']') return;
    *lead = *end = 0;
    part->lead = lead + 1;
    part->tail = close + 1;
}

// "text {formula|format} text ..."
static bool rules_parse_claim(reader *r, rule *x, char *text)
{
    while (*text) {
        if (x->part_count == RULES_PARTS) return rules_refuse(r, "claim: more than %d numbers", RULES_PARTS - 1);
        rule_part *part = &x->claim[x->part_count++];
        char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
        part->text = text;
        part->format = "";
        if (close) rules_find_optional(part, text, open, close);
        if (!open) return true;
        if (!close) return rules_refuse(r, "claim: { without }");
        *open = *close = 0;
        char *bar = strchr(open + 1, '|');
        if (bar) {
            *bar = 0;
            part->format = bar + 1;
            x->in_words |= strcmp(part->format, "c") == 0;
            if (!rules_is_format(part->format)) return rules_refuse(r, "claim: no such format: '%.20s'", part->format);
        }
        if (!rules_parse(r, x, &part->number, CLAIM, open + 1)) return false;
        text = part->tail ? close + 1 + strlen(part->tail) + 1 : close + 1;
    }
    return true;
}

static bool rules_parse_class(reader *r, rule *x, const char *text)
{
    x->class_name = *text ? text : "utilisation";
    for (size_t i = 0; i < LENGTH(classes); i++) {
        if (strcmp(classes[i], x->class_name) != 0) continue;
        x->class_rank = (int)i;
        return true;
    }
    return rules_refuse(
        r,
        "class: '%.40s' is none of link-down, link-errors, host-loss, back-pressure, congestion, transport, "
        "utilisation, data",
        text);
}

static bool rules_parse_words(reader *r, rule *x, char *const value[COLUMNS])
{
    if (!rules_is_word(value[NAME])) return rules_refuse(r, "name: '%.60s': expected a word", value[NAME]);
    x->name = value[NAME];
    x->source = value[SOURCE];
    x->unit = value[UNIT];
    x->advice = value[ADVICE];
    x->explained_by = value[EXPLAINED_BY];
    x->per_node = strcmp(value[PER], "node") == 0;
    x->of_peers = strcmp(value[PER], "peers") == 0;
    x->alike = value[ALIKE];
    x->words = value[WORDS];
    x->shows = value[SHOWS];
    x->is_pause = strcmp(value[MARKS], "pause") == 0;
    if (!*x->source) return rules_refuse(r, "source is missing");
    if (*value[PER] && !x->per_node && !x->of_peers && strcmp(value[PER], "device") != 0)
        return rules_refuse(r, "per: '%.40s': expected device, node or peers", value[PER]);
    if (*value[MARKS] && !x->is_pause) return rules_refuse(r, "marks: '%.40s': expected pause", value[MARKS]);
    return rules_parse_class(r, x, value[CLASS]);
}

static bool rules_parse_evidence(reader *r, rule *x, const char *text)
{
    if (!*text) return true;
    char *call = memory_format("sum(%s)", text); // the list as arguments of a function
    bool ok = rules_parse(r, x, &x->evidence, EVIDENCE, call);
    free(call);
    return ok;
}

// "< 100 [own]"; "yes" and "no" as in tables of version 0.1
static bool rules_parse_background(reader *r, rule *x, char *text)
{
    static const rule_threshold low = {.op = EXPRESSION_LESS, .value = 1, .origin = "own"};
    if (strcmp(text, "no") == 0) return true;
    if (strcmp(text, "yes") == 0) {
        x->background = low;
        return true;
    }
    return rules_parse_threshold(r, x, &x->background, BACKGROUND, text);
}

static bool rules_parse_rule(reader *r, rule *x, char *const value[COLUMNS])
{
    bool any = false;
    if (!rules_parse_words(r, x, value) || !rules_parse_define(r, x, value[DEFINE])) return false;
    if (!*value[VALUE]) return rules_refuse(r, "value is missing");
    if (!rules_parse(r, x, &x->value, VALUE, value[VALUE])) return false;
    if (*value[NEEDS] && !rules_parse(r, x, &x->needs, NEEDS, value[NEEDS])) return false;
    if (*value[COST] && !rules_parse(r, x, &x->cost, COST, value[COST])) return false;
    if (!rules_parse_background(r, x, value[BACKGROUND])) return false;
    static const struct {
        severity severity;
        enum column column;
    } steps[] = {{SEVERITY_INFO, INFO},
                 {SEVERITY_WATCH, WATCH},
                 {SEVERITY_WARN, WARN},
                 {SEVERITY_HIGH, HIGH},
                 {SEVERITY_CRITICAL, CRITICAL}};
    for (size_t i = 0; i < LENGTH(steps); i++) {
        severity s = steps[i].severity;
        enum column column = steps[i].column;
        if (!rules_parse_threshold(r, x, &x->thresholds[s], column, value[column])) return false;
        any |= x->thresholds[s].op != EXPRESSION_NUMBER;
    }
    if (!any) return rules_refuse(r, "there is no threshold");
    return rules_parse_claim(r, x, value[CLAIM]) && rules_parse_evidence(r, x, value[EVIDENCE]);
}

static void rules_free_rule(rule *x)
{
    if (!x) return;
    for (size_t i = 0; i < RULES_LOCALS; i++)
        expression_free(&x->locals[i]);
    for (size_t i = 0; i < RULES_PARTS; i++)
        expression_free(&x->claim[i].number);
    for (size_t i = 0; i < SEVERITIES; i++)
        expression_free(&x->thresholds[i].condition);
    expression_free(&x->value);
    expression_free(&x->needs);
    expression_free(&x->cost);
    expression_free(&x->background.condition);
    expression_free(&x->evidence);
    free(x->memory);
    free(x);
}

// The rule takes the place and the mark of one of the same name, or the next.
static bool rules_keep_rule(reader *r, rule *x)
{
    rules *set = r->set;
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i]->name, x->name) != 0) continue;
        x->is_pause |= set->items[i]->is_pause;
        rules_free_rule(set->items[i]);
        set->items[i] = x;
        return true;
    }
    if (set->count >= MAX_RULES) return rules_refuse(r, "more than %d rules", MAX_RULES);
    arrput(set->items, x);
    set->count = arrlenu(set->items);
    return true;
}

// ---- lines ----

static bool rules_read_header(reader *r, char *line)
{
    char *fields[MAX_FIELDS];
    if (!rules_split(r, line, fields, &r->field_count)) return false;
    bool seen[COLUMNS] = {false};
    for (size_t i = 0; i < r->field_count; i++) {
        int c = 0;
        while (c < COLUMNS && strcmp(column_names[c], rules_trim(fields[i])) != 0)
            c++;
        if (c == COLUMNS) return rules_refuse(r, "'%.60s' is no column of a table of rules", fields[i]);
        if (seen[c]) return rules_refuse(r, "column %s occurs twice", column_names[c]);
        seen[c] = true;
        r->place[i] = c;
    }
    if (!seen[NAME] || !seen[SOURCE] || !seen[VALUE])
        return rules_refuse(r, "the columns name, source and value are needed");
    return true;
}

static bool rules_read_rule(reader *r, const char *line, size_t size)
{
    static char empty[] = "";
    char *fields[MAX_FIELDS], *value[COLUMNS];
    size_t count;
    rule *x = memory_calloc(1, sizeof *x);
    x->memory = memory_alloc(size + 2); // the last field may be empty
    memcpy(x->memory, line, size);
    x->memory[size] = 0;
    for (int c = 0; c < COLUMNS; c++)
        value[c] = empty;
    bool ok = rules_split(r, x->memory, fields, &count);
    if (ok && count > r->field_count) ok = rules_refuse(r, "%zu fields, the first line has %zu", count, r->field_count);
    for (size_t i = 0; ok && i < count; i++)
        value[r->place[i]] = rules_trim(fields[i]);
    ok = ok && rules_parse_rule(r, x, value) && rules_keep_rule(r, x);
    if (!ok) rules_free_rule(x);
    return ok;
}

static void rules_read_line(reader *r, const char *line, size_t size)
{
    char copy[MAX_LINE];
    bool ok;
    r->line++;
    if (size && line[size - 1] == '\r') size--;
    size_t blanks = 0;
    while (blanks < size && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    if (blanks == size || line[blanks] == '#') return;
    if (size >= MAX_LINE)
        ok = rules_refuse(r, "the line is longer than %d characters", MAX_LINE - 1);
    else if (memchr(line, 0, size))
        ok = rules_refuse(r, "a zero byte");
    else if (r->field_count)
        ok = rules_read_rule(r, line, size);
    else {
        memcpy(copy, line, size);
        copy[size] = 0;
        ok = rules_read_header(r, copy);
        if (!ok) r->field_count = 0;
    }
    if (!ok)
        rules_add_problem(r);
    else
        r->accepted++;
}

static netprof_err rules_fail(netprof_error *error, netprof_err code, const char *path, const char *text, int number)
{
    if (!error) return code;
    *error = (netprof_error){.code = code, .sys_errno = number};
    snprintf(error->path, sizeof error->path, "%s", path);
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

netprof_err rules_read_text(rules *set, const char *path, const char *text, size_t size, netprof_error *error)
{
    reader r = {.set = set, .path = path};
    size_t problems = set->problem_count;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { // byte order mark
        text += 3;
        size -= 3;
    }
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t n = end ? (size_t)(end - text) - at : size - at;
        rules_read_line(&r, text + at, n);
        at += n + 1;
        if (!r.field_count && set->problem_count > problems) break; // without columns nothing can be read
    }
    if (r.accepted < 2) return rules_fail(error, NETPROF_ERR_PARSE, path, "holds no usable rule", 0);
    return NETPROF_OK;
}

netprof_err rules_read(rules *set, const char *path, netprof_error *error)
{
    FILE *file = readable_stream(path);
    char *text = NULL;
    size_t n = 1;
    if (!file) return rules_fail(error, NETPROF_ERR_IO, path, readable_error(errno), errno);
    while (n && arrlenu(text) <= MAX_FILE) {
        enum { PIECE = 65536 };
        char *at = arraddnptr(text, PIECE);
        n = fread(at, 1, PIECE, file);
        arrsetlen(text, arrlenu(text) - PIECE + n);
    }
    int number = ferror(file) ? errno : 0;
    fclose(file);
    netprof_err err = number                     ? rules_fail(error, NETPROF_ERR_IO, path, strerror(number), number)
                      : arrlenu(text) > MAX_FILE ? rules_fail(error, NETPROF_ERR_LIMIT, path, "larger than 4 MiB", 0)
                                                 : rules_read_text(set, path, text, arrlenu(text), error);
    arrfree(text);
    return err;
}

void rules_builtin(rules *set)
{
    for (size_t t = 0; t < LENGTH(tables); t++) {
        reader r = {.set = set, .path = tables[t].name};
        for (const char *const *line = tables[t].lines; *line; line++)
            rules_read_line(&r, *line, strlen(*line));
    }
}

void rules_free(rules *set)
{
    for (size_t i = 0; i < set->count; i++)
        rules_free_rule(set->items[i]);
    for (size_t i = 0; i < set->problem_count; i++) {
        free(set->problems[i].path);
        free(set->problems[i].text);
    }
    arrfree(set->items);
    arrfree(set->problems);
    *set = (rules){0};
}

const rule *rules_find(const rules *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i]->name, name) == 0) return set->items[i];
    return NULL;
}

// ---- numbers ----

// "1.23 %", and below the percents that one reads "5.00 in a million".
static words_text rules_part_text(double share)
{
    static const struct {
        double of;
        const char *name;
    } steps[] = {{1e6, "a million"}, {1e9, "a billion"}, {1e12, "a trillion"}};
    words_text w;
    double size = fabs(share);
    if (size >= 1e-4 || size < 1e-15) return words_share(share); // not small, 0, or not a number
    size_t i = 0;
    while (i + 1 < LENGTH(steps) && size * steps[i].of < 0.9995)
        i++;
    snprintf(w.text, sizeof w.text, "%.40s in %s", words_number(share * steps[i].of).text, steps[i].name);
    return w;
}

// Exactly one takes the singular: a rate of 0.5 has none.
static words_text rules_noun_text(const char *noun, double number)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", noun);
    for (char *slash = strchr(copy, '/'); slash; slash = NULL)
        *slash = '|';
    return words_noun(fabs(number - 1) < 1e-9 ? 1 : 2, copy);
}

static words_text rules_per_terabit(double per_bit)
{
    words_text w;
    snprintf(w.text, sizeof w.text, "%.60s per Tbit", words_count(1e12 * per_bit).text);
    return w;
}

const char *rules_format(char *text, size_t size, const char *format, double number)
{
    if (*format == '#') {
        snprintf(text, size, "%s %s", words_count(number).text, rules_noun_text(format + 1, number).text);
        return text;
    }
    words_text w = *format == '%'   ? words_share(number)
                   : *format == 'p' ? rules_part_text(number)
                   : *format == 'i' ? words_whole(number)
                   : *format == 'e' ? words_scientific(number)
                   : *format == 'B' ? words_quantity(number, "B")
                   : *format == 'b' ? words_quantity(number, "b")
                   : *format == 'x' ? words_number(number)
                   : *format == 's' ? words_duration(number)
                   : *format == 't' ? rules_per_terabit(number)
                   : *format == '-' ? (words_text){""}
                   : *format == '?' ? rules_noun_text(format + 1, number)
                                    : words_count(number);
    snprintf(text, size, "%s", w.text);
    return text;
}

const char *rules_threshold_text(const rule *x, const rule_threshold *t, const char *const signs[4],
                                 char text[RULES_THRESHOLD_TEXT])
{
    static const char *const plain[] = {"<", "<=", ">", ">="};
    char number[64];
    bool share = strncmp(x->unit, "of ", 3) == 0;
    *text = 0;
    if (t->op < EXPRESSION_LESS || t->op > EXPRESSION_GREATER_EQUAL) return text;
    if (t->shown) {
        snprintf(text, RULES_THRESHOLD_TEXT, "%s", t->shown);
        return text;
    }
    rules_format(number, sizeof number, share ? "p" : t->value != 0 && fabs(t->value) < 1e-3 ? "e" : "", t->value);
    snprintf(text, RULES_THRESHOLD_TEXT, "%s %s%s%s%s%s", (signs ? signs : plain)[t->op - EXPRESSION_LESS], number,
             *x->unit ? " " : "", x->unit, t->if_text ? ", if " : "", t->if_text ? t->if_text : "");
    return text;
}
