// libnetprof-regions.so: the functions of netprof.h for languages that cannot include it
// (fortran/netprof.f90).
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
