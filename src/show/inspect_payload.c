/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_payload.c -- what the payload of an EthosUBackend holds, or Vela's raw form of it: what
 * --emit stream writes. */
#include "inspect.h"

#include <unistd.h>

#include "../npu/npu_op.h"
#include "../npu/program.h"
#include "../base/json_out.h"
#include "../wire/file.h"
#include "../wire/json.h"

static size_t count_operations(const tc_npu_program *p)
{
    tc_npu_walk walk;
    tc_npu_op op;
    size_t n = 0;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op))
        n += ti_npu_is_kernel(op.kind) || op.kind == TC_NPU_KIND_DMA;
    return n;
}

static const char *shape_of(tc_ctx *ctx, const tc_npu_tensor *t)
{
    int first = 0;
    while (first < TC_NPU_DIMS - 1 && t->dim[first] == 1)
        first++;
    return ti_text_format(&ctx->arena, "%" PRId64 "-bit%s", 8 * t->element_bytes,
                          ti_dims_text(&ctx->arena, TC_NPU_DIMS - first, t->dim + first));
}

static void json_side(tc_ctx *ctx, tc_json_out *out, const char *name, const tc_npu_tensor *t,
                      size_t n)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        tc_json_object(out, NULL, TC_J("shape", shape_of(ctx, &t[i])), TC_J("region", t[i].region),
                       TC_J("offset", t[i].offset), TC_J("bytes", t[i].bytes));
    ti_json_close(out, ']');
}

static void text_side(tc_ctx *ctx, tc_buf *to, const char *name, const tc_npu_tensor *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ti_buf_printf(to, "  %s %zu: %s, %" PRId64 " bytes at %" PRId64 " of region %d\n", name, i,
                      shape_of(ctx, &t[i]), t[i].bytes, t[i].offset, t[i].region);
}

/* What the file that was written with it says; NULL: there is none, or another one. */
static const char *made_by(tc_ctx *ctx, const char *path)
{
    const char *beside = ti_text_format(&ctx->arena, "%s.json", path);
    tc_bytes bytes;
    const char *reason;
    size_t at;
    if (access(beside, R_OK) != 0 || ti_file_read(ctx, beside, &bytes) != TC_OK)
        return NULL;
    const tc_json *json = ti_json_parse(&ctx->arena, bytes, &reason, &at);
    if (!ti_json_is(json, TC_JSON_OBJECT))
        return NULL;
    tc_str text = ti_json_text(&ctx->arena, ti_json_get(json, "made_by"));
    return text.n ? ti_text_copy(&ctx->arena, text) : NULL;
}

tc_status ti_inspect_payload(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json, tc_buf *to)
{
    tc_npu_program p;
    bool raw = ti_npu_looks_like_npz(bytes);
    TC_TRY(raw ? ti_npu_read_npz(ctx, path, bytes, &p)
               : ti_npu_read_backend(ctx, &(tc_loc){.file = path}, bytes, &p));
    const char *what = raw ? "Vela's raw output" : "Ethos-U payload";
    const char *made = made_by(ctx, path);
    size_t operations = count_operations(&p), n_in = p.n_in - p.n_state,
           n_out = p.n_out - p.n_state;
    if (!json) {
        ti_buf_printf(
            to,
            "%s: %s for %s, %zu bytes: %zu operations in %zu bytes of commands, %zu of "
            "weights, %" PRId64 " of scratch\n",
            path, what, p.machine->name, bytes.size, operations, p.driver.size, p.weights.size,
            p.scratch);
        if (made)
            ti_buf_printf(to, "made by      %s\n", made);
        text_side(ctx, to, "input", p.in, n_in);
        text_side(ctx, to, "output", p.out, n_out);
        text_side(ctx, to, "state", p.in + n_in, p.n_state);
        return TC_OK;
    }
    tc_json_out out = {.to = to};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("file", path), TC_J("format", what),
                TC_J("bytes", bytes.size), TC_J_IF("made_by", made), TC_J("machine", p.machine->name),
                TC_J("operations", operations), TC_J("commands", p.driver.size),
                TC_J("weights", p.weights.size), TC_J("scratch", p.scratch));
    json_side(ctx, &out, "inputs", p.in, n_in);
    json_side(ctx, &out, "outputs", p.out, n_out);
    if (p.n_state)
        json_side(ctx, &out, "state", p.in + n_in, p.n_state);
    ti_json_close(&out, '}');
    return TC_OK;
}
