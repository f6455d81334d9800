/* SPDX-License-Identifier: Apache-2.0 */
/* door_config.c -- settings of the quantizer as callers make them. */
#include "../quant/quantizer.h"

#include "../base/enter.h"
#include "../num/block_scaled.h"

static tc_status open_config(tc_ctx *ctx, const char *text, tc_config **out)
{
    const char *said = ti_intern_text(ctx, text);
    *out = tc_new(&ctx->arena, tc_config);
    TC_TRY(ti_config_read(ctx, said, *out));
    (*out)->said = said;
    return TC_OK;
}

tc_status tc_config_open(tc_ctx *ctx, const char *preset_or_path, tc_config **out)
{
    TC_ENTER(ctx, open_config(ctx, preset_or_path, out));
}

static tc_status parse_config(tc_ctx *ctx, const char *name, tc_bytes json, tc_config **out)
{
    tc_bytes kept = {ti_arena_copy(&ctx->arena, json.data, json.size), json.size};
    *out = tc_new(&ctx->arena, tc_config);
    return ti_config_from_json(ctx, ti_intern_text(ctx, name ? name : "settings"), kept, *out);
}

tc_status tc_config_parse(tc_ctx *ctx, const char *name, tc_bytes json, tc_config **out)
{
    TC_ENTER(ctx, parse_config(ctx, name, json, out));
}

/* ---- entries ---- */

/* The public enumerators as internal ones. */
static const struct {
    uint32_t theirs, ours;
} fields[] = {
    {TC_ENTRY_DTYPE, TC_HAS_DTYPE},         {TC_ENTRY_RANGE, TC_HAS_RANGE},
    {TC_ENTRY_SYMMETRIC, TC_HAS_SYMMETRIC}, {TC_ENTRY_PER_CHANNEL, TC_HAS_PER_CHANNEL},
    {TC_ENTRY_OBSERVER, TC_HAS_OBSERVER},   {TC_ENTRY_FLOOR, TC_HAS_FLOOR},
    {TC_ENTRY_FIXED, TC_HAS_FIXED},         {TC_ENTRY_GROUP, TC_HAS_GROUP},
};

static const tc_observer observers[] = {
    [TC_OBSERVE_MSE] = TC_OBSERVER_mse,
    [TC_OBSERVE_MINMAX] = TC_OBSERVER_minmax,
    [TC_OBSERVE_EMA] = TC_OBSERVER_ema,
    [TC_OBSERVE_PERCENTILE] = TC_OBSERVER_percentile,
    [TC_OBSERVE_HISTOGRAM_TORCHAO] = TC_OBSERVER_histogram_torchao,
};

static const tc_level levels[] = {
    [TC_SCOPE_GLOBAL] = TC_LEVEL_global, [TC_SCOPE_INPUT] = TC_LEVEL_io,
    [TC_SCOPE_OUTPUT] = TC_LEVEL_io,     [TC_SCOPE_MODULE_TYPE] = TC_LEVEL_module_type,
    [TC_SCOPE_MODULE] = TC_LEVEL_module, [TC_SCOPE_OPERATOR] = TC_LEVEL_target,
    [TC_SCOPE_NODE] = TC_LEVEL_node,
};

static tc_status check_entry(tc_ctx *ctx, const tc_quant_entry *r)
{
    bool named = r->scope >= TC_SCOPE_MODULE_TYPE;
    if ((size_t)r->scope >= TC_COUNT(levels))
        return ti_usage(ctx, "unknown scope %d of an entry (see tc_scope)", (int)r->scope);
    if (named != (r->name != NULL))
        return ti_usage(ctx, named ? "an entry of that scope needs a name"
                                   : "an entry with the scope global, input or output has no name");
    if (r->has & TC_ENTRY_DTYPE && r->dtype != TC_none && r->dtype != TC_i4 && r->dtype != TC_i8 &&
        r->dtype != TC_u8 && r->dtype != TC_i16 && !ti_is_block(r->dtype))
        return ti_usage(ctx, "an entry's element type is %s: expected i4, i8, u8, i16, a block-scaled one or none",
                        tc_dtype_name(r->dtype));
    if (r->has & TC_ENTRY_RANGE && r->qmin >= r->qmax)
        return ti_usage(ctx, "an entry's qmin and qmax are %" PRId64 " to %" PRId64, r->qmin,
                        r->qmax);
    if (r->has & TC_ENTRY_OBSERVER && (size_t)r->observer >= TC_COUNT(observers))
        return ti_usage(ctx, "unknown observer %d of an entry (see tc_observer_kind)",
                        (int)r->observer);
    if (r->has & TC_ENTRY_OBSERVER && r->observer == TC_OBSERVE_PERCENTILE &&
        r->percentile != 0 && !(r->percentile > 50 && r->percentile <= 100))
        return ti_usage(ctx, "an entry's percentile must be above 50 and at most 100");
    if ((r->has & TC_ENTRY_FLOOR && !((float)r->floor > 0)) ||
        (r->has & TC_ENTRY_FIXED && !((float)r->scale > 0)))
        return ti_usage(ctx, "an entry's scale or floor must be above 0");
    if (r->has & TC_ENTRY_GROUP && (r->group < 0 || r->group > 1000000))
        return ti_usage(ctx, "an entry's group has %" PRId64 " input channels", r->group);
    return TC_OK;
}

static tc_patch patch_of(const tc_quant_entry *r)
{
    tc_patch p = {.to = {.dtype = r->dtype,
                         .qmin = r->qmin,
                         .qmax = r->qmax,
                         .symmetric = r->symmetric != 0,
                         .per_channel = r->per_channel != 0,
                         .percentile = r->percentile,
                         .floor = r->floor,
                         .scale = r->scale,
                         .zero = r->zero,
                         .group = r->group}};
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        p.has |= r->has & fields[i].theirs ? fields[i].ours : 0;
    if (r->has & TC_ENTRY_OBSERVER)
        p.to.observer = observers[r->observer];
    if (r->has & TC_ENTRY_OBSERVER && r->observer == TC_OBSERVE_PERCENTILE && r->percentile != 0)
        p.has |= TC_HAS_PERCENTILE;
    return p;
}

static void lay_over(tc_patch *under, const tc_patch *over)
{
    under->to = ti_setting_patched(under->to, over);
    under->has |= over->has;
}

static tc_config_entry *find_entry(tc_ctx *ctx, tc_config *config, tc_level level, const char *name)
{
    for (size_t i = 0; i < config->n_entry; i++)
        if (config->entry[i].level == level && ti_text_eq(config->entry[i].name, name))
            return &config->entry[i];
    ti_config_add(ctx, config,
                  (tc_config_entry){.level = level, .name = ti_intern_text(ctx, name)});
    return &config->entry[config->n_entry - 1];
}

static tc_status add_entry(tc_ctx *ctx, tc_config *config, const tc_quant_entry *entry)
{
    tc_quant_entry r = TC_TAKE(tc_quant_entry, entry);
    TC_TRY(check_entry(ctx, &r));
    tc_patch patch = patch_of(&r);
    if (r.scope == TC_SCOPE_GLOBAL) {
        tc_setting *all = r.weights ? &config->global.weight : &config->global.act;
        config->group_free = config->group_free && !r.weights;
        *all = ti_setting_patched(*all, &patch);
    } else if (r.scope == TC_SCOPE_INPUT || r.scope == TC_SCOPE_OUTPUT)
        lay_over(r.scope == TC_SCOPE_INPUT ? &config->in : &config->out, &patch);
    else {
        tc_config_entry *own = find_entry(ctx, config, levels[r.scope], r.name);
        lay_over(r.weights ? &own->weight : &own->act, &patch);
    }
    return TC_OK;
}

tc_status tc_config_add_entry(tc_ctx *ctx, tc_config *config, const tc_quant_entry *entry)
{
    TC_ENTER(ctx, add_entry(ctx, config, entry));
}
