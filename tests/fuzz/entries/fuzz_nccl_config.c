/* The configuration file of the NCCL exporter, any bytes: refused with a line, or its values stand in it, without space
   around them. */
#define _GNU_SOURCE
#include "pieces.h"
#include "cli/nccl_inputs.h"

#include <ctype.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(const char *value, const uint8_t *data, size_t size)
{
    if (!value || !*value) return;
    size_t n = strlen(value);
    expect(memmem(data, size, value, n) != NULL);
    expect(!strchr(" \t\r\n", value[0]) && !strchr(" \t\r\n", value[n - 1]) && !strchr(value, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nccl_config config = {NULL, NULL, NULL};
    const char *path = pieces_file(0, data, size);
    int code = nccl_config_read(&config, path);
    expect(code == 0 || code == 3);
    check_value(config.log_root, data, size);
    check_value(config.detailed_index, data, size);
    check_value(config.summary_index, data, size);
    nccl_config_free(&config);
    return 0;
}
