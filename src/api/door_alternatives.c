/* SPDX-License-Identifier: Apache-2.0 */
/* door_alternatives.c -- a program that does not fit its board, compiled with other settings.
 *
 * Every trial is the caller's compilation with one setting changed, compiled into the same kind of
 * file; only its figures are kept. */
#include "../base/attempt.h"
#include "../base/enter.h"
#include "../board/board_fit.h"
#include "../drive/model.h"
#include "../output/output_files.h"
#include "../proof/proof.h"
#include "../read/read_options.h"

#include <math.h>
#include <stdio.h>

enum { SECONDS = 120, WAYS = 12, PAIRS = 2 };

/* What is changed: NULL and 0: unchanged. */
typedef struct way {
    int64_t max_scratch;
    const char *optimise, *memory_mode, *config;
    int quarters; /* of every open size */
} way;

typedef struct search {
    tc_ctx *ctx;
    const tc_model *model;
    const tc_compile_options *o;
    tc_compiled *c;
    tc_output kind;
    way way[WAYS];
    size_t n;
} search;

/* ---- which ---- */

static bool is_over(const tc_fit *f, tc_board_kind kind)
{
    for (size_t i = 0; i < f->n_memory; i++)
        if (f->memory[i].kind == kind)
            return f->memory[i].used > f->memory[i].bytes;
    return false;
}

static void add_way(search *s, way w)
{
    if (s->n < WAYS)
        s->way[s->n++] = w;
}

/* Less scratch, by as much as there is too much. */
static void add_scratch(search *s)
{
    const tc_fit *f = s->c->fit;
    int64_t room = f->working;
    for (size_t i = 0; i < f->n_memory; i++)
        if (f->memory[i].kind == f->works_in)
            room -= f->memory[i].used - f->memory[i].bytes;
    room &= ~(int64_t)15;
    if (is_over(f, f->works_in) && room > 0 && room < f->working)
        add_way(s, (way){.max_scratch = room});
}

/* Memory modes of other memories, where the board has them all. */
static void add_modes(search *s)
{
    static const char *const modes[] = {"Shared_Sram", "Dedicated_Sram", "Sram_Only"};
    const tc_fit *f = s->c->fit;
    const tc_board_memory *has = f->board->memory;
    for (size_t i = 0; i < TC_COUNT(modes); i++) {
        tc_npu_system system;
        tc_trial trial;
        ti_trial_begin(s->ctx, &trial);
        tc_status status =
            ti_npu_system_find(s->ctx, s->c->target.npu, s->c->asked.ethosu.ini, f->system_config,
                               modes[i], &system);
        ti_trial_end(s->ctx, &trial);
        if (status == TC_OK && !ti_text_starts(f->memory_mode, modes[i]) &&
            has[ti_board_kind_of(&system, 0)].bytes && has[ti_board_kind_of(&system, 1)].bytes)
            add_way(s, (way){.memory_mode = modes[i]});
    }
}

/* Fewer bits, where they are chosen here. */
static void add_bits(search *s, const char *config)
{
    const char *now = s->o->quant.config ? s->o->quant.config : "int8";
    if (s->o->quant.samples && !s->o->quant.settings && !ti_text_eq(now, config))
        add_way(s, (way){.config = config});
}

/* A size of so many quarters, divisible by the same power of two, up to 32. */
static int64_t smaller(int64_t size, int quarters)
{
    int64_t even = size & -size, less = size * quarters / 4;
    even = even > 32 ? 32 : even;
    less -= less % even;
    return less > 0 ? less : even;
}

/* Smaller sizes, where some were named for the model. */
static void add_dims(search *s)
{
    const tc_read_options *r = ti_reading(s->ctx);
    bool open = false;
    for (size_t i = 0; i < r->n_dim; i++)
        open = open || (r->dim[i].used && smaller(r->dim[i].value, 3) < r->dim[i].value);
    for (int quarters = 3; open && quarters > 0; quarters--)
        add_way(s, (way){.quarters = quarters});
}

static void list_ways(search *s)
{
    const tc_fit *f = s->c->fit;
    const char *optimise = s->o->ethosu.optimise;
    bool npu = s->c->target.machine->packing == TC_PACKED_STREAM;
    if (npu) {
        add_scratch(s);
        if (!optimise || !ti_text_eq(optimise, "Size"))
            add_way(s, (way){.optimise = "Size"});
        add_modes(s);
    }
    if (is_over(f, f->works_in))
        add_bits(s, "int8");
    if (is_over(f, TC_BOARD_FLASH) || is_over(f, TC_BOARD_DRAM) ||
        (npu && ti_text_eq(f->memory_mode, "Sram_Only")))
        add_bits(s, "a8w4");
    add_dims(s);
}

/* As on the command line. */
static const char *words_of(tc_ctx *ctx, const way *w)
{
    const tc_read_options *r = ti_reading(ctx);
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    if (w->max_scratch)
        ti_buf_printf(&b, " --max-scratch %" PRId64, w->max_scratch);
    if (w->optimise)
        ti_buf_printf(&b, " --optimise %s", w->optimise);
    if (w->memory_mode)
        ti_buf_printf(&b, " --system %s", w->memory_mode);
    if (w->config)
        ti_buf_printf(&b, " -q %s", w->config);
    for (size_t i = 0; i < r->n_dim && w->quarters; i++)
        if (r->dim[i].used)
            ti_buf_printf(&b, " --dim %s=%" PRId64, r->dim[i].name,
                          smaller(r->dim[i].value, w->quarters));
    return ti_buf_cstr(&b) + 1;
}

static tc_compile_options options_of(const search *s, const way *w)
{
    tc_compile_options o = *s->o;
    o.on_pass = NULL;
    o.check = false;
    if (w->max_scratch) {
        o.ethosu.max_scratch = w->max_scratch;
        o.strict = true; /* else what does not fit goes to the CPU */
    }
    if (s->c->quant.n_frontier) { /* what was found for a goal is not searched for again */
        o.goal = (tc_compile_goal){0};
        o.quant.config = NULL;
        o.quant.settings = &s->c->quant.config;
    }
    o.ethosu.optimise = w->optimise ? w->optimise : o.ethosu.optimise;
    tc_system_name system = ti_system_name_read(s->ctx, o.ethosu.system);
    system.mode = w->memory_mode ? w->memory_mode : system.mode;
    o.ethosu.system = ti_system_name_text(s->ctx, &system);
    if (w->config) {
        o.quant.config = w->config;
        o.quant.settings = NULL;
    }
    return o;
}

/* ---- each ---- */

/* The model again with smaller sizes: no data has these sizes, so samples are invented. */
static tc_status read_smaller(tc_ctx *ctx, const search *s, int quarters, tc_compile_options *o,
                              tc_model **out)
{
    static const char *const random[] = {"random:1"};
    tc_read_options *r = ti_reading(ctx);
    tc_dim_given *dim = ti_arena_copy(&ctx->arena, r->dim, r->n_dim * sizeof *dim);
    for (size_t i = 0; i < r->n_dim; i++)
        if (dim[i].used)
            dim[i].value = smaller(dim[i].value, quarters);
    r->dim = dim;
    r->cap_dim = r->n_dim;
    TC_TRY(tc_model_open(ctx, s->model->name, NULL, out));
    return s->o->quant.samples ? tc_dataset_open(ctx, random, 1, &o->quant.samples) : TC_OK;
}

/* Copies of texts: the attempt's memory is freed. */
typedef struct kept {
    char why[256], bound[256];
} kept;

static tc_status compile_way(tc_ctx *ctx, const search *s, const way *w, tc_fit_trial *out,
                             kept *texts)
{
    tc_compile_options o = options_of(s, w);
    tc_model *other;
    tc_compiled *c;
    const tc_model *model = s->model;
    if (w->quarters) {
        TC_TRY(read_smaller(ctx, s, w->quarters, &o, &other));
        model = other;
    }
    TC_TRY(tc_compile(ctx, model, &o, &c));
    TC_TRY(ti_make_files(ctx, c, s->kind, NULL));
    if (!c->fit)
        return TC_OK;
    out->fits = c->fit->fits;
    out->milliseconds = c->fit->milliseconds;
    out->least = c->fit->least;
    out->most = c->fit->most;
    snprintf(texts->bound, sizeof texts->bound, "%s", c->fit->bound ? c->fit->bound : "");
    for (size_t i = 0; i < c->fit->n_memory; i++)
        out->used[c->fit->memory[i].kind] = c->fit->memory[i].used;
    const tc_proof *p = &c->proof;
    if (p->of && p->n_out && p->out->compared && p->out->real && !w->quarters)
        out->sqnr_db = ti_proof_db(&p->out->by[0], &p->out->by[0].written);
    return TC_OK;
}

/* Only figures are kept, in one trial more. */
static tc_status try_way(search *s, const way *w)
{
    tc_fit *f = s->c->fit;
    tc_fit_trial *out = &f->trial[f->n_trial], made = {.sqnr_db = NAN};
    tc_attempt attempt;
    kept texts = {"", ""};
    TC_TRY(ti_tell_progress(s->ctx, "other ways tried", f->n_trial, s->n));
    ti_attempt_begin(s->ctx, &attempt);
    tc_status status = compile_way(s->ctx, s, w, &made, &texts);
    if (attempt.trial.why)
        snprintf(texts.why, sizeof texts.why, "%s", attempt.trial.why);
    ti_attempt_end(s->ctx, &attempt);
    *out = status == TC_OK ? made : (tc_fit_trial){.sqnr_db = NAN};
    out->options = words_of(s->ctx, w);
    if (status != TC_OK)
        out->why = ti_text_format(&s->ctx->arena, "%s",
                                  *texts.why ? texts.why : "it cannot be compiled so");
    if (*texts.bound)
        out->bound = ti_text_format(&s->ctx->arena, "%s", texts.bound);
    f->n_trial++;
    return status == TC_CANCELLED ? status : TC_OK;
}

/* ---- two at once ---- */

/* Every memory that is too small is large enough by one of the two. */
static bool together(const tc_fit *f, const tc_fit_trial *a, const tc_fit_trial *b)
{
    bool all = !a->why && !b->why;
    for (size_t i = 0; i < f->n_memory; i++) {
        tc_board_kind k = f->memory[i].kind;
        all = all && (a->used[k] <= f->memory[i].bytes || b->used[k] <= f->memory[i].bytes);
    }
    return all;
}

/* They change different settings. */
static bool join(const way *a, const way *b, way *out)
{
    *out = *a;
    if ((a->config && b->config) || (a->memory_mode && b->memory_mode) || (a->quarters && b->quarters))
        return false;
    out->max_scratch = a->max_scratch ? a->max_scratch : b->max_scratch;
    out->optimise = a->optimise ? a->optimise : b->optimise;
    out->memory_mode = a->memory_mode ? a->memory_mode : b->memory_mode;
    out->config = a->config ? a->config : b->config;
    out->quarters = a->quarters ? a->quarters : b->quarters;
    return true;
}

static tc_status try_pairs(search *s, size_t n, double until)
{
    tc_fit *f = s->c->fit;
    int left = PAIRS;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n && left && !ti_clock_past(until); k++) {
            way both;
            if (!together(f, &f->trial[i], &f->trial[k]) || !join(&s->way[i], &s->way[k], &both))
                continue;
            TC_TRY(try_way(s, &both));
            left--;
        }
    return TC_OK;
}

static tc_status try_all(tc_ctx *ctx, const tc_model *model, const tc_compile_options *options,
                         tc_compiled *c, tc_output kind)
{
    tc_compile_options o = TC_TAKE(tc_compile_options, options);
    search s = {.ctx = ctx, .model = model, .o = &o, .c = c, .kind = kind};
    tc_fit *f = c->fit;
    if (!f || f->fits || c->asked.beside)
        return TC_OK;
    double until = ti_seconds() + (o.goal.seconds > 0 ? o.goal.seconds : SECONDS);
    bool any = false;
    size_t n = 0;
    list_ways(&s);
    f->trial = tc_new_n(&ctx->arena, tc_fit_trial, s.n + PAIRS);
    f->n_trial = 0;
    for (; n < s.n && !ti_clock_past(until); n++) {
        if (s.way[n].quarters && n && s.way[n - 1].quarters && f->trial[n - 1].fits)
            break; /* smaller ones fit as well */
        TC_TRY(try_way(&s, &s.way[n]));
        any = any || f->trial[n].fits;
    }
    return any ? TC_OK : try_pairs(&s, n, until);
}

tc_status tc_compiled_try_alternatives(tc_ctx *ctx, const tc_model *model,
                                       const tc_compile_options *options, tc_compiled *compiled,
                                       tc_output kind)
{
    TC_ENTER(ctx, try_all(ctx, model, options, compiled, kind));
}
