// All files of a job: threads read ahead, and what they made joins the report in the order of the files.
#define _GNU_SOURCE // sched_getaffinity
#include "job_pieces.h"

#include "analysis/base/index_map.h"
#include "analysis/base/threads/processors.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 8, AHEAD = 4 }; // files ahead, for each thread

typedef enum job_reading_state { JOB_READING_NOT = 0, JOB_READING_NOW, JOB_READING_DONE } job_reading_state;

// One file.
typedef struct job_reading_file {
    job_reading_state state;
    job_piece *piece;
} job_reading_file;

// Shared by all threads.
typedef struct job_reading {
    const job_report_options *options;
    const char *const *paths;
    size_t count, next, joined, ahead; // next: to be read; joined: are part of the report
    job_reading_file *files;
    index_map *claimed; // nodes
    pthread_mutex_t lock;
    pthread_cond_t turned;
} job_reading;

bool job_is_of_phases(const char *path)
{
    size_t n = strlen(path), m = strlen(JOB_PHASES_ENDING);
    return n >= m && strcmp(path + n - m, JOB_PHASES_ENDING) == 0;
}

static bool job_reading_claim(void *user, const char *node)
{
    job_reading *x = user;
    map_key key = map_key_of_name(0, node);
    pthread_mutex_lock(&x->lock);
    bool first = index_map_find(x->claimed, key) == INDEX_NONE;
    if (first) hmput(x->claimed, key, 1);
    pthread_mutex_unlock(&x->lock);
    return first;
}

// ---- any thread; the lock is held ----

static bool job_reading_may_begin(const job_reading *x)
{
    return x->next < x->count && x->next < x->joined + x->ahead;
}

static void job_reading_do_next(job_reading *x)
{
    size_t number = x->next++;
    const char *path = x->paths[number];
    job_piece *piece = NULL;
    x->files[number].state = JOB_READING_NOW;
    pthread_mutex_unlock(&x->lock);
    if (!job_is_of_phases(path)) piece = job_piece_read(path, x->options, job_reading_claim, x);
    pthread_mutex_lock(&x->lock);
    x->files[number] = (job_reading_file){JOB_READING_DONE, piece};
    pthread_cond_broadcast(&x->turned);
}

static void *job_reading_work(void *argument)
{
    job_reading *x = argument;
    pthread_mutex_lock(&x->lock);
    while (x->next < x->count) {
        if (job_reading_may_begin(x))
            job_reading_do_next(x);
        else
            pthread_cond_wait(&x->turned, &x->lock);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

// ---- the calling thread ----

// Reads others while the file at hand is in the hands of another thread.
static job_piece *job_reading_wait(job_reading *x, size_t number)
{
    pthread_mutex_lock(&x->lock);
    while (x->files[number].state != JOB_READING_DONE) {
        if (job_reading_may_begin(x))
            job_reading_do_next(x);
        else
            pthread_cond_wait(&x->turned, &x->lock);
    }
    job_piece *piece = x->files[number].piece;
    pthread_mutex_unlock(&x->lock);
    return piece;
}

static void job_reading_go_on(job_reading *x, size_t joined)
{
    pthread_mutex_lock(&x->lock);
    x->joined = joined;
    pthread_cond_broadcast(&x->turned);
    pthread_mutex_unlock(&x->lock);
}

static void job_read_file(job_report *r, const char *path)
{
    if (job_is_of_phases(path))
        job_read_phases(r, path);
    else
        job_read_recording(r, path);
}

static void job_reading_join(job_report *r, job_reading *x, size_t number)
{
    job_piece *piece = job_reading_wait(x, number);
    size_t nodes = r->node_count;
    bool used = piece && job_piece_use(r, piece);
    job_piece_free(piece);
    if (!used) job_read_file(r, x->paths[number]);
    for (; !used && nodes < r->node_count; nodes++)
        job_reading_claim(x, r->nodes[nodes].name);
    job_reading_go_on(x, number + 1);
}

// ---- threads ----

static size_t job_threads_for(const job_report_options *options, size_t files)
{
    size_t wanted = options->threads ? options->threads : processors_usable();
    if (wanted > THREADS_MOST) wanted = THREADS_MOST;
    return files / 2 + 1 < wanted ? files / 2 + 1 : wanted;
}

// Signals are for the thread that called.
static size_t job_reading_start(job_reading *x, pthread_t *threads, size_t wanted)
{
    sigset_t all, before;
    size_t started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < wanted && !pthread_create(&threads[started], NULL, job_reading_work, x))
        started++; // fewer do as well
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void job_reading_progress(const job_report_options *options, size_t done, size_t all)
{
    if (options->progress) options->progress(options->progress_user, done, all);
}

// Those from `first` on: the report has a node.
static void job_read_many(job_report *r, const char *const *paths, size_t count, size_t first)
{
    job_reading x = {.options = r->reader->options, .paths = paths, .count = count, .next = first, .joined = first};
    pthread_t threads[THREADS_MOST];
    size_t wanted = job_threads_for(x.options, count - first);
    x.ahead = AHEAD * wanted;
    x.files = memory_calloc(count, sizeof *x.files);
    pthread_mutex_init(&x.lock, NULL);
    pthread_cond_init(&x.turned, NULL);
    for (size_t i = 0; i < r->node_count; i++)
        job_reading_claim(&x, r->nodes[i].name);
    size_t started = job_reading_start(&x, threads, wanted - 1);
    for (size_t i = first; i < count; i++) {
        job_reading_progress(x.options, i, count);
        job_reading_join(r, &x, i);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&x.turned);
    pthread_mutex_destroy(&x.lock);
    hmfree(x.claimed);
    free(x.files);
}

void job_read_files(job_report *r, const char *const *paths, size_t count)
{
    const job_report_options *options = r->reader->options;
    size_t first = 0;
    for (; first < count && !r->node_count; first++) {
        job_reading_progress(options, first, count);
        job_read_file(r, paths[first]);
    }
    if (first < count) job_read_many(r, paths, count, first);
    if (options->phases) job_read_phases(r, options->phases);
    job_reading_progress(options, count, count);
}
