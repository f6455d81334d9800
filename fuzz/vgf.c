/* SPDX-License-Identifier: Apache-2.0 */
/* vgf.c -- any bytes as a VGF file: read, judged, written, read back and, where it is one,
 * disassembled.
 *
 * A file that keeps every rule can be written; what was written keeps them too and is written to
 * the same bytes from the second time on (the first one drops what reaches no output). */
#include "answer.h"

#include "emit/emit.h"
#include "read/read.h"
#include "target/target.h"
#include "target/vgf_schema.h"
#include "wire/spirv.h"
#include "wire/vgf.h"

static void disassemble(tc_ctx *ctx, tc_bytes bytes)
{
    tc_vgf vgf;
    if (!answered(ctx, ti_vgf_read(ctx, "fuzz.vgf", bytes, &vgf)))
        return;
    for (size_t i = 0; i < vgf.n_module; i++) {
        tc_spv_reader words;
        tc_spv_instr instr;
        const tc_spv_names names = {ti_spv_glsl_set(vgf.module[i].code), ti_vgf_spelled};
        ti_spv_read(&words, vgf.module[i].code);
        while (ti_spv_next(&words, &instr)) {
            tc_mark mark = ti_arena_mark(&ctx->scratch);
            tc_buf line;
            ti_buf_init(&line, &ctx->scratch);
            ti_spv_print(&instr, &names, &line);
            ti_arena_rewind(&ctx->scratch, mark);
        }
    }
}

/* Shaders in other languages than SPIR-V, and some bindings, are read and cannot be written. */
static bool has_shaders(const tc_module *module)
{
    for (size_t i = 0; i < ti_main(module)->n_node; i++)
        if (ti_main(module)->node[i]->op == TC_OP_tosa_shader)
            return true;
    return false;
}

static tc_bytes rewritten(tc_ctx *ctx, const tc_module *module, tc_module **again)
{
    tc_bytes bytes = {NULL, 0};
    must(ti_emit_vgf(ctx, module, &bytes) == TC_OK);
    must(ti_read_vgf(ctx, "written.vgf", bytes, again) == TC_OK &&
         ti_verify_tosa(ctx, *again, NULL) == TC_OK);
    return bytes;
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL, *again = NULL, *third = NULL;
    disassemble(ctx, bytes);
    if (!answered(ctx, ti_read_vgf(ctx, "fuzz.vgf", bytes, &module)) ||
        !answered(ctx, ti_verify_tosa(ctx, module, NULL)))
        return;
    tc_bytes written;
    if (has_shaders(module) && !answered(ctx, ti_emit_vgf(ctx, module, &written)))
        return;
    rewritten(ctx, module, &again);
    tc_bytes second = rewritten(ctx, again, &third), last = rewritten(ctx, third, &again);
    must(second.size == last.size && memcmp(second.data, last.data, last.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)256 << 20);
    return 0;
}
