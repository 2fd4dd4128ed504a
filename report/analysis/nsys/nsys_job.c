// Several exports, one for each rank or node: their tables together, their processes side by side, their clocks on one axis.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "analysis/data/clocks.h"
#include "nsys_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- tables of all files ----

static bool join_tables(nsys_job *job)
{
    const nsys_table **tables = calloc(job->file_count, sizeof *tables);
    bool good = tables != NULL;
    for (int kind = 0; kind < NSYS_READ && good; kind++) {
        for (size_t i = 0; i < job->file_count; i++)
            tables[i] = &job->files[i].tables[kind];
        good = nsys_table_join(&job->together.tables[kind], tables, job->file_count);
        for (size_t i = 0; i < job->file_count; i++)
            for (size_t r = 0; r < tables[i]->row_count; r++)
                nsys_values_free(&job->files[i].tables[kind].rows[r].values);
    }
    free(tables);
    return good;
}

// ---- processes side by side ----

static int by_rank(const void *a, const void *b)
{
    const nsys_spender *x = a, *y = b;
    int64_t p = x->process->rank, q = y->process->rank;
    if (p != q) return p < 0 ? 1 : q < 0 ? -1 : p > q ? 1 : -1;
    if (x->file != y->file) return x->file > y->file ? 1 : -1;
    return (x->process->pid > y->process->pid) - (x->process->pid < y->process->pid);
}

static void find_balance(const nsys_job *job, int what, nsys_balance *to)
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

static bool list_processes(nsys_job *job)
{
    size_t count = 0;
    for (size_t i = 0; i < job->file_count; i++)
        count += job->files[i].process_count;
    if (!(job->spent = calloc(count + 1, sizeof *job->spent))) return false;
    for (size_t i = 0; i < job->file_count; i++)
        for (size_t k = 0; k < job->files[i].process_count; k++)
            job->spent[job->spent_count++] = (nsys_spender){i, &job->files[i].processes[k]};
    if (count) qsort(job->spent, job->spent_count, sizeof *job->spent, by_rank);
    job->repeated_rank = -1;
    for (size_t i = count; i-- > 1;) {
        const nsys_spender *s = &job->spent[i], *before = s - 1;
        bool same = s->process->rank == before->process->rank && s->file != before->file;
        if (same && s->process->rank >= 0) job->repeated_rank = s->process->rank;
    }
    for (int what = 0; what < NSYS_SPENT; what++)
        find_balance(job, what, &job->balance[what]);
    return true;
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

typedef struct turn {
    size_t kind;
    uint64_t number;
    int64_t length_ns; // of the longest stay
    size_t files;
} turn;

// Are the ranks of all files among those of the largest communicator that each file lists?
static bool one_world(const nsys_job *job)
{
    size_t ranks = job->files[0].ranks;
    for (size_t i = 1; i < job->file_count; i++)
        if (job->files[i].ranks != ranks) return false;
    for (size_t i = 0; i < job->spent_count && ranks; i++)
        if (job->spent[i].process->rank >= (int64_t)ranks) return false;
    return true;
}

static bool is_common(const nsys_job *job, size_t kind)
{
    uint64_t turns = job->files[0].turns[kind];
    for (size_t i = 1; i < job->file_count; i++)
        if (job->files[i].turns[kind] != turns) return false;
    return turns > 0;
}

static int by_length(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->length_ns != y->length_ns) return x->length_ns > y->length_ns ? 1 : -1;
    if (x->kind != y->kind) return x->kind > y->kind ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

// The meetings that all files have, the shortest first: they tell most of the clocks. NULL without memory.
static turn *find_turns(const nsys_job *job, size_t *count)
{
    const nsys *first = &job->files[0];
    pairs ids = {0};
    turn *turns = calloc(first->meeting_count + 1, sizeof *turns);
    bool good = turns != NULL, common[NSYS_MEETINGS];
    size_t kept = 0;
    *count = 0;
    for (size_t kind = 0; kind < NSYS_MEETINGS; kind++)
        common[kind] = one_world(job) && is_common(job, kind);
    for (size_t f = 0; f < job->file_count && good; f++) {
        const nsys *n = &job->files[f];
        for (size_t i = 0; i < n->meeting_count && good; i++) {
            const nsys_meeting *m = &n->meetings[i];
            size_t at = pairs_find(&ids, (int64_t)m->kind, (int64_t)m->turn);
            if (at == PAIRS_NONE && (f || !common[m->kind])) continue;
            if (at == PAIRS_NONE) {
                at = (*count)++;
                turns[at] = (turn){m->kind, m->turn, 0, 0};
                good = pairs_set(&ids, (int64_t)m->kind, (int64_t)m->turn, at);
            }
            if (m->end_ns - m->begin_ns > turns[at].length_ns) turns[at].length_ns = m->end_ns - m->begin_ns;
            if (turns[at].files == f) turns[at].files++;
        }
    }
    pairs_free(&ids);
    for (size_t i = 0; good && i < *count; i++)
        if (turns[i].files == job->file_count) turns[kept++] = turns[i];
    *count = kept;
    if (good && kept) qsort(turns, kept, sizeof *turns, by_length);
    size_t most = ALL_EVENTS / (job->spent_count + 1);
    most = most > EVENTS ? EVENTS : most < FEW ? FEW : most;
    if (kept > most) *count = most;
    if (good) return turns;
    free(turns);
    return NULL;
}

static const turn *turn_of(const turn *turns, size_t count, const nsys_meeting *m)
{
    for (size_t i = 0; i < count; i++)
        if (turns[i].kind == m->kind && turns[i].number == m->turn) return &turns[i];
    return NULL;
}

// That the last one came was while each of them stayed.
static clocks_event *make_events(const nsys_job *job, const turn *turns, size_t turn_count, char (**keys)[KEY],
                                 size_t *count)
{
    size_t room = 1;
    for (size_t f = 0; f < job->file_count; f++)
        room += job->files[f].meeting_count;
    clocks_event *events = calloc(room, sizeof *events);
    *keys = calloc(turn_count + 1, sizeof **keys);
    *count = 0;
    for (size_t i = 0; *keys && i < turn_count; i++)
        snprintf((*keys)[i], KEY, "%zu %llu", turns[i].kind, (unsigned long long)turns[i].number);
    for (size_t f = 0; events && *keys && f < job->file_count; f++) {
        const nsys *n = &job->files[f];
        for (size_t i = 0; i < n->meeting_count; i++) {
            const nsys_meeting *m = &n->meetings[i];
            const turn *of = turn_of(turns, turn_count, m);
            int64_t half = (m->end_ns - m->begin_ns) / 2 + ROUNDED_NS;
            if (of)
                events[(*count)++] = (clocks_event){f, (*keys)[of - turns], n->session_ns + m->begin_ns + half, half};
        }
    }
    return events;
}

// Clocks that collectives contradict, or that drift as no clock does: they were not the same collectives. Of the same
// ones each tells a clock to within twice its longest stay, on both sides.
static bool is_plausible(const clocks *c, int64_t longest_ns)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->runs[i].basis == CLOCKS_NOTHING || !(fabs(c->runs[i].drift) < 5e-4) ||
            c->runs[i].error_ns / 2 > longest_ns + 4 * ROUNDED_NS || !(fabs((double)c->runs[i].offset_ns) < 1e18))
            return false;
    return true;
}

static netprof_err find_clocks(nsys_job *job)
{
    size_t turn_count = 0, event_count = 0;
    char(*keys)[KEY] = NULL;
    clocks_event *events = NULL;
    clocks_input *inputs = calloc(job->file_count, sizeof *inputs);
    turn *turns = inputs ? find_turns(job, &turn_count) : NULL;
    job->clocks = calloc(1, sizeof *job->clocks);
    netprof_err err = NETPROF_ERR_NOMEM;
    if (!turns || !job->clocks) goto out;
    for (size_t i = 0; i < job->file_count; i++) {
        const nsys *n = &job->files[i];
        const char *name = n->host && *n->host ? n->host : n->path;
        // Files of one host are of one clock.
        inputs[i] = (clocks_input){.name = name,
                                   .boot_id = n->host && *n->host ? n->host : NULL,
                                   .wall_ns = n->session_ns,
                                   .end_wall_ns = n->session_ns + n->end_ns,
                                   .max_error_ns = CLOCKS_UNKNOWN_NS};
    }
    events = make_events(job, turns, turn_count, &keys, &event_count);
    if (!events || !keys) goto out;
    err = NETPROF_OK;
    clocks_find(job->clocks, inputs, job->file_count, events, event_count);
    job->meetings = job->clocks->hosts > 1 ? turn_count : 0;
    if (event_count && !is_plausible(job->clocks, turns[turn_count - 1].length_ns)) {
        clocks_free(job->clocks);
        job->meetings = 0;
        clocks_find(job->clocks, inputs, job->file_count, NULL, 0);
    }
out:
    free(events);
    free(keys);
    free(turns);
    free(inputs);
    return err;
}

static const char *host_name(const nsys *n)
{
    return n->host && *n->host ? n->host : n->path;
}

static void put_moves(FILE *to, const nsys_job *job)
{
    size_t moved = 0;
    for (size_t i = 0; i < job->file_count; i++) {
        const clocks_run *run = &job->clocks->runs[i];
        bool told = !run->offset_ns;
        for (size_t k = 0; k < i; k++)
            told |= job->clocks->runs[k].host == run->host;
        if (told || moved++ >= NAMED) continue;
        fprintf(to, " %s is moved ", host_name(&job->files[i]));
        clocks_put_time(to, (double)run->offset_ns);
        fputs(run->offset_ns > 0 ? " ahead." : " back.", to);
    }
    if (moved > NAMED) fprintf(to, " So are %zu more.", moved - NAMED);
}

static void say_agreement(FILE *to, const nsys_job *job)
{
    fprintf(to, "%zu hosts, placed by when each profile began (UTC) and by %zu collectives of MPI: they agree within ",
            job->clocks->hosts, job->meetings);
    clocks_put_time(to, (double)job->clocks->error_ns);
    putc('.', to);
}

static bool say_clocks(nsys_job *job)
{
    size_t size, without = 0;
    FILE *to = open_memstream(&job->clock_text, &size);
    if (!to) return false;
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
        say_agreement(to, job);
    else
        fprintf(to,
                "%zu hosts, placed by when each profile began (UTC) by its host's clock: how far these are "
                "apart is not known.",
                job->clocks->hosts);
    if (job->meetings) put_moves(to, job);
    return fclose(to) == 0;
}

// The host's clock moves all files of it alike.
static bool place(nsys_job *job)
{
    job->from_ns = INT64_MAX;
    if (!(job->begin_ns = calloc(job->file_count, sizeof *job->begin_ns))) return false;
    for (size_t i = 0; i < job->file_count; i++) {
        const nsys *n = &job->files[i];
        job->begin_ns[i] = clocks_place(job->clocks, i, n->session_ns);
        if (!n->bin_count) continue;
        if (job->begin_ns[i] + n->begin_ns < job->from_ns) job->from_ns = job->begin_ns[i] + n->begin_ns;
        if (job->begin_ns[i] + n->end_ns > job->to_ns) job->to_ns = job->begin_ns[i] + n->end_ns;
    }
    if (job->from_ns == INT64_MAX) job->from_ns = job->to_ns = 0;
    return true;
}

// ---- all ----

static netprof_err no_memory(netprof_error *error)
{
    if (error) *error = (netprof_error){.code = NETPROF_ERR_NOMEM, .text = "no memory"};
    return NETPROF_ERR_NOMEM;
}

// What is read twice is counted twice.
static netprof_err check_once(const char *const *paths, size_t count, netprof_error *error)
{
    struct stat *files = calloc(count, sizeof *files);
    bool twice = false;
    if (!files) return no_memory(error);
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
    if ((err = check_once(paths, count, error))) return err;
    o.keep = count > 1;
    if (!(job->files = calloc(count, sizeof *job->files))) return no_memory(error);
    for (; job->file_count < count && !err; job->file_count += !err) {
        if (o.progress) o.progress(o.user, job->file_count, count);
        err = nsys_read(&job->files[job->file_count], paths[job->file_count], &o, error);
    }
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_start(&job->together.tables[i], (nsys_kind)i);
    bool dated = !err;
    for (size_t i = 0; i < job->file_count; i++)
        dated &= job->files[i].session_ns > 0;
    bool good = err || ((count < 2 || join_tables(job)) && list_processes(job));
    if (!err && good && dated) good = find_clocks(job) == NETPROF_OK && place(job);
    if (!err && good) good = say_clocks(job);
    job->placed = !err && good && dated;
    if (!err && !good) err = no_memory(error);
    if (err) nsys_job_free(job);
    return err;
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
