/* SPDX-License-Identifier: Apache-2.0 */
/* pte_file.c -- the tables of an ExecuTorch program, with every number checked before it is used.
 */
#include "read_pte.h"

#include "../npu/program.h"
#include "../num/half.h"

static tc_status broken_at(tc_pte_file *f, size_t at, const char *what)
{
    tc_loc loc = {.file = f->name, .place = ti_text_format(&f->ctx->arena, "byte %zu", at)};
    return ti_error(f->ctx, &loc, TC_E_FORMAT, "%s", what);
}

static tc_status sound(tc_pte_file *f)
{
    return f->fb.error ? broken_at(f, f->fb.error_at, f->fb.error) : TC_OK;
}

static const char *text_of(tc_pte_file *f, tc_str text) { return ti_intern(f->ctx, text); }

static tc_ints i32s(tc_pte_file *f, tc_fb_table t, uint32_t field)
{
    tc_fb_vector list = ti_fb_list(t, field, 4);
    int64_t *v = tc_new_n(&f->ctx->arena, int64_t, list.n);
    for (size_t i = 0; i < list.n; i++)
        v[i] = ti_fb_list_i32(list, i);
    return (tc_ints){(int32_t)list.n, v};
}

static tc_ints i64s(tc_pte_file *f, tc_fb_table t, uint32_t field)
{
    tc_fb_vector list = ti_fb_list(t, field, 8);
    int64_t *v = tc_new_n(&f->ctx->arena, int64_t, list.n);
    for (size_t i = 0; i < list.n; i++)
        v[i] = (int64_t)ti_fb_list_u64(list, i);
    return (tc_ints){(int32_t)list.n, v};
}

/* ---- segments -------------------------------------------------------------------------------- */

static tc_status read_header(tc_pte_file *f, tc_bytes *program)
{
    const uint8_t *h = f->bytes.data + TC_PTE_HEADER_AT;
    *program = f->bytes;
    if (f->bytes.size < TC_PTE_HEADER_AT + TC_PTE_HEADER_BYTES || memcmp(h, TC_PTE_HEADER, 4) != 0)
        return TC_OK;
    uint64_t size = ti_le64(h + 8), base = ti_le64(h + 16);
    if (ti_le32(h + 4) < 24 || size > f->bytes.size || base > f->bytes.size)
        return broken_at(f, TC_PTE_HEADER_AT, "the header names more bytes than the file has");
    program->size = (size_t)size;
    f->base = base;
    return TC_OK;
}

static tc_status read_segments(tc_pte_file *f, tc_fb_table root)
{
    tc_fb_vector list = ti_fb_list(root, PTE_PROGRAM_SEGMENTS, 4);
    f->segment = ti_arena_array(&f->ctx->arena, list.n, sizeof *f->segment, 8);
    f->n_segment = list.n;
    uint64_t room = f->base ? f->bytes.size - f->base : 0;
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        f->segment[i].offset = ti_fb_u64(t, PTE_SEGMENT_OFFSET, 0);
        f->segment[i].size = ti_fb_u64(t, PTE_SEGMENT_SIZE, 0);
        TC_TRY(sound(f));
        if (f->segment[i].size &&
            (f->segment[i].offset > room || f->segment[i].size > room - f->segment[i].offset))
            return broken_at(f, t.at, "a segment lies outside the file");
    }
    return TC_OK;
}

tc_bytes ti_pte_segment(const tc_pte_file *f, uint32_t index)
{
    if (index >= f->n_segment || !f->segment[index].size)
        return (tc_bytes){NULL, 0};
    return (tc_bytes){f->bytes.data + f->base + f->segment[index].offset,
                      (size_t)f->segment[index].size};
}

static uint64_t *read_offsets(tc_pte_file *f, tc_fb_table t, uint32_t *segment, size_t *n)
{
    tc_ints list = i64s(f, t, PTE_SUBSEGMENT_OFFSETS);
    *segment = ti_fb_u32(t, PTE_SUBSEGMENT_INDEX, 0);
    *n = (size_t)list.n;
    return (uint64_t *)(uintptr_t)list.v;
}

static tc_status read_named(tc_pte_file *f, tc_fb_table root)
{
    tc_fb_vector list = ti_fb_list(root, PTE_PROGRAM_NAMED, 4);
    f->named = ti_arena_array(&f->ctx->arena, list.n, sizeof *f->named, 8);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        f->named[i].key = text_of(f, ti_fb_string(t, PTE_NAMED_KEY));
        f->named[i].segment = ti_fb_u32(t, PTE_NAMED_SEGMENT, 0);
    }
    f->n_named = list.n;
    return sound(f);
}

tc_status ti_pte_numbers(tc_pte_file *f, const tc_pte_value *tensor, const void **out)
{
    bool buffer = tensor->placed;
    size_t n = buffer ? f->n_buffer : f->n_constant, need = tc_type_bytes(tensor->stored);
    tc_bytes all = ti_pte_segment(f, buffer ? f->buffer_segment : f->constant_segment);
    const uint64_t *offset = buffer ? f->buffer : f->constant;
    tc_loc loc = {.file = f->name};
    if (tensor->external)
        return ti_unsupported(f->ctx, &loc, TC_E_UNSUPPORTED,
                              "a tensor's numbers are in another file");
    if (tensor->data >= n || offset[tensor->data] > all.size ||
        need > all.size - offset[tensor->data])
        return ti_error(f->ctx, &loc, TC_E_TRUNCATED,
                        "the numbers of constant %" PRIu32 " (%zu bytes) are not all in the file",
                        tensor->data, need);
    const uint8_t *at = all.data ? all.data + offset[tensor->data] : NULL;
    bool aligned = (uintptr_t)at % tc_dtypes[tensor->stored->dtype].bytes == 0;
    *out =
        need && aligned ? at : ti_arena_copy(&f->ctx->arena, at ? at : (const uint8_t *)"", need);
    return TC_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The type, if supported: with its axes in memory order, and in logical order if that is the
 * same. */
static void set_types(tc_pte_file *f, tc_pte_value *v, tc_fb_table t)
{
    tc_dtype dtype = ti_dtype_from_et(v->dtype);
    tc_bytes order = ti_fb_bytes(t, PTE_TENSOR_ORDER);
    int64_t dim[TC_MAX_RANK];
    uint32_t seen = 0;
    bool in_order = true;
    if (!dtype || order.size != (size_t)v->dim.n || v->dim.n > TC_MAX_RANK ||
        ti_dims_count(v->dim.n, v->dim.v) < 0)
        return;
    for (int32_t i = 0, last = -1; i < v->dim.n; i++) {
        int32_t axis = order.data[i];
        if (axis >= v->dim.n || (seen & 1u << axis))
            return;
        seen |= 1u << axis;
        dim[i] = v->dim.v[axis];
        if (dim[i] == 1) /* the position of an axis of extent 1 does not matter */
            continue;
        in_order = in_order && axis > last;
        last = axis;
    }
    v->stored = ti_type_make(f->ctx, dtype, v->dim.n, dim);
    v->type = in_order ? ti_type_make(f->ctx, dtype, v->dim.n, v->dim.v) : NULL;
}

static void read_tensor(tc_pte_file *f, tc_fb_table t, tc_pte_value *v)
{
    v->dtype = (int8_t)ti_fb_u8(t, PTE_TENSOR_DTYPE, 0);
    v->dim = i32s(f, t, PTE_TENSOR_SIZES);
    set_types(f, v, t);
    v->dynamic = ti_fb_u8(t, PTE_TENSOR_DYNAMISM, 0) != 0;
    v->data = ti_fb_u32(t, PTE_TENSOR_DATA, 0);
    tc_fb_table place = ti_fb_child(t, PTE_TENSOR_PLACE), extra = ti_fb_child(t, PTE_TENSOR_EXTRA);
    v->placed = place.at != 0;
    tc_str name = ti_fb_string(extra, PTE_EXTRA_NAME);
    v->name = name.n ? text_of(f, name) : NULL;
    v->external = ti_fb_u8(extra, PTE_EXTRA_LOCATION, 0) != 0;
    v->memory = ti_fb_u32(place, PTE_PLACE_MEMORY, 0);
    v->offset = ti_fb_u32(place, PTE_PLACE_LOW, 0) | (uint64_t)ti_fb_u32(place, PTE_PLACE_HIGH, 0)
                                                         << 32;
}

static tc_floats reals(tc_pte_file *f, tc_fb_table t)
{
    tc_ints bits = i64s(f, t, PTE_SCALAR);
    double *v = tc_new_n(&f->ctx->arena, double, (size_t)bits.n);
    for (int32_t i = 0; i < bits.n; i++)
        v[i] = ti_f64_of((uint64_t)bits.v[i]);
    return (tc_floats){bits.n, v};
}

/* Lists of integers hold values; what those are is filled in when all of them are there. */
static void read_value(tc_pte_file *f, tc_fb_table t, tc_pte_value *v)
{
    tc_fb_table in = ti_fb_child(t, PTE_UNION_VALUE);
    *v = (tc_pte_value){.tag = ti_fb_u8(t, PTE_UNION_TYPE, 0), .plain = {.kind = TC_CPU_OTHER}};
    switch (v->tag) {
    case PTE_NULL:
        v->plain.kind = TC_CPU_NULL;
        break;
    case PTE_INT:
        v->plain = (tc_cpu_value){.kind = TC_CPU_INT, .i = ti_fb_i64(in, PTE_SCALAR, 0)};
        break;
    case PTE_BOOL:
        v->plain = (tc_cpu_value){.kind = TC_CPU_BOOL, .i = ti_fb_u8(in, PTE_SCALAR, 0) != 0};
        break;
    case PTE_DOUBLE:
        v->plain =
            (tc_cpu_value){.kind = TC_CPU_REAL, .r = ti_f64_of(ti_fb_u64(in, PTE_SCALAR, 0))};
        break;
    case PTE_STRING:
        v->plain =
            (tc_cpu_value){.kind = TC_CPU_TEXT, .text = text_of(f, ti_fb_string(in, PTE_SCALAR))};
        break;
    case PTE_DOUBLE_LIST:
        v->plain = (tc_cpu_value){.kind = TC_CPU_REALS, .reals = reals(f, in)};
        break;
    case PTE_INT_LIST:
        v->item = i64s(f, in, PTE_SCALAR);
        break;
    case PTE_TENSOR_LIST:
    case PTE_OPTIONAL_TENSOR_LIST:
        v->item = i32s(f, in, PTE_SCALAR);
        break;
    case PTE_TENSOR:
        read_tensor(f, in, v);
        break;
    default:
        break;
    }
}

/* Value indices within the list, and for a list of integers the integers. */
static tc_status settle_lists(tc_pte_file *f, tc_pte_method *m, size_t at)
{
    for (size_t k = 0; k < m->n_value; k++) {
        tc_pte_value *v = &m->value[k];
        int64_t *whole =
            v->tag == PTE_INT_LIST ? tc_new_n(&f->ctx->arena, int64_t, (size_t)v->item.n) : NULL;
        for (int32_t i = 0; i < v->item.n; i++) {
            int64_t item = v->item.v[i];
            bool none = item == -1 && v->tag == PTE_OPTIONAL_TENSOR_LIST;
            if (!none && (item < 0 || (uint64_t)item >= m->n_value))
                return broken_at(f, at, "a list has a value that does not exist");
            if (!none && m->value[item].tag != (whole ? PTE_INT : PTE_TENSOR))
                return broken_at(f, at, "a list names a value of another kind");
            if (whole)
                whole[i] = m->value[item].plain.i;
        }
        if (whole)
            v->plain = (tc_cpu_value){.kind = TC_CPU_INTS, .ints = {v->item.n, whole}};
    }
    return TC_OK;
}

static tc_status read_values(tc_pte_file *f, tc_fb_table plan, tc_pte_method *m)
{
    tc_fb_vector list = ti_fb_list(plan, PTE_PLAN_VALUES, 4);
    m->value = tc_new_n(&f->ctx->arena, tc_pte_value, list.n);
    m->n_value = list.n;
    for (size_t i = 0; i < list.n; i++)
        read_value(f, ti_fb_list_table(list, i), &m->value[i]);
    TC_TRY(sound(f));
    return settle_lists(f, m, list.at);
}

/* ---- methods --------------------------------------------------------------------------------- */

static tc_status known_values(tc_pte_file *f, const tc_pte_method *m, tc_ints list, size_t at)
{
    for (int32_t i = 0; i < list.n; i++)
        if (list.v[i] < 0 || (uint64_t)list.v[i] >= m->n_value)
            return broken_at(f, at, "a value does not exist");
    return TC_OK;
}

/* A compile spec's text, or NULL. */
static const char *spec_of(tc_pte_file *f, tc_fb_table delegate, const char *key)
{
    tc_fb_vector list = ti_fb_list(delegate, PTE_DELEGATE_SPECS, 4);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        if (!ti_str_is(ti_fb_string(t, PTE_SPEC_KEY), key))
            continue;
        tc_bytes b = ti_fb_bytes(t, PTE_SPEC_VALUE);
        return text_of(f, (tc_str){(const char *)b.data, b.size});
    }
    return NULL;
}

/* Named data; no bytes: there is none. */
static tc_bytes data_of(tc_pte_file *f, tc_str name)
{
    for (size_t k = 0; k < f->n_named; k++)
        if (ti_str_is(name, f->named[k].key))
            return ti_pte_segment(f, f->named[k].segment);
    return (tc_bytes){NULL, 0};
}

/* The same by the name KEY.N. */
static tc_bytes named_data(tc_pte_file *f, const char *key, size_t n)
{
    return data_of(f, ti_str_of(ti_text_format(&f->ctx->arena, "%s.%zu", key, n)));
}

/* Weights that a payload has elsewhere in the file are put into it, for all who look at it. */
static void put_weights_in(tc_pte_file *f, tc_pte_delegate *d)
{
    tc_str key = ti_npu_backend_key(d->payload);
    tc_bytes weights = key.n ? data_of(f, key) : (tc_bytes){NULL, 0};
    if (!weights.size)
        return;
    d->named = weights.size;
    d->payload = ti_npu_backend_whole(&f->ctx->arena, d->payload, weights);
}

/* Payloads that end in the same bytes. */
static void find_common(tc_pte_file *f)
{
    tc_map by_end;
    ti_map_init(&by_end, &f->ctx->arena);
    for (size_t i = 0; i < f->n_method; i++)
        for (size_t k = 0; k < f->method[i].n_delegate; k++) {
            tc_pte_delegate *d = &f->method[i].delegate[k];
            uintptr_t *end = tc_new(&f->ctx->arena, uintptr_t);
            *end = (uintptr_t)d->payload.data + d->payload.size;
            void **first = ti_map_at(&by_end, (tc_str){(const char *)end, sizeof *end});
            if (!d->payload.size)
                continue;
            if (!*first)
                *first = d;
            else
                d->common = ((tc_pte_delegate *)*first)->common = true;
        }
}

/* before: delegates of the methods before it. */
static tc_status read_delegates(tc_pte_file *f, tc_fb_table root, tc_fb_table plan, size_t before,
                                tc_pte_method *m)
{
    tc_fb_vector list = ti_fb_list(plan, PTE_PLAN_DELEGATES, 4);
    tc_fb_vector within = ti_fb_list(root, PTE_PROGRAM_DELEGATE_DATA, 4);
    m->delegate = tc_new_n(&f->ctx->arena, tc_pte_delegate, list.n);
    m->n_delegate = list.n;
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i), data = ti_fb_child(t, PTE_DELEGATE_DATA);
        tc_pte_delegate *d = &m->delegate[i];
        uint32_t index = ti_fb_u32(data, PTE_DATA_INDEX, 0);
        d->id = text_of(f, ti_fb_string(t, PTE_DELEGATE_ID));
        d->vela = spec_of(f, t, "vela");
        d->own = spec_of(f, t, "tosac");
        if (ti_fb_u8(data, PTE_DATA_LOCATION, 0))
            d->payload = ti_pte_segment(f, index);
        else if (index < within.n)
            d->payload = ti_fb_bytes(ti_fb_list_table(within, index), PTE_INLINE_DATA);
        if (ti_npu_looks_like_backend(d->payload))
            put_weights_in(f, d);
        d->tosa = named_data(f, "tosac.tosa", before + i);
        d->lines = named_data(f, "tosac.lines", before + i);
    }
    return sound(f);
}

static void read_operators(tc_pte_file *f, tc_fb_table plan, tc_pte_method *m)
{
    tc_fb_vector list = ti_fb_list(plan, PTE_PLAN_OPERATORS, 4);
    m->op = tc_new_n(&f->ctx->arena, tc_pte_operator, list.n);
    m->n_op = list.n;
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table t = ti_fb_list_table(list, i);
        m->op[i] = (tc_pte_operator){ti_fb_string(t, PTE_OPERATOR_NAME),
                                     ti_fb_string(t, PTE_OPERATOR_OVERLOAD)};
    }
}

static tc_status read_step(tc_pte_file *f, tc_fb_table t, const tc_pte_method *m, tc_pte_step *s)
{
    tc_fb_table call = ti_fb_child(t, PTE_UNION_VALUE);
    s->tag = ti_fb_u8(t, PTE_UNION_TYPE, 0);
    s->what = ti_fb_u32(call, PTE_CALL_WHAT, 0);
    bool calls = s->tag == PTE_KERNEL_CALL || s->tag == PTE_DELEGATE_CALL;
    if (calls)
        s->arg = i32s(f, call, PTE_CALL_ARGS);
    else {
        int64_t to = ti_fb_i32(call, PTE_CALL_ARGS, 0);
        s->arg = ti_ints_copy(&f->ctx->arena, &to, 1);
    }
    TC_TRY(sound(f));
    size_t most = s->tag == PTE_KERNEL_CALL     ? m->n_op
                  : s->tag == PTE_DELEGATE_CALL ? m->n_delegate
                                                : m->n_value;
    if (s->what >= most)
        return broken_at(f, t.at, "an instruction names something that does not exist");
    return calls || s->tag == PTE_MOVE_CALL ? known_values(f, m, s->arg, t.at) : TC_OK;
}

static const char *kept_text(tc_pte_file *f, tc_str text)
{
    return text.n ? text_of(f, text) : NULL;
}

/* "conv2d_3 = aten.conv2d.default" is the node and its target. */
static tc_loc frame_of(tc_pte_file *f, tc_fb_table t)
{
    static const char equals[] = " = ";
    tc_str file = ti_fb_string(t, PTE_FRAME_FILE), what = ti_fb_string(t, PTE_FRAME_CONTEXT);
    uint32_t line = ti_fb_u32(t, PTE_FRAME_LINE, 0);
    const char *context = kept_text(f, what), *split = context ? strstr(context, equals) : NULL;
    tc_loc loc = {.file = f->name, .node = context, .module = kept_text(f, ti_fb_string(t, PTE_FRAME_NAME))};
    if (split) {
        loc.node = text_of(f, (tc_str){context, (size_t)(split - context)});
        loc.target = split + sizeof equals - 1;
    }
    if (file.n)
        loc.place = line ? ti_text_format(&f->ctx->arena, "%.*s:%" PRIu32, (int)file.n, file.p, line)
                         : text_of(f, file);
    return loc;
}

/* Source locations of steps, where the file has one list for each. */
static void read_frames(tc_pte_file *f, tc_fb_table chain, tc_pte_method *m)
{
    tc_fb_vector list = ti_fb_list(chain, PTE_CHAIN_STACKTRACE, 4);
    for (size_t i = 0; list.n == m->n_step && i < list.n; i++) {
        tc_fb_vector frame = ti_fb_list(ti_fb_list_table(list, i), PTE_FRAMES_ITEMS, 4);
        m->step[i].frame = tc_new_n(&f->ctx->arena, tc_loc, frame.n + 1);
        for (size_t k = 0; k < frame.n; k++) {
            tc_loc loc = frame_of(f, ti_fb_list_table(frame, k));
            if (loc.place || loc.node)
                m->step[i].frame[m->step[i].n_frame++] = loc;
        }
    }
}

const char *ti_pte_kernel(tc_ctx *ctx, const tc_pte_method *m, const tc_pte_step *step)
{
    const tc_pte_operator *op = &m->op[step->what];
    return ti_text_format(&ctx->arena, "%.*s%s%.*s", (int)op->name.n, op->name.p,
                          op->overload.n ? "." : "", (int)op->overload.n, op->overload.p);
}

static tc_status read_steps(tc_pte_file *f, tc_fb_table plan, tc_pte_method *m)
{
    tc_fb_vector chains = ti_fb_list(plan, PTE_PLAN_CHAINS, 4);
    TC_TRY(sound(f));
    if (chains.n > 1)
        return broken_at(f, plan.at, "a method has more than one chain of instructions");
    tc_fb_vector list = {0};
    if (chains.n)
        list = ti_fb_list(ti_fb_list_table(chains, 0), PTE_CHAIN_INSTRUCTIONS, 4);
    m->step = tc_new_n(&f->ctx->arena, tc_pte_step, list.n);
    m->n_step = list.n;
    for (size_t i = 0; i < list.n; i++)
        TC_TRY(read_step(f, ti_fb_list_table(list, i), m, &m->step[i]));
    if (chains.n)
        read_frames(f, ti_fb_list_table(chains, 0), m);
    return sound(f);
}

static tc_status read_method(tc_pte_file *f, tc_fb_table root, tc_fb_table plan, size_t before,
                             tc_pte_method *m)
{
    m->name = text_of(f, ti_fb_string(plan, PTE_PLAN_NAME));
    m->in = i32s(f, plan, PTE_PLAN_INPUTS);
    m->out = i32s(f, plan, PTE_PLAN_OUTPUTS);
    m->arena = i64s(f, plan, PTE_PLAN_ARENAS);
    TC_TRY(read_values(f, plan, m));
    TC_TRY(known_values(f, m, m->in, plan.at));
    TC_TRY(known_values(f, m, m->out, plan.at));
    read_operators(f, plan, m);
    TC_TRY(read_delegates(f, root, plan, before, m));
    return read_steps(f, plan, m);
}

tc_status ti_pte_open(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_pte_file *out)
{
    tc_pte_file *f = out;
    tc_bytes program;
    *f = (tc_pte_file){.ctx = ctx, .name = name, .bytes = bytes};
    if (ti_bundle_looks_like(bytes)) {
        f->bundle = tc_new(&ctx->arena, tc_bundle);
        TC_TRY(ti_bundle_open(ctx, name, bytes, f->bundle));
        f->bytes = f->bundle->program;
    }
    TC_TRY(read_header(f, &program));
    ti_fb_init(&f->fb, program, TC_PTE_IDENTIFIER);
    tc_fb_table root = ti_fb_root(&f->fb);
    TC_TRY(sound(f));
    TC_TRY(read_segments(f, root));
    f->constant = read_offsets(f, ti_fb_child(root, PTE_PROGRAM_CONSTANTS), &f->constant_segment,
                               &f->n_constant);
    tc_fb_vector buffers = ti_fb_list(root, PTE_PROGRAM_MUTABLE, 4);
    if (buffers.n)
        f->buffer = read_offsets(f, ti_fb_list_table(buffers, 0), &f->buffer_segment, &f->n_buffer);
    TC_TRY(read_named(f, root));
    tc_fb_vector plans = ti_fb_list(root, PTE_PROGRAM_PLANS, 4);
    f->method = tc_new_n(&ctx->arena, tc_pte_method, plans.n);
    f->n_method = plans.n;
    for (size_t i = 0, before = 0; i < plans.n; before += f->method[i++].n_delegate)
        TC_TRY(read_method(f, root, ti_fb_list_table(plans, i), before, &f->method[i]));
    TC_TRY(sound(f));
    find_common(f);
    return plans.n ? TC_OK : broken_at(f, root.at, "the program has no method");
}
