// Which job, node and pod: what control groups and node files say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sources/membership.h"
#include "analysis/base/text.h"

#include <stdlib.h>
#include <string.h>

static void control_groups_name_jobs(void **state)
{
    static const struct {
        const char *scheduler, *job, *text;
        bool is;
    } rows[] = {
        {"slurm", "17", "4:memory:/slurm/uid_1000/job_17/step_0/task_1\n", true},
        {"slurm", "17", "0::/system.slice/slurmstepd.scope/job_17/step_batch/user/task_0\n", true},
        {"slurm", "17", "9:pids:/\n4:memory:/slurm_n2/uid_0/job_17/step_0\n", true},
        {"slurm", "17", "4:memory:/slurm/uid_1000/job_171/step_0\n", false},
        {"slurm", "17", "4:memory:/slurm/uid_1000/job_1/step_17\n", false},
        {"slurm", "17", "0::/user.slice/job_17\n", false}, // nobody's but the user's
        {"slurm", "", "0::/slurm/job_/x\n", false},
        {"pbs", "123.server", "0::/pbs_jobs.service/jobid/123.server\n", true},
        {"pbs", "123.server", "0::/pbs_jobs.service/jobid/1123.server\n", false},
        {"pbs", "7[3].server", "4:memory:/pbspro.slice/7[3].server\n", true},
        {"oar", "99", "3:cpuset:/oar/alice_99\n", true},
        {"oar", "99", "3:cpuset:/oar/al_ice_99\n", true},
        {"oar", "99", "3:cpuset:/oar/alice_199\n", false},
        {"oar", "99", "3:cpuset:/home/alice_99\n", false},
        {"oar", "99", "", false},
        {"oar", "99", "no colons at all", false},
        {"oar", "99", "3:cpuset\n4:memory:/oar/alice_99", true}, // a line without a path is passed over
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (membership_in_cgroup(rows[i].scheduler, rows[i].job, rows[i].text) != rows[i].is)
            fail_msg("%s %s: %s", rows[i].scheduler, rows[i].job, rows[i].text);
    (void)state;
}

static void check_uid(const char *text, const char *uid)
{
    char *got = membership_pod_uid(text);
    if (!uid) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    assert_string_equal(got, uid);
    free(got);
}

static void pods_have_uids(void **state)
{
    static const char uid[] = "12345678-9abc-def0-1234-56789abcdef0";
    check_uid("0::/kubepods/burstable/pod12345678-9abc-def0-1234-56789abcdef0/aabbccdd\n", uid);
    check_uid("0::/kubepods.slice/kubepods-burstable.slice/"
              "kubepods-burstable-pod12345678_9abc_def0_1234_56789abcdef0.slice/cri-containerd-aabb.scope\n",
              uid);
    check_uid("0::/podman/pod123\n", NULL);
    check_uid("0::/pod12345678-9abc-def0-1234-56789abcdef01\n", NULL);
    check_uid("", NULL);
    check_uid("pod", NULL);
    (void)state;
}

static void long_and_short_names(void **state)
{
    assert_true(text_same_host("node7", "node7.cluster.example"));
    assert_true(text_same_host("node7.cluster.example", "node7"));
    assert_true(text_same_host("Node7", "node7"));
    assert_false(text_same_host("node7", "node71"));
    assert_false(text_same_host("node7.a", "node7.b"));
    assert_false(text_same_host("10.0.0.1", "10.0.0.2"));
    assert_false(text_same_host("10", "10.0.0.2"));
    assert_true(text_same_host("10.0.0.1", "10.0.0.1"));
    assert_false(text_same_host(NULL, "node7") || text_same_host("node7", NULL) || text_same_host("", ""));
    (void)state;
}

static void check_nodes(const char *text, const char *nodes, size_t wanted)
{
    size_t count = 77;
    FILE *file = fmemopen((void *)(uintptr_t)(*text ? text : "\n"), *text ? strlen(text) : 1, "r");
    char *got = membership_nodes(file, &count);
    fclose(file);
    assert_int_equal(count, wanted);
    if (!nodes)
        assert_null(got);
    else
        assert_string_equal(got, nodes);
    free(got);
}

static void node_files(void **state)
{
    check_nodes("n1\nn1\nn1\nn2\nn2\nn2\n", "n1,n2", 2);
    check_nodes("n2\nn1\nn2\n", "n2,n1", 2);
    check_nodes("n1.c.org\nn1\nn2\nn2.c.org\n", "n1.c.org,n2.c.org", 2);
    check_nodes("n1\r\n\r\n  n2 slots=4\n# a remark\nn3:ppn=2\n", "n1,n2,n3", 3);
    check_nodes("n1,n2\n,n3\nn4,\n", "n1,n4", 2); // a list is by commas: none of a name's own
    check_nodes("n1", "n1", 1);                   // without a last line's end
    check_nodes("", NULL, 0);
    check_nodes("\n\n", NULL, 0);
    (void)state;
}

static void check_cut(const char *path, const char *to)
{
    char text[128];
    snprintf(text, sizeof text, "%s", path);
    membership_cut_to_job(text);
    assert_string_equal(text, to);
}

static void groups_of_whole_jobs(void **state)
{
    check_cut("/slurm/uid_1000/job_17/step_0/task_0", "/slurm/uid_1000/job_17");
    check_cut("/system.slice/slurmstepd.scope/job_17/step_batch/user/task_0", "/system.slice/slurmstepd.scope/job_17");
    check_cut("/slurm_n1/uid_0/job_17", "/slurm_n1/uid_0/job_17");
    check_cut("/job_17/step_0", "/job_17/step_0"); // not Slurm's
    check_cut("/slurm/job_/step_0", "/slurm/job_/step_0");
    check_cut("/slurm/job_17x/step_0", "/slurm/job_17x/step_0");
    check_cut("/pbs_jobs.service/jobid/17.server", "/pbs_jobs.service/jobid/17.server");
    check_cut("/", "/");
    check_cut("", "");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_groups_name_jobs), cmocka_unit_test(pods_have_uids),
        cmocka_unit_test(long_and_short_names),     cmocka_unit_test(node_files),
        cmocka_unit_test(groups_of_whole_jobs),
    };
    return cmocka_run_group_tests_name("membership", tests, NULL, NULL);
}
