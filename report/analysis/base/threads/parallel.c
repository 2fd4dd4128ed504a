#define _GNU_SOURCE // sched_getaffinity
#include "parallel.h"

#include "processors.h"

#include "analysis/base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

typedef struct pool {
    size_t count, next, running;
    void (*work)(void *user, size_t i);
    void *user;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
} pool;

static void pool_work_off(pool *p)
{
    size_t i;
    while ((i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED)) < p->count)
        p->work(p->user, i);
}

static void *pool_thread(void *pointer)
{
    pool *p = pointer;
    pool_work_off(p);
    pthread_mutex_lock(&p->mutex);
    p->running--;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static void pool_wait_for_all(pool *p, const parallel_options *options)
{
    enum { POLL_NS = 100000000 };
    pthread_mutex_lock(&p->mutex);
    while (p->running) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        if (!options->poll) {
            pthread_cond_wait(&p->ended, &p->mutex);
        } else if (pthread_cond_timedwait(&p->ended, &p->mutex, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&p->mutex);
            options->poll(options->user);
            pthread_mutex_lock(&p->mutex);
        }
    }
    pthread_mutex_unlock(&p->mutex);
}

static size_t pool_threads(const parallel_options *options, size_t count)
{
    enum { MOST = 256 };
    size_t wanted = options->threads;
    if (!wanted) wanted = processors_usable() < PARALLEL_USUAL ? processors_usable() : PARALLEL_USUAL;
    if (wanted > MOST) wanted = MOST;
    return wanted < count ? wanted : count;
}

static void pool_count_running(pool *p, bool one_more)
{
    pthread_mutex_lock(&p->mutex);
    p->running += one_more ? 1 : (size_t)-1;
    pthread_mutex_unlock(&p->mutex);
}

static size_t pool_start(pool *p, pthread_t *threads, size_t wanted)
{
    sigset_t all, before;
    size_t started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; started < wanted; started++) {
        pool_count_running(p, true);
        if (!pthread_create(&threads[started], NULL, pool_thread, p)) continue;
        pool_count_running(p, false);
        break; // fewer do as well
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void parallel_for(const parallel_options *options, size_t count, void (*work)(void *user, size_t i), void *user)
{
    pool p = {.count = count, .work = work, .user = user};
    size_t wanted = pool_threads(options, count), others = options->poll ? wanted : wanted ? wanted - 1 : 0;
    pthread_t *threads = memory_calloc(others + 1, sizeof *threads);
    pthread_mutex_init(&p.mutex, NULL);
    pthread_cond_init(&p.ended, NULL);
    size_t started = pool_start(&p, threads, others);
    if (!options->poll || !started) pool_work_off(&p);
    pool_wait_for_all(&p, options);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&p.ended);
    pthread_mutex_destroy(&p.mutex);
    free(threads);
}
