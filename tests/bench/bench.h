/* Measuring side by side. A contestant lives in a process of its own (own descriptors, own memory) and answers each
   call with how long one repeat took; a round calls all of its contestants in turn, forwards and backwards, so that
   whatever else the machine does hits all of them alike. A row compares two of one round. */
#ifndef NETPROF_BENCH_H
#define NETPROF_BENCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct bench_options {
    int nics, repeats, quick;
    int cpu;             /* processor time instead of elapsed time */
    const char *only;    /* groups to run; NULL: all */
    const char *place;   /* where the tree goes; NULL: /dev/shm, else TMPDIR, else /tmp */
    const char *aurora;  /* directory with dumps of a real node; NULL: none */
    const char *program; /* the command netprof; NULL: not built */
    const char *loop;    /* bench_loop.py; NULL: no Python rows */
    const char *self;    /* this program */
    char tree[512];      /* root of the simulated node */
} bench_options;

extern bench_options bench;

typedef struct bench_contestant {
    const char *name;
    void *(*prepare)(const void *with); /* NULL and bench_cannot() when it cannot take part */
    int64_t (*once)(void *state);       /* one repeat in nanoseconds; below 0: failed */
    const void *with;
    const char *const *command; /* instead of the two: a program that does the same on its own */
} bench_contestant;

typedef struct bench_samples {
    const char *name;
    int64_t *ns; /* [count] */
    size_t count;
    char why[160]; /* why there are none */
} bench_samples;

#define BENCH_MOST 13 /* contestants of a round */

/* Runs a round; samples[i] belongs to contestants[i]. */
void bench_round(const bench_contestant *contestants, size_t count, int repeats, bench_samples *samples);
void bench_samples_free(bench_samples *samples, size_t count);

/* One row. What a repeat took is divided by `per`, and `unit` names the quotient: "ns/counter", "us", "ms".
   anchor NULL: none. target: the largest ratio to the anchor (or, without one, the largest median in `unit`) that
   is good; 0: none. */
void bench_row(const char *name, const bench_samples *samples, double per, const char *unit,
               const bench_samples *anchor, double target);
/* A row of one figure that is no time. */
void bench_figure(const char *name, double value, const char *unit, double target);
void bench_skip(const char *name, const char *why);
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For contestants. */
void bench_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t bench_now(void);     /* elapsed or processor time, as bench.cpu says */
void bench_many_files(void); /* the soft limit of open files up to the hard one, in this process */

/* bench_tree.c */
int bench_tree_make(void);
void bench_tree_remove(void);
int bench_remove_all(const char *path);
int bench_path(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The groups. */
void bench_snapshot(void);
void bench_memory(void);
int bench_memory_child(const char *root, int held);
void bench_links(void);
void bench_regions(void);
void bench_file(void);
void bench_command(void);
void bench_merge(void);
void bench_report(void);

/* Two full snapshots in a file each; 0: they are there. */
int bench_pair_files(const char **first, const char **second);

#endif
