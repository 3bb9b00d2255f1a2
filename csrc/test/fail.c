/* For tests that link parts without the core: a failure is only its code. */
#include "../core/status.h"

int fc_fail(fc_code code, int64_t a, int64_t b, int64_t c, int64_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return (int)code;
}
