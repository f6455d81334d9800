/* SPDX-License-Identifier: Apache-2.0 */
/* data.c -- see data.h for the rules. */
#include "data.h"

#include "../wire/file.h"

/* One array's samples within an input's. */
typedef struct part {
    tc_npy *array;
    size_t first, n; /* samples first .. first + n - 1 */
    bool new_axis;   /* they are along an axis that the input does not have */
} part;

typedef struct column {
    const char *name; /* the input's */
    const tc_type *type;
    part *part;
    size_t n_part, cap_part;
    size_t samples;
} column;

struct tc_data {
    tc_ctx *ctx;
    column *column; /* one per input */
    size_t n_column;
    size_t samples;
    bool any_rank; /* of the module */
};

/* A file's arrays, and an argument's files. */
typedef struct set {
    const tc_loc *loc;
    tc_npy *array;
    size_t n;
} set;

typedef struct source {
    const char *path;
    bool is_folder;
    set *set;
    size_t n, cap;
} source;

/* ---- opening -----------------------------------------------------------------------------------
 */

static tc_status open_file(tc_ctx *ctx, const char *path, source *s)
{
    tc_grow(&ctx->arena, s->set, s->n, s->cap);
    set *new = &s->set[s->n++];
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = ti_intern_text(ctx, path);
    new->loc = loc;
    return ti_npy_open(ctx, path, &new->array, &new->n);
}

static tc_status open_folder(tc_ctx *ctx, source *s)
{
    const char **name;
    size_t n;
    TC_TRY(ti_folder_list(ctx, s->path, &name, &n));
    for (size_t i = 0; i < n; i++)
        if (ti_text_ends(name[i], ".npy") || ti_text_ends(name[i], ".npz"))
            TC_TRY(open_file(ctx, ti_text_format(&ctx->arena, "%s/%s", s->path, name[i]), s));
    if (!s->n) {
        tc_status status = ti_error(ctx, &(tc_loc){.file = s->path}, TC_E_DATA,
                                    "the folder holds no .npy and no .npz");
        ti_note(ctx, NULL,
                "images and audio are read with --preprocess RULES, such as \"resize=256 "
                "crop=224\"");
        return status;
    }
    return TC_OK;
}

static tc_status open_source(tc_ctx *ctx, const char *path, source *s)
{
    s->path = path;
    s->is_folder = ti_is_folder(path);
    return s->is_folder ? open_folder(ctx, s) : open_file(ctx, path, s);
}

/* ---- which array is for which input ------------------------------------------------------------
 */

static bool same_tail(const tc_npy *a, int skip, const tc_type *t, int from)
{
    for (int i = from; i < t->rank; i++)
        if (a->dim[i + skip] != t->dim[i])
            return false;
    return true;
}

/* The array's last axes are the type's without its batch, channels last. */
static bool channels_last(const tc_npy *a, const tc_type *t)
{
    int n = t->rank - 1;
    if (t->rank < 3 || a->rank < n || a->dim[a->rank - 1] != t->dim[1])
        return false;
    for (int i = 0; i < n - 1; i++)
        if (a->dim[a->rank - n + i] != t->dim[2 + i])
            return false;
    return true;
}

static tc_status does_not_fit(tc_data *data, const column *c, const tc_npy *a)
{
    tc_arena *scratch = &data->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    tc_status status =
        ti_error(data->ctx, a->loc, TC_E_DATA, "the array is %s%s, input '%s' is %s",
                 ti_npy_type_text(scratch, a), ti_dims_text(scratch, a->rank, a->dim), c->name,
                 ti_type_text(scratch, c->type));
    ti_arena_rewind(scratch, mark);
    bool none = a->rank > 0 && a->dim[0] == 0 && a->rank >= c->type->rank;
    if (none)
        ti_note(data->ctx, a->loc, "its first axis has no elements: there are no samples in it");
    else if (channels_last(a, c->type))
        ti_note(data->ctx, a->loc,
                "the array looks like NHWC, channels last, and the input is NCHW: "
                "numpy.moveaxis(array, -1, %d)",
                -(int)(c->type->rank - 1));
    else
        ti_note(data->ctx, a->loc,
                "expected that shape, several of them along the first axis, or one axis "
                "more in front");
    return status;
}

/* The array's extents from axis i on are the type's, but for ones. */
static bool same_but_ones(const tc_npy *a, int i, const tc_type *t)
{
    int k = 0;
    for (;; i++, k++) {
        while (i < a->rank && a->dim[i] == 1)
            i++;
        while (k < t->rank && t->dim[k] == 1)
            k++;
        if (i == a->rank || k == t->rank || a->dim[i] != t->dim[k])
            return i == a->rank && k == t->rank && a->rank <= TC_MAX_RANK;
    }
}

/* If only the data says which axes of extent 1 exist: where those of a sample begin, with or
 * without an axis of samples; -1: it does not fit. */
static int first_axis(const tc_npy *a, const tc_type *t)
{
    return same_but_ones(a, 0, t) ? 0 : a->rank > 1 && same_but_ones(a, 1, t) ? 1 : -1;
}

/* How many samples of the type the array holds; -1: it does not fit. */
static int64_t samples_in(const tc_npy *a, const tc_type *t, bool any_rank, bool *new_axis)
{
    int axes = any_rank ? first_axis(a, t) : -1;
    *new_axis = axes >= 0 ? axes == 1 : a->rank == t->rank + 1;
    if (axes == 1 || (*new_axis && same_tail(a, 1, t, 0)))
        return a->dim[0];
    if (axes == 0 || (a->rank == t->rank && same_tail(a, 0, t, 0)))
        return 1;
    bool slices = a->rank == t->rank && t->rank > 0 && same_tail(a, 0, t, 1) && t->dim[0] > 0 &&
                  a->dim[0] > t->dim[0] && a->dim[0] % t->dim[0] == 0;
    return slices ? a->dim[0] / t->dim[0] : -1;
}

size_t ti_row_samples(const tc_graph *g, tc_npy *const *array)
{
    int64_t most = 0;
    bool new_axis;
    for (size_t i = 0; i < g->n_in; i++) {
        const tc_type *t = ti_type_of(g, g->in[i]);
        int64_t n = array[i] ? samples_in(array[i], t, g->module->origin.any_rank, &new_axis) : 0;
        if (n < 0)
            return 0;
        most = n > most ? n : most;
    }
    return (size_t)most;
}

static tc_status count_samples(tc_data *data, const column *c, const tc_npy *a, part *p)
{
    int64_t n = samples_in(a, c->type, data->any_rank, &p->new_axis);
    if (n < 0)
        return does_not_fit(data, c, a);
    p->n = (size_t)n;
    if (p->n == 0)
        return ti_error(data->ctx, a->loc, TC_E_DATA, "the array holds no sample of input '%s'",
                        c->name);
    return TC_OK;
}

static tc_status append(tc_data *data, size_t input, tc_npy *array)
{
    column *c = &data->column[input];
    tc_grow(&data->ctx->arena, c->part, c->n_part, c->cap_part);
    part *p = &c->part[c->n_part++];
    *p = (part){.array = array, .first = c->samples};
    TC_TRY(count_samples(data, c, array, p));
    c->samples += p->n;
    return TC_OK;
}

static tc_npy *named(const set *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (ti_text_eq(s->array[i].name, name))
            return &s->array[i];
    return NULL;
}

static const char *input_names(const tc_data *data)
{
    tc_buf out;
    ti_buf_init(&out, &data->ctx->arena);
    for (size_t i = 0; i < data->n_column; i++)
        ti_buf_printf(&out, i ? ", %s" : "%s", data->column[i].name);
    return ti_buf_cstr(&out);
}

static const char *array_names(const tc_data *data, const set *s)
{
    tc_buf out;
    ti_buf_init(&out, &data->ctx->arena);
    for (size_t i = 0; i < s->n; i++)
        ti_buf_printf(&out, i ? ", %s" : "%s", s->array[i].name);
    return ti_buf_cstr(&out);
}

static tc_status wrong_number(tc_data *data, const tc_loc *loc, size_t found)
{
    return ti_error(
        data->ctx, loc, TC_E_DATA, "%zu array%s, expected one for each of %zu input%s (%s)", found,
        found == 1 ? "" : "s", data->n_column, data->n_column == 1 ? "" : "s", input_names(data));
}

/* Some of the names are there, and this input's is not. */
static tc_status missing_name(tc_data *data, const set *s, const char *missing)
{
    tc_status status = ti_error(data->ctx, s->loc, TC_E_DATA,
                                "there is no array named '%s': they are %s, the inputs are %s",
                                missing, array_names(data, s), input_names(data));
    ti_note(data->ctx, s->loc,
            "name them after the inputs, or none of them: then they are taken in order");
    return status;
}

/* ---- rows --------------------------------------------------------------------------------------
 */

/* An array for each input; NULL: none for this one. */
typedef struct row {
    const tc_loc *loc;
    tc_npy **array;
} row;

typedef struct rows {
    row *row;
    size_t n, cap;
    bool by_argument; /* an argument for each input: not every row has all of them */
} rows;

static row *add_row(const tc_data *data, rows *r, const tc_loc *loc)
{
    tc_grow(&data->ctx->arena, r->row, r->n, r->cap);
    row *new = &r->row[r->n++];
    *new = (row){loc, tc_new_n(&data->ctx->arena, tc_npy *, data->n_column)};
    return new;
}

/* numpy.savez(file, *samples): arr_0, arr_1, ... */
static bool is_numbered(const set *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!ti_text_starts(s->array[i].name, "arr_"))
            return false;
    return s->n > 1;
}

/* One array of the set for each input: by name where the names are there, in order where none is;
 * or one input's arrays, which need not be of one shape. */
static tc_status add_set(tc_data *data, rows *r, const set *s)
{
    size_t found = 0;
    const char *missing = NULL;
    for (size_t i = 0; i < data->n_column; i++) {
        bool there = named(s, data->column[i].name);
        found += there;
        missing = there ? missing : data->column[i].name;
    }
    bool by_name = found == data->n_column;
    if (!by_name && data->n_column == 1 && is_numbered(s)) {
        for (size_t k = 0; k < s->n; k++)
            add_row(data, r, s->array[k].loc)->array[0] = &s->array[k];
        return TC_OK;
    }
    if (found && !by_name && data->n_column > 1)
        return missing_name(data, s, missing);
    if (!by_name && s->n != data->n_column) {
        tc_status status = wrong_number(data, s->loc, s->n);
        if (s->n > data->n_column)
            ti_note(data->ctx, s->loc,
                    "they are %s: named after the inputs, those are taken and others left aside",
                    array_names(data, s));
        return status;
    }
    row *new = add_row(data, r, s->loc);
    for (size_t i = 0; i < data->n_column; i++)
        new->array[i] = by_name ? named(s, data->column[i].name) : &s->array[i];
    return TC_OK;
}

/* A folder's arrays, one file each, as members of one archive. */
static set folder_as_set(tc_ctx *ctx, const source *s)
{
    set all = {.loc = s->set[0].loc, .n = s->n, .array = tc_new_n(&ctx->arena, tc_npy, s->n)};
    for (size_t i = 0; i < s->n; i++)
        all.array[i] = s->set[i].array[0];
    return all;
}

/* Argument i is input i's: a row for each of its files, where it has more than one. */
static void add_arguments(tc_data *data, rows *r, const source *s)
{
    size_t most = 0;
    r->by_argument = true;
    for (size_t i = 0; i < data->n_column; i++)
        most = s[i].n > most ? s[i].n : most;
    for (size_t k = 0; k < most; k++) {
        row *new = add_row(data, r, s[0].set[k < s[0].n ? k : 0].loc);
        for (size_t i = 0; i < data->n_column; i++)
            new->array[i] = k < s[i].n ? s[i].set[k].array : s[i].n == 1 ? s[i].set[0].array : NULL;
    }
}

static tc_status list_rows(tc_data *data, source *s, size_t n, rows *r)
{
    size_t n_set = 0, n_single = 0, n_array = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].n; k++) {
            n_set++;
            n_array += s[i].set[k].n;
            n_single += s[i].set[k].n == 1;
        }
    bool single = n_single == n_set;
    if (data->n_column > 1 && single && n == 1 && s->is_folder && s->n == data->n_column) {
        set all = folder_as_set(data->ctx, s);
        return add_set(data, r, &all);
    }
    if (data->n_column > 1 && single && n != data->n_column)
        return wrong_number(data, s->set[0].loc, n_array);
    if (single && data->n_column > 1) {
        add_arguments(data, r, s);
        return TC_OK;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].n; k++)
            TC_TRY(add_set(data, r, &s[i].set[k]));
    return TC_OK;
}

/* An input whose one file serves all rows has it once. */
static tc_status append_row(tc_data *data, const rows *r, const row *of)
{
    for (size_t i = 0; i < data->n_column; i++) {
        const column *c = &data->column[i];
        bool there = c->n_part && c->part[c->n_part - 1].array == of->array[i];
        if (of->array[i] && !there)
            TC_TRY(append(data, i, of->array[i]));
    }
    for (size_t i = 1; i < data->n_column && !r->by_argument; i++) {
        const column *a = &data->column[0], *b = &data->column[i];
        size_t n = a->part[a->n_part - 1].n, m = b->part[b->n_part - 1].n;
        if (n != m && (data->column[0].n_part > 1 || (n != 1 && m != 1)))
            return ti_error(data->ctx, of->loc, TC_E_DATA,
                            "%zu samples for input '%s', %zu for '%s'", n, a->name, m, b->name);
    }
    return TC_OK;
}

static tc_status agree(tc_data *data)
{
    const column *most = &data->column[0];
    for (size_t i = 1; i < data->n_column; i++)
        if (data->column[i].samples > most->samples)
            most = &data->column[i];
    for (size_t i = 0; i < data->n_column; i++) {
        const column *c = &data->column[i];
        if (c->samples != most->samples && c->samples != 1)
            return ti_error(data->ctx, c->part[0].array->loc, TC_E_DATA,
                            "%zu samples for input '%s', %zu for '%s'", c->samples, c->name,
                            most->samples, most->name);
    }
    data->samples = most->samples;
    return TC_OK;
}

/* ---- the front ---------------------------------------------------------------------------------
 */

static tc_status wrong_type(tc_ctx *ctx, const tc_npy *a, const char *input, const tc_type *t)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const char *found = ti_npy_type_text(&ctx->scratch, a);
    tc_status status = ti_error(ctx, a->loc, TC_E_DATA, "the data is %s, input '%s' needs %s",
                                found, input, tc_dtypes[t->dtype].name);
    if (t->quant)
        ti_note(ctx, a->loc, "the input is quantized, %s: give it the stored integers",
                ti_type_text(&ctx->scratch, t));
    else
        ti_note(ctx, a->loc, "convert the data first; no conversion or scaling is guessed");
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static tc_status check_type(tc_data *data, const column *c, const tc_npy *a)
{
    return ti_data_type_fits(a, c->type->dtype) ? TC_OK
                                                : wrong_type(data->ctx, a, c->name, c->type);
}

tc_status ti_data_repeat(tc_data *data, size_t n)
{
    if (data->n_column)
        return ti_usage(data->ctx,
                        "--steps is for programs without inputs; this one has %zu inputs (%s): "
                        "the number of samples says how often it runs",
                        data->n_column, input_names(data));
    data->samples = n;
    return TC_OK;
}

size_t ti_data_samples(const tc_data *data)
{
    return data->samples;
}

const char *ti_data_sample_name(const tc_data *data, size_t k)
{
    const column *c = data->n_column ? &data->column[0] : NULL;
    for (size_t i = 0; c && c->n_part > 1 && i < c->n_part; i++) {
        const part *p = &c->part[i];
        if (k >= p->first && k - p->first < p->n)
            return p->n == 1 ? p->array->loc->file
                             : ti_text_format(&data->ctx->arena, "%zu of %s", k - p->first,
                                              p->array->loc->file);
    }
    return NULL;
}

tc_sample_join ti_data_join(const tc_data *data, int64_t *extent)
{
    bool any_new = false;
    *extent = 0;
    for (size_t i = 0; i < data->n_column; i++) {
        const column *c = &data->column[i];
        for (size_t k = 0; k < c->n_part; k++)
            any_new = any_new || c->part[k].new_axis;
        if (c->samples > 1 && !c->part[0].new_axis && c->type->rank) {
            *extent = c->type->dim[0];
            return TC_JOIN_FIRST;
        }
    }
    return any_new || data->samples > 1 ? TC_JOIN_NEW : TC_JOIN_NONE;
}

tc_status ti_data_sample(tc_data *data, size_t k, const tc_tensor *in)
{
    for (size_t i = 0; i < data->n_column; i++) {
        const column *c = &data->column[i];
        size_t at = c->samples == 1 ? 0 : k;
        const part *p = c->part;
        while (at >= p->first + p->n)
            p++;
        int64_t first = (int64_t)(at - p->first) * tc_type_count(c->type);
        TC_TRY(ti_data_convert(data->ctx, p->array, first, &in[i]));
    }
    return TC_OK;
}

static const char *input_name(const tc_graph *g, size_t i)
{
    const tc_module *m = g->module;
    for (size_t k = 0; g == ti_main(m) && k < m->signature.n_in; k++)
        if (m->signature.in[k].val == g->in[i] && m->signature.in[k].name)
            return m->signature.in[k].name;
    const char *name = g->val[g->in[i]]->name;
    return name ? name : ti_text_format(&m->ctx->arena, "%zu", i);
}

static tc_data *new_data(tc_ctx *ctx, const tc_graph *g)
{
    tc_data *data = tc_new(&ctx->arena, tc_data);
    *data = (tc_data){.ctx = ctx, .n_column = g->n_in, .samples = 1};
    data->any_rank = g->module->origin.any_rank;
    data->column = tc_new_n(&ctx->arena, column, g->n_in);
    for (size_t i = 0; i < g->n_in; i++) {
        data->column[i].name = input_name(g, i);
        data->column[i].type = ti_type_of(g, g->in[i]);
    }
    return data;
}

/* Where the program's file does not say how many axes there are: inputs have those of their data,
 * and its element type where it is as wide; outputs have as many as the input with the most. */
static void take_axes(tc_data *data, const tc_graph *g)
{
    int32_t most = 0;
    for (size_t i = 0; i < data->n_column; i++) {
        column *c = &data->column[i];
        const tc_npy *a = c->part[0].array;
        tc_dtype dtype = ti_data_dtype(a);
        int first = first_axis(a, c->type);
        if (c->n_part > 1 || first < 0)
            return;
        if (!dtype || tc_dtypes[dtype].bytes != tc_dtypes[c->type->dtype].bytes)
            dtype = c->type->dtype;
        c->type = g->val[g->in[i]]->type =
            ti_type_make(data->ctx, dtype, a->rank - first, a->dim + first);
        most = a->rank - first > most ? a->rank - first : most;
    }
    for (size_t i = 0; i < g->n_out; i++) {
        const tc_type *t = ti_type_of(g, g->out[i]);
        int64_t dim[TC_MAX_RANK];
        int32_t ones = 0, rank;
        while (ones < t->rank && t->dim[ones] == 1)
            ones++;
        rank = t->rank - ones > most ? t->rank - ones : most;
        for (int32_t k = 0; k < rank; k++)
            dim[k] = k < rank - (t->rank - ones) ? 1 : t->dim[k - rank + t->rank];
        g->val[g->out[i]]->type = ti_type_make(data->ctx, t->dtype, rank, dim);
    }
}

static tc_status open_rows(tc_data *data, const tc_graph *g, const char *const *path, size_t n_path,
                           rows *out)
{
    tc_ctx *ctx = data->ctx;
    if (!n_path)
        return ti_usage(ctx, "the program takes %zu input%s (%s), no data was given with -i",
                        g->n_in, g->n_in == 1 ? "" : "s", input_names(data));
    source *s = tc_new_n(&ctx->arena, source, n_path);
    for (size_t i = 0; i < n_path; i++)
        TC_TRY(open_source(ctx, path[i], &s[i]));
    return list_rows(data, s, n_path, out);
}

tc_status ti_data_rows(tc_ctx *ctx, const tc_graph *g, const char *const *path, size_t n_path,
                       tc_data_rows *out)
{
    rows r = {0};
    *out = (tc_data_rows){.n_in = g->n_in};
    if (!g->n_in)
        return TC_OK;
    TC_TRY(open_rows(new_data(ctx, g), g, path, n_path, &r));
    out->n = r.n;
    out->array = tc_new_n(&ctx->arena, tc_npy *, r.n * g->n_in);
    for (size_t k = 0; k < r.n; k++)
        for (size_t i = 0; i < g->n_in; i++)
            out->array[k * g->n_in + i] = r.row[k].array[i];
    return TC_OK;
}

tc_status ti_read_data_rows(tc_ctx *ctx, const tc_graph *g, const char *const *path, size_t n_path,
                            const bool *taken, tc_data **out)
{
    tc_data *data = *out = new_data(ctx, g);
    rows r = {0};
    if (!g->n_in && n_path)
        return ti_error(ctx, &(tc_loc){.file = path[0]}, TC_E_DATA, "the program takes no data");
    if (!g->n_in)
        return TC_OK;
    TC_TRY(open_rows(data, g, path, n_path, &r));
    for (size_t k = 0; k < r.n; k++)
        if (!taken || taken[k])
            TC_TRY(append_row(data, &r, &r.row[k]));
    if (data->any_rank)
        take_axes(data, g);
    for (size_t i = 0; i < data->n_column; i++)
        for (size_t k = 0; k < data->column[i].n_part; k++)
            TC_TRY(check_type(data, &data->column[i], data->column[i].part[k].array));
    return agree(data);
}

tc_status ti_read_data(tc_ctx *ctx, const tc_graph *g, const char *const *path, size_t n_path,
                       tc_data **out)
{
    return ti_read_data_rows(ctx, g, path, n_path, NULL, out);
}
