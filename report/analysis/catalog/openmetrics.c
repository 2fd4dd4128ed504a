#include "openmetrics.h"

#include "analysis/base/memory.h"
#include "analysis/base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *openmetrics_name(const char *text)
{
    char *name = memory_strdup(text);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) || (unsigned char)*c > 127) *c = '_';
    return name;
}

static bool openmetrics_ends(const char *text, const char *end)
{
    size_t n = strlen(text), e = strlen(end);
    return n >= e && strcmp(text + n - e, end) == 0;
}

// The base units of Prometheus, and what their values are divided by.
static const struct {
    const char *unit, *base;
    double divisor;
} openmetrics_units[] = {{"bytes", "bytes", 1}, {"ns", "seconds", 1e9}, {"us", "seconds", 1e6}, {"ms", "seconds", 1e3},
                         {"uJ", "joules", 1e6}, {"uW", "watts", 1e6},   {"mC", "celsius", 1e3}, {"mA", "amperes", 1e3}};

const char *openmetrics_base(const char *unit, double *divisor)
{
    for (size_t i = 0; i < sizeof openmetrics_units / sizeof *openmetrics_units; i++) {
        if (strcmp(openmetrics_units[i].unit, unit) != 0) continue;
        *divisor = openmetrics_units[i].divisor;
        return openmetrics_units[i].base;
    }
    *divisor = 1;
    return "";
}

char *openmetrics_family(const char *source, const char *counter, const char *base)
{
    static const char *const endings[] = {"_total", "_created", "_bucket", "_count", "_sum", "_info"};
    char *text = memory_format("netprof_%s_%s", source, counter), *name = openmetrics_name(text);
    free(text);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (openmetrics_ends(name, endings[i])) name[strlen(name) - strlen(endings[i])] = 0;
    if (!*base || (openmetrics_ends(name, base) && name[strlen(name) - strlen(base) - 1] == '_')) return name;
    char *whole = memory_format("%s_%s", name, base);
    free(name);
    return whole;
}

char *openmetrics_escaped(const char *text)
{
    char *copy = memory_alloc(3 * strlen(text) + 1), *to = copy; // a byte that is no UTF-8 becomes three
    while (*text) {
        size_t length;
        const char *next = utf8_next(&text, &length);
        if (*next == '\\' || *next == '"' || *next == '\n') *to++ = '\\';
        memcpy(to, *next == '\n' ? "n" : next, length);
        to += length;
    }
    *to = 0;
    return copy;
}

char *openmetrics_label(char *labels, const char *key, const char *value)
{
    if (!*value) return labels;
    char *escaped = openmetrics_escaped(value);
    char *longer = memory_format("%s%s%s=\"%s\"", labels, *labels ? "," : "", key, escaped);
    free(escaped);
    free(labels);
    return longer;
}
