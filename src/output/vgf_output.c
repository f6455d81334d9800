/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_output.c -- see vgf_output.h. */
#include "vgf_output.h"

#include "../lower/shaders.h"
#include "../proof/proof.h"
#include "../wire/vgf.h"
#include "file_ports.h"
#include "../drive/image_check.h"
#include "../drive/program_file.h"
#include "../drive/road.h"

static size_t count_refused(tc_ctx *ctx, const tc_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        n += ti_shader_refuses(ctx, g, g->node[i]) != NULL;
    return n;
}

static void name_refused(tc_ctx *ctx, const tc_graph *g)
{
    enum { MOST = 8 };
    int said = 0;
    for (size_t i = 0; i < g->n_node && said < MOST; i++) {
        const char *no = ti_shader_refuses(ctx, g, g->node[i]);
        if (!no)
            continue;
        const char *name = g->node[i]->loc ? g->node[i]->loc->node : NULL;
        ti_note(ctx, g->node[i]->loc, "'%s' (%s): %s", name ? name : tc_ops[g->node[i]->op].name,
                tc_ops[g->node[i]->op].name, no);
        said++;
    }
}

static tc_status one_region(tc_ctx *ctx, const tc_compiled *c, tc_bytes *out)
{
    const tc_compiled *wide;
    TC_TRY(ti_with_all_ports(ctx, c, &wide));
    return ti_emit_vgf(ctx, wide->region[0].module, out);
}

/* For a target that has no shaders. */
static tc_status not_one(tc_ctx *ctx, const tc_compiled *c)
{
    tc_status status =
        ti_error(ctx, &(tc_loc){.file = c->module->file}, TC_E_STRUCTURE,
                 "the program has %zu regions, but a .vgf file holds one", c->n_region);
    ti_note(ctx, NULL, "a .pte holds them all, with the CPU's part between them; the target 'vgf' "
                       "has shaders for it");
    return status;
}

static tc_status refuse(tc_ctx *ctx, const tc_compiled *c, size_t n, tc_bytes *out)
{
    const tc_graph *g = ti_main(c->module);
    const tc_loc here = {.file = c->module->file};
    if (c->n_region == 1 && !c->request.n_image) {
        ti_warning(ctx, &here, TC_E_NO_EFFECT,
                   "the file holds the region alone: %zu operator%s outside of it %s no shader", n,
                   n == 1 ? "" : "s", n == 1 ? "has" : "have");
        name_refused(ctx, g);
        return one_region(ctx, c, out);
    }
    tc_status status =
        ti_error(ctx, &here, TC_E_STRUCTURE,
                 "the program has %zu regions, and %zu operator%s outside of them %s no shader",
                 c->n_region, n, n == 1 ? "" : "s", n == 1 ? "has" : "have");
    name_refused(ctx, g);
    ti_note(ctx, NULL, "a .pte holds them all, with the CPU's part between them");
    return status;
}

/* Regions and shaders; with `check`, the program before and after on its samples. */
static tc_status shade(tc_ctx *ctx, const tc_compiled *c, tc_tensor *const *given, tc_module *program)
{
    tc_job job = {.target = &c->target, .samplers = c->request.shaders == TC_SHADERS_SAMPLERS};
    if (!c->request.check || !c->given.n)
        return ti_road_run(ctx, program, TC_AT_SHADED, TC_AT_SHADERS, &job, NULL);
    tc_checker checker;
    tc_trace trace = {ti_check_pass, &checker};
    ti_check_begin_with(&checker, ctx, given,
                        c->given.n < TC_CHECK_SAMPLES ? c->given.n : TC_CHECK_SAMPLES);
    tc_status status = ti_check_pass(&checker, program, NULL);
    if (status == TC_OK)
        status = ti_road_run(ctx, program, TC_AT_SHADED, TC_AT_SHADERS, &job, &trace);
    ti_check_end(&checker);
    return status;
}

/* ---- images ---------------------------------------------------------------------------------- */

/* The program, its ports as images, and the result compared with the program before on a few
 * samples. */
static tc_status with_images(tc_ctx *ctx, tc_compiled *c, bool shaded, tc_bytes *out)
{
    tc_image_port *port = c->request.image;
    size_t n = c->request.n_image, refused = shaded ? count_refused(ctx, ti_main(c->module)) : 0;
    tc_tensor *given[TC_CHECK_SAMPLES] = {NULL};
    if (refused)
        return refuse(ctx, c, refused, out);
    tc_module *program = ti_module_clone(c->module);
    TC_TRY(ti_lower_use_images(ctx, program, port, n));
    size_t samples = c->given.n < TC_CHECK_SAMPLES ? c->given.n : TC_CHECK_SAMPLES;
    for (size_t k = 0; k < samples; k++)
        given[k] = ti_images_sample(ctx, ti_main(c->module), ti_main(program), port, n, c->given.sample[k]);
    if (!c->given.invented)
        ti_images_fit(ctx, ti_main(c->module), port, n, c->given.sample, samples);
    if (shaded)
        TC_TRY(shade(ctx, c, given, program));
    c->written.shaders = ti_work_outside(ti_main(program));
    TC_TRY(ti_emit_vgf(ctx, program, out));
    for (size_t k = 0; k < samples; k++)
        TC_TRY(ti_images_check(ctx, c->module, program, port, n, given[k]));
    return ti_prove(ctx, c, c->module);
}

tc_status ti_vgf_make(tc_ctx *ctx, tc_compiled *c, tc_bytes *out)
{
    bool whole = c->n_region == 1 && c->region[0].module == c->module; /* a TOSA program */
    if (c->request.n_image)
        return with_images(ctx, c, !whole, out);
    if (whole || (c->n_region == 1 && !ti_work_outside(ti_main(c->module))))
        return one_region(ctx, c, out);
    if (c->target.machine->packing != TC_PACKED_VGF || c->request.shaders == TC_SHADERS_NONE)
        return c->n_region == 1 ? one_region(ctx, c, out) : not_one(ctx, c);
    size_t refused = count_refused(ctx, ti_main(c->module));
    if (refused)
        return refuse(ctx, c, refused, out);
    tc_module *program = ti_module_copy(c->module);
    TC_TRY(shade(ctx, c, c->given.sample, program));
    c->written.shaders = ti_work_outside(ti_main(program));
    TC_TRY(ti_emit_vgf(ctx, program, out));
    return ti_prove(ctx, c, program);
}

/* ---- one delegate ---------------------------------------------------------------------------- */

/* Nothing but one region. */
static bool is_alone(const tc_compiled *c)
{
    const tc_graph *g = ti_main(c->module);
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op != TC_OP_const && g->node[i]->op != TC_OP_call)
            return c->n_region && c->region[0].module == c->module; /* a TOSA program */
    return c->n_region == 1;
}

/* The package of 1.4.1 was built without the aliases and samplers of newer VGF libraries: an image
 * is then not the tensor that a shader wrote. */
static tc_status no_samplers(tc_ctx *ctx, const tc_compiled *c)
{
    tc_status status = ti_unsupported(
        ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
        "samplers are for a .vgf: the VgfBackend in ExecuTorch 1.4.1's package gives images and "
        "tensors of one alias group separate memory, and 1.5.1's package has no VgfBackend");
    ti_note(ctx, NULL, "--shaders resample reads tensors, and 1.4.1 runs it");
    return status;
}

void ti_vgf_warn_of_images(tc_ctx *ctx, const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_attr_tosa_shader *a = g->node[i]->op == TC_OP_tosa_shader ? g->node[i]->attr : NULL;
        for (int k = 0; a && k < a->descriptor.n; k++) {
            if (a->descriptor.v[k] == TC_VGF_TENSOR)
                continue;
            ti_warning(ctx, g->node[i]->loc, TC_E_NO_EFFECT,
                       "a shader sees a tensor as an image or a buffer, which the VgfBackend in "
                       "ExecuTorch 1.4.1's package gives memory of its own: it computes other numbers");
            return;
        }
    }
}

static tc_status stays(tc_ctx *ctx, const tc_compiled *c, size_t n)
{
    static const char text[] = "%zu operator%s outside of the regions %s no shader: what no region "
                               "takes stays with the CPU";
    const tc_loc here = {.file = c->module->file};
    const char *plural = n == 1 ? "" : "s", *have = n == 1 ? "has" : "have";
    tc_status status = TC_OK;
    if (c->request.strict)
        status = ti_error(ctx, &here, TC_E_STRUCTURE, text, n, plural, have);
    else
        ti_warning(ctx, &here, TC_E_NO_EFFECT, text, n, plural, have);
    name_refused(ctx, ti_main(c->module));
    return status;
}

static tc_status keeps_state(tc_ctx *ctx, const tc_compiled *c)
{
    static const char text[] = "the program changes buffers, which a VGF file cannot hold: what no "
                               "region takes stays with the CPU";
    const tc_loc here = {.file = c->module->file};
    if (c->request.strict)
        return ti_error(ctx, &here, TC_E_STRUCTURE, text);
    ti_warning(ctx, &here, TC_E_NO_EFFECT, text);
    return TC_OK;
}

tc_status ti_vgf_delegate(tc_ctx *ctx, const tc_compiled *c, tc_compiled **out)
{
    *out = NULL;
    if (c->target.machine->packing == TC_PACKED_VGF && c->request.shaders == TC_SHADERS_SAMPLERS)
        return no_samplers(ctx, c);
    bool asked = c->request.shaders == TC_SHADERS_ALL || c->request.shaders == TC_SHADERS_RESAMPLE;
    if (c->target.machine->packing != TC_PACKED_VGF || !asked || is_alone(c))
        return TC_OK;
    if (ti_main(c->module)->n_mutation)
        return keeps_state(ctx, c);
    size_t refused = count_refused(ctx, ti_main(c->module));
    if (refused)
        return stays(ctx, c, refused);
    tc_module *program = ti_module_copy(c->module);
    TC_TRY(shade(ctx, c, c->given.sample, program));
    *out = ti_arena_copy(&ctx->arena, c, sizeof *c);
    tc_region *region = (*out)->region = tc_new(&ctx->arena, tc_region);
    (*out)->n_region = 1;
    (*out)->module = ti_program_calling(ctx, program, ti_intern_text(ctx, c->target.name));
    *region = (tc_region){.module = program, .name = ti_main(program)->name};
    (*out)->payload = tc_new(&ctx->arena, tc_payload);
    *(*out)->payload = ti_program_tosa_payload(ctx, c, region);
    (*out)->payload->backend = c->target.machine->backend;
    return ti_emit_vgf(ctx, program, &(*out)->payload->bytes);
}
