/* SPDX-License-Identifier: Apache-2.0 */
/* change_settings.c -- the same model by other settings: of the back end, of memories, of
 * quantization. */
#include "advise.h"
#include "../proof/proof.h"
#include "../quant/weight_rates.h"

/* ---- the back end ---- */

static const char *goal_of(const tc_advisor *a)
{
    const char *goal = a->options.ethosu.optimise;
    return goal && ti_text_eq(goal, "Size") ? "Performance" : "Size";
}

void ti_find_optimise(tc_advisor *a, const tc_advice_kind *kind)
{
    tc_proposal *p = ti_propose(a, kind, NULL, 0, "a schedule for %s",
                                ti_text_eq(goal_of(a), "Size") ? "little memory" : "speed");
    p->word = goal_of(a);
    p->full = a->data;
    p->option = ti_text_format(&a->ctx->arena, "--optimise %s", p->word);
}

tc_status ti_change_optimise(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    to->options.ethosu.optimise = p->word;
    if (ti_text_eq(p->word, "Size") && a->data)
        ti_config_for_size(&to->config);
    else if (to->config.rate.may)
        to->config.rate = (tc_rate){0};
    return TC_OK;
}

/* ---- memories ---- */

void ti_find_memory_modes(tc_advisor *a, const tc_advice_kind *kind)
{
    static const struct {
        const char *name, *words;
    } modes[] = {
        {"Sram_Only", "weights and activations in SRAM"},
        {"Shared_Sram", "weights in flash or DRAM, activations in SRAM"},
        {"Dedicated_Sram_384KB", "weights and activations in DRAM, 384 KiB of SRAM as a cache"},
    };
    const tc_ethosu_options *o = &a->compiled->asked.ethosu;
    const char *now = o->memory_mode ? o->memory_mode : a->target.machine->memory_mode;
    for (size_t i = 0; i < TC_COUNT(modes) && !o->ini; i++) {
        if (ti_text_eq(modes[i].name, now))
            continue;
        tc_proposal *p = ti_propose(a, kind, NULL, 0, "%s", modes[i].words);
        p->word = modes[i].name;
        p->option = ti_text_format(&a->ctx->arena, "--system %s", p->word);
    }
}

tc_status ti_change_memory_modes(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_system_name system = ti_system_name_read(a->ctx, to->options.ethosu.system);
    system.mode = p->word;
    to->options.ethosu.system = ti_system_name_text(a->ctx, &system);
    return TC_OK;
}

/* ---- quantization ---- */

/* Settings by a preset's name, as the target takes them. */
static tc_status take_preset(tc_advisor *a, const char *name, tc_config *out)
{
    TC_TRY(ti_config_read(a->ctx, name, out));
    if (a->target.machine->packing == TC_PACKED_STREAM)
        ti_config_pack(out);
    return TC_OK;
}

tc_status ti_change_preset(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    return take_preset(a, p->word, &to->config);
}

static void propose_preset(tc_advisor *a, const tc_advice_kind *kind, const char *name,
                           const char *words)
{
    tc_proposal *p = ti_propose(a, kind, NULL, 0, "%s", words);
    p->word = name;
    p->option = ti_text_format(&a->ctx->arena, "-q %s", name);
}

/* int8 by the usual settings, or nothing was said. */
static bool is_plain(const tc_advisor *a)
{
    const tc_compile_quant *q = &a->options.quant;
    return !q->settings && (!q->config || ti_text_eq(q->config, "int8"));
}

static bool has_products(const tc_advisor *a)
{
    bool any = false;
    for (size_t k = 0; k < a->g->n_node && !any; k++)
        any = ti_channels_of(a->g, a->g->node[k]) > 0;
    return any;
}

/* Where weights are coded steps by layer lose less, for the same bytes, than 4 bits. */
static bool takes_steps(const tc_advisor *a)
{
    return a->target.machine->packing == TC_PACKED_STREAM && a->data && a->samples >= TC_RATE_SAMPLES;
}

void ti_find_rate(tc_advisor *a, const tc_advice_kind *kind)
{
    if (is_plain(a) && has_products(a) && takes_steps(a))
        propose_preset(a, kind, "int8-1dB", "coarser weights, by what each layer's cost the outputs");
}

void ti_find_weights4(tc_advisor *a, const tc_advice_kind *kind)
{
    if (is_plain(a) && has_products(a) && !takes_steps(a))
        propose_preset(a, kind, "a8w4", "weights of 4 bits");
}

void ti_find_mixed(tc_advisor *a, const tc_advice_kind *kind)
{
    bool priced = a->target.machine->packing == TC_PACKED_STREAM;
    if (is_plain(a))
        propose_preset(a, kind, priced ? "int8+16:10%" : "int8+16:4",
                       priced ? "16 bits for the values that pay, for at most a tenth more cycles"
                              : "16 bits for the four noisiest values");
}

void ti_find_preset(tc_advisor *a, const tc_advice_kind *kind)
{
    const tc_setting *s = &a->config.global.act;
    if (!is_plain(a) && s->dtype == TC_i8 && a->config.global.weight.dtype == TC_i8)
        propose_preset(a, kind, "int8", "the usual settings of quantization");
}

void ti_find_per_channel(tc_advisor *a, const tc_advice_kind *kind)
{
    if (!a->config.global.weight.per_channel)
        ti_propose(a, kind, NULL, 0, "weights with a scale for each output channel")->option =
            "-q FILE.json: \"weights\": {\"per_channel\": true}";
}

tc_status ti_change_per_channel(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    (void)a, (void)p;
    to->config.global.weight.per_channel = true;
    return TC_OK;
}

/* ---- borders ---- */

void ti_find_io(tc_advisor *a, const tc_advice_kind *kind)
{
    if (!a->config.in.has && !a->config.out.has && a->compiled->split.n_left)
        ti_propose(a, kind, NULL, 0, "int8 at the program's inputs and outputs")
            ->option = "-q FILE.json: \"io\": {\"inputs\": \"int8\", \"outputs\": \"int8\"}";
}

tc_status ti_change_io(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    (void)a, (void)p;
    to->config.in = to->config.out = ti_patch_all(&to->config.global.act);
    return TC_OK;
}

/* ---- bits ---- */

enum { NOISY = 3 };

void ti_find_bits16(tc_advisor *a, const tc_advice_kind *kind)
{
    tc_noise noise[NOISY];
    const tc_proof *proof = &a->compiled->proof;
    if (!proof->of || !proof->n_out || !proof->out[0].compared)
        return;
    size_t n = ti_noise_makers(a->ctx, a->compiled, 0, 0, noise, NOISY);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        const char *node = noise[i].loc ? noise[i].loc->node : NULL;
        while (node && at < a->g->n_node &&
               !(a->g->node[at]->loc->node && ti_text_eq(a->g->node[at]->loc->node, node)))
            at++;
        if (!node || at == a->g->n_node)
            continue;
        tc_proposal *p = ti_propose(a, kind, &at, 1, "its result in 16 bits");
        p->word = node;
        p->option = ti_text_format(&a->ctx->arena,
                                   "-q FILE.json: \"nodes\": {\"%s\": {\"activations\": {\"dtype\": "
                                   "\"int16\"}}}", node);
    }
}

tc_status ti_change_bits16(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_config wide;
    TC_TRY(ti_config_read(a->ctx, "a16w8", &wide));
    ti_config_add(a->ctx, &to->config,
                  (tc_config_entry){.level = TC_LEVEL_node,
                                    .name = p->word,
                                    .act = ti_patch_all(&wide.global.act)});
    return TC_OK;
}

/* ---- samples ---- */

enum { FEW = 4 };

void ti_find_calibration(tc_advisor *a, const tc_advice_kind *kind)
{
    if (a->samples >= FEW)
        ti_propose(a, kind, NULL, 0,
                   "more calibration samples than these %zu (the figures: half of them, and all of them)",
                   a->samples)
            ->option = "--calib DATA";
}

tc_status ti_change_calibration(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_dataset *half = tc_new(&a->ctx->arena, tc_dataset);
    (void)p;
    *half = *a->options.quant.samples;
    half->most = a->samples / 2;
    half->bound = NULL;
    half->data = NULL;
    to->options.quant.samples = half;
    return TC_OK;
}
