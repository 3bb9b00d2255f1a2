/* The copies of the machine's ISA level. */
#include "facula.h"
#include "copy_nest.h"

void fc_copy_nest(fc_tensor *out, fc_tensor *x)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_copy_nest_v4 : level == 3 ? fc_copy_nest_v3 : fc_copy_nest_v2)(out, x);
}

void fc_turn(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_turn_v4 : level == 3 ? fc_turn_v3 : fc_turn_v2)(to, to_row, from, from_row, rows, cols, size);
}

void fc_packs(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t bytes, int64_t count)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_packs_v4 : level == 3 ? fc_packs_v3 : fc_packs_v2)(to, to_row, from, from_row, bytes, count);
}

void fc_fill_rows(char *restrict to, int64_t n, const char *restrict from, int64_t from_row, int size, int64_t rows)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_fill_rows_v4 : level == 3 ? fc_fill_rows_v3 : fc_fill_rows_v2)(to, n, from, from_row, size, rows);
}

void fc_seconds(char *restrict to, const char *restrict from, int size, int64_t n)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_seconds_v4 : level == 3 ? fc_seconds_v3 : fc_seconds_v2)(to, from, size, n);
}
