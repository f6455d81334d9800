/* SPDX-License-Identifier: Apache-2.0 */
/* float.c -- f32 products through oneDNN (its v2 C API); weights packed once, scratch from the
 * caller. */
#include "float.h"

#include <math.h>

#ifdef TOSAC_ONEDNN

#include <dnnl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../base/lazy_library.h"
#include "../base/mapped.h"
#include "../num/lanes.h"

void omp_set_num_threads(int n); /* libgomp's; clang comes without omp.h */

#define ONEDNN(F) \
    F(omp_, set_num_threads) F(dnnl_, dilated_convolution_forward_desc_init) \
    F(dnnl_, dilated_deconvolution_forward_desc_init) F(dnnl_, engine_create) \
    F(dnnl_, matmul_desc_init) F(dnnl_, memory_create) F(dnnl_, memory_desc_equal) \
    F(dnnl_, memory_desc_get_size) F(dnnl_, memory_desc_init_by_strides) \
    F(dnnl_, memory_desc_init_by_tag) F(dnnl_, memory_destroy) \
    F(dnnl_, memory_set_data_handle) F(dnnl_, post_ops_append_binary) \
    F(dnnl_, post_ops_append_eltwise) F(dnnl_, post_ops_create) F(dnnl_, post_ops_destroy) \
    F(dnnl_, primitive_attr_create) F(dnnl_, primitive_attr_destroy) \
    F(dnnl_, primitive_attr_set_post_ops) F(dnnl_, primitive_attr_set_scratchpad_mode) \
    F(dnnl_, primitive_create) F(dnnl_, primitive_desc_create) F(dnnl_, primitive_desc_destroy) \
    F(dnnl_, primitive_desc_query) F(dnnl_, primitive_desc_query_md) F(dnnl_, primitive_destroy) \
    F(dnnl_, primitive_execute) F(dnnl_, reorder_primitive_desc_create) F(dnnl_, stream_create) \
    F(dnnl_, stream_destroy) F(dnnl_, stream_wait)

/* The library is loaded with the first product: most compilations need none. */
static struct {
    TC_LATE_POINTERS(ONEDNN)
} dnnl;

enum { MOST_ARGS = 6 };

/* The library's names for the operands of one call. */
typedef struct arguments {
    dnnl_exec_arg_t arg[MOST_ARGS];
    int n;
} arguments;

struct tc_product {
    dnnl_primitive_t primitive;
    arguments *own;   /* made once */
    atomic_flag *taken; /* passed to each call */
    dnnl_memory_desc_t a, b, y, bias, scratch;
    void *packed_b; /* NULL: b is passed to each call */
    bool repacked;  /* it is a copy */
    bool waits;     /* created by ti_product_load() */
    dnnl_memory_desc_t plain_b;
    const void *b_data;
    const tc_ctx *mapped; /* not NULL: packed_b is the mapped file, possibly shared */
    const void *bias_data;
    bool has_extra, has_bias;
    size_t scratch_bytes;
    size_t n_clamp; /* elements clamped to [lo, hi] afterwards; 0: none */
    float lo, hi;
};

/* One per process, written once; holds no state of a computation. */
static dnnl_engine_t engine;

static void make_engine(void)
{
    static const char *const name[] = {TC_LATE_NAMES(ONEDNN)};
    if (!ti_late_load(TOSAC_ONEDNN, name, &dnnl) ||
        dnnl.engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        engine = NULL;
}

bool ti_product_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_engine);
    return engine != NULL;
}

/* The library's handles while a product is built; freed with the context at the latest. */
typedef struct making {
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t desc;
} making;

static void drop_making(void *what)
{
    making *m = what;
    dnnl.primitive_desc_destroy(m->desc);
    dnnl.primitive_attr_destroy(m->attr);
    *m = (making){0};
}

static void drop_arguments(arguments *a)
{
    for (int i = 0; i < a->n; i++)
        dnnl.memory_destroy(a->arg[i].memory);
    a->n = 0;
}

static void drop_product(void *what)
{
    tc_product *p = what;
    drop_arguments(p->own);
    dnnl.primitive_destroy(p->primitive);
}

/* Streams are per thread and freed with it.  A thread computes alone: the library starts no threads
 * of its own. */
static pthread_key_t stream_key;

static void end_stream(void *stream)
{
    dnnl.stream_destroy(stream);
}

static void make_key(void)
{
    pthread_key_create(&stream_key, end_stream);
}

static dnnl_stream_t this_stream(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local dnnl_stream_t stream;
    if (!stream && dnnl.stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success) {
        dnnl.set_num_threads(1);
        pthread_once(&once, make_key);
        pthread_setspecific(stream_key, stream);
    }
    return stream;
}

static const dnnl_alg_kind_t eltwise[] = {
    [TC_THEN_relu] = dnnl_eltwise_relu,           [TC_THEN_clip] = dnnl_eltwise_clip,
    [TC_THEN_hardswish] = dnnl_eltwise_hardswish, [TC_THEN_sigmoid] = dnnl_eltwise_logistic,
    [TC_THEN_silu] = dnnl_eltwise_swish,          [TC_THEN_tanh] = dnnl_eltwise_tanh,
    [TC_THEN_gelu_erf] = dnnl_eltwise_gelu_erf,   [TC_THEN_gelu_tanh] = dnnl_eltwise_gelu_tanh,
};

/* Post-operations and a scratchpad of our own. */
static bool make_attr(const tc_then *then, int n_then, const dnnl_memory_desc_t *y,
                      dnnl_primitive_attr_t *attr)
{
    dnnl_post_ops_t ops;
    if (dnnl.primitive_attr_create(attr) != dnnl_success)
        return false;
    dnnl.primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (dnnl.post_ops_create(&ops) != dnnl_success)
        return false;
    bool good = true;
    for (int i = 0; i < n_then && good; i++) {
        const tc_then *t = &then[i];
        float alpha = t->kind == TC_THEN_silu ? 1.0f : t->a;
        dnnl_status_t status =
            t->kind == TC_THEN_add
                ? dnnl.post_ops_append_binary(ops, dnnl_binary_add, y)
                : dnnl.post_ops_append_eltwise(ops, 1.0f, eltwise[t->kind], alpha, t->b);
        good = status == dnnl_success;
    }
    good = good && dnnl.primitive_attr_set_post_ops(*attr, ops) == dnnl_success;
    dnnl.post_ops_destroy(ops);
    return good;
}

/* data in layout `from`, copied to layout `to`. */
static void *repack(tc_arena *room, const dnnl_memory_desc_t *from, const void *data,
                    const dnnl_memory_desc_t *to)
{
    void *packed = ti_arena_raw(room, dnnl.memory_desc_get_size(to));
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t reorder = NULL;
    dnnl_memory_t src = NULL, dst = NULL;
    dnnl_stream_t stream = this_stream();
    if (!stream ||
        dnnl.reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL) != dnnl_success)
        return NULL;
    bool good = dnnl.primitive_create(&reorder, pd) == dnnl_success &&
                dnnl.memory_create(&src, from, engine, (void *)(uintptr_t)data) == dnnl_success &&
                dnnl.memory_create(&dst, to, engine, packed) == dnnl_success;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, src}, {DNNL_ARG_TO, dst}};
    good = good && dnnl.primitive_execute(reorder, stream, 2, args) == dnnl_success &&
           dnnl.stream_wait(stream) == dnnl_success;
    dnnl.memory_destroy(src);
    dnnl.memory_destroy(dst);
    dnnl.primitive_destroy(reorder);
    dnnl.primitive_desc_destroy(pd);
    return good ? packed : NULL;
}

/* Packed weights of one content. */
typedef struct packing {
    dnnl_memory_desc_t plain, form;
    void *data;
    struct packing *next;
} packing;

/* A hash of their content: four chains at once, at memory bandwidth. */
static uint64_t content(const uint8_t *data, size_t size)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h[4] = {size, 1, 2, 3}, v[4];
    size_t i = 0;
    for (; i + sizeof v <= size; i += sizeof v) {
        memcpy(v, data + i, sizeof v);
        for (int k = 0; k < 4; k++) {
            h[k] = (h[k] ^ v[k]) * odd;
            h[k] ^= h[k] >> 29;
        }
    }
    return ti_hash(data + i, size - i, ti_hash(h, sizeof h, 0));
}

static void *find_packing(const packing *p, const dnnl_memory_desc_t *from,
                          const dnnl_memory_desc_t *to)
{
    while (p && !(dnnl.memory_desc_equal(&p->plain, from) && dnnl.memory_desc_equal(&p->form, to)))
        p = p->next;
    return p ? p->data : NULL;
}

/* The products of a context.  The lists of an entry grow, and those found before an attempt must
 * not change: an attempt has its own map. */
typedef struct kept {
    tc_map packed;             /* weights in the form of a product, by their content */
    const struct kept *before; /* those from before an attempt, or NULL */
    unsigned n_attempt;
    bool plain; /* no second copy of weights: too many */
    bool wait;  /* they are packed later */
} kept;

static kept *own_packed(tc_ctx *ctx)
{
    kept *own = TC_OWN(ctx, PRODUCT, kept);
    if (own->packed.n && own->n_attempt != ctx->n_attempt)
        own->before = ti_arena_copy(&ctx->arena, own, sizeof *own);
    if (!own->packed.arena || own->n_attempt != ctx->n_attempt)
        ti_map_init(&own->packed, &ctx->arena);
    own->n_attempt = ctx->n_attempt;
    return own;
}

void ti_product_keep_plain(tc_ctx *ctx, bool plain)
{
    TC_OWN(ctx, PRODUCT, kept)->plain = plain;
}

void ti_product_wait(tc_ctx *ctx, bool wait)
{
    TC_OWN(ctx, PRODUCT, kept)->wait = wait;
}

bool ti_product_load(tc_product *p, tc_arena *room)
{
    if (p->waits)
        p->packed_b = repack(room, &p->plain_b, p->b_data, &p->b);
    return p->packed_b != NULL;
}

void ti_product_unload(tc_product *p)
{
    if (p->waits)
        p->packed_b = NULL;
}

/* The same, shared by all products that need it: calibration plans a model five times.
 */
static void *packed_once(tc_ctx *ctx, const dnnl_memory_desc_t *from, const void *data,
                         const dnnl_memory_desc_t *to)
{
    size_t size = dnnl.memory_desc_get_size(from);
    uint64_t key[2] = {content(data, size), size};
    tc_str name = {(const char *)key, sizeof key};
    kept *own = own_packed(ctx);
    packing **at = (packing **)ti_map_at(&own->packed, name);
    void *made = find_packing(*at, from, to);
    for (const kept *k = own->before; k && !made; k = k->before)
        made = find_packing(ti_map_get(&k->packed, name), from, to);
    if (made)
        return made;
    made = repack(&ctx->arena, from, data, to);
    if (made) {
        packing *p = tc_new(&ctx->arena, packing);
        *p = (packing){*from, *to, made, *at};
        *at = p;
    }
    return made;
}

/* Everything a primitive is made from. */
typedef struct recipe {
    const_dnnl_op_desc_t desc;
    const dnnl_memory_desc_t *y, *plain_b, *bias;
    const void *b_data, *bias_data;
    const tc_then *then;
    int n_then;
} recipe;

static void describe(tc_product *p, const recipe *r, dnnl_primitive_desc_t pd)
{
    p->a = *dnnl.primitive_desc_query_md(pd, dnnl_query_src_md, 0);
    p->b = *dnnl.primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    p->y = *dnnl.primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
    p->scratch = *dnnl.primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    p->scratch_bytes = dnnl.memory_desc_get_size(&p->scratch);
    p->has_bias = r->bias != NULL;
    if (r->bias)
        p->bias = *r->bias;
    p->bias_data = r->bias_data;
    p->has_extra = r->n_then && r->then[0].kind == TC_THEN_add;
}

/* The library's plain loops are slower than num/'s. */
static bool is_quick(dnnl_primitive_desc_t pd)
{
    const char *name = "";
    dnnl.primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    return !ti_text_starts(name, "ref");
}

/* oneDNN's relu and clip turn NaN into a number.  If the last operation is one, on a contiguous
 * result, it is done here: how many are left for the library. */
static int keep_clamp(tc_product *p, const recipe *r)
{
    int last = r->n_then - 1;
    size_t n = 1;
    for (int i = 0; i < r->y->ndims; i++)
        n *= (size_t)r->y->dims[i];
    if (last < 0 || (r->then[last].kind != TC_THEN_relu && r->then[last].kind != TC_THEN_clip) ||
        dnnl.memory_desc_get_size(r->y) != n * sizeof(float))
        return r->n_then;
    bool relu = r->then[last].kind == TC_THEN_relu;
    p->n_clamp = n;
    p->lo = relu ? 0 : r->then[last].a;
    p->hi = relu ? INFINITY : r->then[last].b;
    return last;
}

TC_LANES_BODY clamp(float *y, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++) {
        float v = y[i] < lo ? lo : y[i];
        y[i] = v > hi ? hi : v;
    }
}
TC_LANES(static, clamp_numbers, clamp, (float *y, size_t n, float lo, float hi), (y, n, lo, hi))

static tc_product *finish(tc_ctx *ctx, const recipe *r)
{
    tc_product *p = tc_new(&ctx->arena, tc_product);
    making *m = tc_new(&ctx->arena, making);
    int n_then = keep_clamp(p, r);
    p->own = tc_new(&ctx->arena, arguments);
    p->taken = tc_new(&ctx->arena, atomic_flag);
    atomic_flag_clear(p->taken);
    ti_ctx_defer(ctx, drop_product, p); /* before anything is allocated that a failure could leak */
    ti_ctx_defer(ctx, drop_making, m);
    dnnl.set_num_threads(1); /* products fix their number of threads when created */
    bool good = make_attr(r->then, n_then, r->y, &m->attr) &&
                dnnl.primitive_desc_create(&m->desc, r->desc, m->attr, engine, NULL) ==
                    dnnl_success &&
                is_quick(m->desc) &&
                dnnl.primitive_create(&p->primitive, m->desc) == dnnl_success;
    if (good) {
        describe(p, r, m->desc);
        if (r->b_data) {
            bool same = dnnl.memory_desc_equal(r->plain_b, &p->b);
            p->waits = !same && TC_OWN(ctx, PRODUCT, kept)->wait;
            p->plain_b = *r->plain_b;
            p->b_data = r->b_data;
            p->packed_b = same       ? (void *)(uintptr_t)r->b_data
                          : p->waits ? NULL
                                     : packed_once(ctx, r->plain_b, r->b_data, &p->b);
            good = p->packed_b || p->waits;
            p->repacked = !same;
            if (same && TC_OWN(ctx, PRODUCT, kept)->plain)
                p->mapped = ctx;
            if (!same) /* the packed copy replaces it */
                ti_mapped_forget(ctx, r->b_data, dnnl.memory_desc_get_size(r->plain_b));
        }
    }
    drop_making(m);
    return good ? p : NULL;
}

/* [n, c, spatial...] kept as [n, spatial..., c]. */
static void channels_last(const tc_type *t, dnnl_memory_desc_t *out)
{
    static const dnnl_format_tag_t tag[] = {[3] = dnnl_nwc, [4] = dnnl_nhwc, [5] = dnnl_ndhwc};
    dnnl_dims_t dim;
    for (int i = 0; i < t->rank; i++)
        dim[i] = t->dim[i];
    dnnl.memory_desc_init_by_tag(out, t->rank, dim, dnnl_f32, tag[t->rank]);
}

/* Weights [oc, ic / groups, k...] as the library names them, with a group axis when there are
 * groups; transposed ones are [ic, oc / groups, k...].  plain: as stored; any: the library's
 * choice. */
static void weight_descs(const tc_type *w, int64_t groups, bool transposed,
                         dnnl_memory_desc_t *plain, dnnl_memory_desc_t *any)
{
    dnnl_dims_t dim, stride;
    int n = 0, spatial = w->rank - 2;
    int64_t inner = 1, step[TC_MAX_RANK];
    for (int i = w->rank - 1; i >= 0; i--) {
        step[i] = inner;
        inner *= w->dim[i];
    }
    int64_t first = w->dim[0] / groups;
    if (groups > 1) {
        dim[n] = groups;
        stride[n++] = step[0] * first;
    }
    dim[n] = transposed ? w->dim[1] : first;
    stride[n++] = transposed ? step[1] : step[0];
    dim[n] = transposed ? first : w->dim[1];
    stride[n++] = transposed ? step[0] : step[1];
    for (int i = 0; i < spatial; i++) {
        dim[n] = w->dim[2 + i];
        stride[n++] = step[2 + i];
    }
    dnnl.memory_desc_init_by_strides(plain, n, dim, dnnl_f32, stride);
    dnnl.memory_desc_init_by_tag(any, n, dim, dnnl_f32, dnnl_format_tag_any);
}

static bool image_of_f32(const tc_type *x, const tc_type *y, tc_tensor w)
{
    return ti_product_here() && x->dtype == TC_f32 && y->dtype == TC_f32 &&
           w.type->dtype == TC_f32 && x->rank == w.type->rank && x->rank >= 3 && x->rank <= 5 &&
           tc_type_count(x) && tc_type_count(y) && w.data;
}

static const dnnl_memory_desc_t *bias_desc(tc_tensor bias, dnnl_memory_desc_t *out)
{
    if (!bias.type)
        return NULL;
    dnnl_dims_t dim = {bias.type->dim[0]};
    dnnl.memory_desc_init_by_tag(out, 1, dim, dnnl_f32, dnnl_x);
    return out;
}

tc_product *ti_product_conv(tc_ctx *ctx, const tc_attr_conv *a, const tc_type *x, const tc_type *y,
                            tc_tensor w, tc_tensor bias, const tc_then *then, int n_then)
{
    if (!image_of_f32(x, y, w))
        return NULL;
    dnnl_memory_desc_t xd, yd, plain, any, bd;
    channels_last(x, &xd);
    channels_last(y, &yd);
    weight_descs(w.type, a->groups, false, &plain, &any);
    const dnnl_memory_desc_t *b = bias_desc(bias, &bd);
    dnnl_dims_t stride, dilate, before, after;
    for (int i = 0; i < a->stride.n; i++) {
        stride[i] = a->stride.v[i];
        dilate[i] = a->dilation.v[i] - 1;
        before[i] = a->pad.v[2 * i];
        after[i] = a->pad.v[2 * i + 1];
    }
    dnnl_convolution_desc_t desc;
    if (dnnl.dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference,
                                                   dnnl_convolution_direct, &xd, &any, b, &yd,
                                                   stride, dilate, before, after) != dnnl_success)
        return NULL;
    return finish(ctx, &(recipe){&desc, &yd, &plain, b, w.data, bias.data, then, n_then});
}

tc_product *ti_product_deconv(tc_ctx *ctx, const tc_attr_conv_transpose *a, const tc_type *x,
                              const tc_type *y, tc_tensor w, tc_tensor bias, const tc_then *then,
                              int n_then)
{
    if (!image_of_f32(x, y, w))
        return NULL;
    dnnl_memory_desc_t xd, yd, plain, any, bd;
    channels_last(x, &xd);
    channels_last(y, &yd);
    weight_descs(w.type, a->groups, true, &plain, &any);
    const dnnl_memory_desc_t *b = bias_desc(bias, &bd);
    dnnl_dims_t stride, dilate, before, after;
    for (int i = 0; i < a->stride.n; i++) {
        stride[i] = a->stride.v[i];
        dilate[i] = a->dilation.v[i] - 1;
        before[i] = a->pad.v[i];
        after[i] = a->pad.v[i] - a->out_pad.v[i];
    }
    dnnl_deconvolution_desc_t desc;
    if (dnnl.dilated_deconvolution_forward_desc_init(&desc, dnnl_forward_inference,
                                                     dnnl_deconvolution_direct, &xd, &any, b, &yd,
                                                     stride, dilate, before, after) != dnnl_success)
        return NULL;
    return finish(ctx, &(recipe){&desc, &yd, &plain, b, w.data, bias.data, then, n_then});
}

static void strided_desc(const tc_strided *s, dnnl_memory_desc_t *out)
{
    dnnl_dims_t dim, stride;
    for (int i = 0; i < s->rank; i++) {
        dim[i] = s->dim[i];
        stride[i] = s->stride[i];
    }
    dnnl.memory_desc_init_by_strides(out, s->rank, dim, dnnl_f32, stride);
}

tc_product *ti_product_matmul(tc_ctx *ctx, const tc_strided *a, const tc_strided *b,
                              const tc_strided *y, const void *b_data, tc_tensor bias,
                              const tc_then *then, int n_then)
{
    if (!ti_product_here())
        return NULL;
    dnnl_memory_desc_t ad, bd, yd, plain, bias_d;
    strided_desc(a, &ad);
    strided_desc(b, &plain);
    strided_desc(y, &yd);
    bd = plain;
    if (b_data && !TC_OWN(ctx, PRODUCT, kept)->plain) {
        dnnl_dims_t dim;
        for (int i = 0; i < b->rank; i++)
            dim[i] = b->dim[i];
        dnnl.memory_desc_init_by_tag(&bd, b->rank, dim, dnnl_f32, dnnl_format_tag_any);
    }
    const dnnl_memory_desc_t *bias_at = NULL;
    if (bias.type) {
        tc_strided row = {.rank = y->rank};
        for (int i = 0; i < y->rank; i++) {
            row.dim[i] = i == y->rank - 1 ? y->dim[i] : 1;
            row.stride[i] = i == y->rank - 1 ? 1 : y->dim[y->rank - 1];
        }
        strided_desc(&row, &bias_d);
        bias_at = &bias_d;
    }
    dnnl_matmul_desc_t desc;
    if (dnnl.matmul_desc_init(&desc, &ad, &bd, bias_at, &yd) != dnnl_success)
        return NULL;
    return finish(ctx, &(recipe){&desc, &yd, &plain, bias_at, b_data, bias.data, then, n_then});
}

bool ti_product_packed(const tc_product *product)
{
    return product->repacked;
}

size_t ti_product_scratch(const tc_product *product)
{
    return product->scratch_bytes;
}

void ti_product_run(const tc_product *p, const void *a, const void *b, const void *extra, void *y,
                    void *scratch)
{
    const struct {
        int arg;
        const dnnl_memory_desc_t *desc;
        const void *data;
        bool there;
    } want[MOST_ARGS] = {
        {DNNL_ARG_SRC, &p->a, a, true},
        {DNNL_ARG_WEIGHTS, &p->b, p->packed_b ? p->packed_b : b, true},
        {DNNL_ARG_DST, &p->y, y, true},
        {DNNL_ARG_BIAS, &p->bias, p->bias_data, p->has_bias},
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, &p->y, extra, p->has_extra},
        {DNNL_ARG_SCRATCHPAD, &p->scratch, scratch, p->scratch_bytes > 0},
    };
    arguments fresh = {.n = 0}; /* for a second thread that runs the same product */
    bool mine = !atomic_flag_test_and_set(p->taken);
    arguments *args = mine ? p->own : &fresh;
    bool made = args->n > 0;
    for (int i = 0, k = 0; i < MOST_ARGS; i++) {
        void *data = (void *)(uintptr_t)want[i].data;
        if (!want[i].there)
            continue;
        if (made) {
            dnnl.memory_set_data_handle(args->arg[k++].memory, data);
            continue;
        }
        args->arg[args->n].arg = want[i].arg;
        dnnl.memory_create(&args->arg[args->n++].memory, want[i].desc, engine, data);
    }
    dnnl.primitive_execute(p->primitive, this_stream(), args->n, args->arg);
    dnnl.stream_wait(this_stream());
    if (mine)
        atomic_flag_clear(p->taken);
    drop_arguments(&fresh);
    if (p->mapped)
        ti_mapped_forget(p->mapped, p->packed_b, dnnl.memory_desc_get_size(&p->b));
    if (p->n_clamp)
        clamp_numbers(y, p->n_clamp, p->lo, p->hi);
}

#else

bool ti_product_here(void)
{
    return false;
}

void ti_product_keep_plain(tc_ctx *ctx, bool plain)
{
    (void)ctx, (void)plain;
}

void ti_product_wait(tc_ctx *ctx, bool wait)
{
    (void)ctx, (void)wait;
}

bool ti_product_load(tc_product *product, tc_arena *room)
{
    (void)product, (void)room;
    return true;
}

void ti_product_unload(tc_product *product)
{
    (void)product;
}

tc_product *ti_product_conv(tc_ctx *ctx, const tc_attr_conv *a, const tc_type *x, const tc_type *y,
                            tc_tensor w, tc_tensor bias, const tc_then *then, int n_then)
{
    (void)ctx, (void)a, (void)x, (void)y, (void)w, (void)bias, (void)then, (void)n_then;
    return NULL;
}

tc_product *ti_product_deconv(tc_ctx *ctx, const tc_attr_conv_transpose *a, const tc_type *x,
                              const tc_type *y, tc_tensor w, tc_tensor bias, const tc_then *then,
                              int n_then)
{
    (void)ctx, (void)a, (void)x, (void)y, (void)w, (void)bias, (void)then, (void)n_then;
    return NULL;
}

tc_product *ti_product_matmul(tc_ctx *ctx, const tc_strided *a, const tc_strided *b,
                              const tc_strided *y, const void *b_data, tc_tensor bias,
                              const tc_then *then, int n_then)
{
    (void)ctx, (void)a, (void)b, (void)y, (void)b_data, (void)bias, (void)then, (void)n_then;
    return NULL;
}

bool ti_product_packed(const tc_product *product)
{
    (void)product;
    return false;
}

size_t ti_product_scratch(const tc_product *product)
{
    (void)product;
    return 0;
}

void ti_product_run(const tc_product *p, const void *a, const void *b, const void *extra, void *y,
                    void *scratch)
{
    (void)p, (void)a, (void)b, (void)extra, (void)y, (void)scratch;
}

#endif
