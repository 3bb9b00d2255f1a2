/* Element types as the kernels see them. */
#ifndef FC_DTYPE_H
#define FC_DTYPE_H

#include <complex.h>
#include <stdint.h>

#include "facula_numbers.h"

typedef float f32;
typedef double f64;
typedef float _Complex c64;
typedef double _Complex c128;

extern const uint8_t fc_dt_size[FC_NDTYPES];

static inline int fc_is_float(int dt)   { return dt >= FC_F16 && dt <= FC_F64; } /* that computes: no float8 */
static inline int fc_is_complex(int dt) { return dt == FC_C64 || dt == FC_C128; }
static inline int fc_is_float8(int dt)  { return dt >= FC_F8E4M3FN; }
static inline int fc_is_half(int dt)    { return dt == FC_F16 || dt == FC_BF16; }
static inline int fc_is_int(int dt)     { return dt <= FC_U64; } /* bool counts as an integer */

/* a scalar operand: the fields keep every bit */
typedef struct { int kind; int64_t i; double re, im; } fc_scalar;

#endif
