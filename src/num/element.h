/* SPDX-License-Identifier: Apache-2.0 */
/* element.h -- one element as text, exactly. */
#ifndef TC_ELEMENT_H
#define TC_ELEMENT_H

#include "type.h"

/* true, -3, 0.1, inf, nan, (1,-2) for complex numbers.  Floats have the fewest digits that read
 * back as the same bits; a NaN other than the canonical one has its bits: nan(0x7fc00001). */
void ti_element_put(tc_buf *out, tc_dtype dtype, const void *at);

/* Text to an element; false when the text is not a number,
or not one that dtype can hold.  A float is
 * rounded to the nearest, and past the range it is refused unless it is written inf. */
bool ti_element_read(tc_dtype dtype, tc_str text, void *at);

/* Whether stored bytes are elements of the type: bool, i4 and i48 leave some patterns unused. */
bool ti_elements_valid(const tc_type *type, const void *data);

#endif
