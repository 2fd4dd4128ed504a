// What netprof findings has judged, from the file that it writes beside the head. Thread rule: any.
#ifndef LIVE_WEB_JUDGED_H
#define LIVE_WEB_JUDGED_H

#include "web.h"

typedef struct judged_finding {
    web_severity severity;
    int64_t begin_ns;
    char *node; // NULL: several together
    char *text;
    bool open;
} judged_finding;

typedef struct judged {
    bool judged, recent;  // there is such a file; it is not from long ago
    bool good;            // its verdict is that nothing was found
    char *text;           // of its verdict
    judged_finding *list; // open ones first, the worst first, then the newest; stb_ds
    size_t count, open;   // open: watch or worse
} judged;

json_object *judged_document(const char *directory); // NULL: there is none
bool judged_is_recent(json_object *o);               // else nobody knows what holds of it now
void judged_read(judged *j, const char *directory);
void judged_free(judged *j);

#endif
