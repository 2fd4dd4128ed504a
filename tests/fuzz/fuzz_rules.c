// A user's table of rules: whatever the bytes, what is accepted can be evaluated. The first byte chooses whether the
// rest is a table or one formula.
#include "analysis/rules/evaluate.h"
#include "analysis/rules/findings.h"

#include <stdlib.h>
#include <string.h>

// Two NICs with a few counters, one second apart.
static void make_difference(difference *d, netprof_snapshot *before, netprof_snapshot *after)
{
    static const char *const names[] = {"a", "b", "hni_tx_paused_0", "hni_tx_paused_1", "x/y", "tx_bytes"};
    enum { NAMES = sizeof names / sizeof *names };
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_build_source(list, "cxi");
    for (int nic = 0; nic < 2; nic++) {
        netprof_list_device(list, nic ? "cxi1" : "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        for (size_t i = 0; i < NAMES; i++)
            netprof_list_counter(list, &(netprof_counter){.name = names[i], .unit = "", .width = 56});
    }
    if (netprof_build_end(list, &schema, NULL)) abort();
    for (int e = 0; e < 2; e++) {
        netprof_snapshot *s = e ? after : before;
        if (netprof_snapshot_make(s, schema, NULL)) abort();
        s->begin_ns = s->end_ns = s->wall_ns = 1000000000 * (1 + e);
        for (size_t i = 0; i < schema->counter_count; i++) {
            s->values[i] = (uint64_t)e * 1000 * (i + 1);
            s->status[i] = i == 3 ? NETPROF_STATUS_DENIED : NETPROF_STATUS_OK;
        }
        for (size_t i = 0; i < schema->device_count; i++)
            s->device_begin_ns[i] = s->device_end_ns[i] = s->begin_ns;
    }
    netprof_schema_release(schema);
    if (difference_of_snapshots(d, before, after, false, NULL)) abort();
}

static void try_table(const difference *d, const char *text, size_t size)
{
    rules set = {0};
    findings f = {0};
    rules_read_text(&set, "fuzz.csv", text, size, NULL);
    findings_make(&f, d, &set);
    json_object_put(findings_json(&f));
    findings_free(&f);
    rules_free(&set);
}

static void try_formula(const difference *d, const char *text)
{
    static const rule plain = {.source = "cxi"};
    expression x;
    expression_error error;
    evaluation e;
    if (!expression_parse(&x, text, NULL, &error)) return;
    evaluation_begin(&e, d);
    evaluation_of(&e, &plain, 0);
    evaluate(&e, &x);
    evaluation_end(&e);
    expression_free(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static difference d;
    static netprof_snapshot before, after;
    if (!d.delta) make_difference(&d, &before, &after);
    if (!size) return 0;
    if (*data == '=') {
        char *text = malloc(size);
        if (!text) return 0;
        memcpy(text, data + 1, size - 1);
        text[size - 1] = 0;
        try_formula(&d, text);
        free(text);
    } else {
        try_table(&d, (const char *)data, size);
    }
    return 0;
}
