/* SPDX-License-Identifier: Apache-2.0 */
/* image_check.h -- programs whose ports are images, compared with the same ones of tensors. */
#ifndef TC_IMAGE_CHECK_H
#define TC_IMAGE_CHECK_H

#include "driver.h"

/* Ports of normalized images get the codes of the images, where their quantization was not given:
 * no value is changed then. */
void ti_images_fix_codes(tc_ctx *ctx, const tc_graph *g, const tc_image_port *port, size_t n,
                         tc_config *config);

/* A warning where samples have values that a normalized image cannot hold. */
void ti_images_fit(tc_ctx *ctx, const tc_graph *plain, const tc_image_port *port, size_t n,
                   tc_tensor *const *sample, size_t n_sample);

/* A sample of `plain` as `imaged` takes it: pictures become pixels.  In the context's arena. */
tc_tensor *ti_images_sample(tc_ctx *ctx, const tc_graph *plain, const tc_graph *imaged,
                            const tc_image_port *port, size_t n, const tc_tensor *sample);

/* The program with images on such a sample, compared with the plain one on what its pixels stand
 * for: an error where an output is not the same within rounding. */
TC_MUST_USE tc_status ti_images_check(tc_ctx *ctx, const tc_module *plain, const tc_module *imaged,
                                      const tc_image_port *port, size_t n, const tc_tensor *pixels);

/* Whether a value is an image of such a tensor; and its pixels from the tensor's elements. */
bool ti_image_is_of(const tc_value *image, const tc_type *tensor);
void ti_image_fill(const tc_value *image, tc_tensor tensor, tc_tensor pixels);

#endif
