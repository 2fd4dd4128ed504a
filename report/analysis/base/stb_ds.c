// The implementation of stb_ds, and its seed.
#define STB_DS_IMPLEMENTATION
#include "stb_ds.h"

#include "map_key.h"

// Runs before main(), while there is one thread, and after map_key.c drew its seeds (200).
__attribute__((constructor(201))) static void stb_ds_seed(void)
{
    map_key seed = map_key_of_name(1, "stb_ds");
    stbds_rand_seed((size_t)seed.a);
}
