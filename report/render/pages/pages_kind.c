#include "pages_kind.h"

#include <string.h>

const char *pages_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
