/* What Slurm writes: a node, a list or number, and scontrol's answer, a line each, the answer to the end. Numbers that are
   told are numbers, and texts stand in the answer. */
#include "sources/cpulist.h"
#include "expect.h"
#include "sources/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(void *user, const char *key, const char *value)
{
    static const char *const texts[] = {"job_user",      "job_account",   "job_qos",  "job_state",
                                        "job_exit_code", "job_partition", "job_nodes"};
    const char *answer = user;
    size_t i = 0;
    while (i < sizeof texts / sizeof *texts && strcmp(texts[i], key) != 0)
        i++;
    expect(*value != 0 && !strpbrk(value, " \n"));
    if (i < sizeof texts / sizeof *texts)
        expect(strstr(answer, value) != NULL);
    else
        expect(strspn(value, "0123456789") == strlen(value) || strcmp(value, "unlimited") == 0);
}

static char *line_of(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (end) *end = 0;
    *at = end ? end + 1 : line + strlen(line);
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *at = text;
    cpulist set = {0};
    size_t place = 0;
    uint64_t number;
    int64_t seconds;
    expect(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    char *node = line_of(&at), *list = line_of(&at);
    if (slurm_place(list, node, &place)) expect(*node != 0);
    for (size_t i = 0; i < 3; i++)
        slurm_count_at(list, i, &number);
    if (slurm_seconds(list, &seconds)) expect(seconds >= 0);
    if (slurm_bytes(list, &number)) expect(number < UINT64_C(1) << 60);
    if (cpulist_add_text(&set, list)) expect(cpulist_count(&set) > 0);
    expect(cpulist_count(&set) <= CPULIST_MOST);
    slurm_read_job(at, *node ? node : NULL, check, at);
    free(text);
    return 0;
}
