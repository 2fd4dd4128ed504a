// The implementation of stb_ds, and its seed.
#define STB_DS_IMPLEMENTATION
#include "stb_ds.h"

#include "map_key.h"

#include <pthread.h>

static pthread_mutex_t stb_ds_lock = PTHREAD_MUTEX_INITIALIZER;
// Of this thread: how many puts under way asked for the lock, and for each put under way whether it did, the innermost in
// the last bit. What is put may be made by a function that puts as well.
static _Thread_local unsigned stb_ds_holds;
static _Thread_local uint64_t stb_ds_asked;

void stb_ds_put_begin(int has_table)
{
    stb_ds_asked = stb_ds_asked << 1 | !has_table;
    if (!has_table && stb_ds_holds++ == 0) pthread_mutex_lock(&stb_ds_lock);
}

void stb_ds_put_end(void)
{
    int asked = stb_ds_asked & 1;
    stb_ds_asked >>= 1;
    if (asked && --stb_ds_holds == 0) pthread_mutex_unlock(&stb_ds_lock);
}

// Runs before main(), while there is one thread, and after map_key.c drew its seeds (200).
__attribute__((constructor(201))) static void stb_ds_seed(void)
{
    map_key seed = map_key_of_name(1, "stb_ds");
    stbds_rand_seed((size_t)seed.a);
}
