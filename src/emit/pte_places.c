/* SPDX-License-Identifier: Apache-2.0 */
/* pte_places.c -- where each step comes from, as ExecuTorch's stack traces have it: a list of
 * frames for every instruction, each the file, the line, the module and the node.  A delegate's
 * call has a frame for every line that its region was made of. */
#include "emit_pte.h"

/* "model.py:41" is the file and the line; without a line all of it is the file. */
static tc_str split_place(const char *place, int64_t *line)
{
    const char *colon = place ? strrchr(place, ':') : NULL;
    *line = 0;
    if (!colon || !ti_text_to_i64(ti_str_of(colon + 1), line) || *line < 0 || *line > INT32_MAX) {
        *line = 0;
        return ti_str_of(place ? place : "");
    }
    return (tc_str){place, (size_t)(colon - place)};
}

static tc_fb_ref put_frame(tc_pte_emitter *e, const tc_loc *loc)
{
    int64_t line;
    tc_str file = split_place(loc->place, &line);
    const char *target = loc->target ? loc->target : "";
    tc_fb_ref file_ref = ti_fb_put_string(&e->file->w, file);
    tc_fb_ref module = ti_fb_put_string(&e->file->w, ti_str_of(loc->module ? loc->module : ""));
    tc_fb_ref node = ti_fb_put_string(
        &e->file->w, ti_str_of(ti_text_format(&e->ctx->arena, "%s%s%s", loc->node ? loc->node : "",
                                        loc->node && *target ? " = " : "", target)));
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_FRAME_FILE, file_ref);
    ti_fb_set_u32(&e->file->w, PTE_FRAME_LINE, (uint32_t)line, 0);
    ti_fb_set_ref(&e->file->w, PTE_FRAME_NAME, module);
    ti_fb_set_ref(&e->file->w, PTE_FRAME_CONTEXT, node);
    return ti_fb_end(&e->file->w);
}

/* The nodes of a region, each of the model's once; of anything else the node itself, where there is
 * one. */
static tc_fb_ref put_frames(tc_pte_emitter *e, const tc_node *node)
{
    static const tc_loc nowhere = {0};
    const tc_graph *body =
        node && node->op == TC_OP_call ? ti_node_callee(e->module, node, 0) : NULL;
    tc_fb_ref *frame = tc_new_n(&e->ctx->arena, tc_fb_ref, (body ? body->n_node : 0) + 1);
    size_t n = 0;
    tc_map seen;
    ti_map_init(&seen, &e->ctx->arena);
    for (size_t k = 0; body && k < body->n_node; k++) {
        const tc_loc *loc = body->node[k]->loc;
        void **slot = body->node[k]->op != TC_OP_const && loc->node
                          ? ti_map_at(&seen, ti_str_of(loc->node))
                          : NULL;
        if (!slot || *slot)
            continue;
        *slot = (void *)(uintptr_t)loc;
        frame[n++] = put_frame(e, loc);
    }
    if (!n)
        frame[n++] = put_frame(e, node ? node->loc : &nowhere);
    tc_fb_ref items = ti_fb_put_refs(&e->file->w, frame, n);
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_FRAMES_ITEMS, items);
    return ti_fb_end(&e->file->w);
}

tc_fb_ref ti_pte_places(tc_pte_emitter *e)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, e->n_step + 1);
    for (size_t i = 0; i < e->n_step; i++)
        ref[i] = put_frames(e, e->from[i]);
    return ti_fb_put_refs(&e->file->w, ref, e->n_step);
}
