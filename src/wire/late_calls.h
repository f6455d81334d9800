/* SPDX-License-Identifier: Apache-2.0 */
/* late_calls.h -- the functions of libzip, libpng and libjpeg that are called, for
 * base/lazy_library.h: loaded when the first is wanted, or linked (static/linked_libraries.c). */
#ifndef TC_LATE_CALLS_H
#define TC_LATE_CALLS_H

#define TC_LIBZIP_CALLS(F) \
    F(zip_, discard) F(zip_, error_fini) F(zip_, error_init) F(zip_, fclose) \
    F(zip_, fopen_index) F(zip_, fread) F(zip_, open_from_source) F(zip_, source_buffer_create) \
    F(zip_, source_filep_create) F(zip_, source_free)
#define TC_LIBPNG_CALLS(F) \
    F(png_, create_info_struct) F(png_, create_read_struct) F(png_, destroy_read_struct) \
    F(png_, error) F(png_, get_channels) F(png_, get_error_ptr) F(png_, get_image_height) \
    F(png_, get_image_width) F(png_, get_io_ptr) F(png_, read_info) F(png_, read_row) \
    F(png_, read_update_info) F(png_, set_expand) F(png_, set_interlace_handling) \
    F(png_, set_longjmp_fn) F(png_, set_read_fn) F(png_, set_strip_16) F(png_, set_strip_alpha) \
    F(png_, set_user_limits)
#define TC_LIBJPEG_CALLS(F) \
    F(jpeg_, destroy_decompress) F(jpeg_, CreateDecompress) F(jpeg_, mem_src) \
    F(jpeg_, read_header) F(jpeg_, read_scanlines) F(jpeg_, start_decompress) \
    F(jpeg_, std_error)

#endif
