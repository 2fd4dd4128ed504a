#include "findings_model.h"

#include "analysis/base/stb_ds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void findings_free(findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->items[i].claim);
        free(f->items[i].subject);
        free(f->items[i].explained_by);
    }
    arrfree(f->items);
    for (size_t i = 0; i < f->unknown_count; i++) {
        free(f->unknown[i].path);
        free(f->unknown[i].subject);
    }
    for (size_t i = 0; i < f->gap_count; i++) {
        free(f->gaps[i].where);
        free(f->gaps[i].why);
        free(f->gaps[i].cause);
    }
    arrfree(f->gaps);
    arrfree(f->unknown);
    arrfree(f->checks);
    arrfree(f->background);
    free(f->verdict);
    free(f->places);
    *f = (findings){0};
}

const char *finding_unknown_place(const findings *f, const finding_unknown *u)
{
    if (u->subject) return u->subject;
    if (u->device != DIFFERENCE_NONE) return f->d->delta->schema->devices[u->device].name;
    return strcmp(u->source, "*") == 0 ? "node" : u->source;
}

const char *finding_device(const findings *f, const finding *x)
{
    if (x->subject) return x->subject;
    if (x->device != DIFFERENCE_NONE) return f->d->delta->schema->devices[x->device].name;
    return strcmp(x->rule->source, "*") == 0 ? "node" : x->rule->source;
}

static const char *findings_noun(const char *source)
{
    static const char *const nouns[][2] = {
        {"cxi", "NIC"}, {"rdma", "port"}, {"netdev", "interface"}, {"gpu", "GPU"}, {"cpu", "core"}};
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
        if (strcmp(source, nouns[i][0]) == 0) return nouns[i][1];
    return "device";
}

words_text finding_who(const findings *f, const finding *x)
{
    words_text who;
    const char *noun = findings_noun(x->rule->source);
    if (!x->alike)
        snprintf(who.text, sizeof who.text, "%s", finding_device(f, x));
    else if (x->alike < x->alike_of)
        snprintf(who.text, sizeof who.text, "%zu of %zu %ss", x->alike, x->alike_of, noun);
    else if (x->alike == 2)
        snprintf(who.text, sizeof who.text, "both %ss", noun);
    else
        snprintf(who.text, sizeof who.text, "all %zu %ss", x->alike, noun);
    return who;
}

const char *finding_evidence_device(const findings *f, const finding *x, const finding_evidence *e)
{
    if (!x->rule->per_node || e->counter == DIFFERENCE_NONE) return NULL;
    const netprof_schema *schema = f->d->delta->schema;
    const netprof_device *dev = &schema->devices[schema->counters[e->counter].device];
    return dev->flags & NETPROF_DEVICE_PHYSICAL ? dev->name : NULL;
}

bool findings_source_is_whole(const char *source)
{
    static const char *const names[] = {"process", "cgroup", "memory", "pressure", "perf", "self"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(source, names[i]) == 0) return true;
    return false;
}

bool findings_crosses(const rule_threshold *t, double value)
{
    switch (t->op) {
    case EXPRESSION_GREATER: return value > t->value;
    case EXPRESSION_GREATER_EQUAL: return value >= t->value;
    case EXPRESSION_LESS: return value < t->value;
    case EXPRESSION_LESS_EQUAL: return value <= t->value;
    default: return false;
    }
}

// The format of the claim's first number that is the value itself, for the peers' range.
static const char *findings_value_format(const rule *x)
{
    for (size_t i = 0; i < x->part_count; i++) {
        const expression *n = &x->claim[i].number;
        if (n->root && n->nodes[n->root].op == EXPRESSION_VARIABLE && n->nodes[n->root].index == EXPRESSION_VALUE)
            return x->claim[i].format;
    }
    return NULL;
}

const char *finding_number_text(const rule *x, double value, char *text, size_t size)
{
    const char *format = findings_value_format(x);
    if (size) *text = 0; // callers print the text itself
    return format ? rules_format(text, size, format, value) : text;
}

const char *finding_value_text(const finding *x, char *text, size_t size)
{
    return finding_number_text(x->rule, x->value, text, size);
}

bool findings_names_rule(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; n && (at = strstr(at, name)); at += n)
        if ((at == list || strchr(" ,;", at[-1])) && (!at[n] || strchr(" ,;", at[n]))) return true;
    return false;
}
