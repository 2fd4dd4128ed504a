// Who waited for whom, in sentences. A rank is blamed only for work; who waits long is a victim and never blamed.
#include "regions_store.h"

#include "analysis/base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- who ----

// "Ranks 0, 1, 2 and 5 more"
static void regions_late_list(const regions *r, char *text, size_t size)
{
    enum { NAMED = 4 };
    const regions_waits *w = &r->waits;
    size_t used = (size_t)snprintf(text, size, "Ranks"), shown = w->late_count <= NAMED ? w->late_count : NAMED - 1;
    for (size_t i = 0; i < shown && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 !i                       ? " "
                                 : i + 1 == w->late_count ? " and "
                                                          : ", ",
                                 r->ranks[w->late[i].rank].label);
    if (shown < w->late_count && used < size)
        snprintf(text + used, size - used, " and %zu more", w->late_count - shown);
}

static void regions_late_who(const regions *r, char *text, size_t size)
{
    const regions_waits *w = &r->waits;
    if (w->host != REGIONS_NONE)
        snprintf(text, size, "Host %s", r->hosts[w->host].name);
    else if (w->late_count > 1)
        regions_late_list(r, text, size);
    else
        regions_rank_text(r, w->late[0].rank, text, size);
}

// ---- CPUs: said before any rank is blamed ----

static bool regions_lacks_cpus(const regions_waits *w)
{
    return w->crowded != REGIONS_NONE;
}

// "4 ranks shared 2 CPUs"
static void regions_crowd_text(const regions *r, char *text, size_t size)
{
    const regions_waits *w = &r->waits;
    const regions_host *host = &r->hosts[w->crowded];
    snprintf(text, size, "%s%s%s shared %s", words_many(host->rank_count, "rank").text, r->host_count > 1 ? " of " : "",
             r->host_count > 1 ? host->name : "", words_many(w->crowded_cpus, "CPU").text);
}

// Before a rank is named: "4 ranks shared 2 CPUs; even so ", and in few words for the title. "" where they did not.
static void regions_crowd_before(const regions *r, const char *joint, char *text, size_t size, char *title, size_t room)
{
    const regions_waits *w = &r->waits;
    *text = *title = 0;
    if (!regions_lacks_cpus(w)) return;
    regions_crowd_text(r, text, size);
    strncat(text, joint, size - strlen(text) - 1);
    const regions_host *host = &r->hosts[w->crowded];
    snprintf(title, room, "%s on %s%s%s; ", words_many(host->rank_count, "rank").text,
             words_many(w->crowded_cpus, "CPU").text, r->host_count > 1 ? " of " : "",
             r->host_count > 1 ? host->name : "");
}

static void regions_lower_first(char *text)
{
    *text = (char)tolower((unsigned char)*text);
}

// "a rank waited for a CPU for 12.3 % of the run", "each rank waited for a CPU for 88.5 % of the run or more"; "" when
// that is not much, or not known.
static void regions_cpu_wait_text(const regions *r, char *text, size_t size)
{
    static const double told = 0.05;
    double least = INFINITY;
    *text = 0;
    if (!(r->waits.cpu_wait_share >= told)) return;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        bool known = rank->cpu_wait_ns >= 0 && rank->times.run_ns > 0;
        least = fmin(least, known ? fmin((double)rank->cpu_wait_ns / rank->times.run_ns, 1) : 0);
    }
    bool each = r->rank_count > 1 && least >= told && least >= 0.5 * r->waits.cpu_wait_share;
    snprintf(text, size,
             each ? "each rank waited for a CPU for %s of the run or more"
                  : "a rank waited for a CPU for %s of the run",
             words_share(each ? least : r->waits.cpu_wait_share).text);
}

// While each of a host's ranks waited for a CPU these were busy. Where its ranks together used less than half of that time,
// who shared them was not each other. "; together they got 17.1 % of these CPUs: ..."; "" else, or where it is not known.
static void regions_others_text(const regions *r, char *text, size_t size)
{
    const regions_waits *w = &r->waits;
    double used = 0, run = 0, least = INFINITY;
    *text = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        if (rank->host != w->crowded) continue;
        if (rank->cpu_ns < 0 || rank->cpu_wait_ns < 0 || rank->elapsed_ns <= 0) return;
        used += (double)rank->cpu_ns;
        least = fmin(least, (double)rank->cpu_wait_ns);
        run = fmax(run, (double)rank->elapsed_ns);
    }
    if (!(run > 0) || used >= 0.5 * (double)w->crowded_cpus * least) return;
    snprintf(text, size,
             "; together they got %s of these CPUs: while they waited others had them, or a limit withheld them",
             words_share(used / run / (double)w->crowded_cpus).text);
}

static void regions_say_crowd(regions *r)
{
    const regions_waits *w = &r->waits;
    char text[600], waited[200], others[200] = "";
    regions_cpu_wait_text(r, waited, sizeof waited);
    if (!regions_lacks_cpus(w) || w->late_count || w->held != REGIONS_NONE) { // who was named has had it said before
        severity s = !w->late_count && w->cpu_wait_share >= 0.1 ? SEVERITY_WATCH : SEVERITY_INFO;
        text_capital(waited);
        if (*waited) regions_say(r, s, REGIONS_NONE, REGIONS_NONE, memory_strdup(waited), "%s", waited);
        return;
    }
    regions_crowd_text(r, text, sizeof text);
    if (*waited) regions_others_text(r, others, sizeof others);
    regions_say(r, *waited ? SEVERITY_WATCH : SEVERITY_INFO, REGIONS_NONE, REGIONS_NONE,
                memory_format("%s; no rank stands out", text), "%s%s%s%s", text, *waited ? "; " : "", waited, others);
}

// ---- late ----

static severity regions_lower(severity s)
{
    return s == SEVERITY_HIGH ? SEVERITY_WARN : s == SEVERITY_WARN ? SEVERITY_WATCH : s;
}

static severity regions_late_severity(const regions *r)
{
    severity s = regions_cost_severity(r, r->waits.gain_ns);
    return regions_lacks_cpus(&r->waits) || r->waits.crowd_explains || r->missing_count ? regions_lower(s) : s;
}

// "it works 1.00 s, most of it in compute"
static void regions_work_text(const regions *r, char *text, size_t size)
{
    const regions_waits *w = &r->waits;
    bool many = w->late_count > 1;
    snprintf(text, size, "%s works %s%s%s%s",
             w->host != REGIONS_NONE ? "each of its ranks"
             : many                  ? "each"
                                     : "it",
             many ? "about " : "", regions_time_text(r->ranks[w->late[0].rank].times.work_ns).text,
             w->where == REGIONS_NONE ? "" : ", most of that in ",
             w->where == REGIONS_NONE ? "" : r->nodes[w->where].name);
}

// " from 12.3 s on", " from 12.3 s to 20 s", " until 20 s"; "" for the whole run.
static void regions_alone_when(const regions_alone *x, char *text, size_t size)
{
    words_text from = words_duration(x->from_s), until = words_duration(x->until_s);
    *text = 0;
    if (x->from_begin && x->to_end) return;
    if (x->to_end)
        snprintf(text, size, " from %s on", from.text);
    else if (x->from_begin)
        snprintf(text, size, " until %s", until.text);
    else
        snprintf(text, size, " from %s to %s", from.text, until.text);
}

// Since when, of one that is late: "; it alone works longer from 12.3 s on". "" when it is for the whole run.
static void regions_late_since(const regions *r, char *text, size_t size)
{
    const regions_waits *w = &r->waits;
    char when[200] = "";
    *text = 0;
    if (w->late_count == 1 && w->alone.rank == w->late[0].rank && w->alone.more)
        regions_alone_when(&w->alone, when, sizeof when);
    if (*when) snprintf(text, size, "; it alone works longer%s", when);
}

static void regions_say_late(regions *r)
{
    const regions_waits *w = &r->waits;
    char who[512], crowd[300], brief[300], works[512], waits_in[300] = "", since[256];
    const char *is = w->late_count > 1 && w->host == REGIONS_NONE ? "are" : "is";
    const regions_times *own = &r->ranks[w->late[0].rank].times;
    double others = own->work_ns - own->doubt_ns - w->late[0].excess_ns;
    regions_late_who(r, who, sizeof who);
    regions_work_text(r, works, sizeof works);
    regions_late_since(r, since, sizeof since);
    if (w->waits_in != REGIONS_NONE) snprintf(waits_in, sizeof waits_in, " in %s", r->nodes[w->waits_in].name);
    regions_crowd_before(r,
                         w->crowd_explains                            ? ": "
                         : r->ranks[w->late[0].rank].cpu_wait_ns >= 0 ? "; even so "
                                                                      : "; ",
                         crowd, sizeof crowd, brief, sizeof brief);
    bool two = r->rank_count == 2;
    if (*crowd) regions_lower_first(who);
    char *title = memory_format("%s%s %s late: the other%s %s%s%s", brief, who, is, two ? " waits" : "s wait",
                                regions_time_text(w->gain_ns).text, w->late_count > 1 ? "" : " of ",
                                w->late_count > 1 ? "" : regions_time_text(w->longest_ns).text);
    regions_say(r, regions_late_severity(r), w->where, w->late[0].rank, title,
                "%s%s %s late: %s; the other%s %s%s, and wait%s%s%s", crowd, who, is, works, two ? " works" : "s work",
                regions_time_text(fmax(others, 0)).text, two ? "" : " in the median", two ? "s" : "", waits_in, since);
    regions_say(r, SEVERITY_INFO, w->where, w->late[0].rank, NULL,
                "If %s worked as the other%s, at most %s of %s (%s) would be gained", w->late_count > 1 ? "they" : "it",
                two ? " does" : "s do", regions_time_text(w->gain_ns).text, regions_time_text(w->longest_ns).text,
                words_share(w->gain_ns / w->longest_ns).text);
}

// Why, as far as the CPU tells: facts, no blame.
static void regions_say_cpu_of_late(regions *r)
{
    const regions_waits *w = &r->waits;
    const regions_rank *first = &r->ranks[w->late[0].rank];
    if (w->crowd_explains) {
        regions_say(r, SEVERITY_INFO, REGIONS_NONE, w->late[0].rank, NULL,
                    "Rank %s waited %s for a CPU, which explains that it came late", first->label,
                    regions_time_text((double)first->cpu_wait_ns).text);
        return;
    }
    if (first->cpu_ns >= 0 && (double)first->cpu_ns < 0.5 * first->times.work_ns)
        regions_say(
            r, SEVERITY_INFO, REGIONS_NONE, w->late[0].rank, NULL,
            "In all its run rank %s used a CPU for %s: for most of its work it slept, or waited for files or for a "
            "CPU",
            first->label, regions_time_text((double)first->cpu_ns).text);
}

// Of files that do not tell how long it was between its questions, how often it asked.
static void regions_say_polls(regions *r, size_t number)
{
    const regions_rank *rank = &r->ranks[number];
    const regions_times *t = &rank->times;
    char between[128] = "";
    bool known = rank->between_polls_ns >= 0;
    if (!known && (t->polls < 1000 || (double)t->polls < 100 * t->work_ns / 1e9)) return;
    if (known && t->doubt_ns < 0.02 * t->run_ns) return; // own: a fiftieth of the run changes no answer
    if (known) snprintf(between, sizeof between, ", %s in all,", regions_time_text(t->doubt_ns).text);
    regions_say(
        r, SEVERITY_INFO, REGIONS_NONE, number, NULL,
        "Rank %s asked %s whether something had come (MPI_Test, MPI_Iprobe): what it does in between%s counts as "
        "work, and may be waiting",
        rank->label, words_many(t->polls, "time").text, between);
}

static void regions_say_turns(regions *r)
{
    enum { TOLD = 6 };
    const regions_waits *w = &r->waits;
    char text[700];
    bool one = true;
    size_t used = 0, shown = w->late_count < TOLD ? w->late_count : TOLD;
    for (size_t i = 1; i < w->late_count; i++)
        one &= w->late[i].rank == w->late[0].rank;
    for (size_t i = 0; i < shown; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%srank %s from %s to %s", i ? ", " : "",
                                 r->ranks[w->late[i].rank].label, words_duration(w->late[i].from_s).text,
                                 words_duration(w->late[i].until_s).text);
    char who[512] = "Ranks", crowd[300], brief[300], what[64] = "Ranks are late in turn";
    if (one) regions_rank_text(r, w->late[0].rank, who, sizeof who);
    if (one) snprintf(what, sizeof what, "A rank is late for a part of the run");
    regions_crowd_before(r, "; ", crowd, sizeof crowd, brief, sizeof brief);
    if (*crowd) regions_lower_first(who);
    if (*crowd) regions_lower_first(what);
    char *title = one ? memory_format("%s%s is late for a part of the run: the others wait %s", brief, who,
                                      regions_time_text(w->gain_ns).text)
                      : memory_format("%s%s are late in turn: the others wait %s of %s", brief, who,
                                      regions_time_text(w->gain_ns).text, regions_time_text(w->longest_ns).text);
    regions_say(r, regions_late_severity(r), REGIONS_NONE, one ? w->late[0].rank : REGIONS_NONE, title,
                "%s%s: %s%s; the others wait for %s, up to %s of %s (%s)", crowd, what, text,
                shown < w->late_count ? ", ..." : "", one ? "it" : "them", regions_time_text(w->gain_ns).text,
                regions_time_text(w->longest_ns).text, words_share(w->gain_ns / w->longest_ns).text);
}

// ---- held ----

// What happened to the network of its host in the region where it is held, or in one around that; the rank itself is a
// victim.
static void regions_say_held(regions *r, const regions_finding *x)
{
    const regions_waits *w = &r->waits;
    const char *in = w->held_in == REGIONS_NONE ? "its waits" : r->nodes[w->held_in].name;
    const char *until = w->held_until == REGIONS_NONE ? "" : r->nodes[w->held_until].name;
    char who[512], cause[600] = "", brief[300] = "", crowd[300], crowded[300];
    regions_rank_text(r, w->held, who, sizeof who);
    regions_crowd_before(r, "; ", crowd, sizeof crowd, crowded, sizeof crowded);
    if (*crowd) regions_lower_first(who);
    if (x) {
        const char *device = regions_device_name(r, x);
        snprintf(cause, sizeof cause, "; in %s meanwhile, on its host%s%s: %s", r->nodes[x->node].name,
                 *device ? " " : "", device, x->claim);
        snprintf(brief, sizeof brief, "; trouble on %s", *device ? device : "its host");
    }
    severity cost = regions_cost_severity(r, w->held_ns);
    severity s = !x ? (cost > SEVERITY_WATCH ? SEVERITY_WATCH : cost) : cost > x->severity ? cost : x->severity;
    if (!x)
        snprintf(brief, sizeof brief, ": the others wait %s of %s", regions_time_text(w->held_ns).text,
                 regions_time_text(w->longest_ns).text);
    regions_say(
        r, s, w->held_in, w->held, memory_format("%s%s is held in %s%s", crowded, who, in, brief),
        "%s%s is held in %s, %s longer than the others in the median, and so is the last %s%s, where the others "
        "wait for it%s%s",
        crowd, who, in, regions_time_text(w->held_ns).text, *until ? "in " : "where all meet", until,
        x ? "" : ": it does not work longer; what it waits for is its partner or the way to it", cause);
    regions_note *note = &r->notes[r->note_count - 1];
    const char *meanwhile = *cause ? strstr(note->text, cause) : NULL;
    if (meanwhile) note->meanwhile = (size_t)(meanwhile - note->text) + strlen("; ");
    regions_say(r, SEVERITY_INFO, w->held_in, w->held, NULL, "At most %s of %s (%s) would be gained without",
                regions_time_text(w->held_ns).text, regions_time_text(w->longest_ns).text,
                words_share(w->held_ns / w->longest_ns).text);
}

// ---- nobody ----

// No culprit.
static void regions_say_alone_less(regions *r)
{
    const regions_waits *w = &r->waits;
    const regions_alone *x = &w->alone;
    if (x->rank == REGIONS_NONE || x->more) return;
    char who[512], when[200], works[400], range[2 * sizeof(words_text) + 8];
    words_text low = words_share(x->low), high = words_share(x->high);
    regions_rank_text(r, x->rank, who, sizeof who);
    regions_alone_when(x, when, sizeof when);
    if (x->silent)
        snprintf(works, sizeof works, "does next to no work%s", when);
    else
        snprintf(works, sizeof works, "works less%s: %s of the time", when, words_share(x->share).text);
    if (strcmp(low.text, high.text) == 0)
        snprintf(range, sizeof range, "%s each", low.text);
    else
        snprintf(range, sizeof range, "%s to %s", low.text, high.text);
    regions_say(r, SEVERITY_INFO, REGIONS_NONE, x->rank, NULL, "%s alone %s; the %zu other ranks work %s; %s", who,
                works, r->rank_count - 1, range,
                w->early == x->rank ? "it waits for the others, and nobody waits for it"
                                    : "the rest of its time it is in MPI");
}

static bool regions_is_for_a_part(const regions_alone *x)
{
    return x->rank != REGIONS_NONE && !x->more && !(x->from_begin && x->to_end);
}

static void regions_say_early(regions *r)
{
    const regions_waits *w = &r->waits;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        least = fmin(least, r->ranks[i].times.work_ns);
        most = fmax(most, r->ranks[i].times.work_ns);
    }
    if (!w->late_count && w->held == REGIONS_NONE && w->even_ns >= 0.1 * w->run_ns) // chance alone is below
        regions_say(
            r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
            memory_format("No single rank is late: work is uneven, %s to %s", regions_time_text(least).text,
                          regions_time_text(most).text),
            "Work is uneven: %s to %s on a rank, %s in the median; spread evenly, at most %s of %s (%s) would be "
            "gained",
            regions_time_text(least).text, regions_time_text(most).text, regions_time_text(w->work_ns).text,
            regions_time_text(w->even_ns).text, regions_time_text(w->longest_ns).text,
            words_share(w->even_ns / w->longest_ns).text);
    if (w->early == REGIONS_NONE || least > 0.9 * w->work_ns || regions_is_for_a_part(&w->alone)) {
        regions_say_alone_less(r);
        return;
    }
    char who[512];
    regions_say(r, SEVERITY_INFO, REGIONS_NONE, w->early, NULL,
                "%s has the least work, %s: it waits for the others, and nobody waits for it",
                regions_rank_text(r, w->early, who, sizeof who), regions_time_text(least).text);
}

// ---- over time, without MPI ----

// A share of the time; of several threads how many are in there.
static words_text regions_in_region_text(double value, bool threads)
{
    words_text text = words_share(value);
    if (threads) snprintf(text.text, sizeof text.text, "%.20s threads", words_number(value).text);
    return text;
}

void regions_say_over_time(regions *r, size_t slow)
{
    const regions_waits *w = &r->waits;
    const regions_alone *x = &w->in_region;
    char who[512], when[200], range[2 * sizeof(words_text) + 8];
    if (x->rank == REGIONS_NONE) return;
    const char *name = r->nodes[w->region].name;
    bool threads = fmax(x->share, x->high) > 1.05, named = false;
    words_text own = regions_in_region_text(x->share, threads), low = regions_in_region_text(x->low, threads),
               high = regions_in_region_text(x->high, threads);
    // That it is slowest there is said, and that others wait for it; since when is new. No culprit where waits are known.
    named |= slow != REGIONS_NONE && strcmp(r->nodes[slow].name, name) == 0 &&
             r->nodes[slow].cells[r->nodes[slow].odd].rank == x->rank;
    severity s = x->more && !named && !w->known ? SEVERITY_WATCH : SEVERITY_INFO;
    regions_rank_text(r, x->rank, who, sizeof who);
    regions_alone_when(x, when, sizeof when);
    if (strcmp(low.text, high.text) == 0)
        snprintf(range, sizeof range, "%s", low.text);
    else
        snprintf(range, sizeof range, "%s to %s", low.text, high.text);
    regions_say(r, s, w->region, x->rank,
                memory_format("%s alone spends %s time in %s%s", who, x->more ? "more" : "less", name, when),
                "%s alone %s %s%s in %s%s; the %s %s", who, x->silent || !threads ? "spends" : "has",
                x->silent ? "next to no time" : own.text, x->silent || threads ? "" : " of its time", name, when,
                r->rank_count == 2 ? "other rank" : words_many(r->rank_count - 1, "other rank").text, range);
}

// ---- all of it ----

// The finding that it is told with is told: it leaves the list.
static void regions_blame_held(regions *r, const regions_finding **worst, size_t *count)
{
    const regions_finding *x = regions_finding_around(r, worst, *count, r->waits.held, r->waits.held_in);
    size_t kept = 0;
    regions_say_held(r, x);
    for (size_t i = 0; i < *count; i++)
        if (worst[i] != x) worst[kept++] = worst[i];
    *count = kept;
}

// `worst` loses what is told here.
bool regions_blame(regions *r, const regions_finding **worst, size_t *count)
{
    const regions_waits *w = &r->waits;
    if (r->runs > 1) return false;
    if (!w->known) {
        regions_say_crowd(r);
        return false;
    }
    if (w->in_turn)
        regions_say_turns(r);
    else if (w->late_count)
        regions_say_late(r);
    else if (w->held != REGIONS_NONE)
        regions_blame_held(r, worst, count);
    regions_say_crowd(r);
    if (w->late_count && !w->in_turn) {
        regions_say_cpu_of_late(r);
        regions_say_polls(r, w->late[0].rank);
    }
    if (w->in_doubt != REGIONS_NONE) regions_say_polls(r, w->in_doubt);
    regions_say_early(r);
    return w->late_count || w->held != REGIONS_NONE;
}
