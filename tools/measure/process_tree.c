#include "process_tree.h"

#include "analysis/base/stb_ds.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct process_link {
    pid_t pid, parent;
} process_link;

// proc(5), /proc/PID/stat: the name, which may hold anything, ends with the last parenthesis.
static pid_t process_tree_parent(const char *pid)
{
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = 0;
    const char *behind = strrchr(line, ')');
    return behind && sscanf(behind + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static process_link *process_tree_links(void)
{
    process_link *links = NULL;
    struct dirent *entry;
    DIR *proc = opendir("/proc");
    while (proc && (entry = readdir(proc))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0) continue;
        const process_link link = {pid, process_tree_parent(entry->d_name)};
        arrput(links, link);
    }
    if (proc) closedir(proc);
    return links;
}

void process_tree_signal(pid_t root, int number)
{
    process_link *links = process_tree_links();
    pid_t *tree = NULL;
    arrput(tree, root);
    for (size_t i = 0; i < arrlenu(tree); i++)
        for (size_t k = 0; k < arrlenu(links); k++)
            if (links[k].parent == tree[i] && links[k].pid != root) arrput(tree, links[k].pid);
    for (size_t i = 0; i < arrlenu(tree); i++) {
        kill(tree[i], number);
        kill(tree[i], SIGCONT);
    }
    arrfree(tree);
    arrfree(links);
}
