/* SPDX-License-Identifier: Apache-2.0 */
/* accel.c -- a machine with an Ethos-U for a program that calls Linux's driver: a library for LD_PRELOAD.
 *
 * /dev/accel/accel0 is a file in memory.  Its ioctls follow drivers/accel/ethosu: streams are validated as
 * they are made, jobs as they are submitted (src/npu/linux_rules.c), and run by src/npu in the buffers.
 * TOSAC_ACCEL has words: a machine ("ethos-u65-256", which is what it is without any), sram=BYTES, and a
 * fault: other (the driver is another one's), hang (a job is never done), reset (the driver gives up on
 * it, and says so in its log alone), full (no buffer).  TOSAC_ACCEL_LOG: a file for the driver's log. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/accel.h"
#include "npu/linux_rules.h"
#include "tosac/tosac.h"

enum { BUFFERS = 256, REGIONS = TC_LINUX_REGIONS };

typedef struct buffer {
    uint64_t at, size;
    bool used, is_stream, waits;
    tc_linux_extent extent; /* of a stream */
    uint32_t bytes;         /* of a stream */
} buffer;

static struct machine {
    int file;
    uint64_t end; /* of the file */
    buffer buffer[BUFFERS]; /* 0 is none */
    tc_ctx *ctx;
    tc_npu *npu;
    char name[32];
    uint64_t sram;
    bool other, hangs, resets, full;
} m = {.file = -1};

static void say(const char *format, ...)
{
    const char *path = getenv("TOSAC_ACCEL_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    va_list args;
    if (!log)
        return;
    va_start(args, format);
    vfprintf(log, format, args);
    va_end(args);
    fclose(log);
}

static void configure(void)
{
    char words[256];
    const char *from = getenv("TOSAC_ACCEL");
    snprintf(words, sizeof words, "%s", from ? from : "");
    snprintf(m.name, sizeof m.name, "ethos-u65-256");
    m.sram = 384 << 10;
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) {
        if (!strncmp(w, "ethos-", 6))
            snprintf(m.name, sizeof m.name, "%s", w);
        else if (!strncmp(w, "sram=", 5))
            m.sram = strtoull(w + 5, NULL, 10);
        m.other |= !strcmp(w, "other");
        m.hangs |= !strcmp(w, "hang");
        m.resets |= !strcmp(w, "reset");
        m.full |= !strcmp(w, "full");
    }
}

/* ---- the calls ---- */

static int refuse(int code)
{
    errno = code;
    return -1;
}

static int new_buffer(uint64_t size, uint32_t *handle)
{
    uint32_t h = 1;
    while (h < BUFFERS && m.buffer[h].used)
        h++;
    if (h == BUFFERS || m.full)
        return refuse(ENOMEM);
    size = (size + 4095) / 4096 * 4096;
    if (ftruncate(m.file, (off_t)(m.end + size)))
        return -1;
    m.buffer[h] = (buffer){.at = m.end, .size = size, .used = true};
    m.end += size;
    *handle = h;
    return 0;
}

static buffer *find(uint32_t handle)
{
    return handle && handle < BUFFERS && m.buffer[handle].used ? &m.buffer[handle] : NULL;
}

static int version(tc_accel_version *v)
{
    const char *name = m.other ? "panthor" : "ethosu";
    if (v->name && v->name_bytes)
        memcpy(v->name, name, strlen(name) < v->name_bytes ? strlen(name) : v->name_bytes);
    v->name_bytes = strlen(name);
    return 0;
}

static int query(tc_accel_query *q)
{
    tc_npu_info info = {.size = sizeof info};
    if (q->type || (q->pointer && q->size < sizeof(tc_accel_info)))
        return refuse(EINVAL);
    tc_npu_get_info(m.npu, &info);
    tc_accel_info have = {info.id, info.config, (uint32_t)m.sram};
    q->size = sizeof have;
    if (q->pointer)
        memcpy((void *)(uintptr_t)q->pointer, &have, sizeof have);
    return 0;
}

static int make(tc_accel_buffer *b)
{
    if (!b->size || b->flags > 1)
        return refuse(EINVAL);
    if (new_buffer(b->size, &b->handle))
        return -1;
    b->size = m.buffer[b->handle].size;
    return 0;
}

static int make_stream(tc_accel_stream *s)
{
    tc_linux_extent extent;
    if (!s->size || !s->data || s->flags || s->zero)
        return refuse(EINVAL);
    ti_linux_validate((const uint8_t *)(uintptr_t)s->data, s->size / 4, &extent);
    if (extent.refused) {
        say("word %zu: %s\n", extent.at, extent.refused);
        return refuse(EINVAL);
    }
    if (extent.warned)
        say("WARNING: word %zu: %s\n", extent.at, extent.warned);
    if (new_buffer(s->size, &s->handle))
        return -1;
    buffer *b = &m.buffer[s->handle];
    b->is_stream = true;
    b->extent = extent;
    b->bytes = s->size;
    return pwrite(m.file, (const void *)(uintptr_t)s->data, s->size, (off_t)b->at) == (ssize_t)s->size ? 0 : -1;
}

static void *mapped(const buffer *b)
{
    return mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, m.file, (off_t)b->at);
}

/* What the driver's log alone has. */
static void execute(const tc_accel_job *job, const buffer *stream)
{
    tc_npu_load_info load = {.size = sizeof load};
    tc_npu_run_info done = {.size = sizeof done};
    tc_npu_fault_info fault = {.size = sizeof fault};
    void *words = mapped(stream), *data[REGIONS] = {NULL};
    uint8_t *sram = job->sram ? calloc(1, job->sram) : NULL;
    bool fine = tc_npu_load(m.npu, words, stream->bytes / 4 * 4, &load) == TC_OK;
    for (int r = 0; r < REGIONS && fine; r++) {
        const buffer *b = find(job->region[r]);
        data[r] = b ? mapped(b) : NULL;
        if (b)
            fine = tc_npu_bind(m.npu, r, data[r], b->size) == TC_OK;
        else if (r == TC_LINUX_SRAM && sram)
            fine = tc_npu_bind(m.npu, r, sram, job->sram) == TC_OK;
    }
    fine = fine && tc_npu_run(m.npu, &done) == TC_OK;
    tc_npu_get_fault(m.npu, &fault);
    if (!fine)
        say("Error IRQ: %s\n", fault.text ? fault.text : "");
    for (int r = 0; r < REGIONS; r++)
        if (data[r])
            munmap(data[r], find(job->region[r])->size);
    munmap(words, stream->size);
    free(sram);
}

static int submit_job(const tc_accel_job *job)
{
    uint64_t bytes[REGIONS];
    int region, code;
    buffer *stream = find(job->stream);
    if ((job->region[TC_LINUX_SRAM] && job->sram) || job->sram > m.sram)
        return refuse(EINVAL);
    if (!stream || !stream->is_stream)
        return refuse(stream ? EINVAL : ENOENT);
    for (int r = 0; r < REGIONS; r++) {
        const buffer *b = find(job->region[r]);
        bytes[r] = b ? b->size : 0;
        for (int k = 0; k < r; k++)
            if (b && job->region[k] == job->region[r])
                return refuse(EALREADY);
        if (b && b->is_stream)
            return refuse(EINVAL);
    }
    const char *why = ti_linux_submit(&stream->extent, bytes, m.sram, &region, &code);
    if (why) {
        say("region %d: %s\n", region, why);
        return refuse(code);
    }
    for (int r = 0; r < REGIONS; r++)
        if (find(job->region[r]))
            find(job->region[r])->waits = m.hangs;
    if (m.resets)
        say("NPU sched timed out\n");
    else if (!m.hangs)
        execute(job, stream);
    return 0;
}

static int submit(const tc_accel_submit *s)
{
    const tc_accel_job *job = (const tc_accel_job *)(uintptr_t)s->jobs;
    if (s->zero)
        return refuse(EINVAL);
    for (uint32_t i = 0; i < s->n; i++)
        if (submit_job(&job[i]))
            return -1;
    return 0;
}

static int on_ioctl(unsigned long request, void *arg)
{
    tc_accel_wait *wait = arg;
    tc_accel_place *place = arg;
    tc_accel_close *close = arg;
    buffer *b;
    switch (request) {
    case TC_ACCEL_VERSION:
        return version(arg);
    case TC_ACCEL_QUERY:
        return query(arg);
    case TC_ACCEL_BUFFER:
        return make(arg);
    case TC_ACCEL_STREAM:
        return make_stream(arg);
    case TC_ACCEL_SUBMIT:
        return submit(arg);
    case TC_ACCEL_WAIT:
        b = find(wait->handle);
        return !b ? refuse(ENOENT) : wait->zero ? refuse(EINVAL) : b->waits ? refuse(ETIME) : 0;
    case TC_ACCEL_PLACE:
        b = find(place->handle);
        if (!b || place->zero)
            return refuse(b ? EINVAL : ENOENT);
        place->offset = b->at;
        return 0;
    case TC_ACCEL_CLOSE:
        b = find(close->handle);
        if (!b)
            return refuse(EINVAL);
        b->used = false;
        return 0;
    default:
        return refuse(ENOTTY);
    }
}

/* ---- in place of the C library's ---- */

static int open_machine(void)
{
    tc_npu_options o = {.size = sizeof o, .machine = m.name};
    configure();
    if (!m.ctx)
        m.ctx = tc_ctx_new();
    if (tc_npu_new(m.ctx, &o, &m.npu) != TC_OK)
        return refuse(ENXIO);
    m.file = memfd_create("accel0", 0);
    return m.file;
}

typedef int next_open(const char *, int, ...);
typedef int next_ioctl(int, unsigned long, ...);

static int opened(const char *name, const char *path, int flags, int mode)
{
    next_open *next;
    void *at = dlsym(RTLD_NEXT, name);
    memcpy(&next, &at, sizeof next);
    if (!strcmp(path, "/dev/accel/accel0"))
        return open_machine();
    return next(path, flags, mode);
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return opened("open", path, flags, mode);
}

int open64(const char *path, int flags, ...);
__attribute__((visibility("default"))) int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return opened("open64", path, flags, mode);
}

__attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...)
{
    next_ioctl *next;
    void *at = dlsym(RTLD_NEXT, "ioctl");
    va_list args;
    memcpy(&next, &at, sizeof next);
    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    return file >= 0 && file == m.file ? on_ioctl(request, arg) : next(file, request, arg);
}
