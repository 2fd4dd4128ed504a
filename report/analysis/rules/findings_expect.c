#include "findings_expect.h"

#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED_MOST = 4096, EXPECTED_DIGITS = 6 };

void expected_free(expected_devices *x)
{
    for (size_t i = 0; i < arrlenu(x->items); i++) {
        free(x->items[i].name);
        free(x->items[i].source);
    }
    arrfree(x->items);
    *x = (expected_devices){0};
}

// ---- a list of names ----

static bool expected_refuse(char **problem, const char *word, const char *text)
{
    free(*problem);
    *problem = memory_format("%s: %s", word, text);
    return false;
}

static size_t expected_digits_from(const char *text, size_t length)
{
    while (length && text[length - 1] >= '0' && text[length - 1] <= '9')
        length--;
    return length;
}

static bool expected_is_number(const char *text)
{
    size_t n = strlen(text);
    return n && n <= EXPECTED_DIGITS && strspn(text, "0123456789") == n;
}

// "cxi0-7", "cxi0-cxi7", "port08-11".
typedef struct expected_range {
    size_t stem, digits; // of the first name: before its number, and of that
    unsigned long first, last;
} expected_range;

// False: one name.
static bool expected_is_range(const char *word, expected_range *r)
{
    const char *dash = strrchr(word, '-');
    if (!dash || dash == word) return false;
    r->stem = expected_digits_from(word, (size_t)(dash - word));
    r->digits = (size_t)(dash - word) - r->stem;
    if (!r->digits || r->digits > EXPECTED_DIGITS) return false;
    const char *end = dash + 1;
    if (strncmp(end, word, r->stem) == 0) end += r->stem;
    if (!expected_is_number(end)) return false;
    r->first = strtoul(word + r->stem, NULL, 10);
    r->last = strtoul(end, NULL, 10);
    return r->last >= r->first;
}

// "200G", "2.5G", "100000M": bit/s.
static bool expected_speed(const char *text, double *bits_per_s)
{
    char *end;
    double number = strtod(text, &end);
    double unit = *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : *end == 'T' ? 1e12 : 0;
    *bits_per_s = number * unit;
    return end != text && unit > 0 && (!end[1] || strcmp(end + 1, "b/s") == 0 || strcmp(end + 1, "bit/s") == 0) &&
           number > 0 && isfinite(number);
}

static bool expected_add_word(expected_devices *x, char *word, char **problem)
{
    expected_range r;
    double speed = 0;
    char *at = strchr(word, '@');
    if (at && !expected_speed(at + 1, &speed)) return expected_refuse(problem, word, "expected a speed like 200G");
    if (at) *at = 0;
    if (!*word) return expected_refuse(problem, "an empty name", "expected names like cxi0-7,hsn0@200G");
    if (strpbrk(word, "[]")) return expected_refuse(problem, word, "expected a range like cxi0-7");
    if (!expected_is_range(word, &r)) {
        arrput(x->items, ((expected_device){.name = memory_strdup(word), .bits_per_s = speed}));
        return true;
    }
    if (arrlenu(x->items) + (r.last - r.first) >= EXPECTED_MOST)
        return expected_refuse(problem, word, "more than 4096 devices in all");
    for (unsigned long i = r.first; i <= r.last; i++) {
        char *name = memory_format("%.*s%0*lu", (int)r.stem, word, (int)r.digits, i);
        arrput(x->items, ((expected_device){.name = name, .bits_per_s = speed}));
    }
    return true;
}

bool expected_parse(expected_devices *x, const char *list, char **problem)
{
    char *copy = memory_strdup(list), *at = copy;
    bool good = true;
    expected_free(x);
    for (char *word; good && (word = strsep(&at, ","));)
        good = expected_add_word(x, word, problem);
    free(copy);
    return good;
}

// ---- a node that was well ----

void expected_of_node(expected_devices *x, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    evaluation e;
    expected_free(x);
    evaluation_begin(&e, d);
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        size_t counter;
        device_link link = device_link_at_end(d->delta, i, &counter);
        if (!(dev->flags & NETPROF_DEVICE_PHYSICAL) || !findings_is_network(dev->source)) continue;
        if (strcmp(dev->source, "ethtool") == 0 || link == DEVICE_LINK_IS_DOWN) continue;
        arrput(x->items, ((expected_device){.name = memory_strdup(dev->name),
                                            .source = memory_strdup(dev->source),
                                            .bits_per_s = evaluation_speed(&e, i),
                                            .any_link = link == DEVICE_LINK_NOT_KNOWN}));
    }
    evaluation_end(&e);
}

// ---- findings ----

static void expected_add(findings_making *m, const char *rule_name, const expected_device *want, size_t device,
                         char *claim)
{
    findings_add_told(m, rule_name, device, device == DIFFERENCE_NONE ? want->name : NULL, 1, claim);
}

static void expected_add_unknown(findings_making *m, const char *rule_name, size_t device, reading r)
{
    const rule *x = rules_find(m->set, rule_name);
    if (x) findings_add_unknown(m, x, device, r);
}

static bool expected_is_gone(const findings *f, size_t device)
{
    const difference_counts *c = &f->d->devices[device];
    return c->counters && c->flagged[NETPROF_FLAG_GONE] == c->counters;
}

// Of the devices of this name, or that belong to the interface of this name, the first; gone ones last.
static size_t expected_find(const findings *f, const expected_device *want)
{
    const netprof_schema *schema = f->d->delta->schema;
    size_t found = DIFFERENCE_NONE;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        if (strcmp(dev->name, want->name) != 0 || (want->source && strcmp(dev->source, want->source) != 0)) continue;
        if (!expected_is_gone(f, i)) return i;
        found = i;
    }
    return found;
}

// Where a device of this name is listed: an interface's name has no slash.
static const char *expected_source(const expected_device *want)
{
    bool is_nic = strncmp(want->name, "cxi", 3) == 0 && expected_is_number(want->name + 3);
    if (want->source) return want->source;
    return strchr(want->name, '/') ? "rdma" : is_nic ? "cxi" : "netdev";
}

static void expected_look_for_missing(findings_making *m, const expected_device *want)
{
    const char *source = expected_source(want);
    if (dataset_could_see(m->f->d->delta->schema, source))
        expected_add(m, "expected-missing", want, DIFFERENCE_NONE, NULL);
    else
        findings_add_unseen(m, "expected-missing", source, want->name);
}

static void expected_look_at_link(findings_making *m, const expected_device *want, size_t i, device_link link,
                                  size_t counter)
{
    reading r = {.status = READING_UNKNOWN, .reason = "the state of its link is not known"};
    if (want->any_link) return;
    if (link == DEVICE_LINK_NOT_KNOWN && counter != NETPROF_NONE) {
        r.at = counter + 1;
        r.counter = m->f->d->delta->schema->counters[counter].name;
        r.reason = netprof_status_name(m->f->d->delta->after_status[counter]);
    }
    if (link == DEVICE_LINK_NOT_KNOWN)
        expected_add_unknown(m, "expected-down", i, r);
    else
        m->f->judged++;
    if (link == DEVICE_LINK_IS_DOWN) expected_add(m, "expected-down", want, i, NULL);
}

static void expected_look_at_speed(findings_making *m, const expected_device *want, size_t i)
{
    double speed = evaluation_speed(&m->e, i);
    if (!(speed > 0)) {
        expected_add_unknown(m, "expected-slow", i,
                             (reading){.status = READING_UNKNOWN, .reason = "its speed is not known"});
        return;
    }
    m->f->judged++;
    if (speed < 0.999 * want->bits_per_s)
        expected_add(m, "expected-slow", want, i,
                     memory_format("its link runs at %s, expected is %s", words_link_speed(speed).text,
                                   words_link_speed(want->bits_per_s).text));
}

static void expected_look(findings_making *m, const expected_device *want)
{
    size_t i = expected_find(m->f, want), counter = NETPROF_NONE;
    if (i == DIFFERENCE_NONE) {
        expected_look_for_missing(m, want);
        return;
    }
    if (expected_is_gone(m->f, i)) return; // a finding of its own
    device_link link = device_link_at_end(m->f->d->delta, i, &counter);
    expected_look_at_link(m, want, i, link, counter);
    // Without a link it has no speed.
    if (want->bits_per_s > 0 && link != DEVICE_LINK_IS_DOWN) expected_look_at_speed(m, want, i);
}

void findings_look_for_expected(findings_making *m, const expected_devices *x)
{
    for (size_t i = 0; x && i < arrlenu(x->items); i++)
        expected_look(m, &x->items[i]);
}
