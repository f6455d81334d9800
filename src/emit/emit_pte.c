/* SPDX-License-Identifier: Apache-2.0 */
/* emit_pte.c -- a program for ExecuTorch's runtime, as a file. */
#include "emit_pte.h"

/* ---- segments -------------------------------------------------------------------------------- */

typedef struct segment {
    const tc_pte_data *data; /* tensors; or */
    tc_bytes bytes;          /* unchanged */
    bool piece;              /* of another segment, which has the bytes */
    uint64_t offset, size;
} segment;

typedef struct segments {
    segment *v;
    size_t n, cap;
    uint64_t end;
} segments;

/* An equal earlier payload is reused. */
static uint32_t add_segment(tc_pte_emitter *e, segments *s, segment one)
{
    for (size_t i = 0; one.bytes.size && i < s->n; i++)
        if (s->v[i].bytes.size == one.size &&
            memcmp(s->v[i].bytes.data, one.bytes.data, (size_t)one.size) == 0)
            return (uint32_t)i;
    tc_grow(&e->ctx->arena, s->v, s->n, s->cap);
    if (one.size)
        s->end = (s->end + TC_PTE_SEGMENT_ALIGN - 1) / TC_PTE_SEGMENT_ALIGN * TC_PTE_SEGMENT_ALIGN;
    one.offset = s->end;
    s->end += one.size;
    s->v[s->n] = one;
    return (uint32_t)s->n++;
}

static uint32_t add_tensors(tc_pte_emitter *e, segments *s, const tc_pte_data *d)
{
    return add_segment(e, s, (segment){.data = d, .size = d->bytes});
}

static uint32_t add_bytes(tc_pte_emitter *e, segments *s, tc_bytes bytes)
{
    return add_segment(e, s, (segment){.bytes = bytes, .size = bytes.size});
}

/* A segment inside of another one: both are read on their own. */
static uint32_t add_payload(tc_pte_emitter *e, segments *s, const tc_payload *p)
{
    if (!p->within.size)
        return add_bytes(e, s, p->bytes);
    uint32_t whole = add_bytes(e, s, p->within);
    if (p->bytes.size == p->within.size)
        return whole;
    tc_grow(&e->ctx->arena, s->v, s->n, s->cap);
    s->v[s->n] = (segment){.piece = true,
                           .offset = s->v[whole].offset + (uint64_t)(p->bytes.data - p->within.data),
                           .size = p->bytes.size};
    return (uint32_t)s->n++;
}

static tc_fb_ref put_segments(tc_pte_emitter *e, const segments *s)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, s->n);
    for (size_t i = 0; i < s->n; i++) {
        ti_fb_begin(&e->file->w);
        ti_fb_set_u64(&e->file->w, PTE_SEGMENT_OFFSET, s->v[i].offset, 0);
        ti_fb_set_u64(&e->file->w, PTE_SEGMENT_SIZE, s->v[i].size, 0);
        ref[i] = ti_fb_end(&e->file->w);
    }
    return ti_fb_put_refs(&e->file->w, ref, s->n);
}

/* Offset of each tensor; index 0 is unused. */
static tc_fb_ref put_offsets(tc_pte_emitter *e, uint32_t index, const tc_pte_data *d)
{
    uint64_t *offset = tc_new_n(&e->ctx->arena, uint64_t, d->n + 1);
    for (size_t i = 0; i < d->n; i++)
        offset[i + 1] = d->offset[i];
    tc_fb_ref list = ti_fb_put_u64s(&e->file->w, offset, d->n + 1);
    ti_fb_begin(&e->file->w);
    ti_fb_set_u32(&e->file->w, PTE_SUBSEGMENT_INDEX, index, 0);
    ti_fb_set_ref(&e->file->w, PTE_SUBSEGMENT_OFFSETS, list);
    return ti_fb_end(&e->file->w);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* An entry of the signature that is not a tensor, from its text. */
static int64_t plain_value(tc_pte_emitter *e, const char *text)
{
    tc_cpu_value v = {.kind = TC_CPU_TEXT, .text = text};
    if (ti_text_eq(text, "None"))
        v.kind = TC_CPU_NULL;
    else if (ti_text_eq(text, "True") || ti_text_eq(text, "False")) {
        v.kind = TC_CPU_BOOL;
        v.i = text[0] == 'T';
    } else if (ti_text_to_i64(ti_str_of(text), &v.i))
        v.kind = TC_CPU_INT;
    else if (ti_text_to_f64(ti_str_of(text), &v.r))
        v.kind = TC_CPU_REAL;
    return ti_pte_add_value(e, &v);
}

/* Inputs or outputs as the signature has them, or as the graph has. */
static tc_fb_ref put_ports(tc_pte_emitter *e, const tc_port *port, size_t n_port, const tc_val *val,
                           size_t n_val)
{
    size_t n = n_port ? n_port : n_val;
    int64_t *at = tc_new_n(&e->ctx->arena, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        tc_val v = n_port ? port[i].val : val[i];
        at[i] = v ? ti_pte_tensor(e, v) : plain_value(e, port[i].text ? port[i].text : "None");
    }
    return ti_fb_put_i32s(&e->file->w, at, n);
}

static tc_fb_ref put_specs(tc_pte_emitter *e, const tc_payload *p)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, p->n_spec);
    for (size_t i = 0; i < p->n_spec; i++) {
        tc_fb_ref key = ti_fb_put_string(&e->file->w, ti_str_of(p->spec[i].key));
        tc_bytes bytes = p->spec[i].value;
        tc_fb_ref value = ti_fb_put_bytes(&e->file->w, bytes.data, bytes.size, 1);
        ti_fb_begin(&e->file->w);
        ti_fb_set_ref(&e->file->w, PTE_SPEC_KEY, key);
        ti_fb_set_ref(&e->file->w, PTE_SPEC_VALUE, value);
        ref[i] = ti_fb_end(&e->file->w);
    }
    return ti_fb_put_refs(&e->file->w, ref, p->n_spec);
}

static tc_fb_ref put_delegates(tc_pte_emitter *e, segments *s)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, e->n_payload);
    for (size_t i = 0; i < e->n_payload; i++) {
        const tc_payload *p = &e->payload[i];
        uint32_t index = add_payload(e, s, p);
        tc_fb_ref id = ti_fb_put_string(&e->file->w, ti_str_of(p->backend));
        tc_fb_ref specs = put_specs(e, p);
        ti_fb_begin(&e->file->w);
        ti_fb_set_u32(&e->file->w, PTE_DATA_INDEX, index, 0);
        ti_fb_set_u8(&e->file->w, PTE_DATA_LOCATION, 1, 0);
        tc_fb_ref data = ti_fb_end(&e->file->w);
        ti_fb_begin(&e->file->w);
        ti_fb_set_ref(&e->file->w, PTE_DELEGATE_ID, id);
        ti_fb_set_ref(&e->file->w, PTE_DELEGATE_DATA, data);
        ti_fb_set_ref(&e->file->w, PTE_DELEGATE_SPECS, specs);
        ref[i] = ti_fb_end(&e->file->w);
    }
    return ti_fb_put_refs(&e->file->w, ref, e->n_payload);
}

static tc_fb_ref put_chain(tc_pte_emitter *e)
{
    tc_fb_ref steps = ti_fb_put_refs(&e->file->w, e->step, e->n_step);
    tc_fb_ref none = ti_fb_put_i32s(&e->file->w, NULL, 0);
    tc_fb_ref places = e->method->places ? ti_pte_places(e) : none;
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_CHAIN_INPUTS, none);
    ti_fb_set_ref(&e->file->w, PTE_CHAIN_OUTPUTS, none);
    ti_fb_set_ref(&e->file->w, PTE_CHAIN_INSTRUCTIONS, steps);
    if (e->method->places)
        ti_fb_set_ref(&e->file->w, PTE_CHAIN_STACKTRACE, places);
    tc_fb_ref chain = ti_fb_end(&e->file->w);
    return ti_fb_put_refs(&e->file->w, &chain, 1);
}

static tc_fb_ref put_container(tc_pte_emitter *e)
{
    const tc_module *m = e->module;
    tc_fb_ref in = ti_fb_put_string(&e->file->w, ti_str_of(m->signature.in_tree ? m->signature.in_tree : ""));
    tc_fb_ref out = ti_fb_put_string(&e->file->w, ti_str_of(m->signature.out_tree ? m->signature.out_tree : ""));
    ti_fb_begin(&e->file->w);
    ti_fb_set_ref(&e->file->w, PTE_CONTAINER_IN, in);
    ti_fb_set_ref(&e->file->w, PTE_CONTAINER_OUT, out);
    return ti_fb_end(&e->file->w);
}

/* Inputs, instructions and outputs: now all tensors are known. */
static tc_status put_body(tc_pte_emitter *e)
{
    const tc_module *m = e->module;
    const tc_graph *g = e->scope->g;
    e->inputs = put_ports(e, m->signature.in, m->signature.n_in, g->in, g->n_in);
    TC_TRY(ti_pte_steps(e));
    e->outputs = put_ports(e, m->signature.out, m->signature.n_out, g->out, g->n_out);
    return TC_OK;
}

static tc_fb_ref put_plan(tc_pte_emitter *e, segments *s)
{
    tc_fb_writer *w = &e->file->w;
    tc_fb_ref delegates = put_delegates(e, s), chains = put_chain(e), container = put_container(e);
    tc_fb_ref values = ti_fb_put_refs(w, e->value, e->n_value),
              ops = ti_fb_put_refs(w, e->op, e->n_op);
    uint64_t block[] = {0, e->scope->memory->bytes, e->scope->memory->state_bytes};
    tc_fb_ref arenas = ti_fb_put_u64s(w, block, e->scope->memory->in_state ? 3 : 2);
    tc_fb_ref name = ti_fb_put_string(w, ti_str_of(e->method->name));
    ti_fb_begin(w);
    ti_fb_set_ref(w, PTE_PLAN_NAME, name);
    ti_fb_set_ref(w, PTE_PLAN_CONTAINER, container);
    ti_fb_set_ref(w, PTE_PLAN_VALUES, values);
    ti_fb_set_ref(w, PTE_PLAN_INPUTS, e->inputs);
    ti_fb_set_ref(w, PTE_PLAN_OUTPUTS, e->outputs);
    ti_fb_set_ref(w, PTE_PLAN_CHAINS, chains);
    ti_fb_set_ref(w, PTE_PLAN_OPERATORS, ops);
    ti_fb_set_ref(w, PTE_PLAN_DELEGATES, delegates);
    ti_fb_set_ref(w, PTE_PLAN_ARENAS, arenas);
    return ti_fb_end(w);
}

/* ---- the file -------------------------------------------------------------------------------- */

static tc_fb_ref put_name(tc_pte_emitter *e, segments *s, const char *name, tc_bytes bytes)
{
    tc_fb_writer *w = &e->file->w;
    uint32_t index = add_bytes(e, s, bytes);
    tc_fb_ref key = ti_fb_put_string(w, ti_str_of(name));
    ti_fb_begin(w);
    ti_fb_set_ref(w, PTE_NAMED_KEY, key);
    ti_fb_set_u32(w, PTE_NAMED_SEGMENT, index, 0);
    return ti_fb_end(w);
}

static tc_fb_ref put_named(tc_pte_emitter *method, size_t n_method, segments *s)
{
    tc_arena *arena = &method->ctx->arena;
    const char *whose = method->method->cortexm;
    tc_fb_ref *ref = NULL;
    size_t n = 0, cap = 0, at = 0;
    for (size_t m = 0; m < n_method; m++)
        for (size_t i = 0; i < method[m].n_payload; i++, at++) {
            const struct {
                const char *key;
                tc_bytes bytes;
            } kept[] = {{"tosac.tosa", method[m].payload[i].tosa},
                        {"tosac.lines", method[m].payload[i].lines}};
            for (size_t k = 0; k < TC_COUNT(kept); k++) {
                if (!kept[k].bytes.size)
                    continue;
                tc_grow(arena, ref, n, cap);
                ref[n++] = put_name(&method[m], s, ti_text_format(arena, "%s.%zu", kept[k].key, at),
                                    kept[k].bytes);
            }
        }
    const struct {
        const char *key, *text;
    } said[] = {{TC_CM_NAMED, whose}, {TC_PTE_MADE_BY, method[n_method - 1].method->made_by}};
    for (size_t k = 0; k < TC_COUNT(said); k++) {
        if (!said[k].text)
            continue;
        tc_grow(arena, ref, n, cap);
        ref[n++] = put_name(method, s, said[k].key, (tc_bytes){(const uint8_t *)said[k].text, strlen(said[k].text)});
    }
    return n ? ti_fb_put_refs(&method->file->w, ref, n) : 0;
}

static tc_status put_program(tc_pte_emitter *method, size_t n, segments *s, tc_fb_ref *root)
{
    tc_pte_emitter *e = method;
    tc_fb_writer *w = &e->file->w;
    bool tensors = false;
    tc_fb_ref *plan = tc_new_n(&e->ctx->arena, tc_fb_ref, n);
    for (size_t i = 0; i < n; i++) {
        TC_TRY(put_body(&method[i]));
        tensors = tensors || method[i].scope->g->n_val > 1;
    }
    if (e->file->constants.n || tensors)
        add_tensors(e, s, &e->file->constants);
    if (e->file->buffers.n)
        add_tensors(e, s, &e->file->buffers);
    for (size_t i = 0; i < n; i++)
        plan[i] = put_plan(&method[i], s);
    tc_fb_ref plans = ti_fb_put_refs(w, plan, n);
    tc_fb_ref named = put_named(method, n, s), list = put_segments(e, s), buffers = 0;
    tc_fb_ref constants = put_offsets(e, 0, &e->file->constants);
    if (e->file->buffers.n) {
        tc_fb_ref one = put_offsets(e, 1, &e->file->buffers);
        buffers = ti_fb_put_refs(w, &one, 1);
    }
    tc_fb_ref none = ti_fb_put_refs(w, NULL, 0);
    ti_fb_begin(w);
    ti_fb_set_ref(w, PTE_PROGRAM_PLANS, plans);
    ti_fb_set_ref(w, PTE_PROGRAM_CONSTANT_BUFFER, none);
    ti_fb_set_ref(w, PTE_PROGRAM_DELEGATE_DATA, none);
    ti_fb_set_ref(w, PTE_PROGRAM_SEGMENTS, list);
    ti_fb_set_ref(w, PTE_PROGRAM_CONSTANTS, constants);
    ti_fb_set_ref(w, PTE_PROGRAM_MUTABLE, buffers);
    ti_fb_set_ref(w, PTE_PROGRAM_NAMED, named);
    *root = ti_fb_end(w);
    return TC_OK;
}

static void put_segment(tc_buf *out, uint64_t base, const segment *s)
{
    if (!s->size || s->piece)
        return;
    ti_buf_zeros(out, (size_t)(base + s->offset - out->size));
    if (!s->data)
        ti_buf_put(out, s->bytes.data, s->bytes.size);
    for (size_t i = 0; s->data && i < s->data->n; i++) {
        ti_buf_zeros(out, (size_t)(base + s->offset + s->data->offset[i] - out->size));
        ti_buf_put(out, s->data->data[i], (size_t)s->data->size[i]);
    }
}

/* The header is between the identifier and the body, so what follows moves by its length. */
static tc_bytes join(tc_ctx *ctx, tc_bytes body, const segments *s)
{
    tc_buf out;
    uint64_t program = body.size + TC_PTE_HEADER_BYTES;
    uint64_t base =
        (program + TC_PTE_SEGMENT_ALIGN - 1) / TC_PTE_SEGMENT_ALIGN * TC_PTE_SEGMENT_ALIGN;
    if (!s->end)
        return body;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_u32(&out, ti_le32(body.data) + TC_PTE_HEADER_BYTES);
    ti_buf_put(&out, body.data + 4, 4);
    ti_buf_text(&out, TC_PTE_HEADER);
    ti_buf_u32(&out, TC_PTE_HEADER_BYTES);
    ti_buf_u64(&out, program);
    ti_buf_u64(&out, base);
    ti_buf_u64(&out, s->end);
    ti_buf_put(&out, body.data + 8, body.size - 8);
    for (size_t i = 0; i < s->n; i++)
        put_segment(&out, base, &s->v[i]);
    return (tc_bytes){out.data, out.size};
}

static tc_pte_emitter emitter_of(tc_ctx *ctx, const tc_emit_method *method, tc_pte_parts *file)
{
    tc_pte_emitter e = {.ctx = ctx,
                        .method = method,
                        .module = method->module,
                        .payload = method->payload,
                        .n_payload = method->n_payload,
                        .file = file};
    e.scope = ti_pte_scope_new(&e, ti_main(method->module), method->memory);
    ti_map_init(&e.shared, &ctx->arena);
    ti_map_init(&e.ops, &ctx->arena);
    return e;
}

tc_status ti_emit_methods(tc_ctx *ctx, const tc_emit_method *method, size_t n, tc_bytes *out)
{
    tc_pte_parts file = {0};
    segments s = {0};
    tc_fb_ref root;
    tc_pte_emitter *e = tc_new_n(&ctx->arena, tc_pte_emitter, n);
    ti_map_init(&file.constants.seen, &ctx->arena);
    ti_map_init(&file.buffers.seen, &ctx->arena);
    ti_map_init(&file.state, &ctx->arena);
    ti_fb_write(&file.w, &ctx->arena, 4096);
    for (size_t i = 0; i < n; i++) {
        e[i] = emitter_of(ctx, &method[i], &file);
        TC_TRY(ti_pte_check_types(&e[i]));
    }
    TC_TRY(put_program(e, n, &s, &root));
    ti_fb_put_bytes(&file.w, NULL, 0, TC_PTE_DATA_ALIGN); /* loaded at a multiple of 16 */
    tc_bytes body = ti_fb_finish(&file.w, root, TC_PTE_IDENTIFIER);
    if (!body.data)
        return ti_error(ctx, NULL, TC_E_TOO_LARGE,
                        "the program is larger than 2 GiB, the most that a flatbuffer can hold");
    *out = join(ctx, body, &s);
    return TC_OK;
}
