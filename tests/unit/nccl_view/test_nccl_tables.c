// Tables of NCCL's logs, whole, of a job made by hand in which no two numbers are alike; the types of their columns; and the
// cells and members that they are written with.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/export/nccl_columns.h"
#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/export/nccl_text.h"
#include "analysis/nccl/export/nccl_peers_export.h"
#include "support.h"

#include "golden.h"

#include <math.h>

// ---- the job ----

#define SPREAD(n)                                                                                                      \
    {                                                                                                                  \
        .count = 3, .min = (n), .p5 = (n) + .05, .p25 = (n) + .25, .p50 = (n) + .5, .p75 = (n) + .75,                  \
        .p95 = (n) + .95, .p99 = (n) + .99, .max = (n) + 1, .mean = (n) + 1.5, .sd = (n) + 1.25                        \
    }
#define SPREADS(n)                                                                                                     \
    {                                                                                                                  \
        .wire_us = SPREAD((n) + 10), .skew_us = SPREAD((n) + 20), .time_us = SPREAD((n) + 30),                         \
        .alg_gbs = SPREAD((n) + 40), .bus_gbs = SPREAD((n) + 50), .mean_bus_gbs = SPREAD((n) + 60),                    \
        .best_bus_gbs = SPREAD((n) + 70)                                                                               \
    }

static nccl_host hosts[] = {{.name = "h1"}, {.name = "h,2"}};
static nccl_process processes[] = {
    {.host = 0,
     .pid = 11,
     .local = 3,
     .waiting = {.records = 8,
                 .last_arrivals = 2,
                 .last_alone = 1,
                 .suffered_us = 36,
                 .cost_us = 5,
                 .caused_us = 6,
                 .judged = 4,
                 .judged_last = 7,
                 .judged_cost_us = 9,
                 .behind_us = 50,
                 .missing = 12,
                 .missing_tail = 10}},
    {.host = 1, .pid = 22, .waiting = {.records = 4, .last_arrivals = 3, .suffered_us = 6}},
    {.host = 1, .pid = 33, .local = 1},
    {.host = 0, .pid = 44, .local = 2, .waiting = {.records = 16, .last_arrivals = 4, .suffered_us = 40}}};
static nccl_communicator communicators[] = {{.id = "0x2",
                                             .label = "dp",
                                             .run = 1,
                                             .ranks = 3,
                                             .nodes = 2,
                                             .type = NCCL_MIXED,
                                             .first_member = 0,
                                             .member_count = 3,
                                             .peak_gbs = 80},
                                            {.id = "0x1",
                                             .label = "tp #2",
                                             .run = 2,
                                             .ranks = 2,
                                             .nodes = 1,
                                             .type = NCCL_NVLINK_ONLY,
                                             .first_member = 3,
                                             .member_count = 1,
                                             .peak_gbs = NAN},
                                            {.id = "0x1",
                                             .label = "tp",
                                             .run = 1,
                                             .ranks = 2,
                                             .nodes = 1,
                                             .type = NCCL_NVLINK_ONLY,
                                             .first_member = 4,
                                             .member_count = 0,
                                             .peak_gbs = NAN},
                                            {.id = "0x1",
                                             .label = "twin",
                                             .run = 2,
                                             .ranks = 2,
                                             .nodes = 1,
                                             .type = NCCL_NVLINK_ONLY,
                                             .first_member = 4,
                                             .member_count = 0,
                                             .peak_gbs = NAN}};
static nccl_member members[] = {{.communicator = 0, .process = 0, .rank = 0},
                                {.communicator = 0, .process = 1, .rank = 1},
                                {.communicator = 0, .process = 2, .rank = 2, .stats = {.parts_dropped = 1}},
                                {.communicator = 1, .process = 3, .rank = 1}};
static const char *colls[] = {"AllGather", "AllReduce"};
static nccl_series series[] = {
    {.communicator = 3, .kind = 0, .coll = 0, .size = 9, .spreads = SPREADS(900), .peak_share = NAN},
    {.communicator = 1, .kind = 1, .coll = 1, .size = 10, .spreads = SPREADS(800), .peak_share = NAN},
    {.communicator = 0,
     .kind = 2,
     .coll = 1,
     .size = 500,
     .incomplete = 4,
     .missing = 5,
     .time_us = 6,
     .wire_total_us = 7,
     .spreads = SPREADS(100),
     .wire_change = {true, 3, 1.5, 2.5},
     .skew_change = {true, 8, 3.5, 4.5},
     .peak_share = .5},
    {.communicator = 1, .kind = 0, .coll = 0, .size = 9, .spreads = SPREADS(700), .peak_share = NAN},
    {.communicator = 2,
     .kind = 1,
     .coll = 1,
     .size = 10,
     .spreads = SPREADS(600),
     .wire_change = {false, 3, 1.5, 2.5},
     .peak_share = NAN}};
static nccl_kind kinds[] = {{.type = NCCL_NVLINK_ONLY,
                             .coll = 0,
                             .size = 9,
                             .instances = 2,
                             .incomplete = 3,
                             .time_us = 4,
                             .wire_us = 5,
                             .spreads = SPREADS(300),
                             .peak_gbs = NAN,
                             .peak_share = NAN},
                            {.type = NCCL_NVLINK_ONLY,
                             .coll = 1,
                             .size = 10,
                             .instances = 6,
                             .incomplete = 7,
                             .time_us = 8,
                             .wire_us = 11,
                             .spreads = SPREADS(400),
                             .peak_gbs = 80,
                             .peak_share = .25},
                            {.type = NCCL_MIXED, .coll = 1, .size = 500}};
static nccl_p2p p2p[] = {{.member = 1,
                          .peer = 2,
                          .operation = "Send",
                          .timing = "kernel_cpu",
                          .size = 12,
                          .records = 13,
                          .traffic_bytes = 14,
                          .time_us = SPREAD(15),
                          .bus_gbs = SPREAD(25)},
                         {.member = 3,
                          .peer = -1,
                          .operation = "Recv",
                          .timing = "",
                          .size = 16,
                          .records = 17,
                          .traffic_bytes = 18,
                          .time_us = SPREAD(35),
                          .bus_gbs = SPREAD(45)}};
static nccl_proxy proxies[] = {
    {.member = 0,
     .peer = 1,
     .direction = "send",
     .operations = 1,
     .steps = 2,
     .steps_dropped = 3,
     .bytes = 40,
     .total_us = 5,
     .timed = 4,
     .step_bytes = 7,
     .gpu_us = 8,
     .credit_us = 12,
     .wire_us = 20,
     .flush_us = 11},
    {.member = 1,
     .peer = 0,
     .direction = "recv",
     .operations = 12,
     .steps = 13,
     .bytes = 14,
     .total_us = 15,
     .timed = 5,
     .step_bytes = 17,
     .gpu_us = 18,
     .credit_us = 19,
     .wire_us = 20,
     .flush_us = 15},
    {.member = 1, .peer = 0, .direction = "send", .timed = 2, .bytes = 5, .gpu_us = 2, .credit_us = 4, .wire_us = 10},
    {.member = 2, .peer = 1, .direction = "recv", .unsized = 1, .operations = 3},
    {.member = 3,
     .peer = 0,
     .direction = "send",
     .timed = 8,
     .bytes = 21,
     .step_bytes = 24,
     .gpu_us = 16,
     .credit_us = 24,
     .wire_us = 32},
    {.member = 0, .peer = -1, .direction = "", .operations = 99}};
static nccl_spent spent[] = {
    {.member = 0,
     .coll = "AllReduce",
     .size = 500,
     .calls = 3,
     .sent = 4,
     .received = 5,
     .sent_bytes = 60,
     .received_bytes = 70,
     .gpu_us = 8,
     .credit_us = 9,
     .wire_us = 10,
     .data_us = 11,
     .flush_us = 12,
     .consume_us = 13,
     .received_at_least = true},
    {.member = 3,
     .coll = "Send",
     .size = 1,
     .calls = 2,
     .sent = 1,
     .sent_bytes = 3,
     .gpu_us = 1,
     .credit_us = 300,
     .wire_us = 2,
     .sent_at_least = true},
    {.member = 1, .coll = "AllReduce", .size = 500, .calls = 6},
    {.member = 2, .coll = "AllReduce", .size = 500, .calls = 7, .received = 9, .received_bytes = 80, .data_us = 1}};
static nccl_used used[] = {
    {.member = 0, .transport = "ib", .direction = "send", .adapter = "mlx5_0", .device = 1, .requests = 2, .bytes = 3},
    {.member = 3, .transport = "ib", .direction = "recv", .adapter = "mlx5_0|mlx5_1", .device = 0, .requests = 4},
    {.member = 1, .transport = "socket", .direction = "recv", .adapter = "", .device = -1, .requests = 5, .bytes = 6},
    {.member = 1, .transport = "socket", .direction = "send", .adapter = "", .device = -1}};
static nccl_file files[] = {
    {.name = "a.log",
     .path = "/x/a.log",
     .lines = 2,
     .packing = NCCL_PLAIN,
     .bytes = 3,
     .tail_cut = true,
     .outcomes = {[NCCL_BLANK] = 11,
                  [NCCL_BAD_JSON] = 12,
                  [NCCL_NOT_OBJECT] = 13,
                  [NCCL_NO_CONTEXT] = 14,
                  [NCCL_P2P] = 15,
                  [NCCL_DUMP_STATS] = 16,
                  [NCCL_OTHER] = 17,
                  [NCCL_BAD_VALUE] = 18,
                  [NCCL_COLL] = 19,
                  [NCCL_PROXY] = 20,
                  [NCCL_TOO_LONG] = 21},
     .invalid_sizes = 22,
     .duplicates = 23,
     .conflicts = 24,
     .disagreeing = 25,
     .first_bad_line = 26},
    {.name = "b,\"c\".log.gz", .path = "/x/b,\"c\".log.gz", .cut = true, .packing = NCCL_GZIP, .problem = "it is odd"},
    {.name = "d.log.zst", .path = "/x/d.log.zst", .packing = NCCL_ZSTD, .error = EACCES, .problem = "not said"}};

static const nccl job = {.files = files,
                         .file_count = COUNT(files),
                         .hosts = hosts,
                         .host_count = COUNT(hosts),
                         .processes = processes,
                         .process_count = COUNT(processes),
                         .communicators = communicators,
                         .communicator_count = COUNT(communicators),
                         .members = members,
                         .member_count = COUNT(members),
                         .colls = colls,
                         .coll_count = COUNT(colls),
                         .series = series,
                         .series_count = COUNT(series),
                         .kinds = kinds,
                         .kind_count = COUNT(kinds),
                         .p2p = p2p,
                         .p2p_count = COUNT(p2p),
                         .proxies = proxies,
                         .proxy_count = COUNT(proxies),
                         .spent = spent,
                         .spent_count = COUNT(spent),
                         .used = used,
                         .used_count = COUNT(used)};

// ---- whole tables ----

// The lines after the head.
static void expect_table(nccl_table table, const char *const *lines, size_t count)
{
    struct sink s = {0};
    assert_int_equal(nccl_export(&job, table, NULL, sink_write, &s), NETPROF_OK);
    sink_write(&s, "", 1);
    const char *at = strchr((const char *)s.data, '\n');
    assert_non_null(at);
    size_t columns = 1;
    for (const char *c = (const char *)s.data; c < at; c++)
        columns += *c == ',';
    at++;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(at, "\n");
        if (strlen(lines[i]) != length || memcmp(at, lines[i], length) != 0)
            fail_msg("%s: line %zu:\n%.*s\nnot\n%s", nccl_table_file(table), i + 1, (int)length, at, lines[i]);
        size_t cells = 1;
        bool quoted = false;
        for (const char *c = lines[i]; *c; c++)
            quoted ^= *c == '"', cells += *c == ',' && !quoted;
        assert_int_equal(cells, columns);
        at += length + 1;
    }
    assert_string_equal(at, "");
    sink_free(&s);
}

#define SHORT(n) #n ".05," #n ".5," #n ".95," #n ".99"

static void of_files(void **state)
{
    static const char *const lines[] = {
        "a.log,0,2,11,12,13,14,15,16,17,18,19,1,/x/a.log,20,21,22,23,24,25,26,plain,3,",
        "\"b,\"\"c\"\".log.gz\",1,0,0,0,0,0,0,0,0,0,0,0,\"/x/b,\"\"c\"\".log.gz\",0,0,0,0,0,0,0,gzip,0,it is odd",
        "d.log.zst,0,0,0,0,0,0,0,0,0,0,0,0,/x/d.log.zst,0,0,0,0,0,0,0,zstd,0,Permission denied"};
    (void)state;
    expect_table(NCCL_LINES_CSV, lines, COUNT(lines));
}

#define OTHERS(w, s, t, a, b)                                                                                          \
    w ".05," w ".95," s ".05," s ".95," t ".05," t ".5," t ".95," t ".99," a ".05," a ".5," a ".95," a ".99," b        \
      ".05," b ".5," b ".95," b ".99,"

// By identity, then run; two of one identity and run as they are ordered.
static void of_communicators(void **state)
{
    static const char *const lines[] = {
        "0x1,nvlink-only,AllReduce,10,0,610.5,610.99,670.5,620.5,620.99,0,tp,1,2,1,0,0,0,0," OTHERS(
            "610", "620", "630", "640", "650") "660.5,,,,,,,,",
        "0x1,nvlink-only,AllGather,9,0,710.5,710.99,770.5,720.5,720.99,0,tp #2,2,2,1,1,0,0,0," OTHERS(
            "710", "720", "730", "740", "750") "760.5,,,,,,,,",
        "0x1,nvlink-only,AllReduce,10,0,810.5,810.99,870.5,820.5,820.99,0,tp #2,2,2,1,1,0,0,0," OTHERS(
            "810", "820", "830", "840", "850") "860.5,,,,,,,,",
        "0x1,nvlink-only,AllGather,9,0,910.5,910.99,970.5,920.5,920.99,0,twin,2,2,1,0,0,0,0," OTHERS(
            "910", "920", "930", "940", "950") "960.5,,,,,,,,",
        "0x2,mixed,AllReduce,500,0,110.5,110.99,170.5,120.5,120.99,4,dp,1,3,2,3,5,6,7," OTHERS(
            "110", "120", "130", "140", "150") "160.5,80,0.5,3,1.5,2.5,8,3.5,4.5"};
    (void)state;
    expect_table(NCCL_COMMUNICATORS_CSV, lines, COUNT(lines));
}

static void of_types(void **state)
{
    static const char *const lines[] = {
        "nvlink-only,AllGather,9,2,360,361.5,360.5,360.05,360.95,360.99,361,361.25,one node,3,4,5," SHORT(
            310) "," SHORT(320) "," SHORT(330) "," SHORT(340) "," SHORT(350) ",,",
        "nvlink-only,AllReduce,10,6,460,461.5,460.5,460.05,460.95,460.99,461,461.25,one node,7,8,11," SHORT(
            410) "," SHORT(420) "," SHORT(430) "," SHORT(440) "," SHORT(450) ",80,0.25",
        "mixed,AllReduce,500,0,0,0,0,0,0,0,0,0,several ranks on each "
        "node,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
        "0,0"};
    (void)state;
    expect_table(NCCL_TYPES_CSV, lines, COUNT(lines));
}

// Who was last most often comes first; of equal shares the first; who has no records is not there.
static void of_ranks(void **state)
{
    static const char *const lines[] = {"\"h,2\",22,4,3,6,1.5,0.75,0,0,0,0,0,0,0,,0,0",
                                        "h1,11,8,2,36,4.5,0.25,3,1,5,6,4,7,9,12.5,12,10",
                                        "h1,44,16,4,40,2.5,0.25,2,0,0,0,0,0,0,,0,0"};
    (void)state;
    expect_table(NCCL_RANKS_CSV, lines, COUNT(lines));
}

static void of_transfers(void **state)
{
    static const char *const sends[] = {"0x2,dp,mixed,1,\"h,2\",22,Send,2,12,kernel_cpu,13,14," SHORT(15) "," SHORT(25),
                                        "0x1,tp #2,nvlink-only,1,h1,44,Recv,,16,,17,18," SHORT(35) "," SHORT(45)};
    static const char *const operations[] = {"0x2,dp,mixed,0,h1,11,send,1,1,2,3,40,5,8,12,20,11,4,7",
                                             "0x2,dp,mixed,1,\"h,2\",22,recv,0,12,13,0,14,15,18,19,20,15,5,17",
                                             "0x2,dp,mixed,1,\"h,2\",22,send,0,0,0,0,5,0,2,4,10,0,2,0",
                                             "0x2,dp,mixed,2,\"h,2\",33,recv,1,3,0,0,0,0,0,0,0,0,0,0",
                                             "0x1,tp #2,nvlink-only,1,h1,44,send,0,0,0,0,21,0,16,24,32,0,8,24",
                                             "0x2,dp,mixed,0,h1,11,,,99,0,0,0,0,0,0,0,0,0,0"};
    // Of rank 0 to 1 a step waits 2 us for the GPU, 3 for room, 5 on the wire; back 1, 2 and 5. Beside these the lower
    // quartiles are 1.25, 2.25 and 5; a flush takes 3. Of the other communicator there is one pair, whose partner has no log.
    static const char *const peers[] = {
        "0x2,dp,mixed,0,h1,11,1,\"h,2\",22,40,4,5,8,12,20,15,20,18,1.6,1.33333333,1,1,1",
        "0x2,dp,mixed,1,\"h,2\",22,0,h1,11,5,2,0,2,4,10,0,0,0,0.8,0.888888889,1,,0",
        "0x2,dp,mixed,1,\"h,2\",22,2,\"h,2\",33,,0,0,0,0,0,0,0,0,,,,,0",
        "0x1,tp #2,nvlink-only,1,h1,44,,,,24,8,0,16,24,32,0,0,0,1,1,1,,0"};
    (void)state;
    expect_table(NCCL_P2P_CSV, sends, COUNT(sends));
    expect_table(NCCL_PROXIES_CSV, operations, COUNT(operations));
    expect_table(NCCL_PEERS_CSV, peers, COUNT(peers));
}

static void of_waits_and_adapters(void **state)
{
    static const char *const waits[] = {"0x1,tp #2,nvlink-only,1,h1,44,Send,1,2,credit,1,3,1,300,2,0,0,0,0,0,1,0",
                                        "0x2,dp,mixed,0,h1,11,AllReduce,500,3,mixed,4,60,8,9,10,5,70,11,12,13,0,1",
                                        "0x2,dp,mixed,2,\"h,2\",33,AllReduce,500,7,,0,0,0,0,0,9,80,1,0,0,1,1"};
    static const char *const adapters[] = {
        "0x2,dp,mixed,0,h1,11,send,ib,mlx5_0,1,2,3", "0x1,tp #2,nvlink-only,1,h1,44,recv,ib,mlx5_0|mlx5_1,0,4,",
        "0x2,dp,mixed,1,\"h,2\",22,recv,socket,,,5,6", "0x2,dp,mixed,1,\"h,2\",22,send,socket,,,0,0"};
    (void)state;
    expect_table(NCCL_WAITS_CSV, waits, COUNT(waits));
    expect_table(NCCL_ADAPTERS_CSV, adapters, COUNT(adapters));
}

// The same as JSON, whole: tables.json beside this file.
static void as_json(void **state)
{
    json_object *o = json_new_object();
    (void)state;
    json_put(o, "peers", nccl_peers_json(&job));
    json_put(o, "proxies", nccl_proxies_json(&job));
    json_put(o, "waits", nccl_waits_json(&job));
    json_put(o, "devices", nccl_devices_json(&job));
    golden_expect(o, "nccl_view/tables.json");
}

// ---- the exporter's tree ----

#define AT UINT64_C(1749490000123456) // 2025-06-09 17:26:40.123 UTC

// By number, then identity, then as they come; how long it took in the unit that fits.
static void summary_of_a_kind(void **state)
{
    static nccl_communicator own[] = {{.id = "0xb", .ranks = 4, .nodes = 2}, {.id = "0xa", .ranks = 3, .nodes = 1}};
    static nccl_instance instances[] = {
        {.sn = 7, .count = 4, .mean_bus = 1.5, .first_dump_us = AT, .last_dump_us = AT + 999},
        {.sn = 9, .count = 3, .mean_bus = 0.1, .first_dump_us = AT, .last_dump_us = AT + 1000},
        {.sn = 1, .count = 9, .mean_bus = 9, .first_dump_us = AT, .last_dump_us = AT}, // of another kind
        {.sn = 7, .count = 2, .mean_bus = 2, .first_dump_us = AT, .last_dump_us = AT + 999999},
        {.sn = 8, .count = 1, .mean_bus = 3, .first_dump_us = AT, .last_dump_us = AT + 61250000},
        {.sn = 9, .count = 5, .mean_bus = 4, .first_dump_us = 0, .last_dump_us = UINT64_MAX}};
    static nccl_series parts[] = {{.communicator = 0, .kind = 2, .first_instance = 0, .instance_count = 2},
                                  {.communicator = 0, .kind = 1, .first_instance = 2, .instance_count = 1},
                                  {.communicator = 1, .kind = 2, .first_instance = 3, .instance_count = 3}};
    static const char *names[] = {"AllGather", "AllReduce", "AllToAll", "Broadcast", "ReduceScatter"};
    static nccl_kind all[] = {{.type = NCCL_MIXED, .coll = 2, .size = 65536, .instances = 3},
                              {.type = NCCL_MIXED, .coll = 3, .size = 1024, .instances = 1},
                              {.type = NCCL_HCA_ONLY, .coll = 4, .size = 1500000, .instances = 5},
                              {.type = NCCL_HCA_ONLY, .coll = 0, .size = 0},
                              {.type = NCCL_NVLINK_ONLY, .coll = 1, .size = 999}};
    static const char *const paths[] = {"summary/msg_size_1024_1.02KB/summary_mixed_Broadcast_1024.csv",
                                        "summary/msg_size_1500000_1.50MB/summary_hca-only_ReduceScatter_1500000.csv",
                                        "summary/msg_size_0_0B/summary_hca-only_AllGather_0.csv",
                                        "summary/msg_size_999_999.00B/summary_nvlink-only_AllReduce_999.csv"};
    static const char lines[] =
        "0xa,7,1500000,2.0,2,[3],[1],1749490000123456,1749490001123455,999999,1.50MB,2025-06-09 17:26:40.123,"
        "2025-06-09 17:26:41.123,1000.0ms\n"
        "0xb,7,1500000,1.5,4,[4],[2],1749490000123456,1749490000124455,999,1.50MB,2025-06-09 17:26:40.123,"
        "2025-06-09 17:26:40.124,999.0\u03bcs\n"
        "0xa,8,1500000,3.0,1,[3],[1],1749490000123456,1749490061373456,61250000,1.50MB,2025-06-09 17:26:40.123,"
        "2025-06-09 17:27:41.373,61.2s\n"
        "0xa,9,1500000,4.0,5,[3],[1],0,18446744073709551615,18446744073709551615,1.50MB,1970-01-01 00:00:00.000,,"
        "18446744073709.6s\n"
        "0xb,9,1500000,0.1,3,[4],[2],1749490000123456,1749490000124456,1000,1.50MB,2025-06-09 17:26:40.123,"
        "2025-06-09 17:26:40.124,1.0ms\n";
    const nccl n = {.communicators = own,
                    .communicator_count = COUNT(own),
                    .instances = instances,
                    .instance_count = COUNT(instances),
                    .series = parts,
                    .series_count = COUNT(parts),
                    .colls = names,
                    .coll_count = COUNT(names),
                    .kinds = all,
                    .kind_count = COUNT(all)};
    struct sink s = {0}, full = {.fail_behind = 100};
    char path[200];
    (void)state;
    assert_int_equal(nccl_summary_count(&n), COUNT(paths));
    for (size_t i = 0; i < COUNT(paths); i++)
        assert_string_equal(nccl_summary_path(&n, i, path, sizeof path), paths[i]);
    assert_int_equal(nccl_summary_write(&n, 1, sink_write, &s), NETPROF_OK);
    sink_write(&s, "", 1);
    assert_string_equal(strchr((const char *)s.data, '\n') + 1, lines);
    assert_int_equal(nccl_summary_write(&n, 1, sink_write, &full), NETPROF_ERR_IO);
    sink_free(&s);
    sink_free(&full);
}

// ---- types of columns ----

static void column_types(void **state)
{
    static const struct {
        const char *name, *type, *cells[3];
    } rows[] = {{"u", "UBIGINT", {"1", "", "18446744073709551615"}},
                {"big", "DOUBLE", {"1", "18446744073709551616", ""}},
                {"long", "DOUBLE", {"123456789012345678901", "", ""}},
                {"s", "BIGINT", {"1", "-2", "3"}},
                {"least", "BIGINT", {"-999999999999999999", "1", ""}},
                {"r", "DOUBLE", {"-2", "1e9", "0.5"}},
                {"minus", "VARCHAR", {"-", "-", "1"}},
                {"hex", "VARCHAR", {"0xab", "1", "1"}},
                {"nan", "VARCHAR", {"nan", "1", "1"}},
                {"t", "VARCHAR", {"1", "2", "x y"}},
                {"none", "DOUBLE", {"", "", ""}},
                {"host", "VARCHAR", {"1", "2", "3"}},
                {"version", "VARCHAR", {"", "", ""}},
                {"quoted", "UBIGINT", {"\"1\"", "\"2\"", "3"}},
                {"a,\"b\"", "VARCHAR", {"\"1,2\"", "\"3\n4\"", "\"\"\"\""}}};
    char *tree = tree_make(), text[2000] = "";
    (void)state;
    for (int line = -1; line < 3; line++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            const char *cell = line >= 0                   ? rows[i].cells[line]
                               : strchr(rows[i].name, ',') ? "\"a,\"\"b\"\"\""
                                                           : rows[i].name;
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : line >= 0 ? "\r\n" : "", cell);
        }
    for (int end = 0; end < 2; end++) { // with a line's end at the end, and without
        size_t count = 99;
        tree_write(tree, "t.csv", "%s%s", text, end ? "\n" : "");
        parquet_column *columns = nccl_columns(tree_path(tree, "t.csv"), &count);
        assert_non_null(columns);
        assert_int_equal(count, COUNT(rows));
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(columns[i].name, rows[i].name);
            if (strcmp(columns[i].type, rows[i].type) != 0) fail_msg("%s: %s", rows[i].name, columns[i].type);
            assert_null(columns[i].made);
        }
        nccl_columns_free(columns, count);
        assert_null(nccl_columns(tree_path(tree, "none.csv"), &count));
        assert_int_equal(count, 0);
    }
    nccl_columns_free(NULL, 0);
    tree_remove(tree);
}

// ---- cells and members ----

static void cells(void **state)
{
    static const double numbers[] = {0, 5, 999999999, 1e9, -2, 0.1234567891, NAN, INFINITY, 2.5, 1e-7, 1.5e9};
    static nccl_out o;
    const nccl_spread spread = SPREAD(1);
    struct sink s = {0};
    (void)state;
    memset(&o, 0xff, sizeof o);
    nccl_out_begin(&o, sink_write, &s);
    for (size_t i = 0; i < COUNT(numbers); i++)
        nccl_csv_number(&o, numbers[i]);
    nccl_csv_line_end(&o);
    nccl_csv_u64(&o, 0);
    nccl_csv_u64(&o, UINT64_MAX);
    nccl_csv_i64(&o, INT64_MIN);
    nccl_csv_i64(&o, -1);
    nccl_csv_i64(&o, INT64_MAX);
    nccl_csv_spread(&o, &spread, false);
    nccl_csv_spread(&o, &spread, true);
    nccl_csv_line_end(&o);
    const double exact[] = {0.1, 5, 1.0 / 3, 1e300, 0.1 + 0.2, NAN, -7};
    for (size_t i = 0; i < COUNT(exact); i++) {
        nccl_out_exact(&o, exact[i]);
        nccl_out_text(&o, ";");
    }
    nccl_out_text(&o, "\n");
    nccl_json_begin(&o);
    nccl_json_member_text(&o, "a", "x\"y\n");
    nccl_json_member_u64(&o, "b", 7);
    nccl_json_member_i64(&o, "c", -8);
    nccl_json_member_i64(&o, "d", 9);
    nccl_json_member_number(&o, "e", 1.25);
    nccl_json_member_number(&o, "f", NAN);
    nccl_json_end(&o);
    nccl_json_begin(&o);
    nccl_json_end(&o);
    nccl_csv_name(&o, "x");
    assert_int_equal(nccl_out_end(&o), NETPROF_OK);
    sink_write(&s, "", 1);
    assert_string_equal(
        (const char *)s.data,
        "0,5,999999999,1e+09,-2,0.123456789,,,2.5,1e-07,1.5e+09\n"
        "0,18446744073709551615,-9223372036854775808,-1,9223372036854775807,1.05,1.25,1.5,1.75,1.95,1.99,"
        "2.5,1.05,1.5,1.95,1.99\n"
        "0.1;5.0;0.3333333333333333;1e+300;0.30000000000000004;;-7.0;\n"
        "{\"a\":\"x\\\"y\\u000a\",\"b\":7,\"c\":-8,\"d\":9,\"e\":1.25,\"f\":null}\n{}\nx");
    sink_free(&s);
}

// Longer than the buffer, in pieces of unlike lengths; and to a place that becomes full.
static void long_text(void **state)
{
    enum { ALL = 50000 };
    static nccl_out o;
    static char text[ALL];
    struct sink s = {0}, full = {.fail_behind = 40000};
    (void)state;
    for (size_t i = 0; i < ALL; i++)
        text[i] = (char)('a' + i * 7 % 26 + (i % 11 == 0));
    for (int small = 0; small < 2; small++) {
        struct sink *to = small ? &full : &s;
        nccl_out_begin(&o, sink_write, to);
        for (size_t at = 0, n; at < ALL; at += n) {
            n = (small ? 999 : 17000) + at % 13;
            if (n > ALL - at) n = ALL - at;
            nccl_out_bytes(&o, text + at, n);
        }
        assert_int_equal(nccl_out_end(&o), small ? NETPROF_ERR_IO : NETPROF_OK);
        assert_int_equal(to->size, small ? 2 * sizeof o.text : ALL);
        assert_memory_equal(to->data, text, to->size);
        sink_free(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_files), cmocka_unit_test(of_communicators),  cmocka_unit_test(of_types),
        cmocka_unit_test(of_ranks), cmocka_unit_test(of_transfers),      cmocka_unit_test(of_waits_and_adapters),
        cmocka_unit_test(as_json),  cmocka_unit_test(summary_of_a_kind), cmocka_unit_test(column_types),
        cmocka_unit_test(cells),    cmocka_unit_test(long_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
