/* SPDX-License-Identifier: Apache-2.0 */
/* version.h -- the library's version as text: "0.2.0", and with its name. */
#ifndef TC_VERSION_H
#define TC_VERSION_H

#include "tosac/base.h"

#define TC_TEXT_OF(x) #x
#define TC_VERSION_OF(a, b, c) TC_TEXT_OF(a) "." TC_TEXT_OF(b) "." TC_TEXT_OF(c)
#define TC_VERSION_TEXT                                                                            \
    TC_VERSION_OF(TOSAC_VERSION_MAJOR, TOSAC_VERSION_MINOR, TOSAC_VERSION_PATCH)
#define TC_MADE_BY "tosac " TC_VERSION_TEXT

/* What files say: the same, and the commit where a version's own archive was built. */
const char *ti_made_by_tosac(void);

#endif
