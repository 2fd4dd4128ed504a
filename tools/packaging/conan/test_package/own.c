#define NETPROF_IMPLEMENTATION
#include <netprof.h>

int main(void)
{
    return netprof_version() ? 0 : 1;
}
