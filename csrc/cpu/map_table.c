/* Chooses among the elementwise cells by dtype and ISA level. */
#include "facula.h"
#include "../core/isa.h"
#include "../core/ops.h"
#include "../core/ops_map.h"
#include "map.h"

/* Most dtypes have levels v2 and v3; the hot ones a v4 as well, the rare ones v2 alone (build_native.py's HOT and RARE). */
#define FC_HOT(X, v) X(f32, v) X(f64, v)
#define FC_REST(X, v) X(bool, v) X(u8, v) X(i8, v) X(i16, v) X(i32, v) X(i64, v) X(c64, v) X(c128, v)
#define FC_RARE(X) X(u16, v2) X(u32, v2) X(u64, v2)

#define X(dt, v) extern const fc_map_cell fc_map_cells_##dt##_##v[FC_NCELLS];
FC_HOT(X, v2) FC_REST(X, v2) FC_RARE(X)
FC_HOT(X, v3) FC_REST(X, v3)
FC_HOT(X, v4)
#undef X

/* of truth values, written as numbers */
#define X(dt, v) extern const fc_map_cell fc_map_numbers_##dt##_##v[FC_NCELLS];
FC_HOT(X, v2) FC_HOT(X, v3) FC_HOT(X, v4)
#undef X

/* Halves have a few cells (map_half_simd.c); their other rows are staged through float32. */
extern const fc_map_cell fc_map_cells_half_v2[2][FC_NCELLS], fc_map_cells_half_v3[2][FC_NCELLS], fc_map_cells_half_v4[2][FC_NCELLS];

#define LEVEL(hot, rest, half)                                                                                            \
    { [FC_BOOL] = fc_map_cells_bool_##rest, [FC_U8] = fc_map_cells_u8_##rest, [FC_I8] = fc_map_cells_i8_##rest,         \
      [FC_I16] = fc_map_cells_i16_##rest, [FC_I32] = fc_map_cells_i32_##rest, [FC_I64] = fc_map_cells_i64_##rest,       \
      [FC_F16] = fc_map_cells_half_##half[0], [FC_BF16] = fc_map_cells_half_##half[1],                                  \
      [FC_U16] = fc_map_cells_u16_v2, [FC_U32] = fc_map_cells_u32_v2, [FC_U64] = fc_map_cells_u64_v2,       \
      [FC_F32] = fc_map_cells_f32_##hot, [FC_F64] = fc_map_cells_f64_##hot, [FC_C64] = fc_map_cells_c64_##rest,         \
      [FC_C128] = fc_map_cells_c128_##rest }

static const fc_map_cell *const fc_map_levels[3][FC_NDTYPES] = { LEVEL(v2, v2, v2), LEVEL(v3, v3, v3), LEVEL(v4, v3, v4) };

/* 1 + the cell of an op; 0 for rows that have none. */
static const uint16_t fc_cell_of[FC_NOPS] = {
#define FC_MAP1(name, ...) [FC_OP_##name] = FC_CELL_##name + 1,
#define FC_MAP2(name, ...) [FC_OP_##name] = FC_CELL_##name + 1,
#define FC_MAP3(name, ...) [FC_OP_##name] = FC_CELL_##name + 1,
#include "../core/ops_skip.h"
#include "../ops.def"
#include "../core/ops_done.h"
};

fc_map_cell fc_cpu_map_cell(int op, int dtype)
{
    const int level = fc_isa_level(), place = fc_cell_of[op];
    const fc_map_cell *cells = fc_map_levels[level - 2][dtype];
    if (!cells || !place)
        return 0;
    return cells[place - 1] || level < 4 ? cells[place - 1] : fc_map_levels[1][dtype][place - 1]; /* v4 has no special functions */
}

fc_map_cell fc_cpu_map_number_cell(int op, int dtype)
{
    const int level = fc_isa_level(), place = fc_cell_of[op], wide = dtype == FC_F64;
    const fc_map_cell *const cells[3][2] = { { fc_map_numbers_f32_v2, fc_map_numbers_f64_v2 }, { fc_map_numbers_f32_v3, fc_map_numbers_f64_v3 },
                                             { fc_map_numbers_f32_v4, fc_map_numbers_f64_v4 } };
    return place && (wide || dtype == FC_F32) ? cells[level - 2][wide][place - 1] : 0;
}
