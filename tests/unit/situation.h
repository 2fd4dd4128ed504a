/* Two snapshots written as one line of text, for tests of rules; include cmocka.h first.
 *
 *     "@port_speed=BS_200G hni_rx_paused_1=100 state=4>1 peer:hni_rx_paused_1=5 ethtool/rx_crc_errors_phy=3"
 *
 * name=N: a counter that grew by N. name=A>B: a state that was A and became B. @key=text: a fact, @node.key=text: one of the
 * node. "peer:" is a second device of the source, "peer2:" a third, "peer7:" an eighth; a source's name in front is another
 * source's device with the same name as the first. In the source ip the word before the first '/' is the device. Flags behind
 * the number: r reset, u unreadable, k skipped,
 * s saturated, h bin of a histogram, g gauge. 10 seconds pass. */
#ifndef SITUATION_H
#define SITUATION_H

#include "analysis/data/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { situation_seconds = 10, situation_tokens = 256 };

typedef struct situation {
    netprof_snapshot before, after;
    difference d;
} situation;

typedef struct situation_token {
    char source[16], device[64], name[128], value[64];
    int is_fact;
} situation_token;

static inline void situation_device(situation_token *t, const char *source, char *word)
{
    static const char *const sources[] = {"cxi", "netdev", "ethtool", "rdma", "ip", "tcp", "cgroup", "process"};
    char *slash = strchr(word, '/');
    snprintf(t->source, sizeof t->source, "%s", source);
    snprintf(t->device, sizeof t->device, "dev0");
    if (strncmp(word, "peer", 4) == 0) {
        char *end;
        unsigned long number = strtoul(word + 4, &end, 10);
        if (*end == ':') {
            snprintf(t->device, sizeof t->device, "dev%lu", end == word + 4 ? 1 : number);
            word = end + 1;
        }
    }
    for (size_t i = 0; slash && i < sizeof sources / sizeof *sources; i++)
        if (strncmp(word, sources[i], (size_t)(slash - word)) == 0 && !sources[i][slash - word]) {
            snprintf(t->source, sizeof t->source, "%s", sources[i]);
            word = slash + 1;
            break;
        }
    if (strcmp(t->source, "ip") == 0 && (slash = strchr(word, '/'))) {
        *slash = 0;
        snprintf(t->device, sizeof t->device, "%.40s", word);
        word = slash + 1;
    }
    t->is_fact = *word == '@';
    snprintf(t->name, sizeof t->name, "%s", word + t->is_fact);
}

static inline size_t situation_parse(situation_token *tokens, const char *source, const char *text)
{
    char copy[4096], *save, *word;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equal = strchr(word, '=');
        assert_non_null(equal);
        assert_true(count < situation_tokens);
        *equal = 0;
        snprintf(tokens[count].value, sizeof tokens[count].value, "%s", equal + 1);
        situation_device(&tokens[count++], source, word);
    }
    return count;
}

static inline int situation_same(const situation_token *a, const situation_token *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->device, b->device) == 0;
}

static inline void situation_add_device(netprof_list *list, situation_token *tokens, size_t count, size_t first)
{
    netprof_list_device(list, tokens[first].device, 0, NETPROF_DEVICE_PHYSICAL);
    for (size_t i = first; i < count; i++) {
        if (!situation_same(&tokens[i], &tokens[first])) continue;
        netprof_counter c = {.name = tokens[i].name, .unit = "", .width = 64};
        if (strchr(tokens[i].value, '>')) c.kind = NETPROF_KIND_STATE;
        if (strchr(tokens[i].value, 'h')) c.kind = NETPROF_KIND_HISTOGRAM;
        if (strchr(tokens[i].value, 'g')) c.kind = NETPROF_KIND_GAUGE;
        if (strchr(tokens[i].value, 's')) c.flags = NETPROF_SATURATES;
        if (tokens[i].is_fact && strncmp(tokens[i].name, "node.", 5) == 0)
            netprof_build_fact(list, tokens[i].name + 5, tokens[i].value);
        else if (tokens[i].is_fact)
            netprof_list_fact(list, tokens[i].name, tokens[i].value);
        else
            assert_true(netprof_list_counter(list, &c) != NETPROF_NONE);
    }
}

static inline const netprof_schema *situation_schema(situation_token *tokens, size_t count)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    for (size_t s = 0; s < count; s++) {
        size_t known = 0;
        while (known < s && strcmp(tokens[known].source, tokens[s].source) != 0)
            known++;
        if (known < s) continue;
        netprof_build_source(list, tokens[s].source);
        for (size_t i = s; i < count; i++) {
            size_t first = 0;
            while (!situation_same(&tokens[first], &tokens[i]))
                first++;
            if (first == i && strcmp(tokens[i].source, tokens[s].source) == 0)
                situation_add_device(list, tokens, count, i);
        }
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

static inline void situation_values(situation *x, const situation_token *t)
{
    const netprof_schema *schema = x->after.schema;
    size_t i = netprof_find(schema, t->source, t->device, t->name);
    const char *later = strchr(t->value, '>'), *flag = t->value + strspn(t->value, "0123456789>");
    assert_true(i != NETPROF_NONE);
    x->before.values[i] = later ? strtoull(t->value, NULL, 10) : 1000;
    x->after.values[i] = later ? strtoull(later + 1, NULL, 10) : 1000 + strtoull(t->value, NULL, 10);
    x->before.status[i] = x->after.status[i] = NETPROF_STATUS_OK;
    if (*flag == 'r') x->after.values[i] = 5;
    if (*flag == 'u') x->after.status[i] = NETPROF_STATUS_DENIED;
    if (*flag == 'k') x->before.status[i] = x->after.status[i] = NETPROF_STATUS_SKIPPED;
    if (*flag == 's') x->after.status[i] = NETPROF_STATUS_SATURATED;
}

static inline void situation_make(situation *x, const char *source, const char *text)
{
    static situation_token tokens[situation_tokens];
    size_t count = situation_parse(tokens, source, text);
    const netprof_schema *schema = situation_schema(tokens, count);
    netprof_snapshot *ends[2] = {&x->before, &x->after};
    memset(x, 0, sizeof *x);
    for (int e = 0; e < 2; e++) {
        int64_t at = INT64_C(1000000000) * (1 + e * situation_seconds);
        assert_int_equal(netprof_snapshot_make(ends[e], schema, NULL), NETPROF_OK);
        ends[e]->begin_ns = ends[e]->end_ns = at;
        ends[e]->wall_ns = INT64_C(1700000000000000000) + at;
        for (size_t d = 0; d < schema->device_count; d++)
            ends[e]->device_begin_ns[d] = ends[e]->device_end_ns[d] = at;
    }
    netprof_schema_release(schema);
    for (size_t i = 0; i < count; i++)
        if (!tokens[i].is_fact) situation_values(x, &tokens[i]);
    assert_int_equal(difference_of_snapshots(&x->d, &x->before, &x->after, 0, NULL), NETPROF_OK);
}

static inline void situation_free(situation *x)
{
    difference_free(&x->d);
    netprof_snapshot_free(&x->before);
    netprof_snapshot_free(&x->after);
}

#endif
