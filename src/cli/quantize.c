/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.c -- tosac quantize: a float model and data become a typed program. */
#include "cli.h"

#include <stdio.h>

#include "../api/compile.h"
#include "../read/read.h"
#include "json.h"

typedef struct quantize_options {
    tc_texts calib, merge;
    const char *config, *output, *qparams;
    bool observe_only, keep_odd;
} quantize_options;

/* A progress line for whatever goes over the samples. */
static void show(void *who, const char *what, size_t done, size_t total)
{
    tc_progress *p = who;
    if (p->what != what || p->total != total) {
        tc_progress_end(p);
        tc_progress_begin(p, what, total);
    }
    tc_progress_step(p, done);
}

static void add_text(tc_ctx *ctx, tc_texts *list, const char *text)
{
    tc_grow(&ctx->arena, list->v, list->n, list->cap);
    list->v[list->n++] = text;
}

/* The first argument is the model; what a shell made of "--merge part*.obs" or "--calib *.npy"
 * follows it. */
static tc_status sort_arguments(tc_ctx *ctx, const tc_texts *args, quantize_options *o,
                                const char **model)
{
    for (size_t i = 0; i < args->n; i++) {
        const char *word = args->v[i];
        bool obs = tc_text_ends(word, ".obs");
        if (obs && o->merge.n)
            add_text(ctx, &o->merge, word);
        else if (!obs && !*model)
            *model = word;
        else if (!obs && o->calib.n)
            add_text(ctx, &o->calib, word);
        else
            return tc_usage(
                ctx, "what is '%s' for? data comes after --calib, observations after --merge",
                word);
    }
    return *model ? TC_OK : tc_usage(ctx, "the model is missing");
}

static tc_status check_options(tc_ctx *ctx, const quantize_options *o)
{
    if (!o->output)
        return tc_usage(ctx, "-o is missing: where the %s",
                        o->observe_only ? "observations go" : "typed program goes");
    if (o->observe_only && o->qparams)
        return tc_usage(ctx, "--observe-only makes no parameters to write with --qparams");
    return TC_OK;
}

/* Data from files; a program without inputs needs none. */
static tc_status open_samples(tc_ctx *ctx, const tc_graph *g, const quantize_options *o,
                              tc_samples *out)
{
    if (!o->calib.n && o->merge.n)
        return TC_OK;
    if (!o->calib.n && g->n_in) {
        tc_status status = tc_usage(ctx, "there is no calibration data");
        tc_note(ctx, NULL,
                "give some with --calib DATA, or observations with --merge; --calib=random:1 "
                "invents some");
        return status;
    }
    return tc_open_samples(ctx, g, o->calib.v, o->calib.n, out);
}

/* To choose what the anchor chooses, every movement must be seen that it sees. */
static tc_status read_model(tc_ctx *ctx, const char *path, tc_config *config, tc_module **module)
{
    TC_TRY(tc_read(ctx, path, module));
    TC_TRY(tc_verify(ctx, *module));
    TC_TRY(tc_config_check(ctx, config, tc_main(*module)));
    config->checked = true;
    TC_TRY(tc_run_passes(ctx, *module, config->anchor ? "infer,fold,fuse,dead" : "tidy,attended,mask,dead", NULL));
    if (tc_quant_is_typed(*module))
        return tc_usage(ctx, "%s is quantized already", path);
    return TC_OK;
}

static void print_json(size_t typed, size_t real, size_t samples, const tc_quant_times *t)
{
    tc_json_out out = {0};
    tc_json_open(&out, NULL, '{');
    tc_json_put_int(&out, "quantized", (int64_t)typed);
    tc_json_put_int(&out, "float", (int64_t)real);
    tc_json_put_int(&out, "samples", (int64_t)samples);
    tc_json_put_real(&out, "first_pass_s", t->first);
    tc_json_put_real(&out, "second_pass_s", t->second);
    tc_json_put_real(&out, "read_s", t->read);
    tc_json_put_real(&out, "search_s", t->search);
    tc_json_put_real(&out, "rank_s", t->rank);
    tc_json_put_real(&out, "bias_s", t->correct);
    tc_json_close(&out, '}');
}

static void report(const tc_module *module, const quantize_options *o,
                   const tc_quant_request *request, bool json)
{
    const tc_graph *g = tc_main(module);
    size_t typed = 0, real = 0;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out && g->node[k]->op != TC_OP_const; i++) {
            const tc_type *type = tc_type_of(g, g->node[k]->out[i]);
            typed += type->quant != NULL;
            real += tc_is_float(type->dtype);
        }
    if (json)
        print_json(typed, real, request->samples.n, request->times);
    else
        printf("%s: %zu values quantized, %zu in float\n", o->output, typed, real);
}

static tc_status quantize(tc_ctx *ctx, tc_module *module, const quantize_options *o,
                          tc_quant_request *request)
{
    tc_progress progress = {0};
    TC_TRY(open_samples(ctx, tc_main(module), o, &request->samples));
    request->samples.progress = show;
    request->samples.who = &progress;
    tc_status status = tc_quantize(ctx, module, request);
    tc_progress_end(&progress);
    return status;
}

/* An export that went through PT2E says itself how it is quantized. */
static tc_status take_types(tc_ctx *ctx, const char *model, tc_module *module,
                            const quantize_options *o)
{
    if (o->calib.n || o->merge.n || o->config || o->observe_only)
        return tc_usage(ctx, "%s went through PT2E: its parameters are its own, without data or -q",
                        model);
    return tc_run_passes(ctx, module, "types", NULL);
}

static tc_status run_quantize(tc_ctx *ctx, const tc_common *common, const void *record,
                              const tc_texts *args)
{
    quantize_options own = *(const quantize_options *)record, *o = &own;
    const char *model = NULL;
    tc_module *module;
    tc_config config;
    tc_quant_times times = {0};
    TC_TRY(sort_arguments(ctx, args, o, &model));
    TC_TRY(check_options(ctx, o));
    TC_TRY(tc_config_read(ctx, o->config, &config));
    TC_TRY(read_model(ctx, model, &config, &module));
    tc_quant_request request = {.config = &config,
                                .merge = o->merge.v,
                                .n_merge = o->merge.n,
                                .observe_only = o->observe_only ? o->output : NULL,
                                .keep_odd = o->keep_odd,
                                .times = &times};
    if (tc_quant_is_pt2e(module))
        TC_TRY(take_types(ctx, model, module, o));
    else
        TC_TRY(quantize(ctx, module, o, &request));
    if (o->observe_only)
        return TC_OK;
    TC_TRY(tc_run_passes(ctx, module, "dead", NULL));
    TC_TRY(tc_write_text(ctx, module, o->output));
    if (o->qparams)
        TC_TRY(tc_qparams_write(ctx, module, o->qparams));
    report(module, o, &request, common->json);
    return TC_OK;
}

#define AT(field) offsetof(quantize_options, field)
static const tc_option options[] = {
    {"--calib", NULL, "DATA", TC_OPTION_TEXTS, AT(calib),
     "calibration data: .npy, .npz, a folder, or random:SEED"},
    {"--merge", NULL, "OBS", TC_OPTION_TEXTS, AT(merge),
     "observations of other runs; again for each further file"},
    {"--quant", "-q", "CONFIG", TC_OPTION_TEXT, AT(config),
     "int8, int8+16:K, a16w8, a8w4, none, anchor, or a JSON file"},
    {"--output", "-o", "OUT", TC_OPTION_TEXT, AT(output),
     "the typed program as text, large constants in OUT.bin"},
    {"--qparams", NULL, "JSON", TC_OPTION_TEXT, AT(qparams),
     "write scale and zero point of every value there"},
    {"--observe-only", NULL, NULL, TC_OPTION_FLAG, AT(observe_only),
     "write what was observed to OUT, and stop there"},
    {"--keep-odd-samples", NULL, NULL, TC_OPTION_FLAG, AT(keep_odd),
     "set no sample aside, however odd"},
    {0},
};

const tc_verb tc_cli_quantize = {
    .name = "quantize",
    .arguments = "MODEL (--calib DATA... | --merge OBS...) [-q CONFIG] -o OUT",
    .summary = "turn a float model and calibration data into a typed integer program",
    .help = "MODEL is a .pt2 or a text graph; an export that went through PT2E needs no data.  Of "
            "the settings\n"
            "for a value the most specific wins: node, operator (target), module, module type, io, "
            "global.  What\n"
            "was observed on parts of the data, in any order and on any machine, merges to the "
            "same parameters.\n",
    .least = 1,
    .most = INT32_MAX,
    .option = options,
    .record = sizeof(quantize_options),
    .run = run_quantize,
};
