/* A batch of values, converted to the dtype and stored at out[at ..]. For the random fills alone. */
#ifndef FC_RANDOM_STORE_H
#define FC_RANDOM_STORE_H

#include <stdint.h>

#include "../core/dtype.h"
#include "../core/half.h"

static inline int64_t i64_of_f64(double x) /* x86's conversion: what does not fit is the smallest integer */
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static inline int32_t i32_of_f64(double x)
{
    return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

#define STORE(type, convert)                            \
    for (int k = 0; k < m; ++k)                         \
        ((type *)out)[at + k] = (type)(convert);        \
    return;

static inline void store_f64(void *out, int dtype, int64_t at, const double *v, int m)
{
    switch (dtype) {
    case FC_U8: STORE(uint8_t, i32_of_f64(v[k]))
    case FC_I8: STORE(int8_t, i32_of_f64(v[k]))
    case FC_I16: STORE(int16_t, i32_of_f64(v[k]))
    case FC_I32: STORE(int32_t, i32_of_f64(v[k]))
    case FC_I64: STORE(int64_t, i64_of_f64(v[k]))
    case FC_F16: STORE(uint16_t, fc_f16_of_f32((float)v[k]))
    case FC_BF16: STORE(uint16_t, fc_bf16_of_f32((float)v[k]))
    case FC_F32: STORE(float, v[k])
    case FC_F64: STORE(double, v[k])
    }
}

static inline void store_f32(void *out, int dtype, int64_t at, const float *v, int m)
{
    switch (dtype) {
    case FC_F16: STORE(uint16_t, fc_f16_of_f32(v[k]))
    case FC_BF16: STORE(uint16_t, fc_bf16_of_f32(v[k]))
    case FC_F32: STORE(float, v[k])
    }
}

static inline void store_i64(void *out, int dtype, int64_t at, const int64_t *v, int m)
{
    switch (dtype) {
    case FC_BOOL: STORE(uint8_t, v[k] != 0)
    case FC_U8: STORE(uint8_t, v[k])
    case FC_I8: STORE(int8_t, v[k])
    case FC_I16: STORE(int16_t, v[k])
    case FC_I32: STORE(int32_t, v[k])
    case FC_I64: STORE(int64_t, v[k])
    case FC_F16: STORE(uint16_t, fc_f16_of_f32((float)v[k]))
    case FC_BF16: STORE(uint16_t, fc_bf16_of_f32((float)v[k]))
    case FC_F32: STORE(float, v[k])
    case FC_F64: STORE(double, v[k])
    }
}

#undef STORE

#endif
