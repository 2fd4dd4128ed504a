// Several exports, one for each rank or node: their tables together, their processes side by side, their clocks on one
// axis.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "analysis/data/clocks.h"
#include "nsys_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- tables of all files ----

static void nsys_job_join_tables(nsys_job *job)
{
    const nsys_table **tables = memory_calloc(job->file_count, sizeof *tables);
    for (int kind = 0; kind < NSYS_READ; kind++) {
        for (size_t i = 0; i < job->file_count; i++)
            tables[i] = &job->files[i].tables[kind];
        nsys_table_join(&job->together.tables[kind], tables, job->file_count);
        for (size_t i = 0; i < job->file_count; i++)
            for (size_t r = 0; r < tables[i]->row_count; r++)
                nsys_values_free(&job->files[i].tables[kind].rows[r].values);
    }
    free(tables);
}

// ---- processes side by side ----

static int nsys_job_by_rank(const void *a, const void *b)
{
    const nsys_spender *x = a, *y = b;
    int64_t p = x->process->rank, q = y->process->rank;
    if (p != q) return p < 0 ? 1 : q < 0 ? -1 : p > q ? 1 : -1;
    if (x->file != y->file) return x->file > y->file ? 1 : -1;
    return (x->process->pid > y->process->pid) - (x->process->pid < y->process->pid);
}

static void nsys_job_find_balance(const nsys_job *job, int what, nsys_balance *to)
{
    double sum = 0;
    *to = (nsys_balance){.ratio = NAN};
    for (size_t i = 0; i < job->spent_count; i++) {
        const nsys_spender *s = &job->spent[i];
        uint64_t ns = s->process->spent_ns[what];
        if (!job->files[s->file].knows[what]) continue;
        if (!to->count || ns > job->spent[to->high].process->spent_ns[what]) to->high = i;
        if (!to->count || ns < job->spent[to->low].process->spent_ns[what]) to->low = i;
        sum += (double)ns;
        to->count++;
    }
    if (!to->count) return;
    to->mean = sum / (double)to->count;
    if (sum > 0) to->ratio = (double)job->spent[to->high].process->spent_ns[what] / to->mean;
}

static void nsys_job_list_processes(nsys_job *job)
{
    size_t count = 0;
    for (size_t i = 0; i < job->file_count; i++)
        count += job->files[i].process_count;
    job->spent = memory_calloc(count, sizeof *job->spent);
    for (size_t i = 0; i < job->file_count; i++)
        for (size_t k = 0; k < job->files[i].process_count; k++)
            job->spent[job->spent_count++] = (nsys_spender){i, &job->files[i].processes[k]};
    if (count) qsort(job->spent, job->spent_count, sizeof *job->spent, nsys_job_by_rank);
    job->repeated_rank = -1;
    for (size_t i = count; i-- > 1;) {
        const nsys_spender *s = &job->spent[i], *before = s - 1;
        bool same = s->process->rank == before->process->rank && s->file != before->file;
        if (same && s->process->rank >= 0) job->repeated_rank = s->process->rank;
    }
    for (int what = 0; what < NSYS_SPENT; what++)
        nsys_job_find_balance(job, what, &job->balance[what]);
}

// ---- clocks ----

enum {
    EVENTS = 48,       // that clocks are compared by, of each process ...
    ALL_EVENTS = 8192, // ... and of all, but for the few shortest: the time grows with the square
    FEW = 4,
    KEY = 32,
    ROUNDED_NS = 256, // doubles hold today's ns to so many
    NAMED = 4
};

// A meeting that every file has.
typedef struct common_round {
    size_t kind;
    uint64_t number;
    int64_t length_ns; // of the longest stay
    size_t files;
} common_round;

// Are the ranks of all files among those of the largest communicator that each file lists?
static bool nsys_job_is_one_world(const nsys_job *job)
{
    size_t ranks = job->files[0].ranks;
    for (size_t i = 1; i < job->file_count; i++)
        if (job->files[i].ranks != ranks) return false;
    for (size_t i = 0; i < job->spent_count && ranks; i++)
        if (job->spent[i].process->rank >= (int64_t)ranks) return false;
    return true;
}

static bool nsys_job_is_common(const nsys_job *job, size_t kind)
{
    uint64_t rounds = job->files[0].rounds[kind];
    for (size_t i = 1; i < job->file_count; i++)
        if (job->files[i].rounds[kind] != rounds) return false;
    return rounds > 0;
}

static int nsys_job_by_length(const void *a, const void *b)
{
    const common_round *x = a, *y = b;
    if (x->length_ns != y->length_ns) return x->length_ns > y->length_ns ? 1 : -1;
    if (x->kind != y->kind) return x->kind > y->kind ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

// Notes the meetings of file number f, which are added only from the first file, where their kind is common to all.
static void nsys_job_note_rounds(const nsys_job *job, size_t f, const bool common[NSYS_MEETINGS], common_round **rounds,
                                 nsys_map **round_of)
{
    const nsys *n = &job->files[f];
    for (size_t i = 0; i < n->meeting_count; i++) {
        const nsys_meeting *m = &n->meetings[i];
        size_t at = nsys_find(*round_of, (int64_t)m->kind, (int64_t)m->round);
        if (at == NSYS_NONE && (f || !common[m->kind])) continue;
        if (at == NSYS_NONE) {
            common_round round = {m->kind, m->round, 0, 0};
            at = arrlenu(*rounds);
            arrput(*rounds, round);
            nsys_put(round_of, (int64_t)m->kind, (int64_t)m->round, at);
        }
        common_round *r = &(*rounds)[at];
        if (m->end_ns - m->begin_ns > r->length_ns) r->length_ns = m->end_ns - m->begin_ns;
        if (r->files == f) r->files++;
    }
}

// The meetings that all files have, the shortest first, for they place clocks best: an array of stb_ds.
static common_round *nsys_job_common_rounds(const nsys_job *job)
{
    nsys_map *round_of = NULL;
    common_round *rounds = NULL;
    bool common[NSYS_MEETINGS];
    size_t kept = 0, most = ALL_EVENTS / (job->spent_count + 1);
    for (size_t kind = 0; kind < NSYS_MEETINGS; kind++)
        common[kind] = nsys_job_is_one_world(job) && nsys_job_is_common(job, kind);
    for (size_t f = 0; f < job->file_count; f++)
        nsys_job_note_rounds(job, f, common, &rounds, &round_of);
    hmfree(round_of);
    for (size_t i = 0; i < arrlenu(rounds); i++)
        if (rounds[i].files == job->file_count) rounds[kept++] = rounds[i];
    if (kept) qsort(rounds, kept, sizeof *rounds, nsys_job_by_length);
    most = most > EVENTS ? EVENTS : most < FEW ? FEW : most;
    arrsetlen(rounds, kept < most ? kept : most);
    return rounds;
}

static const common_round *nsys_job_round(const common_round *rounds, const nsys_meeting *m)
{
    for (size_t i = 0; i < arrlenu(rounds); i++)
        if (rounds[i].kind == m->kind && rounds[i].number == m->round) return &rounds[i];
    return NULL;
}

// One event for each meeting of each process: the last process came while this one stayed. An array of stb_ds; keys: of
// the rounds.
static clocks_event *nsys_job_make_events(const nsys_job *job, const common_round *rounds, char (*keys)[KEY])
{
    clocks_event *events = NULL;
    for (size_t i = 0; i < arrlenu(rounds); i++)
        snprintf(keys[i], KEY, "%zu %llu", rounds[i].kind, (unsigned long long)rounds[i].number);
    for (size_t f = 0; f < job->file_count; f++) {
        const nsys *n = &job->files[f];
        for (size_t i = 0; i < n->meeting_count; i++) {
            const nsys_meeting *m = &n->meetings[i];
            const common_round *of = nsys_job_round(rounds, m);
            if (!of) continue;
            int64_t half = (m->end_ns - m->begin_ns) / 2 + ROUNDED_NS;
            clocks_event event = {f, keys[of - rounds], n->session_ns + m->begin_ns + half, half};
            arrput(events, event);
        }
    }
    return events;
}

// Clocks that collectives contradict, or that drift as no clock does: they were not the same collectives. Of the same
// ones each fixes a clock to within twice its longest stay, on both sides.
static bool nsys_job_is_plausible(const clocks *c, int64_t longest_ns)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->runs[i].basis == CLOCKS_NOTHING || !(fabs(c->runs[i].drift) < 5e-4) ||
            c->runs[i].error_ns / 2 > longest_ns + 4 * ROUNDED_NS || !(fabs((double)c->runs[i].offset_ns) < 1e18))
            return false;
    return true;
}

static const char *nsys_job_host(const nsys *n)
{
    return n->host && *n->host ? n->host : n->path;
}

static void nsys_job_find_clocks(nsys_job *job)
{
    clocks_input *inputs = memory_calloc(job->file_count, sizeof *inputs);
    common_round *rounds = nsys_job_common_rounds(job);
    size_t round_count = arrlenu(rounds);
    char(*keys)[KEY] = memory_calloc(round_count, sizeof *keys);
    clocks_event *events = nsys_job_make_events(job, rounds, keys);
    job->clocks = memory_calloc(1, sizeof *job->clocks);
    for (size_t i = 0; i < job->file_count; i++) {
        const nsys *n = &job->files[i];
        // Files of one host are of one clock.
        inputs[i] = (clocks_input){.name = nsys_job_host(n),
                                   .boot_id = n->host && *n->host ? n->host : NULL,
                                   .wall_ns = n->session_ns,
                                   .end_wall_ns = n->session_ns + n->end_ns,
                                   .max_error_ns = CLOCKS_UNKNOWN_NS};
    }
    clocks_find(job->clocks, inputs, job->file_count, events, arrlenu(events));
    job->meetings = job->clocks->hosts > 1 ? round_count : 0;
    if (events && !nsys_job_is_plausible(job->clocks, rounds[round_count - 1].length_ns)) {
        clocks_free(job->clocks);
        job->meetings = 0;
        clocks_find(job->clocks, inputs, job->file_count, NULL, 0);
    }
    arrfree(events);
    free(keys);
    arrfree(rounds);
    free(inputs);
}

static void nsys_job_put_moves(FILE *to, const nsys_job *job)
{
    size_t moved = 0;
    for (size_t i = 0; i < job->file_count; i++) {
        const clocks_run *run = &job->clocks->runs[i];
        bool told = !run->offset_ns;
        for (size_t k = 0; k < i; k++)
            told |= job->clocks->runs[k].host == run->host;
        if (told || moved++ >= NAMED) continue;
        fprintf(to, " %s is moved ", nsys_job_host(&job->files[i]));
        clocks_put_time(to, (double)run->offset_ns);
        fputs(run->offset_ns > 0 ? " ahead." : " back.", to);
    }
    if (moved > NAMED) fprintf(to, " So are %zu more.", moved - NAMED);
}

static void nsys_job_say_agreement(FILE *to, const nsys_job *job)
{
    fprintf(to, "%zu hosts, placed by when each profile began (UTC) and by %zu collectives of MPI: they agree within ",
            job->clocks->hosts, job->meetings);
    clocks_put_time(to, (double)job->clocks->error_ns);
    putc('.', to);
}

static void nsys_job_say_clocks(nsys_job *job)
{
    size_t size, without = 0;
    FILE *to = memory_check(open_memstream(&job->clock_text, &size));
    for (size_t i = 0; i < job->file_count; i++)
        without += !job->files[i].session_ns;
    if (without)
        fprintf(to, "%zu of %zu files do not tell when their profile began: they are on no common axis.", without,
                job->file_count);
    else if (job->clocks->hosts < 2)
        fprintf(to, "%s",
                job->file_count > 1
                    ? "All files are of one host: placed by when each profile began, by that host's clock."
                    : "Placed by when the profile began, by its host's clock.");
    else if (job->meetings && job->clocks->error_ns >= 0)
        nsys_job_say_agreement(to, job);
    else
        fprintf(to,
                "%zu hosts, placed by when each profile began (UTC) by its host's clock: how far these are "
                "apart is not known.",
                job->clocks->hosts);
    if (job->meetings) nsys_job_put_moves(to, job);
    if (fclose(to)) memory_exhausted();
}

// The host's clock moves all files of it alike.
static void nsys_job_place(nsys_job *job)
{
    job->from_ns = INT64_MAX;
    job->begin_ns = memory_calloc(job->file_count, sizeof *job->begin_ns);
    for (size_t i = 0; i < job->file_count; i++) {
        const nsys *n = &job->files[i];
        job->begin_ns[i] = clocks_place(job->clocks, i, n->session_ns);
        if (!n->bin_count) continue;
        if (job->begin_ns[i] + n->begin_ns < job->from_ns) job->from_ns = job->begin_ns[i] + n->begin_ns;
        if (job->begin_ns[i] + n->end_ns > job->to_ns) job->to_ns = job->begin_ns[i] + n->end_ns;
    }
    if (job->from_ns == INT64_MAX) job->from_ns = job->to_ns = 0;
}

// ---- all ----

// A file that is read twice would count twice.
static netprof_err nsys_job_check_once(const char *const *paths, size_t count, netprof_error *error)
{
    struct stat *files = memory_calloc(count, sizeof *files);
    bool twice = false;
    for (size_t i = 0; i < count && !twice; i++) {
        if (stat(paths[i], &files[i])) continue; // reading it says why
        for (size_t k = 0; k < i && !twice; k++)
            twice = files[k].st_nlink && files[k].st_ino == files[i].st_ino && files[k].st_dev == files[i].st_dev;
        if (!twice || !error) continue;
        *error = (netprof_error){.code = NETPROF_ERR_ARG, .text = "is the same file as another one that was given"};
        snprintf(error->path, sizeof error->path, "%s", paths[i]);
    }
    free(files);
    return twice ? NETPROF_ERR_ARG : NETPROF_OK;
}

netprof_err nsys_job_read(nsys_job *job, const char *const *paths, size_t count, const nsys_options *options,
                          netprof_error *error)
{
    nsys_options o = options ? *options : (nsys_options){0};
    netprof_err err = NETPROF_OK;
    *job = (nsys_job){0};
    if (o.end_zero || !count) {
        if (error)
            *error = (netprof_error){.code = NETPROF_ERR_ARG, .text = "the options are not valid, or there is no file"};
        return NETPROF_ERR_ARG;
    }
    if ((err = nsys_job_check_once(paths, count, error))) return err;
    o.keep = count > 1;
    job->files = memory_calloc(count, sizeof *job->files);
    for (; job->file_count < count && !err; job->file_count += !err) {
        if (o.progress) o.progress(o.user, job->file_count, count);
        err = nsys_read(&job->files[job->file_count], paths[job->file_count], &o, error);
    }
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_start(&job->together.tables[i], (nsys_kind)i);
    if (err) {
        nsys_job_free(job);
        return err;
    }
    if (count > 1) nsys_job_join_tables(job);
    nsys_job_list_processes(job);
    job->placed = true;
    for (size_t i = 0; i < job->file_count; i++)
        job->placed &= job->files[i].session_ns > 0;
    if (job->placed) {
        nsys_job_find_clocks(job);
        nsys_job_place(job);
    }
    nsys_job_say_clocks(job);
    return NETPROF_OK;
}

void nsys_job_free(nsys_job *job)
{
    for (size_t i = 0; i < job->file_count; i++)
        nsys_free(&job->files[i]);
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_free(&job->together.tables[i]);
    if (job->clocks) clocks_free(job->clocks);
    free(job->clocks);
    free(job->clock_text);
    free(job->files);
    free(job->spent);
    free(job->begin_ns);
    *job = (nsys_job){0};
}
