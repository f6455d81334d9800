/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess.h -- images and audio as samples, preprocessed by rules as torchvision has them.
 *
 *   resize=256 | HxW   the shorter side, or both; antialiased, as Pillow does it
 *   filter=bilinear | bicubic
 *   crop=224 | HxW     from the middle; what is smaller is padded with black
 *   mean=a,b,c std=a,b,c    (x - mean) / std for each channel, after x / 255
 *   range=1 | 255      what white is: 1 unless said otherwise, 255 for integer inputs
 *   order=rgb | bgr    of channels
 *   layout=nchw | nhwc  where the shape of the input does not say
 *   rate=16000         sounds: what every file must have; they are cut or padded to the input
 */
#ifndef TC_PREPROCESS_H
#define TC_PREPROCESS_H

#include "../ir/graph.h"
#include "resample.h"

enum { TC_MOST_CHANNELS = 4 };

typedef struct tc_rules {
    int32_t resize_h, resize_w; /* w 0: h is the shorter side; h 0: not resized */
    int32_t crop_h, crop_w;     /* 0: all of it */
    tc_filter filter;
    double mean[TC_MOST_CHANNELS], std[TC_MOST_CHANNELS];
    int n_mean, n_std; /* 0: none; 1: the same for all */
    double range;      /* 0: by the input's type */
    bool bgr;
    char layout; /* 0: by shape; 'c' channels first, 'w' last */
    int32_t rate;
} tc_rules;

TC_MUST_USE tc_status ti_rules_parse(tc_ctx *ctx, const char *text, tc_rules *out);

typedef struct tc_pictures tc_pictures;

/* Files, and folders recursively, in the order of their names; g takes one tensor. */
TC_MUST_USE tc_status ti_read_pictures(tc_ctx *ctx, const tc_graph *g, const tc_rules *rules,
                                       const char *const *path, size_t n_path, tc_pictures **out);

size_t ti_pictures_count(const tc_pictures *pictures);
const char *ti_pictures_file(const tc_pictures *pictures, size_t k);

/* Sample k into a buffer of the input's type. */
TC_MUST_USE tc_status ti_pictures_sample(tc_pictures *pictures, size_t k, const tc_tensor *in);

#endif
