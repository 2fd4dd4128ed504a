#include "nccl_run.h"

#include "loaded_library.h"
#include "cli/output.h"
#include "analysis/base/memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char nccl_library[] = "libnccl-profiler-netprof.so";

// What NCCL would load for this value of NCCL_PROFILER_PLUGIN; NULL: nothing, or this project's own.
static char *nccl_run_other_plugin(const char *value)
{
    if (!value || !*value || strcmp(value, "none") == 0 || strcmp(value, "STATIC_PLUGIN") == 0) return NULL;
    if (strstr(value, "ccl-profiler-netprof")) return NULL;
    bool is_file = strchr(value, '/') || (strncmp(value, "lib", 3) == 0 && strstr(value, ".so"));
    return is_file ? memory_strdup(value) : memory_format("libnccl-profiler-%s.so", value);
}

int nccl_run_open(const char *directory)
{
    char *library = loaded_library_find("--nccl", nccl_library);
    char *other = nccl_run_other_plugin(getenv("NCCL_PROFILER_PLUGIN"));
    if (library) {
        if (other) setenv("NETPROF_NCCL_NEXT", other, 0);
        setenv("NCCL_PROFILER_PLUGIN", library, 1);
        setenv("NETPROF_NCCL_DIR", directory, 1);
    }
    free(other);
    int code = library ? EXIT_DONE : EXIT_FILE;
    free(library);
    return code;
}

size_t nccl_run_files(const char *directory)
{
    DIR *d = opendir(directory);
    const struct dirent *entry;
    size_t count = 0;
    while (d && (entry = readdir(d)))
        count += strncmp(entry->d_name, "netprof-nccl-", 13) == 0;
    if (d) closedir(d);
    return count;
}

void nccl_run_summary(FILE *to, const char *directory)
{
    size_t files = nccl_run_files(directory);
    if (files) {
        fprintf(to, "  NCCL: files of %s; 'netprof nccl %s' tells what they say\n",
                words_many(files, "process|processes").text, safe(directory));
        return;
    }
    fprintf(to,
            "  NCCL: no process left a file in %s. Either none made a communicator, or NCCL is older than 2.27, or\n"
            "  processes on other hosts got no NCCL_PROFILER_PLUGIN and NETPROF_NCCL_DIR from the launcher (Open MPI:\n"
            "  -x NCCL_PROFILER_PLUGIN -x NETPROF_NCCL_DIR), or the directory is not the same there. NCCL_DEBUG=INFO\n"
            "  shows which plugin NCCL loads.\n",
            safe(directory));
}

json_object *nccl_run_json(const char *directory)
{
    json_object *o = json_new_object();
    json_put_text(o, "directory", directory);
    json_put(o, "file_count", json_exact_value(nccl_run_files(directory)));
    return o;
}
