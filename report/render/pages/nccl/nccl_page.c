#include "nccl_page.h"

const char *nccl_page_keep(nccl_page *p, number_text n)
{
    return arena_text(p->memory, n.text);
}

const char *nccl_page_size(nccl_page *p, uint64_t bytes)
{
    return nccl_page_keep(p, number_binary((double)bytes));
}

const char *nccl_page_us(nccl_page *p, const nccl_spread *s, double us)
{
    return s->count ? nccl_page_keep(p, number_duration(us / 1e6)) : NUMBER_UNKNOWN;
}

const char *nccl_page_plain(nccl_page *p, const nccl_spread *s, double value)
{
    return s->count ? nccl_page_keep(p, number_plain(value)) : NUMBER_UNKNOWN;
}

const char *nccl_page_grouped(nccl_page *p, uint64_t value)
{
    return nccl_page_keep(p, number_grouped(value));
}

int64_t nccl_page_wall_ns(uint64_t us)
{
    return us && us < INT64_MAX / 1000 ? (int64_t)us * 1000 : 0;
}
