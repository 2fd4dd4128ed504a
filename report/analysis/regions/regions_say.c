// What the sentences of a verdict are made of: notes, names, times, and how bad it is to lose so much.
#include "regions_store.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void regions_say(regions *r, severity s, size_t node, size_t rank, char *title, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    arrput(r->notes, ((regions_note){s, memory_strdup(text), title, "Also", node, rank, 0}));
    r->note_count++;
}

// ---- numbers ----

words_text regions_time_text(double ns)
{
    return words_duration(ns / 1e9);
}

// "16.9 % above the median", "3.4 times the median"; what is more than ten times is not worth digits.
words_text regions_above_text(double over_median)
{
    words_text text = {"far above the median"};
    if (!isfinite(over_median)) return text;
    double step = over_median >= 10 ? pow(10, floor(log10(over_median))) : 0.1;
    if (over_median < 2)
        snprintf(text.text, sizeof text.text, "%.20s above the median", words_share(over_median - 1).text);
    else
        snprintf(text.text, sizeof text.text, "%s%.*f times the median", over_median >= 10 ? "about " : "",
                 over_median >= 10 ? 0 : 1, round(over_median / step) * step);
    return text;
}

// ---- who ----

const char *regions_rank_text(const regions *r, size_t rank, char *text, size_t size)
{
    const char *host = r->hosts[r->ranks[rank].host].name;
    bool told = r->host_count < 2 || !*host || strstr(r->ranks[rank].label, "(");
    snprintf(text, size, "Rank %s%s%s%s", r->ranks[rank].label, told ? "" : " (", told ? "" : host, told ? "" : ")");
    return text;
}

double regions_run_ns(const regions *r)
{
    if (r->waits.known) return r->waits.run_ns;
    return r->lived_ns / (double)r->rank_count;
}

// How bad it is to lose so much of the run: our own choice.
severity regions_cost_severity(const regions *r, double ns)
{
    double share = regions_run_ns(r) > 0 ? ns / regions_run_ns(r) : 0;
    return share >= 0.1    ? SEVERITY_HIGH
           : share >= 0.05 ? SEVERITY_WARN
           : share >= 0.01 ? SEVERITY_WATCH
                           : SEVERITY_INFO;
}

// ---- findings of NICs ----

const char *regions_device_name(const regions *r, const regions_finding *x)
{
    return x->device == DIFFERENCE_NONE ? "" : r->hosts[x->host].schema->devices[x->device].name;
}

const regions_finding *regions_finding_around(const regions *r, const regions_finding *const *worst, size_t count,
                                              size_t rank, size_t node)
{
    for (size_t i = 0; i < count && node != REGIONS_NONE; i++) {
        bool around = worst[i]->node <= node && node < r->nodes[worst[i]->node].end;
        if (around && worst[i]->host == r->ranks[rank].host && worst[i]->severity >= SEVERITY_WARN) return worst[i];
    }
    return NULL;
}
