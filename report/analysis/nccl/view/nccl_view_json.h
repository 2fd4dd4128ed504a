// Views as JSON and back. Thread rule: one thread at a time per view.
#ifndef NETPROF_NCCL_VIEW_JSON_H
#define NETPROF_NCCL_VIEW_JSON_H

#include "nccl_view_model.h"

#include "analysis/base/json.h"

json_object *nccl_view_json(const nccl_view *v);
// From the text of an nccl.json. Errors: _FORMAT (no such file, another version, a member of another kind; error names
// the place). After an error the view is empty.
netprof_err nccl_view_parse(nccl_view *v, const char *text, size_t size, netprof_error *error);
// From a file; also _IO, _NOSOURCE.
netprof_err nccl_view_read(nccl_view *v, const char *path, netprof_error *error);
// Does the file begin as an nccl.json does? Cheap.
bool nccl_view_recognise(const char *path);

#endif
