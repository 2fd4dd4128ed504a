#include "tree.h"
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { path_size = 256, text_size = 512, nics_per_pci_domain = 12 };

static int path_print(char path[path_size], const char *format, ...) __attribute__((format(printf, 2, 3)));

static int path_print(char path[path_size], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, path_size, format, arguments);
    va_end(arguments);
    return length > 0 && length < path_size ? 0 : -ENAMETOOLONG;
}

/* The line first and the cut after: who reads between the two sees a whole new line and perhaps the end of a
 * longer old one behind its newline. */
int tree_write(int directory_fd, const char *path, const char *text, size_t length)
{
    int fd = openat(directory_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return -errno;
    int err = 0;
    if (pwrite(fd, text, length, 0) != (ssize_t)length || ftruncate(fd, (off_t)length) != 0) err = -errno;
    if (close(fd) != 0 && err == 0) err = -errno;
    return err;
}

int tree_make_directories(int root_fd, const char *path)
{
    char part[path_size];
    for (size_t i = 1;; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        if (i >= sizeof part) return -ENAMETOOLONG;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdirat(root_fd, part, 0755) != 0 && errno != EEXIST) return -errno;
        if (path[i] == 0) return 0;
    }
}

static int write_new(int root_fd, const char *path, const char *text)
{
    char directory[path_size];
    const char *slash = strrchr(path, '/');
    if (path_print(directory, "%.*s", (int)(slash - path), path) != 0) return -ENAMETOOLONG;
    int err = tree_make_directories(root_fd, directory);
    return err ? err : tree_write(root_fd, path, text, strlen(text));
}

tree_nic tree_identify(int cxi, int count, int asic, uint64_t seed, int global_pause)
{
    tree_nic nic = {.cxi = cxi, .hsn = cxi, .asic = asic, .count = count, .seed = seed, .global_pause = global_pause};
    /* the first two are crossed (a single one is hsn1): names must be followed, not guessed */
    if (cxi < 2) nic.hsn = 1 - cxi;
    int domain = cxi / nics_per_pci_domain, bus = 0x15 + 0x11 * (cxi % nics_per_pci_domain);
    snprintf(nic.bridge, sizeof nic.bridge, "pci%04x:%02x", (unsigned)domain & 0xffffu, (unsigned)(bus - 1) & 0xffu);
    snprintf(nic.pci, sizeof nic.pci, "%04x:%02x:00.0", (unsigned)domain & 0xffffu, (unsigned)bus & 0xffu);
    snprintf(nic.device, sizeof nic.device, "sys/devices/%s/%s", nic.bridge, nic.pci);
    return nic;
}

/* Fixed files of a device. {key} in path or text is replaced, see expand(). asic 0: both. */
static const struct {
    int asic;
    const char *path, *text;
} attributes[] = {
    {0, "vendor", "{vendor}\n"},
    {0, "device", "{device}\n"},
    {0, "class", "0x020000\n"},
    {0, "numa_node", "{numa}\n"},
    {0, "local_cpulist", "{cpus}\n"},
    {0, "current_link_width", "16\n"},
    {0, "max_link_width", "16\n"},
    {0, "current_link_speed", "{pcie_speed} GT/s PCIe\n"},
    {0, "max_link_speed", "{pcie_speed} GT/s PCIe\n"},
    {0, "uevent", "DRIVER=cxi_core\nPCI_CLASS=20000\nPCI_ID={pci_id}\nPCI_SLOT_NAME={pci}\n"},
    {0, "aer_dev_correctable", "RxErr 0\nBadTLP 0\nBadDLLP 0\nRollover 0\nTimeout 0\nTOTAL_ERR_COR 0\n"},
    {0, "aer_dev_fatal", "TOTAL_ERR_FATAL 0\n"},
    {0, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n"},
    {0, "cxi/cxi{cxi}/uevent", "MAJOR=510\nMINOR={cxi}\nDEVNAME=cxi{cxi}\n"},
    {0, "cxi/cxi{cxi}/dev", "510:{cxi}\n"},
    {0, "properties/nic_addr", "0x{nic_address}\n"},
    {0, "properties/nid", "0x{nic_address}\n"},
    {1, "properties/speed", "200000\n"},
    {2, "properties/speed", "-1\n"}, /* the driver's table knows no 400G */
    {0, "properties/link", "1\n"},
    {0, "properties/hpc_mtu", "2112\n"},
    {0, "properties/cassini_version", "{version}\n"},
    {0, "properties/rev", "{asic}\n"},
    {0, "properties/pid_bits", "9\n"},
    {0, "properties/pid_count", "511\n"},
    {0, "properties/pid_granule", "256\n"},
    {0, "properties/num_ptes", "2048\n"},
    {0, "properties/num_txqs", "1024\n"},
    {0, "properties/num_tgqs", "512\n"},
    {0, "properties/num_eqs", "2047\n"},
    {0, "properties/num_cts", "2047\n"},
    {0, "properties/num_acs", "1022\n"},
    {0, "properties/num_tles", "2048\n"},
    {0, "properties/num_les", "65536\n"},
    {0, "properties/driver_rev", "9ce667e4\n"},
    {0, "properties/system_type_identifier", "0\n"},
    {0, "properties/current_esm_link_speed", "Disabled\n"},
    {0, "properties/pcie_corr_err", "0\n"},
    {0, "properties/pcie_uncorr_err", "0\n"},
    {1, "port/link", "up\n"},
    {1, "port/speed", "BS_200G\n"},
    {1, "port/media", "electrical\n"},
    {1, "port/link_layer_retry", "on\n"},
    {1, "port/loopback", "off\n"},
    {1, "port/pause", "{pause}"}, /* no newline in the driver either */
    {2, "port/0/media/type", "electrical\n"},
    {2, "port/0/link/speed", "ck400G\n"},
    {2, "port/0/link/state", "up\n"},
    {2, "port/0/llr/state", "on\n"},
    {2, "port/0/link/config/loopback", "off\n"},
    {2, "port/0/link/config/pause_map", "0xff\n"},
    {2, "port/0/pause", "{pause}"},
    {0, "fru/vendor", "HPE\n"},
    {0, "fru/manufacturer", "HPE\n"},
    {0, "fru/name", "Slingshot NIC\n"},
    {0, "fru/model", "{model}\n"},
    {0, "fru/part_number", "P43012-00{asic}\n"},
    {0, "fru/serial_number", "SIM{serial}\n"},
    {0, "fru/version", "A\n"},
    {0, "fru/asset_tag", ""},
    {0, "uc/app_version", "1.6.0\n"},
    {0, "uc/bootloader_version", "1.3.2\n"},
    {0, "uc/qspi_blob_version", "1.6.0.326\n"},
    {0, "traffic_classes/active_qos_profile", "HPC\n"},
    {0, "net/hsn{hsn}/ifindex", "{ifindex}\n"},
    {0, "net/hsn{hsn}/address", "{mac}\n"},
    {0, "net/hsn{hsn}/mtu", "9000\n"},
    {0, "net/hsn{hsn}/type", "1\n"},
    {0, "net/hsn{hsn}/flags", "0x1003\n"},
    {0, "net/hsn{hsn}/speed", "{speed_mbps}\n"},
    {0, "net/hsn{hsn}/duplex", "full\n"},
    {0, "net/hsn{hsn}/operstate", "up\n"},
    {0, "net/hsn{hsn}/carrier", "1\n"},
    {0, "net/hsn{hsn}/uevent", "INTERFACE=hsn{hsn}\nIFINDEX={ifindex}\n"},
};

static void value_of_key(const tree_nic *nic, const char *key, size_t length, char *out, size_t size)
{
    uint64_t serial = nic->seed * 1000 + (unsigned)nic->cxi;
    int numa = 2 * nic->cxi >= nic->count;
    char version[8], mac[24], cpus[24], hex_serial[24], address[24], text[5][16];
    snprintf(version, sizeof version, "%d.%d", nic->asic, nic->asic == 1);
    snprintf(mac, sizeof mac, "02:00:00:%02x:%02x:%02x", (unsigned)nic->seed & 0xffu, (unsigned)nic->cxi >> 8 & 0xffu,
             (unsigned)nic->cxi & 0xffu);
    snprintf(cpus, sizeof cpus, "%d-%d", 52 * numa, 52 * numa + 51);
    snprintf(hex_serial, sizeof hex_serial, "%08" PRIx64, model_random(&serial) & 0xffffffffu);
    snprintf(address, sizeof address, "%" PRIx64, 0x1000 + (nic->seed & 0xff) * 0x100 + (unsigned)nic->cxi);
    snprintf(text[0], sizeof text[0], "%d", nic->cxi);
    snprintf(text[1], sizeof text[1], "%d", nic->hsn);
    snprintf(text[2], sizeof text[2], "%d", nic->asic);
    snprintf(text[3], sizeof text[3], "%d", numa);
    snprintf(text[4], sizeof text[4], "%d", nic->hsn + 2);
    int second = nic->asic == 2;
    const struct {
        const char *key, *value;
    } keys[] = {{"cxi", text[0]},
                {"hsn", text[1]},
                {"asic", text[2]},
                {"numa", text[3]},
                {"ifindex", text[4]},
                {"pci", nic->pci},
                {"path", nic->device + strlen("sys/")},
                {"vendor", second ? "0x1590" : "0x17db"},
                {"device", second ? "0x0371" : "0x0501"},
                {"pci_id", second ? "1590:0371" : "17DB:0501"},
                {"pcie_speed", second ? "32.0" : "16.0"},
                {"speed_mbps", second ? "400000" : "200000"},
                {"model", second ? "Cassini 2" : "Cassini 1"},
                {"pause", nic->global_pause ? "global/802.3x" : "pfc/802.1qbb"},
                {"version", version},
                {"mac", mac},
                {"cpus", cpus},
                {"serial", hex_serial},
                {"nic_address", address}};
    *out = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == length && strncmp(keys[i].key, key, length) == 0)
            snprintf(out, size, "%s", keys[i].value);
}

static void expand(const tree_nic *nic, const char *text, char *out, size_t size)
{
    size_t used = 0;
    while (*text && used + 1 < size) {
        size_t length = *text == '{' ? strcspn(text, "}") : 0;
        if (length == 0) {
            out[used++] = *text++;
            continue;
        }
        value_of_key(nic, text + 1, length - 1, out + used, size - used);
        used += strlen(out + used);
        text += length + 1;
    }
    out[used] = 0;
}

static const char *overriding(const model_scenario *const *scenarios, const char *path)
{
    for (; scenarios && *scenarios; scenarios++)
        for (const model_attribute *a = (*scenarios)->attributes; a && a->path; a++)
            if (strcmp(a->path, path) == 0) return a->text;
    return NULL;
}

int tree_write_attributes(int root_fd, const tree_nic *nic, const model_scenario *const *scenarios)
{
    char below[path_size], path[path_size], text[text_size];
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].asic != 0 && attributes[i].asic != nic->asic) continue;
        expand(nic, attributes[i].path, below, sizeof below);
        const char *other = overriding(scenarios, below);
        expand(nic, other ? other : attributes[i].text, text, sizeof text);
        int err = path_print(path, "%s/%s", nic->device, below);
        if (err == 0) err = write_new(root_fd, path, text);
        if (err && err != -EISDIR && err != -ENOENT && err != -EACCES) return err; /* those are our faults */
    }
    return 0;
}

int tree_write_restarts(int root_fd, const tree_nic *nic, const int64_t restarts[10])
{
    char path[path_size], text[32];
    for (int i = 0; i < 10; i++) {
        int err = path_print(path, "%s/link_restarts/time_%d", nic->device, i);
        snprintf(text, sizeof text, "%" PRId64 "\n", restarts[i]);
        if (err == 0) err = write_new(root_fd, path, text);
        if (err) return err;
    }
    return 0;
}

/* Links of one NIC, with the same {keys}. Relative, so that the tree can be moved. */
static const struct {
    const char *path, *target;
} links[] = {
    {"sys/{path}/cxi/cxi{cxi}/device", "../../../{pci}"},
    {"sys/{path}/cxi_user/cxi{cxi}/device", "../../../{pci}"},
    {"sys/{path}/net/hsn{hsn}/device", "../../../{pci}"},
    {"sys/class/cxi/cxi{cxi}", "../../{path}/cxi/cxi{cxi}"},
    {"sys/class/cxi_user/cxi{cxi}", "../../{path}/cxi_user/cxi{cxi}"},
    {"sys/class/net/hsn{hsn}", "../../{path}/net/hsn{hsn}"},
};

static void link_paths(const tree_nic *nic, size_t i, char path[path_size], char target[path_size])
{
    expand(nic, links[i].path, path, path_size);
    expand(nic, links[i].target, target, path_size);
}

static int build_links(int root_fd, const tree_nic *nic)
{
    char path[path_size], target[path_size];
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        link_paths(nic, i, path, target);
        char *slash = strrchr(path, '/');
        *slash = 0;
        int err = tree_make_directories(root_fd, path);
        *slash = '/';
        if (err) return err;
        if (symlinkat(target, root_fd, path) != 0) return -errno;
    }
    return 0;
}

static int build_foreign_files(int root_fd, const tree_nic *nic)
{
    char path[path_size], noise[4096];
    uint64_t state = nic->seed ^ ((uint64_t)(unsigned)nic->cxi << 32);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(model_random(&state) & 0xff);
    int err = path_print(path, "%s/telemetry/ALL-in-binary", nic->device);
    if (err == 0) err = tree_write(root_fd, path, noise, sizeof noise);
    if (err == 0) err = path_print(path, "%s/telemetry/reset_counters", nic->device);
    return err ? err : tree_write(root_fd, path, "0\n", 2);
}

int tree_build(int root_fd, const tree_nic *nic, int retry_handler, int foreign_files)
{
    char path[path_size];
    path_print(path, "%s/telemetry", nic->device);
    int err = tree_make_directories(root_fd, path);
    path_print(path, "%s/net/hsn%d/statistics", nic->device, nic->hsn);
    if (err == 0) err = tree_make_directories(root_fd, path);
    path_print(path, "run/cxi/cxi%d/config", nic->cxi);
    if (err == 0 && retry_handler) err = tree_make_directories(root_fd, path);
    if (err == 0) err = build_links(root_fd, nic);
    if (err == 0) err = tree_write_attributes(root_fd, nic, NULL);
    if (err == 0 && foreign_files) err = build_foreign_files(root_fd, nic);
    return err;
}

int tree_build_node(int root_fd, const char *host, uint64_t seed)
{
    char text[text_size];
    uint64_t state = seed + 0x6e6f6465, high = model_random(&state), low = model_random(&state);
    snprintf(text, sizeof text, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-8%03" PRIx64 "-%012" PRIx64 "\n",
             high >> 32, high >> 16 & 0xffff, high & 0xfff, low >> 52, low & 0xffffffffffffu);
    int err = write_new(root_fd, "proc/sys/kernel/random/boot_id", text);
    snprintf(text, sizeof text, "%s\n", host);
    return err ? err : write_new(root_fd, "proc/sys/kernel/hostname", text);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static int remove_all(const char *root, const char *below)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", root, below) >= (int)sizeof path) return -ENAMETOOLONG;
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) return -errno;
    return 0;
}

int tree_remove(int root_fd, const char *root, const tree_nic *nic)
{
    char path[path_size], target[path_size];
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        link_paths(nic, i, path, target);
        if (unlinkat(root_fd, path, 0) != 0 && errno != ENOENT) return -errno;
    }
    int err = remove_all(root, nic->device);
    path_print(path, "run/cxi/cxi%d", nic->cxi);
    return err ? err : remove_all(root, path);
}

void tree_item_path(const tree_nic *nic, const char *item, char *path, size_t size)
{
    if (strncmp(item, "rh:", 3) == 0)
        snprintf(path, size, "run/cxi/cxi%d/%s", nic->cxi, item + 3);
    else if (strncmp(item, "net:carrier", 11) == 0)
        snprintf(path, size, "%s/net/hsn%d/%s", nic->device, nic->hsn, item + 4);
    else if (strncmp(item, "net:", 4) == 0)
        snprintf(path, size, "%s/net/hsn%d/statistics/%s", nic->device, nic->hsn, item + 4);
    else
        snprintf(path, size, "%s/telemetry/%s", nic->device, item);
}

enum { NONE, MISSING, DIRECTORY, UNREADABLE, DANGLING, OVERSIZE, NO_STAMP };

static const struct {
    const char *name, *sentence;
    int how;
    const char *text;
} faults[] = {
    {"none", "repair", NONE, NULL},
    {"missing", "the file is not there", MISSING, NULL},
    {"directory", "a directory stands in its place: open works, read gives EISDIR", DIRECTORY, NULL},
    {"unreadable", "mode 000: EACCES for all but root", UNREADABLE, "0@0.000000000\n"},
    {"dangling", "a symbolic link to nothing: ENOENT", DANGLING, NULL},
    {"oversize", "a line of 6000 digits", OVERSIZE, NULL},
    {"empty", "no bytes", NONE, ""},
    {"garbage", "text that is no number, with control characters", NONE, "\033[31mnot a number\001\n"},
    {"negative", "a minus sign", NONE, "-1@1746204071.000000000\n"},
    {"too-big", "a number of more than 64 bits", NONE, "99999999999999999999999@1746204071.000000000\n"},
    {"cut", "a line that ends within its stamp", NONE, "12345@17462040"},
    {"no-stamp", "a value without a stamp, that goes on counting", NO_STAMP, "0\n"},
};

int tree_fault_find(const char *name)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0) return (int)i;
    return -1;
}

int tree_fault_keeps_counting(int kind)
{
    return faults[kind].how == NO_STAMP;
}

const char *sim_fault_name(int i)
{
    return i < (int)(sizeof faults / sizeof *faults) ? faults[i].name : NULL;
}

const char *sim_fault_sentence(int i)
{
    return i < (int)(sizeof faults / sizeof *faults) ? faults[i].sentence : NULL;
}

int tree_spoil(int directory_fd, const char *path, int kind)
{
    char digits[6001];
    const char *text = faults[kind].text;
    if (unlinkat(directory_fd, path, 0) != 0 && errno == EISDIR && unlinkat(directory_fd, path, AT_REMOVEDIR) != 0)
        return -errno;
    if (faults[kind].how == DIRECTORY) return mkdirat(directory_fd, path, 0755) == 0 ? 0 : -errno;
    if (faults[kind].how == DANGLING) return symlinkat("nowhere", directory_fd, path) == 0 ? 0 : -errno;
    if (faults[kind].how == OVERSIZE) {
        memset(digits, '7', sizeof digits - 1);
        digits[sizeof digits - 1] = 0;
        text = digits;
    }
    int err = text ? tree_write(directory_fd, path, text, strlen(text)) : 0;
    if (err == 0 && faults[kind].how == UNREADABLE && fchmodat(directory_fd, path, 0, 0) != 0) err = -errno;
    return err;
}
