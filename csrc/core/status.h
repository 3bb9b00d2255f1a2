/* Status codes: C computes, Python explains. `fc_fail` stores the code with up to four details and returns it. */
#ifndef FC_STATUS_H
#define FC_STATUS_H

#include <stdint.h>

#include "facula_numbers.h"

/* Of functions that may find no memory: who drops their answer returns what malloc left in the result */
#if defined(__GNUC__)
#define FC_CHECKED __attribute__((warn_unused_result))
#else
#define FC_CHECKED
#endif

int fc_fail(fc_code code, int64_t a, int64_t b, int64_t c, int64_t d);

#endif
