/* SPDX-License-Identifier: Apache-2.0 */
/* system.c -- see system.h. */
#include "system.h"

#include "../base/text.h"
#include "../wire/file.h"

#include <stdlib.h>

enum { INHERITED = 16 }; /* sections behind each other, at most */

/* ---- built-in ---- */

typedef struct port {
    double scale;
    int32_t burst, read, write, reads, writes, ports;
} port;

static const struct built_in {
    const char *name;
    double mhz;
    const char *memory[TC_NPU_MEMORIES];
    port port[TC_NPU_MEMORIES];
} systems[] = {
#define NPU_SYSTEM(name, mhz, m0, m1, s0, b0, r0, w0, nr0, nw0, p0, s1, b1, r1, w1, nr1, nw1, p1)  \
    {#name, mhz, {#m0, #m1}, {{s0, b0, r0, w0, nr0, nw0, p0}, {s1, b1, r1, w1, nr1, nw1, p1}}},
#define NPU_MODE(name, constants, arena, cache)
#include "system.def"
};

static const struct mode {
    const char *name;
    uint8_t constants, arena, cache;
} modes[] = {
#define NPU_SYSTEM(...)
#define NPU_MODE(name, constants, arena, cache) {#name, constants, arena, cache},
#include "system.def"
};

static double port_bytes(const tc_npu_machine *m)
{
    return m->product == TC_U55 ? 8 : 16;
}

static void set_memory(tc_npu_port *m, const char *name, const port *p,
                       const tc_npu_machine *machine)
{
    int32_t ports = p->ports > 1 ? p->ports : 1;
    *m = (tc_npu_port){.name = name,
                       .bytes_per_cycle = port_bytes(machine) * ports * p->scale,
                       .burst = p->burst > 1 ? p->burst : 1,
                       .read_latency = p->read > 0 ? p->read : 0,
                       .write_latency = p->write > 0 ? p->write : 0,
                       .max_reads = p->reads > 1 ? p->reads : 1,
                       .max_writes = p->writes > 1 ? p->writes : 1,
                       .ports = ports};
    if (!(m->bytes_per_cycle >= 0.0001))
        m->bytes_per_cycle = 0.0001;
}

/* Region 0 is of constants, 2 of the cache, all others of the arena. */
static void set_regions(tc_npu_system *s, uint8_t constants, uint8_t arena, uint8_t cache)
{
    memset(s->of_region, arena, sizeof s->of_region);
    s->of_region[0] = constants;
    s->of_region[2] = cache;
}

static tc_status find_built_in(tc_ctx *ctx, const tc_npu_machine *machine, tc_npu_system *out)
{
    const struct built_in *s = NULL;
    const struct mode *m = NULL;
    for (size_t i = 0; i < TC_COUNT(systems); i++)
        s = tc_text_eq(systems[i].name, out->config) ? &systems[i] : s;
    for (size_t i = 0; i < TC_COUNT(modes); i++)
        m = tc_text_eq(modes[i].name, out->mode) ? &modes[i] : m;
    if (!s || !m)
        return tc_usage(ctx,
                        "the %s '%s' is not known without a description of the system (--vela-ini)",
                        s ? "memory mode" : "system configuration", s ? out->mode : out->config);
    out->clock = s->mhz * 1e6;
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        set_memory(&out->memory[i], s->memory[i], &s->port[i], machine);
    set_regions(out, m->constants, m->arena, m->cache);
    return TC_OK;
}

/* ---- a file ---- */

static tc_str trimmed(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t' || *from == '\r'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
        to--;
    return (tc_str){from, (size_t)(to - from)};
}

/* Keys are the same in small and large letters. */
static bool same_key(tc_str a, const char *b)
{
    size_t i = 0;
    for (; i < a.n && b[i]; i++)
        if ((a.p[i] | 0x20) != (b[i] | 0x20))
            return false;
    return i == a.n && !b[i];
}

/* The value of a key in a section; false: neither it, or no such section (*found). */
static bool value_of(tc_bytes ini, const char *section, const char *key, tc_str *out, bool *found)
{
    const char *at = (const char *)ini.data, *end = at + ini.size;
    bool inside = false, any = false;
    *found = false;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        tc_str line = trimmed(at, stop);
        at = stop < end ? stop + 1 : end;
        if (!line.n || line.p[0] == ';' || line.p[0] == '#')
            continue;
        if (line.p[0] == '[') {
            const char *close = memchr(line.p, ']', line.n);
            inside =
                close && tc_str_is((tc_str){line.p + 1, (size_t)(close - line.p - 1)}, section);
            *found = *found || inside;
            continue;
        }
        const char *is = memchr(line.p, '=', line.n);
        is = is ? is : memchr(line.p, ':', line.n);
        if (inside && is && same_key(trimmed(line.p, is), key)) {
            *out = trimmed(is + 1, line.p + line.n);
            any = true;
        }
    }
    return any;
}

typedef struct file {
    tc_ctx *ctx;
    tc_bytes ini;
    const char *path, *section;
    tc_status status;
} file;

/* A key of the section, or of one that it inherits from; NULL: nowhere. */
static const char *get(file *f, const char *key)
{
    const char *section = f->section;
    tc_str value;
    bool found;
    for (int i = 0; i < INHERITED; i++) {
        if (value_of(f->ini, section, key, &value, &found))
            return tc_text_copy(&f->ctx->arena, value);
        if (!value_of(f->ini, section, "inherit", &value, &found))
            return NULL;
        section = tc_text_copy(&f->ctx->arena, value);
    }
    if (!f->status)
        f->status = tc_usage(f->ctx, "%s: section %s inherits from itself", f->path, f->section);
    return NULL;
}

static double number(file *f, const char *key, double otherwise)
{
    const char *text = get(f, key);
    char *end;
    if (!text)
        return otherwise;
    double v = strtod(text, &end);
    if (end != text && !*end && v >= 0 && v < 1e12)
        return v;
    if (!f->status)
        f->status = tc_usage(f->ctx, "%s: %s of section %s is no number: '%s'", f->path, key,
                             f->section, text);
    return otherwise;
}

static void read_port(file *f, const tc_npu_machine *machine, const char *key, tc_npu_port *out)
{
    const char *name = get(f, key);
    if (!name)
        return;
    tc_arena *a = &f->ctx->arena;
#define OF(what) tc_text_format(a, "%s_" what, name)
    port p = {.scale = number(f, OF("clock_scale"), 1),
              .burst = (int32_t)number(f, OF("burst_length"), 1),
              .read = (int32_t)number(f, OF("read_latency"), 0),
              .write = (int32_t)number(f, OF("write_latency"), 0),
              .reads = (int32_t)number(f, OF("max_reads"), 1),
              .writes = (int32_t)number(f, OF("max_writes"), 1),
              .ports = (int32_t)number(f, OF("ports_used"), 1)};
#undef OF
    set_memory(out, name, &p, machine);
}

static uint8_t port_of(file *f, const char *key)
{
    const char *text = get(f, key);
    bool second = text && tc_text_eq(text, "Axi1");
    if (text && !second && !tc_text_eq(text, "Axi0") && !f->status)
        f->status = tc_usage(f->ctx, "%s: %s of section %s is neither Axi0 nor Axi1: '%s'", f->path,
                             key, f->section, text);
    return second;
}

static tc_status enter(file *f, const char *kind, const char *name)
{
    bool found;
    tc_str value;
    f->section = tc_text_format(&f->ctx->arena, "%s.%s", kind, name);
    value_of(f->ini, f->section, "inherit", &value, &found);
    return found ? TC_OK : tc_usage(f->ctx, "%s has no section %s", f->path, f->section);
}

static tc_status find_in_file(tc_ctx *ctx, const tc_npu_machine *machine, const char *ini,
                              tc_npu_system *out)
{
    file f = {.ctx = ctx, .path = ini};
    TC_TRY(tc_file_read(ctx, ini, &f.ini));
    TC_TRY(enter(&f, "System_Config", out->config));
    out->clock = number(&f, "core_clock", 1);
    read_port(&f, machine, "axi0_port", &out->memory[0]);
    read_port(&f, machine, "axi1_port", &out->memory[1]);
    if (!f.status && (!out->memory[0].name || !out->memory[1].name))
        return tc_usage(ctx, "%s: section %s does not name the memories of both ports", ini,
                        f.section);
    if (!f.status)
        f.status = enter(&f, "Memory_Mode", out->mode);
    TC_TRY(f.status);
    uint8_t constants = port_of(&f, "const_mem_area"), arena = port_of(&f, "arena_mem_area"),
            cache = port_of(&f, "cache_mem_area");
    set_regions(out, constants, arena, cache);
    return f.status;
}

tc_status tc_npu_system_find(tc_ctx *ctx, const tc_npu_machine *machine, const char *ini,
                             const char *config, const char *mode, tc_npu_system *out)
{
    *out = (tc_npu_system){.config = config, .mode = mode};
    return ini ? find_in_file(ctx, machine, ini, out) : find_built_in(ctx, machine, out);
}
