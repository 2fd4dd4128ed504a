#include "inputs.h"

#include "common.h"

static void say_warning(const dataset_warning *w)
{
    if (w->line)
        warn("%s: line %llu: %s", safe(w->path), (unsigned long long)w->line, safe(w->text));
    else
        warn("%s: byte %llu: %s", safe(w->path), (unsigned long long)w->offset, safe(w->text));
}

int inputs_read(dataset *set, const char *const *paths, size_t count, const dataset_options *options)
{
    enum { SAID = 10 };
    netprof_error error = {.code = NETPROF_OK};
    netprof_err result = NETPROF_OK;
    size_t i = 0;
    for (; i < count && !result; i++)
        result = dataset_read(set, paths[i], options, &error);
    for (size_t w = 0; w < set->warning_count && w < SAID; w++)
        say_warning(&set->warnings[w]);
    if (set->warning_count > SAID)
        warn("%llu more such lines", (unsigned long long)(set->warning_count - SAID + set->warnings_dropped));
    return result ? fail_error(paths[i - 1], &error) : 0;
}

int inputs_rules(rules *set, const char *path)
{
    netprof_error error;
    if (rules_builtin(set, &error)) return fail_error(NULL, &error);
    size_t known = set->problem_count;
    netprof_err result = path ? rules_read(set, path, &error) : NETPROF_OK;
    for (size_t i = known; i < set->problem_count; i++)
        warn("%s: line %zu: %s", safe(set->problems[i].path), set->problems[i].line, safe(set->problems[i].text));
    return result ? fail_error(path, &error) : EXIT_DONE;
}

bool inputs_damaged(const dataset *set)
{
    for (size_t i = 0; i < set->run_count; i++)
        if (!set->runs[i].complete) return true;
    return false;
}
