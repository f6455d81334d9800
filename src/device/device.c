/* SPDX-License-Identifier: Apache-2.0 */
/* device.c -- see tosac/device.h.  With npu/linux_rules.c it is a library of its own. */
#include "tosac/device.h"

#include <errno.h>
#include <stdlib.h>

#ifdef __linux__

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../npu/linux_rules.h"
#include "accel.h"

enum { REGIONS = TC_LINUX_REGIONS, SCRATCH = 1, PAGE = 4096 };

typedef struct tensor {
    uint64_t offset, bytes;
    int region;
} tensor;

typedef struct buffer {
    uint32_t handle;
    uint64_t bytes;
    uint8_t *data;
} buffer;

struct tc_device_program {
    tc_device *device;
    tc_device_program *next;
    uint32_t stream; /* the handle */
    uint32_t sram;   /* bytes of it that a job takes */
    buffer region[REGIONS];
    uint64_t mark; /* in region SCRATCH: 16 bytes, which the stream's end copies after themselves */
    uint32_t jobs;
    tensor *in, *out;
    size_t n_in, n_out;
};

struct tc_device {
    int file;
    char path[64], error[256];
    uint32_t id, config;
    uint64_t sram;
    tc_device_program *program;
};

static int fail(tc_device *d, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->error, sizeof d->error, format, args);
    va_end(args);
    return code;
}

/* ---- the file of one region ---- */

typedef struct part {
    const uint8_t *data;
    size_t bytes;
} part;

typedef struct contents {
    part stream, weights; /* the stream without the driver's header */
    uint32_t config;
    uint64_t scratch, fast;
    bool one_memory; /* regions 1 and 2 */
    part in, out; /* records of tensors, after their number */
    size_t n_in, n_out;
} contents;

static uint32_t le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* "COP1": actions of words; 1: the machine, 2: the stream, the others are passed over. */
static bool read_driver(part driver, contents *out)
{
    size_t n = driver.bytes / 4;
    if (n < 1 || memcmp(driver.data, "COP1", 4))
        return false;
    for (size_t i = 1; i < n;) {
        uint32_t word = le32(driver.data + 4 * i), length = word >> 16 | (word & 0xff00) << 8;
        if ((word & 0xff) == 1 && n - i >= 3) {
            out->config = le32(driver.data + 4 * i + 4);
            i += 3;
        } else if ((word & 0xff) == 2) {
            out->stream = (part){driver.data + 4 * (i + 1), 4 * (size_t)length};
            return n - i - 1 >= length;
        } else
            i++;
    }
    return false;
}

enum { NAME = 16, HEAD = 32, TENSOR = 36 };

/* Blocks: a name, the bytes after it, whether these are elsewhere, then they, to a multiple of 16. */
static bool read_file(part file, contents *out)
{
    part driver = {0};
    for (size_t at = 0; file.bytes - at >= HEAD;) {
        const uint8_t *head = file.data + at;
        part block = {head + HEAD, le32(head + NAME)};
        char name[NAME + 1] = {0};
        memcpy(name, head, NAME);
        if (block.bytes > file.bytes - at - HEAD || head[NAME + 4] || (!at && strcmp(name, "vela_bin_stream")))
            return false;
        if (!strcmp(name, "cmd_data"))
            driver = block;
        else if (!strcmp(name, "weight_data"))
            out->weights = block;
        else if (!strcmp(name, "scratch_size") && block.bytes >= 4)
            out->scratch = le32(block.data);
        else if (!strcmp(name, "fast_size") && block.bytes >= 8) {
            out->fast = le32(block.data) | (uint64_t)le32(block.data + 4) << 32;
            out->one_memory = !out->fast;
        } else if (!strcmp(name, "inputs"))
            out->in = block;
        else if (!strcmp(name, "outputs"))
            out->out = block;
        else if (!strcmp(name, "vela_end_stream"))
            return read_driver(driver, out);
        size_t next = HEAD + (block.bytes + 15) / 16 * 16;
        at += next < file.bytes - at ? next : file.bytes - at;
    }
    return false;
}

/* Six extents, bytes of an element, offset, region. */
static bool read_tensors(part block, tensor **out, size_t *n)
{
    *n = block.bytes >= 4 ? le32(block.data) : 0;
    if (block.bytes && (block.bytes < 4 || (block.bytes - 4) / TENSOR < *n))
        return false;
    *out = calloc(*n + 1, sizeof **out);
    for (size_t i = 0; *out && i < *n; i++) {
        const uint8_t *p = block.data + 4 + TENSOR * i;
        uint64_t bytes = le32(p + 24);
        for (int k = 0; k < 6; k++)
            if (__builtin_mul_overflow(bytes, (uint64_t)le32(p + 4 * k), &bytes))
                return false;
        (*out)[i] = (tensor){le32(p + 28), bytes, (int)(le32(p + 32) & (REGIONS - 1))};
    }
    return *out != NULL;
}

/* ---- the device ---- */

static int open_at(tc_device *d, const char *path)
{
    char name[32] = {0};
    tc_accel_version version = {.name = name, .name_bytes = sizeof name - 1};
    tc_accel_info info = {0};
    tc_accel_query query = {.size = sizeof info, .pointer = (uintptr_t)&info};
    snprintf(d->path, sizeof d->path, "%s", path);
    d->file = open(path, O_RDWR | O_CLOEXEC);
    if (d->file < 0)
        return fail(d, errno, "%s: %s", path, strerror(errno));
    if (ioctl(d->file, TC_ACCEL_VERSION, &version) || strcmp(name, "ethosu"))
        fail(d, ENODEV, "%s: '%s' is no driver of an Ethos-U", path, name);
    else if (ioctl(d->file, TC_ACCEL_QUERY, &query))
        fail(d, errno, "%s: the driver does not say which machine it is: %s", path, strerror(errno));
    else {
        d->id = info.id;
        d->config = info.config;
        d->sram = info.sram;
        return 0;
    }
    close(d->file);
    d->file = -1;
    return ENODEV;
}

int tc_device_open(const char *path, tc_device **out)
{
    char at[32];
    int code = ENODEV;
    tc_device *d = *out = calloc(1, sizeof *d);
    if (!d)
        return ENOMEM;
    d->file = -1;
    if (path)
        return open_at(d, path);
    for (int i = 0; i < 64 && code; i++) {
        snprintf(at, sizeof at, "/dev/accel/accel%d", i);
        code = open_at(d, at);
    }
    if (code)
        fail(d, ENODEV, "no /dev/accel/accel0 to 63 is an Ethos-U's: Linux's driver is drivers/accel/ethosu, "
                        "from 6.19 on, and the user must be in the group 'render'");
    return code ? ENODEV : 0;
}

static void drop(const tc_device *d, uint32_t handle)
{
    tc_accel_close c = {handle, 0};
    if (handle)
        (void)!ioctl(d->file, TC_ACCEL_CLOSE, &c);
}

static void release(tc_device_program *p)
{
    for (int r = 0; r < REGIONS; r++) {
        if (p->region[r].data)
            munmap(p->region[r].data, p->region[r].bytes);
        drop(p->device, p->region[r].handle);
    }
    drop(p->device, p->stream);
    free(p->in);
    free(p->out);
    free(p);
}

void tc_device_close(tc_device *d)
{
    while (d && d->program) {
        tc_device_program *p = d->program;
        d->program = p->next;
        release(p);
    }
    if (d && d->file >= 0)
        close(d->file);
    free(d);
}

/* ---- a program ---- */

static int make_buffer(tc_device *d, buffer *b, uint64_t bytes)
{
    tc_accel_buffer make = {.size = (bytes + PAGE - 1) / PAGE * PAGE};
    if (ioctl(d->file, TC_ACCEL_BUFFER, &make))
        return fail(d, errno, "%s: no buffer of %llu bytes: %s", d->path, (unsigned long long)make.size,
                    strerror(errno));
    *b = (buffer){.handle = make.handle, .bytes = make.size};
    tc_accel_place place = {.handle = make.handle};
    void *data = MAP_FAILED;
    if (!ioctl(d->file, TC_ACCEL_PLACE, &place))
        data = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->file, (off_t)place.offset);
    if (data == MAP_FAILED)
        return fail(d, errno, "%s: a buffer cannot be mapped: %s", d->path, strerror(errno));
    b->data = data;
    return 0;
}

/* As large as the file says, or larger where the driver takes the stream to reach further. */
static int make_regions(tc_device_program *p, const contents *c, const tc_linux_extent *extent)
{
    tc_device *d = p->device;
    const uint64_t says[REGIONS] = {c->weights.bytes, c->scratch, c->fast};
    for (int r = 0; r < REGIONS; r++) {
        uint64_t bytes = says[r] > extent->bytes[r] ? says[r] : extent->bytes[r];
        if (!extent->bytes[r])
            continue;
        if (r == TC_LINUX_SRAM && bytes <= d->sram)
            p->sram = (uint32_t)bytes;
        else {
            int code = make_buffer(d, &p->region[r], bytes);
            if (code)
                return code;
        }
    }
    if (c->weights.bytes && p->region[0].data)
        memcpy(p->region[0].data, c->weights.data, c->weights.bytes);
    return 0;
}

static bool tensors_inside(const tc_device_program *p, const tensor *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const buffer *b = &p->region[t[i].region];
        if (t[i].bytes > b->bytes || t[i].offset > b->bytes - t[i].bytes)
            return false;
    }
    return true;
}

static int check_machine(tc_device *d, const contents *c)
{
    tc_device_info have = {.size = sizeof have};
    int product = c->config >> 28 == 2 ? 85 : c->config >> 28 == 1 ? 65 : 55, macs = 1 << (c->config & 15);
    tc_device_get_info(d, &have);
    if (have.product == product && have.macs == macs)
        return 0;
    return fail(d, EINVAL, "the stream is for an Ethos-U%d with %d multiplications a cycle, %s has an "
                           "Ethos-U%d with %d", product, macs, d->path, have.product, have.macs);
}

/* ---- the end of a stream ---- */

/* The driver does not tell a job that it gave up from one that is done.  So before STOP 16 bytes of the
 * scratch are copied to the 16 after them, which each job fills otherwise. */
static uint8_t *marked(const contents *c, uint64_t mark, size_t *n)
{
    const uint32_t STOP = 0xffff0000;
    enum { SRC_REGION = 304, DST_REGION, SRC = 48, DST, LEN, DMA_START = 16, DMA_WAIT,
           KERNEL_WAIT, TWO = 1 << 14, ONE = 1 << 16 };
    const uint32_t end[] = {KERNEL_WAIT,           DMA_WAIT,
                            SRC_REGION | SCRATCH * ONE, DST_REGION | SCRATCH * ONE,
                            SRC | TWO,             (uint32_t)mark,
                            DST | TWO,             (uint32_t)mark + 16,
                            LEN | TWO,             16,
                            DMA_START,             DMA_WAIT,
                            STOP};
    size_t bytes = c->stream.bytes;
    uint8_t *words = bytes >= 4 && le32(c->stream.data + bytes - 4) == STOP ? malloc(bytes + sizeof end) : NULL;
    if (!words)
        return NULL;
    memcpy(words, c->stream.data, bytes);
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        for (int k = 0; k < 4; k++)
            words[bytes - 4 + 4 * i + (size_t)k] = (uint8_t)(end[i] >> 8 * k);
    *n = bytes - 4 + sizeof end;
    return words;
}

static int make_stream(tc_device_program *p, const contents *c)
{
    tc_device *d = p->device;
    tc_linux_extent extent;
    size_t bytes;
    ti_linux_validate(c->stream.data, c->stream.bytes / 4, &extent);
    if (extent.refused)
        return fail(d, EINVAL, "word %zu of the stream: %s, and Linux's driver refuses it", extent.at,
                    extent.refused);
    if (extent.bytes[TC_LINUX_SRAM] && c->one_memory)
        return fail(d, EINVAL, "regions 1 and 2 are one memory, which Linux's driver does not take");
    p->mark = c->scratch > extent.bytes[SCRATCH] ? c->scratch : extent.bytes[SCRATCH];
    p->mark = (p->mark + 15) / 16 * 16;
    uint8_t *words = p->mark < UINT32_MAX - 32 ? marked(c, p->mark, &bytes) : NULL;
    if (!words)
        return fail(d, EINVAL, "the stream does not end with STOP, or its scratch is too large");
    ti_linux_validate(words, bytes / 4, &extent);
    int code = make_regions(p, c, &extent);
    tc_accel_stream stream = {.size = (uint32_t)bytes, .data = (uintptr_t)words};
    if (!code && ioctl(d->file, TC_ACCEL_STREAM, &stream))
        code = fail(d, errno, "%s does not take the stream: %s", d->path, strerror(errno));
    p->stream = stream.handle;
    free(words);
    return code;
}

static int fill_program(tc_device_program *p, const contents *c)
{
    tc_device *d = p->device;
    int code = check_machine(d, c);
    if (!code && (!read_tensors(c->in, &p->in, &p->n_in) || !read_tensors(c->out, &p->out, &p->n_out)))
        code = fail(d, EINVAL, "the file's inputs or outputs are broken");
    code = code ? code : make_stream(p, c);
    if (!code && (!tensors_inside(p, p->in, p->n_in) || !tensors_inside(p, p->out, p->n_out)))
        code = fail(d, EINVAL, "an input or output lies outside its region");
    return code;
}

int tc_device_load(tc_device *d, const void *file, size_t bytes, tc_device_program **out)
{
    contents c = {0};
    d->error[0] = 0;
    if (d->file < 0)
        return fail(d, ENODEV, "no device is open");
    if (!read_file((part){file, bytes}, &c))
        return fail(d, EINVAL, "this is no file of 'tosac compile --emit stream'");
    tc_device_program *p = calloc(1, sizeof *p);
    if (!p)
        return fail(d, ENOMEM, "out of memory");
    p->device = d;
    int code = fill_program(p, &c);
    if (code) {
        release(p);
        return code;
    }
    p->next = d->program;
    *out = d->program = p;
    return 0;
}

/* ---- a job ---- */

int tc_device_run(tc_device_program *p, int milliseconds)
{
    tc_device *d = p->device;
    struct timespec now;
    tc_accel_job job = {.stream = p->stream, .sram = p->sram};
    tc_accel_submit submit = {.jobs = (uintptr_t)&job, .n = 1};
    d->error[0] = 0;
    for (int r = 0; r < REGIONS; r++)
        job.region[r] = p->region[r].handle;
    uint8_t *mark = p->region[SCRATCH].data + p->mark;
    p->jobs++;
    memcpy(mark, &p->jobs, sizeof p->jobs);
    if (ioctl(d->file, TC_ACCEL_SUBMIT, &submit))
        return fail(d, errno, "%s does not take the job: %s", d->path, strerror(errno));
    clock_gettime(CLOCK_MONOTONIC, &now);
    tc_accel_wait wait = {.until = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
                                   (int64_t)milliseconds * 1000000};
    for (int r = 0; r < REGIONS; r++) {
        wait.handle = p->region[r].handle;
        if (wait.handle && ioctl(d->file, TC_ACCEL_WAIT, &wait))
            return fail(d, errno == ETIME || errno == EBUSY ? ETIMEDOUT : errno, "%s: not done after %d ms: %s",
                        d->path, milliseconds, strerror(errno));
    }
    if (memcmp(mark, mark + 16, sizeof p->jobs))
        return fail(d, EIO, "%s gave up on the job: the kernel's log (dmesg) says why", d->path);
    return 0;
}

static void *tensor_data(const tc_device_program *p, const tensor *t, size_t n, size_t i, size_t *bytes)
{
    if (i >= n)
        return NULL;
    *bytes = t[i].bytes;
    return p->region[t[i].region].data + t[i].offset;
}

const char *tc_device_error(const tc_device *d)
{
    return d->error;
}

/* The driver knows U65, whose architecture has the number 1, and U85. */
void tc_device_get_info(const tc_device *d, tc_device_info *out)
{
    tc_device_info info = {.size = out->size,
                           .path = d->path,
                           .id = d->id,
                           .config = d->config,
                           .product = d->id >> 28 == 1 ? 65 : 85,
                           .macs = 1 << (d->config & 15),
                           .sram = d->sram};
    memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
}

void *tc_device_input(const tc_device_program *p, size_t i, size_t *bytes)
{
    return tensor_data(p, p->in, p->n_in, i, bytes);
}

const void *tc_device_output(const tc_device_program *p, size_t i, size_t *bytes)
{
    return tensor_data(p, p->out, p->n_out, i, bytes);
}

#else /* no Linux: there is none to open */

struct tc_device {
    int none;
};

int tc_device_open(const char *path, tc_device **out)
{
    (void)path;
    *out = calloc(1, sizeof **out);
    return *out ? ENOSYS : ENOMEM;
}
void tc_device_close(tc_device *d)
{
    free(d);
}
const char *tc_device_error(const tc_device *d)
{
    (void)d;
    return "devices are Linux's";
}
void tc_device_get_info(const tc_device *d, tc_device_info *out)
{
    size_t size = out->size;
    (void)d;
    memset(out, 0, size);
    out->size = size;
}
int tc_device_load(tc_device *d, const void *file, size_t bytes, tc_device_program **out)
{
    (void)d, (void)file, (void)bytes, (void)out;
    return ENOSYS;
}
void *tc_device_input(const tc_device_program *p, size_t i, size_t *bytes)
{
    (void)p, (void)i, (void)bytes;
    return NULL;
}
const void *tc_device_output(const tc_device_program *p, size_t i, size_t *bytes)
{
    (void)p, (void)i, (void)bytes;
    return NULL;
}
int tc_device_run(tc_device_program *p, int milliseconds)
{
    (void)p, (void)milliseconds;
    return ENOSYS;
}

#endif
