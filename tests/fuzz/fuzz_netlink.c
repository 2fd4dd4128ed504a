/* Replies of rtnetlink, of the family "ethtool" and of RDMA, and /proc/net/dev: whatever the bytes, nothing is read behind
   their end, and what a parser hands out can be read. The first byte chooses the parser. */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

static volatile uint64_t sink;

static int on_entry(void *user, const netprof__ethtool_entry *entry, uint64_t value)
{
    char name[128];
    netprof_counter c;
    (void)user;
    netprof__ethtool_describe_entry(&c, entry, name, sizeof name);
    sink += value + strlen(c.name) + strlen(c.unit);
    return 0;
}

static int on_stat(void *user, const char *name, uint64_t value)
{
    (void)user;
    sink += value + strlen(name);
    return 0;
}

static int on_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    const unsigned char *stats;
    netprof__link link;
    uint32_t ifindex, queue[4];
    uint8_t known;
    size_t count = 0, i;
    uint64_t word;
    (void)user;
    if (type == NETPROF__RTM_NEWSTATS)
        netprof__parse_stats(body, size, &ifindex, &stats, &count);
    else if (type == NETPROF__RTM_NEWLINK)
        netprof__parse_link(body, size, &link, &stats, &count);
    else if (type == NETPROF__RTM_NEWQDISC)
        sink += netprof__parse_qdisc(body, size, &ifindex, queue, &known) ? 0 : (uint64_t)ifindex + queue[0] + known;
    else if (type == NETPROF__RDMA_STAT_GET)
        netprof__parse_rdma_stat(body, size, on_stat, NULL);
    else
        netprof__parse_ethtool(body, size, on_entry, NULL);
    for (i = 0; i < count; i++) {
        memcpy(&word, stats + 8 * i, 8);
        sink += word;
    }
    return 0;
}

static void on_line(void *user, const char *name, const uint64_t *values, int count)
{
    int i;
    (void)user;
    sink += strlen(name);
    for (i = 0; i < count; i++)
        sink += values[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char names[NETPROF__PROC_COLUMNS][32];
    int interrupted = 0, heard = 0;
    size_t count, at;
    if (!size) return 0;
    if (*data % 2 == 0) {
        netprof__nl_parse(data + 1, size - 1, 7, &interrupted, &heard, on_message, NULL);
        return 0;
    }
    at = netprof__parse_procdev_header((const char *)data + 1, size - 1, names, &count);
    if (at) netprof__procdev_lines((const char *)data + 1, at, size - 1, on_line, NULL);
    return 0;
}
