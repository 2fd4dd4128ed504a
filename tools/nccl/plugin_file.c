#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#define NETPROF_DISABLE
#define NETPROF_NO_READER
#define NETPROF_NO_JSON
#define NETPROF_NO_PRINT
#include "netprof.h"

#include "plugin_clock.h"
#include "plugin_file.h"
#include "plugin_pool.h"

enum { ROWS = 4096, COLUMNS = 32, TEXTS = 1024 };
enum { LIMIT_MIB = 1024 };

typedef struct file_layout {
    const char *kind;
    const char *columns; // names, by commas; '*' before those of texts
} file_layout;

static const file_layout file_layouts[TABLES] = {
    [TABLE_COMM] = {"nccl.comm", "comm,*id,*name,rank,ranks,nodes,interface,begin_ns"},
    [TABLE_CALL] = {"nccl.call",
                    "comm,call,*kind,*func,sn,count,*datatype,bytes,peer,*algo,*proto,channels,user_tag,enqueue_ns,"
                    "enqueued_ns,first_ns,ready_ns,last_ns,kernels,gpu_begin_ns,gpu_end_ns,ops,finished"},
    [TABLE_TRANSFER] = {"nccl.transfer",
                        "comm,call,peer,*direction,channels,*transport,device,ops,steps,timed,bytes,own_gpu_ns,"
                        "credit_ns,wire_ns,flush_ns,first_ns,last_ns"},
    [TABLE_DEVICE] = {"nccl.device", "comm,*transport,device,qp,requests,bytes,*direction,*adapter"},
    [TABLE_DROPS] = {"nccl.drops", "comm,*what,count"},
};

typedef struct file_rows {
    char *names; // of the columns, each ended by 0
    netprof_events_column columns[COLUMNS];
    bool texts[COLUMNS];
    size_t column_count, count;
    int64_t *numbers[COLUMNS]; // [ROWS]; a text's is its place in file_texts
    const char **words;        // [ROWS] of the columns of texts, one after the other
} file_rows;

static struct {
    netprof_writer *writer;
    char name[PATH_MAX];
    bool failed, full;
    uint64_t bytes, limit;
    file_rows tables[TABLES];
    char *texts[TEXTS];
    size_t text_count;
    netprof *devices;
    netprof_snapshot snapshot;
    bool sampled;
    struct file_queue_pair *queue_pairs;
    size_t queue_pair_count;
    unsigned listings; // of queue pairs
} file;

// ---- texts ----

int64_t file_text(const char *text)
{
    if (!text) text = "";
    for (size_t i = file.text_count; i-- > 0;)
        if (strncmp(file.texts[i], text, 127) == 0) return (int64_t)i;
    char *copy = file.text_count < TEXTS ? strndup(text, 127) : NULL;
    if (!copy) return file.text_count ? 0 : -1;
    file.texts[file.text_count] = copy;
    return (int64_t)file.text_count++;
}

static const char *file_text_at(int64_t place)
{
    return place >= 0 && (size_t)place < file.text_count ? file.texts[place] : "";
}

// ---- the file ----

// Nothing more is written; said once.
static void file_fail(const netprof_error *error)
{
    if (!file.failed && !getenv("NETPROF_QUIET"))
        fprintf(stderr, "netprof: NCCL's events cannot be kept: %s: %s\n", file.name,
                error->sys_errno ? strerror(error->sys_errno) : error->text);
    file.failed = true;
}

static void file_put_fact(const char *key, const char *value)
{
    netprof_error error;
    if (value && *value && netprof_write_fact(file.writer, key, value, &error)) file_fail(&error);
}

static const char *file_first_of(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return value;
    }
    return "";
}

#ifdef PLUGIN_SCRIPT
const char *plugin_host(void);
#else
static const char *plugin_host(void)
{
    static struct utsname node;
    return uname(&node) == 0 ? node.nodename : "unknown";
}
#endif

static const char *file_job(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID"};
    return file_first_of(names, sizeof names / sizeof *names);
}

static void file_name_part(char *to, size_t size, const char *from)
{
    size_t n = 0;
    for (; from[n] && n < size - 1; n++)
        to[n] = (char)(from[n] == '/' ? '_' : from[n]);
    to[n] = 0;
}

// Takes a name. False: another file has it, or a link.
static bool file_reserve(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) close(fd);
    return fd >= 0 || errno != EEXIST;
}

// A name that nobody has: an earlier file of this process, or of one with its number in another container, stays.
static void file_make_name(char *to, size_t size)
{
    const char *directory = getenv("NETPROF_NCCL_DIR");
    char host[64], job[128], again[16] = "";
    unsigned number = 0; // of files of this process
    file_name_part(host, sizeof host, plugin_host());
    file_name_part(job, sizeof job, file_job());
    do {
        if (++number > 1) snprintf(again, sizeof again, "-%u", number);
        snprintf(to, size, "%s%snetprof-nccl-%s%s%s-%d%s.netprof", directory && *directory ? directory : "",
                 directory && *directory ? "/" : "", job, *job ? "-" : "", host, plugin_pid, again);
    } while (!file_reserve(to) && number < 10000);
}

static bool file_open(void)
{
    char text[32];
    netprof_error error;
    if (file.writer || file.failed) return file.writer && !file.failed;
    file_make_name(file.name, sizeof file.name);
    if (netprof_writer_open(&file.writer, file.name, 1, &error)) {
        file_fail(&error);
        return false;
    }
    file_put_fact("netprof", NETPROF_VERSION_STRING);
    file_put_fact("recorder", "nccl");
    file_put_fact("host", plugin_host());
    snprintf(text, sizeof text, "%d", plugin_pid);
    file_put_fact("pid", text);
    file_put_fact("job", file_job());
    file_put_fact("command", program_invocation_name);
    return !file.failed;
}

static void file_layout_read(file_rows *t, const file_layout *l)
{
    char *at = t->names = strdup(l->columns);
    for (char *name = strsep(&at, ","); name; name = strsep(&at, ",")) {
        t->texts[t->column_count] = *name == '*';
        t->columns[t->column_count].name = name + (*name == '*');
        t->numbers[t->column_count] = calloc(ROWS, sizeof(int64_t));
        file.failed |= !t->numbers[t->column_count];
        t->column_count++;
    }
    t->words = calloc(t->column_count * ROWS, sizeof *t->words);
    file.failed |= !t->words;
}

void file_begin(void)
{
    const char *limit = getenv("NETPROF_NCCL_LIMIT");
    char *end = NULL;
    double mib = limit ? strtod(limit, &end) : 0;
    memset(&file, 0, sizeof file);
    file.limit = (uint64_t)((limit && end != limit && !*end && mib >= 0 ? mib : LIMIT_MIB) * 1048576);
    for (int i = 0; i < TABLES; i++)
        file_layout_read(&file.tables[i], &file_layouts[i]);
    file_text("");
}

static void file_table_free(file_rows *t)
{
    for (size_t i = 0; i < t->column_count; i++)
        free(t->numbers[i]);
    free(t->words);
    free(t->names);
}

void file_end(void)
{
    netprof_error error;
    file_flush();
    if (file.full && file.writer)
        file_put_fact("warning", "NETPROF_NCCL_LIMIT was reached: later calls are not in this file");
    if (netprof_writer_close(file.writer, 1, &error)) file_fail(&error);
    file.writer = NULL;
    for (int i = 0; i < TABLES; i++)
        file_table_free(&file.tables[i]);
    for (size_t i = 0; i < file.text_count; i++)
        free(file.texts[i]);
    file.text_count = 0;
    free(file.queue_pairs);
    file.queue_pairs = NULL;
    file.queue_pair_count = 0;
    netprof_snapshot_free(&file.snapshot);
    netprof_close(file.devices);
    file.devices = NULL;
}

// ---- rows ----

static void file_flush_table(int which)
{
    file_rows *t = &file.tables[which];
    netprof_events events = {file_layouts[which].kind, t->columns, t->column_count, t->count};
    netprof_error error;
    if (!t->count || !file_open()) {
        t->count = 0;
        return;
    }
    for (size_t i = 0; i < t->column_count; i++) {
        t->columns[i].numbers = t->texts[i] ? NULL : t->numbers[i];
        t->columns[i].texts = t->texts[i] ? t->words + i * ROWS : NULL;
        for (size_t k = 0; t->texts[i] && k < t->count; k++)
            t->words[i * ROWS + k] = file_text_at(t->numbers[i][k]);
    }
    file.bytes += t->count * t->column_count; // about a byte each
    if (netprof_write_events(file.writer, &events, &error)) file_fail(&error);
    t->count = 0;
}

void file_flush(void)
{
    for (int i = 0; i < TABLES; i++)
        file_flush_table(i);
}

void file_row(file_table table, const int64_t *values)
{
    file_rows *t = &file.tables[table];
    if (file.failed) return;
    if (t->count == ROWS) file_flush();
    for (size_t i = 0; i < t->column_count; i++)
        t->numbers[i][t->count] = values[i];
    t->count++;
}

bool file_is_full(void)
{
    file.full |= file.bytes >= file.limit;
    return file.full;
}

// ---- which adapter a queue pair is of ----

// rdma_netlink.h, since Linux 4.17: adapters, and the queue pairs of one with their numbers and processes.
enum { RDMA_ADAPTERS = 5 << 10 | 1, RDMA_QUEUE_PAIRS = 5 << 10 | 10 };
enum { RDMA_INDEX = 1, RDMA_NAME = 2, RDMA_LIST = 19, RDMA_ENTRY = 20, RDMA_NUMBER = 21, RDMA_PID = 28 };

typedef struct file_queue_pair {
    uint32_t number;
    int64_t adapter; // a text
} file_queue_pair;

typedef struct file_adapters {
    struct {
        uint32_t index;
        int64_t name;
    } items[64];
    size_t count, at; // at: whose queue pairs are listed
} file_adapters;

#ifdef PLUGIN_SCRIPT
int plugin_ask(unsigned char *request, size_t size, netprof__nl_visit visit, void *user);
#else
static int plugin_ask(unsigned char *request, size_t size, netprof__nl_visit visit, void *user)
{
    netprof__nl nl = {.fd = -1, .protocol = 20, .buffer = malloc(NETPROF__NL_BUFFER)}; // NETLINK_RDMA
    int result = nl.buffer ? netprof__nl_ask(&nl, request, size, visit, user) : -ENOMEM;
    netprof__nl_close(&nl);
    free(nl.buffer);
    return result;
}
#endif

static file_queue_pair *file_queue_pair_of(uint32_t number)
{
    for (size_t i = 0; i < file.queue_pair_count; i++)
        if (file.queue_pairs[i].number == number) return &file.queue_pairs[i];
    return NULL;
}

// Each adapter counts its own: a number may be on several, and which one is meant nobody tells. "mlx5_0|mlx5_1".
static int64_t file_either(int64_t known, int64_t other)
{
    char text[256];
    const char *name = file_text_at(other), *names = file_text_at(known);
    size_t length = strlen(name);
    if (!*names) return other;
    for (const char *at = names; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && strncmp(at, name, length) == 0) return known;
    int size = snprintf(text, sizeof text, "%s|%s", names, name);
    return size > 0 && (size_t)size < sizeof text ? file_text(text) : known;
}

static void file_note_queue_pair(uint32_t number, int64_t adapter)
{
    file_queue_pair *known = file_queue_pair_of(number);
    if (known) {
        known->adapter = file_either(known->adapter, adapter);
        return;
    }
    file_queue_pair *more = realloc(file.queue_pairs, (file.queue_pair_count + 1) * sizeof *more);
    if (!more) return;
    file.queue_pairs = more;
    file.queue_pairs[file.queue_pair_count++] = (file_queue_pair){number, adapter};
}

static int file_visit_adapter(void *user, unsigned type, const unsigned char *body, size_t size)
{
    file_adapters *all = user;
    netprof__attr a;
    char name[64] = "";
    uint32_t index = UINT32_MAX;
    if (type != RDMA_ADAPTERS) return 0;
    for (size_t at = 0; netprof__next_attr(body, size, &at, &a);) {
        if (a.type == RDMA_INDEX) index = netprof__attr_u32(&a);
        if (a.type == RDMA_NAME) netprof__attr_text(&a, name, sizeof name);
    }
    if (index == UINT32_MAX || !*name || all->count == sizeof all->items / sizeof *all->items) return 0;
    all->items[all->count].index = index;
    all->items[all->count++].name = file_text(name);
    return 0;
}

static void file_take_entry(const file_adapters *all, const netprof__attr *entry)
{
    netprof__attr a;
    uint32_t number = 0, pid = 0;
    bool known = false;
    for (size_t at = 0; netprof__next_attr(entry->data, entry->size, &at, &a);) {
        if (a.type == RDMA_NUMBER) number = netprof__attr_u32(&a), known = true;
        if (a.type == RDMA_PID) pid = netprof__attr_u32(&a);
    }
    if (known && pid == (uint32_t)plugin_pid) file_note_queue_pair(number, all->items[all->at].name);
}

static int file_visit_queue_pairs(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__attr list, entry;
    if (type != RDMA_QUEUE_PAIRS) return 0;
    for (size_t at = 0; netprof__next_attr(body, size, &at, &list);)
        for (size_t in = 0; list.type == RDMA_LIST && netprof__next_attr(list.data, list.size, &in, &entry);)
            if (entry.type == RDMA_ENTRY) file_take_entry(user, &entry);
    return 0;
}

static void file_list_queue_pairs(void)
{
    file_adapters all = {.count = 0};
    unsigned char request[32];
    netprof__nl_request(request, sizeof request, RDMA_ADAPTERS);
    plugin_ask(request, 16, file_visit_adapter, &all);
    for (all.at = 0; all.at < all.count; all.at++) {
        size_t size = 16;
        netprof__nl_request(request, sizeof request, RDMA_QUEUE_PAIRS);
        netprof__put_attr(request, &size, RDMA_INDEX, &all.items[all.at].index, 4);
        plugin_ask(request, size, file_visit_queue_pairs, &all);
    }
}

int64_t file_adapter(uint32_t queue_pair)
{
    enum { LISTINGS = 256 };
    const file_queue_pair *known = file_queue_pair_of(queue_pair);
    if (!known && file.listings++ < LISTINGS) {
        file_list_queue_pairs();
        if (!file_queue_pair_of(queue_pair)) file_note_queue_pair(queue_pair, file_text("")); // nor next time
        known = file_queue_pair_of(queue_pair);
    }
    return known ? known->adapter : file_text("");
}

// ---- network devices ----

int64_t file_sample_interval(void)
{
    const char *mode = getenv("NETPROF"), *text = getenv("NETPROF_INTERVAL");
    double seconds = 0.1;
    char *end;
    if (mode && (strcmp(mode, "off") == 0 || strcmp(mode, "time") == 0)) return 0;
    if (text && *text) {
        double given = strtod(text, &end);
        if (end != text && strcmp(end, "ms") == 0) given /= 1000;
        if (end != text && (!*end || !strcmp(end, "s") || !strcmp(end, "ms")) && given >= 0.001 && given < 1e6)
            seconds = given;
    }
    return (int64_t)(seconds * 1e9);
}

// The kernel's protocol counters are text that takes long: they are read where somebody asks for them.
static bool file_open_devices(void)
{
    netprof_config config = NETPROF_ZERO;
    if (file.sampled) return file.devices != NULL;
    file.sampled = true;
    if (!getenv("NETPROF_SOURCES") && !getenv("NETPROF_INCLUDE")) config.sources = "cxi,netdev,rdma";
    config.max_fds = 64;
    if (netprof_open(&file.devices, &config, NULL) == NETPROF_OK) return true;
    netprof_close(file.devices);
    file.devices = NULL;
    return false;
}

void file_sample(bool all)
{
    netprof_error error;
    if (file.failed || !file_open_devices() || !file_open()) return;
    if (netprof_take(file.devices, &file.snapshot, all ? NETPROF_SET_ALL : NETPROF_SET_FAST, NULL)) return;
    if (netprof_write_snapshot(file.writer, &file.snapshot, &error)) file_fail(&error);
}
