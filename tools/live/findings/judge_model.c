#include "judge_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>

judge_host *judge_find_host(judge *j, const char *name)
{
    ptrdiff_t i = j->by_name ? shgeti(j->by_name, name) : -1;
    return i < 0 ? NULL : &j->hosts[j->by_name[i].value];
}

judge_host *judge_add_host(judge *j, const char *name)
{
    judge_host *known = judge_find_host(j, name);
    if (known) return known;
    if (!j->by_name) sh_new_strdup(j->by_name);
    shput(j->by_name, name, arrlenu(j->hosts));
    arrput(j->hosts, ((judge_host){.name = memory_strdup(name), .silent_ns = -1, .state = JUDGE_BEHIND}));
    return &arrlast(j->hosts);
}

char *judge_key(const char *host, const char *device, const char *rule_name, const char *session)
{
    return memory_format("%s\n%s\n%s\n%s", host, device, rule_name, *host ? "" : session);
}

const char *judge_state_name(judge_state s)
{
    static const char *const names[] = {"judged", "silent", "behind", "failed", "gone"};
    return names[s];
}

void judge_free_hosts(judge *j)
{
    for (size_t i = 0; i < arrlenu(j->hosts); i++) {
        free(j->hosts[i].name);
        free(j->hosts[i].text);
        free(j->hosts[i].file);
        free(j->hosts[i].small);
    }
    arrfree(j->hosts);
    shfree(j->by_name);
}

void judge_free_finding(judge_finding *x)
{
    json_object_put(x->told);
    free(x->key);
    free(x->host);
    free(x->session);
}

void judge_free(judge *j)
{
    judge_free_hosts(j);
    for (size_t i = 0; i < arrlenu(j->findings); i++)
        judge_free_finding(&j->findings[i]);
    arrfree(j->findings);
    shfree(j->sessions);
    free(j->window.text);
}
