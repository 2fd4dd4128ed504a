#define _GNU_SOURCE
#include "slurm.h"

#include "cpulist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- lists of nodes ----

enum { BRACKETS = 8 };

static const char digits[] = "0123456789";

// At most 18 digits, which fit.
static bool slurm_take_number(const char **at, const char *end, uint64_t *value)
{
    size_t n = strspn(*at, digits);
    *value = 0;
    if (!n || n > 18 || *at + n > end) return false;
    for (; n; n--)
        *value = 10 * *value + (uint64_t)(*(*at)++ - '0');
    return true;
}

typedef struct range {
    uint64_t first, last;
    size_t width; // digits with leading zeros; 0: none lead
} range;

static bool slurm_take_range(const char **at, const char *end, range *to)
{
    const char *begin = *at;
    if (!slurm_take_number(at, end, &to->first)) return false;
    to->width = *begin == '0' && *at - begin > 1 ? (size_t)(*at - begin) : 0;
    to->last = to->first;
    if (*at < end && **at == '-' && (++*at, !slurm_take_number(at, end, &to->last))) return false;
    return to->last >= to->first;
}

// Number of names that the part from at to end expands to; 0: it is not a list, or too large.
static uint64_t slurm_names_of(const char *at, const char *end)
{
    uint64_t product = 1;
    while (at < end) {
        uint64_t sum = 0;
        if (*at++ != '[') continue;
        do {
            range x;
            if (!slurm_take_range(&at, end, &x)) return 0;
            sum += x.last - x.first + 1;
        } while (at < end && *at == ',' && at++);
        if (at >= end || *at++ != ']' || sum > UINT32_MAX || product > UINT32_MAX) return 0;
        product *= sum;
    }
    return product;
}

static bool slurm_match(const char *at, const char *end, const char *node, int depth, uint64_t *place);

// Matches the node's digits with one of the ranges up to ']', and the rest with the text after it.
static bool slurm_match_ranges(const char *at, const char *end, const char *node, int depth, uint64_t *place)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    size_t run = strspn(node, digits);
    uint64_t after = close ? slurm_names_of(close + 1, end) : 0;
    if (!after || depth == BRACKETS) return false;
    for (size_t n = 1; n <= run && n <= 18; n++) {
        uint64_t before = 0, rest, number = 0;
        for (size_t i = 0; i < n; i++)
            number = 10 * number + (uint64_t)(node[i] - '0');
        const char *from = at;
        do {
            range x;
            if (!slurm_take_range(&from, close, &x)) return false;
            bool wide = x.width ? n == x.width : n == 1 || *node != '0';
            if (wide && number >= x.first && number <= x.last &&
                slurm_match(close + 1, end, node + n, depth + 1, &rest)) {
                *place = (before + number - x.first) * after + rest;
                return true;
            }
            before += x.last - x.first + 1;
        } while (from < close && *from == ',' && from++);
    }
    return false;
}

static bool slurm_match(const char *at, const char *end, const char *node, int depth, uint64_t *place)
{
    for (; at < end && *at != '['; at++, node++)
        if (*at != *node) return false;
    *place = 0;
    if (at == end) return !*node;
    return slurm_match_ranges(at + 1, end, node, depth, place);
}

bool slurm_place(const char *list, const char *node, size_t *place)
{
    uint64_t before = 0, within;
    for (const char *at = list; *at;) {
        const char *end = at;
        for (bool open = false; *end && (open || *end != ','); end++)
            open = *end == '[' || (open && *end != ']');
        uint64_t names = slurm_names_of(at, end);
        if (end == at || !names) return false;
        if (slurm_match(at, end, node, 0, &within)) {
            *place = (size_t)(before + within);
            return true;
        }
        before += names;
        at = end + (*end == ',');
    }
    return false;
}

bool slurm_count_at(const char *counts, size_t place, uint64_t *count)
{
    const char *end = counts + strlen(counts);
    for (const char *at = counts;;) {
        uint64_t times = 1;
        if (!slurm_take_number(&at, end, count)) return false;
        if (strncmp(at, "(x", 2) == 0) {
            at += 2;
            if (!slurm_take_number(&at, end, &times) || *at++ != ')') return false;
        }
        if (place < times) return true;
        place -= (size_t)times;
        if (*at++ != ',') return false;
    }
}

// ---- lengths of time, sizes ----

bool slurm_seconds(const char *text, int64_t *seconds)
{
    const char *end = text + strlen(text);
    uint64_t days = 0, part, sum = 0;
    const char *at = text, *dash = strchr(text, '-');
    if (dash && (!slurm_take_number(&at, end, &days) || *at++ != '-')) return false;
    int parts = 0;
    for (;; at++) {
        if (!slurm_take_number(&at, end, &part) || part > 1000000000 || ++parts > 3) return false;
        sum = sum * 60 + part;
        if (*at != ':') break;
    }
    if (*at || parts < 2 || days > 1000000) return false;
    if (dash && parts != 3) return false;
    *seconds = (int64_t)(days * 86400 + sum);
    return true;
}

bool slurm_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGTP"; // none: mebibytes
    const char *at = text, *unit = units + 1;
    uint64_t whole;
    if (!slurm_take_number(&at, text + strlen(text), &whole)) return false;
    double value = (double)whole, digit = .1;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, digit /= 10)
            value += digit * (*at - '0');
    if (*at && !(unit = strchr(units, *at++))) return false;
    if (*at) return false;
    for (const char *x = units; x <= unit; x++)
        value *= 1024;
    if (!(value < 1e18)) return false;
    *bytes = (uint64_t)(value + .5);
    return true;
}

// ---- scontrol's answer ----

typedef struct reading {
    const char *node;
    slurm_tell *tell;
    void *user;
    uint64_t cpus, memory, per_node, per_cpu; // 0: not told
} reading;

static void slurm_tell_number(const reading *r, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    r->tell(r->user, key, text);
}

static bool slurm_is_none(const char *value)
{
    return !*value || strcmp(value, "(null)") == 0 || strcmp(value, "N/A") == 0 || strcmp(value, "None") == 0;
}

static void slurm_tell_text(const reading *r, const char *key, const char *value)
{
    if (!slurm_is_none(value)) r->tell(r->user, key, value);
}

// "root(0)": the name.
static void slurm_tell_user(const reading *r, const char *key, const char *value)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(value, "("), value);
    slurm_tell_text(r, key, name);
}

static void slurm_tell_length(const reading *r, const char *key, const char *value)
{
    int64_t seconds;
    if (strcmp(value, "UNLIMITED") == 0)
        r->tell(r->user, key, "unlimited");
    else if (slurm_seconds(value, &seconds))
        slurm_tell_number(r, key, (uint64_t)seconds);
}

static void slurm_tell_digits(const reading *r, const char *key, const char *value)
{
    if (*value && strlen(value) < 19 && value[strspn(value, digits)] == 0) r->tell(r->user, key, value);
}

// "cpu=3,mem=400M,node=2,billing=3,gres/gpu=8".
static void slurm_tell_gpus(const reading *r, const char *key, const char *value)
{
    const char *found = strstr(value, "gres/gpu=");
    if (found) {
        char number[20];
        snprintf(number, sizeof number, "%.*s", (int)strspn(found + 9, digits), found + 9);
        slurm_tell_digits(r, key, number);
    }
}

static const struct {
    const char *name, *key;
    void (*tell)(const reading *r, const char *key, const char *value);
} fields[] = {
    {"UserId", "job_user", slurm_tell_user},
    {"Account", "job_account", slurm_tell_text},
    {"QOS", "job_qos", slurm_tell_text},
    {"JobState", "job_state", slurm_tell_text},
    {"ExitCode", "job_exit_code", slurm_tell_text},
    {"TimeLimit", "job_time_limit_s", slurm_tell_length},
    {"StartTime", "job_start_s", slurm_tell_digits},
    {"EndTime", "job_end_s", slurm_tell_digits},
    {"Partition", "job_partition", slurm_tell_text},
    {"NodeList", "job_nodes", slurm_tell_text},
    {"NumNodes", "job_node_count", slurm_tell_digits},
    {"NumCPUs", "job_cpus", slurm_tell_digits},
    {"TRES", "job_gpus", slurm_tell_gpus},
};

static void slurm_take_field(reading *r, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, name) == 0) fields[i].tell(r, fields[i].key, value);
    if (strcmp(name, "MinMemoryNode") == 0) slurm_bytes(value, &r->per_node);
    if (strcmp(name, "MinMemoryCPU") == 0) slurm_bytes(value, &r->per_cpu);
}

// "Nodes=n[1-2] CPU_IDs=0-1 Mem=200 GRES=": what these nodes give, each.
static void slurm_take_nodes(reading *r, const char *name, const char *value, bool *here)
{
    size_t place;
    cpulist set = {0};
    if (strcmp(name, "Nodes") == 0) *here = r->node && slurm_place(value, r->node, &place);
    if (!*here) return;
    if (strcmp(name, "CPU_IDs") == 0 && cpulist_add_text(&set, value)) r->cpus = cpulist_count(&set);
    if (strcmp(name, "Mem") == 0) slurm_bytes(value, &r->memory);
}

// Lines begin with one of these, or with what users wrote.
static bool slurm_is_known_line(const char *line)
{
    static const char *const begins[] = {
        "UserId=",   "Priority=",  "JobState=", "Requeue=", "RunTime=",     "StartTime=",
        "NodeList=", "Partition=", "NumNodes=", "TRES=",    "MinCPUsNode=", "Nodes="};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

static void slurm_take_line(reading *r, char *line)
{
    bool nodes = strncmp(line, "Nodes=", 6) == 0, here = false;
    for (char *word, *at = line; (word = strsep(&at, " "));) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = 0;
        if (nodes)
            slurm_take_nodes(r, word, value, &here);
        else
            slurm_take_field(r, word, value);
    }
}

void slurm_read_job(const char *text, const char *node, slurm_tell *tell, void *user)
{
    reading r = {.node = node, .tell = tell, .user = user};
    char *copy = strdup(text), *rest = copy;
    // A name may hold anything but a line's end; its line is the first, and not read.
    for (char *line; copy && (line = strsep(&rest, "\n"));) {
        line += strspn(line, " ");
        if (slurm_is_known_line(line)) slurm_take_line(&r, line);
    }
    free(copy);
    if (r.cpus) slurm_tell_number(&r, "job_cpus_on_node", r.cpus);
    if (!r.memory) r.memory = r.per_node ? r.per_node : r.per_cpu <= UINT64_MAX / (r.cpus + 1) ? r.per_cpu * r.cpus : 0;
    if (r.memory) slurm_tell_number(&r, "job_memory_on_node", r.memory);
}
