/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.h -- real numbers to integers.
 *
 * The typed form: a value's quantization is part of its type, and an operator on quantized values
 * means quantize(op(dequantize(inputs))).  Only 'rescale' changes a domain; between f32 and a
 * domain too.
 *
 * A float program becomes typed in four steps: decide which values share a domain, observe them on
 * data, apply what was found, correct the biases.  ti_quantize() takes all four. */
#ifndef TC_QUANTIZER_H
#define TC_QUANTIZER_H

#include "../ir/graph.h"
#include "tosac/quantize.h"

/* ---- settings ---- */

typedef enum tc_observer {
    TC_OBSERVER_mse, /* the range with the least squared error, after the consuming table
                      * operator */
    TC_OBSERVER_minmax,            /* everything that was seen */
    TC_OBSERVER_ema,               /* a moving average of each sample's ends */
    TC_OBSERVER_percentile,        /* all but the tails */
    TC_OBSERVER_histogram_torchao, /* the anchor's search, digit for digit */
    TC_OBSERVER_fixed,             /* scale and zero were given */
    TC_OBSERVER_COUNT
} tc_observer;

/* The least scale of what was seen: far below any number that is meant, and a product of two such
 * steps, with a weight's, is still a normal f32.  Where nothing but 0 was seen, steps are those of
 * TC_SCALE_OF_ZERO. */
#define TC_LEAST_SCALE 0x1p-80
#define TC_SCALE_OF_ZERO 0x1p-24

/* How one kind of value is quantized. */
typedef struct tc_setting {
    tc_dtype dtype;       /* i8, i16, u8; weights: i8, i4; block scaled; none: left in float */
    int64_t qmin, qmax;   /* the codes in use */
    bool symmetric;       /* zero is 0 */
    bool per_channel;     /* weights: a scale for each output channel */
    int64_t group;        /* weights: of so many input channels each, a step of its own; 0: none */
    tc_observer observer;
    double percentile;    /* percentile: of each end, such as 99.99 */
    double floor;         /* the least scale */
    double scale;         /* fixed: > 0 */
    int64_t zero;
} tc_setting;

/* What holds for a node: its results, its weights. */
typedef struct tc_scheme {
    tc_setting act, weight;
} tc_scheme;

/* Part of a scheme: the fields that `has` names replace what a wider entry says. */
typedef struct tc_patch {
    uint32_t has; /* TC_HAS_* */
    tc_setting to;
} tc_patch;

enum {
    TC_HAS_DTYPE = 1 << 0, /* brings the usual codes of that type along */
    TC_HAS_RANGE = 1 << 1, /* qmin and qmax */
    TC_HAS_SYMMETRIC = 1 << 2,
    TC_HAS_PER_CHANNEL = 1 << 3,
    TC_HAS_OBSERVER = 1 << 4, /* and percentile */
    TC_HAS_FLOOR = 1 << 5,
    TC_HAS_FIXED = 1 << 6, /* scale and zero */
    TC_HAS_GROUP = 1 << 7,
};

/* What an entry is about; the later, the more specific. */
typedef enum tc_level {
    TC_LEVEL_global,
    TC_LEVEL_io,
    TC_LEVEL_module_type,
    TC_LEVEL_module, /* that module and all inside it; the longer path wins */
    TC_LEVEL_target, /* PyTorch's operator, "aten.softmax.int" */
    TC_LEVEL_node,   /* PyTorch's node */
} tc_level;

typedef struct tc_config_entry {
    tc_level level;
    const char *name;
    tc_patch act, weight;
} tc_config_entry;

/* Programs that have weights in common with the one that is quantized. */
typedef struct tc_known_weights {
    const tc_graph **graph;
    size_t n;
} tc_known_weights;

typedef struct tc_config {
    const char *file; /* for messages; NULL when it did not come from one */
    tc_scheme global;
    tc_config_entry *entry;
    size_t n_entry, cap_entry;
    tc_patch in, out;     /* the program's own inputs and outputs; has == 0: they stay float */
    bool anchor;          /* the anchor's sharing: see doc/anchor-parameters.md */
    bool drop_odd;        /* set odd samples aside */
    bool correct_bias;
    bool round_weights;   /* rows of weights are rounded together where that gains */
    bool thorough;        /* however long that takes */
    double rounding_work; /* multiplications that it may take otherwise; 0: the usual ones */
    bool quiet;           /* a proposal is being tried: its accuracy is not reported */
    double output_margin; /* program outputs: their range times this, without search */
    int64_t n_wide;       /* int8+16:K: values that get 16 bits */
    double small8;        /* so many percent of the weights, in the smallest layers, have 8 bits */
    bool head8;           /* weights of the last layer have 8 bits */
    bool group_free;      /* no one asked for the groups of 4-bit weights: see ti_config_pack() */
    double wide_cycles;   /* int8+16:P%: as many as fit into P percent more cycles */
    bool widen_noisy;     /* domains that alone make too much noise get 16 bits too */
    bool proved;          /* what becomes of it is run: where it is lost, that is said there */
    bool checked;         /* ti_config_check() has seen the program as it was written */
    const tc_graph *largest; /* the program where its sizes are largest, values numbered: constants
                                that grow with a size have the range that they have there; or NULL */
    const tc_known_weights *known; /* typed programs whose weights are taken, codes and all; or NULL */
} tc_config;

/* known_weights.c: the codes that another program has for weights of that name, numbers and kind of
 * type; no data: none has them. */
tc_tensor ti_known_weights(const tc_config *config, const char *name, tc_tensor real,
                           const tc_type *type);
/* Whether these codes are another program's. */
bool ti_weights_are_known(const tc_config *config, const void *codes);

/* text: a preset (int8, best, int8+16:K, int8+16:P%, a16w8, a8w4, a16w4, each of the last two with
 * :G for groups of G input channels, none, anchor) or the path of a JSON file; NULL: int8. */
TC_MUST_USE tc_status ti_config_read(tc_ctx *ctx, const char *text, tc_config *out);

/* The text of such a file, which lives as long as the context; path: for messages. */
TC_MUST_USE tc_status ti_config_from_json(tc_ctx *ctx, const char *path, tc_bytes json,
                                          tc_config *out);

/* The same from C.  A preset's name gives a whole configuration; entries are added in any order,
 * and one with the level and name of an earlier one takes its place.  false: no such preset. */
bool ti_config_preset(const char *name, tc_config *out);
void ti_config_add(tc_ctx *ctx, tc_config *config, tc_config_entry entry);
/* Entries of its own, to which others are added. */
void ti_config_own_entries(tc_ctx *ctx, tc_config *config);
/* For a target that compresses weights by how often each code is there: groups of 4-bit weights
 * that nobody asked for become codes of -15 .. 15, one scale for each channel; they are fewer bits
 * there than the multiples that groups are made of, and more accurate. */
void ti_config_pack(tc_config *config);
/* Weights of few codes: rounding together pays for them, whatever it takes. */
bool ti_config_few_codes(const tc_config *config);
/* Block-scaled types as settings name them; TC_none: there is none of that name. */
tc_dtype ti_block_named(const char *name);
/* Whether operands are to be block scaled, all or some; what is not is float then. */
bool ti_config_has_blocks(const tc_config *config);
/* A whole setting or scheme as a patch. */
tc_patch ti_patch_all(const tc_setting *setting);
tc_setting ti_setting_patched(tc_setting setting, const tc_patch *patch);

/* What holds for the node that `loc` names and the value of that name (or NULL), and how specific
 * what is said of activations is. */
tc_scheme ti_config_scheme(const tc_config *config, const tc_loc *loc, const char *value,
                           tc_level *level);
/* Nothing but the global setting is about its weights, and an entry for the node may be added. */
bool ti_config_weights_free(const tc_config *config, const tc_loc *loc, const char *value);

/* Every entry is about something in the program, or a message with the nearest names has been
 * given.
 */
TC_MUST_USE tc_status ti_config_check(tc_ctx *ctx, const tc_config *config, const tc_graph *g);

/* The configuration for this program: with `head8`, entries for the products that make its outputs
 * and that no other entry is about. */
tc_config ti_quant_output_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config);
/* The same for `small8`: entries for small layers. */
tc_config ti_quant_small_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config);

/* ---- domains ---- */

/* Numbers from here on stand for infinity: a mask of -3.4e38. */
#define TC_HUGE 1e36f
/* From here on an input's numbers may: it is looked at more closely (mask_values.h). */
#define TC_FAR_GIVEN 1e3f

/* Values that share one scale and zero point. */
typedef struct tc_domain {
    tc_val *val; /* ids in the program (module's first graph), ascending */
    size_t n_val;
    tc_setting setting;
    const tc_node *after; /* the one reader of its one value, where that is a table operator (gelu,
                             silu, ...) or a softmax */
    bool output;          /* a program output: margin, no search */
    bool some_wide, all_wide; /* of those who read its values, the signature among them: somebody,
                                 or everybody but the cats that it meets others in, takes 16 bits */
    bool computed_with;   /* somebody reads its values who is neither a cat nor the signature */
    bool made_wide;       /* every operator that makes its values can give 16 bits */
    bool some_bears, made_expensive; /* the same two, at some cost */
    bool expensive;            /* widened at some cost: operators that support 16 bits read them */
    bool named;           /* an entry is about its values: only that entry gives it more bits */
    tc_setting narrow;    /* widened on its own account: the grid of 8 bits that it had, which
                             readers that take no 16 bits are given; dtype none: it was not */
    double narrow_scale;
    int64_t narrow_zero;
    bool huge;            /* holds infinities: room is left for them beyond what was seen */
    int32_t
        unmasked; /* >= 0: attention scores, those of that domain with a mask or bias over them */
    bool fixed_range; /* lo and hi are known beforehand (softmax, sigmoid): scale and zero are
                       * given */
    double lo, hi;        /* otherwise observe.c fills them in: what was seen, and 0 */
    int32_t base;  /* >= 0: same codes as that domain, scale times `factor`: never observed */
    double factor;
    int32_t joined; /* >= 0: ti_quant_merge_domains() has put its values into that domain */
    double scale;   /* the result */
    int64_t zero;
} tc_domain;

/* Domains `part` and `whole` meet in a cat: one scale for both, or a rescale between.  alone: the
 * cat is the only reader of the part, which is joined unless their ranges are far apart.  settled:
 * a rescale it is, the part's scale is known; cat: a cat or stack, whose own codes are not. */
typedef struct tc_join {
    int32_t part, whole;
    bool alone, settled, cat;
} tc_join;

/* A sample that was set aside. */
typedef struct tc_outlier {
    uint64_t hash;     /* of its content */
    size_t index;      /* its number, in the data or in that file of observations: */
    const char *where; /* or NULL */
    size_t far_in;     /* domains in which it is far out */
} tc_outlier;

typedef struct tc_domains {
    tc_domain *domain;
    size_t n;
    int32_t *of;    /* by value id: its domain, or -1 */
    uint8_t *looks; /* by value id: how often its numbers are looked at; 0: those of moved values
                       are known already */
    size_t n_val;
    tc_join *join;
    size_t n_join;
    tc_outlier *odd; /* observe.c: samples that were set aside */
    size_t n_odd;
    size_t n_sample, n_watched; /* samples in all, and domains that they were judged by */
    bool only_odd;              /* ti_choose_samples() takes these alone; else all the others */
    const float *never; /* by value id: numbers of this magnitude and more stand for infinity
                           (mask_values.h), 0: none do; or NULL */
    float *cut; /* by value id: the same where they are clamped, and not looked at; or NULL */
    bool far_given;    /* observe.c: an input has numbers of TC_FAR_GIVEN and more */
} tc_domains;

/* domains.c: which values are quantized, and which share a domain; by the data flow, never by node
 * order.  never: as in tc_domains. */
TC_MUST_USE tc_status ti_quant_decide(tc_ctx *ctx, const tc_module *module, const tc_config *config,
                                      const float *never, tc_domains *out);

/* Once ranges are known (lo, hi by domain): decides the joins.  A domain that goes into another has
 * no values left and `joined` says where they went; the caller merges what it has seen of them. */
void ti_quant_merge_domains(tc_ctx *ctx, tc_domains *domains, const double *lo, const double *hi);

/* Once the scales are known: masked scores need to reach only so far below the others that softmax
 * gives them nothing, whatever the mask says: -10000 or infinity; nor does the mask itself. */
void ti_quant_fit_masks(tc_ctx *ctx, const tc_graph *g, tc_domains *domains);
/* Sums whose terms cancel: steps no finer than a 1024th of what is added, below which nothing is
 * known of them; logarithms of sums in like manner. */
void ti_quant_fit_sums(const tc_graph *g, tc_domains *domains);

/* A domain that needs no looking: fixed, natural range, derived, or gone into another. */
static inline bool ti_domain_known(const tc_domain *d)
{
    return d->setting.observer == TC_OBSERVER_fixed || d->fixed_range || d->base >= 0 ||
           d->joined >= 0;
}

/* ---- calibration data ---- */

/* Where samples come from; one call at a time.  in: a buffer for each program input. */
typedef struct tc_samples {
    size_t n;
    tc_status (*read)(void *from, size_t k, const tc_tensor *in);
    void *from;
    void (*progress)(void *who, const char *what, size_t done, size_t total); /* or NULL */
    void *who;
    /* What the program remembers before sample k, by mutation; NULL: what the one before left. */
    void *const *(*state)(void *from, size_t k);
    /* What sample k is called to who gave it, such as its file; NULL, also as a result: its number. */
    const char *(*name)(void *from, size_t k);
} tc_samples;

/* Seconds that have passed since some moment, and whether that is beyond a limit; 0: no limit. */
double ti_clock(void);
bool ti_clock_past(double until);

/* Where the time went: processor time of all threads, in seconds. */
typedef struct tc_quant_times {
    double first, second; /* passes over the samples */
    double read;          /* of these: reading samples, once in each pass */
    double search, rank, correct;
} tc_quant_times;

/* What a method gave: SQNR on the samples with it. */
typedef struct tc_quant_gain {
    const char *name, *what;
    double db;
    bool taken;
} tc_quant_gain;

enum { TC_METHODS = 8 };
typedef struct tc_quant_gains {
    double plain_db, db; /* with none of them, and with those that were taken */
    double drop;         /* points of right answers lost, where there are labels */
    double agree; /* samples whose first output has its greatest number where the real one has */
    tc_quant_gain method[TC_METHODS];
    size_t n;
    const size_t *aside; /* numbers of the samples that were set aside, */
    const struct tc_outlier *outlier; /* and what is known of each */
    size_t n_aside, n_watched; /* domains that were observed */
    bool weighed; /* what that costs them was measured, and is less than what it brings */
} tc_quant_gains;

/* What the target makes of a typed program: about how many cycles it takes; INFINITY: more of it
 * than so far would not run there.  of NULL: not known. */
typedef struct tc_quant_cost {
    tc_status (*of)(void *who, const tc_module *typed, double *cycles);
    void *who;
} tc_quant_cost;

/* What mask_values.h has made of a program before it was quantized, for the same one at another size:
 * steps in the order in which they were taken. */
enum { TC_MASK_STEPS = 4 };
typedef struct tc_mask_steps {
    const struct tc_far *far[TC_MASK_STEPS]; /* by value: sums became choices; NULL: biases were parted */
    size_t n;
} tc_mask_steps;

/* What was decided for a program, for the same one at another size (same_quantization.c). */
typedef struct tc_quant_record {
    tc_module *asked, *real; /* as it came, and with what was changed before it was quantized; NULL:
                                nothing was quantized */
    tc_module *typed;
    tc_domains domains;
    tc_mask_steps masks; /* `asked` has taken them */
} tc_quant_record;

/* The same program at another size, values numbered (ti_quant_number_values), and samples of that
 * size: what they show counts as what those of the first size do. */
typedef struct tc_quant_size {
    const tc_module *module;
    tc_samples samples;
    const char *text; /* "seq=5", for messages */
} tc_quant_size;

/* What a caller asks of the stage. */
typedef struct tc_quant_request {
    const tc_config *config;
    tc_samples samples;
    const tc_quant_size *size; /* further ones */
    size_t n_size;
    const tc_module *asked; /* with n_size: the program as it came, and what was made of its masks: */
    const tc_mask_steps *masks; /* both are ti_quantize()'s */
    const tc_observations *merge; /* of other runs */
    size_t n_merge;
    tc_bytes *observe_only; /* gets what was observed, and the module is left as it is; or NULL */
    bool keep_odd;            /* no sample is set aside */
    tc_quant_times *times;    /* filled in; or NULL */
    tc_quant_gains *gains;    /* filled in; or NULL */
    const int64_t *labels;    /* what each sample is; or NULL */
    double until; /* ti_clock(): methods that have not begun by then are skipped; 0: no limit */
    tc_quant_cost cost;
    tc_quant_record *record;   /* filled in; or NULL */
    const tc_module *largest;  /* the same program where its sizes are largest, numbered; or NULL */
    const tc_quant_record *as; /* nothing is observed: all is as it was there; or NULL */
} tc_quant_request;

/* observe.c: runs the samples and fills scale and zero of every domain. */
TC_MUST_USE tc_status ti_quant_observe(tc_ctx *ctx, tc_module *module,
                                       const tc_quant_request *request, tc_domains *domains);

/* mixed_precision.c: the config->n_wide domains that make the most noise by themselves get 16 bits,
 * or those that remove the most for what they cost; and, with config->widen_noisy, those that alone
 * would leave less than 30 dB. */
TC_MUST_USE tc_status ti_quant_widen(tc_ctx *ctx, tc_module *module,
                                     const tc_quant_request *request, tc_domains *domains);
/* 16 bits for a domain and for those that have its codes. */
void ti_domain_widen(tc_domains *domains, size_t d);

/* spend_16bit.c: 16 bits for domains by the noise that they remove for what they cost on the
 * target; noise: by domain, of what makes any.  At most `most` of them; limit: times what the
 * program costs, or 0. */
TC_MUST_USE tc_status ti_quant_spend_16bit(tc_ctx *ctx, const tc_module *module,
                                           const tc_quant_request *request, tc_domains *domains,
                                           const double *noise, int64_t most, double limit);

/* apply.c: the float program becomes typed: weights and biases in integers, rescales where domains
 * change. */
TC_MUST_USE tc_status ti_quant_apply(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                     const tc_domains *domains);

/* What correcting came to. */
typedef struct tc_corrected {
    size_t rows, rows_kept; /* of weights: rounded anew, and of these better for it */
    size_t products, rounded; /* whose weights could be, and those that the work was enough for */
} tc_corrected;

/* correct.c: moves the biases of the typed program so that its products have the means that those
 * of the real one have, over at most 32 of the samples; and rounds rows of weights anew. */
typedef struct tc_correction {
    const tc_config *config;
    bool biases;
    int64_t longest; /* rows of more numbers stay as they are; 0: all do */
    double work;     /* multiplications that rounding may take */
    double until;    /* ti_clock(): no product is rounded from then on; 0: no end */
    tc_corrected *result;
} tc_correction;
TC_MUST_USE tc_status ti_quant_correct(tc_ctx *ctx, tc_module *real, tc_module *typed,
                                       const tc_correction *how, const tc_samples *samples,
                                       const tc_domains *domains);

/* All of it: decide, observe, apply, correct. */
TC_MUST_USE tc_status ti_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *request);

/* The same program at another size, as it was quantized at the first one. */
TC_MUST_USE tc_status ti_quantize_as(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                     const tc_quant_record *as);

/* Values numbered in the order in which they come, for programs that are compared by number. */
void ti_quant_number_values(tc_module *module);

/* The graph of `largest`, values numbered, where it is the same list of nodes; else NULL. */
const tc_graph *ti_quant_largest(tc_module *module, const tc_module *largest);

/* The program at another size as it is by now, its constants and masks; NULL: it is not the same list of
 * nodes. */
TC_MUST_USE tc_status ti_quant_at_size(const tc_module *now, const tc_quant_request *request,
                                       const tc_module *other, tc_graph **out);

/* qparams.c: {value: {dtype, scale, zero_point, qmin, qmax, axis}} of a typed module, as JSON. */
tc_bytes ti_qparams_json(tc_ctx *ctx, const tc_module *module); /* in the arena */

/* ---- passes over modules ---- */

/* Quantize and dequantize nodes of an export that went through PT2E become types. */
TC_MUST_USE tc_status ti_quant_convert_qdq_to_types(tc_ctx *ctx, tc_module *module);

/* The typed form as float arithmetic: quantize and dequantize after every operator whose result is
 * quantized, constants as the real numbers they stand for.  The same numbers as the typed form's,
 * quickly. */
TC_MUST_USE tc_status ti_quant_simulate_quantization(tc_ctx *ctx, tc_module *module);

/* Accumulators and sums that were left real get a wide integer domain of their own. */
TC_MUST_USE tc_status ti_quant_widen_accumulators(tc_ctx *ctx, tc_module *module);

/* control_flow.c: branches and loops pass integers; what was real between them is real inside.
 * */
TC_MUST_USE tc_status ti_quant_quantize_control_flow(tc_ctx *ctx, tc_module *module);

/* Whether the module has quantize or dequantize nodes, as an export that went through PT2E does. */
bool ti_quant_is_pt2e(const tc_module *module);
/* Whether those are of the kind that ti_quant_remove_dynamic_quantization removes, all of them:
 * ranges that are chosen when the program runs, and constants. */
bool ti_quant_is_dynamic(tc_ctx *ctx, const tc_module *module);
/* dynamic_ranges.c: such values, and constants of codes, become real. */
TC_MUST_USE tc_status ti_quant_remove_dynamic_quantization(tc_ctx *ctx, tc_module *module);
/* Whether any value of the module is quantized. */
bool ti_quant_is_typed(const tc_module *module);
/* Whether a part of it computes on stored integers already: TOSA, or a call of a region. */
bool ti_quant_is_lowered(const tc_module *module);

#endif
