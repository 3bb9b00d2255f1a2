/* Element types. The numbers are the library's ABI: append, never reorder. */
#ifndef FC_DTYPE_H
#define FC_DTYPE_H

#include <complex.h>
#include <stdint.h>

typedef enum {
    FC_BOOL, FC_U8, FC_I8, FC_I16, FC_I32, FC_I64, FC_U16, FC_U32, FC_U64,
    FC_F16, FC_BF16, FC_F32, FC_F64, FC_C64, FC_C128,
    FC_F8E4M3FN, FC_F8E5M2, FC_F8E4M3FNUZ, FC_F8E5M2FNUZ, FC_F8E8M0FNU, /* to store and convert; float8.h */
    FC_NDTYPES
} fc_dt;

typedef float f32;
typedef double f64;
typedef float _Complex c64;
typedef double _Complex c128;

typedef enum { FC_CPU = 0, FC_META = 1, FC_CUDA = 2 } fc_dev;

extern const uint8_t fc_dt_size[FC_NDTYPES];

static inline int fc_is_float(int dt)   { return dt >= FC_F16 && dt <= FC_F64; } /* that computes: no float8 */
static inline int fc_is_complex(int dt) { return dt == FC_C64 || dt == FC_C128; }
static inline int fc_is_float8(int dt)  { return dt >= FC_F8E4M3FN; }
static inline int fc_is_half(int dt)    { return dt == FC_F16 || dt == FC_BF16; }
static inline int fc_is_int(int dt)     { return dt <= FC_U64; } /* bool counts as an integer */

/* a scalar operand: the kind decides promotion, the fields keep every bit */
typedef enum { FC_KBOOL, FC_KINT, FC_KFLOAT, FC_KCOMPLEX } fc_kind;
typedef struct { int kind; int64_t i; double re, im; } fc_scalar;

#endif
