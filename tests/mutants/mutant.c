/* Linked into every program and library of a build with mutants. Of a cmocka program MUTANT_CASES (numbers of cases from 1
   on, with commas) says which cases run. With MUTANTS_TIMES, a file, case n notes what it meets, and what it starts meets, in
   block n of MUTANTS_MET (see mutant.h), and a line there: n, seconds, name. */
#define _GNU_SOURCE
#include "mutant.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* As cmocka.h has them. */
typedef int (*mutant_fixture)(void **state);
struct mutant_case {
    const char *name;
    void (*test)(void **state);
    mutant_fixture setup, teardown;
    void *initial_state;
};
typedef int (*mutant_group)(const char *, const struct mutant_case *, size_t, mutant_fixture, mutant_fixture);

static const struct mutant_case *mutant_cases; /* of the group that runs */
static const size_t *mutant_numbers;
static size_t mutant_next;
static struct timespec mutant_began;

static void mutant_enter(size_t block)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", block);
    setenv("MUTANTS_AT", text, 1);
    netprof_mutants_note_in((long)block);
}

static int mutant_setup(void **state)
{
    const struct mutant_case *c = &mutant_cases[mutant_next];
    mutant_enter(mutant_numbers[mutant_next]);
    clock_gettime(CLOCK_MONOTONIC, &mutant_began);
    return c->setup ? c->setup(state) : 0;
}

static int mutant_teardown(void **state)
{
    const struct mutant_case *c = &mutant_cases[mutant_next];
    int failed = c->teardown ? c->teardown(state) : 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - mutant_began.tv_sec) + 1e-9 * (double)(now.tv_nsec - mutant_began.tv_nsec);
    int file = open(getenv("MUTANTS_TIMES"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
        dprintf(file, "%zu %.6f %s\n", mutant_numbers[mutant_next], seconds, c->name);
        close(file);
    }
    mutant_next++;
    mutant_enter(0);
    return failed;
}

static int mutant_wanted(const char *list, size_t number)
{
    while (list && *list) {
        char *end;
        if (strtoul(list, &end, 10) == number) return 1;
        list = *end ? end + 1 : end;
    }
    return 0;
}

/* Instead of cmocka's own, which it calls. */
__attribute__((visibility("hidden"))) int _cmocka_run_group_tests(const char *name, const struct mutant_case *cases,
                                                                  size_t count, mutant_fixture setup,
                                                                  mutant_fixture teardown);
int _cmocka_run_group_tests(const char *name, const struct mutant_case *cases, size_t count, mutant_fixture setup,
                            mutant_fixture teardown)
{
    static size_t before; /* cases of the groups before this one */
    const char *wanted = getenv("MUTANT_CASES"), *times = getenv("MUTANTS_TIMES");
    mutant_group run = (mutant_group)dlsym(RTLD_NEXT, "_cmocka_run_group_tests");
    struct mutant_case *all = calloc(count + 1, sizeof *all), *own = calloc(count + 1, sizeof *own);
    size_t *numbers = calloc(count + 1, sizeof *numbers), kept = 0;
    int failed = 1;
    for (size_t i = 0; run && all && own && numbers && i < count; i++) {
        if (wanted && *wanted && !mutant_wanted(wanted, before + i + 1)) continue;
        all[kept] = own[kept] = cases[i];
        numbers[kept] = before + i + 1;
        if (times && *times) {
            own[kept].setup = mutant_setup;
            own[kept].teardown = mutant_teardown;
        }
        kept++;
    }
    mutant_cases = all;
    mutant_numbers = numbers;
    mutant_next = 0;
    before += count;
    if (run && all && own && numbers) failed = kept ? run(name, own, kept, setup, teardown) : 0;
    free(own);
    free(all);
    free(numbers);
    return failed;
}
