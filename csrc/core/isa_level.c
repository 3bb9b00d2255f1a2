/* The ISA level in use: the best that this machine has, unless told otherwise. */
#include "facula.h"
#include "atomic.h"
#include "status.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static int fc_level; /* 0 = not asked yet */

/* What -march=x86-64-v3 makes use of and compilers cannot all be asked about: virtual machines hide single instructions. */
static int fc_has_small_ones(void)
{
#if defined(__x86_64__)
    const unsigned movbe = 1u << 22, f16c = 1u << 29, lzcnt = 1u << 5;
    unsigned a, b, c, d, more;
    return __get_cpuid(1, &a, &b, &c, &d) && __get_cpuid(0x80000001, &a, &b, &more, &d) && c & movbe && c & f16c && more & lzcnt;
#else
    return 1;
#endif
}

/* 1 where the least that everything is compiled for is not there; what loads the library refuses then. */
static int fc_best_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")))
        return 1;
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
          && fc_has_small_ones()))
        return 2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
        return 4;
    return 3;
#else
    return 2;
#endif
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
