/* The conversion loops, one table for each ISA level: [from][to]. Where one has NULL, that of the level below is meant; a half or
 * float8 and another type than float32 have none, and go by way of that (cast.c). */
#ifndef FC_CAST_PAIRS_H
#define FC_CAST_PAIRS_H

#include "dtype.h"
#include "isa.h"

typedef void (*fc_cast)(void *to, const void *from, int64_t n);

extern const fc_cast fc_casts_v2[FC_NDTYPES][FC_NDTYPES], fc_casts_v3[FC_NDTYPES][FC_NDTYPES], fc_casts_v4[FC_NDTYPES][FC_NDTYPES];

/* floats to int32, and to the low 16 and 8 bits of it: of level v3 */
#define FC_CUTS(T) void fc_cut_##T##_i32(void *to, const void *from, int64_t n), fc_cut_##T##_u16(void *to, const void *from, int64_t n), fc_cut_##T##_u8(void *to, const void *from, int64_t n)
FC_CUTS(f32);
FC_CUTS(f64);
#undef FC_CUTS

/* f32 to f16 and back, f32 to bf16 */
void FC_ISA_NAME(fc_narrow_bf16)(void *to, const void *from, int64_t n);
void FC_ISA_NAME(fc_narrow_f16)(void *to, const void *from, int64_t n);
void FC_ISA_NAME(fc_widen_f16)(void *to, const void *from, int64_t n);

#endif
