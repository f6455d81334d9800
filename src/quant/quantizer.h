/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.h -- quantization: float programs to integers.
 *
 * The typed form: a value's quantization is part of its type, and an operator on quantized values
 * means quantize(op(dequantize(inputs))).  Only 'rescale' changes a domain, also between f32 and a
 * domain.
 *
 * A float program becomes typed in four steps: decide which values share a domain, observe them on
 * data, apply the result, correct the biases.  ti_quantize() does all four. */
#ifndef TC_QUANTIZER_H
#define TC_QUANTIZER_H

#include "../ir/graph.h"
#include "tosac/quantize.h"

/* ---- settings ---- */

typedef enum tc_observer {
    TC_OBSERVER_mse, /* the range with the least squared error, after the consuming table
                      * operator */
    TC_OBSERVER_minmax,            /* the whole observed range */
    TC_OBSERVER_ema,               /* a moving average of each sample's ends */
    TC_OBSERVER_percentile,        /* all but the tails */
    TC_OBSERVER_histogram_torchao, /* the anchor's search, digit for digit */
    TC_OBSERVER_fixed,             /* scale and zero were given */
    TC_OBSERVER_COUNT
} tc_observer;

/* The least scale of an observed range: far below any intended value, and a product of two such
 * steps, with a weight's, is still a normal f32.  If only 0 was observed, the step is
 * TC_SCALE_OF_ZERO. */
#define TC_LEAST_SCALE 0x1p-80
#define TC_SCALE_OF_ZERO 0x1p-24

/* The largest `step`: codes of int8 would be -1, 0 and 1 with twice as much. */
#define TC_MOST_STEP 64

/* How one kind of value is quantized. */
typedef struct tc_setting {
    tc_dtype dtype;       /* i8, i16, u8; weights: i8, i4; block scaled; none: left in float */
    int64_t qmin, qmax;   /* the codes in use */
    bool symmetric;       /* zero is 0 */
    bool per_channel;     /* weights: a scale for each output channel */
    int64_t group;        /* weights: a step per group of n input channels; 0: none */
    double step;          /* weights: scales so much coarser, with as many fewer codes; 0: 1 */
    tc_observer observer;
    double percentile;    /* percentile: of each end, such as 99.99 */
    double floor;         /* the least scale */
    double headroom;      /* 16 bits and more: the observed range times this; 0: the usual margin */
    double scale;         /* fixed: > 0 */
    int64_t zero;
    bool weight;          /* of weights: the usual codes of a type are theirs */
} tc_setting;

/* The settings of a node: its results, its weights. */
typedef struct tc_scheme {
    tc_setting act, weight;
} tc_scheme;

/* Part of a scheme: the fields in `has` override a wider entry's. */
typedef struct tc_patch {
    uint32_t has; /* TC_HAS_* */
    tc_setting to;
} tc_patch;

enum {
    TC_HAS_DTYPE = 1 << 0, /* sets the default code range of that type, too */
    TC_HAS_RANGE = 1 << 1, /* qmin and qmax */
    TC_HAS_SYMMETRIC = 1 << 2,
    TC_HAS_PER_CHANNEL = 1 << 3,
    TC_HAS_OBSERVER = 1 << 4,
    TC_HAS_FLOOR = 1 << 5,
    TC_HAS_FIXED = 1 << 6, /* scale and zero */
    TC_HAS_GROUP = 1 << 7,
    TC_HAS_PERCENTILE = 1 << 8,
    TC_HAS_STEP = 1 << 9,
};

/* What an entry applies to; the later, the more specific. */
typedef enum tc_level {
    TC_LEVEL_global,
    TC_LEVEL_io,
    TC_LEVEL_module_type,
    TC_LEVEL_module, /* that module and all inside it; the longer path wins */
    TC_LEVEL_target, /* PyTorch's operator, "aten.softmax.int" */
    TC_LEVEL_node,   /* PyTorch's node */
    TC_LEVEL_any,    /* a node, an operator or a module */
} tc_level;

typedef struct tc_config_entry {
    tc_level level;
    const char *name;
    tc_patch act, weight;
} tc_config_entry;

/* Programs that share weights with the one that is quantized. */
typedef struct tc_known_weights {
    const tc_graph **graph;
    size_t n;
} tc_known_weights;

/* What coarser steps of weights are chosen for, layer by layer (weight_rates.h); one of the two:
 * the fewest bytes and cycles for so many dB lost, or the least loss at so many bytes.  0: none. */
typedef struct tc_rate {
    double db, bytes;
    bool may;               /* where it can be known, else none */
    struct tc_rates *known; /* what was found of this program, or is to be kept there: losses are
                               foreseen, and measured by the caller; NULL: they are measured */
} tc_rate;

typedef struct tc_config {
    const char *file; /* for messages; NULL when it did not come from one */
    const char *said; /* as a caller named it; NULL: by its parts */
    tc_scheme global;
    tc_config_entry *entry;
    size_t n_entry, cap_entry;
    tc_patch in, out;     /* the program's own inputs and outputs; has == 0: they stay float */
    bool anchor;          /* the anchor's sharing: see doc/figures/anchor-parameters.md */
    bool drop_odd;        /* set odd samples aside */
    bool correct_bias;
    bool round_weights;   /* rows of weights are rounded jointly where that gains */
    bool thorough;        /* without a limit on the work */
    double rounding_work; /* multiplications that it may take otherwise; 0: the default */
    bool quiet;           /* a proposal is being tried: its accuracy is not reported */
    double output_margin; /* program outputs: their range times this, without search */
    int64_t n_wide;       /* int8+16:K: values that get 16 bits */
    double small8;        /* 8 bits for this percentage of the weights, in some layers */
    bool head8;           /* weights of the last layer have 8 bits */
    bool group_free;      /* the groups of 4-bit weights are a default: see ti_config_pack() */
    tc_rate rate;         /* steps of weights by layer */
    double wide_cycles;   /* int8+16:P%: as many as fit into P percent more cycles */
    bool plain_spectra;   /* power spectra are values like all others */
    bool real_spectra;    /* they are float, and their logarithms and roots too */
    tc_dtype transform;   /* weights of the transforms of power spectra: i8, i16, f32: those that are windowed Fourier
                             transforms stay in float, or none: what the samples and the price say */
    bool widen_noisy;     /* domains that alone make too much noise get 16 bits too */
    bool proved;          /* the result is run later: its loss is reported there */
    bool checked;         /* ti_config_check() has seen the program as it was written */
    const tc_graph *largest; /* the program at its largest sizes, values numbered: constants that
                                grow with a size take their range there; or NULL */
    const tc_known_weights *known; /* typed programs whose weights are reused, codes and all; or
                                    * NULL */
} tc_config;

/* known_weights.c: the codes of another program for weights of that name, content and kind of type;
 * no data: none. */
tc_tensor ti_known_weights(const tc_config *config, const char *name, tc_tensor real,
                           const tc_type *type);
/* Whether these codes are another program's. */
bool ti_weights_are_known(const tc_config *config, const void *codes);

#define TC_FRONT_END "front-end"
/* What is named, a node, an operator or a module, stays in float; "front-end": power spectra up to
 * their logarithms and roots. */
void ti_config_leave_float(tc_ctx *ctx, tc_config *config, const char *name);

/* "int8", "int16" or "float": the weights of transforms; false: it is none of them. */
bool ti_config_transform(tc_config *config, const char *name);

/* "0.3dB": what coarser weights may lose; false: it is none of 0 to 20 dB. */
bool ti_config_loss(const char *text, double *out);

/* text: a preset (int8, int8xS, int8-XdB, best, int8+16:K, int8+16:P%, a16w8, a8w4, a16w4, each of the last two with
 * :G for groups of G input channels, none, anchor) or the path of a JSON file, then ",float=NAME", ",rate=XdB" and ",transform=int16"; NULL: int8. */
TC_MUST_USE tc_status ti_config_read(tc_ctx *ctx, const char *text, tc_config *out);

/* The text of such a file, which lives as long as the context; path: for messages. */
TC_MUST_USE tc_status ti_config_from_json(tc_ctx *ctx, const char *path, tc_bytes json,
                                          tc_config *out);

/* The same from C.  A preset's name gives a whole configuration; entries are added in any order,
 * and one with the level and name of an earlier one replaces it.  false: no such preset. */
bool ti_config_preset(const char *name, tc_config *out);

/* Names of presets, for messages and completions. */
const char *const *ti_config_presets(size_t *n);
void ti_config_add(tc_ctx *ctx, tc_config *config, tc_config_entry entry);
/* A private copy of the entries, to be extended. */
void ti_config_own_entries(tc_ctx *ctx, tc_config *config);
/* For a target that compresses weights by the frequency of codes: default groups of 4-bit weights
 * become codes of -15 .. 15, one scale for each channel; they compress to fewer bits there than the
 * multiples of groups, and are more accurate. */
void ti_config_pack(tc_config *config);
/* --optimise Size where weights are coded: those of 8 bits take coarser steps for at most 0.3 dB, if
 * nothing else was said of them. */
void ti_config_for_size(tc_config *c);
/* Weights of few codes, or so many fewer by a step that joint rounding pays, whatever the work. */
bool ti_config_few_codes(const tc_config *config);
bool ti_config_needs_rounding(const tc_config *config);
bool ti_setting_few_codes(const tc_setting *weight);
/* What scales are, about, times those of the largest magnitudes (quant_weights.c). */
static inline double ti_setting_step(const tc_setting *weight)
{
    return weight->step > 1 ? weight->step : 1;
}
/* Block-scaled types as settings name them; TC_none: there is none of that name. */
tc_dtype ti_block_named(const char *name);
/* Whether operands are to be block scaled, all or some; the rest is float then. */
bool ti_config_has_blocks(const tc_config *config);
/* A whole setting or scheme as a patch. */
tc_patch ti_patch_all(const tc_setting *setting);
tc_setting ti_setting_patched(tc_setting setting, const tc_patch *patch);

/* The settings of the node that `loc` names and the value of that name (or NULL), and how specific
 * that of activations is. */
tc_scheme ti_config_scheme(const tc_config *config, const tc_loc *loc, const char *value,
                           tc_level *level);
/* Only the global setting applies to its weights, and an entry for the node may be added. */
bool ti_config_weights_free(const tc_config *config, const tc_loc *loc, const char *value);

/* Every entry matches something in the program, or a message with the nearest names has been given.
 */
TC_MUST_USE tc_status ti_config_check(tc_ctx *ctx, const tc_config *config, const tc_graph *g);

/* The configuration for this program: with `head8`, entries for the products that make its outputs
 * and that no other entry names. */
tc_config ti_quant_output_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config);
/* The same for `small8`: entries for small layers. */
tc_config ti_quant_small_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config);

/* ---- domains ---- */

/* Magnitudes from here on mean infinity: a mask of -3.4e38. */
#define TC_HUGE 1e36f
/* From here on an input's values may: it is examined more closely (mask_values.h). */
#define TC_FAR_GIVEN 1e3f

/* What a value is to a power spectrum (spectra.h). */
typedef enum tc_spectral {
    TC_SPECTRAL_none,
    TC_SPECTRAL_front, /* leads to the parts */
    TC_SPECTRAL_part,  /* is squared */
    TC_SPECTRAL_power, /* squares and their sums */
} tc_spectral;

/* The scale of powers that are added; its fields are those of tc_spectral_group. */
typedef struct tc_spectral_scale {
    int32_t from, part; /* part: a domain */
    bool size;
    double gain, most, more, unit, scale;
} tc_spectral_scale;

/* Values that share one scale and zero point. */
typedef struct tc_domain {
    tc_val *val; /* ids in the program (module's first graph), ascending */
    size_t n_val;
    tc_setting setting;
    const tc_node *after; /* the one reader of its one value, where that is a table operator (gelu,
                             silu, ...) or a softmax */
    bool output;          /* a program output: margin, no search */
    bool shares;          /* a softmax makes each of its values */
    bool some_wide, all_wide; /* of its readers, the signature among them: some, or all but the cats
                                 that join it with others, take 16 bits */
    bool computed_with;   /* it has a reader that is neither a cat nor the signature */
    bool made_wide;       /* all producers of its values can give 16 bits */
    bool some_bears, made_expensive; /* the same two, at some cost */
    bool expensive;            /* widened at some cost: operators that support 16 bits read them */
    bool named;           /* an entry names its values: only that entry gives it more bits */
    tc_setting narrow;    /* widened alone: its former 8-bit grid, for readers that take no 16 bits;
                             dtype none: it was not */
    double narrow_scale;
    int64_t narrow_zero;
    bool huge;            /* holds infinities: a margin beyond the observed range */
    int32_t
        unmasked; /* >= 0: attention scores, those of that domain with a mask or bias added */
    bool fixed_range; /* lo and hi are known beforehand (softmax, sigmoid): scale and zero are
                       * given */
    double lo, hi;        /* otherwise observe.c sets them: the observed range, and 0 */
    int32_t base;  /* >= 0: derived: same codes as that domain, scale times `factor`, never
                    * observed */
    double factor;
    tc_spectral spectral;
    int32_t spectral_group;
    double most, more, spectral_factor; /* powers: as in tc_spectral_value */
    double above, below; /* logarithms: likewise */
    int32_t joined; /* >= 0: ti_quant_merge_domains() has merged it into that domain */
    double scale;   /* the result */
    int64_t zero;
} tc_domain;

/* Domains `part` and `whole` are joined by a cat: one scale for both, or a rescale between.  alone:
 * the cat is the only reader of the part, which is merged unless their ranges are far apart.
 * settled: a rescale, the part's scale is known; cat: a cat or stack, whose own codes are not. */
typedef struct tc_join {
    int32_t part, whole;
    bool alone, settled, cat;
} tc_join;

/* A sample that was set aside. */
typedef struct tc_outlier {
    uint64_t hash;     /* of its content */
    size_t index;      /* its index, in the data or in that file of observations: */
    const char *where; /* or NULL */
    size_t far_in;     /* domains in which it is far out */
    const char *alone; /* a value in which it is far beyond all others; NULL: none */
    int32_t input;     /* that is this input of the program; -1: it is none */
    double reach, others; /* its magnitude there, and theirs */
} tc_outlier;

typedef struct tc_domains {
    tc_domain *domain;
    size_t n;
    int32_t *of;    /* by value id: its domain, or -1 */
    uint8_t *looks; /* by value id: how often its elements are observed; 0: those of moved values
                       are known already */
    size_t n_val;
    tc_join *join;
    size_t n_join;
    tc_outlier *odd; /* observe.c: samples that were set aside */
    size_t n_odd;
    size_t n_sample, n_watched; /* samples in all, and domains that they were judged by */
    bool only_odd;              /* ti_choose_samples() takes these alone; else all the others */
    const float *never; /* by value id: magnitudes from here on mean infinity (mask_values.h), 0:
                           none do; or NULL */
    tc_spectral_scale *group; /* of spectra */
    size_t n_group;
    float *cut; /* by value id: the same where they are clamped, and not observed; or NULL */
    bool far_given;    /* observe.c: an input has magnitudes of TC_FAR_GIVEN and more */
    const struct tc_first *rows; /* observe.c: what its first pass saw in every sample; or NULL */
} tc_domains;

/* domains.c: which values are quantized, and which share a domain; by the data flow, never by node
 * order.  never: as in tc_domains. */
TC_MUST_USE tc_status ti_quant_decide(tc_ctx *ctx, const tc_module *module, const tc_config *config,
                                      const float *never, tc_domains *out);

/* Once ranges are known (lo, hi by domain): decides the joins.  A merged domain has no values left
 * and `joined` names its new one; the caller merges its observations. */
void ti_quant_merge_domains(tc_ctx *ctx, tc_domains *domains, const double *lo, const double *hi);

/* Once the scales are known: masked scores need to reach only so far below the others that softmax
 * gives 0, whatever the mask holds: -10000 or infinity; nor does the mask itself. */
void ti_quant_fit_masks(tc_ctx *ctx, const tc_graph *g, tc_domains *domains);
/* Sums whose terms cancel: steps no finer than a 1024th of the terms, below which they are noise;
 * logarithms of sums likewise. */
void ti_quant_fit_sums(const tc_graph *g, tc_domains *domains);

/* A domain that is not observed: fixed, natural range, derived, or merged. */
static inline bool ti_domain_known(const tc_domain *d)
{
    return d->setting.observer == TC_OBSERVER_fixed || d->fixed_range || d->base >= 0 ||
           d->joined >= 0;
}

/* ---- calibration data ---- */

/* Samples that were chosen and may be asked for again (sample_choice.c). */
typedef struct tc_shelf tc_shelf;

/* A source of samples; one call at a time.  in: a buffer for each program input. */
typedef struct tc_samples {
    size_t n;
    tc_status (*read)(void *from, size_t k, const tc_tensor *in);
    void *from;
    void (*progress)(void *who, const char *what, size_t done, size_t total); /* or NULL */
    void *who;
    /* The program's state before sample k, by mutation; NULL: as the previous sample left it. */
    void *const *(*state)(void *from, size_t k);
    /* The name of a sample for messages, such as its file; NULL, also as a result: its index. */
    const char *(*name)(void *from, size_t number);
    const size_t *number; /* of sample k in the data, for labels and messages; NULL: k */
    bool reset;           /* every sample starts from the initial state */
    tc_shelf *shelf;      /* what was chosen of them; NULL: nothing is asked for twice */
} tc_samples;

static inline size_t ti_sample_number(const tc_samples *samples, size_t k)
{
    return samples->number ? samples->number[k] : k;
}

/* held_out_samples.c: of n samples, how many a first quantization does not see, so that its
 * measured error is not on its own samples; and whether sample k is among them. */
size_t ti_held_out_count(size_t n);
bool ti_is_held_out(size_t n, size_t k);
/* Those, or all the others; and so many of them. */
tc_samples ti_samples_split(tc_ctx *ctx, const tc_samples *all, size_t n_held, bool held);
tc_samples ti_samples_part(tc_ctx *ctx, const tc_samples *all, bool held);

/* Whether ti_seconds() is past a limit; 0: no limit. */
bool ti_clock_past(double until);

/* Processor time by phase, all threads, in seconds. */
typedef struct tc_quant_times {
    double first, second; /* passes over the samples */
    double read;          /* of these: reading samples, once in each pass */
    double search, rank, correct;
} tc_quant_times;

/* The result of a method: SQNR on the samples with it. */
typedef struct tc_quant_gain {
    const char *name, *what;
    double db;
    bool taken;
} tc_quant_gain;

enum { TC_METHODS = 8 };
typedef struct tc_quant_gains {
    double plain_db, db; /* without any of them, and with those that were taken */
    double drop;         /* percentage points of accuracy lost, if there are labels */
    double agree; /* samples with the same argmax of the first output as the real program */
    tc_quant_gain method[TC_METHODS];
    size_t n;
    const size_t *aside; /* indices of the samples that were set aside, */
    const struct tc_outlier *outlier; /* and what is known of each */
    size_t n_aside, n_watched; /* domains that were observed */
    bool weighed; /* its cost to them was measured, and is less than the gain */
    const double *noise, *signal; /* by output, over n_measured samples of calibration: squared
                                     error of the typed program, and squares; 0, 0: not measured */
    size_t n_measured;
    const double *unseen; /* by output: noise / signal on held-out samples, of the program made
                             without them; NULL: unknown */
    size_t n_held_out;    /* so many */
    double least_db;      /* of the worst output, by both */
    const struct tc_rate_point *curve; /* weight_rates.h: what coarser weights would save, */
    size_t n_curve;                    /* where they were asked for; */
    double curve_noise;                /* noise / signal of the program without */
} tc_quant_gains;

/* Layers that make parts of spectra and whose weights are windowed Fourier transforms (num/dft.h). */
typedef struct tc_fourier {
    const char *node; /* its name, or "" */
    int64_t points;
    double fewer;     /* so many times fewer operations by a fast transform, */
    bool paired;      /* which is another one's too */
    bool real;        /* it is left in float */
} tc_fourier;

typedef struct tc_fouriers {
    tc_fourier *item;
    size_t n, cap;
} tc_fouriers;

/* Of output i: expected noise / signal of the typed program on new samples: the greater of those on
 * calibration's own and on held-out samples; 0: unknown. */
double ti_quant_expected_noise(const tc_quant_gains *gains, size_t i);

/* What a program, or a part of it, takes on a target. */
typedef struct tc_bytes_cycles {
    double bytes, cycles;
    double memory; /* of values, where it is of the whole program */
} tc_bytes_cycles;

/* The target's cost of a typed program. */
typedef struct tc_quant_cost {
    /* Estimated cycles and bytes of constants, and of both the part of each of n layers, by the names of
     * their nodes; n of 0: of the whole as it will be made, with its memory.  INFINITY: more of it than
     * so far would not run there.  NULL: unknown. */
    tc_status (*layers)(void *who, const tc_module *typed, const char *const *name, size_t n,
                        tc_bytes_cycles *layer, tc_bytes_cycles *all);
    void *who;
    bool packs; /* weights are not coded, but packed: bytes fall with the bits of the largest code */
} tc_quant_cost;

/* The changes of mask_values.h to a program before it was quantized, for the same one at another
 * size: steps in order. */
enum { TC_MASK_STEPS = 4 };
typedef struct tc_mask_steps {
    const struct tc_far *far[TC_MASK_STEPS]; /* by value: sums became selections; NULL: biases were
                                              * split */
    size_t n;
} tc_mask_steps;

/* The decisions for a program, for the same one at another size (same_quantization.c). */
typedef struct tc_quant_record {
    tc_module *asked, *real; /* the original, and as changed before it was quantized; NULL: nothing
                                was quantized */
    tc_module *typed;
    tc_domains domains;
    tc_mask_steps masks; /* `asked` has taken them */
    const tc_config *stepped; /* the settings with steps of weights chosen; NULL: none were */
} tc_quant_record;

/* The same program at another size, values numbered (ti_quant_number_values), and samples of that
 * size: observed together with those of the first size. */
typedef struct tc_quant_size {
    const tc_module *module;
    tc_samples samples;
    const char *text; /* "seq=5", for messages */
} tc_quant_size;

/* A request to the stage. */
typedef struct tc_quant_request {
    const tc_config *config;
    tc_samples samples;
    const tc_quant_size *size; /* further ones */
    size_t n_size;
    const tc_module *asked; /* with n_size: the original program, and the changes for its masks: */
    const tc_mask_steps *masks; /* both are ti_quantize()'s */
    const tc_observations *merge; /* of other runs */
    size_t n_merge;
    tc_bytes *observe_only; /* gets the observations, and the module is unchanged; or NULL */
    const struct tc_first *rows; /* of the same program on all of these samples: nothing is run for
                                    them; or NULL */
    bool keep_odd;            /* no sample is set aside */
    tc_quant_times *times;    /* filled in; or NULL */
    tc_quant_gains *gains;    /* filled in; or NULL */
    tc_fouriers *fouriers;    /* filled in; or NULL */
    bool figure;                /* gains: the least dB too */
    const tc_samples *held_out; /* of the samples, those that the result is predicted on: it is made
                                   once from the others alone, */
    const tc_samples *learned;  /* which are these; NULL: no prediction */
    const int64_t *labels;    /* what each sample is; or NULL */
    double until; /* ti_seconds(): methods that have not begun by then are skipped; 0: no limit */
    tc_quant_cost cost;
    tc_quant_record *record;   /* filled in; or NULL */
    const tc_module *largest;  /* the same program where its sizes are largest, numbered; or NULL */
    const tc_quant_record *as; /* nothing is observed: everything as it was there; or NULL */
} tc_quant_request;

/* observe.c: runs the samples and fills scale and zero of every domain. */
TC_MUST_USE tc_status ti_quant_observe(tc_ctx *ctx, tc_module *module,
                                       const tc_quant_request *request, tc_domains *domains);

/* mixed_precision.c: the config->n_wide domains that make the most noise by themselves get 16 bits,
 * or those with the most noise removed per cost; and, with config->widen_noisy, those that alone
 * would leave less than 30 dB. */
TC_MUST_USE tc_status ti_quant_widen(tc_ctx *ctx, tc_module *module,
                                     const tc_quant_request *request, tc_domains *domains);
/* The noise that domains make, each alone on its grid: squared error over squares of the outputs,
 * a mean over a few samples, of one where the work is long.  Only these, by domain; noise: by domain, 0 for
 * all others. */
TC_MUST_USE tc_status ti_quant_noise(tc_ctx *ctx, tc_module *module,
                                     const tc_quant_request *request, const tc_domains *domains,
                                     const bool *only, double *noise);
/* 16 bits for a domain and those derived from it. */
void ti_domain_widen(tc_domains *domains, size_t d);

/* spend_16bit.c: 16 bits for domains by noise removed per cost on the target; noise: by domain,
 * where there is any.  At most `most` of them; limit: times the program's cost, or 0. */
TC_MUST_USE tc_status ti_quant_spend_16bit(tc_ctx *ctx, const tc_module *module,
                                           const tc_quant_request *request, tc_domains *domains,
                                           const double *noise, int64_t most, double limit);

/* apply.c: the float program becomes typed: weights and biases in integers, rescales where domains
 * change. */
TC_MUST_USE tc_status ti_quant_apply(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                     const tc_domains *domains);

/* The result of correcting. */
typedef struct tc_corrected {
    size_t products, rounded; /* whose weights could be, and those that the budget was enough for */
} tc_corrected;

/* Of the real program's layers: the mean of each channel.  A correction leaves them for another one of
 * the same programs by the same samples, which then runs the typed program alone. */
typedef struct tc_real_means {
    tc_arena room;
    double **of; /* by layer */
    bool known;
    size_t fit; /* samples that both programs leave room for */
    bool brief; /* tc_abreast's */
} tc_real_means;

/* correct.c: moves the biases of the typed program so that its products have the means of the real
 * one's, over at most 32 of the samples; and rounds rows of weights again. */
typedef struct tc_correction {
    const tc_config *config;
    int64_t longest; /* longer rows are not changed; 0: none is */
    double work;     /* multiplications that rounding may take */
    double until;    /* ti_seconds(): no product is rounded from then on; 0: no end */
    tc_corrected *result;
    tc_real_means *means; /* empty at first */
} tc_correction;
TC_MUST_USE tc_status ti_quant_correct(tc_ctx *ctx, tc_module *real, tc_module *typed,
                                       const tc_correction *how, const tc_samples *samples,
                                       const tc_domains *domains);

/* A node that is to stay by itself. */
typedef bool tc_apart(void *who, const tc_graph *g, const tc_node *node);
/* fuse_functions.c: connected elementwise operators that read one value become one `function`. */
TC_MUST_USE tc_status ti_fuse_functions(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                        tc_apart *apart, void *who);

/* All of it: decide, observe, apply, correct. */
TC_MUST_USE tc_status ti_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *request);

/* The same program at another size, quantized as at the first one. */
TC_MUST_USE tc_status ti_quantize_as(tc_ctx *ctx, tc_module *module, const tc_config *config,
                                     const tc_quant_record *as);

/* Values numbered in order, for programs that are compared by number. */
void ti_quant_number_values(tc_module *module);

/* The graph of `largest`, values numbered, if it is the same list of nodes; else NULL. */
const tc_graph *ti_quant_largest(tc_module *module, const tc_module *largest);

/* The program at another size with the current constants and masks; NULL: it is not the same list
 * of nodes. */
TC_MUST_USE tc_status ti_quant_at_size(const tc_module *now, const tc_quant_request *request,
                                       const tc_module *other, tc_graph **out);

/* qparams.c: {value: {dtype, scale, zero_point, qmin, qmax, axis}} of a typed module, as JSON. */
tc_bytes ti_qparams_json(tc_ctx *ctx, const tc_module *module); /* in the arena */

/* ---- passes over modules ---- */

/* Quantize and dequantize nodes of a PT2E export become types. */
TC_MUST_USE tc_status ti_quant_convert_qdq_to_types(tc_ctx *ctx, tc_module *module);

/* The typed form as float arithmetic: quantize and dequantize after every operator with a quantized
 * result, constants by their real values.  The same values as the typed form's, faster. */
TC_MUST_USE tc_status ti_quant_simulate_quantization(tc_ctx *ctx, tc_module *module);

/* Accumulators and sums that were left real get their own wide integer domain. */
TC_MUST_USE tc_status ti_quant_widen_accumulators(tc_ctx *ctx, tc_module *module);

/* control_flow.c: branches and loops pass integers; conversions move inside.
 */
TC_MUST_USE tc_status ti_quant_quantize_control_flow(tc_ctx *ctx, tc_module *module);

/* Whether the module has quantize or dequantize nodes, as a PT2E export does. */
bool ti_quant_is_pt2e(const tc_module *module);
/* Whether ti_quant_remove_dynamic_quantization removes all of those: run-time ranges, and
 * constants. */
bool ti_quant_is_dynamic(tc_ctx *ctx, const tc_module *module);
/* dynamic_ranges.c: such values, and constants of codes, become real. */
TC_MUST_USE tc_status ti_quant_remove_dynamic_quantization(tc_ctx *ctx, tc_module *module);
/* Whether any value of the module is quantized. */
bool ti_quant_is_typed(const tc_module *module);
/* Whether a part of it computes on stored integers already: TOSA, or a call of a region. */
bool ti_quant_is_lowered(const tc_module *module);

#endif
