#include "options.h"

#include "output.h"
#include "nearest.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- tables of options ----

static void option_label(const struct poptOption *o, char *label, size_t size)
{
    char dash[8] = "";
    if (o->shortName) snprintf(dash, sizeof dash, "-%c%s", o->shortName, o->longName ? ", " : "");
    snprintf(label, size, "%s%s%s%s%s", dash, o->longName ? "--" : "", o->longName ? o->longName : "",
             o->argDescrip ? o->longName ? "=" : " " : "", o->argDescrip ? o->argDescrip : "");
}

static bool option_is_end(const struct poptOption *o)
{
    return !o->longName && !o->shortName && !o->arg;
}

static bool option_is_table(const struct poptOption *o)
{
    return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE;
}

void options_print(const struct poptOption *options, FILE *to)
{
    for (const struct poptOption *o = options; !option_is_end(o); o++) {
        char label[64];
        if (option_is_table(o)) {
            if (o->descrip) fprintf(to, "%s\n", o->descrip);
            options_print(o->arg, to);
        } else if (!(o->argInfo & POPT_ARGFLAG_DOC_HIDDEN)) {
            option_label(o, label, sizeof label);
            if (strlen(label) > OPTION_COLUMN)
                fprintf(to, "  %s\n  %-*s %s\n", label, OPTION_COLUMN, "", o->descrip);
            else
                fprintf(to, "  %-*s %s\n", OPTION_COLUMN, label, o->descrip);
        }
    }
}

void options_list(const struct poptOption *options, const char *names)
{
    for (const struct poptOption *o = options; !option_is_end(o); o++) {
        const char *takes = o->argDescrip ? o->argDescrip : "";
        if (option_is_table(o)) options_list(o->arg, names);
        if (option_is_table(o) || (o->argInfo & POPT_ARGFLAG_DOC_HIDDEN)) continue;
        if (o->longName) printf("--%s\t%s\n", o->longName, names && strcmp(takes, "NAMES") == 0 ? names : takes);
        if (o->shortName) printf("-%c\t%s\n", o->shortName, takes);
    }
}

static size_t option_long_names(const struct poptOption *options, const char **names, size_t room)
{
    size_t n = 0;
    for (const struct poptOption *o = options; !option_is_end(o); o++) {
        if (option_is_table(o))
            n += option_long_names(o->arg, names + n, room - n);
        else if (o->longName && n < room)
            names[n++] = o->longName;
    }
    return n;
}

const char *options_hint(const struct poptOption *options, const char *option)
{
    static char hint[96];
    const char *names[64] = {"help"};
    option_long_names(options, names + 1, sizeof names / sizeof *names - 2);
    option += strspn(option, "-");
    char *name = memory_strndup(option, strcspn(option, "="));
    const char *near = nearest(name, names);
    *hint = 0;
    if (near) snprintf(hint, sizeof hint, "; did you mean '--%s'?", near);
    free(name);
    return hint;
}

void options_free(const struct poptOption *options)
{
    for (const struct poptOption *o = options; !option_is_end(o); o++) {
        switch (o->argInfo & POPT_ARG_MASK) {
        case POPT_ARG_INCLUDE_TABLE: options_free(o->arg); break;
        case POPT_ARG_STRING:
            free(*(char **)o->arg);
            *(char **)o->arg = NULL;
            break;
        case POPT_ARG_ARGV:
            for (char **p = *(char ***)o->arg; p && *p; p++)
                free(*p);
            free(*(char ***)o->arg);
            *(char ***)o->arg = NULL;
            break;
        default: break;
        }
    }
}

bool parse_duration(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        double wanted = value * units[i].ns;
        if (!(wanted >= 1e3 && wanted <= 9e18)) return false;
        *ns = (int64_t)wanted;
        return true;
    }
    return false;
}

bool parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"kB", 1e3},        {"KB", 1e3},           {"MB", 1e6},
                 {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
                 {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
    char *end;
    double number = strtod(text, &end);
    if (end == text || !(number > 0 && number < 1e9)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        *bytes = (uint64_t)(number * units[i].bytes);
        return *bytes > 0;
    }
    return false;
}
