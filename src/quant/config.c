/* SPDX-License-Identifier: Apache-2.0 */
/* config.c -- settings: presets, entries, and which applies to a node.
 *
 * Rules are patches.  For a node they are applied to the global scheme from the widest to the most
 * specific; the order in which they were written does not matter. */
#include "quantizer.h"

#include <math.h>

#include "../num/block_scaled.h"

/* ---- presets ---- */

enum { SMALL8 = 10 };      /* percent of the weights, in the smallest layers */
enum { A16W4_GROUP = 32 }; /* of input channels: language models need it with 4 bits */
enum { PACKED_CODE = 15 }; /* the largest, if the target compresses weights instead */
enum { FEW_CODES = 31 };   /* the largest of few codes */

static const tc_setting act8 = {
    .dtype = TC_i8, .qmin = -128, .qmax = 127, .percentile = 99.99, .floor = TC_LEAST_SCALE};
static const tc_setting act16 = {.dtype = TC_i16,
                                 .qmin = -32767,
                                 .qmax = 32767,
                                 .symmetric = true,
                                 .percentile = 99.99,
                                 .floor = TC_LEAST_SCALE};
static const tc_setting act32 = {.dtype = TC_i32,
                                 .qmin = -INT32_MAX,
                                 .qmax = INT32_MAX,
                                 .symmetric = true,
                                 .percentile = 99.99,
                                 .floor = TC_LEAST_SCALE};
static const tc_setting weight8 = {.dtype = TC_i8,
                                   .qmin = -127,
                                   .qmax = 127,
                                   .symmetric = true,
                                   .per_channel = true,
                                   .observer = TC_OBSERVER_minmax,
                                   .percentile = 99.99,
                                   .floor = 0x1p-40,
                                   .weight = true};

/* group: input channels that share a step; 0: all of them. */
static tc_setting weight4(int64_t group)
{
    tc_setting s = weight8;
    s.dtype = TC_i4;
    s.qmin = group ? -8 : -7; /* TOSA's i4 has no -8; groups are written as i8 */
    s.qmax = 7;
    s.observer = TC_OBSERVER_mse;
    s.group = group;
    return s;
}

static tc_config usual(tc_setting act, tc_setting weight)
{
    return (tc_config){
        .global = {act, weight}, .drop_odd = true, .correct_bias = true, .round_weights = true,
        .output_margin = 1.25,   .widen_noisy = true};
}

static tc_config anchor(void)
{
    tc_config c = usual(act8, weight8);
    c.global.act.observer = TC_OBSERVER_histogram_torchao;
    c.global.act.floor = c.global.weight.floor = 0x1p-16;
    c.anchor = true;
    c.drop_odd = c.correct_bias = c.widen_noisy = false;
    c.output_margin = 1;
    return c;
}

/* The K of "PREFIXK"; false when the name is not of that form. */
static bool counted(const char *name, const char *prefix, int64_t *out)
{
    return ti_text_starts(name, prefix) &&
           ti_text_to_i64(ti_str_of(name + strlen(prefix)), out) && *out >= 0 && *out <= 1000000;
}

/* The P of "PREFIXP%". */
static bool percent(const char *name, const char *prefix, double *out)
{
    size_t skip = strlen(prefix), n = strlen(name);
    return ti_text_starts(name, prefix) && n > skip + 1 && name[n - 1] == '%' &&
           ti_text_to_f64((tc_str){name + skip, n - skip - 1}, out) && *out > 0 && *out <= 10000;
}

/* The S of "int8xS". */
static bool stepped(const char *name, double *out)
{
    return ti_text_starts(name, "int8x") && ti_text_to_f64(ti_str_of(name + 5), out) &&
           *out >= 1 && *out <= TC_MOST_STEP;
}

bool ti_config_loss(const char *text, double *out)
{
    size_t n = strlen(text);
    return n > 2 && ti_text_ends(text, "dB") && ti_text_to_f64((tc_str){text, n - 2}, out) &&
           *out > 0 && *out <= 20;
}

/* The DB of "int8-DBdB". */
static bool lossy(const char *name, double *out)
{
    return ti_text_starts(name, "int8-") && ti_config_loss(name + strlen("int8-"), out);
}

static const struct {
    const char *name;
    tc_dtype dtype;
} block_names[] = {
    {"mxfp8", TC_bs32_e4m3},     {"mxfp6", TC_bs32_e2m3},     {"mxfp4", TC_bs32_e2m1},
    {"mxint8", TC_bs32_mxint8},  {"mxfp8e4m3", TC_bs32_e4m3}, {"mxfp8e5m2", TC_bs32_e5m2},
    {"mxfp6e2m3", TC_bs32_e2m3}, {"mxfp6e3m2", TC_bs32_e3m2}, {"mxfp4e2m1", TC_bs32_e2m1},
};

tc_dtype ti_block_named(const char *name)
{
    for (size_t i = 0; i < TC_COUNT(block_names); i++)
        if (ti_text_eq(name, block_names[i].name))
            return block_names[i].dtype;
    return TC_none;
}

/* "mxfp8", or of activations and of weights, one of which may be float: "mxfp8/mxfp4". */
static bool blocks(const char *name, tc_config *out)
{
    char text[32];
    const char *slash = strchr(name, '/'), *weight = slash ? slash + 1 : name;
    size_t n = slash ? (size_t)(slash - name) : strlen(name);
    if (n >= sizeof text)
        return false;
    memcpy(text, name, n);
    text[n] = 0;
    tc_dtype a = ti_block_named(text), w = ti_block_named(weight);
    bool known = (a || ti_text_eq(text, "float")) && (w || ti_text_eq(weight, "float"));
    if (!known || (!a && !w))
        return false;
    *out = usual(act8, weight8);
    out->global.act.dtype = a;
    out->global.weight.dtype = w;
    return true;
}

static bool holds(const tc_setting *s, bool block)
{
    return s->dtype != TC_none && ti_is_block(s->dtype) == block;
}

/* Whether a type of that kind is named anywhere. */
static bool names(const tc_config *c, bool block)
{
    bool any = holds(&c->global.act, block) || holds(&c->global.weight, block);
    for (size_t i = 0; i < c->n_entry; i++)
        any = any || (c->entry[i].act.has & TC_HAS_DTYPE && holds(&c->entry[i].act.to, block)) ||
              (c->entry[i].weight.has & TC_HAS_DTYPE && holds(&c->entry[i].weight.to, block));
    return any;
}

bool ti_config_has_blocks(const tc_config *c) { return names(c, true); }

const char *const *ti_config_presets(size_t *n)
{
    static const char *const names[] = {"int8",  "best", "int8+16:4", "a16w8", "a8w4",  "a16w4",
                                        "none", "anchor", "mxfp8",     "mxfp6", "mxfp4", "mxint8"};
    *n = TC_COUNT(names);
    return names;
}

bool ti_config_preset(const char *name, tc_config *out)
{
    int64_t wide = 0, group = 0, usual_group = A16W4_GROUP;
    double cycles = 0, step = 1, loss = 0;
    if (ti_text_eq(name, "int8") || percent(name, "int8+16:", &cycles) ||
        counted(name, "int8+16:", &wide))
        *out = usual(act8, weight8);
    else if (stepped(name, &step)) {
        *out = usual(act8, weight8);
        out->global.weight.step = step;
        out->small8 = SMALL8;
    } else if (lossy(name, &loss)) {
        *out = usual(act8, weight8);
        out->rate.db = loss;
    } else if (ti_text_eq(name, "best")) {
        *out = usual(act8, weight8);
        out->thorough = true;
    } else if (ti_text_eq(name, "a16w8"))
        *out = usual(act16, weight8);
    else if (ti_text_eq(name, "a8w4") || counted(name, "a8w4:", &group)) {
        *out = usual(act8, weight4(group));
        out->small8 = SMALL8;
    } else if (ti_text_eq(name, "a16w4") || counted(name, "a16w4:", &usual_group)) {
        *out = usual(act16, weight4(usual_group));
        out->head8 = true;
        out->group_free = ti_text_eq(name, "a16w4");
    } else if (ti_text_eq(name, "none")) {
        *out = usual(act8, weight8);
        out->global.act.dtype = out->global.weight.dtype = TC_none;
    } else if (ti_text_eq(name, "anchor"))
        *out = anchor();
    else if (!blocks(name, out))
        return false;
    out->n_wide = wide;
    out->wide_cycles = cycles;
    return true;
}

void ti_config_pack(tc_config *c)
{
    if (!c->group_free)
        return;
    c->global.weight = weight8;
    c->global.weight.qmax = PACKED_CODE;
    c->global.weight.qmin = -PACKED_CODE;
    c->group_free = c->head8 = false;
}

void ti_config_for_size(tc_config *c)
{
    if (c->global.weight.dtype == TC_i8 && !ti_config_needs_rounding(c) && !c->anchor &&
        !(c->rate.db > 0))
        c->rate = (tc_rate){.db = 0.3, .may = true};
}

bool ti_setting_few_codes(const tc_setting *weight)
{
    return weight->dtype == TC_i4 || (weight->dtype == TC_i8 && weight->qmax <= FEW_CODES);
}

bool ti_config_few_codes(const tc_config *c)
{
    bool few = ti_setting_few_codes(&c->global.weight);
    for (size_t i = 0; i < c->n_entry; i++) {
        tc_setting own = ti_setting_patched(c->global.weight, &c->entry[i].weight);
        few = few || ti_setting_few_codes(&own);
    }
    return few;
}

bool ti_config_needs_rounding(const tc_config *c)
{
    bool coarse = ti_setting_step(&c->global.weight) > 1;
    for (size_t i = 0; i < c->n_entry; i++)
        coarse = coarse || (c->entry[i].weight.has & TC_HAS_STEP && c->entry[i].weight.to.step > 1);
    return coarse || ti_config_few_codes(c);
}

/* ---- patches ---- */

tc_patch ti_patch_all(const tc_setting *setting)
{
    uint32_t has =
        TC_HAS_DTYPE | TC_HAS_RANGE | TC_HAS_SYMMETRIC | TC_HAS_PER_CHANNEL | TC_HAS_FLOOR |
        TC_HAS_GROUP | TC_HAS_STEP;
    if (setting->observer == TC_OBSERVER_fixed)
        has |= TC_HAS_FIXED;
    return (tc_patch){has, *setting};
}

/* The code range of an element type. */
static void usual_codes(tc_setting *s)
{
    if (s->weight && s->dtype == TC_i8) {
        s->qmin = weight8.qmin;
        s->qmax = weight8.qmax;
        s->symmetric = weight8.symmetric;
        s->observer = weight8.observer;
        s->group = weight8.group;
        return;
    }
    const tc_setting *like = s->dtype == TC_i16 ? &act16 : s->dtype == TC_i32 ? &act32 : &act8;
    s->qmin = s->dtype == TC_u8 ? 0 : like->qmin;
    s->qmax = s->dtype == TC_u8 ? 255 : like->qmax;
    s->symmetric = like->symmetric;
    s->floor = like != &act8 ? fmin(s->floor, like->floor) : s->floor;
    if (s->dtype == TC_i4) {
        s->qmin = -7;
        s->qmax = 7;
        s->symmetric = true;
        s->observer = TC_OBSERVER_mse;
    }
}

tc_setting ti_setting_patched(tc_setting s, const tc_patch *patch)
{
    const tc_setting *to = &patch->to;
    if (patch->has & TC_HAS_DTYPE && s.dtype != to->dtype) {
        s.dtype = to->dtype;
        usual_codes(&s);
    }
    if (patch->has & TC_HAS_RANGE) {
        s.qmin = to->qmin;
        s.qmax = to->qmax;
    }
    if (patch->has & TC_HAS_SYMMETRIC)
        s.symmetric = to->symmetric;
    if (patch->has & TC_HAS_PER_CHANNEL)
        s.per_channel = to->per_channel;
    if (patch->has & TC_HAS_GROUP) {
        s.group = to->group;
        s.qmin = s.dtype == TC_i4 ? (s.group ? -8 : -7) : s.qmin;
        s.qmin = patch->has & TC_HAS_RANGE ? to->qmin : s.qmin;
    }
    if (patch->has & TC_HAS_STEP)
        s.step = to->step;
    if (patch->has & TC_HAS_OBSERVER)
        s.observer = to->observer;
    if (patch->has & TC_HAS_PERCENTILE)
        s.percentile = to->percentile;
    if (patch->has & TC_HAS_FLOOR)
        s.floor = to->floor;
    if (patch->has & TC_HAS_FIXED) {
        s.observer = TC_OBSERVER_fixed;
        s.scale = to->scale;
        s.zero = to->zero;
    }
    return s;
}

/* ---- entries ---- */

void ti_config_add(tc_ctx *ctx, tc_config *config, tc_config_entry entry)
{
    for (size_t i = 0; i < config->n_entry; i++)
        if (config->entry[i].level == entry.level &&
            ti_text_eq(config->entry[i].name, entry.name)) {
            config->entry[i] = entry;
            return;
        }
    tc_grow(&ctx->arena, config->entry, config->n_entry, config->cap_entry);
    config->entry[config->n_entry++] = entry;
}

void ti_config_own_entries(tc_ctx *ctx, tc_config *config)
{
    tc_config_entry *own = tc_new_n(&ctx->arena, tc_config_entry, config->n_entry);
    for (size_t i = 0; i < config->n_entry; i++)
        own[i] = config->entry[i];
    config->entry = own;
    config->cap_entry = config->n_entry;
}

void ti_config_leave_float(tc_ctx *ctx, tc_config *config, const char *name)
{
    const tc_patch none = {TC_HAS_DTYPE, {.dtype = TC_none}};
    if (ti_text_eq(name, TC_FRONT_END))
        config->real_spectra = true;
    else
        ti_config_add(ctx, config, (tc_config_entry){TC_LEVEL_any, name, none, none});
}

bool ti_config_transform(tc_config *config, const char *name)
{
    config->transform = ti_text_eq(name, "int8")    ? TC_i8
                        : ti_text_eq(name, "int16") ? TC_i16
                        : ti_text_eq(name, "float") ? TC_f32
                                                    : TC_none;
    return config->transform != TC_none;
}

/* "Linear" is "torch.nn.modules.linear.Linear" too. */
static bool type_matches(const char *type, const char *name)
{
    size_t n = strlen(type), m = strlen(name);
    return ti_text_ends(type, name) && (n == m || type[n - m - 1] == '.');
}

/* "a.b" matches "a.b" and "a.b.c". */
static bool module_matches(const char *path, const char *name)
{
    size_t n = strlen(name);
    return ti_text_starts(path, name) && (path[n] == 0 || path[n] == '.');
}

static bool matches(const tc_config_entry *entry, const tc_loc *loc, const char *value)
{
    switch (entry->level) {
    case TC_LEVEL_node:
        return (value && ti_text_eq(value, entry->name)) ||
               (loc && loc->node && ti_text_eq(loc->node, entry->name));
    case TC_LEVEL_target:
        return loc && loc->target && ti_text_eq(loc->target, entry->name);
    case TC_LEVEL_module:
        return loc && loc->module && module_matches(loc->module, entry->name);
    case TC_LEVEL_module_type:
        return loc && loc->module_type && type_matches(loc->module_type, entry->name);
    case TC_LEVEL_any:
        return (value && ti_text_eq(value, entry->name)) ||
               (loc && ((loc->node && ti_text_eq(loc->node, entry->name)) ||
                        (loc->target && ti_text_eq(loc->target, entry->name)) ||
                        (loc->module && module_matches(loc->module, entry->name))));
    default:
        return false;
    }
}

/* a overrides b.  Names are compared last, for a total order. */
static bool narrower(const tc_config_entry *a, const tc_config_entry *b)
{
    if (a->level != b->level)
        return a->level > b->level;
    size_t n = strlen(a->name), m = strlen(b->name);
    return n != m ? n > m : strcmp(a->name, b->name) > 0;
}

/* The widest matching entry that is narrower than `after`; NULL: there is none. */
static const tc_config_entry *next_entry(const tc_config *config, const tc_loc *loc,
                                         const char *value, const tc_config_entry *after)
{
    const tc_config_entry *found = NULL;
    for (size_t i = 0; i < config->n_entry; i++) {
        const tc_config_entry *entry = &config->entry[i];
        if ((!after || narrower(entry, after)) && (!found || narrower(found, entry)) &&
            matches(entry, loc, value))
            found = entry;
    }
    return found;
}

tc_scheme ti_config_scheme(const tc_config *config, const tc_loc *loc, const char *value,
                           tc_level *level)
{
    tc_scheme scheme = config->global;
    *level = TC_LEVEL_global;
    for (const tc_config_entry *entry = NULL; (entry = next_entry(config, loc, value, entry));) {
        scheme.act = ti_setting_patched(scheme.act, &entry->act);
        scheme.weight = ti_setting_patched(scheme.weight, &entry->weight);
        if (entry->act.has)
            *level = entry->level;
    }
    return scheme;
}

bool ti_config_weights_free(const tc_config *config, const tc_loc *loc, const char *value)
{
    for (const tc_config_entry *entry = NULL; (entry = next_entry(config, loc, value, entry));)
        if (entry->weight.has || entry->level == TC_LEVEL_node)
            return false;
    return true;
}

/* ---- entries that match nothing ---- */

static const char *const level_words[] = {
    "the program", "the program's signature", "a module type", "a module", "an operator", "a node",
    "a node, an operator or a module"};

/* What an entry of this level could have matched in node k (inputs come after the nodes); NULL:
 * nothing. */
static const char *candidate(const tc_graph *g, tc_level level, size_t k)
{
    if (k >= g->n_node)
        return level >= TC_LEVEL_node ? g->val[g->in[k - g->n_node]]->name : NULL;
    const tc_loc *loc = g->node[k]->loc;
    if (!loc)
        return NULL;
    return level >= TC_LEVEL_node     ? loc->node
           : level == TC_LEVEL_target ? loc->target
           : level == TC_LEVEL_module ? loc->module
                                      : loc->module_type;
}

/* The part of a type's name that people write. */
static const char *spoken(tc_level level, const char *name)
{
    const char *dot = level == TC_LEVEL_module_type ? strrchr(name, '.') : NULL;
    return dot ? dot + 1 : name;
}

static tc_status matches_nothing(tc_ctx *ctx, const tc_config *config, const tc_config_entry *entry,
                                 const tc_graph *g)
{
    const char *best[3] = {NULL};
    for (size_t rank = 0; rank < TC_COUNT(best); rank++) {
        size_t least = SIZE_MAX;
        for (size_t k = 0; k < g->n_node + g->n_in; k++) {
            const char *name = candidate(g, entry->level, k);
            name = name ? spoken(entry->level, name) : NULL;
            if (!name || !*name || (rank > 0 && best[0] && ti_text_eq(name, best[0])) ||
                (rank > 1 && best[1] && ti_text_eq(name, best[1])))
                continue;
            size_t distance = ti_text_distance(entry->name, name);
            if (distance < least) {
                least = distance;
                best[rank] = name;
            }
        }
    }
    tc_loc loc = {.file = config->file};
    tc_status status = ti_error(ctx, config->file ? &loc : NULL, TC_E_CONFIG,
                                "the setting for '%s' names %s that the program does not have",
                                entry->name, level_words[entry->level]);
    if (best[2])
        ti_note(ctx, NULL, "the nearest are '%s', '%s' and '%s'", best[0], best[1], best[2]);
    else if (best[0])
        ti_note(ctx, NULL, "the nearest is '%s'", best[0]);
    return status;
}

tc_status ti_config_check(tc_ctx *ctx, const tc_config *config, const tc_graph *g)
{
    tc_status worst = TC_OK;
    tc_loc loc = {.file = config->file};
    if (names(config, true) && names(config, false)) {
        worst = ti_error(ctx, config->file ? &loc : NULL, TC_E_CONFIG,
                         "block-scaled types and integers in one program");
        ti_note(ctx, NULL, "what is not block scaled is float: begin with \"preset\": \"none\"");
    }
    for (size_t i = 0; i < config->n_entry; i++) {
        const tc_config_entry *entry = &config->entry[i];
        bool found = false;
        for (size_t k = 0; k < g->n_node && !found; k++) {
            const tc_node *node = g->node[k];
            found = matches(entry, node->loc, node->n_out ? g->val[node->out[0]]->name : NULL);
        }
        for (size_t k = 0; k < g->n_in && !found; k++)
            found = matches(entry, NULL, g->val[g->in[k]]->name);
        if (!found)
            worst = matches_nothing(ctx, config, entry, g);
    }
    return worst;
}
