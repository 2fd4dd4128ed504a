#include "http_lanes.h"

#include "analysis/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct lane_job {
    http_answer order;
    void *waiting;
} lane_job;

typedef struct lane {
    http_lanes *all;
    pthread_t thread;
    bool started;
    lane_job jobs[HTTP_WAITING];
    size_t first, count;
} lane;

struct http_lanes {
    void *user;
    void (*done)(void *waiting, http_answer *a);
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    lane lanes[HTTP_LANES];
};

static void lane_do(http_lanes *all, const lane_job *j, bool stop)
{
    http_answer a = {.code = 0};
    if (stop)
        http_fail(&a, 503, "the server is being stopped");
    else
        j->order.job(all->user, j->order.order, &a);
    free(j->order.order);
    all->done(j->waiting, &a);
}

static void *lane_run(void *user)
{
    lane *l = user;
    http_lanes *all = l->all;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (!l->count && !all->stop)
            pthread_cond_wait(&all->changed, &all->lock);
        if (!l->count) break;
        lane_job j = l->jobs[l->first];
        bool stop = all->stop;
        l->first = (l->first + 1) % HTTP_WAITING;
        l->count--;
        pthread_mutex_unlock(&all->lock);
        lane_do(all, &j, stop);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

http_lanes *http_lanes_open(void *user, void (*done)(void *waiting, http_answer *a))
{
    http_lanes *l = memory_calloc(1, sizeof *l);
    *l = (http_lanes){.user = user, .done = done};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    for (int i = 0; i < HTTP_LANES; i++) {
        l->lanes[i].all = l;
        l->lanes[i].started = pthread_create(&l->lanes[i].thread, NULL, lane_run, &l->lanes[i]) == 0;
    }
    return l;
}

bool http_lanes_add(http_lanes *l, const http_answer *order, void *waiting)
{
    lane *to = &l->lanes[order->lane];
    pthread_mutex_lock(&l->lock);
    bool room = to->started && !l->stop && to->count < HTTP_WAITING;
    if (room) to->jobs[(to->first + to->count++) % HTTP_WAITING] = (lane_job){*order, waiting};
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    return room;
}

void http_lanes_stop(http_lanes *l)
{
    if (!l || l->stop) return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < HTTP_LANES; i++)
        if (l->lanes[i].started) pthread_join(l->lanes[i].thread, NULL);
}

void http_lanes_close(http_lanes *l)
{
    if (!l) return;
    http_lanes_stop(l);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->changed);
    free(l);
}
