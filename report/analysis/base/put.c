#include "put.h"

#include <stdio.h>

void put_to_file(void *file, const char *bytes, size_t length)
{
    fwrite(bytes, 1, length, file);
}
