// load_plugin [VERSION [leave]]: loads the profiler plugin that NCCL_PROFILER_PLUGIN names as NCCL does, and plays one communicator
// of one rank that calls 20 times, by the kernel's clock. leave: it ends without finalizing its communicator.
#include "player.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    int version = count > 1 ? atoi(arguments[1]) : 5;
    const char *path = getenv("NCCL_PROFILER_PLUGIN");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    char symbol[32];
    player p;
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
    const void *table = library ? dlsym(library, symbol) : NULL;
    if (!table) {
        puts("no plugin");
        return 0;
    }
    player_init(&p, version, table, 0xabc, "world", 2, 4, 1);
    for (uint64_t i = 0; i < 20; i++) {
        void *coll = player_coll(&p, "AllReduce", i, 1024), *op;
        player_stop(&p, coll);
        op = player_op(&p, coll, 2, true, 0);
        player_stop(&p, op);
    }
    if (count > 2) return puts("left") < 0;
    player_finalize(&p);
    dlclose(library);
    puts(p.wrong ? p.wrong : "played");
    return p.wrong != NULL;
}
