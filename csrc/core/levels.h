/*
 * One OWN file, several ISA levels.
 *
 * A file that says FC_OWN_LEVELS is compiled once per level by the build. It spells its kernel
 *
 *   int FC_ISA_NAME(fc_cpu_softmax)(fc_call *c) { ... }
 *   FC_OWN_LEVELS(softmax)
 *
 * and puts what is needed once (fc_infer_softmax) between #if FC_ISA_ONCE and #endif. The macro defines the plain fc_cpu_softmax,
 * which calls the copy of the level that the library runs at. Compiled without -DFC_ISA it is an ordinary file.
 *
 * FC_OWN_TWO_LEVELS(name) instead: there is no copy for v4, a v4 machine runs v3's. For kernels that wait for memory, which gain nothing
 * from wider registers, and for rare ones. The bits are the same, by the promise.
 */
#ifndef FC_LEVELS_H
#define FC_LEVELS_H

#include "call.h"
#include "isa.h"

int fc_isa_level(void);

#if !defined(FC_ISA)
#define FC_ISA_ONCE 1
#define FC_OWN_LEVELS(name)
#define FC_OWN_TWO_LEVELS(name)
#elif FC_ISA_NUM == 2
#define FC_ISA_ONCE 1
#define FC_OWN_LEVELS(name)                                                                             \
    int fc_cpu_##name##_v3(fc_call *c);                                                                 \
    int fc_cpu_##name##_v4(fc_call *c);                                                                 \
    int fc_cpu_##name(fc_call *c);                                                                      \
    int fc_cpu_##name(fc_call *c)                                                                       \
    {                                                                                                   \
        const int level = fc_isa_level();                                                               \
        return level >= 4 ? fc_cpu_##name##_v4(c) : level == 3 ? fc_cpu_##name##_v3(c) : fc_cpu_##name##_v2(c); \
    }
#define FC_OWN_TWO_LEVELS(name)                                                                         \
    int fc_cpu_##name##_v3(fc_call *c);                                                                 \
    int fc_cpu_##name(fc_call *c);                                                                      \
    int fc_cpu_##name(fc_call *c) { return fc_isa_level() >= 3 ? fc_cpu_##name##_v3(c) : fc_cpu_##name##_v2(c); }
#else
#define FC_ISA_ONCE 0
#define FC_OWN_LEVELS(name)
#define FC_OWN_TWO_LEVELS(name)
#endif

#endif
