/* Complex functions: multiplication and division are ours (the compiler's handling of infinities is 10 times slower and PyTorch's
 * loops do not have it); the transcendental ones that no training loop leans on are the C library's. */
#ifndef FC_MATHFN_COMPLEX_H
#define FC_MATHFN_COMPLEX_H

#include <complex.h>
#include <stdint.h>
#include <string.h>

#define T f32
#define C c64
#define CN(name) fc_##name##_c64
#define FN(name) fc_##name##_f32
#define FC_LIBC(name) name##f
#define FN_BITS uint32_t
#include "mathfn_complex_t.h"
#undef T
#undef C
#undef CN
#undef FN
#undef FC_LIBC
#undef FN_BITS
#define T f64
#define C c128
#define CN(name) fc_##name##_c128
#define FN(name) fc_##name##_f64
#define FC_LIBC(name) name
#define FN_BITS uint64_t
#include "mathfn_complex_t.h"
#undef T
#undef C
#undef CN
#undef FN
#undef FC_LIBC
#undef FN_BITS

#endif
