#include "routes.h"

#include "charts.h"
#include "exposed.h"
#include "gswarm.h"
#include "recorded.h"
#include "standing.h"

#include <stddef.h>

const http_row web_rows[] = {
    {"GET", "/", HTTP_ALL, gswarm_root}, // for browsers the page, which holds nothing but its own text
    {"GET", "/charts.css", HTTP_ALL, charts_css},
    {"GET", "/status", HTTP_READ, gswarm_status},
    {"GET", "/clients", HTTP_READ, gswarm_clients},
    {"GET", "/metrics/latest", HTTP_READ, gswarm_latest},
    {"GET", "/profiling/sessions", HTTP_READ, recorded_list},
    {"POST", "/profiling/start", HTTP_CONTROL, recorded_start},
    {"POST", "/profiling/stop", HTTP_CONTROL, recorded_stop},
    {"GET", "/sessions/*", HTTP_READ, recorded_report},
    {"GET", "/view/*", HTTP_READ, recorded_view}, // /view/report.pdf
    {"GET", "/nodes", HTTP_READ, standing_nodes},
    {"GET", "/findings", HTTP_READ, standing_findings},
    {"GET", "/live.json", HTTP_READ, standing_live},
    {"GET", "/charts/map.svg", HTTP_READ, charts_map},
    {"GET", "/charts/node.svg", HTTP_READ, charts_node},
    {"GET", "/metrics", HTTP_READ, exposed_head},
    {"GET", "/nodes/*", HTTP_READ, exposed_node}, // /nodes/NAME/metrics
    {NULL, NULL, HTTP_ALL, NULL},
};
