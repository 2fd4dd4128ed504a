#define _GNU_SOURCE
#include "gpu_list.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t gpu_list_monotonic_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t (*gpu_clock_us)(void) = gpu_list_monotonic_us;
bool gpu_library_of_root;
gpu *gpu_new(gpu_list *list)
{
    gpu **longer = realloc(list->items, (list->count + 1) * sizeof(gpu *)), *g = calloc(1, sizeof *g);
    if (longer) list->items = longer;
    if (!longer || !g) {
        free(g);
        return NULL;
    }
    list->items[list->count++] = g;
    return g;
}

void gpu_offer(gpu *g, gpu_reader reader, gpu_value_id id, int error, uint64_t value)
{
    gpu_value *v = &g->values[id];
    if (g->reader[id] && g->reader[id] != reader) return;
    if (!error) g->reader[id] = (uint8_t)reader;
    if (v->told && error) return; // the earlier reader's error is kept
    *v = (gpu_value){.told = true, .error = error, .value = error ? 0 : value};
}

void gpu_set(gpu *g, gpu_value_id id, int error, uint64_t value)
{
    gpu_offer(g, GPU_BY_DRIVER, id, error, value);
}

gpu_link *gpu_link_at(gpu *g, unsigned number)
{
    for (size_t i = 0; i < g->link_count; i++)
        if (g->links[i].number == number) return &g->links[i];
    gpu_link *longer = realloc(g->links, (g->link_count + 1) * sizeof *longer);
    if (!longer) return NULL;
    g->links = longer;
    g->links[g->link_count] = (gpu_link){.number = number};
    return &g->links[g->link_count++];
}

gpu *gpu_at(const gpu_list *list, const char *vendor, unsigned domain, unsigned bus, unsigned device, unsigned function)
{
    char address[40];
    snprintf(address, sizeof address, "%04x:%02x:%02x.%u", domain, bus, device, function);
    for (size_t i = 0; i < list->count; i++) {
        gpu *g = list->items[i];
        if (!g->part && strcmp(g->vendor, vendor) == 0 && strcasecmp(g->pci, address) == 0) return g;
    }
    return NULL;
}

void gpu_library_failed(const gpu_list *list, const char *vendor, const char *library, unsigned result)
{
    for (size_t i = 0; i < list->count; i++) {
        gpu *g = list->items[i];
        if (g->part || strcmp(g->vendor, vendor) != 0) continue;
        snprintf(g->library_failed, sizeof g->library_failed, "%s does not start: result 0x%x", library, result);
    }
}

void *gpu_load(const char *const *names, const emit *e)
{
    void *library = NULL;
    // Another root is a saved tree of another node, of which this node's libraries know nothing.
    if (*emit_root(e) && !gpu_library_of_root) return NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

void gpu_find_functions(void *library, const gpu_function *functions, void *into)
{
    for (; functions->name; functions++) {
        void *address = dlsym(library, functions->name);
        memcpy((char *)into + functions->offset, &address, sizeof address);
    }
}

void gpu_account_busier(gpu_account *a, uint64_t active, uint64_t all)
{
    if (!all || (a->all && (double)active / (double)all <= (double)a->active / (double)a->all)) return;
    *a = (gpu_account){.told = true, .active = active, .all = all};
}
