#include "nccl_print.h"

#include "cli/common.h"
#include "cli/helper_program.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int nccl_report_make(const char *saved, const char *report)
{
    char *program = helper_program("netprof-report");
    char *copies[] = {memory_strdup(report), memory_strdup(saved)};
    char *words[] = {"netprof-report", "-o", copies[0], copies[1], NULL};
    pid_t child;
    int status = 0, code = EXIT_DONE;
    int error = posix_spawnp(&child, program, NULL, NULL, words, environ);
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (error)
        code = fail(EXIT_FILE, "--report: %s: %s (it needs cairo, pango and librsvg)", program, strerror(error));
    else if (status) // it has said why
        code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FILE;
    for (size_t i = 0; i < 2; i++)
        free(copies[i]);
    free(program);
    return code;
}
