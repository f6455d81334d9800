/* SPDX-License-Identifier: Apache-2.0 */
/* door_run.c -- programs that run, with their inputs and outputs bound. */

#include "../num/load.h"
#include "../run/exec.h"
#include "../run/parallel_samples.h"

#include "../data/dataset.h"
#include "../base/enter.h"
#include "../drive/model.h"
#include "../drive/road.h"

/* A worker that runs samples: on a plan of its own where there are several. */
typedef struct seat {
    tc_plan *plan; /* NULL: the program itself */
    tc_tensor *in, *out, *after;
    double seconds;
} seat;

struct tc_program {
    tc_ctx *ctx;
    const tc_module *from; /* the model's */
    tc_module *module;
    tc_graph *g;
    tc_exec *exec;       /* NULL: not yet planned, which the first run does */
    void **own;          /* by input: a buffer of the program's own, once it is asked for */
    const void **bound;  /* by input: where it is read; NULL: that buffer */
    void **bound_out;    /* by output: where it is copied; NULL: nowhere */
    tc_tensor *in, *out; /* of the last run */
    bool has_run;
    double *seconds; /* by operator; NULL: not asked for */
    tc_spent *spent; /* by step */
    size_t n_spent;
    seat *seat; /* the workers that samples were spread over; NULL: there were none */
    size_t n_seat;
    tc_spread_run *threads;
    void **declared; /* by mutation: the initial state */
};

/* A Python scalar as a constant of rank 0: True, 5, 0.5; TC_NONE: it is not one. */
static tc_val number_of(tc_graph *g, const char *text)
{
    static const tc_loc nowhere;
    tc_ctx *ctx = g->module->ctx;
    bool yes = ti_text_eq(text, "True"), no = ti_text_eq(text, "False");
    tc_dtype dtype = yes || no ? TC_bool : TC_i64;
    int64_t i = 0;
    double f = 0;
    if (!yes && !no && !ti_text_to_i64(ti_str_of(text), &i)) {
        dtype = TC_f64;
        if (!ti_text_to_f64(ti_str_of(text), &f))
            return TC_NONE;
    }
    tc_tensor number = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, 0, NULL));
    if (dtype == TC_f64)
        ti_store_f64(number, 0, f);
    else
        ti_store_i64(number, 0, yes ? 1 : i);
    return ti_graph_const(g, number.type, number.data, NULL, &nowhere);
}

/* Scalars among what the model returns are outputs like its tensors, in their positions. */
static void add_numbers(tc_module *m, tc_graph *g)
{
    size_t tensors = 0, numbers = 0, at = 0;
    for (size_t k = 0; k < m->signature.n_out; k++) {
        tensors += m->signature.out[k].val != TC_NONE;
        numbers += m->signature.out[k].val == TC_NONE && m->signature.out[k].text != NULL;
    }
    if (!numbers || tensors != g->n_out)
        return;
    const tc_val *old = g->out;
    g->out = NULL;
    g->n_out = g->cap_out = 0;
    for (size_t k = 0; k < m->signature.n_out; k++) {
        tc_port *port = &m->signature.out[k];
        bool tensor = port->val != TC_NONE;
        tc_val val = tensor ? old[at++] : port->text ? number_of(g, port->text) : TC_NONE;
        if (!val)
            continue;
        port->val = val;
        ti_graph_output(g, val);
    }
}

static bool has_region(const tc_module *m)
{
    for (size_t i = 0; i < m->n_graph; i++)
        for (size_t k = 0; k < m->graph[i]->n_node; k++)
            if (m->graph[i]->node[k]->op == TC_OP_ethosu)
                return true;
    return false;
}

static tc_status make(tc_ctx *ctx, const tc_model *model, const tc_program_options *options,
                      tc_program **out)
{
    (void)options;
    tc_arena *arena = &ctx->arena;
    tc_program *p = tc_new(arena, tc_program);
    p->ctx = ctx;
    p->from = model->module;
    p->module = ti_module_clone(model->module);
    if (!ctx->reference_kernels)
        TC_TRY(ti_road_run(ctx, p->module, TC_AT_COPY, TC_AT_RUNNABLE, NULL, NULL));
    p->g = ti_main(p->module);
    if (ctx->device && !has_region(p->module))
        ti_warning(ctx, &(tc_loc){.file = p->module->file}, TC_E_NO_EFFECT,
                   "there is no Ethos-U region in it that the device could run");
    add_numbers(p->module, p->g);
    p->own = tc_new_n(arena, void *, p->g->n_in);
    p->bound = tc_new_n(arena, const void *, p->g->n_in);
    p->bound_out = tc_new_n(arena, void *, p->g->n_out);
    p->in = tc_new_n(arena, tc_tensor, p->g->n_in);
    p->out = tc_new_n(arena, tc_tensor, p->g->n_out);
    *out = p;
    return TC_OK;
}

tc_status tc_program_new(tc_ctx *ctx, const tc_model *model, const tc_program_options *options,
                         tc_program **out)
{
    TC_ENTER(ctx, make(ctx, model, options, out));
}

/* ---- ports ---- */

size_t tc_program_input_count(const tc_program *program)
{
    return program->g->n_in;
}

size_t tc_program_output_count(const tc_program *program)
{
    return program->g->n_out;
}

bool tc_program_input(const tc_program *program, size_t i, tc_port_info *out)
{
    return ti_port_fill(program->g, false, i, out);
}

bool tc_program_output(const tc_program *program, size_t i, tc_port_info *out)
{
    return ti_port_fill(program->g, true, i, out);
}

static bool is_named(const char *a, const char *b)
{
    return a && b && ti_text_eq(a, b);
}

int tc_program_find_input(const tc_program *program, const char *name)
{
    for (size_t i = 0; i < program->g->n_in; i++)
        if (is_named(ti_input_name(program->g, i), name))
            return (int)i;
    return -1;
}

int tc_program_find_output(const tc_program *program, const char *name)
{
    for (size_t i = 0; i < program->g->n_out; i++)
        if (is_named(ti_output_name_of(program->g, i), name))
            return (int)i;
    return -1;
}

/* ---- memory ---- */

static tc_status own_buffer(tc_program *p, size_t i)
{
    if (i < p->g->n_in && !p->own[i]) {
        size_t bytes = tc_type_bytes(ti_type_of(p->g, p->g->in[i]));
        p->own[i] = ti_arena_raw(&p->ctx->arena, bytes);
        memset(p->own[i], 0, bytes);
    }
    return TC_OK;
}

static tc_status enter_own_buffer(tc_program *p, size_t i)
{
    TC_ENTER(p->ctx, own_buffer(p, i));
}

void *tc_program_input_buffer(tc_program *program, size_t i)
{
    return enter_own_buffer(program, i) == TC_OK && i < program->g->n_in ? program->own[i] : NULL;
}

tc_status tc_program_bind_input(tc_program *program, size_t i, const void *data)
{
    if (i >= program->g->n_in)
        return TC_USAGE;
    program->bound[i] = data;
    return TC_OK;
}

tc_status tc_program_bind_output(tc_program *program, size_t i, void *data)
{
    if (i >= program->g->n_out)
        return TC_USAGE;
    program->bound_out[i] = data;
    return TC_OK;
}

tc_status tc_program_bind_data(tc_program *program, tc_dataset *data, size_t *samples,
                               tc_join_kind *join, int64_t *extent)
{
    TC_ENTER(program->ctx, ti_bind_dataset(program->ctx, data, program->g, samples, join, extent));
}

/* ---- running ---- */

/* Counts the constants that share each address. */
static void count_places(const tc_module *module, tc_map *places)
{
    for (size_t k = 0; k < module->n_graph; k++)
        for (size_t v = 1; v < module->graph[k]->n_val; v++) {
            const void *data = module->graph[k]->val[v]->data;
            if (data)
                ++*(uintptr_t *)ti_map_at(places, (tc_str){(const char *)&data, sizeof data});
        }
}

/* By value: constants that preparing the program has made. */
static const bool *own_constants(const tc_program *p)
{
    tc_ctx *ctx = p->ctx;
    bool *own = tc_new_n(&ctx->arena, bool, p->g->n_val);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_map places;
    ti_map_init(&places, &ctx->scratch);
    count_places(p->from, &places);
    count_places(p->module, &places);
    for (tc_val v = 1; v < p->g->n_val; v++) {
        const void *data = p->g->val[v]->data;
        const tc_str at = {(const char *)&data, sizeof data};
        own[v] = data && (uintptr_t)ti_map_get(&places, at) == 1;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return own;
}

static tc_exec *laid_out(tc_program *p)
{
    if (!p->exec)
        p->exec = ti_exec_own(p->ctx, p->module, own_constants(p));
    return p->exec;
}

/* Where shapes depend on an input's values, the program is valid for those only. */
static tc_status check_fixed(const tc_program *p, const tc_tensor *in, size_t i)
{
    const tc_tensor *fixed = p->module->origin.fixed;
    const void *data = fixed ? fixed[i].data : NULL;
    if (!data || memcmp(data, in[i].data, tc_type_bytes(fixed[i].type)) == 0)
        return TC_OK;
    const tc_loc loc = {.file = p->module->file};
    const char *name = ti_input_name(p->g, i);
    return ti_error(p->ctx, &loc, TC_E_DATA,
                    "shapes depend on the values of input '%s', which differ from the first "
                    "sample's", name ? name : "");
}

static tc_status run(tc_program *p)
{
    for (size_t i = 0; i < p->g->n_in; i++) {
        if (!p->bound[i])
            TC_TRY(own_buffer(p, i));
        const void *data = p->bound[i] ? p->bound[i] : p->own[i];
        p->in[i] = (tc_tensor){ti_type_of(p->g, p->g->in[i]), (void *)(uintptr_t)data};
        TC_TRY(check_fixed(p, p->in, i));
    }
    p->has_run = false;
    TC_TRY(ti_exec_run(laid_out(p), p->in, p->out));
    p->has_run = true;
    for (size_t i = 0; i < p->g->n_out; i++)
        if (p->bound_out[i])
            memcpy(p->bound_out[i], p->out[i].data, tc_type_bytes(p->out[i].type));
    return TC_OK;
}

tc_status tc_program_run(tc_program *program)
{
    TC_ENTER(program->ctx, run(program));
}

/* ---- all samples ---- */

typedef struct course {
    tc_program *p;
    tc_dataset *data;
    tc_run_data_options o;
    bool apart; /* samples need not follow each other */
} course;

static tc_status read_sample(void *who, size_t worker, size_t k)
{
    const course *c = who;
    const seat *s = &c->p->seat[worker];
    TC_TRY(c->data->samples.read(c->data->samples.from, k, s->in));
    for (size_t i = 0; i < c->p->g->n_in; i++)
        TC_TRY(check_fixed(c->p, s->in, i));
    return TC_OK;
}

static tc_status run_sample(void *who, size_t worker, size_t k)
{
    const course *c = who;
    tc_program *p = c->p;
    seat *s = &p->seat[worker];
    (void)k;
    if (c->o.reset && !c->apart)
        tc_program_reset(p);
    double begin = ti_seconds();
    tc_status status = c->apart ? ti_plan_try(s->plan, s->in, s->out, p->declared, s->after)
                                : ti_exec_run(p->exec, s->in, s->out);
    s->seconds = ti_seconds() - begin;
    return status;
}

static tc_status explain(void *who, size_t worker, size_t k)
{
    const course *c = who;
    (void)k;
    return c->apart ? ti_plan_explain(c->p->seat[worker].plan) : TC_OK; /* it was reported */
}

static tc_status hand_over(void *who, size_t worker, size_t k)
{
    const course *c = who;
    const seat *s = &c->p->seat[worker];
    tc_sample_result r = {sizeof r, k, s->in, s->out, s->seconds};
    if (c->o.on_result)
        TC_TRY(c->o.on_result(c->o.user, &r));
    return ti_tell_progress(c->p->ctx, "samples", k + 1, c->data->samples.n);
}

static size_t seats_for(const course *c)
{
    const tc_plan *plan = ti_exec_plan(c->p->exec);
    bool apart = plan && ti_plan_parallel(plan) && !c->p->seconds &&
                 (!c->p->g->n_mutation || c->o.reset);
    return apart ? ti_each_threads(c->p->ctx, c->data->samples.n) : 1;
}

static void take_seat(tc_program *p, size_t k)
{
    tc_arena *arena = &p->ctx->arena;
    const tc_graph *g = p->g;
    tc_plan *plan = ti_exec_plan(p->exec);
    seat *s = &p->seat[k];
    s->in = tc_new_n(arena, tc_tensor, g->n_in);
    s->out = tc_new_n(arena, tc_tensor, g->n_out);
    s->after = tc_new_n(arena, tc_tensor, g->n_mutation);
    for (size_t i = 0; i < g->n_in; i++)
        s->in[i] = ti_tensor_new(arena, ti_type_of(g, g->in[i]));
    s->plan = k ? ti_plan_twin(plan, NULL) : plan;
}

/* At least so many workers; existing ones stay for the next run. */
static void take_seats(tc_program *p, size_t n)
{
    tc_arena *arena = &p->ctx->arena;
    const tc_graph *g = p->g;
    if (n <= p->n_seat)
        return;
    seat *seats = tc_new_n(arena, seat, n);
    if (p->n_seat)
        memcpy(seats, p->seat, p->n_seat * sizeof *seats);
    p->seat = seats;
    p->threads = ti_spread_new(p->ctx, n);
    for (; p->n_seat < n; p->n_seat++)
        take_seat(p, p->n_seat);
    p->declared = tc_new_n(arena, void *, g->n_mutation);
    for (size_t i = 0; i < g->n_mutation; i++)
        p->declared[i] = (void *)(uintptr_t)g->val[g->mutation[i].before]->data;
}

static tc_status run_data(tc_program *p, tc_dataset *data, const tc_run_data_options *options)
{
    course c = {.p = p, .data = data, .o = TC_TAKE(tc_run_data_options, options)};
    if (data->bound != p->g)
        return ti_usage(p->ctx, "the dataset is not bound to this program");
    p->has_run = false;
    laid_out(p);
    size_t n = seats_for(&c);
    c.apart = n > 1;
    take_seats(p, n);
    for (size_t k = 0; c.apart && k < n; k++)
        ti_plan_on_oom(p->seat[k].plan, ti_spread_oom(p->threads, k));
    tc_spread all = {.ctx = p->ctx,
                     .n = data->samples.n,
                     .who = &c,
                     .read = read_sample,
                     .work = run_sample,
                     .explain = explain,
                     .take = hand_over};
    tc_status status = ti_spread_samples(p->threads, &all, n);
    if (c.apart)
        ti_plan_on_oom(p->seat[0].plan, &p->ctx->oom);
    if (status == TC_BAD_MODEL && p->g->n_mutation && !c.o.reset && data->samples.n > 1)
        ti_note(p->ctx, NULL, "samples come with the state that those before them have left: --reset "
                              "starts every sample from the initial state");
    return status;
}

tc_status tc_program_run_data(tc_program *program, tc_dataset *data,
                              const tc_run_data_options *options)
{
    TC_ENTER(program->ctx, run_data(program, data, options));
}

tc_tensor tc_program_result(const tc_program *program, size_t i)
{
    if (i >= program->g->n_out)
        return (tc_tensor){NULL, NULL};
    return program->has_run ? program->out[i]
                            : (tc_tensor){ti_type_of(program->g, program->g->out[i]), NULL};
}

void tc_program_reset(tc_program *program)
{
    if (program->exec)
        ti_exec_reset(program->exec);
}

/* Buffers have their names from the model; those without a name are private. */
static tc_status take_state(tc_program *p, tc_program *from, size_t *taken)
{
    tc_tensor to, theirs;
    const char *name, *other;
    size_t n = 0;
    for (size_t i = 0; ti_exec_state(laid_out(p), i, &to, &name); i++)
        for (size_t k = 0; name && ti_exec_state(laid_out(from), k, &theirs, &other); k++)
            if (is_named(name, other) && to.type->dtype == theirs.type->dtype &&
                tc_type_bytes(to.type) == tc_type_bytes(theirs.type)) {
                memcpy(to.data, theirs.data, tc_type_bytes(to.type));
                n++;
            }
    if (taken)
        *taken = n;
    return TC_OK;
}

tc_status tc_program_take_state(tc_program *program, tc_program *from, size_t *taken)
{
    TC_ENTER(program->ctx, take_state(program, from, taken));
}

static tc_status start_timing(tc_program *p)
{
    if (!p->seconds)
        p->seconds = tc_new_n(&p->ctx->arena, double, TC_OP_COUNT);
    memset(p->seconds, 0, TC_OP_COUNT * sizeof *p->seconds);
    ti_exec_time(laid_out(p), p->seconds);
    if (!p->spent) {
        p->spent = tc_new_n(&p->ctx->arena, tc_spent, ti_exec_spent(p->exec, NULL) + 1);
        p->n_spent = ti_exec_spent(p->exec, p->spent);
    }
    return TC_OK;
}

tc_status tc_program_time(tc_program *program)
{
    TC_ENTER(program->ctx, start_timing(program));
}

double tc_program_seconds(const tc_program *program, size_t i, const char **op)
{
    if (i >= TC_OP_COUNT)
        return -1;
    *op = tc_ops[i].name;
    return program->seconds ? program->seconds[i] : 0;
}

bool tc_program_step_time(const tc_program *program, size_t i, tc_step_time *out)
{
    if (i >= program->n_spent)
        return 0;
    const tc_spent *s = &program->spent[i];
    ti_fill_record(out,
                   &(tc_step_time){.op = tc_ops[s->op].name,
                                   .loc = s->node ? s->node->loc : NULL,
                                   .seconds = *s->seconds},
                   sizeof *out);
    return 1;
}
