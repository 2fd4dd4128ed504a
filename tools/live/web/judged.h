// What netprof findings has judged, from the file that it writes beside the head. Thread rule: any.
#ifndef LIVE_WEB_JUDGED_H
#define LIVE_WEB_JUDGED_H

#include "live/journal/status_file.h"
#include "web_model.h"

#include "analysis/base/json.h"

typedef struct judged_finding {
    web_severity severity;
    int64_t begin_ns;
    char *node; // NULL: several together
    char *text;
    char *labels; // as Prometheus has them
    bool open;
} judged_finding;

typedef struct judged {
    bool judged; // there is such a file
    bool good;   // its verdict is that nothing was found
    char *text;  // of its verdict
    int64_t wall_ns;
    double every_s;
    judged_finding *list; // open ones first, the worst first, then the newest; stb_ds
    size_t count, open;   // open: watch or worse
    status_seen seen;
} judged;

json_object *judged_document(const char *directory); // NULL: there is none
bool judged_is_recent(const judged *j);              // else nobody knows what holds of it now
// The worst one that is open and to be watched at least, of what was judged lately; NULL: there is none.
const judged_finding *judged_worst(const judged *j);
// True: there is something new, which is in *j now; what was there before is still the caller's to free.
bool judged_look(judged *j, const char *directory);
void judged_free(judged *j);

#endif
