/* Scans: the loops are scan_sum.h and scan_extreme.h, stamped here per dtype. */
#include "scan.h"

#include <math.h>

#include "../core/dtype.h"
#include "../core/half.h"
#include "../core/status.h"
#include "parallel.h"

enum { SCAN_TILE = 128, SERIAL = 32768 };

typedef void (*scan_fn)(void *out, int64_t *out2, const void *x, int64_t n, int64_t step, int64_t width);

/* log(exp(a) + exp(b)) without overflow; -inf is the empty sum. */
static inline f64 log_add_f64(f64 a, f64 b)
{
    const f64 hi = a > b || a != a ? a : b, lo = a > b || a != a ? b : a;
    return isinf(hi) && (lo == hi || hi > 0) ? hi : hi + log1p(exp(lo - hi));
}

#define ADD(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)

#define SAME(v) (v)
#define INTEGERS
#define S uint8_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u8
#include "scan_sums.h"
#define S int8_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i8
#include "scan_sums.h"
#define S int16_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i16
#include "scan_sums.h"
#define S int32_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i32
#include "scan_sums.h"
#define S int64_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i64
#include "scan_sums.h"
#define S uint16_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u16
#include "scan_sums.h"
#define S uint32_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u32
#include "scan_sums.h"
#define S uint64_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u64
#include "scan_sums.h"
#undef INTEGERS
#define S c64
#define A c128
#define LOAD SAME
#define STORE SAME
#define T c64
#include "scan_sums.h"
#define S c128
#define A c128
#define LOAD SAME
#define STORE SAME
#define T c128
#include "scan_sums.h"
#define FLOATS
#define S uint16_t
#define A f32
#define LOAD fc_f32_of_f16
#define STORE fc_f16_of_f32
#define T f16
#include "scan_sums.h"
#define S uint16_t
#define A f32
#define LOAD fc_f32_of_bf16
#define STORE fc_bf16_of_f32
#define T bf16
#include "scan_sums.h"
#define S f32
#define A f64
#define LOAD SAME
#define STORE SAME
#define T f32
#include "scan_sums.h"
#define S f64
#define A f64
#define LOAD SAME
#define STORE SAME
#define T f64
#include "scan_sums.h"

#define GREATER(v, best) ((v) >= (best))
#define LESSER(v, best) ((v) <= (best))
#define ISNAN(v) ((v) != (v))
#define S uint16_t
#define T f16
#define LOAD fc_f32_of_f16
#include "scan_extremes.h"
#define S uint16_t
#define T bf16
#define LOAD fc_f32_of_bf16
#include "scan_extremes.h"
#define S f32
#define T f32
#define LOAD SAME
#include "scan_extremes.h"
#define S f64
#define T f64
#define LOAD SAME
#include "scan_extremes.h"
#undef ISNAN
#define ISNAN(v) 0
#define S uint8_t
#define T u8
#define LOAD SAME
#include "scan_extremes.h"
#define S int8_t
#define T i8
#define LOAD SAME
#include "scan_extremes.h"
#define S int16_t
#define T i16
#define LOAD SAME
#include "scan_extremes.h"
#define S int32_t
#define T i32
#define LOAD SAME
#include "scan_extremes.h"
#define S int64_t
#define T i64
#define LOAD SAME
#include "scan_extremes.h"
#define S uint16_t
#define T u16
#define LOAD SAME
#include "scan_extremes.h"
#define S uint32_t
#define T u32
#define LOAD SAME
#include "scan_extremes.h"
#define S uint64_t
#define T u64
#define LOAD SAME
#include "scan_extremes.h"

#define SUMS(T) {cumsum_##T, cumprod_##T, NULL, NULL, NULL}
#define INTS(T) {cumsum_##T, cumprod_##T, NULL, cummax_##T, cummin_##T}
#define ALL(T) {cumsum_##T, cumprod_##T, logcumsumexp_##T, cummax_##T, cummin_##T}

static const scan_fn table[FC_NDTYPES][FC_NSCANS] = {
    [FC_BOOL] = INTS(u8), [FC_U8] = INTS(u8), [FC_I8] = INTS(i8), [FC_I16] = INTS(i16), [FC_I32] = INTS(i32),
    [FC_U16] = INTS(u16), [FC_U32] = INTS(u32), [FC_U64] = INTS(u64), [FC_C64] = SUMS(c64), [FC_C128] = SUMS(c128),
    [FC_I64] = INTS(i64),
    [FC_F16] = ALL(f16), [FC_BF16] = ALL(bf16), [FC_F32] = ALL(f32), [FC_F64] = ALL(f64),
};

int fc_scan_result(int which, int dtype)
{
    return !table[dtype][which] ? -1 : fc_is_int(dtype) && (which == FC_SCAN_cumsum || which == FC_SCAN_cumprod) ? FC_I64 : dtype;
}

typedef struct { scan_fn run; char *out; int64_t *out2; const char *x; int64_t n, inner, tiles, size, out_size; } job;

static void lines(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t c = k % q->tiles * SCAN_TILE, at = k / q->tiles * q->n * q->inner + c;
        const int64_t width = q->inner - c < SCAN_TILE ? q->inner - c : SCAN_TILE;
        q->run(q->out + at * q->out_size, q->out2 ? q->out2 + at : NULL, q->x + at * q->size, q->n, q->inner, width);
    }
}

int fc_scan_run(int which, int dtype, void *out, int64_t *out2, const void *x, int64_t outer, int64_t n, int64_t inner)
{
    job q = {table[dtype][which], out, out2, x, n, inner, (inner + SCAN_TILE - 1) / SCAN_TILE, fc_dt_size[dtype], 0};
    if (!q.run)
        return fc_fail(FC_DTYPE, dtype, 0, 0, 0);
    q.out_size = fc_dt_size[fc_scan_result(which, dtype)];
    const int64_t units = outer * q.tiles, total = outer * n * inner;
    if (total == 0)
        return FC_OK;
    if (total < SERIAL)
        lines(&q, 0, units);
    else
        fc_parallel(units, 1 + SERIAL / 4 / (total / units + 1), lines, &q);
    return FC_OK;
}
