// The texts and tables below /sys that the sources gpu and perf read, and lists of events: whatever the bytes, each
// value has either a number or a reason. The input is split at bytes 0xff; the first piece is a list of events, each
// other one the content of a file. A source whose files are all empty is left out of seven inputs in eight.
#define _GNU_SOURCE
#include "sources/gpu/gpu_nvml.h"
#include "sources/perf/perf.h"
#include "sources/sources.h"
#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CARD "/sys/class/drm/card0/device"
#define PMU  "/sys/bus/event_source/devices/uncore_imc_0"

static const char *const files[] = {CARD "/gpu_busy_percent",
                                    CARD "/mem_info_vram_used",
                                    CARD "/pp_dpm_sclk",
                                    CARD "/ras/umc_err_count",
                                    CARD "/current_link_speed",
                                    CARD "/hwmon/hwmon0/temp1_input",
                                    CARD "/gpu_metrics",
                                    PMU "/format/event",
                                    PMU "/events/cas_count_read",
                                    PMU "/type",
                                    PMU "/cpumask",
                                    PMU "/events/cas_count_read.scale"};
enum { FILES = sizeof files / sizeof *files, GPU_FILES = 7 }; // those of the GPU are the first

static char root[64];
static int opened[FILES];
static size_t sizes[FILES];

static int no_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
    (void)attr;
    (void)pid;
    (void)cpu;
    (void)group;
    (void)flags;
    errno = ENOENT;
    return -1;
}

static const perf_system no_events = {no_event, read, close};

/* Makes a file that stays open: it is written for every input. */
static int make_file(const char *path)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(full, 0700);
        *at = '/';
    }
    int fd = open(full, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    expect(fd >= 0);
    return fd;
}

static void put(int fd, const void *data, size_t size)
{
    expect(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void drop(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    expect(system(command) == 0);
}

static void make(void)
{
    static const char uevent[] = "DRIVER=amdgpu\n";
    if (*root) return;
    snprintf(root, sizeof root, "%s/netprof-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    expect(mkdtemp(root) != NULL);
    atexit(drop);
    put(make_file(CARD "/uevent"), uevent, sizeof uevent - 1);
    for (size_t i = 0; i < FILES; i++)
        opened[i] = make_file(files[i]);
    perf_calls = &no_events;
    perf_libpfm = "/netprof/there-is-none.so"; // with a path it is looked for in one place
    gpu_nvml_library = perf_libpfm;
}

static void walk(netprof *np)
{
    netprof_snapshot s = NETPROF_ZERO;
    for (int i = 0; i < 2; i++) {
        expect(netprof_take(np, &s, NETPROF_SET_ALL, NULL) == NETPROF_OK);
        for (size_t k = 0; k < s.schema->counter_count; k++)
            expect(s.status[k] == NETPROF_STATUS_OK || s.values[k] == 0);
    }
    netprof_snapshot_free(&s);
}

/* Whether any of these files has bytes. */
static bool is_any(size_t from, size_t to)
{
    size_t all = 0;
    while (from < to)
        all += sizes[from++];
    return all > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sources_job nobody;
    const uint8_t *end = data + size, *at = memchr(data, 0xff, size);
    size_t length = at ? (size_t)(at - data) : size;
    char text[160], *list = calloc(1, length + 1);
    netprof_config config = NETPROF_ZERO;
    netprof *np = NULL;
    make();
    *text = 0;
    expect(list != NULL);
    memcpy(list, data, length);
    expect((perf_check(list, text, sizeof text) || *text));
    free(list);
    for (size_t i = 0; i < FILES; i++) {
        const uint8_t *begin = at ? at + 1 : end;
        at = begin < end ? memchr(begin, 0xff, (size_t)(end - begin)) : NULL;
        length = (size_t)((at ? at : end) - begin);
        if (length || sizes[i]) put(opened[i], begin, length);
        sizes[i] = length;
    }
    config.sources = "none";
    config.root = root;
    expect(netprof_open(&np, &config, NULL) == NETPROF_ERR_NOSOURCE);
    if (size % 8 == 0 || is_any(0, GPU_FILES)) expect(sources_find("gpu")->add(np, &nobody, NULL) == NETPROF_OK);
    if (size % 8 == 0 || is_any(GPU_FILES, FILES)) expect(sources_find("perf")->add(np, &nobody, NULL) == NETPROF_OK);
    walk(np);
    netprof_close(np);
    return 0;
}
