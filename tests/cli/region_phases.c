// Two regions in turn: region_phases ROUNDS MILLISECONDS [kill]. With "kill" it ends itself by SIGKILL in the last one.
#include "netprof.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void rest(int ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2, ms = argc > 2 ? atoi(argv[2]) : 300;
    NETPROF_BEGIN("main");
    for (int i = 0; i < rounds; i++) {
        NETPROF_BEGIN("solve");
        NETPROF_BYTES(500);
        rest(ms);
        NETPROF_END("solve");
        NETPROF_BEGIN("wait <&>/all");
        rest(ms);
        if (argc > 3 && i + 1 == rounds) raise(SIGKILL);
        NETPROF_END("wait <&>/all");
    }
    NETPROF_END("main");
    return 0;
}
