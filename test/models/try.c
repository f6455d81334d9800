/* SPDX-License-Identifier: Apache-2.0 */
/* try.c -- one model, one target, in a process of its own.
 *
 * Numbers are compared one by one, as near as the model lets them be: its own results with every
 * node a millionth off say how far a rounding may carry.  Integers are equal, unless that changes
 * them too; NaN and infinities stay what they are. What the rules make of integers is compared inside, step by step (compile's check), and what
 * comes of it by compile's proof: an output that is hardly the model's any more must be told of. */
#include "models.h"

#include "run/eval.h"
#include "drive/driver.h"
#include "output/payload.h"
#include "proof/proof.h"
#include "drive/program_file.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"
#include "read/read.h"
#include "run/exec.h"
#include "wire/file.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 30, ASLEEP = 900, CALLS = 2, ROUGH = 4 };
static const size_t most_memory = (size_t)2 << 30;

const char *const outcome_name[OUTCOMES] = {"fine",   "refused", "wrong",
                                            "broken", "crashed", "hung"};

typedef struct attempt {
    tc_ctx *ctx;
    finding *f;
    const char *target;
    size_t n_in, n_out;
    bool typed;    /* a model of codes, in which a step more or less is rounding */
    bool branches; /* a model that decides by numbers */
    bool *tied;    /* by output: it follows from a comparison of floats that are equal, or not */
    tc_tensor *in[CALLS];
    tc_tensor *want[CALLS];
    tc_tensor *near[CALLS][ROUGH]; /* with other roundings */
} attempt;

/* ---- telling ---- */

static bool tell(attempt *a, outcome what, const char *stage, const char *words)
{
    const char *end = strchr(words, '\n');
    a->f->what = what;
    snprintf(a->f->words, sizeof a->f->words, "%s: %.*s", stage,
             end ? (int)(end - words < 300 ? end - words : 300) : 300, words);
    return false;
}

/* The first message, without the place it begins with. */
static const char *first_error(tc_ctx *ctx)
{
    const char *words = strstr(tc_diagnostics(ctx), "error: ");
    return words ? words + strlen("error: ") : tc_diagnostics(ctx);
}

static bool went(attempt *a, tc_status status, const char *stage)
{
    if (status == TC_OK)
        return true;
    bool ours = status == TC_BUG || strstr(tc_diagnostics(a->ctx), "[bug]");
    return tell(a, ours ? BROKEN : REFUSED, stage, first_error(a->ctx));
}

/* ---- running ---- */

static tc_tensor copied(tc_ctx *ctx, tc_tensor t)
{
    tc_tensor c = ti_tensor_new(&ctx->arena, t.type);
    memcpy(c.data, t.data, tc_type_bytes(t.type));
    return c;
}

/* All calls, one behind the other, what is remembered carried on. */
static tc_status call_all(attempt *a, tc_module *module, bool reference, tc_tensor *const *in,
                          tc_tensor **out)
{
    tc_ctx *ctx = a->ctx;
    ctx->reference_kernels = reference;
    tc_exec *exec = ti_exec_new(ctx, module);
    for (int k = 0; k < CALLS; k++) {
        out[k] = tc_new_n(&ctx->arena, tc_tensor, ti_main(module)->n_out);
        TC_TRY(ti_exec_run(exec, in[k], out[k]));
        for (size_t i = 0; i < ti_main(module)->n_out; i++)
            out[k][i] = copied(ctx, out[k][i]);
    }
    return TC_OK;
}

/* ---- how far roundings may carry ---- */

/* Each float a few last places up or down, and zeros of either sign. */
static void nudge(tc_tensor t, uint64_t seed)
{
    for (int64_t e = 0; ti_is_float(t.type->dtype) && e < tc_type_count(t.type); e++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double x = ti_load_f64(t, e), by = seed >> 62 & 1 ? 1e-6 : -1e-6;
        ti_store_f64(t, e, x == 0 ? copysign(0, by) : x * (1 + by));
    }
}

/* Floats that a nudge would bring past each other are equal: a nudge parts numbers, but never makes
 * them equal, so that a tie that other roundings make would not be seen. */
static void join(tc_tensor x, tc_tensor y)
{
    for (int64_t e = 0; e < tc_type_count(x.type); e++) {
        double a = ti_load_f64(x, e), b = ti_load_f64(y, e);
        if (fabs(a - b) <= 2e-6 * fabs(a))
            ti_store_f64(y, e, a);
    }
}

/* |x|, and 0 for what is no number. */
static tc_tensor sizes(tc_ctx *ctx, tc_tensor t)
{
    tc_tensor size = copied(ctx, t);
    for (int64_t e = 0; e < tc_type_count(t.type); e++) {
        double x = ti_load_f64(t, e);
        ti_store_f64(size, e, isfinite(x) ? fabs(x) : 0);
    }
    return size;
}

/* A sum of finite products whose sizes add up past the largest number is infinite, NaN or a number
 * by the order of adding, which TOSA leaves open: it is NaN in every second run. */
static tc_status spoil(tc_ctx *ctx, tc_graph *g, const tc_node *node, const tc_tensor *in,
                       tc_tensor sum, uint64_t seed)
{
    tc_tensor size[64] = {{NULL, NULL}}, total;
    if (!(seed & 1) || !(tc_ops[node->op].traits & T_MAC) || node->op == TC_OP_sdpa ||
        !ti_is_float(sum.type->dtype))
        return TC_OK;
    for (int i = 0; i < node->n_in && i < 64; i++)
        size[i] = in[i].type ? sizes(ctx, in[i]) : in[i];
    TC_TRY(ti_eval_node(g, node, size, &total, &ctx->arena));
    for (int64_t e = 0; e < tc_type_count(sum.type); e++)
        if (isinf(ti_load_f64(total, e)))
            ti_store_f64(sum, e, (double)NAN);
    return TC_OK;
}

/* A Fourier transform's results are sums of all elements: what is 1e-6 of the largest is what rounding
 * leaves of terms that cancel, and 0 in every second run; a nudge never makes it 0. */
static void sink(const tc_tensor *in, tc_tensor t, uint64_t seed)
{
    double most = 0;
    if (!(seed & 1) || !in[0].type || tc_dtypes[in[0].type->dtype].kind != TC_COMPLEX ||
        !ti_is_float(t.type->dtype))
        return;
    for (int64_t e = 0; e < tc_type_count(t.type); e++)
        most = fmax(most, fabs(ti_load_f64(t, e)));
    for (int64_t e = 0; e < tc_type_count(t.type) && isfinite(most); e++)
        if (fabs(ti_load_f64(t, e)) <= 1e-6 * most)
            ti_store_f64(t, e, 0);
}

/* Operands as other roundings would have them.  A sum of products computed in floats is the exact
 * sum of products that are each a little off: where they cancel that is far more of the sum than a
 * nudge of the result.  eq and ne: in every second run near numbers are equal. */
static void blur(tc_ctx *ctx, const tc_node *node, tc_tensor *in, uint64_t seed)
{
    bool sums = tc_ops[node->op].traits & T_MAC;
    bool equal = node->op == TC_OP_eq || node->op == TC_OP_ne;
    if (!(sums || (equal && seed & 1)) || !ti_is_float(in[0].type->dtype))
        return;
    if (sums) {
        in[0] = copied(ctx, in[0]);
        nudge(in[0], seed * 31 + 7);
    } else if (ti_same_dims(in[0].type, in[1].type) && in[0].type->dtype == in[1].type->dtype) {
        in[1] = copied(ctx, in[1]);
        join(in[0], in[1]);
    }
}

/* The model with every result nudged, call by call. */
static tc_status call_roughly(attempt *a, tc_module *model, uint64_t seed, tc_tensor **out)
{
    tc_ctx *ctx = a->ctx;
    tc_graph *g = ti_main(model);
    tc_tensor *at = tc_new_n(&ctx->arena, tc_tensor, g->n_val);
    for (size_t v = 1; v < g->n_val; v++)
        at[v] = (tc_tensor){g->val[v]->type, (void *)(uintptr_t)g->val[v]->data};
    for (int k = 0; k < CALLS; k++) {
        for (size_t i = 0; i < g->n_in; i++)
            at[g->in[i]] = a->in[k][i];
        for (size_t n = 0; n < g->n_node; n++) {
            const tc_node *node = g->node[n];
            tc_tensor in[64] = {{NULL, NULL}}, result[16];
            if (node->op == TC_OP_const)
                continue;
            for (int i = 0; i < node->n_in && i < 64; i++)
                if (node->in[i])
                    in[i] = at[node->in[i]];
            blur(ctx, node, in, seed + n * 977 + (uint64_t)k);
            TC_TRY(ti_eval_node(g, node, in, result, &ctx->arena));
            for (int i = 0; i < node->n_out && i < 16; i++) {
                at[node->out[i]] = copied(ctx, result[i]);
                nudge(at[node->out[i]], seed + n * 977 + (uint64_t)k);
            }
            TC_TRY(spoil(ctx, g, node, in, at[node->out[0]], seed + n * 977 + (uint64_t)k));
            sink(in, at[node->out[0]], seed + n * 977 + (uint64_t)k);
        }
        out[k] = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
        for (size_t i = 0; i < g->n_out; i++)
            out[k][i] = at[g->out[i]];
        for (size_t i = 0; i < g->n_mutation; i++)
            at[g->mutation[i].before] = at[g->mutation[i].after];
    }
    return TC_OK;
}

/* By output, whether it follows from an eq or ne of floats. */
static bool *tied_outputs(tc_ctx *ctx, const tc_graph *g)
{
    bool *tied = tc_new_n(&ctx->arena, bool, g->n_val), *out = tc_new_n(&ctx->arena, bool, g->n_out);
    for (size_t n = 0; n < g->n_node; n++) {
        const tc_node *node = g->node[n];
        bool equal = node->op == TC_OP_eq || node->op == TC_OP_ne, any = false;
        for (int i = 0; i < node->n_in; i++)
            any = any || (node->in[i] && (tied[node->in[i]] ||
                                          (equal && ti_is_float(ti_type_of(g, node->in[i])->dtype))));
        for (int i = 0; i < node->n_out; i++)
            tied[node->out[i]] = any;
    }
    for (size_t i = 0; i < g->n_out; i++)
        out[i] = tied[g->out[i]];
    return out;
}

/* Inputs, and what the model itself says. */
static bool prepare(attempt *a, const char *path, tc_module **model)
{
    static const char *const invented[] = {"random:1"};
    tc_ctx *ctx = a->ctx;
    tc_samples samples;
    if (!went(a, ti_read(ctx, path, model), "read") || !went(a, ti_verify(ctx, *model), "verify"))
        return false;
    const tc_graph *g = ti_main(*model);
    a->n_in = g->n_in;
    a->n_out = g->n_out;
    a->tied = tied_outputs(ctx, g);
    for (size_t v = 1; v < g->n_val; v++)
        a->typed = a->typed || (g->val[v]->type && g->val[v]->type->quant);
    for (size_t n = 0; n < g->n_node; n++)
        a->branches = a->branches || g->node[n]->op == TC_OP_cond;
    if (!went(a, ti_open_samples(ctx, g, invented, 1, &samples), "samples"))
        return false;
    for (int k = 0; k < CALLS; k++) {
        a->in[k] = tc_new_n(&ctx->arena, tc_tensor, a->n_in);
        for (size_t i = 0; i < a->n_in; i++)
            a->in[k][i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        if (!went(a, samples.read(samples.from, (size_t)k, a->in[k]), "samples"))
            return false;
    }
    for (int s = 0; s < ROUGH; s++) {
        tc_tensor *out[CALLS];
        if (!went(a, call_roughly(a, *model, (uint64_t)s * 31337, out), "run"))
            return false;
        for (int k = 0; k < CALLS; k++)
            a->near[k][s] = out[k];
    }
    return went(a, call_all(a, *model, true, a->in, a->want), "run");
}

/* ---- comparing ---- */

static bool same_form(tc_tensor x, tc_tensor y)
{
    return x.type->dtype == y.type->dtype && ti_same_dims(x.type, y.type);
}

/* No number, or one that the next product makes infinite. */
static bool is_beyond(double x) { return !(fabs(x) < 1e30); }

/* NaN beside a number, or infinities of two signs. */
static bool is_other(double x, double y)
{
    return isnan(x) ? !isnan(y) : isnan(y) || (x > 0) != (y > 0);
}

/* How far an element of the model's result roams with other roundings, INFINITY where it is beyond
 * numbers with some of them only. */
static double roamed(tc_tensor want, const tc_tensor *near, int64_t e)
{
    double w = ti_load_f64(want, e), by = 0;
    for (int s = 0; near && s < ROUGH; s++) {
        double x = ti_load_f64(near[s], e);
        if (is_beyond(w) ? !is_beyond(x) || is_other(x, w) : is_beyond(x))
            return INFINITY;
        by = is_beyond(w) ? by : fmax(by, fabs(x - w));
    }
    return by;
}

/* What a result is compared by. */
typedef struct bounds {
    const tc_tensor *near; /* the same with other roundings, or NULL */
    double relative, step; /* step: what a rounding that falls the other way may make of a code */
    bool tied;             /* it follows from numbers that are equal, or not: all of it may turn */
} bounds;

/* Every number within what it roams itself; of ties few roundings show both sides, so that as many
 * as roam may be off by as much as any.  NaN and infinities stay what they are. */
static bool agrees(tc_tensor got, tc_tensor want, const bounds *b)
{
    double top = 1e-3, most = 0;
    int64_t n = tc_type_count(want.type), roaming = 0, loose = 0;
    bool real = ti_is_float(want.type->dtype);
    for (int64_t e = 0; e < n; e++) {
        double w = ti_load_f64(want, e), by = roamed(want, b->near, e);
        top = is_beyond(w) ? top : fmax(top, fabs(w));
        most = isfinite(by) ? fmax(most, by) : most;
    }
    double known = real ? b->relative * top + b->step : 0;
    for (int64_t e = 0; e < n; e++) {
        double w = ti_load_f64(want, e), g = ti_load_f64(got, e), off = fabs(g - w),
               by = roamed(want, b->near, e);
        bool same = is_beyond(w) ? is_beyond(g) && !is_other(g, w) : off <= known;
        roaming += real ? 30 * by > known : by > 0;
        if (same || !isfinite(by) || (real ? off <= known + 30 * by : by > 0))
            continue;
        if (is_beyond(w) || (real && !(off <= known + 30 * most)))
            return false;
        loose++;
    }
    return loose <= (b->tied && roaming ? n : roaming);
}

static double relative_of(tc_dtype t)
{
    return t == TC_f16 ? 4e-3 : t == TC_bf16 ? 3e-2 : 2e-5;
}

static bool all_agree(attempt *a, tc_tensor *const *got, size_t n_got, tc_tensor *const *want,
                      bool loosely, const double *step, const char *stage)
{
    char words[300];
    if (n_got != a->n_out) {
        snprintf(words, sizeof words, "%zu outputs, expected %zu", n_got, a->n_out);
        return tell(a, WRONG, stage, words);
    }
    for (int k = 0; k < CALLS; k++)
        for (size_t i = 0; i < a->n_out; i++) {
            tc_tensor near[ROUGH], g = got[k][i], w = want[k][i];
            for (int s = 0; s < ROUGH; s++)
                near[s] = a->near[k][s][i];
            if (!same_form(g, w)) {
                snprintf(words, sizeof words, "output is %s, expected %s",
                         ti_type_text(&a->ctx->arena, g.type),
                         ti_type_text(&a->ctx->arena, w.type));
                return tell(a, WRONG, stage, words);
            }
            bounds b = {loosely ? near : NULL, relative_of(w.type->dtype), step ? step[i] : 0,
                        a->tied[i]};
            if (agrees(g, w, &b))
                continue;
            double most = 0;
            for (int64_t e = 0; e < tc_type_count(w.type); e++)
                most = fmax(most, fabs(ti_load_f64(g, e) - ti_load_f64(w, e)));
            snprintf(words, sizeof words, "other numbers, by %.3g (output %zu, call %d)", most, i,
                     k);
            return tell(a, WRONG, stage, words);
        }
    return true;
}

/* ---- wrong in silence ---- */

static const double SILENT_DB = 8; /* compile speaks below 15, on more samples and others: by 6 dB apart
                                       where a remainder jumps */
enum { FEW = 16, STEPS = 2 };      /* fewer numbers but 0 say little; so many steps are rounding */

/* dB of an output of integer arithmetic, in steps of `step`, beside the model, over the calls from
 * `from` to `to`; INFINITY where there is nothing to be said: the model itself roams as far or
 * gives nothing but 0, it is a matter of roundings, or of few numbers. */
static double calls_db(const attempt *a, tc_tensor *const *got, size_t i, double step, int from,
                       int to)
{
    double signal = 0, noise = 0, roam = 0, n = 0, telling = 0;
    for (int k = from; k < to; k++)
        for (int64_t e = 0; e < tc_type_count(a->want[k][i].type); e++) {
            double w = ti_load_f64(a->want[k][i], e), g = ti_load_f64(got[k][i], e);
            if (is_beyond(w))
                continue;
            double off = is_beyond(g) ? fabs(w) : fabs(g - w);
            for (int s = 0; s < ROUGH; s++) {
                double by = ti_load_f64(a->near[k][s][i], e) - w;
                roam = isfinite(by) ? fmax(roam, fabs(by)) : INFINITY;
            }
            signal += w * w;
            noise += off * off;
            n++;
            telling += w != 0 || off > 0;
        }
    bool luck = telling < FEW * (to - from) / CALLS || noise <= STEPS * STEPS * step * step * n ||
                roam * roam > noise / 100;
    return !(signal > 0) || luck ? INFINITY : 10 * log10(signal / noise);
}

/* Where a model branches, a mean of 8 bits may choose the other way in one call: the best counts.
 * */
static double output_db(const attempt *a, tc_tensor *const *got, size_t i, double step)
{
    double db = calls_db(a, got, i, step, 0, CALLS);
    for (int k = 0; a->branches && k < CALLS; k++)
        db = fmax(db, calls_db(a, got, i, step, k, k + 1));
    return db;
}

static bool is_told(const attempt *a)
{
    const char *words = tc_diagnostics(a->ctx);
    return strstr(words, "[accuracy]") || strstr(words, "[written]");
}

/* Outputs of floats: whether each is near the model's, or compile has said that one is not. */
static bool is_near_or_told(attempt *a, const tc_proof *proof, tc_tensor *const *got)
{
    for (size_t i = 0; i < a->n_out && !is_told(a); i++) {
        double step = i < proof->n_out ? proof->out[i].step : 0;
        double db = ti_is_float(a->want[0][i].type->dtype) ? output_db(a, got, i, step) : INFINITY;
        char words[100];
        if (db >= SILENT_DB)
            continue;
        snprintf(words, sizeof words, "%.1f dB without a word (output %zu)", db, i);
        return tell(a, WRONG, "the program beside the model", words);
    }
    return true;
}

/* ---- one target ---- */

static void remember_left(attempt *a, const tc_compiled *c)
{
    for (size_t i = 0; i < c->split.n_left; i++) {
        tc_op op = c->split.left[i].node->op;
        if (op != TC_OP_rescale && op != TC_OP_cast && op != TC_OP_identity) {
            snprintf(a->f->left, sizeof a->f->left, "%s: %s", tc_ops[op].name,
                     c->split.left[i].why);
            return;
        }
    }
}

/* Whether a node is on the CPU that ExecuTorch has no kernel for: it is made of others in f32, and
 * comes out as near as f32 knows it. */
static bool is_made_of_others(const tc_compiled *c)
{
#define KERNEL(op, ...) TC_OP_##op,
    static const tc_op has_kernel[] = {
#include "target/cpu.def"
        TC_OP_rescale, TC_OP_identity};
    for (size_t i = 0; i < c->split.n_left; i++) {
        size_t k = 0;
        while (k < TC_COUNT(has_kernel) && has_kernel[k] != c->split.left[i].node->op)
            k++;
        if (k == TC_COUNT(has_kernel))
            return true;
    }
    return false;
}

/* By output, the step of its codes, where nodes are on the CPU: there some operators are made of
 * others in f32, so that a rounding may fall the other way. */
static const double *steps_of(attempt *a, const tc_compiled *c)
{
    const tc_graph *g = ti_main(c->module);
    double *step = tc_new_n(&a->ctx->arena, double, g->n_out + 1);
    for (size_t i = 0; a->f->left[0] && i < g->n_out; i++) {
        const tc_node *def = ti_def(g, g->out[i]);
        const tc_quant *q =
            def && def->op == TC_OP_rescale ? ti_type_of(g, def->in[0])->quant : NULL;
        step[i] = q && q->axis < 0 ? q->scale[0] : 0;
    }
    return step;
}

static tc_status payloads(attempt *a, tc_compiled *c, tc_payload **out)
{
    if (c->target.machine->packing == TC_PACKED_VGF) {
        TC_TRY(ti_pack_regions(a->ctx, c));
        *out = c->payload;
        return TC_OK;
    }
    *out = tc_new_n(&a->ctx->arena, tc_payload, c->n_region + 1);
    for (size_t i = 0; i < c->n_region; i++)
        (*out)[i] = ti_program_tosa_payload(a->ctx, c, &c->region[i]);
    return TC_OK;
}

static tc_status write_regions(attempt *a, const tc_compiled *c, const char *name,
                               const char *written)
{
    for (size_t i = 0; written && i < c->n_region; i++)
        TC_TRY(ti_file_write(a->ctx,
                             ti_text_format(&a->ctx->arena, "%s/%s_for_%s.%zu.tosa", written, name,
                                            a->target, i),
                             c->region[i].tosa));
    return TC_OK;
}

static bool for_target(attempt *a, const char *path, const char *name, const char *written)
{
    static const char *const invented[] = {"random:1"};
    tc_ctx *ctx = a->ctx;
    tc_dataset *calib;
    if (!went(a, tc_dataset_open(ctx, invented, 1, &calib), "data"))
        return false;
    tc_compile_request r = {.model = path,
                            .target = a->target,
                            .data.calib = calib,
                            .data.only_if_needed = true,
                            .check = true};
    tc_compiled c = {0};
    tc_tensor *quick[CALLS], *slow[CALLS], *again[CALLS];
    if (!went(a, ti_compile_stages(ctx, &r, &c), "compile"))
        return false;
    remember_left(a, &c);
    if (!went(a, ti_prove(ctx, &c, c.module), "proof"))
        return false;
    bool made = is_made_of_others(&c);
    const double *step = steps_of(a, &c); /* making the program changes the module */
    size_t n = ti_main(c.module)->n_out;
    bool floats = !a->typed && (c.target.machine->packing == TC_PACKED_NOT ||
                                c.target.tosa >> TC_FEATURE_FP & 1u);
    if (!went(a, call_all(a, c.module, false, a->in, quick), "run compiled") ||
        !went(a, call_all(a, c.module, true, a->in, slow), "run compiled, reference kernels") ||
        !all_agree(a, quick, n, slow, floats, NULL, "quick kernels beside reference kernels") ||
        (floats && !all_agree(a, slow, n, a->want, true, NULL, "compiled beside the model")) ||
        !went(a, write_regions(a, &c, name, written), "write"))
        return false;
    tc_payload *payload = NULL;
    tc_pte program;
    tc_module *back;
    return went(a, payloads(a, &c, &payload), "payloads") &&
           went(a,
                ti_program_join(ctx, &(tc_program_part){&c, "forward", payload, c.n_region}, 1,
                                NULL, &program),
                "program") &&
           went(a, ti_read_pte(ctx, "m.pte", program.pte, &back), "read the program") &&
           went(a, call_all(a, back, false, a->in, again), "run the program") &&
           all_agree(a, again, ti_main(back)->n_out, quick, floats || made, step,
                     "the program, read back") &&
           (floats || is_near_or_told(a, &c.proof, again));
}

/* The model as a user runs it: tidied, planned, quick kernels; and as text again. */
static bool for_itself(attempt *a, tc_module *model)
{
    tc_buf text;
    tc_module *back;
    tc_tensor *quick[CALLS];
    ti_buf_init(&text, &a->ctx->arena);
    ti_print(model, &(tc_print_options){.locs = true}, &text);
    if (!went(a, ti_parse(a->ctx, "back", (tc_bytes){text.data, text.size}, (tc_bytes){NULL, 0},
                          &back),
              "parse back"))
        return false;
    if (!ti_module_equal(model, back))
        return tell(a, WRONG, "text", "the text form reads back as another graph");
    return went(a, ti_run_passes(a->ctx, model, "tidy", NULL), "tidy") &&
           went(a, call_all(a, model, false, a->in, quick), "run tidied") &&
           all_agree(a, quick, ti_main(model)->n_out, a->want, true, NULL,
                     "tidied beside the model");
}

static void attempt_all(finding *f, const char *path, const char *target, const char *name,
                        const char *written)
{
    tc_ctx *ctx = tc_ctx_new();
    attempt a = {.ctx = ctx, .f = f, .target = target};
    ctx->threads = 1;
    ctx->arena.limit = ctx->scratch.limit = most_memory;
    if (setjmp(ctx->oom) == 0) {
        tc_module *model;
        ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
        if (prepare(&a, path, &model) && (ti_text_eq(target, "float")
                                              ? for_itself(&a, model)
                                              : for_target(&a, path, name, written)))
            f->what = FINE;
    } else
        tell(&a, HUNG, "memory", "more than 2 GiB");
    f->told = true;
    tc_ctx_free(ctx);
}

/* ---- the process ---- */

/* Ends this process after SECONDS of work, however busy the machine is, or when it waits for
 * nothing. */
static void limit_time(void)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
    alarm(ASLEEP);
}

static void ended(finding *f, int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGPROF || signal == SIGALRM) {
        f->what = HUNG;
        snprintf(f->words, sizeof f->words, "no answer in %d s", SECONDS);
    } else if (signal || WEXITSTATUS(status) || !f->told) {
        f->what = CRASHED;
        if (signal)
            snprintf(f->words, sizeof f->words, "signal %d", signal);
        else
            snprintf(f->words, sizeof f->words, "exit %d", WEXITSTATUS(status));
    }
}

finding try_model(const char *text, size_t size, const char *target, const char *name,
                  const char *written)
{
    char path[] = "/tmp/tosac-model-XXXXXX";
    finding *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int file = mkstemp(path), status = 0;
    if (f == MAP_FAILED || file < 0 || write(file, text, size) != (ssize_t)size) {
        perror("models");
        exit(1);
    }
    close(file);
    memset(f, 0, sizeof *f);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        limit_time();
        attempt_all(f, path, target, name, written);
        exit(0); /* with what a build for coverage has to say */
    }
    waitpid(child, &status, 0);
    ended(f, status);
    finding result = *f;
    munmap(f, sizeof *f);
    unlink(path);
    return result;
}
