/* The ISA level in use: the best that this machine has, unless told otherwise. */
#include "facula.h"
#include "atomic.h"
#include "status.h"

static int fc_level; /* 0 = not asked yet */

static int fc_best_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
        return 4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return 3;
#endif
    return 2;
}

int fc_isa_level(void)
{
    const int level = fc_atomic_peek(&fc_level);
    if (level)
        return level;
    const int best = fc_best_level();
    fc_atomic_poke(&fc_level, best);
    return best;
}

/* For tests of the promise: a lower level than the machine's. */
int fc_set_isa_level(int level)
{
    if (level < 2 || level > fc_best_level())
        return fc_fail(FC_ARG, 0, level, fc_best_level(), 0);
    fc_atomic_poke(&fc_level, level);
    return FC_OK;
}
