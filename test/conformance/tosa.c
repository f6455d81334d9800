/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.c -- goes through an unpacked TOSA suite in process.
 *
 *   conformance-tosa DIR [PREFIX] [--no-run] [--rewrite OUT] [--results OUT] [--vgf OUT]
 *                    [--every N]
 *
 * A negative case must be refused with status 1.  A positive one is accepted, for the profiles and
 * extensions that it names and with none of them missing; written, read and written again to the
 * same bytes; printed and parsed to an equal module that is written to those bytes too; and run,
 * integers and bools bit for bit.  Written as VGF, read back and run it gives the same bits again,
 * unless it has loops, variables or shapes that are not constant, which VGF does not hold, or i64,
 * or takes or gives types of TOSA 1.1.  One of
 * version 1.1 must be met with status 3 and the words "TOSA 1.1", unless its file says 1.0 and is
 * good.
 *
 * --rewrite keeps what was written as OUT/CASE.tosa, --results the floating-point results as
 * OUT/CASE.N.npy: tools/peer/tosa_suite.py gives them to the reference model and to tosa_verify.
 * --vgf keeps OUT/CASE.vgf and, as OUT/CASE.N.npy, what our interpreter makes of it, for
 * tools/peer/vgf_suite.py. Prints what differs and lines of totals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "drive/road.h"
#include "emit/emit.h"
#include "run/exec.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"
#include "read/data.h"
#include "read/read.h"
#include "target/target.h"
#include "target/tosa_schema.h"
#include "record.h"

typedef struct {
    const char *dir, *prefix, *rewrite, *results, *vgf;
    const char *every; /* every N-th case */
    bool no_run;
} options;

typedef struct {
    tc_ctx *ctx;
    const options *options;
    const char *name, *folder;
    const tc_json *desc;
    bool newer; /* of TOSA 1.1 */
    tc_module *module;
    tc_bytes bytes; /* as written by us */
} test_case;

typedef struct {
    const char *name;
    int right, all;
} total;

static bool wrong(const test_case *c, const char *what)
{
    printf("%s: %s\n%s", c->name, what, tc_diagnostics(c->ctx));
    return false;
}

static const char *in_folder(const test_case *c, const char *file)
{
    return ti_text_format(&c->ctx->arena, "%s/%s", c->folder, file);
}

static tc_status read_and_verify(test_case *c)
{
    tc_bytes bytes;
    const char *path = in_folder(c, "test.tosa");
    TC_TRY(ti_file_read(c->ctx, path, &bytes));
    TC_TRY(ti_read_tosa(c->ctx, path, bytes, &c->module));
    return ti_verify_tosa(c->ctx, c->module, NULL);
}

static bool same_bytes(tc_bytes a, tc_bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* write(read(write(module))) == write(module) */
static bool rewrites(test_case *c)
{
    tc_bytes again;
    tc_module *module;
    if (ti_emit_tosa(c->ctx, c->module, &c->bytes) != TC_OK)
        return wrong(c, "cannot be written");
    if (ti_read_tosa(c->ctx, "written", c->bytes, &module) != TC_OK ||
        ti_verify_tosa(c->ctx, module, NULL) != TC_OK)
        return wrong(c, "what was written is refused");
    if (ti_emit_tosa(c->ctx, module, &again) != TC_OK || !same_bytes(c->bytes, again))
        return wrong(c, "is written to other bytes the second time");
    if (!c->options->rewrite)
        return true;
    const char *path = ti_text_format(&c->ctx->arena, "%s/%s.tosa", c->options->rewrite, c->name);
    return ti_file_write(c->ctx, path, c->bytes) == TC_OK || wrong(c, "cannot be kept");
}

static bool is_text_too(test_case *c)
{
    tc_buf text;
    tc_module *parsed;
    tc_bytes bytes;
    ti_buf_init(&text, &c->ctx->arena);
    ti_print(c->module, &(tc_print_options){.locs = true}, &text);
    if (ti_verify(c->ctx, c->module) != TC_OK)
        return wrong(c, "the graph's own verifier objects");
    if (ti_parse(c->ctx, "printed", (tc_bytes){text.data, text.size}, (tc_bytes){NULL, 0},
                 &parsed) != TC_OK)
        return wrong(c, "the text does not parse");
    if (!ti_module_equal(c->module, parsed))
        return wrong(c, "the text says something else");
    if (ti_emit_tosa(c->ctx, parsed, &bytes) != TC_OK || !same_bytes(c->bytes, bytes))
        return wrong(c, "the text is written to other bytes");
    return true;
}

/* ---- profiles and extensions ----------------------------------------------------------------- */

/* "+cf" for "tosa-ext-controlflow": how target strings write what a case asks for. */
static const char *target_word(tc_ctx *ctx, const char *requirement)
{
    static const char *const spelled[][2] = {{"tosa-pro-int", "INT"},
                                             {"tosa-pro-fp", "FP"},
                                             {"tosa-ext-controlflow", "cf"},
                                             {"tosa-ext-variable", "var"}};
    for (size_t i = 0; i < TC_COUNT(spelled); i++)
        if (ti_text_eq(requirement, spelled[i][0]))
            return ti_text_format(&ctx->arena, "+%s", spelled[i][1]);
    const char *word = requirement + strlen("tosa-ext-");
    if (ti_text_starts(word, "mx-")) /* "tosa-ext-mx-fp6e2m3" is +mxfp6e2m3 */
        return ti_text_format(&ctx->arena, "+mx%s", word + 3);
    return ti_text_eq(word, "mxfp-conv") ? "+mxfpconv"
                                         : ti_text_format(&ctx->arena, "+%s", word);
}

/* Operators on shapes. */
static bool makes_shapes(const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op >= TC_OP_tosa_dim && g->node[i]->op <= TC_OP_tosa_assert_equal_shape)
            return true;
    return false;
}

/* Whether the judge accepts the module for a profile and all extensions but one. */
static bool accepted(const test_case *c, const char *profile, const tc_json *extensions,
                     size_t without)
{
    tc_buf target;
    ti_buf_init(&target, &c->ctx->arena);
    ti_buf_printf(&target, "TOSA-1.%d%s", c->newer, target_word(c->ctx, profile));
    for (size_t i = 0; i < record_size(extensions); i++)
        if (i != without)
            ti_buf_text(&target,
                        target_word(c->ctx, record_string(c->ctx, record_at(extensions, i))));
    if (makes_shapes(c->module)) /* the cases of 1.1 do not say it */
        ti_buf_text(&target, "+shape");
    return ti_verify_tosa(c->ctx, c->module, ti_buf_cstr(&target)) == TC_OK;
}

/* Each profile that the case names suffices with all of its extensions, and with none of them
 * missing. Two groups of cases say other than they are, as tosa-opt finds too: loops over floats
 * count in i32 and compare it, which is PRO-INT's; and RESIZE marked dynamic has constant shapes.
 */
static bool needs_what_it_says(const test_case *c)
{
    if (strstr(c->name, "while_loop") ||
        (strstr(c->name, "resize") && ti_text_ends(c->name, "_dyn")))
        return true;
    const tc_json *all = ti_json_get(c->desc, "test_requirements");
    const tc_json *profiles = ti_json_get(all, "profiles_supported"),
                  *extensions = ti_json_get(all, "extensions_required");
    size_t n = record_size(extensions);
    for RECORD_EACH (p, profiles) {
        const char *profile = record_string(c->ctx, p);
        if (!accepted(c, profile, extensions, n))
            return wrong(c, "is refused for its own profile and extensions");
        for (size_t i = 0; i < n; i++)
            if (accepted(c, profile, extensions, i))
                return wrong(c, "does not need one of its extensions");
    }
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

static const char *member(const test_case *c, const char *list, size_t i)
{
    return record_string(c->ctx, record_at(ti_json_get(c->desc, list), i));
}

static const char *mode_of(const test_case *c, size_t i)
{
    const tc_json *tensors =
        ti_json_get(ti_json_get(ti_json_get(c->desc, "meta"), "compliance"), "tensors");
    const char *name = member(c, "ofm_name", i);
    const char *mode = name ? record_text(c->ctx, ti_json_get(tensors, name), "mode") : NULL;
    return mode ? mode : "EXACT";
}

/* The array beside a block-scaled one: "input-0_scale.npy". */
static const char *scale_file(const test_case *c, const char *file)
{
    return ti_text_format(&c->ctx->arena, "%.*s_scale.npy", (int)(strlen(file) - 4), file);
}

/* Codes of less than a byte lie in an array without gaps, and scales in one of their own. */
static bool is_packed(tc_dtype t)
{
    return ti_is_float(t) && (tc_dtypes[t].bits < 8 || ti_is_block(t));
}

/* All bytes of an array; NULL: it is not there, or of another size. */
static uint8_t *bytes_of(const test_case *c, const char *file, size_t n)
{
    tc_npy *a;
    size_t count;
    uint8_t *data = ti_arena_raw(&c->ctx->arena, n + 1);
    bool there = ti_npy_open(c->ctx, in_folder(c, file), &a, &count) == TC_OK && a->size == 1 &&
                 (size_t)a->count == n && ti_npy_read(c->ctx, a, 0, a->count, data) == TC_OK;
    return there ? data : NULL;
}

static bool read_packed(const test_case *c, const char *file, tc_tensor into)
{
    size_t n = (size_t)tc_type_count(into.type);
    const uint8_t *value = bytes_of(c, file, ti_tosa_packed_bytes(into.type->dtype, n));
    if (!value)
        return false;
    ti_tosa_unpack(into.type->dtype, n, value, into.data);
    if (!ti_is_block(into.type->dtype))
        return true;
    const uint8_t *scale = bytes_of(c, scale_file(c, file), n / TC_BLOCK);
    if (scale)
        ti_tosa_unpack_scales(n, scale, into.data);
    return scale != NULL;
}

static bool equals(const test_case *c, tc_tensor got, tc_npy *want)
{
    size_t size = tc_type_bytes(got.type);
    void *data = ti_arena_raw(&c->ctx->arena, size);
    bool shape = want->rank == got.type->rank && want->size == tc_dtypes[got.type->dtype].bytes;
    for (int i = 0; shape && i < want->rank; i++)
        shape = want->dim[i] == got.type->dim[i];
    return shape && ti_npy_read(c->ctx, want, 0, want->count, data) == TC_OK &&
           memcmp(data, got.data, size) == 0;
}

/* Against codes as they are stored; of NaNs one is as good as another. */
static bool same_codes(const test_case *c, tc_tensor got, tc_npy *want)
{
    tc_tensor kept = ti_tensor_new(&c->ctx->arena, got.type);
    if (want->count != tc_type_count(got.type) || want->size != tc_dtypes[got.type->dtype].bytes ||
        ti_npy_read(c->ctx, want, 0, want->count, kept.data) != TC_OK)
        return false;
    for (int64_t i = 0; i < want->count; i++) {
        const char *a = (const char *)got.data + i * want->size,
                   *b = (const char *)kept.data + i * want->size;
        double v = ti_load_f64(got, i), w = ti_load_f64(kept, i);
        if (memcmp(a, b, want->size) != 0 && (v == v || w == w))
            return false;
    }
    return true;
}

/* Against f64: the reference model's precise results, of which those that move are exact. */
static bool same_numbers(const test_case *c, tc_tensor got, tc_npy *want)
{
    double *number = tc_new_n(&c->ctx->arena, double, (size_t)want->count);
    if (want->count != tc_type_count(got.type) ||
        ti_npy_read(c->ctx, want, 0, want->count, number) != TC_OK)
        return false;
    for (int64_t i = 0; i < want->count; i++) {
        double v = ti_load_f64(got, i);
        if (v != number[i] && (v == v || number[i] == number[i]))
            return false;
    }
    return true;
}

/* As the TOSA tools want it: bf16 and fp8 as their bits. */
static bool keep_result(const test_case *c, const char *folder, tc_tensor got, size_t i)
{
    tc_dtype t = got.type->dtype;
    if (!folder || is_packed(t))
        return true;
    tc_buf out;
    ti_buf_init(&out, &c->ctx->arena);
    ti_npy_header(&out,
                  t == TC_bf16                     ? "<V2"
                  : t == TC_e4m3 || t == TC_ue8m0  ? "<V1"
                  : t == TC_e5m2 || t == TC_mxint8 ? "|u1"
                                                   : tc_dtypes[t].npy,
                  got.type->rank, got.type->dim);
    ti_buf_put(&out, got.data, tc_type_bytes(got.type));
    const char *path =
        ti_text_format(&c->ctx->arena, "%s/%s.%zu.npy", folder, c->name, i);
    return ti_file_write(c->ctx, path, (tc_bytes){out.data, out.size}) == TC_OK ||
           wrong(c, "a result cannot be kept");
}

static bool result_is_right(const test_case *c, tc_tensor got, size_t i)
{
    tc_npy *want;
    size_t n;
    if (ti_npy_open(c->ctx, in_folder(c, member(c, "ofm_file", i)), &want, &n) != TC_OK)
        return wrong(c, "has no recorded result");
    if (ti_text_eq(mode_of(c, i), "BITS"))
        return same_codes(c, got, want) || wrong(c, "gives other numbers");
    if (ti_text_eq(mode_of(c, i), "EXACT") && strchr("iub", want->kind))
        return equals(c, got, want) || wrong(c, "gives other numbers");
    if (ti_text_eq(mode_of(c, i), "EXACT") && want->kind == 'f' && want->size == 8)
        return same_numbers(c, got, want) || wrong(c, "gives other numbers");
    return keep_result(c, c->options->results, got, i);
}

/* ---- the same as VGF ------------------------------------------------------------------------- */

/* Loops, state, operators of others, and shapes that are computed have no instruction. */
static bool fits_vgf(const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_node *node = g->node[i];
        if (node->op == TC_OP_tosa_while_loop || tc_ops[node->op].traits & T_STATE ||
            node->op == TC_OP_tosa_custom)
            return false;
        for (int k = 0; k < node->n_in; k++)
            if (ti_type_of(g, node->in[k])->dtype == TC_shape && !ti_is_const(g, node->in[k]))
                return false;
    }
    return true;
}

static bool keep_vgf(const test_case *c, tc_bytes bytes, const tc_tensor *out, size_t n_out)
{
    if (!c->options->vgf)
        return true;
    const char *path = ti_text_format(&c->ctx->arena, "%s/%s.vgf", c->options->vgf, c->name);
    for (size_t i = 0; i < n_out; i++)
        if (!keep_result(c, c->options->vgf, out[i], i))
            return false;
    return ti_file_write(c->ctx, path, bytes) == TC_OK || wrong(c, "the VGF file cannot be kept");
}

/* Of 1.1 what 1.0 has no words for: inputs and outputs of its types, and i64 in general. */
static bool lacks_words(const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_in + g->n_out; i++) {
        tc_dtype t = ti_type_of(g, i < g->n_in ? g->in[i] : g->out[i - g->n_in])->dtype;
        if (!ti_tosa_has_1_0(t))
            return true;
    }
    for (size_t v = 1; v < g->n_val; v++)
        if (ti_type_of(g, (tc_val)v)->dtype == TC_i64)
            return true;
    return false;
}

static bool sums(const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_node; i++)
        if (tc_ops[g->node[i]->op].traits & T_MAC || g->node[i]->op == TC_OP_tosa_resize)
            return true;
    return false;
}

/* Sums that are added in another order: within eight steps of the largest number, fp8, which RESIZE
 * rounds after every term, within two.  bf16 is rounded
 * after every addition by the reference model, and once by us: test/unit/older.c has exact sums. */
static bool close_sums(const test_case *c, tc_tensor got, tc_tensor want)
{
    static const int fractions[TC_DTYPE_COUNT] = {
        [TC_f32] = 23, [TC_f16] = 10, [TC_e4m3] = 3, [TC_e5m2] = 2};
    int fraction = fractions[got.type->dtype], steps = fraction < 4 ? 1 : 3;
    double top = 0;
    if (!sums(c->module) || !ti_is_float(got.type->dtype))
        return false;
    for (int64_t i = 0; i < tc_type_count(want.type); i++)
        top = fmax(top, isfinite(ti_load_f64(want, i)) ? fabs(ti_load_f64(want, i)) : 0);
    for (int64_t i = 0; i < tc_type_count(want.type) && fraction; i++) {
        double a = ti_load_f64(got, i), b = ti_load_f64(want, i);
        if (a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= ldexp(top, steps - fraction)))
            return false;
    }
    return true;
}

/* As VGF; what is of TOSA 1.1 is said in the words of 1.0 first. */
static tc_status write_vgf(const test_case *c, tc_bytes *bytes)
{
    static const char *const everything =
        "vgf:TOSA-1.1+INT+FP+int16+int4+bf16+fp8e4m3+fp8e5m2+fft+int64+shape+mxfp";
    tc_module *module = ti_module_clone(c->module);
    tc_target target;
    TC_TRY(ti_target_parse(c->ctx, everything, &target));
    TC_TRY(ti_road_run(c->ctx, module, TC_AT_FORMED, TC_AT_TOSA, &(tc_job){.target = &target},
                       NULL));
    return ti_emit_vgf(c->ctx, module, bytes);
}

static bool same_as_vgf(const test_case *c, const tc_tensor *in, const tc_tensor *want)
{
    tc_bytes bytes;
    tc_module *back;
    tc_status status = write_vgf(c, &bytes);
    if (!c->newer && !fits_vgf(c->module))
        return status == TC_BAD_MODEL || wrong(c, "is not refused as VGF");
    if (c->newer && status == TC_BAD_MODEL && lacks_words(c->module))
        return true;
    if (status || ti_read_vgf(c->ctx, "written.vgf", bytes, &back) ||
        ti_verify_tosa(c->ctx, back, NULL))
        return wrong(c, "cannot be written as VGF, or not be read back");
    const tc_graph *g = ti_main(back);
    tc_tensor *again = tc_new_n(&c->ctx->arena, tc_tensor, g->n_in),
              *out = tc_new_n(&c->ctx->arena, tc_tensor, g->n_out);
    for (size_t i = 0; i < g->n_in; i++)
        again[i] = (tc_tensor){ti_type_of(g, g->in[i]), in[i].data};
    if (ti_exec_run(ti_exec_new(c->ctx, back), again, out) != TC_OK)
        return wrong(c, "does not run as VGF");
    for (size_t i = 0; i < g->n_out; i++)
        if (tc_type_bytes(out[i].type) != tc_type_bytes(want[i].type) ||
            (memcmp(out[i].data, want[i].data, tc_type_bytes(out[i].type)) != 0 &&
             !(c->newer && close_sums(c, out[i], want[i]))))
            return wrong(c, "gives other numbers as VGF");
    return keep_vgf(c, bytes, out, g->n_out);
}

/* An array of any kind into its input. */
static bool read_input(const test_case *c, size_t i, tc_tensor into)
{
    const char *file = member(c, "ifm_file", i);
    tc_npy *a;
    size_t n;
    if (is_packed(into.type->dtype))
        return read_packed(c, file, into);
    return ti_npy_open(c->ctx, in_folder(c, file), &a, &n) == TC_OK &&
           a->count == tc_type_count(into.type) && a->size == tc_dtypes[into.type->dtype].bytes &&
           ti_npy_read(c->ctx, a, 0, a->count, into.data) == TC_OK;
}

static bool runs(const test_case *c)
{
    tc_ctx *ctx = c->ctx;
    tc_graph *g = ti_main(c->module);
    size_t n_path = record_size(ti_json_get(c->desc, "ifm_file"));
    const char **path = tc_new_n(&ctx->arena, const char *, n_path);
    for (size_t i = 0; i < n_path; i++)
        path[i] = in_folder(c, member(c, "ifm_file", i));
    tc_data *data;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in),
              *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    bool packed = false, there = true;
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        packed = packed || is_packed(in[i].type->dtype);
    }
    for (size_t i = 0; packed && i < g->n_in && i < n_path; i++)
        there = there && read_input(c, i, in[i]);
    if (!packed)
        there = ti_read_data(ctx, g, path, n_path, &data) == TC_OK &&
                ti_data_sample(data, 0, in) == TC_OK;
    if (!there)
        return wrong(c, "cannot be given its data");
    tc_status status = ti_exec_run(ti_exec_new(ctx, c->module), in, out);
    if (record_true(c->desc, "unpredictable")) /* a REQUIRE is broken, which we call an error */
        return status == TC_BAD_MODEL || wrong(c, "runs");
    if (status)
        return wrong(c, "does not run");
    for (size_t i = 0; i < g->n_out; i++)
        if (!result_is_right(c, out[i], i))
            return false;
    return same_as_vgf(c, in, out);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static bool is_right(test_case *c, bool negative)
{
    tc_status status = read_and_verify(c);
    if (negative)
        return status == TC_BAD_MODEL || wrong(c, "is not refused with status 1");
    if (status)
        return wrong(c, "is refused");
    return needs_what_it_says(c) && rewrites(c) && is_text_too(c) &&
           (c->options->no_run || runs(c));
}

static void try_case(const options *o, const char *name, total totals[4])
{
    test_case c = {.ctx = tc_ctx_new(), .options = o, .name = name};
    c.folder = ti_text_format(&c.ctx->arena, "%s/%s", o->dir, name);
    c.desc = record_load(c.ctx, in_folder(&c, "desc.json"));
    bool negative = record_true(c.desc, "expected_failure");
    c.newer = ti_text_starts(name, "1.1");
    total *t = &totals[2 * c.newer + negative];
    t->all++;
    t->right += is_right(&c, negative);
    tc_ctx_free(c.ctx);
}

static bool parse_options(int argc, char **argv, options *o)
{
    int given = 0;
    for (int i = 1; i < argc; i++) {
        const char **value = ti_text_eq(argv[i], "--rewrite")   ? &o->rewrite
                             : ti_text_eq(argv[i], "--results") ? &o->results
                             : ti_text_eq(argv[i], "--vgf")     ? &o->vgf
                             : ti_text_eq(argv[i], "--every")   ? &o->every
                                                                : NULL;
        if (ti_text_eq(argv[i], "--no-run"))
            o->no_run = true;
        else if (value && i + 1 < argc)
            *value = argv[++i];
        else if (argv[i][0] == '-' || given == 2)
            return false;
        else
            *(given++ ? &o->prefix : &o->dir) = argv[i];
    }
    return given > 0 && atoi(o->every) > 0;
}

int main(int argc, char **argv)
{
    options o = {.prefix = "1.", .every = "1"};
    if (!parse_options(argc, argv, &o)) {
        fprintf(stderr, "usage: conformance-tosa DIR [PREFIX] [--no-run] [--rewrite OUT] "
                        "[--results OUT] [--vgf OUT] [--every N]\n");
        return 2;
    }
    total totals[4] = {{.name = "positive"}, {.name = "negative"}, {.name = "1.1 positive"}, {.name = "1.1 negative"}};
    tc_ctx *ctx = tc_ctx_new();
    const char **name;
    size_t n;
    if ((o.rewrite && ti_folder_make(ctx, o.rewrite) != TC_OK) ||
        (o.results && ti_folder_make(ctx, o.results) != TC_OK) ||
        (o.vgf && ti_folder_make(ctx, o.vgf) != TC_OK) ||
        ti_folder_list(ctx, o.dir, &name, &n) != TC_OK) {
        fputs(tc_diagnostics(ctx), stderr);
        return 1;
    }
    size_t asked = 0, every = (size_t)atoi(o.every);
    for (size_t i = 0; i < n; i++)
        if (ti_text_starts(name[i], o.prefix) && asked++ % every == 0)
            try_case(&o, name[i], totals);
    tc_ctx_free(ctx);
    int right = 0, all = 0;
    for (int i = 0; i < 4; i++) {
        printf("%s%s %d/%d", i ? ", " : "", totals[i].name, totals[i].right, totals[i].all);
        right += totals[i].right;
        all += totals[i].all;
    }
    printf("\ntosa: %d passed, %d failed\n", right, all - right);
    return all == 0 || right < all;
}
