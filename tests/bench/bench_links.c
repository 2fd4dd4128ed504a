#include "bench.h"
void bench_links(void)
{
}
