/* SPDX-License-Identifier: Apache-2.0 */
/* system.c -- see system.h. */
#include "system.h"

#include "../base/text.h"
#include "../machine/machine.h"
#include "../wire/file.h"

#include <stdio.h>
#include <stdlib.h>

enum { INHERITED = 16 }; /* inherited sections, at most */

/* ---- built-in ---- */

/* Which port has constants, arena and cache; bytes of the cache, 0: as many as there are. */
static const struct mode {
    const char *name;
    uint8_t constants, arena, cache;
    int64_t bytes;
} modes[] = {
    {"Sram_Only", 0, 0, 0, 0},
    {"Shared_Sram", 1, 0, 0, 0},
    {"Dedicated_Sram", 1, 1, 0, 0},
    {"Dedicated_Sram_256KB", 1, 1, 0, 262144},
    {"Dedicated_Sram_384KB", 1, 1, 0, 393216},
    {"Dedicated_Sram_512KB", 1, 1, 0, 524288},
};

static double port_bytes(const tc_npu_machine *m)
{
    return m->product == TC_U55 ? 8 : 16;
}

static void set_memory(tc_npu_port *m, const char *name, const tc_npu_speed *p,
                       const tc_npu_machine *machine)
{
    int32_t ports = p->ports > 1 ? p->ports : 1;
    *m = (tc_npu_port){.name = name,
                       .bytes_per_cycle = port_bytes(machine) * ports * p->scale,
                       .burst = p->burst > 1 ? p->burst : 1,
                       .read_latency = p->read_latency > 0 ? p->read_latency : 0,
                       .write_latency = p->write_latency > 0 ? p->write_latency : 0,
                       .max_reads = p->max_reads > 0 ? p->max_reads : 0,
                       .max_writes = p->max_writes > 0 ? p->max_writes : 0,
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

/* ---- valid memories ---- */

/* Vela's rules: constants are in flash or Dram, or in Sram with all the rest; the arena in Sram or
 * Dram; the cache in Sram.  NULL: the memories are valid for their contents. */
static const char *misplaced(tc_ctx *ctx, const tc_npu_system *s)
{
    uint8_t constants = s->of_region[0], arena = s->of_region[1], cache = s->of_region[2];
    const char *in = s->memory[constants].name;
    if (ti_text_eq(in, "Sram") && (constants != arena || constants != cache))
        return "constants in Sram, away from the arena or the cache";
    in = s->memory[arena].name;
    if (!ti_text_eq(in, "Sram") && !ti_text_eq(in, "Dram"))
        return ti_text_format(&ctx->arena, "the arena in %s, where only Sram and Dram can be "
                              "written", in);
    in = s->memory[cache].name;
    if (!ti_text_eq(in, "Sram"))
        return ti_text_format(&ctx->arena, "the cache in %s, and it has to be Sram", in);
    return NULL;
}

/* Names for a note, comma-separated. */
static void add_name(tc_buf *list, tc_str name)
{
    ti_buf_printf(list, "%s%.*s", list->size ? ", " : "", (int)name.n, name.p);
}

/* Of the names of a list the one nearest to a mistaken one, or NULL. */
static const char *nearest_of(tc_ctx *ctx, const char *name, tc_buf *known)
{
    const char *best = NULL, *at = ti_buf_cstr(known);
    size_t least = ti_text_far(name);
    for (size_t n; *at; at += n + strspn(at + n, ", ")) {
        n = strcspn(at, ",");
        ti_text_nearer(name, ti_text_copy(&ctx->arena, (tc_str){at, n}), &least, &best);
    }
    return best;
}

static tc_status choose_of(tc_ctx *ctx, tc_status status, tc_buf *known)
{
    if (known->size)
        ti_note(ctx, NULL, "choose one of: %s", ti_buf_cstr(known));
    else
        ti_note(ctx, NULL, "there is none: --system FILE names a description that has one");
    return status;
}

static tc_status unknown(tc_ctx *ctx, const char *what, const char *name, const char *place,
                         tc_buf *known)
{
    tc_status status = ti_usage(ctx, "--system %s: %s has no such %s", name, place, what);
    const char *near = nearest_of(ctx, name, known);
    if (near)
        ti_note(ctx, NULL, "did you mean '%s'?", near);
    return choose_of(ctx, status, known);
}

static tc_status does_not_fit(tc_ctx *ctx, const tc_npu_system *s, const char *why, tc_buf *known)
{
    tc_status status =
        ti_usage(ctx, "--system %s,%s: the memory mode does not go with the system: it puts %s", s->config,
                 s->mode, why);
    return choose_of(ctx, status, known);
}

/* ---- built-in: the choice ---- */

extern const unsigned char tc_boards_ini[]; /* boards.ini, as bytes */
extern const size_t tc_boards_ini_size;

tc_bytes ti_npu_boards(void)
{
    return (tc_bytes){tc_boards_ini, tc_boards_ini_size};
}

/* Of the systems of any machine. */
static const tc_npu_setup *built_in_system(const char *name)
{
    const tc_machine *m;
    for (size_t i = 0; (m = ti_machine_at(i)) != NULL; i++)
        for (size_t k = 0; k < m->n_system; k++)
            if (ti_text_eq(m->systems[k].name, name))
                return &m->systems[k];
    return NULL;
}

static const struct mode *built_in_mode(const char *name)
{
    for (size_t i = 0; i < TC_COUNT(modes); i++)
        if (ti_text_eq(modes[i].name, name))
            return &modes[i];
    return NULL;
}

static const char built_in_place[] = "the built-in description (--system FILE:... names another)";

static void set_mode(tc_npu_system *s, const struct mode *m)
{
    set_regions(s, m->constants, m->arena, m->cache);
    s->cache = m->bytes;
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
                close && ti_str_is((tc_str){line.p + 1, (size_t)(close - line.p - 1)}, section);
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

bool ti_npu_ini_has(tc_bytes ini, const char *kind, const char *name)
{
    char section[128];
    bool found;
    tc_str value;
    if ((size_t)snprintf(section, sizeof section, "%s.%s", kind, name) >= sizeof section)
        return false;
    value_of(ini, section, "inherit", &value, &found);
    return found;
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
            return ti_text_copy(&f->ctx->arena, value);
        if (!value_of(f->ini, section, "inherit", &value, &found))
            return NULL;
        section = ti_text_copy(&f->ctx->arena, value);
    }
    if (!f->status)
        f->status = ti_usage(f->ctx, "%s: section %s inherits from itself", f->path, f->section);
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
        f->status = ti_usage(f->ctx, "%s: %s of section %s is not a number: '%s'", f->path, key,
                             f->section, text);
    return otherwise;
}

/* How fast Arm's system of that name has a memory, or else one of the machine's; NULL: none has it. */
static const tc_npu_speed *usual(const tc_npu_machine *machine, const char *config,
                                 const char *memory)
{
    const tc_machine *m = ti_machine_with(machine);
    const tc_npu_setup *s = built_in_system(config);
    for (int k = 0; s && k < TC_NPU_MEMORIES; k++)
        if (ti_text_eq(s->memory[k], memory))
            return &s->port[k];
    for (size_t i = 0; m && i < m->n_system; i++)
        for (int k = 0; k < TC_NPU_MEMORIES; k++)
            if (ti_text_eq(m->systems[i].memory[k], memory))
                return &m->systems[i].port[k];
    return NULL;
}

static void fill(file *f, const char *key, int32_t *to, int32_t by, tc_buf *filled)
{
    if (get(f, key) || !by)
        return;
    *to = by;
    ti_buf_printf(filled, "%s%s %" PRId32, filled->size ? ", " : "", key, by);
}

static void read_port(file *f, const tc_npu_machine *machine, const char *config, const char *key,
                      tc_buf *filled, tc_npu_port *out)
{
    const char *name = get(f, key);
    if (!name)
        return;
    tc_arena *a = &f->ctx->arena;
#define OF(what) ti_text_format(a, "%s_" what, name)
    tc_npu_speed p = {.scale = number(f, OF("clock_scale"), 1),
                      .burst = (int32_t)number(f, OF("burst_length"), 1),
                      .read_latency = (int32_t)number(f, OF("read_latency"), 0),
                      .write_latency = (int32_t)number(f, OF("write_latency"), 0),
                      .max_reads = (int32_t)number(f, OF("max_reads"), 0),
                      .max_writes = (int32_t)number(f, OF("max_writes"), 0),
                      .ports = (int32_t)number(f, OF("ports_used"), 1)};
    const tc_npu_speed *by = usual(machine, config, name);
    if (by) { /* Vela has 1 where a file says nothing; no memory is like that */
        fill(f, OF("max_reads"), &p.max_reads, by->max_reads, filled);
        fill(f, OF("max_writes"), &p.max_writes, by->max_writes, filled);
    }
#undef OF
    set_memory(out, name, &p, machine);
}

static uint8_t port_of(file *f, const char *key)
{
    const char *text = get(f, key);
    bool second = text && ti_text_eq(text, "Axi1");
    if (text && !second && !ti_text_eq(text, "Axi0") && !f->status)
        f->status = ti_usage(f->ctx, "%s: %s of section %s is neither Axi0 nor Axi1: '%s'", f->path,
                             key, f->section, text);
    return second;
}

/* The names of all sections [kind.NAME], in order. */
static void names_of(const file *f, const char *kind, tc_buf *list)
{
    const char *at = (const char *)f->ini.data, *end = at + f->ini.size;
    size_t n = strlen(kind);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        tc_str line = trimmed(at, stop);
        at = stop < end ? stop + 1 : end;
        const char *close = line.n && line.p[0] == '[' ? memchr(line.p, ']', line.n) : NULL;
        if (close && line.n > n + 2 && memcmp(line.p + 1, kind, n) == 0 && line.p[n + 1] == '.')
            add_name(list, (tc_str){line.p + n + 2, (size_t)(close - line.p) - n - 2});
    }
}

static tc_status enter(file *f, const char *kind, const char *name)
{
    bool found, mode = ti_text_eq(kind, "Memory_Mode");
    tc_str value;
    tc_buf known;
    f->section = ti_text_format(&f->ctx->arena, "%s.%s", kind, name);
    value_of(f->ini, f->section, "inherit", &value, &found);
    if (found)
        return TC_OK;
    ti_buf_init(&known, &f->ctx->arena);
    names_of(f, kind, &known);
    return unknown(f->ctx, mode ? "memory mode" : "system", name, f->path, &known);
}

static void read_mode(file *f, tc_npu_system *out)
{
    uint8_t constants = port_of(f, "const_mem_area"), arena = port_of(f, "arena_mem_area"),
            cache = port_of(f, "cache_mem_area");
    set_regions(out, constants, arena, cache);
    out->cache = (int64_t)number(f, "arena_cache_size", 0);
}

/* The modes that go with the system. */
static void list_modes(file *f, const tc_npu_system *of, tc_buf *fitting)
{
    tc_buf all;
    ti_buf_init(&all, &f->ctx->arena);
    names_of(f, "Memory_Mode", &all);
    for (const char *at = ti_buf_cstr(&all); *at;) {
        size_t n = strcspn(at, ",");
        tc_npu_system s = *of;
        f->status = TC_OK;
        f->section = ti_text_format(&f->ctx->arena, "Memory_Mode.%.*s", (int)n, at);
        read_mode(f, &s);
        if (!f->status && !misplaced(f->ctx, &s))
            add_name(fitting, (tc_str){at, n});
        at += n + (at[n] ? 2 : 0);
    }
}

static bool is_memory(const char *name)
{
    static const char *const all[] = {"Sram", "Dram", "OnChipFlash", "OffChipFlash"};
    for (size_t i = 0; i < TC_COUNT(all); i++)
        if (ti_text_eq(name, all[i]))
            return true;
    return false;
}

/* Vela's own file has latencies for 1 GHz in a system of 500 MHz: a section with its name and twice
 * the latencies of ours is that one, and is taken as Arm's simulator has it. */
static void as_simulated(tc_npu_system *out, tc_buf *filled)
{
    const tc_npu_setup *s = built_in_system(out->config);
    for (int i = 0; s && i < TC_NPU_MEMORIES; i++) {
        const tc_npu_speed *p = &s->port[i];
        tc_npu_port *m = &out->memory[i];
        if (!m->name || !p->read_latency || m->read_latency != 2 * p->read_latency ||
            m->write_latency != 2 * p->write_latency || out->clock != s->mhz * 1e6)
            continue;
        ti_buf_printf(filled, "%s%s latencies %" PRId32 " and %" PRId32 ", not %" PRId32 " and %" PRId32,
                      filled->size ? ", " : "", m->name, p->read_latency, p->write_latency,
                      m->read_latency, m->write_latency);
        m->read_latency = p->read_latency;
        m->write_latency = p->write_latency;
    }
}

/* Clock and memories of the system out->config. */
static tc_status read_system(file *f, const tc_npu_machine *machine, tc_npu_system *out)
{
    TC_TRY(enter(f, "System_Config", out->config));
    out->clock = number(f, "core_clock", 1);
    tc_buf filled;
    ti_buf_init(&filled, &f->ctx->arena);
    read_port(f, machine, out->config, "axi0_port", &filled, &out->memory[0]);
    read_port(f, machine, out->config, "axi1_port", &filled, &out->memory[1]);
    as_simulated(out, &filled);
    out->filled = filled.size ? ti_buf_cstr(&filled) : NULL;
    if (!f->status && (!out->memory[0].name || !out->memory[1].name))
        return ti_usage(f->ctx, "%s: section %s does not name the memories of both ports", f->path,
                        f->section);
    for (int i = 0; i < TC_NPU_MEMORIES && !f->status; i++)
        if (!is_memory(out->memory[i].name))
            f->status = ti_usage(f->ctx, "%s: axi%d_port of section %s is '%s', expected Sram, "
                                         "Dram, OnChipFlash, OffChipFlash", f->path, i, f->section,
                                 out->memory[i].name);
    return f->status;
}

/* ---- the choice ---- */

static tc_status not_built_in(tc_ctx *ctx, const tc_npu_machine *machine, const char *config)
{
    const tc_machine *m = ti_machine_with(machine);
    tc_buf known;
    ti_buf_init(&known, &ctx->arena);
    for (size_t i = 0; i < m->n_system; i++)
        add_name(&known, ti_str_of(m->systems[i].name));
    return unknown(ctx, "system", config, built_in_place, &known);
}

/* Of Arm's systems, then of those in boards.ini. */
static tc_status find_system(tc_ctx *ctx, const tc_npu_machine *machine, tc_npu_system *out)
{
    const tc_npu_setup *s = built_in_system(out->config);
    file f = {.ctx = ctx, .path = "boards.ini", .ini = ti_npu_boards()};
    if (!s && !ti_npu_ini_has(f.ini, "System_Config", out->config))
        return not_built_in(ctx, machine, out->config);
    if (!s)
        return read_system(&f, machine, out);
    out->clock = s->mhz * 1e6;
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        set_memory(&out->memory[i], s->memory[i], &s->port[i], machine);
    return TC_OK;
}

/* The built-in mode; the system is known. */
static tc_status find_mode(tc_ctx *ctx, tc_npu_system *out)
{
    const struct mode *m = built_in_mode(out->mode);
    tc_buf known;
    ti_buf_init(&known, &ctx->arena);
    for (size_t i = 0; i < TC_COUNT(modes); i++) {
        set_mode(out, &modes[i]);
        if (!misplaced(ctx, out))
            add_name(&known, ti_str_of(modes[i].name));
    }
    if (!m)
        return unknown(ctx, "memory mode", out->mode, built_in_place, &known);
    set_mode(out, m);
    const char *why = misplaced(ctx, out);
    return why ? does_not_fit(ctx, out, why, &known) : TC_OK;
}

static tc_status find_in_file(tc_ctx *ctx, const tc_npu_machine *machine, const char *ini,
                              tc_npu_system *out)
{
    file f = {.ctx = ctx, .path = ini};
    tc_buf fitting;
    TC_TRY(ti_file_read(ctx, ini, &f.ini));
    TC_TRY(read_system(&f, machine, out));
    if (!ti_npu_ini_has(f.ini, "Memory_Mode", out->mode) && built_in_mode(out->mode))
        return find_mode(ctx, out);
    TC_TRY(enter(&f, "Memory_Mode", out->mode));
    read_mode(&f, out);
    TC_TRY(f.status);
    const char *why = misplaced(ctx, out);
    if (!why)
        return TC_OK;
    ti_buf_init(&fitting, &ctx->arena);
    tc_trial trial; /* other modes may have errors, which do not matter here */
    ti_trial_begin(ctx, &trial);
    list_modes(&f, out, &fitting);
    ti_trial_end(ctx, &trial);
    return does_not_fit(ctx, out, why, &fitting);
}

tc_system_name ti_system_name_read(tc_ctx *ctx, const char *text)
{
    tc_system_name out = {0};
    const char *colon = text ? strrchr(text, ':') : NULL;
    if (!text || !*text)
        return out;
    if (colon && strpbrk(colon, "/\\")) /* of a drive */
        colon = NULL;
    const char *names = colon ? colon + 1 : strpbrk(text, "./\\") ? "" : text;
    if (names != text)
        out.ini = colon ? ti_text_copy(&ctx->arena, (tc_str){text, (size_t)(colon - text)})
                        : ti_intern_text(ctx, text);
    const char *comma = strchr(names, ',');
    size_t n = comma ? (size_t)(comma - names) : strlen(names);
    if (n)
        out.config = ti_text_copy(&ctx->arena, (tc_str){names, n});
    if (comma && comma[1])
        out.mode = ti_intern_text(ctx, comma + 1);
    if (out.config && !comma && !out.ini && built_in_mode(out.config))
        out = (tc_system_name){.mode = out.config};
    return out;
}

const char *ti_system_name_text(tc_ctx *ctx, const tc_system_name *name)
{
    bool mode = name->mode != NULL, names = name->config || mode;
    if (!name->ini && !names)
        return NULL;
    return ti_text_format(&ctx->arena, "%s%s%s%s%s", name->ini ? name->ini : "",
                          name->ini && names ? ":" : "", name->config ? name->config : "",
                          mode ? "," : "", mode ? name->mode : "");
}

tc_status ti_npu_system_find(tc_ctx *ctx, const tc_npu_machine *machine, const char *ini,
                             const char *config, const char *mode, tc_npu_system *out)
{
    const tc_machine *m = ti_machine_with(machine);
    *out = (tc_npu_system){.config = config ? config : m->system_config,
                           .mode = mode ? mode : m->memory_mode};
    if (ini)
        return find_in_file(ctx, machine, ini, out);
    TC_TRY(find_system(ctx, machine, out));
    return find_mode(ctx, out);
}
