// The implementation of stb_ds, and its seed.
#define STB_DS_IMPLEMENTATION
#include "stb_ds.h"

#include "map_key.h"

#include <pthread.h>

static pthread_mutex_t stb_ds_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int stb_ds_is_locked;

void stb_ds_put_begin(int has_table)
{
    stb_ds_is_locked = !has_table;
    if (stb_ds_is_locked) pthread_mutex_lock(&stb_ds_lock);
}

void stb_ds_put_end(void)
{
    if (stb_ds_is_locked) pthread_mutex_unlock(&stb_ds_lock);
    stb_ds_is_locked = 0;
}

// Runs before main(), while there is one thread, and after map_key.c drew its seeds (200).
__attribute__((constructor(201))) static void stb_ds_seed(void)
{
    map_key seed = map_key_of_name(1, "stb_ds");
    stbds_rand_seed((size_t)seed.a);
}
