#include "nccl_parallel.h"

#include <errno.h>
#include <pthread.h>
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

static void pool_wait_for_all(pool *p, const nccl_pool_options *options)
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

void nccl_parallel(const nccl_pool_options *options, size_t count, void (*work)(void *user, size_t i), void *user)
{
    enum { MOST = 256 };
    pool p = {.count = count, .work = work, .user = user};
    pthread_t threads[MOST];
    size_t wanted = options->threads < count ? options->threads : count, started = 0;
    if (wanted > MOST) wanted = MOST;
    pthread_mutex_init(&p.mutex, NULL);
    pthread_cond_init(&p.ended, NULL);
    // Without somebody to poll for, this thread works, too.
    size_t others = options->poll ? wanted : wanted ? wanted - 1 : 0;
    while (started < others) {
        pthread_mutex_lock(&p.mutex);
        p.running++;
        pthread_mutex_unlock(&p.mutex);
        if (pthread_create(&threads[started], NULL, pool_thread, &p)) {
            pthread_mutex_lock(&p.mutex);
            p.running--;
            pthread_mutex_unlock(&p.mutex);
            break;
        }
        started++;
    }
    if (!options->poll || !started) pool_work_off(&p);
    pool_wait_for_all(&p, options);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&p.ended);
    pthread_mutex_destroy(&p.mutex);
}
