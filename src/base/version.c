/* SPDX-License-Identifier: Apache-2.0 */
/* version.c -- see version.h. */
#include "version.h"

const char *ti_made_by_tosac(void)
{
    return *TOSAC_RELEASED ? TC_MADE_BY " (" TOSAC_RELEASED ")" : TC_MADE_BY;
}
