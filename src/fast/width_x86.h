/* SPDX-License-Identifier: Apache-2.0 */
/* width_x86.h -- names for registers of WIDTH bits, 512 or 256.  A body of loops, which is included
 * once for each width, begins with it, and ends with it without WIDTH: no name is left. */
#undef V
#undef W
#undef MM
#undef TARGET
#undef LANES
#undef PANELS
#undef ROWS
#ifdef WIDTH
#define LANES (WIDTH / 32)
#if WIDTH == 512
#define V __m512i
#define W(f) f##512
#define MM(f) _mm512_##f
#define TARGET TC_AVX512
#define PANELS TC_512_PANELS
#define ROWS TC_512_ROWS
#else
#define V __m256i
#define W(f) f##256
#define MM(f) _mm256_##f
#define TARGET TC_AVX2
#define PANELS TC_256_PANELS
#define ROWS TC_256_ROWS
#endif
#endif
