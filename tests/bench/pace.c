/* How fast this processor is now: nanoseconds of one addition in a chain of additions, at best and on average over
   milliseconds of them. Where a host gives its core to other machines as well, the average rises and nothing else on
   this one tells why. usage: pace [MILLISECONDS] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    const int rounds = 100000;
    double until = seconds() + (argc > 1 ? atof(argv[1]) : 300) * 1e-3, best = 1e9, sum = 0, before;
    long count = 0;
    while ((before = seconds()) < until) {
        uint64_t x = 1;
        for (int i = 0; i < rounds; i++) {
            x += 3;
            __asm__ volatile("" : "+r"(x)); /* one addition after the other: none can be left out or done at once */
        }
        double each = (seconds() - before) * 1e9 / rounds;
        best = each < best ? each : best;
        sum += each;
        count++;
    }
    printf("%.4f %.4f\n", best, count ? sum / (double)count : best);
    return 0;
}
