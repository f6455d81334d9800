/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h -- PNG and JPEG files as rows of pixels, WAV files as samples.
 *
 * libpng and libjpeg-turbo decode; a build without them (TOSAC_PICTURES=OFF) reports that for an
 * image.  Colours are used as stored: no gamma, no profile, no rotation; alpha is dropped, more
 * than 8 bits are truncated to 8, grey stays one channel. */
#ifndef TC_PICTURE_H
#define TC_PICTURE_H

#include "../base/diag.h"

typedef struct tc_picture {
    int32_t h, w, c; /* c: 1 grey, 3 red green blue */
    uint8_t *pixel;  /* [h, w, c] */
} tc_picture;

/* Whether a name is that of a picture, or of a sound. */
bool ti_is_picture(const char *path);
bool ti_is_sound(const char *path);

/* The picture, in the arena. */
TC_MUST_USE tc_status ti_picture_decode(tc_ctx *ctx, tc_arena *arena, const tc_loc *loc,
                                        tc_bytes file, tc_picture *out);

typedef struct tc_sound {
    int64_t n;    /* moments */
    int32_t rate; /* of them in a second */
    float *value; /* from -1 to 1; several channels are their mean */
} tc_sound;

/* PCM of 8, 16, 24 or 32 bits, or 32-bit floats. */
TC_MUST_USE tc_status ti_sound_decode(tc_ctx *ctx, tc_arena *arena, const tc_loc *loc,
                                      tc_bytes file, tc_sound *out);

#endif
