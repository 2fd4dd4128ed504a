// What must be known of the data when a comparison is read: hosts, devices, counters, lengths.
#include "comparer.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 3 }; // that are called by their names

static void notes_add_note(comparison *c, char *text)
{
    if (!text) return;
    arrput(c->notes, text);
    c->note_count = arrlenu(c->notes);
}

// The hosts of a side, each once.
static size_t notes_append_hosts(const comparison *c, char **text, comparison_side side)
{
    size_t count = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        bool again = false;
        for (size_t k = 0; k < r; k++)
            again |= c->runs[k]->side == side && strcmp(c->runs[k]->host, c->runs[r]->host) == 0;
        if (c->runs[r]->side != side || again || !*c->runs[r]->host) continue;
        if (count < NAMED) text_append(text, "%s%s", count ? ", " : "", c->runs[r]->host);
        count++;
    }
    if (count > NAMED) text_append(text, " and %zu more", count - NAMED);
    return count;
}

static void notes_hosts(comparison *c)
{
    char *healthy = NULL, *faulty = NULL, *text = NULL;
    size_t h = notes_append_hosts(c, &healthy, COMPARISON_HEALTHY),
           f = notes_append_hosts(c, &faulty, COMPARISON_FAULTY);
    if (h && f && (h > 1 || f > 1 || strcmp(healthy, faulty) != 0))
        text_append(&text, "different hosts: healthy %s, faulty %s; devices are matched by name", healthy, faulty);
    notes_add_note(c, text);
    free(healthy);
    free(faulty);
}

// Devices that only one side has.
static void notes_devices(comparison *c, comparison_side side)
{
    char *names = NULL, *text = NULL;
    size_t count = 0;
    for (size_t i = 0; i < c->device_count; i++) {
        const comparison_device *d = &c->devices[i];
        if (!d->runs[side] || d->runs[!side]) continue;
        if (count < NAMED) text_append(&names, "%s%s (%s)", count ? ", " : "", d->name, d->source);
        count++;
    }
    if (count > NAMED) text_append(&names, " and %zu more", count - NAMED);
    if (count)
        text_append(&text, "%s only on the %s side, not compared: %s", words_noun(count, "device").text,
                    comparison_side_name(side), names ? names : "");
    free(names);
    notes_add_note(c, text);
}

static void notes_counters(comparison *c)
{
    char *text = NULL;
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (!c->counts.only[side]) continue;
        text_append(&text, "%s%s only on the %s side", text ? ", " : "",
                    words_many(c->counts.only[side], "counter").text, comparison_side_name((comparison_side)side));
    }
    if (text) text_append(&text, ": not compared");
    notes_add_note(c, text);
}

// Counters that exist on both sides and have no value on one: reset, not readable, not asked for.
static void notes_unknown(comparison *c)
{
    char *text = NULL;
    size_t gone = c->counts.only[0] + c->counts.only[1];
    if (c->counts.states[COMPARISON_UNKNOWN] <= gone) return;
    size_t count = c->counts.states[COMPARISON_UNKNOWN] - gone;
    text_append(&text, "%s could not be compared: reset, not read, or not readable (--all names them)",
                words_many(count, "counter").text);
    notes_add_note(c, text);
}

static void notes_resets(comparison *c)
{
    for (size_t r = 0; r < c->run_count; r++) {
        const difference_counts *total = &c->runs[r]->d.total;
        char *text = NULL;
        size_t resets = total->flagged[NETPROF_FLAG_RESET];
        if (!resets) continue;
        text_append(&text, "%zu of %zu counters started again from zero in the %s run %s", resets, total->counters,
                    comparison_side_name(c->runs[r]->side), c->runs[r]->label);
        notes_add_note(c, text);
    }
}

static double notes_side_seconds(const comparison *c, comparison_side side, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        double seconds = (double)c->runs[r]->elapsed_ns / 1e9;
        if (c->runs[r]->side != side || !(seconds > 0)) continue;
        *low = fmin(*low, seconds);
        *high = fmax(*high, seconds);
    }
    return *high;
}

static void notes_lengths(comparison *c)
{
    double low[COMPARISON_SIDES], high[COMPARISON_SIDES];
    char *text = NULL;
    bool known = notes_side_seconds(c, COMPARISON_HEALTHY, &low[0], &high[0]) > 0;
    known = notes_side_seconds(c, COMPARISON_FAULTY, &low[1], &high[1]) > 0 && known;
    double longest = fmax(high[0], high[1]), shortest = fmin(low[0], low[1]);
    if (!known)
        text_append(&text, "the length of a run is not known: no ratio per second");
    else if (longest > 2 * shortest)
        text_append(&text, "runs of different length: %s to %s; counts of short runs are less certain",
                    words_duration(shortest).text, words_duration(longest).text);
    notes_add_note(c, text);
}

static void notes_damage(comparison *c)
{
    for (size_t r = 0; r < c->run_count; r++) {
        char *text = NULL;
        if (!c->runs[r]->damaged) continue;
        text_append(&text, "parts of the %s run %s are missing", comparison_side_name(c->runs[r]->side),
                    c->runs[r]->label);
        notes_add_note(c, text);
    }
}

// What so many runs can show of counters.
static void notes_chance(comparison *c)
{
    size_t h = c->side_count[COMPARISON_HEALTHY], f = c->side_count[COMPARISON_FAULTY];
    char *text = NULL;
    if (c->run_count == 2)
        text_append(&text, "one run on each side: how much counters vary from run to run is not known; those without a "
                           "rule are shown and accuse nobody");
    else if (c->splits < 100)
        text_append(&text,
                    "%zu healthy and %zu faulty runs can be split in %.0f ways: too few to tell counters from chance; "
                    "those without a rule accuse nobody (5 and 5 runs can)",
                    h, f, c->splits);
    else
        text_append(&text, "counters without a rule that are worth watching: of runs that differ in nothing, at most 1 "
                           "of 100 comparisons has any");
    notes_add_note(c, text);
}

void comparer_notes(comparer *m)
{
    comparison *c = m->c;
    notes_hosts(c);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        notes_devices(c, (comparison_side)side);
    notes_counters(c);
    notes_resets(c);
    notes_unknown(c);
    notes_lengths(c);
    notes_chance(c);
    notes_damage(c);
}
