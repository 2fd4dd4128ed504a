// A table of rules, whole: every column lands in its member, in any order; limits at, below and above; and every fault of a line
// in its own words.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/text.h"
#include "analysis/rules/rules.h"

static netprof_err read_text(rules *set, const char *text, netprof_error *error)
{
    return rules_read_text(set, "mine.csv", text, strlen(text), error);
}

static void is_threshold(const rule_threshold *t, expression_op op, double value, const char *origin, const char *shown,
                         const char *condition)
{
    assert_int_equal(t->op, op);
    assert_true(fabs(t->value - value) < 1e-12);
    assert_string_equal(t->origin, origin);
    assert_string_equal(t->shown ? t->shown : "-", shown);
    assert_string_equal(t->if_text ? t->if_text : "-", condition);
    assert_int_equal(t->condition.root != 0, strcmp(condition, "-") != 0);
}

static void is_part(const rule_part *p, const char *text, const char *lead, const char *format, const char *tail)
{
    assert_string_equal(p->text, text);
    assert_string_equal(p->lead ? p->lead : "-", lead);
    assert_string_equal(p->format, format);
    assert_string_equal(p->tail ? p->tail : "-", tail);
}

static void every_column(void **state)
{
    rules set = {0};
    (void)state;
    assert_int_equal(
        read_text(
            &set,
            "\xef\xbb\xbf# a mark of the byte order, and a comment\n"
            "\t # blanks before one\r\n"
            " marks , evidence,background,explained_by,advice,alike,claim,cost,critical,high,warn,watch,info,needs,"
            "unit,value,define,per,source,class,shows,words,name\n"
            "pause,\"a, b\",< 100 [field],\"other, third\",Do it,all of them,"
            "\"{x|i} of {y} [, lane {z|%}] in {value|c}, so\",x / 10,> 6 {six} [HPE: six] if x > 1,>= 5%,<= 4 [own],"
            "< 3 if y < 2,> 2 {two},x > 0,%,x + y,x = a + b; y = a,node,netdev,transport,a shows,a words,rule-a\n"
            "\n"
            ",,yes,,,,,,,,> 7,,,,,c,,peers,cxi,,,,rule-b\n"
            ",,no,,,,,,,,,,> 8,,,d,,device,*,data,,, rule-c \n",
            NULL),
        NETPROF_OK);
    assert_int_equal(set.problem_count, 0);
    assert_int_equal(set.count, 3);
    const rule *a = set.items[0], *b = set.items[1], *c = set.items[2];
    assert_string_equal(a->name, "rule-a");
    assert_string_equal(a->words, "a words");
    assert_string_equal(a->shows, "a shows");
    assert_string_equal(a->class_name, "transport");
    assert_int_equal(a->class_rank, 6);
    assert_string_equal(a->source, "netdev");
    assert_string_equal(a->unit, "%");
    assert_string_equal(a->alike, "all of them");
    assert_string_equal(a->advice, "Do it");
    assert_string_equal(a->explained_by, "other, third");
    assert_true(a->per_node && !a->of_peers && a->is_pause && a->in_words);
    assert_int_equal(a->local_count, 2);
    assert_string_equal(a->local_names[0], "x");
    assert_string_equal(a->local_names[1], "y");
    assert_true(a->locals[0].root && a->locals[1].root && !a->locals[2].root);
    assert_true(a->value.root && a->needs.root && a->evidence.root && a->cost.root);
    is_threshold(&a->thresholds[SEVERITY_INFO], EXPRESSION_GREATER, 2, "own", "two", "-");
    is_threshold(&a->thresholds[SEVERITY_WATCH], EXPRESSION_LESS, 3, "own", "-", "y < 2");
    is_threshold(&a->thresholds[SEVERITY_WARN], EXPRESSION_LESS_EQUAL, 4, "own", "-", "-");
    is_threshold(&a->thresholds[SEVERITY_HIGH], EXPRESSION_GREATER_EQUAL, 0.05, "own", "-", "-");
    is_threshold(&a->thresholds[SEVERITY_CRITICAL], EXPRESSION_GREATER, 6, "HPE: six", "six", "x > 1");
    is_threshold(&a->background, EXPRESSION_LESS, 100, "field", "-", "-");
    assert_int_equal(a->thresholds[SEVERITY_OK].op, EXPRESSION_NUMBER);
    assert_int_equal(a->thresholds[SEVERITY_UNKNOWN].op, EXPRESSION_NUMBER);
    assert_int_equal(a->part_count, 5);
    is_part(&a->claim[0], "", "-", "i", "-");
    is_part(&a->claim[1], " of ", "-", "", "-");
    is_part(&a->claim[2], " ", ", lane ", "%", "");
    is_part(&a->claim[3], " in ", "-", "c", "-");
    is_part(&a->claim[4], ", so", "-", "", "-");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(a->claim[i].number.root != 0, i < 4);
    assert_string_equal(b->name, "rule-b");
    assert_string_equal(b->class_name, "utilisation");
    assert_int_equal(b->class_rank, 7);
    assert_true(!b->per_node && b->of_peers && !b->is_pause && !b->in_words);
    is_threshold(&b->background, EXPRESSION_LESS, 1, "own", "-", "-");
    is_threshold(&b->thresholds[SEVERITY_WARN], EXPRESSION_GREATER, 7, "own", "-", "-");
    assert_int_equal(b->thresholds[SEVERITY_HIGH].op, EXPRESSION_NUMBER);
    assert_true(!b->needs.root && !b->cost.root && !b->evidence.root && !b->part_count && !b->local_count);
    assert_string_equal(b->unit, "");
    assert_string_equal(c->name, "rule-c");
    assert_int_equal(c->class_rank, 8);
    assert_true(!c->per_node && !c->of_peers);
    assert_int_equal(c->background.op, EXPRESSION_NUMBER);
    assert_ptr_equal(rules_find(&set, "rule-b"), b);
    assert_null(rules_find(&set, "rule"));
    rules_free(&set);
    assert_int_equal(set.count, 0);
    assert_null(set.items);
}

// A line of so many definitions, or numbers in its claim: refused beyond what there is room for.
static void as_many_as_there_is_room_for(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        rules set = {0};
        char *text = NULL;
        text_append(&text, "name,define,claim,source,value,warn\nlocals,");
        for (int i = 0; i < RULES_LOCALS + over; i++)
            text_append(&text, "%sn%d = a", i ? "; " : "", i);
        text_append(&text, ",,cxi,a,> 1\nparts,,\"");
        for (int i = 0; i < RULES_PARTS - 1 + over; i++)
            text_append(&text, "%d {a}", i);
        text_append(&text, " end\",cxi,a,> 1\nthird,,,cxi,a,> 1\n");
        assert_int_equal(read_text(&set, text, NULL), NETPROF_OK);
        assert_int_equal(set.count, over ? 1 : 3);
        assert_int_equal(set.problem_count, over ? 2 : 0);
        if (over) {
            assert_string_equal(set.problems[0].text, "define: more than 8 names");
            assert_string_equal(set.problems[1].text, "claim: more than 15 numbers");
            assert_int_equal(set.problems[0].line, 2);
            assert_int_equal(set.problems[1].line, 3);
        } else {
            assert_int_equal(set.items[0]->local_count, RULES_LOCALS);
            assert_int_equal(set.items[1]->part_count, RULES_PARTS);
            assert_string_equal(set.items[1]->claim[RULES_PARTS - 1].text, " end");
        }
        free(text);
        rules_free(&set);
    }
}

// The first line: what is wrong with it, and that nothing else is read then.
static void first_lines_in_their_words(void **state)
{
    static const char *const rows[][2] = {
        {"name,source,value,strange", "'strange' is no column of a table of rules"},
        {"name,source,value,warn,source", "column source occurs twice"},
        {"source,value,warn", "the columns name, source and value are needed"},
        {"name,value,warn", "the columns name, source and value are needed"},
        {"name,source,warn", "the columns name, source and value are needed"},
        {"name,\"source,value", "a quoted field is not closed in this line"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rules set = {0};
        netprof_error error = {.code = NETPROF_OK};
        char text[256];
        snprintf(text, sizeof text, "# ours\n%s\nx,cxi,a,> 1\ny,cxi,b,> 1\n", rows[i][0]);
        assert_int_equal(read_text(&set, text, &error), NETPROF_ERR_PARSE);
        assert_int_equal(error.code, NETPROF_ERR_PARSE);
        assert_int_equal(error.sys_errno, 0);
        assert_string_equal(error.path, "mine.csv");
        assert_string_equal(error.text, "holds no usable rule");
        assert_int_equal(set.count, 0);
        assert_int_equal(set.problem_count, 1);
        assert_int_equal(set.problems[0].line, 2);
        assert_string_equal(set.problems[0].path, "mine.csv");
        assert_string_equal(set.problems[0].text, rows[i][1]);
        rules_free(&set);
    }
}

static void faults_of_a_line_in_their_words(void **state)
{
    static const char *const rows[][2] = {
        {"x,cxi,a,1,,,", "warn: expected >, >=, < or <="},
        {"x,cxi,a,> inf,,,", "warn: expected a number"},
        {"x,cxi,a,> 1 when b,,,", "warn: expected 'if' and a condition"},
        {"x,cxi,a,> 1,{value,,", "claim: { without }"},
        {"x,cxi,a,> 1,{value|quite-a-long-wrong-format},,", "claim: no such format: 'quite-a-long-wrong-f'"},
        {"x,cxi,a,> 1,,y,", "define: expected name = formula"},
        {"x,cxi,a,> 1,,y; z = 1,", "define: expected name = formula"},
        {"x,cxi,a,> 1,,2y = 1,", "define: '2y' is no name"},
        {"x,cxi,a,> 1,,y z = 1,", "define: 'y z' is no name"},
        {"x,cxi,a,> 1,,,each", "per: 'each': expected device, node or peers"},
        {"x y,cxi,a,> 1,,,", "name: 'x y': expected a word"},
        {"x,,a,> 1,,,", "source is missing"},
        {"x,cxi,,> 1,,,", "value is missing"},
        {"x,cxi,a,,,,", "there is no threshold"},
        {"x,cxi,a,> 1,,,,", "8 fields, the first line has 7"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rules set = {0};
        char text[512];
        snprintf(text, sizeof text, "name,source,value,warn,claim,define,per\nlast-one,cxi,a,> 1\n\n%s", rows[i][0]);
        assert_int_equal(read_text(&set, text, NULL), NETPROF_OK);
        assert_int_equal(set.count, 1);
        assert_int_equal(set.problem_count, 1);
        assert_int_equal(set.problems[0].line, 4);
        assert_string_equal(set.problems[0].text, rows[i][1]);
        rules_free(&set);
    }
}

// By rank and by name.
static void classes_of_rules(void **state)
{
    static const char *const names[] = {"command",    "link-down", "link-errors", "host-loss", "back-pressure",
                                        "congestion", "transport", "utilisation", "data"};
    (void)state;
    for (int i = 0; i < 9; i++) {
        assert_string_equal(rules_class_name(i), names[i]);
        assert_int_equal(rules_class_rank(names[i]), i);
    }
    assert_string_equal(rules_class_name(-1), "data");
    assert_string_equal(rules_class_name(9), "data");
    assert_int_equal(rules_class_rank("link"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_column), cmocka_unit_test(as_many_as_there_is_room_for),
                                       cmocka_unit_test(first_lines_in_their_words),
                                       cmocka_unit_test(faults_of_a_line_in_their_words),
                                       cmocka_unit_test(classes_of_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
