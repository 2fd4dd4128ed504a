// The output of netprof check on several nodes or runs, for people and as JSON.
#include "check_output.h"

#include "analysis/base/memory.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

// The links are those of the first two runs; printed nodes are in another order.
static const check_node *check_nodes_node_of(const check_node *nodes, size_t order)
{
    return nodes[0].order == order ? &nodes[0] : &nodes[1];
}

static const char *check_nodes_link_device(const check_node *n, const ends_link *link)
{
    return n->run->d.delta->schema->devices[link->device[n->order]].name;
}

static int check_nodes_compare_nodes(const void *a, const void *b)
{
    const check_node *x = a, *y = b;
    size_t i = 0;
    if (x->f.severity != y->f.severity) return x->f.severity > y->f.severity ? -1 : 1;
    // Of equally bad ones: whose findings are worse, one by one.
    for (; i < x->f.count && i < y->f.count; i++)
        if (x->f.items[i].severity != y->f.items[i].severity)
            return x->f.items[i].severity > y->f.items[i].severity ? -1 : 1;
    if (x->f.count != y->f.count) return x->f.count > y->f.count ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void check_nodes_sort(check_nodes *n)
{
    if (n->count) qsort(n->items, n->count, sizeof *n->items, check_nodes_compare_nodes);
}

static const char *check_nodes_node_name(const check_node *n)
{
    return *n->run->first->host ? n->run->first->host : n->run->label;
}

static size_t check_nodes_count_worrying(const findings *f)
{
    size_t count = 0;
    while (count < f->count && f->items[count].severity >= SEVERITY_WATCH)
        count++;
    return count;
}

// Nodes, where each is of another host; else runs.
static char *check_nodes_count_text(const check_nodes *n)
{
    size_t hosts = 0;
    for (size_t i = 0; i < n->count; i++) {
        const char *host = n->items[i].run->first->host;
        size_t k = 0;
        while (k < i && strcmp(n->items[k].run->first->host, host) != 0)
            k++;
        hosts += k == i && *host;
    }
    if (hosts == n->count) return memory_strdup(words_many(n->count, "node").text);
    if (!hosts) return memory_strdup(words_many(n->count, "run").text);
    return memory_format("%s of %s", words_many(n->count, "run").text, words_many(hosts, "node").text);
}

static char *check_nodes_good_text(const check_nodes *n, const char *counted)
{
    size_t judged = 0, unmade = 0, idle = 0;
    double share = 0;
    char *text = NULL;
    for (size_t i = 0; i < n->count; i++) {
        const findings *f = &n->items[i].f;
        judged += f->judged;
        unmade += f->unknown_checks;
        idle += f->load.devices && f->load.idle == f->load.devices;
        if (f->load.share > share) share = f->load.share;
    }
    text_append(&text, "No fault found on %s by %s", counted, words_many(judged, "check").text);
    if (share > 0) text_append(&text, ", at most %s of a line in use", words_share(share).text);
    if (idle == n->count) text_append(&text, ": nearly idle, too little traffic to judge performance");
    if (idle && idle < n->count) text_append(&text, "; %zu nearly idle", idle);
    if (unmade) text_append(&text, "; %s could not be made", words_many(unmade, "check").text);
    return text;
}

// "critical on 1 of 3 nodes, first n04: cxi2: ...": the worst first, and how many are as bad.
static char *check_nodes_overall_text(const check_nodes *n)
{
    const check_node *nodes = n->items;
    severity worst = nodes[0].f.severity;
    size_t alike_count = 0, blind = 0;
    char *counted = check_nodes_count_text(n), *text = NULL;
    for (size_t i = 0; i < n->count; i++) {
        alike_count += nodes[i].f.severity == worst;
        blind += nodes[i].f.is_blind && nodes[i].f.severity != worst;
    }
    const char *verdict = nodes[0].f.verdict;
    if (worst < SEVERITY_UNKNOWN) {
        text = check_nodes_good_text(n, counted);
    } else if (worst == SEVERITY_UNKNOWN) {
        text_append(&text, "Could not be judged on %zu of %s, first %s: %s", alike_count, counted,
                    check_nodes_node_name(&nodes[0]), verdict + nodes[0].f.blind_at);
    } else if (nodes[0].f.items[0].of_nodes > 1) {
        text_append(&text, "%s across %s: %s", severity_name(worst),
                    words_many(nodes[0].f.items[0].of_nodes, "node").text, verdict);
    } else {
        text_append(&text, "%s on %zu of %s, first %s: %s", severity_name(worst), alike_count, counted,
                    check_nodes_node_name(&nodes[0]), verdict);
    }
    if (worst > SEVERITY_UNKNOWN && blind)
        text_append(&text, "; %s could not be judged", words_many(blind, "other").text);
    free(counted);
    return text;
}

static void check_nodes_print_way(const check_node *from, const check_node *to, const ends_link *link)
{
    uint64_t sent = link->sent[from->order], received = link->received[from->order];
    char *begin = memory_format("%s %s", safe(check_nodes_node_name(from)), safe(check_nodes_link_device(from, link)));
    printf("  %s sent %s packets; ", begin, words_exact(sent).text);
    printf("%s %s received %s", safe(check_nodes_node_name(to)), safe(check_nodes_link_device(to, link)),
           words_exact(received).text);
    if (received > sent)
        printf(": %s more, so it was not only this pair that sent", words_exact(received - sent).text);
    else if (received < sent)
        printf(": %s did not arrive", words_exact(sent - received).text);
    else
        printf(": all");
    putchar('\n');
    free(begin);
}

static void check_nodes_print_pair(const check_nodes *n)
{
    const ends_pair *between = n->between;
    const check_node *a = check_nodes_node_of(n->items, 0), *b = check_nodes_node_of(n->items, 1);
    heading(stdout, "Between the two nodes");
    if (!between->count)
        printf("  No port of one received about what a port of the other sent: this was no closed pair.\n");
    for (size_t i = 0; i < between->count; i++) {
        check_nodes_print_way(a, b, &between->links[i]);
        check_nodes_print_way(b, a, &between->links[i]);
    }
    if (between->count && between->apart_ns >= 0)
        printf("  They were read up to %s apart, by their clocks: exact only if nothing moved meanwhile.\n",
               safe(words_duration((double)between->apart_ns * 1e-9).text));
}

// What is of several nodes stands at one of them.
static void check_nodes_name_cell(table *t, const check_node *n)
{
    size_t of = n->f.count && n->f.severity >= SEVERITY_WATCH ? n->f.items[0].of_nodes : 0;
    char *others = of > 1 ? memory_format(" and %s", words_many(of - 1, "other").text) : memory_strdup("");
    char *text = memory_format("%s%s", check_nodes_node_name(n), others);
    table_cell(t, PLAIN, text);
    free(text);
    free(others);
}

void check_nodes_print_text(const check_nodes *n)
{
    const check_node *nodes = n->items;
    static const column columns[] = {{"VERDICT", 0}, {"NODE", 0}, {"FINDINGS", COLUMN_RIGHT}, {"UNKNOWN", COLUMN_RIGHT},
                                     {"FIRST", 0},   {"FILES", 0}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    char *text = check_nodes_overall_text(n);
    heading(stdout, "%s", safe(text));
    free(text);
    for (size_t i = 0; i < n->count; i++) {
        const findings *f = &nodes[i].f;
        colour c = f->severity >= SEVERITY_HIGH      ? ALARM
                   : f->severity >= SEVERITY_WATCH   ? WARNING
                   : f->severity == SEVERITY_UNKNOWN ? DIM
                                                     : PLAIN;
        table_cell(t, c, severity_name(f->severity));
        check_nodes_name_cell(t, &nodes[i]);
        table_cell(t, PLAIN, words_exact(check_nodes_count_worrying(f)).text);
        table_cell(t, PLAIN, words_exact(f->unknown_checks).text);
        table_cell(t, PLAIN, f->count && check_nodes_count_worrying(f) ? f->items[0].rule->name : NULL);
        table_cell(t, PLAIN, nodes[i].run->label);
    }
    table_end(t, stdout, 2);
    if (n->between) check_nodes_print_pair(n);
    for (size_t i = 0; i < n->count; i++) {
        if (nodes[i].f.severity < SEVERITY_UNKNOWN && !n->all) continue;
        heading(stdout, "---- %s (%s)", safe(check_nodes_node_name(&nodes[i])), safe(nodes[i].run->label));
        check_print_text(&nodes[i].f, n->all);
    }
}

static json_object *check_nodes_way_json(const check_node *from, const check_node *to, const ends_link *link)
{
    json_object *o = json_new_object();
    json_put_text(o, "from_host", check_nodes_node_name(from));
    json_put_text(o, "from_device", check_nodes_link_device(from, link));
    json_put_text(o, "to_host", check_nodes_node_name(to));
    json_put_text(o, "to_device", check_nodes_link_device(to, link));
    json_put(o, "tx_packets", json_exact_value(link->sent[from->order]));
    json_put(o, "rx_packets", json_exact_value(link->received[from->order]));
    return o;
}

static json_object *check_nodes_pair_json(const check_nodes *n)
{
    const ends_pair *between = n->between;
    json_object *list = json_new_array();
    const check_node *a = check_nodes_node_of(n->items, 0), *b = check_nodes_node_of(n->items, 1);
    for (size_t i = 0; i < between->count; i++) {
        json_append(list, check_nodes_way_json(a, b, &between->links[i]));
        json_append(list, check_nodes_way_json(b, a, &between->links[i]));
    }
    return list;
}

// As of one node, and each finding says whose it is; "hosts" has the rest of each node.
static json_object *check_nodes_json_unsorted(const check_nodes *n)
{
    const check_node *nodes = n->items;
    json_object *o = json_document("findings"), *verdict = json_new_object();
    json_object *hosts = json_new_array(), *merged = json_new_array();
    char *text = check_nodes_overall_text(n);
    json_put_text(verdict, "severity", severity_name(nodes[0].f.severity));
    json_put_text(verdict, "text", text);
    free(text);
    json_put(o, "verdict", verdict);
    for (size_t i = 0; i < n->count; i++) {
        json_object *one = memory_check(findings_json(&nodes[i].f)), *list = NULL;
        json_object_object_del(one, "format");
        json_object_object_del(one, "version");
        json_put_text(one, "host", nodes[i].run->first->host);
        json_put_text(one, "files", nodes[i].run->label);
        json_append(hosts, one);
        if (!json_object_object_get_ex(one, "findings", &list)) continue;
        for (size_t k = 0; k < json_object_array_length(list); k++) {
            json_object *x = json_object_array_get_idx(list, k);
            if (nodes[i].f.items[k].of_nodes > 1)
                json_put(x, "host", NULL); // several nodes', and none alone
            else
                json_put_text(x, "host", nodes[i].run->first->host);
            json_append(merged, json_object_get(x));
        }
    }
    json_put(o, "findings", merged);
    json_put(o, "hosts", hosts);
    if (n->between) json_put(o, "pair", check_nodes_pair_json(n));
    return o;
}

// The findings of all nodes, the worst first.
static int check_nodes_compare_merged(const void *a, const void *b)
{
    json_object *const *x = a, *const *y = b;
    severity p = SEVERITY_OK, q = SEVERITY_OK;
    json_object *value;
    if (json_object_object_get_ex(*x, "severity", &value)) severity_parse(json_object_get_string(value), &p);
    if (json_object_object_get_ex(*y, "severity", &value)) severity_parse(json_object_get_string(value), &q);
    return (int)q - (int)p;
}

json_object *check_nodes_json(const check_nodes *n)
{
    json_object *o = check_nodes_json_unsorted(n), *merged = NULL;
    if (json_object_object_get_ex(o, "findings", &merged)) json_object_array_sort(merged, check_nodes_compare_merged);
    return o;
}
