/* Type promotion; see promote.h. */
#include "convert.h"
#include "facula.h"
#include "promote.h"

const uint8_t fc_dt_size[FC_NDTYPES] = { 1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 8, 16, 1, 1, 1, 1, 1 };

enum { X = -2 }; /* uint16..64 mixed with another integer or a complex type: no common type, as in PyTorch */

/* rows and columns in the order of fc_dt: bool u8 i8 i16 i32 i64 u16 u32 u64 f16 bf16 f32 f64 c64 c128. A float8 has no common type with another. */
static const int8_t fc_promotions[FC_F8E4M3FN][FC_F8E4M3FN] = {
    { 0, 1, 2, 3, 4, 5, X, X, X, 9, 10, 11, 12, 13, 14 },
    { 1, 1, 3, 3, 4, 5, X, X, X, 9, 10, 11, 12, 13, 14 },
    { 2, 3, 2, 3, 4, 5, X, X, X, 9, 10, 11, 12, 13, 14 },
    { 3, 3, 3, 3, 4, 5, X, X, X, 9, 10, 11, 12, 13, 14 },
    { 4, 4, 4, 4, 4, 5, X, X, X, 9, 10, 11, 12, 13, 14 },
    { 5, 5, 5, 5, 5, 5, X, X, X, 9, 10, 11, 12, 13, 14 },
    { X, X, X, X, X, X, 6, X, X, 9, 10, 11, 12, X, X },
    { X, X, X, X, X, X, X, 7, X, 9, 10, 11, 12, X, X },
    { X, X, X, X, X, X, X, X, 8, 9, 10, 11, 12, X, X },
    { 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 11, 11, 12, 13, 14 },
    { 10, 10, 10, 10, 10, 10, 10, 10, 10, 11, 10, 11, 12, 13, 14 },
    { 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 12, 13, 14 },
    { 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 14, 14 },
    { 13, 13, 13, 13, 13, 13, X, X, X, 13, 13, 13, 14, 13, 14 },
    { 14, 14, 14, 14, 14, 14, X, X, X, 14, 14, 14, 14, 14, 14 },
};

static int fc_default_float = FC_F32;

void fc_set_default_dtype(int dtype) { fc_default_float = dtype; }
int fc_default_dtype(void) { return fc_default_float; }

double fc_as_default(double x)
{
    switch (fc_default_float) {
    case FC_F64:  return x;
    case FC_F16:  return fc_f16_to_f32(fc_f32_to_f16((f32)x));
    case FC_BF16: return fc_bf16_to_f32(fc_f32_to_bf16((f32)x));
    default:      return (f32)x;
    }
}

static int fc_is_real_float(int dt) { return fc_is_float(dt) || fc_is_float8(dt); }

static int fc_category(int dt) { return dt == FC_BOOL ? 0 : fc_is_int(dt) ? 1 : fc_is_real_float(dt) ? 2 : 3; }

static int fc_complex_of(int dt) { return dt == FC_F64 ? FC_C128 : FC_C64; }

/* Negative where the two have no common type. */
static int fc_promote_pair(int a, int b)
{
    if (a < 0 || b < 0)
        return a == -1 ? b : b == -1 ? a : X;
    return a == b ? a : fc_is_float8(a) || fc_is_float8(b) ? X : fc_promotions[a][b];
}

int fc_promote_types(int a, int b)
{
    const int r = fc_promote_pair(a, b);
    if (r < 0)
        fc_fail(FC_MIXED, 0, a, 1, b);
    return r;
}

int fc_can_cast(int from, int to)
{
    const int f = fc_category(from), t = fc_category(to);
    return f <= t;
}

void fc_promotion_add(fc_promotion *p, const fc_tensor *x)
{
    int *slot = x->ndim ? &p->dims : &p->zero;
    *slot = fc_promote_pair(*slot, x->dtype);
}

void fc_promotion_add_number(fc_promotion *p, int kind)
{
    const int dt = kind == FC_KBOOL ? FC_BOOL : kind == FC_KINT ? FC_I64
                 : kind == FC_KFLOAT ? fc_default_float : fc_complex_of(fc_default_float);
    p->number = fc_promote_pair(p->number, dt);
}

/* The higher-priority operand wins unless the lower one is of a higher category. */
static int fc_combine(int higher, int lower)
{
    if (higher < 0 || lower < 0)
        return higher == -1 ? lower : lower == -1 ? higher : X;
    if (fc_is_complex(higher))
        return higher;
    if (fc_is_real_float(higher))
        return fc_is_complex(lower) ? (fc_is_float8(higher) ? X : fc_complex_of(higher)) : higher;
    if (higher == FC_BOOL || fc_is_real_float(lower) || fc_is_complex(lower))
        return fc_is_int(lower) ? (higher == FC_BOOL ? lower : fc_promote_pair(higher, lower)) : lower;
    return higher;
}

int fc_promotion_result(const fc_promotion *p)
{
    return fc_combine(p->dims, fc_combine(p->zero, p->number));
}

int fc_result_type2(fc_tensor *x, fc_tensor *y)
{
    fc_promotion p = FC_PROMOTION_START;
    fc_promotion_add(&p, x);
    fc_promotion_add(&p, y);
    const int r = fc_promotion_result(&p);
    if (r < 0)
        fc_fail(FC_MIXED, 0, x->dtype, 1, y->dtype);
    return r;
}

int fc_result_type_scalar(fc_tensor *x, int kind)
{
    fc_promotion p = FC_PROMOTION_START;
    fc_promotion_add(&p, x);
    fc_promotion_add_number(&p, kind);
    return fc_promotion_result(&p);
}
