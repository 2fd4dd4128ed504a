// What could not be judged in a few lines: by cause and group of devices, what hides most first.
#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Those of one device with one cause.
typedef struct gap_part {
    size_t first, worst; // of findings.unknown
    size_t checks;
    severity hides;
    bool matters, several; // several: not all for the same counter
    bool done;
} gap_part;

static bool findings_is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool findings_is_same_cause(const finding_unknown *a, const finding_unknown *b)
{
    if (!a->rule || !b->rule || a->cause != b->cause || a->sys_errno != b->sys_errno) return false;
    if (strcmp(a->source, b->source) != 0) return false;
    return a->cause != FINDING_NOT_KNOWN || strcmp(a->reason, b->reason) == 0;
}

static bool findings_is_same_place(const finding_unknown *a, const finding_unknown *b)
{
    return a->device == b->device && findings_is_same_text(a->subject, b->subject);
}

static void findings_join_part(const findings *f, gap_part *p, size_t i)
{
    const finding_unknown *u = &f->unknown[i];
    p->several |= !findings_is_same_text(u->counter, f->unknown[p->first].counter);
    p->checks += u->checks;
    p->matters |= u->matters;
    if (u->hides <= p->hides) return;
    p->hides = u->hides;
    p->worst = i;
}

static gap_part *findings_make_parts(const findings *f)
{
    gap_part *parts = NULL;
    for (size_t i = 0; i < f->unknown_count; i++) {
        const finding_unknown *u = &f->unknown[i];
        size_t k = arrlenu(parts);
        while (k > 0 && !(findings_is_same_place(&f->unknown[parts[k - 1].first], u) &&
                          findings_is_same_cause(&f->unknown[parts[k - 1].first], u)))
            k--;
        if (k)
            findings_join_part(f, &parts[k - 1], i);
        else
            arrput(parts, ((gap_part){i, i, u->checks, u->hides, u->matters, false, false}));
    }
    return parts;
}

// ---- words ----

static const char *findings_cause_words(const finding_unknown *u)
{
    switch (u->cause) {
    case FINDING_SATURATED: return "stuck at the largest value";
    case FINDING_SUSPECT: return "too narrow for this interval";
    case FINDING_NEW: return "not there at the beginning";
    case FINDING_GONE: return "gone at the end";
    case FINDING_RESET: return "started again from zero";
    case FINDING_NOT_KNOWN:
    case FINDING_SKIPPED: return u->reason;
    default: break;
    }
    if (u->sys_errno == EBADMSG) return "not a number";
    return u->sys_errno ? strerror(u->sys_errno) : u->reason;
}

static char *findings_why(const findings *f, const gap_part *p)
{
    const finding_unknown *u = &f->unknown[p->worst];
    char *text = NULL;
    if (!u->rule) {
        if (u->path) text_append(&text, "%s: ", u->path);
    } else if (u->counter && !p->several) {
        text_append(&text, "%s: ", u->counter);
    } else if (u->counter) {
        text_append(&text, "%s and others: ", u->counter);
    }
    text_append(&text, "%s", findings_cause_words(u));
    if (u->rule && u->path) text_append(&text, " (%s)", u->path);
    return text;
}

static bool findings_is_same_gap(const findings *f, const gap_part *a, const gap_part *b)
{
    return !b->done && a->checks == b->checks && a->hides == b->hides && a->several == b->several &&
           f->unknown[a->first].rule && findings_is_same_cause(&f->unknown[a->first], &f->unknown[b->first]) &&
           (a->several || findings_is_same_text(f->unknown[a->first].counter, f->unknown[b->first].counter));
}

static void findings_add_gap(findings *f, gap_part *parts, size_t from)
{
    const char **names = NULL;
    finding_gap gap = {.unknown = parts[from].worst, .hides = parts[from].hides};
    for (size_t i = from; i < arrlenu(parts); i++) {
        if (i != from && !findings_is_same_gap(f, &parts[from], &parts[i])) continue;
        parts[i].done = true;
        gap.checks += parts[i].checks;
        gap.matters |= parts[i].matters;
        arrput(names, finding_unknown_place(f, &f->unknown[parts[i].first]));
    }
    gap.where = f->unknown[gap.unknown].rule ? findings_names_text(names, arrlenu(names))
                                             : memory_format("source %s", f->unknown[gap.unknown].source);
    gap.why = findings_why(f, &parts[from]);
    gap.cause = memory_strdup(findings_cause_words(&f->unknown[gap.unknown]));
    arrfree(names);
    arrput(f->gaps, gap);
    f->gap_count = arrlenu(f->gaps);
}

static int findings_compare_gaps(const void *a, const void *b)
{
    const finding_gap *x = a, *y = b;
    if (x->matters != y->matters) return x->matters ? -1 : 1;
    if (x->hides != y->hides) return x->hides > y->hides ? -1 : 1;
    if (x->checks != y->checks) return x->checks > y->checks ? -1 : 1;
    return x->unknown < y->unknown ? -1 : x->unknown > y->unknown;
}

void findings_find_gaps(findings_making *m)
{
    findings *f = m->f;
    gap_part *parts = findings_make_parts(f);
    for (size_t i = 0; i < arrlenu(parts); i++)
        if (!parts[i].done) findings_add_gap(f, parts, i);
    arrfree(parts);
    if (f->gap_count) qsort(f->gaps, f->gap_count, sizeof *f->gaps, findings_compare_gaps);
}

char *finding_gap_text(const findings *f, const finding_gap *gap)
{
    const finding_unknown *u = &f->unknown[gap->unknown];
    char *text = NULL;
    text_append(&text, "%s: %s: hides %s", gap->where, gap->why, words_many(gap->checks, "check").text);
    if (u->rule && gap->checks == 1) text_append(&text, ", %s", u->rule->name);
    text_append(&text, " (at worst %s)", severity_name(gap->hides));
    return text;
}

// ---- what helps ----

static const char findings_as_root[] =
    "For now: take both readings with sudo netprof collect -o FILE. For good: an administrator "
    "opens these files to your group (chgrp and chmod g+r, in a udev rule)";

// Only what is sure to be the way, with the command; NULL: nothing is known that helps.
const char *finding_gap_remedy(const findings *f, const finding_gap *gap)
{
    const finding_unknown *u = &f->unknown[gap->unknown];
    switch (u->cause) {
    case FINDING_DENIED: return findings_as_root;
    case FINDING_SKIPPED: return "Read all counters: netprof collect --set all -o FILE";
    case FINDING_RESET:
        return "Take two readings between which the driver is not loaded again and the node not started";
    case FINDING_SUSPECT: return "Take the two readings closer together";
    case FINDING_TIMELESS:
        return "Take two readings some seconds apart: netprof collect -o a.netprof; sleep 10; netprof collect -o "
               "b.netprof";
    case FINDING_NEW:
    case FINDING_GONE:
    case FINDING_VANISHED: return "See why the device was not there all the time: sudo dmesg -T, and its finding here";
    default: break;
    }
    if (u->sys_errno == EACCES || u->sys_errno == EPERM) return findings_as_root;
    if (u->sys_errno == EBADMSG)
        return "See what the driver writes there (head -c 64 FILE), then its version (modinfo) and its messages (sudo "
               "dmesg -T)";
    return NULL;
}

// ---- names in few words ----

// Where the digits at the end begin.
static size_t findings_stem(const char *name)
{
    size_t n = strlen(name);
    while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return n;
}

// Does b follow a, as cxi1 follows cxi0?
static bool findings_follows(const char *a, const char *b)
{
    size_t n = findings_stem(a);
    if (findings_stem(b) != n || !a[n] || !b[n] || strncmp(a, b, n) != 0) return false;
    if (strlen(a + n) > 9 || strlen(b + n) > 9 || (b[n] == '0' && b[n + 1])) return false;
    return strtol(b + n, NULL, 10) == strtol(a + n, NULL, 10) + 1;
}

char *findings_names_text(const char *const *names, size_t count)
{
    enum { SHOWN = 3 };
    char *text = NULL;
    size_t shown = 0, i = 0;
    while (i < count && shown < SHOWN) {
        size_t last = i;
        while (last + 1 < count && findings_follows(names[last], names[last + 1]))
            last++;
        if (last == i + 1) last = i; // two are no range
        text_append(&text, "%s%s", shown ? ", " : "", names[i]);
        if (last > i) text_append(&text, "-%s", names[last]);
        i = last + 1;
        shown++;
    }
    if (i < count) text_append(&text, " and %s", words_many(count - i, "other").text);
    return text;
}
