/* SPDX-License-Identifier: Apache-2.0 */
/* images.h -- inputs and outputs of a program that the caller has as images (use_images.c). */
#ifndef TC_IMAGES_H
#define TC_IMAGES_H

#include "../ir/graph.h"
#include "../num/pixel.h"

/* Which axis of a tensor has the channels: [1,C,H,W] and [C,H,W], or [1,H,W,C] and [H,W,C]. */
typedef enum tc_image_layout { TC_IMAGE_ANY, TC_IMAGE_NCHW, TC_IMAGE_NHWC } tc_image_layout;

typedef struct tc_image_port {
    const char *text; /* as given: NAME=FORMAT or NAME=FORMAT:LAYOUT */
    const tc_vk_format *format;
    tc_image_layout layout; /* TC_IMAGE_ANY: by the extents */
    bool out;
    size_t index; /* which input or output */
    /* use_images.c: */
    const tc_type *tensor; /* what the program has of it, or of which it is made */
    const char *how;       /* the conversion of its elements, as a clause */
} tc_image_port;

/* The port that a text names: an input or output of g, by its name, or input_0, output_1 and so on. */
TC_MUST_USE tc_status ti_image_port_read(tc_ctx *ctx, const tc_graph *g, const char *text,
                                         tc_image_port *out);
/* All of them; none twice. */
TC_MUST_USE tc_status ti_image_ports_read(tc_ctx *ctx, const tc_graph *g, const char *const *text,
                                          size_t n, tc_image_port **out);
/* Whether the port's tensor can be such an image. */
TC_MUST_USE tc_status ti_image_port_check(tc_ctx *ctx, const tc_graph *g,
                                          const tc_image_port *port);

/* The codes of a normalized format of 8 bits, or a signed one of 16, as a tensor's: scale and zero
 * without loss.  false: the format has no such codes in this many bits. */
bool ti_image_codes(const tc_vk_format *f, unsigned bits, double *scale, int32_t *zero);

/* A tensor's size as a picture. */
typedef struct tc_image_size {
    int64_t c, h, w;
    bool last; /* channels are the last axis */
} tc_image_size;
tc_image_size ti_image_size(const tc_type *t, const tc_vk_format *f, tc_image_layout layout);

/* Ports become images: shaders convert, or the image has the tensor's own bytes.  The module's nodes
 * and values are its own. */
TC_MUST_USE tc_status ti_lower_use_images(tc_ctx *ctx, tc_module *module, tc_image_port *port,
                                          size_t n);

#endif
