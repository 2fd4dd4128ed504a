#include "target_http.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

#ifdef LIVE_HAS_CURL
#include <curl/curl.h>

enum { TARGET_BODY_MOST = 16 << 20 };

struct target_http {
    CURL *curl;
    struct curl_slist *headers;
    char *body; // stb_ds
    char error[CURL_ERROR_SIZE];
};

// More than is wanted of an answer is dropped.
static size_t target_http_take(char *data, size_t one, size_t count, void *user)
{
    target_http *h = user;
    size_t size = one * count, room = TARGET_BODY_MOST - arrlenu(h->body), take = size < room ? size : room;
    if (take) memcpy(arraddnptr(h->body, take), data, take);
    return size;
}

target_http *target_http_open(const target_options *o, char **why)
{
    target_http *h = memory_calloc(1, sizeof *h);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(h->curl = curl_easy_init())) {
        *why = memory_strdup("libcurl cannot be used");
        free(h);
        return NULL;
    }
    char *type = memory_format("Content-Type: %s", o->content_type);
    h->headers = memory_check(curl_slist_append(NULL, type));
    free(type);
    h->headers = memory_check(curl_slist_append(h->headers, "Expect:")); // no waiting for a 100
    if (o->authorization) {
        char *line = memory_format("Authorization: %s", o->authorization);
        h->headers = memory_check(curl_slist_append(h->headers, line));
        free(line);
    }
    curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers);
    curl_easy_setopt(h->curl, CURLOPT_URL, o->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "http,https");
#endif
    curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)(o->timeout_ns / 1000000));
    curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->error);
    curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, target_http_take);
    curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, h);
    if (o->ca) curl_easy_setopt(h->curl, CURLOPT_CAINFO, o->ca);
    return h;
}

// The first line of what the server says, or its number.
static char *target_http_says(const target_http *h, long status)
{
    int size = (int)strcspn(h->body, "\r\n");
    return *h->body ? memory_format("HTTP %ld: %.*s", status, size < 200 ? size : 200, h->body)
                    : memory_format("HTTP %ld", status);
}

target_answer target_http_send(target_http *h, const char *data, size_t size, char **problem)
{
    long status = 0;
    if (h->body) arrsetlen(h->body, 0);
    *h->error = 0;
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, data);
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    CURLcode code = curl_easy_perform(h->curl);
    arrput(h->body, 0);
    if (code) {
        *problem = memory_strdup(*h->error ? h->error : curl_easy_strerror(code));
        return TARGET_LATER;
    }
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) return TARGET_TAKEN;
    *problem = target_http_says(h, status);
    // What is wrong with the request stays wrong; a wrong password, an address or a busy server may be mended.
    return status == 400 || status == 413 || status == 422 ? TARGET_REFUSED : TARGET_LATER;
}

const char *target_http_body(const target_http *h)
{
    return arrlenu(h->body) ? h->body : "";
}

void target_http_close(target_http *h)
{
    if (!h) return;
    curl_easy_cleanup(h->curl);
    curl_slist_free_all(h->headers);
    arrfree(h->body);
    free(h);
}

#else

target_http *target_http_open(const target_options *o, char **why)
{
    (void)o;
    *why = memory_strdup("this program was built without libcurl");
    return NULL;
}

target_answer target_http_send(target_http *h, const char *data, size_t size, char **problem)
{
    (void)h, (void)data, (void)size, (void)problem;
    return TARGET_LATER;
}

const char *target_http_body(const target_http *h)
{
    (void)h;
    return "";
}

void target_http_close(target_http *h)
{
    (void)h;
}

#endif
