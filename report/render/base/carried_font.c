#include "carried_font.h"
#include "sans_regular.inc"
#include "sans_semibold.inc"

#include "analysis/base/output_file.h"

#include <fontconfig/fontconfig.h>

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

// A file without a name, which stays open: cairo reads it when it draws the first text.
static bool carried_font_write(int fd, const unsigned char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static void carried_font_add(const char *name, const unsigned char *bytes, size_t size)
{
    char path[64];
    int fd = output_file_nameless(name);
    if (fd < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!carried_font_write(fd, bytes, size) || !FcConfigAppFontAddFile(NULL, (const FcChar8 *)path)) close(fd);
}

void carried_font_use(void)
{
    static bool done;
    if (done) return;
    done = true;
    carried_font_add("netprof Sans", sans_regular_bytes, sizeof sans_regular_bytes);
    carried_font_add("netprof Sans SemiBold", sans_semibold_bytes, sizeof sans_semibold_bytes);
}

static void carried_font_rule(buffer *out, int weight, const char *local, const unsigned char *bytes, size_t size)
{
    buffer_printf(out, "@font-face{font-family:Inter;font-weight:%d;src:%s,url(data:font/otf;base64,", weight, local);
    buffer_base64(out, bytes, size);
    buffer_text(out, ")}\n");
}

void carried_font_rules(buffer *out)
{
    carried_font_rule(out, 400, "local(\"Inter Regular\"),local(\"Inter-Regular\")", sans_regular_bytes,
                      sizeof sans_regular_bytes);
    carried_font_rule(out, 600, "local(\"Inter SemiBold\"),local(\"Inter-SemiBold\")", sans_semibold_bytes,
                      sizeof sans_semibold_bytes);
}
