/* Conversion between element types, by the loops of this machine's ISA level. */
#include <string.h>

#include "cast.h"
#include "move.h"
#include "cast_pairs.h"
#include "mathfn.h"

int fc_isa_level(void);

enum { FC_CAST_BLOCK = 1024 }; /* numbers on the way to a third type: within L1 */

/* NULL where fc_convert goes by a third type */
static fc_cast fc_cast_of(int to_dtype, int from_dtype)
{
    const int level = fc_isa_level();
    fc_cast cast = level >= 4 ? fc_casts_v4[from_dtype][to_dtype] : NULL;
    if (!cast && level >= 3)
        cast = fc_casts_v3[from_dtype][to_dtype];
    return cast ? cast : fc_casts_v2[from_dtype][to_dtype];
}

void fc_convert(int to_dtype, void *to, int from_dtype, const void *from, int64_t n)
{
    if (to_dtype == from_dtype && to_dtype != FC_BOOL) {
        if (to != from)
            fc_move_bytes(to, from, (size_t)n * fc_dt_size[to_dtype]);
        return;
    }
    const fc_cast direct = fc_cast_of(to_dtype, from_dtype);
    if (direct) {
        direct(to, from, n);
        return;
    }
    /* halves and float8 by float32, complex numbers by their real parts */
    const int by = from_dtype == FC_C128 && fc_cast_of(to_dtype, FC_F64) ? FC_F64 : FC_F32;
    const fc_cast first = fc_cast_of(by, from_dtype), second = fc_cast_of(to_dtype, by);
    double block[FC_CAST_BLOCK]; /* of either */
    for (int64_t i = 0; i < n; i += FC_CAST_BLOCK) {
        const int64_t count = n - i < FC_CAST_BLOCK ? n - i : FC_CAST_BLOCK;
        first(block, (const char *)from + i * fc_dt_size[from_dtype], count);
        second((char *)to + i * fc_dt_size[to_dtype], block, count);
    }
}

void fc_store_scalar(int dtype, void *to, const fc_scalar *s)
{
    if (fc_is_complex(dtype) || (dtype == FC_BOOL && s->kind == FC_KCOMPLEX)) { /* 1j is true */
        const c128 z = fc_make_c128(s->re, s->im);
        fc_convert(dtype, to, FC_C128, &z, 1);
    } else if (s->kind <= FC_KINT && (fc_is_int(dtype) || s->i >= 0 || s->re < 0)) {
        fc_convert(dtype, to, FC_I64, &s->i, 1);
    } else {
        fc_convert(dtype, to, FC_F64, &s->re, 1);
    }
}
