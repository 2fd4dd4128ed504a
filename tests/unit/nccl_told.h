// What is said of a job, whole, as JSON that a reader can check: each finding with its numbers, its claim, whom and which calls
// it is about, what it cost and what it rests on; what was not judged; the verdict. Include netprof.h first.
#ifndef NETPROF_TESTS_NCCL_TOLD_H
#define NETPROF_TESTS_NCCL_TOLD_H

#include "analysis/base/json_values.h"
#include "nccl_claims.h"
#include "golden.h"

SUPPORT const char *told_name(const char *list, uint32_t index, const char *name)
{
    static char texts[8][200];
    static unsigned next;
    char *text = texts[next++ % COUNT(texts)];
    *text = 0;
    if (index != NCCL_NONE) snprintf(text, sizeof texts[0], ", %s %s", list, name);
    return text;
}

SUPPORT __attribute__((format(printf, 2, 3))) void told_append(json_object *list, const char *format, ...)
{
    char text[4000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_append(list, json_new_string(text));
}

SUPPORT void told_place(json_object *list, const nccl *n, const nccl_finding *x)
{
    char text[1000] = "", rank[2][40] = {"", ""};
    const uint32_t members[] = {x->member, x->receiver};
    for (int i = 0; i < 2; i++)
        if (members[i] != NCCL_NONE)
            snprintf(rank[i], sizeof rank[i], "%lld of %s", (long long)n->members[members[i]].rank,
                     n->communicators[n->members[members[i]].communicator].label);
    const nccl_series *s = x->series == NCCL_NONE ? NULL : &n->series[x->series];
    const nccl_operation *o = x->operation == NCCL_NONE ? NULL : &n->operations[x->operation];
    snprintf(text, sizeof text, "of %s%s%s%s%s%s", x->device,
             told_name("host", x->host, x->host == NCCL_NONE ? "" : n->hosts[x->host].name),
             told_name("rank", x->member, rank[0]), told_name("receiver", x->receiver, rank[1]),
             told_name("communicator", x->communicator,
                       x->communicator == NCCL_NONE ? "" : n->communicators[x->communicator].label),
             told_name("operation", x->operation, o ? n->colls[o->coll] : ""));
    size_t length = strlen(text);
    if (s)
        length += (size_t)snprintf(text + length, sizeof text - length, ", series %s of %llu on %s", n->colls[s->coll],
                                   (unsigned long long)s->size, n->communicators[s->communicator].label);
    if (x->rail != NCCL_NONE)
        length += (size_t)snprintf(text + length, sizeof text - length, ", rail %u", (unsigned)x->rail);
    if (x->last_sn || x->first_sn)
        length += (size_t)snprintf(text + length, sizeof text - length, ", sn %llu to %llu",
                                   (unsigned long long)x->first_sn, (unsigned long long)x->last_sn);
    if (x->to_the_end) length += (size_t)snprintf(text + length, sizeof text - length, ", to the end");
    if (x->explained_by) snprintf(text + length, sizeof text - length, ", explained by %s", x->explained_by);
    told_append(list, "%s", text);
}

SUPPORT json_object *told_finding(const nccl *n, const nccl_finding *x)
{
    json_object *list = json_new_array();
    told_append(list, "%s: %s %.9g", severity_name(x->severity), x->rule->name, x->value);
    told_append(list, "%s", x->claim);
    told_place(list, n, x);
    if (!isnan(x->cost_us) || !isnan(x->cost_share))
        told_append(list, "cost %.9g us, share %.9g", x->cost_us, x->cost_share);
    for (size_t i = 0; i < x->evidence_count; i++)
        told_append(list, "%s: %.9g %s", x->evidence[i].name, x->evidence[i].value, x->evidence[i].unit);
    return list;
}

SUPPORT json_object *told(const nccl *n, const nccl_findings *f)
{
    json_object *o = json_new_object(), *findings = json_new_array(), *unknown = json_new_array();
    const nccl_judged *w = &f->what;
    char text[300];
    json_put_text(o, "verdict", f->verdict);
    snprintf(text, sizeof text,
             "%s%s, %zu judged: of %zu ranks %zu late (%.9g us), of %zu communicators %zu wires (%zu ranks, %.9g)",
             severity_name(f->severity), f->is_blind ? ", blind" : "", f->judged, w->ranks, w->late, w->late_us,
             w->communicators, w->wires, w->wire_ranks, w->wire_ratio);
    json_put_text(o, "judged", text);
    for (size_t i = 0; i < f->count; i++)
        json_append(findings, told_finding(n, &f->items[i]));
    for (size_t i = 0; i < f->unknown_count; i++)
        json_append(unknown, json_new_string(f->unknown[i]));
    json_put(o, "findings", findings);
    if (f->unknown_count)
        json_put(o, "unknown", unknown);
    else
        json_object_put(unknown);
    return o;
}

#endif
