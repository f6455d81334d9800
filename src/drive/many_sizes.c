/* SPDX-License-Identifier: Apache-2.0 */
/* many_sizes.c -- see many_sizes.h.
 *
 * The model is compiled at several sizes: at one with calibration and proof, at the others with the
 * quantization of that one.  The result is one program (sizes/), which is then instantiated at
 * further sizes and compared with what the pipeline makes of those: node by node, and by its
 * results. */
#include "many_sizes.h"

#include "../data/dataset.h"
#include "road.h"

#include "../ir/settle.h"
#include "../ir/verify.h"
#include "../num/load.h"
#include "../read/read.h"
#include "../run/exec.h"

enum { FITTED = 8, HELD = 4, TRIED = 3 };

typedef struct course {
    tc_ctx *ctx;
    const tc_compile_request *r;
    tc_module *first; /* the model as it was read */
    tc_compiled *c;   /* and compiled, */
    int64_t base[TC_MAX_RANK]; /* with these sizes */
    int64_t (*point)[TC_MAX_RANK];
    tc_aligned a;
    tc_module *alone[HELD + 1]; /* programs that have other nodes than the rest, */
    const char *alone_text[HELD + 1];
    size_t n_alone;
} course;

/* ---- points ---- */

/* The same values on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static const char *point_text(const course *s, const int64_t *value)
{
    return ti_sizes_text(s->ctx, s->first, value);
}

/* Sizes up to here are tried unless the bound itself is asked for: small ones show the same. */
static int64_t window_end(const tc_open_size *size, int64_t value)
{
    int64_t most = 2 * value > size->lo + 24 ? 2 * value : size->lo + 24;
    return size->hi < most ? size->hi : most;
}

static bool is_new(const course *s, size_t n, const int64_t *value)
{
    for (size_t p = 0; p < n; p++)
        if (!memcmp(s->point[p], value, s->first->open.n * sizeof *value))
            return false;
    return true;
}

/* A point that is new; false: none was found. */
static bool draw(const course *s, uint64_t *state, size_t n, int64_t *value)
{
    const tc_module *m = s->first;
    for (int attempt = 0; attempt < 64; attempt++) {
        for (size_t i = 0; i < m->open.n; i++) {
            int64_t lo = m->open.size[i].lo, hi = window_end(&m->open.size[i], s->base[i]);
            lo = lo < 2 && hi > 2 ? 2 : lo; /* an axis of extent one is a special case */
            value[i] = lo + (int64_t)(next_random(state) % (uint64_t)(hi - lo + 1));
        }
        if (is_new(s, n, value))
            return true;
    }
    return false;
}

static bool at_ends(const course *s, size_t n, bool upper, int64_t *value)
{
    const tc_module *m = s->first;
    for (size_t i = 0; i < m->open.n; i++) {
        if (upper && m->open.size[i].hi > INT32_MAX)
            return false;
        value[i] = upper ? m->open.size[i].hi : m->open.size[i].lo;
    }
    return is_new(s, n, value);
}

/* The largest extent of any value where every size is at its upper bound, and the model there. */
static tc_status at_largest(const course *s, int64_t *out, const tc_module **largest)
{
    enum { WITHOUT_BOUND = 16384 };
    int64_t value[TC_MAX_RANK];
    tc_module *m = s->first;
    bool bounded = at_ends(s, 0, true, value);
    if (bounded)
        TC_TRY(ti_read_at(s->ctx, s->first, value, &m));
    *out = bounded ? 1 : WITHOUT_BOUND;
    for (size_t k = 0; k < m->n_graph; k++)
        for (size_t v = 1; v < m->graph[k]->n_val; v++) {
            const tc_value *val = m->graph[k]->val[v];
            for (int i = 0; val->type && !val->data && i < val->type->rank; i++)
                *out = val->type->dim[i] > *out ? val->type->dim[i] : *out;
        }
    if (!bounded)
        return TC_OK;
    tc_compile_request r = *s->r;
    r.sizes.any = *out;
    *largest = ti_ready_at(s->ctx, &r, s->first, value);
    return TC_OK;
}

/* ---- one size ---- */

/* Codes and narrower integers (tokens of i64) are converted outside of the program. */
static bool is_border(const tc_graph *g, const tc_node *node)
{
    bool at_end = false;
    if (node->op == TC_OP_call || node->op == TC_OP_const || node->op == TC_OP_rescale)
        return true;
    for (size_t i = 0; i < g->n_in && node->n_in; i++)
        at_end = at_end || g->in[i] == node->in[0];
    for (size_t i = 0; i < g->n_out && node->n_out; i++)
        at_end = at_end || g->out[i] == node->out[0];
    return node->op == TC_OP_cast && at_end;
}

/* What the CPU computes is at the borders. */
static tc_status check_one_region(const course *s, const tc_compiled *c, const char *text)
{
    const tc_graph *g = ti_main(c->module);
    const tc_node *left = NULL;
    for (size_t k = 0; k < g->n_node && !left; k++)
        if (!is_border(g, g->node[k]) && c->n_region)
            left = g->node[k];
    if (c->n_region == 1 && !left)
        return TC_OK;
    tc_status status = ti_unsupported(
        s->ctx, left ? left->loc : NULL, TC_E_DYNAMIC,
        "at %s '%s' takes %zu parts of the program%s%s%s: only a program that it takes in one piece "
        "can be made for many sizes", text, s->c->target.text, c->n_region,
        left ? ", and not '" : "", left ? tc_ops[left->op].name : "", left ? "'" : "");
    ti_note(s->ctx, NULL, "'tosac explain --dim NAME=VALUE' says why; --dim NAME=A,B,C makes a .pte "
                          "with a method for each size");
    return status;
}

/* The program at one point, alone. */
static tc_status compile_at(const course *s, const int64_t *value, tc_compiled *out)
{
    tc_ctx *ctx = s->ctx;
    tc_compile_request r = *s->r;
    TC_TRY(ti_read_at(ctx, s->first, value, &r.module));
    TC_TRY(ti_verify(ctx, r.module));
    r.sizes.as = s->c->quant.record.asked ? &s->c->quant.record : NULL;
    r.unexecuted = true;
    r.check = false;
    r.trace = NULL;
    r.strict = true;
    *out = (tc_compiled){.asked.ethosu = s->c->asked.ethosu};
    TC_TRY(ti_compile_stages(ctx, &r, out));
    return check_one_region(s, out, point_text(s, value));
}

static tc_status compile_quietly(const course *s, const int64_t *value, tc_compiled *out)
{
    tc_hold hold = ti_hold_begin(s->ctx);
    tc_status status = compile_at(s, value, out);
    if (status == TC_OK)
        ti_hold_drop(s->ctx, hold);
    else
        ti_hold_keep(s->ctx, hold);
    return status;
}

/* ---- bounds ---- */

/* The axis of an input that is times * size + plus, at every point; false: no input has one. */
static bool find_bound(const course *s, size_t k, tc_size_bound *out)
{
    const tc_aligned *a = &s->a;
    const tc_open_size *size = &s->first->open.size[k];
    for (size_t i = 0; i < a->n_in; i++) {
        const tc_type *t = ti_type_of(ti_point_graph(a, 0), a->place[a->in[i]].at[0]);
        for (int axis = 0; axis < t->rank; axis++) {
            tc_series d = ti_place_dim(a, a->in[i], axis);
            size_t q = 1;
            while (q < a->n_point && s->point[q][k] == s->point[0][k])
                q++;
            if (q == a->n_point)
                return false;
            int64_t run = s->point[q][k] - s->point[0][k], rise = d.at[q] - d.at[0];
            if (!rise || rise % run || rise / run < 1)
                continue;
            int64_t times = rise / run, plus = d.at[0] - times * s->point[0][k];
            bool fits = plus >= 0;
            for (size_t p = 0; p < a->n_point && fits; p++)
                fits = d.at[p] == times * s->point[p][k] + plus;
            if (!fits)
                continue;
            *out = (tc_size_bound){size->word, i, axis, times, plus, size->lo, size->hi};
            return true;
        }
    }
    return false;
}

/* DIM of integers is part of TOSA's integer profile. */
static tc_status check_profile(const course *s, const tc_size_bound *bound)
{
    const tc_aligned *a = &s->a;
    const tc_value *v = ti_value_of(ti_point_graph(a, 0), a->place[a->in[bound->input]].at[0]);
    if (ti_is_float(v->type->dtype) || s->c->target.tosa >> TC_FEATURE_INT & 1)
        return TC_OK;
    tc_status status = ti_unsupported(
        s->ctx, &(tc_loc){.file = s->first->file}, TC_E_DYNAMIC,
        "the dynamic size %s is that of integers ('%s'), which '%s' cannot be asked for the size of",
        bound->word, v->name ? v->name : "input", s->c->target.text);
    ti_note(s->ctx, NULL, "-t TOSA-1.1+INT+FP+shape -q none: the same program, with both profiles");
    return status;
}

static tc_status find_bounds(const course *s, tc_size_bound *bound)
{
    for (size_t k = 0; k < s->first->open.n; k++) {
        if (!find_bound(s, k, &bound[k]))
            return ti_unsupported(s->ctx, &(tc_loc){.file = s->first->file}, TC_E_DYNAMIC,
                                  "the dynamic size %s is no dimension of an input by itself",
                                  s->first->open.size[k].word);
        TC_TRY(check_profile(s, &bound[k]));
    }
    return TC_OK;
}

/* ---- comparing ---- */

tc_status ti_at_sizes(const tc_module *general, const tc_type *const *input, tc_module **out)
{
    tc_module *m = ti_module_clone(general);
    tc_graph *g = ti_main(m);
    for (size_t i = 0; i < g->n_in; i++)
        g->val[g->in[i]]->type = input[i];
    TC_TRY(ti_settle(m));
    *out = m;
    return ti_verify(m->ctx, m);
}

/* Codes are equal; floats are as near as another order of summation leaves them. */
static bool same_numbers(tc_tensor x, tc_tensor y)
{
    double apart = 0, most = 0;
    if (x.type->dtype != y.type->dtype || !ti_same_dims(x.type, y.type))
        return false;
    if (!ti_is_float(x.type->dtype))
        return !memcmp(x.data, y.data, tc_type_bytes(x.type));
    for (int64_t i = 0; i < tc_type_count(x.type); i++) {
        double u = ti_load_f64(x, i), v = ti_load_f64(y, i), d = u - v;
        if (u == v || (u != u && v != v))
            continue;
        if (!(d == d) || d - d != 0)
            return false;
        apart = d > apart ? d : -d > apart ? -d : apart;
    }
    for (int64_t i = 0; i < tc_type_count(x.type); i++) {
        double v = ti_load_f64(y, i);
        v = v < 0 ? -v : v;
        most = v - v == 0 && v > most ? v : most;
    }
    return apart <= 1e-5 * most;
}

/* Both programs on one invented sample. */
static tc_status compare_numbers(const course *s, tc_module *general, tc_module *special,
                                 bool *same)
{
    static const char *const invented[] = {"random:1"};
    tc_ctx *ctx = s->ctx;
    const tc_graph *g = ti_main(special);
    tc_samples samples;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in + 1),
              *x = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1),
              *y = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
    TC_TRY(ti_open_samples(ctx, g, g->n_in ? invented : NULL, g->n_in ? 1 : 0, &samples));
    TC_TRY(samples.read(samples.from, 0, in));
    TC_TRY(ti_exec_run(ti_exec_new(ctx, general), in, x));
    TC_TRY(ti_exec_run(ti_exec_new(ctx, special), in, y));
    *same = true;
    for (size_t i = 0; i < g->n_out; i++)
        *same = *same && same_numbers(x[i], y[i]);
    return TC_OK;
}

/* The general program with a point's sizes, compared with what the pipeline makes of them. */
static tc_status try_at(const course *s, tc_module *general, tc_module *special, const char *text)
{
    tc_ctx *ctx = s->ctx;
    const tc_graph *g = ti_main(special);
    const tc_type **type = tc_new_n(&ctx->arena, const tc_type *, g->n_in + 1);
    tc_module *filled;
    bool same;
    for (size_t i = 0; i < g->n_in; i++)
        type[i] = ti_type_of(g, g->in[i]);
    tc_hold hold = ti_hold_begin(ctx);
    tc_status status = ti_at_sizes(general, type, &filled);
    if (status != TC_OK) {
        const char *why = ti_hold_drop(ctx, hold);
        status = ti_unsupported(ctx, NULL, TC_E_DYNAMIC,
                                "the program for many sizes does not fit at %s: %s", text, why);
        ti_note(ctx, NULL, "--dim NAME=LO..HI leaves that size out");
        return status;
    }
    ti_hold_keep(ctx, hold);
    TC_TRY(compare_numbers(s, filled, special, &same));
    if (same)
        return TC_OK;
    status = ti_unsupported(ctx, NULL, TC_E_DYNAMIC,
                            "at %s the program for many sizes computes other numbers than the one "
                            "that is compiled for that size", text);
    ti_note(ctx, NULL, "--dim NAME=LO..HI leaves that size out");
    return status;
}

static void note_tried(course *s, const char *text)
{
    tc_many_sizes *many = s->c->work.many;
    many->tried_at[many->n_tried++] = text;
}

static tc_status try_point(course *s, const int64_t *value)
{
    tc_compiled c;
    const char *text = point_text(s, value);
    TC_TRY(compile_quietly(s, value, &c));
    TC_TRY(try_at(s, s->c->work.many->general, c.region[0].module, text));
    note_tried(s, text);
    return TC_OK;
}

/* ---- all of it ---- */

static void set_point(course *s, size_t p, const int64_t *value)
{
    memcpy(s->point[p], value, s->first->open.n * sizeof *value);
}

/* Formulas are fitted to these: the largest sizes first, then random ones. */
static tc_status fitted_points(course *s, uint64_t *state)
{
    tc_aligned *a = &s->a;
    tc_compiled c;
    int64_t value[TC_MAX_RANK];
    bool more = at_ends(s, 0, true, value);
    a->largest = more ? 0 : TC_POINTS;
    more = more || draw(s, state, 0, value);
    while (more) {
        TC_TRY(ti_tell_progress(s->ctx, "sizes compiled", a->n_point, FITTED + HELD));
        TC_TRY(compile_quietly(s, value, &c));
        set_point(s, a->n_point, value);
        a->module[a->n_point] = c.region[0].module;
        a->text[a->n_point++] = point_text(s, value);
        more = a->n_point < FITTED && draw(s, state, a->n_point, value);
    }
    a->n_fit = a->n_point;
    return TC_OK;
}

/* One more point that tests the formulas; a program that cannot be aligned with the rest, as it has
 * other nodes, is compared by its results alone. */
static void hold_point(course *s, tc_module *module, const int64_t *value)
{
    const char *text = point_text(s, value);
    size_t p = s->a.n_point;
    if (ti_align_more(&s->a, module, text))
        set_point(s, p, value);
    else {
        s->alone[s->n_alone] = module;
        s->alone_text[s->n_alone++] = text;
    }
}

/* These test the formulas: the size that was calibrated, the least of all, and some others. */
static tc_status held_points(course *s, uint64_t *state)
{
    tc_compiled c;
    int64_t value[TC_MAX_RANK];
    if (is_new(s, s->a.n_point, s->base))
        hold_point(s, s->c->region[0].module, s->base);
    for (int k = 0; k < HELD; k++) {
        if (!(k ? draw(s, state, s->a.n_point, value) : at_ends(s, s->a.n_point, false, value)))
            continue;
        TC_TRY(ti_tell_progress(s->ctx, "sizes compiled", s->a.n_point, FITTED + HELD));
        TC_TRY(compile_quietly(s, value, &c));
        hold_point(s, c.region[0].module, value);
    }
    return TC_OK;
}

/* With `check`: every size of each symbol, the others as in the model. */
static tc_status try_all(course *s)
{
    enum { MOST = 4096 };
    const tc_module *m = s->first;
    int64_t value[TC_MAX_RANK];
    for (size_t i = 0; i < m->open.n; i++) {
        int64_t hi = m->open.size[i].hi - m->open.size[i].lo < MOST ? m->open.size[i].hi : m->open.size[i].lo + MOST;
        memcpy(value, s->base, m->open.n * sizeof *value);
        for (value[i] = m->open.size[i].lo; value[i] <= hi; value[i]++) {
            tc_many_sizes *many = s->c->work.many;
            tc_grow(&s->ctx->arena, many->tried_at, many->n_tried, many->cap_tried);
            TC_TRY(ti_tell_progress(s->ctx, "sizes checked", (size_t)(value[i] - m->open.size[i].lo),
                                    (size_t)(hi - m->open.size[i].lo + 1)));
            TC_TRY(try_point(s, value));
        }
    }
    return TC_OK;
}

/* Instantiated at sizes that it was not fitted to, and at some that it was. */
static tc_status try_some(course *s)
{
    const tc_aligned *a = &s->a;
    tc_many_sizes *many = s->c->work.many;
    for (size_t p = 0; p < a->n_point; p++)
        if (p >= a->n_fit || p < TRIED) {
            tc_module *m = (tc_module *)(uintptr_t)a->module[p];
            TC_TRY(try_at(s, many->general, m, a->text[p]));
            note_tried(s, a->text[p]);
        }
    for (size_t i = 0; i < s->n_alone; i++) {
        TC_TRY(try_at(s, many->general, s->alone[i], s->alone_text[i]));
        note_tried(s, s->alone_text[i]);
    }
    return TC_OK;
}

static tc_status make_general(course *s)
{
    tc_ctx *ctx = s->ctx;
    tc_compiled *c = s->c;
    uint64_t state = 20261117;
    size_t n = s->first->open.n;
    tc_many_sizes *many = c->work.many = tc_new(&ctx->arena, tc_many_sizes);
    tc_size_bound *bound = tc_new_n(&ctx->arena, tc_size_bound, n);
    TC_TRY(fitted_points(s, &state));
    TC_TRY(ti_align(&s->a));
    TC_TRY(held_points(s, &state));
    TC_TRY(find_bounds(s, bound));
    TC_TRY(ti_generalize(&s->a, bound, n, &many->general));
    TC_TRY(ti_verify(ctx, many->general));
    TC_TRY(ti_road_run(ctx, many->general, TC_AT_TOSA, TC_AT_LEGAL, &(tc_job){.target = &c->target},
                       NULL));
    *many = (tc_many_sizes){.general = many->general,
                            .size = s->first->open.size,
                            .n_size = n,
                            .made_at = ti_arena_copy(&ctx->arena, s->a.text, sizeof s->a.text),
                            .n_made = s->a.n_fit,
                            .cap_tried = TC_POINTS + HELD + 1};
    many->tried_at = tc_new_n(&ctx->arena, const char *, many->cap_tried);
    TC_TRY(try_some(s));
    if (s->r->check)
        TC_TRY(try_all(s));
    return ti_emit_tosa(ctx, many->general, &c->region[0].tosa);
}

/* Of several sizes of calibration data, one is used for correction and measurement. */
static void most_samples_first(tc_sized_data *part, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (part[i].n_row > part[0].n_row) {
            tc_sized_data more = part[i];
            part[i] = part[0];
            part[0] = more;
        }
}

/* The model of a request whose module leaves sizes open (tc_module.size). */
static tc_status compile_many_sizes(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *out)
{
    tc_compile_request r = *request;
    course s = {.ctx = ctx, .r = &r, .first = request->module, .c = out, .a = {.ctx = ctx}};
    s.point = (int64_t (*)[TC_MAX_RANK])ti_arena_array(&ctx->arena, TC_POINTS, sizeof *s.point,
                                                       _Alignof(int64_t));
    if (s.first->open.n > TC_MAX_RANK)
        return ti_unsupported(ctx, NULL, TC_E_DYNAMIC, "%zu dynamic sizes; at most %d are supported",
                              s.first->open.n, TC_MAX_RANK);
    tc_sized_data *part;
    size_t n_part;
    TC_TRY(ti_split_by_size(ctx, s.first, r.data.calib, &part, &n_part));
    most_samples_first(part, n_part);
    memcpy(s.base, part[0].value, s.first->open.n * sizeof *s.base);
    r.data.calib = part[0].data;
    TC_TRY(at_largest(&s, &r.sizes.any, &r.sizes.largest));
    TC_TRY(ti_observe_sizes(ctx, s.first, part + 1, n_part - 1, &r));
    r.sizes.record = true;
    TC_TRY(ti_read_at(ctx, s.first, s.base, &r.module));
    TC_TRY(ti_verify(ctx, r.module));
    TC_TRY(ti_compile_stages(ctx, &r, out));
    TC_TRY(check_one_region(&s, out, point_text(&s, s.base)));
    return make_general(&s);
}

/* Sizes are open, and the target has no operators on shapes. */
static tc_status must_settle(tc_ctx *ctx, const tc_compile_request *r)
{
    const tc_module *m = r->module;
    tc_buf list;
    ti_buf_init(&list, &ctx->arena);
    for (size_t i = 0; i < m->open.n; i++) {
        const tc_open_size *size = &m->open.size[i];
        ti_buf_printf(&list, "%s%s (", i ? ", " : "", size->word);
        if (size->input)
            ti_buf_printf(&list, "axis %d of '%s', ", size->axis, size->input);
        if (size->hi > INT32_MAX)
            ti_buf_printf(&list, "%" PRId64 " or more)", size->lo);
        else
            ti_buf_printf(&list, "%" PRId64 " to %" PRId64 ")", size->lo, size->hi);
    }
    tc_status status =
        ti_error(ctx, NULL, TC_E_DYNAMIC,
                 "the model has dynamic sizes; set each with --dim NAME=VALUE: %s",
                 ti_buf_cstr(&list));
    ti_note(ctx, NULL, "'%s' has no shape operators; --dim NAME=A,B,C makes a .pte with a method for "
                       "each size, -t TOSA-1.1+FP+shape or +INT+shape one program for all",
            r->target);
    return status;
}

tc_status ti_compile(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *out)
{
    tc_target target;
    if (!r->module || !r->module->open.n)
        return ti_compile_stages(ctx, r, out);
    TC_TRY(ti_target_parse(ctx, r->target, &target));
    if (!(target.tosa >> TC_FEATURE_SHAPE & 1u) || target.machine->packing != TC_PACKED_TOSA)
        return must_settle(ctx, r);
    if (r->method)
        return ti_usage(ctx, "the method '%s' has dynamic sizes: a method is for one size, set with "
                             "--dim NAME=VALUE", r->method);
    return compile_many_sizes(ctx, r, out);
}
