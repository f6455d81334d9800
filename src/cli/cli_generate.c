/* SPDX-License-Identifier: Apache-2.0 */
/* cli_generate.c -- tosac generate: a prompt continued, and what a token costs. */
#include "cli.h"

#include <stddef.h>
#include <stdlib.h>

#include "cli_json.h"

typedef struct generate_options {
    const char *tokenizer, *prompt, *stop, *temperature, *seed;
    int64_t n, top_k, context;
    bool tosa;
} generate_options;

enum { MOST_METHODS = 2 };

/* The methods, and what the command streams of each cost. */
typedef struct program {
    const char *path;
    const tc_model *model[MOST_METHODS];
    const char *name[MOST_METHODS]; /* NULL: a file without methods */
    double cycles[MOST_METHODS], clock;
    size_t n;
} program;

static tc_status open_one(cli *c, program *p, const generate_options *o, const char *method)
{
    tc_model_options reading = tc_model_options_default();
    tc_model *model;
    reading.prefer_tosa = o->tosa;
    reading.method = method;
    CLI_TRY(tc_model_open(c->ctx, p->path, &reading, &model));
    p->name[p->n] = method;
    p->model[p->n++] = model;
    return TC_OK;
}

/* All methods of a program of one or two; of more those called prefill and decode. */
static tc_status open_program(cli *c, program *p, const generate_options *o)
{
    tc_model *first;
    size_t n = 0;
    CLI_TRY(tc_model_open(c->ctx, p->path, NULL, &first));
    while (tc_model_method(first, n))
        n++;
    if (!n)
        return open_one(c, p, o, NULL);
    for (size_t i = 0; i < n; i++) {
        const char *name = tc_model_method(first, i);
        if (n <= MOST_METHODS || cli_is(name, "prefill") || cli_is(name, "decode"))
            CLI_TRY(open_one(c, p, o, name));
    }
    if (p->n)
        return TC_OK;
    return cli_bad_file(c, p->path, "none of its %zu methods is called prefill or decode", n);
}

/* Cycles of each method's streams; 0 where it has none. */
static void look_up_cost(program *p)
{
    for (size_t i = 0; i < p->n; i++) {
        tc_profile_options o = tc_profile_options_default();
        tc_profile_info info = tc_profile_info_default();
        tc_profile *profile;
        tc_ctx *own = p->name[i] ? tc_ctx_new() : NULL; /* no streams is no mistake here */
        o.method = p->name[i];
        if (own && tc_profile_open(own, p->path, &o, &profile) == TC_OK) {
            tc_profile_get_info(profile, &info);
            p->cycles[i] = info.total.cycles;
            p->clock = info.clock;
        }
        if (own)
            tc_ctx_free(own);
    }
}

/* ---- output ---- */

typedef struct listener {
    cli *c;
    const tc_tokenizer *tokenizer;
    const char *prompt; /* not printed yet; NULL: it is */
    bool quiet;
} listener;

/* Text as it comes, after the prompt. */
static tc_status on_token(void *user, int64_t token)
{
    listener *l = user;
    tc_bytes text;
    if (l->quiet)
        return TC_OK;
    if (l->prompt)
        printf("%s", l->prompt);
    l->prompt = NULL;
    CLI_TRY(tc_tokenizer_decode(l->c->ctx, l->tokenizer, &token, 1, 1, &text));
    fwrite(text.data, 1, text.size, stdout);
    fflush(stdout);
    return TC_OK;
}

static bool is_step(const tc_model *model)
{
    tc_port_info port = tc_port_info_default();
    return tc_model_input(model, 0, &port) && tc_type_count(port.type) == 1;
}

static void print_summary(const program *p, const tc_generated *g, size_t n_prompt)
{
    double seconds = g->window_seconds + g->step_seconds;
    printf("\n\n"
           "%zu tokens after a prompt of %zu, %.1f tokens a second here", g->n, n_prompt,
           seconds > 0 ? (double)g->n / seconds : 0);
    printf("; %zu window%s, %zu step%s", g->windows, g->windows == 1 ? "" : "s", g->steps,
           g->steps == 1 ? "" : "s");
    if (g->context)
        printf("; a context of %zu", g->context);
    printf("\n");
    for (size_t i = 0; i < p->n; i++)
        if (p->cycles[i] > 0)
            printf("%s: %.0f cycles a %s, %.2f ms at %.0f MHz\n", p->name[i], p->cycles[i],
                   is_step(p->model[i]) ? "token" : "window", 1e3 * p->cycles[i] / p->clock,
                   p->clock / 1e6);
}

static void print_json(const program *p, const tc_generated *g, const char *text, size_t n_prompt)
{
    cli_json_out out = {0};
    cli_json_open(&out, NULL, '{');
    cli_json_put_text(&out, "text", text);
    cli_json_open(&out, "tokens", '[');
    for (size_t i = 0; i < g->n; i++)
        cli_json_put_int(&out, NULL, g->token[i]);
    cli_json_close(&out, ']');
    cli_json_put_int(&out, "prompt", (int64_t)n_prompt);
    cli_json_put_int(&out, "windows", (int64_t)g->windows);
    cli_json_put_int(&out, "steps", (int64_t)g->steps);
    cli_json_put_int(&out, "context", (int64_t)g->context);
    cli_json_put_real(&out, "window_seconds", g->window_seconds);
    cli_json_put_real(&out, "step_seconds", g->step_seconds);
    cli_json_open(&out, "cycles", '{');
    for (size_t i = 0; i < p->n; i++)
        if (p->cycles[i] > 0)
            cli_json_put_real(&out, p->name[i], p->cycles[i]);
    cli_json_close(&out, '}');
    cli_json_close(&out, '}');
}

/* ---- all of it ---- */

static tc_status number_of(cli *c, const char *option, const char *text, double *out)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(*out >= 0) || *out > 1e15))
        return cli_usage(c, "%s %s: expected a number of at least 0", option, text);
    return TC_OK;
}

static tc_status options_of(cli *c, const generate_options *o, const tc_tokenizer *tokenizer,
                            tc_generate_options *r)
{
    double seed;
    CLI_TRY(number_of(c, "--temperature", o->temperature, &r->temperature));
    CLI_TRY(number_of(c, "--seed", o->seed, &seed));
    if (!o->temperature && (o->top_k || o->seed))
        r->temperature = 1;
    r->seed = (uint64_t)seed;
    r->n = o->n ? (size_t)o->n : 64;
    r->top_k = (size_t)o->top_k;
    r->context = (size_t)o->context;
    r->stop = o->stop ? tc_tokenizer_find(tokenizer, o->stop)
                      : tc_tokenizer_find(tokenizer, "<|endoftext|>");
    if (o->stop && r->stop < 0)
        return cli_usage(c, "--stop %s: there is no such token", o->stop);
    return TC_OK;
}

static tc_status run_generate(cli *c, const void *record, const cli_texts *args)
{
    const generate_options *o = record;
    program p = {.path = args->v[0]};
    tc_tokenizer *tokenizer;
    tc_generate_options r = tc_generate_options_default();
    tc_generated g = tc_generated_default();
    tc_bytes text;
    if (!o->tokenizer || !o->prompt)
        return cli_usage(c, "%s is missing", o->tokenizer ? "--prompt TEXT" : "--tokenizer FILE");
    CLI_TRY(tc_tokenizer_open(c->ctx, o->tokenizer, &tokenizer));
    CLI_TRY(options_of(c, o, tokenizer, &r));
    text = (tc_bytes){(const uint8_t *)o->prompt, strlen(o->prompt)};
    CLI_TRY(tc_tokenizer_encode(c->ctx, tokenizer, text, 1, &r.prompt, &r.n_prompt));
    CLI_TRY(open_program(c, &p, o));
    look_up_cost(&p);
    listener l = {c, tokenizer, o->prompt, c->common.json};
    r.method = p.model;
    r.n_method = p.n;
    r.on_token = on_token;
    r.user = &l;
    cli_progress_end(c);
    CLI_TRY(tc_generate(c->ctx, &r, &g));
    CLI_TRY(tc_tokenizer_decode(c->ctx, tokenizer, g.token, g.n, 1, &text));
    if (c->common.json)
        print_json(&p, &g, (const char *)text.data, r.n_prompt);
    else
        print_summary(&p, &g, r.n_prompt);
    return TC_OK;
}

#define AT(field) offsetof(generate_options, field)
static const cli_option options[] = {
    {"--tokenizer", NULL, "FILE", CLI_TEXT, AT(tokenizer), "a tokenizer.json"},
    {"--prompt", NULL, "TEXT", CLI_TEXT, AT(prompt), "the text to continue"},
    {"--tokens", "-n", "N", CLI_NUMBER, AT(n), "how many tokens to generate (default: 64)"},
    {"--temperature", NULL, "T", CLI_TEXT, AT(temperature),
     "0: always the most likely token; 1: by probability"},
    {"--top-k", NULL, "K", CLI_NUMBER, AT(top_k), "sample from the K most likely tokens"},
    {"--seed", NULL, "S", CLI_TEXT, AT(seed), "the seed for sampling (default: 0)"},
    {"--stop", NULL, "TOKEN", CLI_TEXT, AT(stop), "the token that ends a text (default: "
                                                  "<|endoftext|>)"},
    {"--context", NULL, "N", CLI_NUMBER, AT(context),
     "the length of the caches, where it does not follow from their shapes"},
    {"--tosa", NULL, NULL, CLI_FLAG, AT(tosa),
     "run the TOSA that is stored beside an Ethos-U stream"},
    {0},
};

const cli_verb cli_generate = {
    .name = "generate",
    .arguments = "PROGRAM --tokenizer FILE --prompt TEXT [-n N] [--seed S]",
    .summary = "continue a text with a language model",
    .help = "PROGRAM is anything that 'tosac run' takes.  Of a .pte with two methods, the one "
            "that takes a single token\n"
            "generates, and the other reads the prompt, window by window; see "
            "doc/language-models.md.\n"
            "Without --temperature, --top-k or --seed the most likely token is always chosen.\n",
    .least = 1,
    .most = 1,
    .option = options,
    .record = sizeof(generate_options),
    .run = run_generate,
};
