/* Conversion between element types, by the loops of this machine's ISA level. */
#include <string.h>

#include "cast.h"
#include "move.h"
#include "cast_pairs.h"
#include "mathfn.h"

int fc_isa_level(void);

void fc_convert(int to_dtype, void *to, int from_dtype, const void *from, int64_t n)
{
    if (to_dtype == from_dtype && to_dtype != FC_BOOL) {
        if (to != from)
            fc_move_bytes(to, from, (size_t)n * fc_dt_size[to_dtype]);
        return;
    }
    const int level = fc_isa_level();
    fc_cast cast = level >= 4 ? fc_casts_v4[from_dtype][to_dtype] : NULL;
    if (!cast && level >= 3)
        cast = fc_casts_v3[from_dtype][to_dtype];
    if (!cast)
        cast = fc_casts_v2[from_dtype][to_dtype];
    cast(to, from, n);
}

void fc_store_scalar(int dtype, void *to, const fc_scalar *s)
{
    if (fc_is_complex(dtype)) {
        const c128 z = fc_make_c128(s->re, s->im);
        fc_convert(dtype, to, FC_C128, &z, 1);
    } else if (s->kind <= FC_KINT) {
        fc_convert(dtype, to, FC_I64, &s->i, 1);
    } else {
        fc_convert(dtype, to, FC_F64, &s->re, 1);
    }
}
