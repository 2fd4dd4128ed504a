// The verdict in one sentence.
#include "findings_making.h"

#include "analysis/base/text.h"
#include "analysis/base/words.h"

static void findings_append_load(char **text, const findings_load *l)
{
    if (!l->devices) return;
    text_append(text, "%s/s in, %s/s out on %s", words_quantity(8 * l->rate[0], "b").text,
                words_quantity(8 * l->rate[1], "b").text, words_many(l->devices, "port").text);
    if (l->share > 0) text_append(text, ", at most %s of a line", words_share(l->share).text);
}

// How many devices have this finding, and how many findings there are besides.
static size_t findings_alike(const findings *f, const finding *x, size_t *others)
{
    size_t count = 0;
    *others = 0;
    for (size_t i = 0; i < f->count; i++) {
        bool same = f->items[i].rule == x->rule && f->items[i].severity == x->severity;
        count += same;
        *others += !same && f->items[i].severity >= SEVERITY_WATCH;
    }
    return count;
}

static void findings_append_worst(findings *f)
{
    const finding *x = &f->items[0];
    size_t others, same = findings_alike(f, x, &others);
    text_append(&f->verdict, "%s", finding_device(f, x));
    if (same == 2) text_append(&f->verdict, " and another");
    if (same > 2) text_append(&f->verdict, " and %zu others", same - 1);
    text_append(&f->verdict, ": %s", x->claim ? x->claim : "");
    if (others) text_append(&f->verdict, " (and %s)", words_many(others, "more finding").text);
}

void findings_conclude(findings_making *m)
{
    static const char *const begins[SEVERITIES] = {
        "", "", "", "Worth watching: ", "Warning: ", "Serious: ", "Critical: "};
    findings *f = m->f;
    const findings_load *l = &m->load;
    bool idle = l->devices && l->idle == l->devices;
    f->severity = f->count ? f->items[0].severity : SEVERITY_OK;
    if (!f->judged) {
        f->severity = SEVERITY_WATCH;
        text_append(&f->verdict, "Nothing could be judged: no rule found its counters");
    } else if (f->severity <= SEVERITY_WATCH) {
        text_append(&f->verdict, idle ? "Nearly idle, no fault found" : "No fault found");
        if (l->devices) text_append(&f->verdict, ": ");
        findings_append_load(&f->verdict, l);
        if (idle) text_append(&f->verdict, ": too little traffic to judge performance");
        if (f->severity == SEVERITY_WATCH) {
            text_append(&f->verdict, "; worth watching: ");
            findings_append_worst(f);
        }
    } else {
        text_append(&f->verdict, "%s", begins[f->severity]);
        findings_append_worst(f);
    }
    if (f->judged && f->unknown_count)
        text_append(&f->verdict, "; %s could not be made", words_many(f->unknown_count, "check").text);
}
