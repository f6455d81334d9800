/* SPDX-License-Identifier: Apache-2.0 */
/* config_json.c -- a configuration from a JSON file.
 *
 *   { "preset": "int8", "observer": "mse", "activations": {...}, "weights": {...}, "io": {...},
 *     "modules": {...}, "module_types": {...}, "nodes": {...}, "targets": {...} }
 *
 * A entry is a preset's name, null for "leave in float", or an object: of activations and weights,
 * or of the fields of an activation.  Unknown names are an error that lists the nearest. */
#include "quantizer.h"

#include <math.h>

#include "../num/block_scaled.h"
#include "../wire/file.h"
#include "../wire/json.h"

typedef struct reader {
    tc_ctx *ctx;
    tc_config *config;
    tc_loc loc;
} reader;

static const char *const observer_names[] = {
    "mse", "minmax", "ema", "percentile", "histogram-torchao", "fixed"};
_Static_assert(TC_COUNT(observer_names) == TC_OBSERVER_COUNT, "a name for every observer");

#define BAD(r, ...) ti_error((r)->ctx, &(r)->loc, TC_E_CONFIG, __VA_ARGS__)

/* A name not in `known`: an error, with the nearest. */
static tc_status unknown(reader *r, const char *what, const char *name, const char *const *known,
                         size_t n)
{
    tc_status status = BAD(r, "'%s' is no %s", name, what);
    const char *best = NULL;
    size_t least = ti_text_far(name);
    tc_buf all;
    ti_buf_init(&all, &r->ctx->arena);
    for (size_t i = 0; i < n; i++) {
        ti_text_nearer(name, known[i], &least, &best);
        ti_buf_printf(&all, "%s%s", i ? ", " : "", known[i]);
    }
    if (best)
        ti_note(r->ctx, &r->loc, "the nearest is '%s'", best);
    else if (n)
        ti_note(r->ctx, &r->loc, "there are %s", ti_buf_cstr(&all));
    return status;
}

static const char *text_of(reader *r, const tc_json *json)
{
    tc_str text = ti_json_text(&r->ctx->arena, json);
    return text.p ? ti_text_copy(&r->ctx->arena, text) : NULL;
}

/* ---- fields of a setting ---- */

typedef tc_status field_reader(reader *r, const char *key, const tc_json *value, tc_patch *out);

static tc_status wants(reader *r, const char *key, const char *what)
{
    return BAD(r, "'%s' wants %s", key, what);
}

static tc_status read_dtype(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    static const struct {
        const char *name;
        tc_dtype dtype;
    } known[] = {
        {"int8", TC_i8},  {"int16", TC_i16}, {"int32", TC_i32},
        {"uint8", TC_u8}, {"int4", TC_i4},   {"float", TC_none}};
    static const char *const names[] = {"int8",  "int16", "int32", "uint8", "int4",
                                        "float", "mxfp8", "mxfp6", "mxfp4", "mxint8"};
    const char *name = text_of(r, value);
    if (!name)
        return wants(r, key, "the name of an element type");
    out->has |= TC_HAS_DTYPE;
    out->to.dtype = ti_block_named(name);
    if (out->to.dtype)
        return TC_OK;
    for (size_t i = 0; i < TC_COUNT(known); i++)
        if (ti_text_eq(name, known[i].name)) {
            out->to.dtype = known[i].dtype;
            return TC_OK;
        }
    return unknown(r, "element type", name, names, TC_COUNT(names));
}

static tc_status read_code(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    int64_t *to = ti_text_eq(key, "qmin") ? &out->to.qmin : &out->to.qmax;
    if (!ti_json_i64(value, to) || *to < -65536 || *to > 65536)
        return wants(r, key, "a whole number");
    out->has |= TC_HAS_RANGE;
    return TC_OK;
}

static tc_status read_group(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    if (!ti_json_i64(value, &out->to.group) || out->to.group < 0 || out->to.group > 1000000)
        return wants(r, key, "a number of input channels, 0 for all of them");
    out->has |= TC_HAS_GROUP;
    return TC_OK;
}

static tc_status read_step(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    if (!ti_json_f64(value, &out->to.step) || !(out->to.step >= 1) || out->to.step > TC_MOST_STEP)
        return wants(r, key, "a number of 1 to 64");
    out->has |= TC_HAS_STEP;
    return TC_OK;
}

static tc_status read_flag(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    bool symmetric = ti_text_eq(key, "symmetric");
    if (!ti_json_bool(value, symmetric ? &out->to.symmetric : &out->to.per_channel))
        return wants(r, key, "true or false");
    out->has |= symmetric ? TC_HAS_SYMMETRIC : TC_HAS_PER_CHANNEL;
    return TC_OK;
}

static tc_status read_observer(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    const char *name = text_of(r, value);
    if (!name)
        return wants(r, key, "the name of an observer");
    out->has |= TC_HAS_OBSERVER;
    for (size_t i = 0; i < TC_OBSERVER_COUNT; i++)
        if (ti_text_eq(name, observer_names[i])) {
            out->to.observer = (tc_observer)i;
            return TC_OK;
        }
    return unknown(r, "observer", name, observer_names, TC_OBSERVER_COUNT);
}

static tc_status read_number(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    double number;
    if (!ti_json_f64(value, &number) || !isfinite(number))
        return wants(r, key, "a number");
    if (ti_text_eq(key, "percentile")) {
        if (number <= 50 || number > 100)
            return wants(r, key, "a number above 50, at most 100");
        out->to.percentile = number;
        out->has |= TC_HAS_PERCENTILE;
        return TC_OK;
    }
    if (number <= 0 || (float)number <= 0 || isinf((float)number))
        return wants(r, key, "a number above 0 that float32 has");
    *(ti_text_eq(key, "scale") ? &out->to.scale : &out->to.floor) = number;
    out->has |= ti_text_eq(key, "scale") ? TC_HAS_FIXED : TC_HAS_FLOOR;
    return TC_OK;
}

static tc_status read_zero(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    if (!ti_json_i64(value, &out->to.zero) || out->to.zero < -32768 || out->to.zero > 32767)
        return wants(r, key, "an integer in the range of the element type");
    return TC_OK;
}

static const struct {
    const char *name;
    field_reader *read;
} fields[] = {
    {"dtype", read_dtype},       {"qmin", read_code},        {"qmax", read_code},
    {"symmetric", read_flag},    {"per_channel", read_flag}, {"observer", read_observer},
    {"percentile", read_number}, {"eps", read_number},       {"scale", read_number},
    {"zero_point", read_zero},   {"group", read_group},      {"step", read_step},
};
static const char *const field_names[] = {"dtype",       "qmin",      "qmax",       "symmetric",
                                          "per_channel", "observer",  "percentile", "eps",
                                          "scale",       "zero_point", "group",     "step"};
_Static_assert(TC_COUNT(fields) == TC_COUNT(field_names), "the same fields");

static tc_status read_field(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        if (ti_text_eq(key, fields[i].name))
            return fields[i].read(r, key, value, out);
    return unknown(r, "setting", key, field_names, TC_COUNT(field_names));
}

/* The element types that a kind of value may have. */
static tc_status check_dtype(reader *r, const char *what, const tc_patch *p)
{
    bool weights = ti_text_eq(what, "weights"),
         port = ti_text_eq(what, "inputs") || ti_text_eq(what, "outputs") || ti_text_eq(what, "io");
    tc_dtype d = p->has & TC_HAS_DTYPE ? p->to.dtype : TC_none;
    bool fits =
        d == TC_none || d == TC_i8 || d == (weights ? TC_i4 : TC_i16) || (port && d == TC_u8) ||
        (!port && !weights && d == TC_i32) || (!port && ti_is_block(d));
    return fits ? TC_OK
                : BAD(r, "'%s' cannot have type %s; expected int8 or %s", what, tc_dtypes[d].name,
                      weights ? "int4" : "int16");
}

/* Codes that the element type has, the smaller one first. */
static tc_status check_patch(reader *r, const char *what, const tc_patch *p, const tc_json *object)
{
    TC_TRY(check_dtype(r, what, p));
    if (ti_text_eq(what, "weights") && p->has & TC_HAS_FIXED)
        return BAD(r, "weights cannot have a fixed scale: it follows from their values");
    if (!ti_text_eq(what, "weights") && p->has & TC_HAS_STEP)
        return BAD(r, "'step' is for weights; '%s' has 'scale'", what);
    if (ti_json_get(object, "zero_point") && !(p->has & TC_HAS_FIXED))
        return BAD(r, "'zero_point' without 'scale'");
    if (p->has & TC_HAS_FIXED) {
        bool wide = p->has & TC_HAS_DTYPE && (p->to.dtype == TC_i16 || p->to.dtype == TC_i32);
        if (p->has & TC_HAS_DTYPE && p->to.dtype == TC_i32 && p->to.zero)
            return BAD(r, "the zero point of int32 is 0");
        int64_t least = wide ? INT16_MIN : INT8_MIN, most = wide ? INT16_MAX : UINT8_MAX;
        if (p->to.zero < least || p->to.zero > most)
            return BAD(r, "the zero point %" PRId64 " is outside the codes %" PRId64 " to %" PRId64,
                       p->to.zero, least, most);
    }
    if (p->has & TC_HAS_RANGE) {
        if (!ti_json_get(object, "qmin") || !ti_json_get(object, "qmax") ||
            p->to.qmin >= p->to.qmax)
            return BAD(r, "'qmin' and 'qmax' are needed together, qmin below qmax");
        bool typed = p->has & TC_HAS_DTYPE && p->to.dtype != TC_none;
        tc_dtype dtype = typed ? p->to.dtype : ti_text_eq(what, "weights") ? TC_i8 : TC_i16;
        typed = typed || dtype == TC_i8;
        int64_t least = typed ? ti_dtype_min(dtype) : INT16_MIN,
                most = typed ? ti_dtype_max(dtype) : UINT16_MAX;
        if (p->to.qmin < least || p->to.qmax > most)
            return BAD(r, "codes %" PRId64 " to %" PRId64 ", and %s has %" PRId64 " to %" PRId64,
                       p->to.qmin, p->to.qmax, tc_dtypes[dtype].name, least, most);
    }
    if (p->has & TC_HAS_PERCENTILE && p->has & TC_HAS_OBSERVER &&
        p->to.observer != TC_OBSERVER_percentile)
        return BAD(r, "'percentile' with the observer '%s': only the observer 'percentile' takes it",
                   observer_names[p->to.observer]);
    bool fixed = p->has & TC_HAS_OBSERVER && p->to.observer == TC_OBSERVER_fixed;
    return fixed && !(p->has & TC_HAS_FIXED) ? BAD(r, "the observer 'fixed' needs a 'scale'")
                                             : TC_OK;
}

static tc_status read_patch(reader *r, const char *what, const tc_json *object, tc_patch *out)
{
    if (!ti_json_is(object, TC_JSON_OBJECT))
        return wants(r, what, "an object");
    const tc_json *key = object->as.child;
    for (uint32_t i = 0; i < object->n; i++, key = key->next->next) {
        const char *name = text_of(r, key);
        TC_TRY(name ? read_field(r, name, key->next, out) : wants(r, what, "keys that are "
                                                                           "strings"));
    }
    TC_TRY(check_patch(r, what, out, object));
    if (out->has & TC_HAS_PERCENTILE) { /* which names the observer, too */
        out->has |= TC_HAS_OBSERVER;
        out->to.observer = TC_OBSERVER_percentile;
    }
    return TC_OK;
}

/* ---- entries ---- */

static tc_status named_preset(reader *r, const char *name, tc_config *out)
{
    size_t n;
    const char *const *names = ti_config_presets(&n);
    return ti_config_preset(name, out) ? TC_OK : unknown(r, "preset", name, names, n);
}

/* A preset's name, or null. */
static tc_status whole_scheme(reader *r, const char *name, tc_config_entry *entry)
{
    tc_config preset;
    TC_TRY(named_preset(r, name, &preset));
    if (preset.anchor || preset.n_wide || preset.wide_cycles > 0)
        return BAD(r, "the preset '%s' is for a whole program", name);
    entry->act = ti_patch_all(&preset.global.act);
    entry->weight = ti_patch_all(&preset.global.weight);
    entry->act.has &= ~(uint32_t)TC_HAS_FLOOR;
    entry->weight.has &= ~(uint32_t)TC_HAS_FLOOR;
    return TC_OK;
}

static tc_status read_entry(reader *r, const char *name, const tc_json *value,
                            tc_config_entry *entry)
{
    const char *preset = text_of(r, value);
    if (preset || ti_json_is(value, TC_JSON_NULL))
        return whole_scheme(r, preset ? preset : "none", entry);
    const tc_json *act = ti_json_get(value, "activations"), *weight = ti_json_get(value, "weights");
    if (!act && !weight)
        return read_patch(r, name, value, &entry->act);
    if (value->n != (uint32_t)((act != NULL) + (weight != NULL)))
        return BAD(r, "the setting for '%s' has members other than 'activations' and 'weights'",
                   name);
    if (act)
        TC_TRY(read_patch(r, "activations", act, &entry->act));
    return weight ? read_patch(r, "weights", weight, &entry->weight) : TC_OK;
}

static tc_status read_entrys(reader *r, const char *key, const tc_json *object, tc_level level)
{
    if (!ti_json_is(object, TC_JSON_OBJECT))
        return wants(r, key, "an object");
    const tc_json *name = object->as.child;
    for (uint32_t i = 0; i < object->n; i++, name = name->next->next) {
        tc_config_entry entry = {.level = level, .name = text_of(r, name)};
        if (!entry.name || !entry.name[0])
            return wants(r, key, "names");
        TC_TRY(read_entry(r, entry.name, name->next, &entry));
        ti_config_add(r->ctx, r->config, entry);
    }
    return TC_OK;
}

/* "int8", "float", or an object with the fields of an activation. */
static tc_status read_port(reader *r, const char *key, const tc_json *value, tc_patch *out)
{
    if (ti_json_is(value, TC_JSON_OBJECT))
        TC_TRY(read_patch(r, key, value, out));
    else
        TC_TRY(read_dtype(r, key, value, out));
    if (!(out->has & TC_HAS_DTYPE)) {
        out->has |= TC_HAS_DTYPE;
        out->to.dtype = TC_i8;
    }
    if (out->to.dtype == TC_none)
        out->has = 0;
    return TC_OK;
}

static tc_status read_io(reader *r, const tc_json *value)
{
    static const char *const names[] = {"inputs", "outputs"};
    if (!ti_json_is(value, TC_JSON_OBJECT)) {
        TC_TRY(read_port(r, "io", value, &r->config->in));
        r->config->out = r->config->in;
        return TC_OK;
    }
    const tc_json *key = value->as.child;
    for (uint32_t i = 0; i < value->n; i++, key = key->next->next) {
        const char *name = text_of(r, key);
        bool in = name && ti_text_eq(name, "inputs");
        if (!in && !(name && ti_text_eq(name, "outputs")))
            return unknown(r, "part of 'io'", name ? name : "", names, TC_COUNT(names));
        TC_TRY(read_port(r, name, key->next, in ? &r->config->in : &r->config->out));
    }
    return TC_OK;
}

/* ---- the file ---- */

static tc_status read_global(reader *r, const char *key, const tc_json *value)
{
    tc_patch patch = {0};
    bool weights = ti_text_eq(key, "weights");
    if (!ti_text_eq(key, "observer"))
        TC_TRY(read_patch(r, key, value, &patch));
    else {
        TC_TRY(read_observer(r, key, value, &patch));
        TC_TRY(check_patch(r, key, &patch, NULL));
    }
    tc_setting *to = weights ? &r->config->global.weight : &r->config->global.act;
    r->config->group_free = r->config->group_free && !weights;
    *to = ti_setting_patched(*to, &patch);
    return TC_OK;
}

/* A name or an array of names. */
static tc_status read_float(reader *r, const char *key, const tc_json *value)
{
    bool many = ti_json_is(value, TC_JSON_LIST);
    const tc_json *one = many ? value->as.child : value;
    for (uint32_t i = 0; i < (many ? value->n : 1); i++, one = one->next) {
        const char *name = text_of(r, one);
        if (!name || !*name)
            return wants(r, key, "a name or an array of names");
        ti_config_leave_float(r->ctx, r->config, name);
    }
    return TC_OK;
}

static tc_status read_transform(reader *r, const char *key, const tc_json *value)
{
    const char *name = text_of(r, value);
    return name && ti_config_transform(r->config, name) ? TC_OK
                                                        : wants(r, key, "\"int8\", \"int16\" or \"float\"");
}

static tc_status read_member(reader *r, const char *key, const tc_json *value)
{
    static const char *const names[] = {"preset",  "observer",     "activations", "weights", "io",
                                        "modules", "module_types", "nodes",       "targets", "float",
                                        "transform"};
    static const tc_level levels[] = {
        [5] = TC_LEVEL_module, TC_LEVEL_module_type, TC_LEVEL_node, TC_LEVEL_target};
    size_t i = 0;
    while (i < TC_COUNT(names) && !ti_text_eq(key, names[i]))
        i++;
    if (i == TC_COUNT(names))
        return unknown(r, "member of a configuration", key, names, TC_COUNT(names));
    if (i == 0)
        return TC_OK; /* read before everything else */
    if (i < 4)
        return read_global(r, key, value);
    return i == 4    ? read_io(r, value)
           : i == 9  ? read_float(r, key, value)
           : i == 10 ? read_transform(r, key, value)
                     : read_entrys(r, key, value, levels[i]);
}

tc_status ti_config_from_json(tc_ctx *ctx, const char *path, tc_bytes bytes, tc_config *out)
{
    const char *reason;
    size_t at;
    reader r = {ctx, out, {.file = path}};
    const tc_json *root = ti_json_parse(&ctx->arena, bytes, &reason, &at);
    if (!root)
        return BAD(&r, "byte %zu: %s", at, reason);
    if (!ti_json_is(root, TC_JSON_OBJECT))
        return BAD(&r, "expected an object");
    const tc_json *preset = ti_json_get(root, "preset");
    const char *name = preset ? text_of(&r, preset) : "int8";
    TC_TRY(name ? named_preset(&r, name, out) : wants(&r, "preset", "the name of a preset"));
    out->file = path;
    const tc_json *key = root->as.child;
    for (uint32_t i = 0; i < root->n; i++, key = key->next->next)
        TC_TRY(read_member(&r, text_of(&r, key), key->next));
    return TC_OK;
}

static tc_status read_file(tc_ctx *ctx, const char *path, tc_config *out)
{
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    return ti_config_from_json(ctx, path, bytes, out);
}

static tc_status read_settings(tc_ctx *ctx, const char *text, tc_config *out)
{
    if (ti_config_preset(text ? text : "int8", out))
        return TC_OK;
    if (ti_text_ends(text, ".json") || ti_path_last(text) != text)
        return read_file(ctx, text, out);
    tc_status status = ti_usage(ctx, "'%s' is not a preset", text);
    ti_note(ctx, NULL,
            "presets are int8, int8xS, best, int8+16:K, int8+16:P%%, a16w8, a8w4, a16w4, none, anchor, mxfp8, mxfp6, "
            "mxfp4 and mxint8; a file's name ends in .json");
    return status;
}

/* ---- what follows the settings ---- */

static tc_status leave_float(tc_ctx *ctx, tc_config *config, const char *name)
{
    if (!*name)
        return ti_usage(ctx, "a name is missing after 'float='");
    ti_config_leave_float(ctx, config, name);
    return TC_OK;
}

static tc_status allow_loss(tc_ctx *ctx, tc_config *config, const char *loss)
{
    return ti_config_loss(loss, &config->rate.db)
               ? TC_OK
               : ti_usage(ctx, "'rate=%s': what coarser weights may lose is more than 0 and at "
                               "most 20 dB, as 'rate=0.3dB'", loss);
}

static tc_status give_transform(tc_ctx *ctx, tc_config *config, const char *name)
{
    return ti_config_transform(config, name)
               ? TC_OK
               : ti_usage(ctx, "'transform=%s': the weights of a transform are int8, int16 or float", name);
}

/* "int8,float=front-end,float=conv,rate=0.3dB,transform=int16" */
static const struct {
    const char *word;
    tc_status (*take)(tc_ctx *ctx, tc_config *config, const char *value);
} additions[] = {{",float=", leave_float}, {",rate=", allow_loss}, {",transform=", give_transform}};

/* The text up to its first addition, which *at begins with, *kind of the table; NULL: there is none. */
static const char *before_additions(tc_ctx *ctx, const char *text, const char **at, size_t *kind)
{
    *at = NULL;
    for (size_t i = 0; text && i < TC_COUNT(additions); i++) {
        const char *one = strstr(text, additions[i].word);
        if (one && (!*at || one < *at)) {
            *at = one;
            *kind = i;
        }
    }
    return *at ? ti_text_format(&ctx->arena, "%.*s", (int)(*at - text), text) : text;
}

tc_status ti_config_read(tc_ctx *ctx, const char *text, tc_config *out)
{
    const char *at;
    size_t kind = 0;
    text = before_additions(ctx, text, &at, &kind);
    TC_TRY(read_settings(ctx, text && *text ? text : NULL, out));
    while (at) {
        size_t now = kind;
        const char *value = at + strlen(additions[now].word);
        TC_TRY(additions[now].take(ctx, out, before_additions(ctx, value, &at, &kind)));
    }
    return TC_OK;
}
