/* SPDX-License-Identifier: Apache-2.0 */
/* emit_ethosu.c -- hands each region to Vela, checks what comes back, packs it as the runtime
 * expects.
 *
 * Payload: blocks of a 16-byte name, u32 size, twelve zero bytes, and data padded to 16:
 * vela_bin_stream, cmd_data, weight_data, scratch_size, inputs, outputs, vela_end_stream. */
#include "ethosu.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../npu/system.h"
#include "../wire/archive.h"
#include "../wire/file.h"
#include "../wire/tool.h"

enum { MINUTE = 60, TEN_MINUTES = 600, DIMS = 6 };

/* ---- the call ---- */

static tc_status not_found(tc_ctx *ctx)
{
    ti_error(ctx, NULL, TC_E_TOOL, "'%s' was not found; it makes the Ethos-U command stream",
             ti_vela_program());
    ti_note(ctx, NULL,
            "'pip install ethos-u-vela==" TC_VELA_VERSION
            "' installs it; TOSAC_VELA names another path");
    return TC_TOOL;
}

tc_status ti_vela_here(tc_ctx *ctx)
{
    return ti_tool_find(ctx, ti_vela_program()) ? TC_OK : not_found(ctx);
}

bool ti_vela_is_here(tc_ctx *ctx)
{
    return ti_tool_find(ctx, ti_vela_program()) != NULL;
}

static tc_status vela_failed(tc_ctx *ctx, const tc_tool *tool)
{
    tc_status status = TC_TOOL;
    const char *program = tool->argv[0];
    const char *log = ti_tool_log(ctx, tool);
    if ((tool->exit == 127 || tool->exit < 0) && !*log)
        return not_found(ctx);
    if (tool->timed_out)
        ti_error(ctx, NULL, TC_E_TOOL, "'%s' did not finish in %.0f seconds and was stopped",
                 program,
                 tool->timeout);
    else if (tool->exit > 128)
        ti_error(ctx, NULL, TC_E_TOOL, "'%s' was killed by signal %d", program, tool->exit - 128);
    else
        ti_error(ctx, NULL, TC_E_TOOL, "'%s' refused a region: exit %d%s%s", program, tool->exit,
                 *log ? ": " : "", log);
    if (*log && (tool->timed_out || tool->exit > 128))
        ti_note(ctx, NULL, "it said: %s", log);
    if (tool->timed_out)
        ti_note(ctx, NULL, "--vela-timeout SECONDS gives it more time");
    return status;
}

static void add_flag(tc_ctx *ctx, const char **argv, size_t *n, const char *name, const char *value)
{
    if (value)
        argv[(*n)++] = ti_text_format(&ctx->arena, "--%s=%s", name, value);
}

/* The tool runs elsewhere: a path of the user's is made one from the root. */
static const char *absolute(tc_ctx *ctx, const char *path)
{
    char here[4096];
    if (ti_path_is_absolute(path) || access(path, R_OK) != 0 || !getcwd(here, sizeof here))
        return path;
    return ti_text_format(&ctx->arena, "%s/%s", here, path);
}

const char *ti_vela_program(void)
{
    const char *vela = getenv("TOSAC_VELA");
    return vela && *vela ? vela : "vela";
}

/* Asks for the version, beside the regions, and waits no longer for it than for a region. */
static tc_status ask_version(tc_ctx *ctx, const char *folder, double most, tc_tool *tool)
{
    const char **argv = tc_new_n(&ctx->arena, const char *, 3);
    argv[0] = ti_vela_program();
    argv[1] = "--version";
    most = most > 0 && most < MINUTE ? most : MINUTE;
    *tool = (tc_tool){.argv = argv, .folder = folder, .timeout = most};
    return ti_folder_make(ctx, folder);
}

/* "5.2.0", or NULL when the tool said something else. */
static const char *version_said(tc_ctx *ctx, const tc_tool *tool)
{
    const char *said = tool->exit == 0 ? ti_tool_log(ctx, tool) : "";
    size_t n = strspn(said, "0123456789.");
    return n && (!said[n] || strchr(".+- rd", said[n])) && strchr(said, '.') ? said : NULL;
}

static void judge_version(tc_ctx *ctx, const char *version)
{
    if (!version || ti_text_eq(version, TC_VELA_VERSION))
        return;
    ti_warning(ctx, NULL, TC_E_VERSION,
               ti_text_eq(version, TC_VELA_BEFORE)
                   ? "Vela %s has defects that " TC_VELA_VERSION " does not have"
                   : "Vela %s was not tested with this program; " TC_VELA_VERSION " was",
               version);
}

/* The descriptions that Vela is given: Arm's; a file of the user's, with Arm's before it where the
 * memory mode is one of those; or that of known boards behind Arm's. */
static tc_status add_configs(tc_ctx *ctx, const tc_ethosu_options *o, const char *system,
                             const char *mode, const char *folder, const char **argv, size_t *n)
{
    tc_bytes ini = {NULL, 0};
    if (o->ini)
        TC_TRY(ti_file_read(ctx, o->ini, &ini));
    if (!o->ini || !ti_npu_ini_has(ini, "Memory_Mode", mode))
        add_flag(ctx, argv, n, "config", "Arm/vela.ini");
    if (o->ini) {
        add_flag(ctx, argv, n, "config", absolute(ctx, o->ini));
        return TC_OK;
    }
    if (ti_npu_system_is_arms(system))
        return TC_OK;
    add_flag(ctx, argv, n, "config", "boards.ini");
    return ti_file_write(ctx, ti_text_format(&ctx->arena, "%s/boards.ini", folder),
                         ti_npu_boards());
}

static tc_status prepare(tc_ctx *ctx, const tc_target *target, const tc_ethosu_options *o,
                         tc_bytes tosa, const char *folder, tc_tool *tool)
{
    const char **argv = tc_new_n(&ctx->arena, const char *, 16);
    const char *system = o->system_config ? o->system_config : target->machine->system_config,
               *mode = o->memory_mode ? o->memory_mode : target->machine->memory_mode;
    size_t n = 0;
    TC_TRY(ti_folder_make(ctx, folder));
    argv[n++] = ti_vela_program();
    add_flag(ctx, argv, &n, "accelerator-config", target->name);
    TC_TRY(add_configs(ctx, o, system, mode, folder, argv, &n));
    add_flag(ctx, argv, &n, "system-config", system);
    add_flag(ctx, argv, &n, "memory-mode", mode);
    add_flag(ctx, argv, &n, "optimise", o->optimise);
    if (o->arena)
        add_flag(ctx, argv, &n, "arena-cache-size",
                 ti_text_format(&ctx->arena, "%" PRId64, o->arena));
    add_flag(ctx, argv, &n, "output-format", "raw");
    add_flag(ctx, argv, &n, "output-dir", "out");
    if (o->notes)
        argv[n++] = "--enable-debug-db";
    argv[n++] = "region.tosa";
    *tool = (tc_tool){
        .argv = argv, .folder = folder, .timeout = o->timeout > 0 ? o->timeout : TEN_MINUTES};
    return ti_file_write(ctx, ti_text_format(&ctx->arena, "%s/region.tosa", folder), tosa);
}

/* ---- what it wrote ---- */

typedef struct answer {
    tc_ctx *ctx;
    const char *file;
    tc_archive archive;
    bool broken;
    bool *refused; /* set where what it made is not what the region asks for */
} answer;

/* Whether a .npy header names this element type. */
static bool has_type(const uint8_t *header, size_t size, const char *type)
{
    size_t n = strlen(type);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(header + i, type, n) == 0)
            return true;
    return false;
}

/* The numbers of a member, behind its .npy header; empty when it is missing or makes no sense.
 * type: what the header must name, or NULL. */
static tc_bytes member(answer *a, const char *name, const char *type)
{
    tc_bytes all = {0};
    tc_member *m = ti_archive_find(&a->archive, ti_text_format(&a->ctx->arena, "%s.npy", name));
    if (!m || ti_archive_read(&a->archive, m, &all) != TC_OK || all.size < 10 ||
        memcmp(all.data, "\x93NUMPY\x01", 7)) {
        a->broken = true;
        return (tc_bytes){0};
    }
    size_t header = 10 + (size_t)(all.data[8] | all.data[9] << 8);
    bool empty = header == all.size; /* NumPy calls what has no numbers float64 */
    if (header > all.size || (type && !empty && !has_type(all.data + 10, header - 10, type))) {
        a->broken = true;
        return (tc_bytes){0};
    }
    return (tc_bytes){all.data + header, all.size - header};
}

static tc_bytes integers(answer *a, const char *name) { return member(a, name, "'<i8'"); }

static int64_t integer_at(tc_bytes b, size_t i)
{
    int64_t v = 0;
    if ((i + 1) * 8 <= b.size)
        memcpy(&v, b.data + i * 8, 8);
    return v;
}

static int64_t integer(answer *a, const char *name)
{
    tc_bytes b = integers(a, name);
    a->broken = a->broken || b.size < 8;
    return integer_at(b, 0);
}

/* The payload has 32 bits for each of its numbers. */
static bool fits_u32(int64_t v) { return v >= 0 && v <= (int64_t)UINT32_MAX; }

/* How many dimensions and bytes Vela counts for a tensor of the region's signature. */
static bool same_tensor(const tc_type *t, tc_bytes shape, tc_bytes element, size_t i)
{
    size_t count = 1;
    for (size_t k = 0; k < DIMS; k++) {
        int64_t extent = integer_at(shape, i * DIMS + k);
        if (!fits_u32(extent) || !ti_mul_size(count, (size_t)extent, &count))
            return false;
    }
    int64_t bytes = t->dtype == TC_i48 ? 8 : tc_dtypes[t->dtype].bytes;
    return count == (size_t)tc_type_count(t) && integer_at(element, i) == bytes;
}

static tc_status half_file(const answer *a)
{
    ti_error(a->ctx, NULL, TC_E_TOOL, "Vela wrote a file that is not complete");
    return TC_TOOL;
}

typedef struct side {
    const char *name; /* "input" */
    const tc_val *val;
    size_t n;
} side;

static tc_status mismatch(const answer *a, const tc_graph *g, const side *s, size_t found,
                          tc_bytes shape, tc_bytes element)
{
    *a->refused = true;
    ti_error(a->ctx, NULL, TC_E_TOOL,
             "Vela's %ss do not match the region '%s': %zu, expected %zu", s->name,
             g->name, found, s->n);
    for (size_t i = 0; i < s->n || i < found; i++) {
        const char *ours =
            i < s->n ? ti_type_text(&a->ctx->arena, ti_type_of(g, s->val[i])) : "nothing";
        const char *theirs =
            i < found ? ti_text_format(
                            &a->ctx->arena, "%s of %" PRId64 "-byte elements",
                            ti_dims_text(&a->ctx->arena, DIMS,
                                         (const int64_t *)(const void *)(shape.data) + i * DIMS),
                            integer_at(element, i))
                      : "nothing";
        if (i >= s->n || i >= found || !same_tensor(ti_type_of(g, s->val[i]), shape, element, i))
            ti_note(a->ctx, NULL, "%s %zu: the region has %s, Vela %s", s->name, i, ours, theirs);
    }
    return TC_TOOL;
}

/* The block that lists inputs or outputs: count, then six dimensions, element size, offset, region
 * each. */
static tc_status list_block(answer *a, const tc_graph *g, const side *s, tc_buf *out)
{
    const char *n = s->name;
    tc_arena *arena = &a->ctx->arena;
    tc_bytes shape = integers(a, ti_text_format(arena, "%s_shape", n)),
             element = integers(a, ti_text_format(arena, "%s_elem_size", n));
    tc_bytes offset = integers(a, ti_text_format(arena, "%s_offset", n)),
             place = integers(a, ti_text_format(arena, "%s_region", n));
    if (a->broken)
        return half_file(a);
    size_t found = element.size / 8;
    bool same = found == s->n && shape.size == found * DIMS * 8 && offset.size == element.size &&
                place.size == element.size;
    tc_bytes aligned = {ti_arena_copy(arena, shape.data, shape.size), shape.size};
    for (size_t i = 0; same && i < s->n; i++)
        same = same_tensor(ti_type_of(g, s->val[i]), aligned, element, i);
    if (!same)
        return mismatch(a, g, s, found * DIMS * 8 <= shape.size ? found : 0, aligned, element);
    for (size_t i = 0; i < s->n; i++)
        if (!fits_u32(integer_at(offset, i)) || !fits_u32(integer_at(place, i)))
            return half_file(a);
    ti_buf_u32(out, (uint32_t)s->n);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < DIMS; k++)
            ti_buf_u32(out, (uint32_t)integer_at(shape, i * DIMS + k));
        ti_buf_u32(out, (uint32_t)integer_at(element, i));
        ti_buf_u32(out, (uint32_t)integer_at(offset, i));
        ti_buf_u32(out, (uint32_t)integer_at(place, i));
    }
    return TC_OK;
}

static void add_block(tc_buf *out, const char *name, const void *data, size_t size)
{
    ti_buf_text(out, name);
    ti_buf_zeros(out, 16 - strlen(name));
    ti_buf_u32(out, (uint32_t)size);
    ti_buf_zeros(out, 12);
    ti_buf_put(out, data, size);
    ti_buf_align(out, 16);
}

static tc_status pack(answer *a, tc_ethosu_job *job)
{
    tc_arena *arena = &a->ctx->arena;
    tc_buf in, out, all;
    ti_buf_init(&in, arena);
    ti_buf_init(&out, arena);
    ti_buf_init(&all, arena);
    tc_bytes cmd = member(a, "cmd_data", NULL), weight = member(a, "weight_data", NULL);
    job->scratch = integer(a, "scratch_size");
    job->fast_scratch = integer(a, "scratch_fast_size");
    job->weights = (int64_t)weight.size;
    if (a->broken || cmd.size < 4 || memcmp(cmd.data, "COP", 3) != 0 ||
        !fits_u32(job->scratch) || !fits_u32(job->fast_scratch) || cmd.size > UINT32_MAX ||
        weight.size > UINT32_MAX)
        return half_file(a);
    TC_TRY(list_block(a, job->graph, &(side){"input", job->graph->in, job->graph->n_in}, &in));
    TC_TRY(list_block(a, job->graph, &(side){"output", job->graph->out, job->graph->n_out}, &out));
    uint8_t scratch[4];
    for (int i = 0; i < 4; i++)
        scratch[i] = (uint8_t)(job->scratch >> 8 * i);
    add_block(&all, "vela_bin_stream", NULL, 0);
    add_block(&all, "cmd_data", cmd.data, cmd.size);
    add_block(&all, "weight_data", weight.data, weight.size);
    add_block(&all, "scratch_size", scratch, sizeof scratch);
    add_block(&all, "inputs", in.data, in.size);
    add_block(&all, "outputs", out.data, out.size);
    add_block(&all, "vela_end_stream", NULL, 0);
    job->payload = (tc_bytes){all.data, all.size};
    return TC_OK;
}

/* ---- its estimate ---- */

/* The n-th field of a line of comma-separated values, as a number. */
static double field(const char *line, size_t n)
{
    while (n-- && (line = strchr(line, ',')) != NULL)
        line++;
    return line ? strtod(line, NULL) : 0;
}

static double column(const char *csv, const char *name)
{
    const char *row = strchr(csv, '\n');
    size_t n = 0, length = strlen(name);
    for (const char *at = csv; row && at < row; n++) {
        size_t size = strcspn(at, ",\r\n");
        if (size == length && memcmp(at, name, length) == 0)
            return field(row + 1, n);
        at += size + 1;
    }
    return 0;
}

static void read_summary(tc_ctx *ctx, const char *folder, tc_ethosu_job *job)
{
    const char **name;
    size_t n;
    if (ti_folder_list(ctx, folder, &name, &n) != TC_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        tc_bytes bytes;
        if (!strstr(name[i], "_summary_") ||
            ti_file_read(ctx, ti_text_format(&ctx->arena, "%s/%s", folder, name[i]), &bytes) !=
                TC_OK)
            continue;
        const char *csv = ti_text_copy(&ctx->arena, (tc_str){(const char *)bytes.data, bytes.size});
        job->cycles = column(csv, "cycles_total");
        job->macs = column(csv, "nn_macs");
        job->sram_kib = column(csv, "sram_memory_used");
        job->inferences_per_second = column(csv, "inferences_per_second");
    }
}

static tc_status collect(tc_ctx *ctx, const tc_tool *tool, const tc_ethosu_options *o,
                         tc_ethosu_job *job)
{
    const char *folder = ti_text_format(&ctx->arena, "%s/out", tool->folder);
    answer a = {.ctx = ctx,
                .file = ti_text_format(&ctx->arena, "%s/region_vela.npz", folder),
                .refused = &job->refused};
    if (access(a.file, R_OK) != 0) {
        ti_error(ctx, NULL, TC_E_TOOL, "'%s' ended without writing anything", tool->argv[0]);
        const char *log = ti_tool_log(ctx, tool);
        if (*log)
            ti_note(ctx, NULL, "it said: %s", log);
        return TC_TOOL;
    }
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, a.file, &bytes));
    if (ti_archive_open(ctx, &ctx->arena, "Vela's output", NULL, bytes, &a.archive) != TC_OK)
        return half_file(&a);
    TC_TRY(pack(&a, job));
    const char *notes = ti_text_format(&ctx->arena, "%s/region_debug.xml", folder);
    if (o->notes && access(notes, R_OK) == 0)
        TC_TRY(ti_file_read(ctx, notes, &job->notes));
    read_summary(ctx, folder, job);
    return TC_OK;
}

tc_status ti_emit_ethosu(tc_ctx *ctx, const tc_target *target, const tc_ethosu_options *o,
                         tc_ethosu_job *job, size_t n)
{
    tc_workshop shop;
    tc_tool *tool = tc_new_n(&ctx->arena, tc_tool, n + 1);
    TC_TRY(ti_workshop_open(ctx, &shop));
    tc_status status = TC_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = prepare(ctx, target, o, job[i].tosa,
                         ti_text_format(&ctx->arena, "%s/%zu", ti_workshop_path(&shop), i),
                         &tool[i]);
    if (!status && !o->version)
        status = ask_version(
            ctx, ti_text_format(&ctx->arena, "%s/version", ti_workshop_path(&shop)), o->timeout,
            &tool[n]);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!status)
        status = ti_tools_run(ctx, "runs of Vela", tool, n + !o->version,
                              ctx->threads > 0 ? (size_t)ctx->threads
                              : cores > 0      ? (size_t)cores
                                               : 1);
    for (size_t i = 0; i < n && !status; i++) {
        job[i].refused = tool[i].exit > 0 && tool[i].exit != 127 && !tool[i].timed_out;
        status =
            tool[i].exit == 0 ? collect(ctx, &tool[i], o, &job[i]) : vela_failed(ctx, &tool[i]);
    }
    const char *version = o->version;
    if (!version && !status && n)
        version = version_said(ctx, &tool[n]);
    if (!o->version)
        judge_version(ctx, version);
    for (size_t i = 0; i < n; i++)
        job[i].version = version;
    ti_workshop_close(&shop);
    return status;
}

tc_status ti_vela_works(tc_ctx *ctx, const tc_target *target, const tc_ethosu_options *o,
                        const tc_ethosu_job *sum)
{
    tc_ethosu_job job = *sum;
    tc_trial trial;
    ti_trial_begin(ctx, &trial);
    tc_status status = ti_emit_ethosu(ctx, target, o, &job, 1);
    ti_trial_end(ctx, &trial);
    if (status == TC_OK)
        return TC_OK;
    ti_error(ctx, NULL, TC_E_TOOL, "'%s' refuses even the addition of two tensors for '%s': %s",
             ti_vela_program(), target->text, trial.why ? trial.why : "it gives no reason");
    ti_note(ctx, NULL,
            "the model is not the cause: check --vela-ini, --system-config, --memory-mode and "
            "--optimise; 'tosac doctor' tries the installation");
    return status;
}

tc_status ti_vela_version(tc_ctx *ctx, const char **out)
{
    tc_workshop shop;
    tc_tool tool;
    *out = NULL;
    TC_TRY(ti_workshop_open(ctx, &shop));
    tc_status status = ask_version(
        ctx, ti_text_format(&ctx->arena, "%s/version", ti_workshop_path(&shop)), MINUTE, &tool);
    status = status ? status : ti_tools_run(ctx, "asking Vela", &tool, 1, 1);
    if (status == TC_OK)
        *out = version_said(ctx, &tool);
    ti_workshop_close(&shop);
    return status;
}
