// libnetprof-regions.so: the functions of netprof.h for languages that cannot include it (fortran/netprof.f90,
// python/netprof.py).
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
