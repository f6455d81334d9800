/* SPDX-License-Identifier: Apache-2.0 */
/* region_ports.c -- see region_ports.h. */
#include "region_ports.h"
#include "../drive/made_by.h"
#include "../drive/many_sizes.h"

#include <unistd.h>

#include "../num/type.h"
#include "../wire/file.h"
#include "../wire/json.h"
#include "../base/json_out.h"
#include "../drive/model.h"

/* ---- writing ---- */

/* The call of a region in the program; NULL: the program is the region. */
static const tc_node *call_of(const tc_compiled *c, const tc_region *region)
{
    return c->module == region->module ? NULL : ti_call_of(ti_main(c->module), region->name);
}

/* The types of what crosses the border, in order; plain integers that are an input or an output of
 * the program get the quantization that its port has. */
static const tc_type **types_of(tc_ctx *ctx, const tc_compiled *c, const tc_region *region,
                                bool output)
{
    const tc_graph *g = ti_main(region->module), *main = ti_main(c->module);
    const tc_node *call = call_of(c, region);
    size_t n = output ? g->n_out : g->n_in, ports = output ? main->n_out : main->n_in;
    const tc_val *inner = output ? g->out : g->in, *port = output ? main->out : main->in;
    const tc_type **type = tc_new_n(&ctx->arena, const tc_type *, n + 1);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    /* By value of the program: 1 + its first port; by port: 1 + the next of the same value. */
    size_t *first = tc_new_n(&ctx->scratch, size_t, main->n_val),
           *next = tc_new_n(&ctx->scratch, size_t, ports + 1);
    for (size_t k = ports; k-- > 0;) {
        next[k] = first[port[k]];
        first[port[k]] = k + 1;
    }
    for (size_t i = 0; i < n; i++) {
        tc_val outer = !call ? TC_NONE : output ? call->out[i] : call->in[i];
        type[i] = ti_type_of(g, inner[i]);
        for (size_t k = type[i]->quant ? 0 : first[outer]; k; k = next[k - 1]) {
            const tc_type *codes = ti_port_codes(main, output, k - 1);
            if (codes->dtype == type[i]->dtype && codes->rank == type[i]->rank &&
                tc_type_count(codes) == tc_type_count(type[i])) {
                type[i] = codes;
                break;
            }
        }
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return type;
}

bool ti_borders_quantized(tc_ctx *ctx, const tc_compiled *c)
{
    bool any = false;
    for (size_t r = 0; r < 2 * c->n_region && !any; r++) {
        const tc_graph *g = ti_main(c->region[r / 2].module);
        const tc_type **type = types_of(ctx, c, &c->region[r / 2], r % 2);
        for (size_t i = 0; i < (r % 2 ? g->n_out : g->n_in) && !any; i++)
            any = type[i]->quant != NULL;
    }
    return any;
}

/* Of a program for many sizes: -1 where a size is open. */
static const tc_type *open_at(const tc_compiled *c, bool output, size_t i)
{
    const tc_graph *g = ti_main(c->work.many->general);
    return ti_type_of(g, output ? g->out[i] : g->in[i]);
}

static void put_side(tc_json_out *out, const tc_compiled *c, bool output,
                     const tc_type *const *types, const char *const *names)
{
    ti_json_open(out, output ? "outputs" : "inputs", '[');
    for (size_t i = 0; types[i]; i++) {
        const tc_type *t = types[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", names[i]), TC_J("dtype", tc_dtypes[t->dtype].name));
        const tc_type *shape = c->work.many ? open_at(c, output, i) : t;
        tc_json_list(out, "shape", shape->rank, shape->dim);
        if (t->quant) {
            tc_json_list(out, "scale", t->quant->count, t->quant->scale);
            tc_json_list(out, "zero_point", t->quant->count, t->quant->zero);
            if (t->quant->axis >= 0)
                ti_json_put_int(out, "axis", t->quant->axis);
        }
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

/* The program's names of what crosses the border. */
static const char **names_of(tc_ctx *ctx, const tc_compiled *c, const tc_region *region,
                             bool output)
{
    const tc_graph *g = ti_main(region->module), *main = ti_main(c->module);
    size_t n = output ? g->n_out : g->n_in;
    const tc_val *inner = output ? g->out : g->in;
    const char **name = tc_new_n(&ctx->arena, const char *, n + 1);
    const tc_node *call = call_of(c, region);
    for (size_t i = 0; i < n; i++) {
        tc_val outer = call ? (output ? call->out[i] : call->in[i]) : inner[i];
        name[i] = ti_value_of(call ? main : g, outer)->name;
        if (!name[i])
            name[i] = ti_value_of(g, inner[i])->name;
    }
    return name;
}

tc_bytes ti_borders_json(tc_ctx *ctx, const tc_compiled *c, const tc_region *region)
{
    tc_buf to;
    ti_buf_init(&to, &ctx->arena);
    tc_json_out out = {.to = &to};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("schema", "tosac-io"), TC_J("schema_version", 1),
                TC_J("made_by", ti_made_by(ctx, c)), TC_J("target", c->target.text),
                TC_J("region", region->name));
    put_side(&out, c, false, types_of(ctx, c, region, false), names_of(ctx, c, region, false));
    put_side(&out, c, true, types_of(ctx, c, region, true), names_of(ctx, c, region, true));
    ti_json_close(&out, '}');
    return (tc_bytes){to.data, to.size};
}

/* ---- reading ---- */

typedef struct reader {
    tc_ctx *ctx;
    tc_loc loc;
} reader;

static tc_status broken(const reader *r, const char *why)
{
    return ti_error(r->ctx, &r->loc, TC_E_DATA, "%s", why);
}

static size_t length(const tc_json *list)
{
    return ti_json_is(list, TC_JSON_LIST) ? list->n : 0;
}

/* The type with the scale in the file; NULL: there is none, or it is invalid. */
static const tc_type *typed_by(tc_ctx *ctx, const tc_type *t, const tc_json *entry)
{
    const tc_json *scale = ti_json_get(entry, "scale"), *zero = ti_json_get(entry, "zero_point");
    int64_t axis = -1;
    size_t n = length(scale);
    if (!n || length(zero) != n || n > INT32_MAX || !ti_is_int(t->dtype))
        return NULL;
    (void)!ti_json_i64(ti_json_get(entry, "axis"), &axis);
    if (axis < -1 || axis >= t->rank || (axis < 0 ? n != 1 : (int64_t)n != t->dim[axis]))
        return NULL;
    double *s = tc_new_n(&ctx->arena, double, n);
    int64_t *z = tc_new_n(&ctx->arena, int64_t, n);
    const tc_json *a = ti_json_first(scale), *b = ti_json_first(zero);
    for (size_t i = 0; i < n; i++, a = a->next, b = b->next)
        if (!ti_json_f64(a, &s[i]) || !ti_json_i64(b, &z[i]) || !(s[i] > 0) || s[i] > 1e300)
            return NULL;
    tc_quant q = {.axis = (int32_t)axis,
                  .count = (int32_t)n,
                  .lo = ti_dtype_min(t->dtype),
                  .hi = ti_dtype_max(t->dtype),
                  .scale = s,
                  .zero = z};
    return ti_type_with(ctx, t, &q);
}

/* Files in Vela's format have no axes: those of the region, when the element counts agree. */
static const tc_type *shaped_by(tc_ctx *ctx, const tc_type *t, const tc_json *entry)
{
    const tc_json *shape = ti_json_get(entry, "shape");
    int64_t dim[TC_MAX_RANK] = {0};
    int32_t rank = 0;
    if (!ti_json_is(shape, TC_JSON_LIST) || shape->n > TC_MAX_RANK)
        return t;
    for (const tc_json *d = ti_json_first(shape); d; d = d->next)
        if (!ti_json_i64(d, &dim[rank++]))
            return t;
    return ti_dims_count(rank, dim) == tc_type_count(t) ? ti_type_make(ctx, t->dtype, rank, dim)
                                                        : t;
}

static tc_status type_side(const reader *r, tc_graph *g, const tc_val *v, size_t n,
                           const tc_json *list)
{
    if (length(list) != n)
        return broken(r, "it does not describe as many tensors as the file has");
    const tc_json *entry = ti_json_first(list);
    for (size_t i = 0; i < n; i++, entry = entry->next) {
        const tc_type *t = ti_type_of(g, v[i]);
        if (t->quant)
            continue;
        if (g->module->origin.any_rank)
            g->val[v[i]]->type = t = shaped_by(r->ctx, t, entry);
        if (!ti_json_get(entry, "scale"))
            continue;
        const tc_type *with = typed_by(r->ctx, t, entry);
        if (!with)
            return broken(r, "scale and zero_point of a tensor do not match its type");
        g->val[v[i]]->type = with;
        tc_str name = ti_json_text(&r->ctx->arena, ti_json_get(entry, "name"));
        if (name.n && !g->val[v[i]]->name)
            g->val[v[i]]->name = ti_intern(r->ctx, name);
    }
    return TC_OK;
}

/* Every tensor has a shape in the list: it alone says which axes of extent one there are. */
static bool says_shapes(const tc_json *list)
{
    for (const tc_json *entry = ti_json_first(list); entry; entry = entry->next)
        if (!ti_json_is(ti_json_get(entry, "shape"), TC_JSON_LIST))
            return false;
    return true;
}

static bool any_codes(const tc_graph *g)
{
    bool any = false;
    for (size_t i = 0; i < g->n_in; i++)
        any = any || (ti_type_of(g, g->in[i])->dtype == TC_i8 && !ti_type_of(g, g->in[i])->quant) ||
              (ti_type_of(g, g->in[i])->dtype == TC_i16 && !ti_type_of(g, g->in[i])->quant);
    return any;
}

static tc_status read_beside(tc_ctx *ctx, const char *file, tc_graph *g)
{
    const char *path = ti_text_format(&ctx->arena, "%s.json", file), *why = NULL;
    reader r = {ctx, {.file = path}};
    tc_bytes bytes;
    size_t at;
    if (access(path, R_OK) != 0) {
        if (!any_codes(g))
            return TC_OK;
        tc_status status = ti_error(
            ctx, &(tc_loc){.file = file}, TC_E_DATA,
            "--dequantize: neither its types nor '%s' have its scales", path);
        ti_note(ctx, NULL,
                "'tosac compile' writes that file beside a .tosa and beside a command stream");
        return status;
    }
    TC_TRY(ti_file_read(ctx, path, &bytes));
    const tc_json *json = ti_json_parse(&ctx->arena, bytes, &why, &at);
    if (!json)
        return broken(&r, why);
    const tc_json *in = ti_json_get(json, "inputs"), *out = ti_json_get(json, "outputs");
    TC_TRY(type_side(&r, g, g->in, g->n_in, in));
    TC_TRY(type_side(&r, g, g->out, g->n_out, out));
    g->module->origin.any_rank = g->module->origin.any_rank && !(says_shapes(in) && says_shapes(out));
    return TC_OK;
}

/* ---- float at the borders ---- */

static void rename_port(tc_port *port, size_t n, tc_val from, tc_val to)
{
    for (size_t i = 0; i < n; i++)
        if (port[i].val == from)
            port[i].val = to;
}

/* Between real values x and codes: a rescale where types say what codes stand for, else (plain
 * integers, whose port says it) an operator with the quantization as attributes. */
static tc_node *step(tc_ctx *ctx, tc_graph *g, tc_val x, const tc_type *codes, bool plain,
                     bool to_codes)
{
    if (!plain)
        return ti_graph_add(g, TC_OP_rescale, NULL, &x, 1, 1, NULL);
    tc_attr_quantize a = {.axis = -1,
                          .dtype = to_codes ? codes->dtype : TC_f32,
                          .qmin = codes->quant->lo,
                          .qmax = codes->quant->hi,
                          .scale = codes->quant->scale[0],
                          .zero = codes->quant->zero[0]};
    return ti_graph_add(g, to_codes ? TC_OP_quantize : TC_OP_dequantize,
                        ti_arena_copy(&ctx->arena, &a, sizeof a), &x, 1, 1, NULL);
}

/* Readers of the old input read a conversion from a new one in float. */
static void float_input(tc_ctx *ctx, tc_graph *g, size_t i, const tc_type *codes)
{
    tc_val old = g->in[i];
    const tc_type *t = ti_type_of(g, old);
    tc_val input = ti_graph_input(g, ti_type_make(ctx, TC_f32, t->rank, t->dim), g->val[old]->name);
    g->n_in--; /* it replaces the old one */
    g->in[i] = input;
    g->val[input]->index = (int)i;
    tc_node *node = step(ctx, g, input, codes, !t->quant, true);
    tc_val now = node->out[0];
    g->val[now]->type = t;
    ti_graph_read_instead(g, old, now);
    ti_graph_to_front(g, 1);
    rename_port(g->module->signature.in, g->module->signature.n_in, old, input);
}

static void float_output(tc_ctx *ctx, tc_graph *g, size_t i, const tc_type *codes)
{
    tc_val old = g->out[i];
    const tc_type *t = ti_type_of(g, old);
    tc_node *node = step(ctx, g, old, codes, !t->quant, false);
    g->val[node->out[0]]->type = ti_type_make(ctx, TC_f32, t->rank, t->dim);
    g->val[node->out[0]]->name = g->val[old]->name;
    g->out[i] = node->out[0];
    rename_port(g->module->signature.out, g->module->signature.n_out, old, node->out[0]);
}

tc_status ti_dequantize_borders(tc_ctx *ctx, const char *file, tc_module *module)
{
    tc_graph *g = ti_main(module);
    bool known = false; /* the file itself says what its integers stand for */
    for (size_t i = 0; i < g->n_in; i++)
        known = known || ti_port_codes(g, false, i) != ti_type_of(g, g->in[i]);
    for (size_t i = 0; i < g->n_out; i++)
        known = known || ti_port_codes(g, true, i) != ti_type_of(g, g->out[i]);
    if (!known)
        TC_TRY(read_beside(ctx, file, g));
    for (size_t i = 0; i < g->n_out; i++)
        if (ti_port_codes(g, true, i)->quant)
            float_output(ctx, g, i, ti_port_codes(g, true, i));
    for (size_t i = 0; i < g->n_in; i++)
        if (ti_port_codes(g, false, i)->quant)
            float_input(ctx, g, i, ti_port_codes(g, false, i));
    return TC_OK;
}
