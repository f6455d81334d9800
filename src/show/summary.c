/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c -- what was compiled, for people and for programs. */
#include "../lower/shaders.h"
#include "../drive/many_sizes.h"
#include "../drive/driver.h"
#include "../base/json_out.h"
#include "../board/board_fit.h"
#include "../proof/proof.h"
#include "../read/pte_needs.h"
#include "../target/cortexm_call.h"

#include <math.h>
#include <stdio.h>

tc_region_border ti_border_of(const tc_region *region)
{
    tc_region_border b = {0};
    const tc_graph *body = ti_main(region->module);
    for (size_t i = 0; i < body->n_in; i++)
        b.bytes_in += (int64_t)tc_type_bytes(ti_type_of(body, body->in[i]));
    for (size_t i = 0; i < body->n_out; i++)
        b.bytes_out += (int64_t)tc_type_bytes(ti_type_of(body, body->out[i]));
    for (size_t k = 0; k < body->n_node; k++) {
        b.n_tosa += body->node[k]->op != TC_OP_const;
        b.n_transpose += body->node[k]->op == TC_OP_tosa_transpose;
    }
    return b;
}

static const char *place_of(const tc_node *node)
{
    return node->loc->place ? node->loc->place : "";
}

static const char *name_of(const tc_node *node)
{
    return node->loc->node ? node->loc->node : tc_ops[node->op].name;
}

/* Products in float of a program that has block-scaled ones. */
static void put_blocks(const tc_compiled *c, tc_buf *out)
{
    const tc_block_report *r = &c->blocks;
    if (r->n_block + r->n_left)
        ti_buf_printf(out, "block scaled: %zu of %zu products\n", r->n_block, r->n_block + r->n_left);
    for (size_t i = 0; i < r->n_left; i++) {
        const tc_block_left *l = &r->left[i];
        const char *name = l->loc && l->loc->node ? l->loc->node : tc_ops[l->op].name,
                   *place = l->loc && l->loc->place ? l->loc->place : "";
        ti_buf_printf(out, "  %-28s %-16s %s%s%s\n", name, tc_ops[l->op].name, place,
                      *place ? ": " : "", l->why);
    }
}

/* What a .vgf makes of it, where the target takes one. */
static const char *shaders_of(const tc_compiled *c)
{
    tc_ctx *ctx = c->module->ctx;
    size_t n = 0;
    const tc_graph *g = ti_main(c->module);
    if (c->target.machine->packing != TC_PACKED_VGF)
        return "";
    for (size_t i = 0; i < g->n_node; i++)
        n += ti_shader_refuses(ctx, g, g->node[i]) != NULL;
    return n ? ti_text_format(&ctx->arena, "; in a .vgf shaders, but for %zu that %s none", n,
                              n == 1 ? "has" : "have")
             : "; in a .vgf, and in a .pte by --shaders all, shaders";
}

/* What is done with a layer that is a Fourier transform. */
static const char *fourier_text(const tc_compiled *c, const tc_fourier *f)
{
    tc_arena *arena = &c->module->ctx->arena;
    return f->real && ti_is_for_core(c) ? ti_text_format(arena, "FFT in C, %.0f times fewer operations", f->fewer)
           : f->real             ? "product in float: only C for a Cortex-M has an FFT"
           : ti_is_for_core(c) ? ti_text_format(arena,
                                         "product in integers; with transform=float FFT in C, %.0f times fewer operations",
                                         f->fewer)
                        : "product in integers";
}

static void put_fouriers(const tc_compiled *c, tc_buf *out)
{
    for (size_t i = 0; i < c->quant.fouriers.n; i++) {
        const tc_fourier *f = &c->quant.fouriers.item[i];
        ti_buf_printf(out, "%s  %-28s DFT of %" PRId64 " points: %s\n", i ? "" : "Fourier transforms:\n", f->node,
                      f->points, fourier_text(c, f));
    }
}

void ti_fouriers_json(const tc_compiled *c, tc_json_out *out)
{
    if (!c->quant.fouriers.n)
        return;
    ti_json_open(out, "fourier_transforms", '[');
    for (size_t i = 0; i < c->quant.fouriers.n; i++) {
        const tc_fourier *f = &c->quant.fouriers.item[i];
        tc_json_object(out, NULL, TC_J("node", f->node), TC_J("points", f->points), TC_J("fewer", f->fewer),
                       TC_J("how", fourier_text(c, f)));
    }
    ti_json_close(out, ']');
}

void ti_report_text(const tc_compiled *c, tc_buf *out)
{
    size_t nodes = 0;
    for (size_t i = 0; i < c->split.n_region; i++)
        nodes += c->split.nodes[i];
    ti_buf_printf(out, "%s: %zu of %zu operators in %zu region%s\n", c->target.text, nodes,
                  nodes + c->split.n_left, c->n_region, c->n_region == 1 ? "" : "s");
    for (size_t i = 0; i < c->split.n_region; i++) {
        tc_region_border b = ti_border_of(&c->region[i]);
        char times[40] = "";
        if (c->region[i].times > 1)
            snprintf(times, sizeof times, ", %" PRId64 " times", c->region[i].times);
        ti_buf_printf(out,
                      "  %-12s %4zu operators, %4zu of TOSA, %zu transpose%s, %" PRId64
                      " bytes in, %" PRId64 " bytes out%s%s\n",
                      c->region[i].name, c->split.nodes[i], b.n_tosa, b.n_transpose,
                      b.n_transpose == 1 ? "" : "s", b.bytes_in, b.bytes_out,
                      c->region[i].own && !c->region[i].own->refused ? ", own back end" : "",
                      times);
    }
    put_blocks(c, out);
    put_fouriers(c, out);
    if (c->split.n_left)
        ti_buf_printf(out, "on the CPU: %zu%s\n", c->split.n_left, shaders_of(c));
    for (size_t i = 0; i < c->split.n_left; i++) {
        const tc_split_left *l = &c->split.left[i];
        ti_buf_printf(out, "  %-28s %-16s %s%s%s\n", name_of(l->node), tc_ops[l->node->op].name,
                      place_of(l->node), *place_of(l->node) ? ": " : "", l->why);
    }
}

static void put_types(tc_json_out *out, const char *name, tc_ctx *ctx, const tc_graph *g,
                      const tc_val *v, size_t n)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        ti_json_put_text(out, NULL, ti_type_text(&ctx->arena, ti_type_of(g, v[i])));
    ti_json_close(out, ']');
}

static void put_stream(tc_json_out *out, const tc_ethosu_job *job)
{
    ti_json_open(out, "stream", '{');
    tc_json_put(out, TC_J("cycles", job->cycles), TC_J("cycles_low", rint(job->cycles_low)),
                TC_J("cycles_high", rint(job->cycles_high)), TC_J("macs", job->macs),
                TC_J("sram_kib", job->sram_kib),
                TC_J("inferences_per_second", job->inferences_per_second),
                TC_J("scratch", job->scratch), TC_J("fast_scratch", job->fast_scratch),
                TC_J("weights", job->weights), TC_J("payload", job->payload.size));
    ti_json_close(out, '}');
}

/* A .pte for a Cortex-M. */
static bool has_kernels(const tc_compiled *c)
{
    return c->target.machine->packing == TC_PACKED_C && c->written.planned;
}

/* Which kernel computes each layer, with a library. */
static void put_layers_json(tc_json_out *out, const tc_written *w)
{
    ti_json_open(out, "library", '{');
    ti_json_put_text(out, "name", w->library);
    ti_json_open(out, "layers", '[');
    for (size_t i = 0; i < w->n_layer; i++) {
        const tc_c_layer *l = &w->layer[i];
        if (l->function)
            tc_json_object(out, NULL, TC_J("node", l->name), TC_J("function", l->function));
        else
            tc_json_object(out, NULL, TC_J("node", l->name), TC_J("operator", l->op),
                           TC_J("why", l->why));
    }
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

static void put_blocks_json(tc_json_out *out, const tc_block_report *r)
{
    ti_json_open(out, "block_scaled", '{');
    ti_json_put_int(out, "products", (int64_t)r->n_block);
    ti_json_open(out, "float", '[');
    for (size_t i = 0; i < r->n_left; i++) {
        const tc_loc *loc = r->left[i].loc;
        tc_json_object(out, NULL, TC_J_IF("node", loc ? loc->node : NULL),
                       TC_J("operator", tc_ops[r->left[i].op].name), TC_J("why", r->left[i].why));
    }
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

/* An Ethos-U's own fast memory: the most of all regions. */
static size_t fast_scratch(const tc_compiled *c)
{
    int64_t most = 0;
    for (size_t i = 0; c->jobs && i < c->n_region; i++)
        most = c->jobs[i].fast_scratch > most ? c->jobs[i].fast_scratch : most;
    return (size_t)most;
}

/* The name of a port that is an image. */
static const char *image_name(const tc_compiled *c, const tc_image_port *p)
{
    return ti_text_copy(&c->module->ctx->arena, (tc_str){p->text, strcspn(p->text, "=")});
}

static void put_images_json(tc_json_out *out, const tc_compiled *c)
{
    ti_json_open(out, "images", '[');
    for (size_t i = 0; i < c->request.n_image; i++) {
        const tc_image_port *p = &c->request.image[i];
        if (p->how)
            tc_json_object(out, NULL, TC_J("port", image_name(c, p)), TC_J("output", p->out),
                           TC_J("format", p->format->name), TC_J("how", p->how));
    }
    ti_json_close(out, ']');
}

void ti_report_json(tc_ctx *ctx, const tc_compiled *c, bool written, tc_buf *to)
{
    const tc_written *w = written ? &c->written : NULL;
    tc_json_out out = {.to = to};
    ti_json_open(&out, NULL, '{');
    if (w && c->fit)
        ti_fit_json(c->fit, &out);
    ti_json_put_text(&out, "target", c->target.text);
    if (w)
        tc_json_put(&out, TC_J("file", w->path), TC_J("bytes", w->bytes));
    if (w && w->code)
        tc_json_object(&out, "flash", TC_J("constants", w->bytes - w->code), TC_J("code", w->code));
    if (w && w->memory)
        ti_json_put_int(&out, "memory", (int64_t)w->memory);
    if (w && w->vectors)
        ti_json_put_int(&out, "vectors", (int64_t)w->vectors);
    if (w && has_kernels(c)) {
        size_t own, other;
        ti_cm_count(w->planned, &own, &other);
        tc_json_object(&out, "kernels", TC_J("executorch", TC_CM_RELEASE), TC_J("cortex_m", own),
                       TC_J("other", other));
    }
    if (w && w->library)
        put_layers_json(&out, w);
    if (w && w->needs)
        ti_pte_needs_json(w->needs, fast_scratch(c), &out);
    if (w && c->request.n_image)
        put_images_json(&out, c);
    if (c->blocks.n_block + c->blocks.n_left)
        put_blocks_json(&out, &c->blocks);
    ti_fouriers_json(c, &out);
    ti_json_open(&out, "regions", '[');
    for (size_t i = 0; i < c->split.n_region; i++) {
        tc_region_border b = ti_border_of(&c->region[i]);
        const tc_graph *g = ti_main(c->region[i].module);
        ti_json_open(&out, NULL, '{');
        tc_json_put(&out, TC_J("name", c->region[i].name), TC_J("operators", c->split.nodes[i]),
                    TC_J("tosa_operators", b.n_tosa), TC_J("transposes", b.n_transpose),
                    TC_J("bytes_in", b.bytes_in), TC_J("bytes_out", b.bytes_out),
                    TC_J_IF("times", (size_t)(c->region[i].times > 1 ? c->region[i].times : 0)));
        put_types(&out, "inputs", ctx, g, g->in, g->n_in);
        put_types(&out, "outputs", ctx, g, g->out, g->n_out);
        if (w && c->jobs)
            put_stream(&out, &c->jobs[i]);
        ti_json_close(&out, '}');
    }
    ti_json_close(&out, ']');
    ti_json_open(&out, "cpu", '[');
    for (size_t i = 0; i < c->split.n_left; i++) {
        const tc_split_left *l = &c->split.left[i];
        tc_json_object(&out, NULL, TC_J("node", name_of(l->node)),
                       TC_J("operator", tc_ops[l->node->op].name), TC_J("place", place_of(l->node)),
                       TC_J("why", l->why));
    }
    ti_json_close(&out, ']');
    if (w)
        ti_proof_json(&c->proof, &out);
    ti_json_close(&out, '}');
}

/* "; 621861 cycles, 270 KiB of SRAM (592.8 to 650.9 k cycles)": of all regions. */
static void put_costs(const tc_compiled *c, tc_buf *out)
{
    double cycles = 0, low = 0, high = 0, sram = 0;
    for (size_t i = 0; i < c->n_region; i++) {
        cycles += c->jobs[i].cycles;
        low += c->jobs[i].cycles_low;
        high += c->jobs[i].cycles_high;
        sram = c->jobs[i].sram_kib > sram ? c->jobs[i].sram_kib : sram;
    }
    ti_buf_printf(out, "; %.0f cycles, %.0f KiB of SRAM (%s cycles)", cycles, sram,
                  ti_npu_band_text(&c->module->ctx->arena, low, high));
}

/* "; 26 calls of cortex_m:: (ExecuTorch 1.4), 10 of other kernels" */
static void put_kernels(const tc_compiled *c, tc_buf *out)
{
    size_t own, other;
    ti_cm_count(c->written.planned, &own, &other);
    ti_buf_printf(out, "; %zu calls of cortex_m:: (ExecuTorch " TC_CM_RELEASE "), %zu of other kernels",
                  own, other);
}

/* "; 12 calls of CMSIS-NN 7.0.0, 1 layer by our own kernels" */
static void put_library(const tc_written *w, tc_buf *out)
{
    size_t calls = 0;
    for (size_t i = 0; i < w->n_layer; i++)
        calls += w->layer[i].function != NULL;
    ti_buf_printf(out, "; %zu calls of %s, %zu layer%s by our own kernels", calls, w->library,
                  w->n_layer - calls, w->n_layer - calls == 1 ? "" : "s");
}

/* A line for each of those. */
static void put_own_layers(const tc_written *w, tc_buf *out)
{
    for (size_t i = 0; i < w->n_layer; i++)
        if (!w->layer[i].function)
            ti_buf_printf(out, "  %s %s by our own kernel: %s\n", w->layer[i].op, w->layer[i].name,
                          w->layer[i].why);
}

static void put_images(const tc_compiled *c, tc_buf *out)
{
    for (size_t i = 0; i < c->request.n_image; i++) {
        const tc_image_port *p = &c->request.image[i];
        if (p->how)
            ti_buf_printf(out, "  %s '%s': %s\n", p->out ? "output" : "input", image_name(c, p), p->how);
    }
}

/* ", for seq = 2 to 64, tried at 8 sizes" */
static void put_sizes(const tc_many_sizes *many, tc_buf *out)
{
    for (size_t i = 0; i < many->n_size; i++) {
        const tc_open_size *s = &many->size[i];
        ti_buf_printf(out, "%s %s = %" PRId64, i ? " and" : ", for", s->word, s->lo);
        if (s->hi > INT32_MAX)
            ti_buf_printf(out, " or more");
        else
            ti_buf_printf(out, " to %" PRId64, s->hi);
    }
    ti_buf_printf(out, ", tried at %zu size%s", many->n_tried, many->n_tried == 1 ? "" : "s");
}

/* C for a Cortex-M. */
static bool is_core_source(const tc_compiled *c)
{
    return c->target.machine->packing == TC_PACKED_C && c->written.name;
}

/* "; FFT of 256 points, 24 times fewer operations than the product" */
static void put_transforms(const tc_written *w, tc_buf *out)
{
    double quick = 0, matrix = 0;
    for (size_t i = 0; i < w->n_transform; i++) {
        const tc_c_transformed *t = &w->transform[i];
        bool known = false;
        quick += t->quick;
        matrix += t->matrix;
        for (size_t k = 0; k < i; k++)
            known = known || w->transform[k].points == t->points;
        if (!known)
            ti_buf_printf(out, "%s%" PRId64 " points", i ? ", " : "; FFT of ", t->points);
    }
    if (w->n_transform)
        ti_buf_printf(out, ", %.0f times fewer operations than the product", matrix / quick);
}

/* ", 12 operators on cortex-m55 (3 in float), 2 left to the caller": conversions at the ends are
 * not part of the program. */
static void put_core(const tc_compiled *c, size_t nodes, tc_buf *out)
{
    ti_buf_printf(out, ", %zu operators on %s", nodes + (c->core.region ? 0 : c->written.outside),
                  c->target.name);
    if (c->core.region)
        ti_buf_printf(out, ", %zu on %s", c->core.nodes + c->written.outside, c->target.core->name);
    if (c->written.floats)
        ti_buf_printf(out, " (%zu in float)", c->written.floats);
    ti_buf_printf(out, ", %zu left to the caller", ti_left_outside(c));
    put_transforms(&c->written, out);
}

void ti_report_line(const tc_compiled *c, tc_buf *out)
{
    const tc_written *w = &c->written;
    size_t nodes = 0;
    if (c->fit)
        ti_fit_text(c->fit, out);
    for (size_t i = 0; i < c->split.n_region; i++)
        nodes += c->split.nodes[i];
    ti_buf_printf(out, "%s: %zu region%s", w->path ? w->path : "compiled", c->n_region,
                  c->n_region == 1 ? "" : "s");
    if (c->target.machine->packing == TC_PACKED_NOT)
        ti_buf_printf(out, ", %zu operators on the CPU", c->split.n_left);
    else if (c->core.region || is_core_source(c))
        put_core(c, nodes, out);
    else if (c->split.n_region || c->split.n_left) {
        ti_buf_printf(out, ", %zu operators on %s, ", nodes, c->target.text);
        ti_buf_printf(out, w->shaders || w->whole ? "%zu in shaders" : "%zu on the CPU",
                      c->split.n_left);
    }
    if (w->code)
        ti_buf_printf(out, ", %zu bytes of flash (%zu of constants, about %zu of code)", w->bytes,
                      w->bytes - w->code, w->code);
    else if (w->bytes)
        ti_buf_printf(out, ", %zu bytes", w->bytes);
    if (c->work.many)
        put_sizes(c->work.many, out);
    if (w->vectors)
        ti_buf_printf(out, " with %zu test vector%s", w->vectors, w->vectors == 1 ? "" : "s");
    if (w->memory)
        ti_buf_printf(out, ", %zu bytes of memory", w->memory);
    if (c->jobs && c->n_region)
        put_costs(c, out);
    if (has_kernels(c))
        put_kernels(c, out);
    if (w->library)
        put_library(w, out);
    ti_proof_line(&c->proof, out);
    ti_buf_printf(out, "\n");
    if (w->needs && w->path && !ti_text_ends(w->path, ".c"))
        ti_pte_needs_line(w->needs, out);
    put_own_layers(w, out);
    put_images(c, out);
}
