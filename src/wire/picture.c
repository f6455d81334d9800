/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c -- see picture.h.
 *
 * A decoder is called twice, for the size and for the pixels: memory is allocated in between, when
 * no decoder state exists. */
#include "picture.h"

#include <strings.h>

static bool ends(const char *path, const char *const *list)
{
    const char *dot = strrchr(path, '.');
    for (; dot && *list; list++)
        if (strcasecmp(dot, *list) == 0)
            return true;
    return false;
}

bool ti_is_picture(const char *path)
{
    static const char *const list[] = {".png", ".jpg", ".jpeg", NULL};
    return ends(path, list);
}

bool ti_is_sound(const char *path)
{
    static const char *const list[] = {".wav", NULL};
    return ends(path, list);
}

#ifdef TOSAC_PICTURES

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <png.h>

#include "../base/lazy_library.h"
#include "late_calls.h"

enum { MOST_PIXELS = 1 << 28 };

/* Loaded with the first picture of their kind. */
static struct {
    TC_LATE_POINTERS(TC_LIBPNG_CALLS)
} libpng;
static struct {
    TC_LATE_POINTERS(TC_LIBJPEG_CALLS)
} libjpeg;
static bool libpng_here, libjpeg_here;

static void load_libpng(void)
{
    static const char *const name[] = {TC_LATE_NAMES(TC_LIBPNG_CALLS)};
    libpng_here = ti_late_load(TOSAC_LIBPNG, name, &libpng);
}

static void load_libjpeg(void)
{
    static const char *const name[] = {TC_LATE_NAMES(TC_LIBJPEG_CALLS)};
    libjpeg_here = ti_late_load(TOSAC_LIBJPEG, name, &libjpeg);
}

static tc_status want_decoder(tc_ctx *ctx, const tc_loc *loc, bool png)
{
    static pthread_once_t png_once = PTHREAD_ONCE_INIT, jpeg_once = PTHREAD_ONCE_INIT;
    if (png)
        pthread_once(&png_once, load_libpng);
    else
        pthread_once(&jpeg_once, load_libjpeg);
    return (png ? libpng_here : libjpeg_here)
               ? TC_OK
               : ti_error(ctx, loc, TC_E_TOOL, "the library that decodes it cannot be loaded: %s",
                          png ? TOSAC_LIBPNG : TOSAC_LIBJPEG);
}

/* ---- PNG ---- */

typedef struct png_source {
    const uint8_t *at, *end;
    char why[200];
} png_source;

static void png_fails(png_structp png, png_const_charp why)
{
    png_source *s = libpng.get_error_ptr(png);
    snprintf(s->why, sizeof s->why, "%s", why);
    longjmp(*libpng.set_longjmp_fn(png, longjmp, sizeof(jmp_buf)), 1);
}

static void png_warns(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static void png_takes(png_structp png, png_bytep out, size_t n)
{
    png_source *s = libpng.get_io_ptr(png);
    if ((size_t)(s->end - s->at) < n)
        libpng.error(png, "the file ends too early");
    memcpy(out, s->at, n);
    s->at += n;
}

/* pixel NULL: only the size.  Between setjmp and its end nothing of ours is allocated. */
static bool read_png(tc_bytes file, tc_picture *out, uint8_t *pixel, png_source *s)
{
    *s = (png_source){.at = file.data, .end = file.data + file.size};
    png_structp png = libpng.create_read_struct(PNG_LIBPNG_VER_STRING, s, png_fails, png_warns);
    png_infop info = png ? libpng.create_info_struct(png) : NULL;
    if (!info || setjmp(*libpng.set_longjmp_fn(png, longjmp, sizeof(jmp_buf)))) {
        if (!*s->why)
            snprintf(s->why, sizeof s->why, "out of memory");
        libpng.destroy_read_struct(&png, info ? &info : NULL, NULL);
        return false;
    }
    libpng.set_read_fn(png, s, png_takes);
    libpng.set_user_limits(png, 1 << 16, 1 << 16);
    libpng.read_info(png, info);
    libpng.set_expand(png);
    libpng.set_strip_16(png);
    libpng.set_strip_alpha(png);
    int passes = libpng.set_interlace_handling(png);
    libpng.read_update_info(png, info);
    out->h = (int32_t)libpng.get_image_height(png, info);
    out->w = (int32_t)libpng.get_image_width(png, info);
    out->c = libpng.get_channels(png, info);
    for (int pass = 0; pixel && pass < passes; pass++)
        for (int32_t y = 0; y < out->h; y++)
            libpng.read_row(png, pixel + (size_t)y * (size_t)out->w * (size_t)out->c, NULL);
    libpng.destroy_read_struct(&png, &info, NULL);
    return true;
}

/* ---- JPEG ---- */

typedef struct jpeg_trouble {
    struct jpeg_error_mgr base;
    jmp_buf back;
    char why[JMSG_LENGTH_MAX];
} jpeg_trouble;

static void jpeg_fails(j_common_ptr info)
{
    jpeg_trouble *t = (jpeg_trouble *)info->err;
    info->err->format_message(info, t->why);
    longjmp(t->back, 1);
}

static void jpeg_says(j_common_ptr info)
{
    (void)info;
}

static bool read_jpeg(tc_bytes file, tc_picture *out, uint8_t *pixel, jpeg_trouble *t)
{
    struct jpeg_decompress_struct info;
    info.err = libjpeg.std_error(&t->base);
    t->base.error_exit = jpeg_fails;
    t->base.output_message = jpeg_says;
    if (setjmp(t->back)) {
        libjpeg.destroy_decompress(&info);
        return false;
    }
    libjpeg.CreateDecompress(&info, JPEG_LIB_VERSION, sizeof info);
    libjpeg.mem_src(&info, file.data, (unsigned long)file.size);
    libjpeg.read_header(&info, TRUE);
    out->c = info.num_components == 1 ? 1 : 3;
    info.out_color_space = out->c == 1 ? JCS_GRAYSCALE : JCS_RGB;
    out->h = (int32_t)info.image_height;
    out->w = (int32_t)info.image_width;
    if (pixel) {
        libjpeg.start_decompress(&info);
        while (info.output_scanline < info.output_height) {
            JSAMPROW row = pixel + (size_t)info.output_scanline * (size_t)out->w * (size_t)out->c;
            libjpeg.read_scanlines(&info, &row, 1);
        }
    }
    libjpeg.destroy_decompress(&info);
    return true;
}

/* ---- either ---- */

static bool read_any(tc_bytes file, bool png, tc_picture *out, uint8_t *pixel, const char **why,
                     tc_arena *arena)
{
    png_source source;
    jpeg_trouble trouble;
    bool good = png ? read_png(file, out, pixel, &source) : read_jpeg(file, out, pixel, &trouble);
    if (!good)
        *why = ti_text_format(arena, "%s", png ? source.why : trouble.why);
    return good;
}

tc_status ti_picture_decode(tc_ctx *ctx, tc_arena *arena, const tc_loc *loc, tc_bytes file,
                            tc_picture *out)
{
    bool png = file.size > 8 && memcmp(file.data, "\x89PNG\r\n\x1a\n", 8) == 0;
    bool jpeg = file.size > 3 && memcmp(file.data, "\xff\xd8\xff", 3) == 0;
    const char *why = NULL;
    *out = (tc_picture){0};
    if (!png && !jpeg)
        return ti_error(ctx, loc, TC_E_DATA, "the file is neither PNG nor JPEG");
    TC_TRY(want_decoder(ctx, loc, png));
    if (!read_any(file, png, out, NULL, &why, arena))
        return ti_error(ctx, loc, TC_E_DATA, "the image cannot be read: %s", why);
    if (out->h < 1 || out->w < 1 || (out->c != 1 && out->c != 3) ||
        (int64_t)out->h * out->w > MOST_PIXELS)
        return ti_error(ctx, loc, TC_E_DATA, "the image has %d x %d pixels of %d channels",
                        (int)out->h, (int)out->w, (int)out->c);
    uint8_t *pixel = ti_arena_raw(arena, (size_t)out->h * (size_t)out->w * (size_t)out->c);
    if (!read_any(file, png, out, pixel, &why, arena))
        return ti_error(ctx, loc, TC_E_DATA, "the image cannot be read: %s", why);
    out->pixel = pixel;
    return TC_OK;
}

#else

tc_status ti_picture_decode(tc_ctx *ctx, tc_arena *arena, const tc_loc *loc, tc_bytes file,
                            tc_picture *out)
{
    (void)arena;
    (void)file;
    *out = (tc_picture){0};
    return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                          "this build has no image decoders (TOSAC_PICTURES=OFF)");
}

#endif
