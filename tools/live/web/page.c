// The page: its own text alone; what it shows it asks for with the token that its reader has.
#include "page.h"

#include "analysis/base/memory.h"
#include "analysis/base/text.h"

#include "page.inc"
#include "page_body.inc"
#include "page_sheet.inc"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page_lines_text(const char *const *lines)
{
    char *text = NULL;
    for (size_t i = 0; lines[i]; i++)
        text_append(&text, "%s%s", i ? "\n" : "", lines[i]);
    return text;
}

static unsigned page_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

// A policy names a hash in base64: 32 bytes are 43 letters and a '='.
static void page_put_hash(char to[45], const char *hex)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < 43; i++) {
        unsigned bits = 0;
        for (size_t k = 6 * i; k < 6 * i + 6; k++)
            bits = bits << 1 | (k < 256 ? page_digit(hex[k / 4]) >> (3 - k % 4) & 1 : 0);
        to[i] = letters[bits];
    }
    memcpy(to + 43, "=", 2);
}

// The page's own script and style and the charts' style run, nothing else does, from anywhere; nobody may frame it.
static const char *page_policy(void)
{
    static char policy[500];
    char script[45], sheet[45];
    if (*policy) return policy; // one thread asks
    page_put_hash(script, page_sha256);
    page_put_hash(sheet, page_sheet_sha256);
    snprintf(policy, sizeof policy,
             "default-src 'none'; script-src 'sha256-%s'; style-src 'self' 'sha256-%s'; connect-src 'self'; "
             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             script, sheet);
    return policy;
}

void page_answer(http_answer *a)
{
    char *script = page_lines_text(page_lines), *sheet = page_lines_text(page_sheet_lines),
         *body = page_lines_text(page_body_lines);
    a->data =
        memory_format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<title>netprof</title>\n<style>%s</style>\n<link rel=\"stylesheet\" href=\"/charts.css\">\n"
                      "</head>\n<body>\n%s\n<script>%s</script>\n</body>\n</html>\n",
                      sheet, body, script);
    a->type = "text/html; charset=utf-8";
    a->more[0] = "Content-Security-Policy";
    a->more[1] = page_policy();
    free(script);
    free(sheet);
    free(body);
}
