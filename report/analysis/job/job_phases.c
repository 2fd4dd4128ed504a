// Phases that the user marked, incidents as phases, and the processes that left regions.
#include "job_columns.h"
#include "job_store.h"
#include "analysis/base/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASE_BYTES = 16 << 20, NAME_BYTES = 200 };

// ---- marks ----

// "1700000000.25": exact to the nanosecond. False: no time.
static bool parse_time(const char *text, size_t size, int64_t *ns, size_t *used)
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

// Up to a 0, if there is one; the text need not end with one.
static char *copy_name(const char *name, size_t size)
{
    const char *end = memchr(name, 0, size);
    size_t length = end ? (size_t)(end - name) : size;
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, name, length);
    copy[length] = 0;
    return copy;
}

// False: no memory.
static bool add_mark(job_report *r, int64_t at_ns, const char *name, size_t size)
{
    job_reader *reader = r->reader;
    bool end = size == 1 && *name == '-';
    if (size > NAME_BYTES) size = NAME_BYTES;
    if (!list_grow(&reader->marks, reader->mark_count, &reader->mark_room, sizeof *reader->marks)) return false;
    job_mark *to = &reader->marks[reader->mark_count];
    *to = (job_mark){at_ns, end ? NULL : copy_name(name, size)};
    if (!end && !to->name) return false;
    reader->mark_count++;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool job_parse_phases(job_report *r, const char *path, const char *text, size_t size)
{
    size_t line = 0, bad = 0;
    for (size_t at = 0; at < size;) {
        const char *begin = text + at, *newline = memchr(begin, '\n', size - at);
        size_t length = newline ? (size_t)(newline - begin) : size - at, used;
        int64_t ns;
        at += length + 1;
        line++;
        while (length && is_blank(begin[length - 1]))
            length--;
        while (length && is_blank(*begin))
            begin++, length--;
        if (!length || *begin == '#') continue;
        bool good = parse_time(begin, length, &ns, &used) && used < length && is_blank(begin[used]);
        if (!good) {
            if (!bad++) job_warn(r, path, "line %zu: expected TIME NAME, TIME in seconds since 1970", line);
            continue;
        }
        while (is_blank(begin[used]))
            used++;
        if (!add_mark(r, ns, begin + used, length - used)) return false;
    }
    if (bad > 1) job_warn(r, path, "%zu lines are no phases", bad);
    return true;
}

bool job_read_phases(job_report *r, const char *path)
{
    FILE *file = fopen(path, "rbe");
    char *text = file ? malloc(PHASE_BYTES + 1) : NULL;
    bool good = !file || text;
    if (!file) {
        job_warn(r, path, "%s", strerror(errno));
        r->damaged = true;
    }
    if (text) {
        size_t size = fread(text, 1, PHASE_BYTES + 1, file);
        if (ferror(file) || size > PHASE_BYTES) {
            job_warn(r, path, "%s", ferror(file) ? "cannot be read" : "larger than 16 MiB");
            r->damaged = true;
        }
        good = job_parse_phases(r, path, text, size > PHASE_BYTES ? PHASE_BYTES : size);
    }
    if (file) fclose(file);
    free(text);
    return good;
}

// ---- stretches ----

static int by_time(const void *a, const void *b)
{
    const job_mark *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

// JOB_NONE: no memory.
static size_t find_phase(job_report *r, const char *name)
{
    for (size_t i = 0; i < r->phase_count; i++)
        if (strcmp(r->phases[i].name, name) == 0) return i;
    if (!list_grow_one(&r->phases, r->phase_count, sizeof *r->phases)) return JOB_NONE;
    r->phases[r->phase_count] =
        (job_phase){.name = strdup(name), .finding = JOB_NONE, .within = JOB_NONE, .energy_j = NAN};
    return r->phases[r->phase_count].name ? r->phase_count++ : JOB_NONE;
}

static bool add_span(job_report *r, const char *name, double from_s, double to_s)
{
    if (from_s < 0) from_s = 0;
    if (to_s > r->end_s) to_s = r->end_s;
    if (!(to_s > from_s)) return true; // before or behind the recording
    size_t phase = find_phase(r, name);
    if (phase == JOB_NONE || !list_grow_one(&r->spans, r->span_count, sizeof *r->spans)) return false;
    r->spans[r->span_count++] = (job_phase_span){phase, from_s, to_s};
    r->phases[phase].count++;
    r->phases[phase].time_s += to_s - from_s;
    return true;
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

static bool place_ranks(job_report *r)
{
    const regions *x = &r->regions;
    if (!x->rank_count) return true;
    if (!(r->ranks = calloc(x->rank_count, sizeof *r->ranks))) return false;
    for (size_t i = 0; i < x->rank_count; i++) {
        const regions_rank *rank = &x->ranks[i];
        job_rank_span span = {.rank = i, .node = JOB_NONE};
        const char *host = x->hosts[rank->host].name;
        for (size_t n = 0; n < r->node_count && span.node == JOB_NONE; n++)
            if (*host && (strcmp(r->nodes[n].name, host) == 0 || strcmp(r->nodes[n].host, host) == 0)) span.node = n;
        double shift = span.node == JOB_NONE ? 0 : r->nodes[span.node].shift_s;
        span.from_s = (double)(rank->wall_ns - r->begin_ns) * 1e-9 + shift;
        span.to_s = span.from_s + (double)rank->elapsed_ns * 1e-9;
        if (rank->wall_ns && span.to_s > 0 && span.from_s < r->end_s) r->ranks[r->rank_count++] = span;
    }
    return true;
}

// A region file that cannot be used is a warning there.
static bool read_regions(job_report *r)
{
    job_reader *reader = r->reader;
    netprof_error error = {.code = NETPROF_OK};
    regions_options how = {.rules = reader->options->rules, .max_bytes = reader->options->max_bytes};
    if (!reader->region_count) return true;
    netprof_err err =
        regions_read(&r->regions, (const char *const *)reader->region_paths, reader->region_count, &how, &error);
    if (err == NETPROF_ERR_NOMEM) return false;
    if (err) job_warn(r, error.path, "%s", error.text);
    for (size_t i = 0; i < r->regions.warning_count; i++)
        job_warn(r, r->regions.warnings[i].path, "%s", r->regions.warnings[i].text);
    return place_ranks(r);
}

bool job_make_phases(job_report *r)
{
    job_reader *reader = r->reader;
    bool good = true;
    if (reader->mark_count) qsort(reader->marks, reader->mark_count, sizeof *reader->marks, by_time);
    for (size_t i = 0; i < reader->mark_count && good; i++) {
        const job_mark *m = &reader->marks[i];
        double from = (double)(m->at_ns - r->begin_ns) * 1e-9;
        double to = i + 1 < reader->mark_count ? (double)(m[1].at_ns - r->begin_ns) * 1e-9 : r->end_s;
        if (m->name) good = add_span(r, m->name, from, to);
    }
    if (reader->mark_count && !r->span_count)
        job_warn(r, "", "none of the %zu phases lies within the recording: is their time in seconds since 1970?",
                 reader->mark_count);
    job_phase_span *own = calloc(r->span_count + 1, sizeof *own);
    for (size_t p = 0; p < r->phase_count && own; p++) {
        size_t n = 0;
        for (size_t i = 0; i < r->span_count; i++)
            if (r->spans[i].phase == p) own[n++] = r->spans[i];
        job_fill_phase(r, &r->phases[p], own, n);
    }
    good = good && own;
    free(own);
    return good && read_regions(r);
}
