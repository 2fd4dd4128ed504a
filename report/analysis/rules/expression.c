#include "expression.h"

#include "analysis/base/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *text, *at;
    expression *e;
    const expression_names *names;
    expression_error *error;
    char *store; // where the next name goes
    int depth, iterating;
    bool failed;
} parser;

static const struct function {
    const char *name;
    expression_op op;
    uint32_t least, most; // arguments
    bool words;           // arguments are words, no formulas
    bool iterates;
} functions[] = {
    {"sum", EXPRESSION_SUM, 1, 64, false, false},       {"max", EXPRESSION_MAX, 1, 64, false, false},
    {"min", EXPRESSION_MIN, 1, 64, false, false},       {"mean", EXPRESSION_MEAN, 1, 64, false, false},
    {"count", EXPRESSION_COUNT, 1, 64, false, false},   {"first", EXPRESSION_FIRST, 1, 64, false, false},
    {"which", EXPRESSION_WHICH, 1, 64, false, false},   {"known", EXPRESSION_KNOWN, 1, 1, false, false},
    {"rate", EXPRESSION_RATE, 1, 1, false, false},      {"before", EXPRESSION_BEFORE, 1, 1, false, false},
    {"after", EXPRESSION_AFTER, 1, 1, false, false},    {"changed", EXPRESSION_CHANGED, 1, 1, false, false},
    {"fact", EXPRESSION_FACT, 1, 1, true, false},       {"is", EXPRESSION_IS, 2, 2, true, false},
    {"flagged", EXPRESSION_FLAGGED, 1, 1, true, false}, {"device", EXPRESSION_DEVICE, 1, 1, true, false},
    {"peers", EXPRESSION_PEERS, 1, 1, false, true},     {"spread", EXPRESSION_SPREAD, 1, 1, false, true},
    {"total", EXPRESSION_TOTAL, 1, 1, false, true},     {"used", EXPRESSION_USED, 1, 1, false, true},
    {"members", EXPRESSION_MEMBERS, 1, 1, false, true}, {"best", EXPRESSION_BEST, 2, 2, false, true},
    {"far", EXPRESSION_FAR, 1, 1, false, true},
};

static const char *const variables[] = {"value",    "T",     "CLK",  "R",      "SPEED", "DEVICES",
                                        "PHYSICAL", "SWEEP", "LINE", "LOSSES", "WIRE",  "WITHIN"};
static const char *const sources[] = {"cxi", "netdev", "ethtool", "rdma", "ip", "tcp"};
const char expression_timeless[] = "no time is known";
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static uint32_t expression_fail(parser *p, const char *text)
{
    if (!p->failed && p->error) {
        p->error->column = (size_t)(p->at - p->text) + 1;
        snprintf(p->error->text, sizeof p->error->text, "%s", text);
    }
    p->failed = true;
    return 0;
}

static uint32_t expression_add_node(parser *p, expression_op op, uint32_t first)
{
    if (p->failed) return 0;
    if (p->e->count + 1 >= EXPRESSION_NODES) return expression_fail(p, "the formula is too long");
    p->e->nodes[++p->e->count] = (expression_node){.op = op, .first = first};
    return p->e->count;
}

static uint32_t expression_add_pair(parser *p, expression_op op, uint32_t left, uint32_t right)
{
    if (p->failed) return 0;
    p->e->nodes[left].next = right;
    return expression_add_node(p, op, left);
}

static void expression_skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool expression_is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.:*?#/-[]", c));
}

static size_t expression_name_length(const char *text)
{
    size_t n = 0;
    while (expression_is_name(text[n]))
        n++;
    return n;
}

// Takes the word if the text goes on with it.
static bool expression_take_word(parser *p, const char *word)
{
    expression_skip_blanks(p);
    size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0 || expression_is_name(p->at[n])) return false;
    p->at += n;
    return true;
}

static bool expression_take_sign(parser *p, const char *sign)
{
    expression_skip_blanks(p);
    size_t n = strlen(sign);
    if (strncmp(p->at, sign, n) != 0) return false;
    p->at += n;
    return true;
}

static uint32_t expression_parse_or(parser *p);

static uint32_t expression_parse_number(parser *p)
{
    char *end;
    double number = strtod(p->at, &end);
    if (!isfinite(number)) return expression_fail(p, "a number that is too large");
    p->at = end;
    if (*p->at == '%') {
        p->at++;
        number /= 100;
    }
    if (expression_is_name(*p->at))
        return expression_fail(p, "a number runs into a name; operators stand between blanks");
    uint32_t node = expression_add_node(p, EXPRESSION_NUMBER, 0);
    if (node) p->e->nodes[node].number = number;
    return node;
}

static const char *expression_keep(parser *p, const char *text, size_t n)
{
    char *name = p->store;
    memcpy(name, text, n);
    name[n] = 0;
    p->store += n + 1;
    return name;
}

bool expression_is_source(const char *text, size_t length)
{
    for (size_t i = 0; i < LENGTH(sources); i++)
        if (strlen(sources[i]) == length && strncmp(text, sources[i], length) == 0) return true;
    return false;
}

// "ethtool/rx_discards_phy": a word in front names the source, or, by_device, the device.
static size_t expression_qualifier_length(const parser *p, const char *text, size_t n)
{
    const char *slash = memchr(text, '/', n);
    size_t length = slash ? (size_t)(slash - text) : 0;
    return p->names->by_device || expression_is_source(text, length) ? length : 0;
}

static uint32_t expression_counter_node(parser *p, const char *text, size_t n, bool plain)
{
    uint32_t node = expression_add_node(p, EXPRESSION_COUNTER, 0);
    if (!node) return 0;
    expression_node *made = &p->e->nodes[node];
    size_t qualifier = expression_qualifier_length(p, text, n);
    if (qualifier) {
        made->qualifier = expression_keep(p, text, qualifier);
        text += qualifier + 1;
        n -= qualifier + 1;
    }
    made->text = expression_keep(p, text, n);
    made->is_list = !plain && strpbrk(made->text, "*?[");
    return n ? node : expression_fail(p, "the name of a counter is missing");
}

static uint32_t expression_indexed_node(parser *p, expression_op op, size_t index)
{
    uint32_t node = expression_add_node(p, op, 0);
    if (node) p->e->nodes[node].index = (uint32_t)index;
    return node;
}

static uint32_t expression_parse_name(parser *p)
{
    const char *text = p->at;
    size_t n = expression_name_length(text);
    p->at += n;
    for (size_t i = 0; i < p->names->count; i++)
        if (strlen(p->names->locals[i]) == n && strncmp(p->names->locals[i], text, n) == 0) {
            if (p->names->iterate[i]) {
                if (p->iterating)
                    return expression_fail(p, "peers, spread, total, used, members, best and far do not nest");
                p->e->iterates = true;
            }
            return expression_indexed_node(p, EXPRESSION_LOCAL, i);
        }
    for (size_t i = 0; i < LENGTH(variables); i++)
        if (strlen(variables[i]) == n && strncmp(variables[i], text, n) == 0)
            return expression_indexed_node(p, EXPRESSION_VARIABLE, i);
    return expression_counter_node(p, text, n, false);
}

static uint32_t expression_parse_quoted(parser *p)
{
    const char *text = ++p->at;
    size_t n = strcspn(text, "'");
    if (!text[n]) return expression_fail(p, "a quote is not closed");
    p->at += n + 1;
    return expression_counter_node(p, text, n, true);
}

static uint32_t expression_parse_argument_word(parser *p)
{
    expression_skip_blanks(p);
    size_t n = expression_name_length(p->at);
    if (!n) return expression_fail(p, "expected a word");
    uint32_t node = expression_add_node(p, EXPRESSION_COUNTER, 0);
    if (node) p->e->nodes[node].text = expression_keep(p, p->at, n);
    p->at += n;
    return node;
}

static bool expression_is_gauge_function(expression_op op)
{
    return op == EXPRESSION_BEFORE || op == EXPRESSION_AFTER || op == EXPRESSION_CHANGED;
}

static uint32_t expression_parse_arguments(parser *p, const struct function *f)
{
    uint32_t first = 0, last = 0, count = 0;
    do {
        bool word = f->words || (f->op == EXPRESSION_BEST && !count);
        uint32_t node = word ? expression_parse_argument_word(p) : expression_parse_or(p);
        if (!node) return 0;
        if (expression_is_gauge_function(f->op) && p->e->nodes[node].op != EXPRESSION_COUNTER)
            return expression_fail(p, "expected the name of a counter");
        if (last)
            p->e->nodes[last].next = node;
        else
            first = node;
        last = node;
        count++;
    } while (expression_take_sign(p, ","));
    if (count < f->least || count > f->most) return expression_fail(p, "wrong number of arguments");
    if (!expression_take_sign(p, ")")) return expression_fail(p, "expected ) or a comma");
    return first;
}

static uint32_t expression_parse_function(parser *p, size_t n)
{
    for (size_t i = 0; i < LENGTH(functions); i++) {
        const struct function *f = &functions[i];
        if (strlen(f->name) != n || strncmp(f->name, p->at, n) != 0) continue;
        if (f->iterates && p->iterating)
            return expression_fail(p, "peers, spread, total, used, members, best and far do not nest");
        p->at += n + 1;
        p->iterating += f->iterates;
        uint32_t first = expression_parse_arguments(p, f);
        p->iterating -= f->iterates;
        if (f->iterates) p->e->iterates = true;
        if (f->op == EXPRESSION_DEVICE) p->e->changes = true;
        return first ? expression_add_node(p, f->op, first) : 0;
    }
    return expression_fail(p, "no such function");
}

static uint32_t expression_parse_primary(parser *p)
{
    expression_skip_blanks(p);
    if (isdigit((unsigned char)*p->at)) return expression_parse_number(p);
    if (*p->at == '\'') return expression_parse_quoted(p);
    if (expression_take_sign(p, "(")) {
        uint32_t node = expression_parse_or(p);
        return !node ? 0 : expression_take_sign(p, ")") ? node : expression_fail(p, "expected )");
    }
    if (!isalpha((unsigned char)*p->at) && *p->at != '_' && *p->at != '*' && *p->at != '?')
        return expression_fail(p, *p->at ? "expected a number, a name or (" : "the formula ends too early");
    size_t n = expression_name_length(p->at);
    return p->at[n] == '(' ? expression_parse_function(p, n) : expression_parse_name(p);
}

static uint32_t expression_parse_unary(parser *p)
{
    expression_skip_blanks(p);
    if (*p->at != '-') return expression_parse_primary(p);
    p->at++;
    uint32_t node = expression_parse_primary(p);
    return node ? expression_add_node(p, EXPRESSION_NEGATE, node) : 0;
}

static bool expression_take_binary(parser *p, char sign)
{
    expression_skip_blanks(p);
    if (*p->at != sign) return false;
    if (p->at[1] && !strchr(" ('", p->at[1])) {
        expression_fail(p, "operators stand between blanks");
        return false;
    }
    p->at++;
    return true;
}

static uint32_t expression_parse_product(parser *p)
{
    uint32_t left = expression_parse_unary(p);
    while (left && !p->failed) {
        expression_op op = expression_take_binary(p, '*') ? EXPRESSION_MULTIPLY : EXPRESSION_DIVIDE;
        if (op == EXPRESSION_DIVIDE && !expression_take_binary(p, '/')) return p->failed ? 0 : left;
        uint32_t right = expression_parse_unary(p);
        left = right ? expression_add_pair(p, op, left, right) : 0;
    }
    return 0;
}

static uint32_t expression_parse_sum(parser *p)
{
    uint32_t left = expression_parse_product(p);
    while (left && !p->failed) {
        expression_op op = expression_take_binary(p, '+') ? EXPRESSION_ADD : EXPRESSION_SUBTRACT;
        if (op == EXPRESSION_SUBTRACT && !expression_take_binary(p, '-')) return p->failed ? 0 : left;
        uint32_t right = expression_parse_product(p);
        left = right ? expression_add_pair(p, op, left, right) : 0;
    }
    return 0;
}

static uint32_t expression_parse_comparison(parser *p)
{
    static const struct {
        const char *sign;
        expression_op op;
    } signs[] = {{"<=", EXPRESSION_LESS_EQUAL},
                 {">=", EXPRESSION_GREATER_EQUAL},
                 {"==", EXPRESSION_EQUAL},
                 {"<", EXPRESSION_LESS},
                 {">", EXPRESSION_GREATER}};
    uint32_t left = expression_parse_sum(p);
    for (size_t i = 0; left && i < LENGTH(signs); i++) {
        if (!expression_take_sign(p, signs[i].sign)) continue;
        uint32_t right = expression_parse_sum(p);
        return right ? expression_add_pair(p, signs[i].op, left, right) : 0;
    }
    return left;
}

static uint32_t expression_parse_not(parser *p)
{
    if (!expression_take_word(p, "not")) return expression_parse_comparison(p);
    uint32_t node = expression_parse_comparison(p);
    return node ? expression_add_node(p, EXPRESSION_NOT, node) : 0;
}

static uint32_t expression_parse_and(parser *p)
{
    uint32_t left = expression_parse_not(p);
    while (left && expression_take_word(p, "and")) {
        uint32_t right = expression_parse_not(p);
        left = right ? expression_add_pair(p, EXPRESSION_AND, left, right) : 0;
    }
    return left;
}

static uint32_t expression_parse_or(parser *p)
{
    if (p->depth == EXPRESSION_DEPTH) return expression_fail(p, "brackets are nested too deeply");
    p->depth++;
    uint32_t left = expression_parse_and(p);
    while (left && expression_take_word(p, "or")) {
        uint32_t right = expression_parse_and(p);
        left = right ? expression_add_pair(p, EXPRESSION_OR, left, right) : 0;
    }
    p->depth--;
    return left;
}

bool expression_parse(expression *e, const char *text, const expression_names *names, expression_error *error)
{
    static const expression_names none = {0};
    parser p = {.text = text, .at = text, .e = e, .names = names ? names : &none, .error = error};
    *e = (expression){.nodes = memory_calloc(EXPRESSION_NODES, sizeof *e->nodes),
                      .texts = memory_alloc(2 * strlen(text) + 2)}; // each name ends with a zero of its own
    p.store = e->texts;
    e->root = expression_parse_or(&p);
    expression_skip_blanks(&p);
    if (!p.failed && *p.at) expression_fail(&p, "expected an operator");
    if (p.failed) {
        expression_free(e);
        return false;
    }
    e->nodes = memory_array(e->nodes, e->count + 1, sizeof *e->nodes);
    return true;
}

void expression_free(expression *e)
{
    free(e->nodes);
    free(e->texts);
    *e = (expression){0};
}
