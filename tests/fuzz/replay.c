// Stands in for libFuzzer where it is not at hand: feeds the files named, and those in the directories named,
// to the fuzz target, each once.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = 0;
    size_t capacity = 4096;
    uint8_t *data = malloc(capacity);
    while (data) {
        size += fread(data + size, 1, capacity - size, file);
        if (size < capacity) break;
        uint8_t *larger = realloc(data, capacity * 2);
        if (!larger) free(data);
        data = larger;
        capacity *= 2;
    }
    fclose(file);
    if (!data) {
        perror(path);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int replay(const char *path, int *files)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
        ++*files;
        return replay_file(path);
    }
    DIR *directory = opendir(path);
    if (!directory) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.') continue;
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= replay(name, files);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    int files = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], &files);
    printf("%d inputs replayed\n", files);
    return failed;
}
