// Slurm's texts: lists of nodes, CPUs by node, times, scontrol's answer; and lists of CPUs as the kernel writes them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sources/cpulist.h"
#include "sources/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Expected: the lines of `scontrol show hostnames LIST` (Slurm 22.05) for the first list; that Slurm refuses names that go
// on behind a single bracket, other versions write them.
static void nodes_stand_where_slurm_writes_them(void **state)
{
    static const struct {
        const char *list, *node;
        int place; // -1: it is not in it
    } rows[] = {
        {"n[1-3,07],login1,r[0-1]n[0-9]", "n1", 0},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "n3", 2},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "n07", 3},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "n7", -1},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "login1", 4},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "r0n0", 5},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "r1n9", 24},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "r2n0", -1},
        {"n[1-3,07],login1,r[0-1]n[0-9]", "n", -1},
        {"n[098-101]-ib", "n099-ib", 1},
        {"n[098-101]-ib", "n101-ib", 3},
        {"n[098-101]-ib", "n101", -1},
        {"n[8-11]", "n10", 2},
        {"n[8-11]", "n010", -1},
        {"n[1-2]0", "n20", 1}, // digits behind the bracket
        {"n1", "n1", 0},
        {"n1", "n11", -1},
        {"", "n1", -1},
        {"n[1-", "n1", -1},
        {"n[", "n1", -1},
        {"n[3-1]", "n2", -1},
        {"n[1-99999999999999999999]", "n2", -1},
        {"[0-4294967295][0-4294967295][0-4294967295]", "1", -1},
        {",,n1", "n1", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t place = 99;
        bool found = slurm_place(rows[i].list, rows[i].node, &place);
        if (found != (rows[i].place >= 0) || (found && place != (size_t)rows[i].place))
            fail_msg("%s in %s: %s %zu", rows[i].node, rows[i].list, found ? "at" : "not found", place);
    }
}

static void counts_by_node(void **state)
{
    static const struct {
        const char *counts;
        size_t place;
        int is; // -1: none
    } rows[] = {{"72(x2),36", 0, 72}, {"72(x2),36", 1, 72}, {"72(x2),36", 2, 36}, {"72(x2),36", 3, -1},
                {"4", 0, 4},          {"4", 1, -1},         {"2,1", 1, 1},        {"", 0, -1},
                {"4(x", 0, -1},       {"4(x2", 1, -1},      {"x", 0, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t count = 0;
        bool found = slurm_count_at(rows[i].counts, rows[i].place, &count);
        if (found != (rows[i].is >= 0) || (found && count != (uint64_t)rows[i].is))
            fail_msg("%s [%zu]", rows[i].counts, rows[i].place);
    }
}

static void times_and_sizes(void **state)
{
    int64_t s;
    uint64_t b;
    (void)state;
    assert_true(slurm_seconds("1-02:03:04", &s) && s == 86400 + 2 * 3600 + 3 * 60 + 4);
    assert_true(slurm_seconds("00:07:00", &s) && s == 420);
    assert_true(slurm_seconds("03:04", &s) && s == 184);
    const char *const none[] = {
        "UNLIMITED", "", "7", "1-02", "1-02:03", "1:2:3:4", ":", "1:", "99999999999999999999:00", "-1:00"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (slurm_seconds(none[i], &s)) fail_msg("'%s' is %lld s", none[i], (long long)s);
    assert_true(slurm_bytes("200M", &b) && b == UINT64_C(200) << 20);
    assert_true(slurm_bytes("512", &b) && b == UINT64_C(512) << 20);
    assert_true(slurm_bytes("4G", &b) && b == UINT64_C(4) << 30);
    assert_true(slurm_bytes("62.50G", &b) && b == UINT64_C(125) << 29);
    assert_true(slurm_bytes("7K", &b) && b == 7168);
    assert_false(slurm_bytes("", &b) || slurm_bytes("G", &b) || slurm_bytes("4GB", &b) || slurm_bytes("4X", &b));
}

static void keep(void *user, const char *key, const char *value)
{
    char *all = user;
    size_t n = strlen(all);
    snprintf(all + n, 4096 - n, "%s=%s\n", key, value);
}

// As Slurm 22.05 writes it; the job's name and comment say what is not so.
static const char answer[] = "JobId=1 JobName=my job UserId=root(0) TimeLimit=00:01:00\n"
                             "   UserId=anna(1007) GroupId=users(100) MCS_label=N/A\n"
                             "   Priority=4294901759 Nice=0 Account=proj-llm QOS=(null)\n"
                             "   JobState=RUNNING Reason=None Dependency=(null)\n"
                             "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n"
                             "   RunTime=00:00:00 TimeLimit=1-00:07:00 TimeMin=N/A\n"
                             "   StartTime=1795271808 EndTime=1795272228 Deadline=N/A\n"
                             "   Partition=gpu-b AllocNode:Sid=0.0.0.0:0\n"
                             "   ReqNodeList=(null) ExcNodeList=(null)\n"
                             "   NodeList=n[1-3]\n"
                             "   NumNodes=3 NumCPUs=7 NumTasks=3 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n"
                             "   TRES=cpu=7,mem=700M,node=3,billing=7,gres/gpu=12\n"
                             "     Nodes=n1 CPU_IDs=0-2,5 Mem=400 GRES=gpu:4\n"
                             "     Nodes=n[2-3] CPU_IDs=0 Mem=150 GRES=\n"
                             "   MinCPUsNode=1 MinMemoryNode=200M MinTmpDiskNode=0\n"
                             "   Command=/home/anna/TimeLimit=1 JobState=FAILED\n"
                             "   Comment=x Partition=other NumCPUs=99\n";

static void scontrols_answer(void **state)
{
    char all[4096] = "";
    (void)state;
    slurm_read_job(answer, "n1", keep, all);
    assert_string_equal(
        all, "job_user=anna\njob_account=proj-llm\njob_state=RUNNING\njob_exit_code=0:0\njob_time_limit_s=86820\n"
             "job_start_s=1795271808\njob_end_s=1795272228\njob_partition=gpu-b\njob_nodes=n[1-3]\njob_node_count=3\n"
             "job_cpus=7\njob_gpus=12\njob_cpus_on_node=4\njob_memory_on_node=419430400\n");
    *all = 0;
    slurm_read_job(answer, "n3", keep, all);
    assert_non_null(strstr(all, "job_cpus_on_node=1\njob_memory_on_node=157286400\n"));
    *all = 0;
    slurm_read_job(answer, NULL, keep, all); // which node is not known: the request for each
    assert_null(strstr(all, "job_cpus_on_node"));
    assert_non_null(strstr(all, "job_memory_on_node=209715200\n"));
}

static void scontrols_answer_without_limits(void **state)
{
    char all[4096] = "";
    (void)state;
    slurm_read_job(
        "   RunTime=00:00:00 TimeLimit=UNLIMITED TimeMin=N/A\n   StartTime=2026-11-21T14:36:48 EndTime=Unknown\n"
        "     Nodes=n1 CPU_IDs=0-1 Mem=0 GRES=\n   MinCPUsNode=1 MinMemoryCPU=50M\n",
        "n1", keep, all);
    assert_string_equal(all, "job_time_limit_s=unlimited\njob_cpus_on_node=2\njob_memory_on_node=104857600\n");
    *all = 0;
    slurm_read_job("slurm_load_jobs error: Invalid job id specified\n", "n1", keep, all);
    assert_string_equal(all, "");
}

static void lists_of_cpus(void **state)
{
    static const struct {
        const char *text;
        int count; // -1: it is no list
    } rows[] = {{"0", 1}, {"0-3,8,10-11\n", 7}, {"3,3,1-4", 4}, {"16383", 1}, {"16384", -1},
                {"", -1}, {"0-", -1},           {"3-1", -1},    {"0,", -1},   {"0 1", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cpulist set = {0};
        bool good = cpulist_add_text(&set, rows[i].text);
        if (good != (rows[i].count >= 0) || (good && cpulist_count(&set) != (size_t)rows[i].count))
            fail_msg("'%s'", rows[i].text);
        if (good && rows[i].count == 7 &&
            (!cpulist_has(&set, 3) || cpulist_has(&set, 9) || cpulist_has(&set, CPULIST_MOST)))
            fail();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_stand_where_slurm_writes_them),
        cmocka_unit_test(counts_by_node),
        cmocka_unit_test(times_and_sizes),
        cmocka_unit_test(scontrols_answer),
        cmocka_unit_test(scontrols_answer_without_limits),
        cmocka_unit_test(lists_of_cpus),
    };
    return cmocka_run_group_tests_name("slurm", tests, NULL, NULL);
}
