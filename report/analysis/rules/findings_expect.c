#include "findings_expect.h"

#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED_MOST = 4096 };

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
    return n && n <= 6 && strspn(text, "0123456789") == n;
}

// "cxi0-7", "cxi0-cxi7": where the numbers begin and what they are. False: one name.
static bool expected_is_range(const char *word, size_t *stem, unsigned long *first, unsigned long *last)
{
    const char *dash = strrchr(word, '-');
    if (!dash || dash == word) return false;
    *stem = expected_digits_from(word, (size_t)(dash - word));
    if (*stem == (size_t)(dash - word)) return false;
    const char *end = dash + 1;
    if (strncmp(end, word, *stem) == 0) end += *stem;
    if (!expected_is_number(end)) return false;
    *first = strtoul(word + *stem, NULL, 10);
    *last = strtoul(end, NULL, 10);
    return *last >= *first;
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
    size_t stem = 0;
    unsigned long first = 0, last = 0;
    double speed = 0;
    char *at = strchr(word, '@');
    if (at && !expected_speed(at + 1, &speed)) return expected_refuse(problem, word, "expected a speed like 200G");
    if (at) *at = 0;
    if (!*word) return expected_refuse(problem, "an empty name", "expected names like cxi0-7,hsn0@200G");
    if (!expected_is_range(word, &stem, &first, &last)) {
        arrput(x->items, ((expected_device){memory_strdup(word), NULL, speed}));
        return true;
    }
    if (last - first >= EXPECTED_MOST) return expected_refuse(problem, word, "more than 4096 devices");
    for (unsigned long i = first; i <= last; i++)
        arrput(x->items, ((expected_device){memory_format("%.*s%lu", (int)stem, word, i), NULL, speed}));
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
        bool up[2];
        if (!(dev->flags & NETPROF_DEVICE_PHYSICAL) || !expression_is_source(dev->source, strlen(dev->source)))
            continue;
        if (strcmp(dev->source, "ethtool") == 0 || (device_link_states(d->delta, i, up) && !up[1])) continue;
        arrput(x->items,
               ((expected_device){memory_strdup(dev->name), memory_strdup(dev->source), evaluation_speed(&e, i)}));
    }
    evaluation_end(&e);
}

// ---- findings ----

static void expected_add(findings_making *m, const char *rule_name, const expected_device *want, size_t device,
                         char *claim)
{
    findings_add_told(m, rule_name, device, device == DIFFERENCE_NONE ? want->name : NULL, 1, claim);
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

static void expected_look(findings_making *m, const expected_device *want)
{
    findings *f = m->f;
    size_t i = expected_find(f, want);
    bool up[2];
    if (i == DIFFERENCE_NONE) {
        expected_add(m, "expected-missing", want, i, NULL);
        return;
    }
    if (expected_is_gone(f, i)) return; // a finding of its own
    f->judged++;
    if (device_link_states(f->d->delta, i, up) && !up[1]) expected_add(m, "expected-down", want, i, NULL);
    double speed = evaluation_speed(&m->e, i);
    if (want->bits_per_s > 0 && speed > 0 && speed < 0.999 * want->bits_per_s)
        expected_add(m, "expected-slow", want, i,
                     memory_format("its link runs at %s, expected is %s", words_link_speed(speed).text,
                                   words_link_speed(want->bits_per_s).text));
}

void findings_look_for_expected(findings_making *m, const expected_devices *x)
{
    for (size_t i = 0; x && i < arrlenu(x->items); i++)
        expected_look(m, &x->items[i]);
}
