/* The node files of PBS and OAR, and what schedulers and Kubernetes write into control groups. Of a file with any bytes
   each node is there once, under a name that stands in it. */
#define _GNU_SOURCE
#include "expect.h"
#include "analysis/base/text.h"
#include "sources/membership.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_nodes(const char *text, size_t size)
{
    size_t count = 0, seen = 0;
    const char *names[256];
    FILE *file = fmemopen((void *)(uintptr_t)text, size, "r");
    expect(file != NULL);
    char *all = membership_nodes(file, &count);
    fclose(file);
    expect((all != NULL) == (count > 0));
    for (char *at = all, *name; (name = strsep(&at, ","));) {
        expect(*name && memmem(text, size, name, strlen(name)) != NULL);
        expect(!strpbrk(name, " \t\r\n,:"));
        for (size_t i = 0; i < seen && i < 256; i++)
            expect(strcmp(names[i], name) != 0);
        if (seen < 256) names[seen] = name;
        seen++;
    }
    expect(seen == count);
    free(all);
}

static void check_groups(char *text)
{
    static const char *const schedulers[] = {"slurm", "pbs", "oar"};
    size_t length = strlen(text);
    for (size_t i = 0; i < 3; i++) {
        expect(!membership_in_cgroup(schedulers[i], "", text));
        expect(!membership_in_cgroup(schedulers[i], "17", text) || strstr(text, "17"));
    }
    char *uid = membership_pod_uid(text);
    expect(!uid || (strlen(uid) == 36 && uid[8] == '-' && uid[23] == '-'));
    free(uid);
    membership_cut_to_job(text);
    expect(strlen(text) <= length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    expect(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    if (size) check_nodes(text, size);
    check_groups(text);
    free(text);
    return 0;
}
