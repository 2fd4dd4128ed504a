// Phases that the user marked, incidents as phases, and the processes that left regions.
#include "analysis/base/readable.h"
#include "analysis/base/saturating_sum.h"
#include "job_columns.h"
#include "job_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASE_BYTES = 16 << 20, NAME_BYTES = 200 };

// ---- marks ----

// "1700000000.25": exact to the nanosecond. False: no time.
static bool job_parse_time(const char *text, size_t size, int64_t *ns, size_t *used)
{
    int64_t whole = 0, part = 0, unit = 1000000000;
    size_t i = 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9'; i++) {
        whole = whole * 10 + (text[i] - '0');
        if (whole > INT64_C(9000000000)) return false;
    }
    if (!i) return false;
    if (i < size && text[i] == '.')
        for (i++; i < size && text[i] >= '0' && text[i] <= '9'; i++) {
            if (unit == 1) continue;
            unit /= 10;
            part += unit * (text[i] - '0');
        }
    *ns = whole * 1000000000 + part;
    *used = i;
    return true;
}

static void job_add_mark(job_report *r, int64_t at_ns, const char *name, size_t size)
{
    bool end = size == 1 && *name == '-';
    if (size > NAME_BYTES) size = NAME_BYTES;
    arrput(r->reader->marks, ((job_mark){at_ns, end ? NULL : memory_strndup(name, size)}));
}

static bool job_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void job_parse_phases(job_report *r, const char *path, const char *text, size_t size)
{
    size_t line = 0, bad = 0;
    for (size_t at = 0; at < size;) {
        const char *begin = text + at, *newline = memchr(begin, '\n', size - at);
        size_t length = newline ? (size_t)(newline - begin) : size - at, used;
        int64_t ns;
        at += length + 1;
        line++;
        while (length && job_is_blank(begin[length - 1]))
            length--;
        while (length && job_is_blank(*begin))
            begin++, length--;
        if (!length || *begin == '#') continue;
        bool good = job_parse_time(begin, length, &ns, &used) && used < length && job_is_blank(begin[used]);
        if (!good) {
            if (!bad++) job_warn(r, path, "line %zu: expected TIME NAME, TIME in seconds since 1970", line);
            continue;
        }
        while (job_is_blank(begin[used]))
            used++;
        job_add_mark(r, ns, begin + used, length - used);
    }
    if (bad > 1) job_warn(r, path, "%zu lines are no phases", bad);
}

void job_read_phases(job_report *r, const char *path)
{
    FILE *file = readable_stream(path);
    if (!file) {
        job_warn(r, path, "%s", readable_error(errno));
        r->damaged = true;
        return;
    }
    char *text = memory_alloc(PHASE_BYTES + 1);
    size_t size = fread(text, 1, PHASE_BYTES + 1, file);
    if (ferror(file) || size > PHASE_BYTES) {
        job_warn(r, path, "%s", ferror(file) ? "cannot be read" : "larger than 16 MiB");
        r->damaged = true;
    }
    job_parse_phases(r, path, text, size > PHASE_BYTES ? PHASE_BYTES : size);
    fclose(file);
    free(text);
}

// ---- stretches ----

static int job_by_time(const void *a, const void *b)
{
    const job_mark *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static size_t job_find_phase(job_report *r, const char *name)
{
    for (size_t i = 0; i < r->phase_count; i++)
        if (strcmp(r->phases[i].name, name) == 0) return i;
    job_phase new = {.name = memory_strdup(name), .finding = JOB_NONE, .within = JOB_NONE, .energy_j = NAN};
    arrput(r->phases, new);
    return r->phase_count++;
}

static void job_add_span(job_report *r, const char *name, double from_s, double to_s)
{
    if (from_s < 0) from_s = 0;
    if (to_s > r->end_s) to_s = r->end_s;
    if (!(to_s > from_s)) return; // before or after the recording
    size_t phase = job_find_phase(r, name);
    arrput(r->spans, ((job_phase_span){phase, from_s, to_s}));
    r->span_count++;
    r->phases[phase].count++;
    r->phases[phase].time_s += to_s - from_s;
}

// Means are weighted by what is known, amounts add up.
void job_fill_phase(const job_report *r, job_phase *p, const job_phase_span *spans, size_t count)
{
    for (int m = 0; m < JOB_METERS; m++) {
        job_phase_meter *to = &p->meters[m];
        double integral = 0, known = 0;
        *to = (job_phase_meter){NAN, NAN};
        for (size_t i = 0; i < r->node_count; i++) {
            const job_lane *lane = r->nodes[i].lanes[m];
            if (!lane) continue;
            for (size_t k = 0; k < count; k++) {
                job_span x = job_bins_span(lane->bins, job_ns_of(r, spans[k].from_s), job_ns_of(r, spans[k].to_s));
                double amount = job_lane_amount(r, lane, spans[k].from_s, spans[k].to_s);
                integral += x.integral;
                known += x.known_s;
                if (!isnan(amount) && job_meter_of((job_meter)m)->sum == JOB_ADDS)
                    to->amount = isnan(to->amount) ? amount : to->amount + amount;
            }
        }
        if (known > 0) to->mean = integral / known;
    }
}

static void job_place_ranks(job_report *r)
{
    const regions *x = &r->regions;
    for (size_t i = 0; i < x->rank_count; i++) {
        const regions_rank *rank = &x->ranks[i];
        job_rank_span span = {.rank = i, .node = JOB_NONE};
        const char *host = x->hosts[rank->host].name;
        for (size_t n = 0; n < r->node_count && span.node == JOB_NONE; n++)
            if (*host && (strcmp(r->nodes[n].name, host) == 0 || strcmp(r->nodes[n].host, host) == 0)) span.node = n;
        double shift = span.node == JOB_NONE ? 0 : r->nodes[span.node].shift_s;
        span.from_s = (double)difference_capped(rank->wall_ns, r->begin_ns) * 1e-9 + shift;
        span.to_s = span.from_s + (double)rank->elapsed_ns * 1e-9;
        if (rank->wall_ns && span.to_s > 0 && span.from_s < r->end_s) arrput(r->ranks, span);
    }
    r->rank_count = arrlenu(r->ranks);
}

// A file of regions that cannot be used becomes a warning.
static void job_read_regions(job_report *r)
{
    const job_reader *reader = r->reader;
    netprof_error error = {.code = NETPROF_OK};
    regions_options how = {.rules = reader->options->rules, .max_bytes = reader->options->max_bytes};
    if (!reader->region_paths) return;
    if (regions_read(&r->regions, (const char *const *)reader->region_paths, arrlenu(reader->region_paths), &how,
                     &error))
        job_warn(r, error.path, "%s", error.text);
    for (size_t i = 0; i < r->regions.warning_count; i++)
        job_warn(r, r->regions.warnings[i].path, "%s", r->regions.warnings[i].text);
    job_place_ranks(r);
}

static void job_fill_phases(job_report *r)
{
    job_phase_span *own = NULL;
    for (size_t p = 0; p < r->phase_count; p++) {
        arrsetlen(own, 0);
        for (size_t i = 0; i < r->span_count; i++)
            if (r->spans[i].phase == p) arrput(own, r->spans[i]);
        job_fill_phase(r, &r->phases[p], own, arrlenu(own));
    }
    arrfree(own);
}

void job_make_phases(job_report *r)
{
    job_mark *marks = r->reader->marks;
    size_t count = arrlenu(marks);
    if (count) qsort(marks, count, sizeof *marks, job_by_time);
    for (size_t i = 0; i < count; i++) {
        double from = (double)difference_capped(marks[i].at_ns, r->begin_ns) * 1e-9;
        double to = i + 1 < count ? (double)difference_capped(marks[i + 1].at_ns, r->begin_ns) * 1e-9 : r->end_s;
        if (marks[i].name) job_add_span(r, marks[i].name, from, to);
    }
    if (count && !r->span_count)
        job_warn(r, "", "none of the %zu phases lies within the recording: is their time in seconds since 1970?",
                 count);
    job_fill_phases(r);
    job_read_regions(r);
}
