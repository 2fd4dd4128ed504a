#include "export_formats.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT_FORMAT_ADDRESS(name) &export_##name,
static const export_driver *const formats[] = {EXPORT_FORMATS(EXPORT_FORMAT_ADDRESS)};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const export_driver *export_format_named(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

char *export_format_list(void)
{
    char *list = memory_strdup(formats[0]->name);
    for (size_t i = 1; i < FORMAT_COUNT; i++) {
        char *longer = memory_format("%s%s%s", list, i + 1 < FORMAT_COUNT ? ", " : " or ", formats[i]->name);
        free(list);
        list = longer;
    }
    return list;
}
