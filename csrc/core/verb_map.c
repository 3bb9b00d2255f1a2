/* fc_map1, fc_map2, fc_map3 and their scalar forms: elementwise ops. */
#include <math.h>
#include <string.h>

#include "facula.h"
#include "../cpu/map.h"
#include "../cpu/parallel.h"
#include "cast.h"
#include "memory_format.h"
#include "nest.h"
#include "stage.h"
#include "verb.h"

typedef struct {
    int compute, stored, result; /* the cell's input and output dtype; the result tensor's dtype */
} fc_types;

/* Does it divide in int64? Dtypes that have one loop for all machines do: that one divides element by element. */
static int fc_divides_wide(int op, int dtype)
{
    return (dtype == FC_U16 || dtype == FC_U32) && fc_op_has(op, FC_TRAIT_INT64);
}

static int fc_takes_whole_number(int op, int k) { return fc_op_has(op, FC_TRAIT_WHOLE_X << k); }

/* whole: an operand is a number that halves do not round before they compute */
static int fc_map_types(int op, int common, int whole, fc_types *t)
{
    const fc_op_row *row = &fc_ops[op];
    if (row->result_word == FC_RESULT_FLOAT && fc_is_int(common)) {
        if (!fc_op_takes(op, common))
            return fc_fail(FC_DTYPE, common, 0, 0, 0);
        common = fc_default_dtype();
    }
    if (!fc_op_takes(op, common))
        return fc_fail(FC_DTYPE, common, 0, 0, 0);
    t->compute = !whole && fc_is_half(common) && fc_cpu_map_cell(op, common) ? common : fc_divides_wide(op, common) ? FC_I64 : fc_compute_dtype(common);
    t->result = row->result_word == FC_RESULT_BOOL ? FC_BOOL : row->result_word == FC_RESULT_REAL ? fc_real_dtype(common) : common;
    t->stored = row->result_word == FC_RESULT_BOOL ? FC_BOOL : row->result_word == FC_RESULT_REAL ? fc_real_dtype(t->compute) : t->compute;
    return FC_OK;
}

/* A 0-d tensor on the CPU counts as a number beside meta tensors: the operands whose device decides. */
static int fc_without_numbers(int n, fc_tensor *const *x, fc_tensor **placed)
{
    int meta = 0, kept = 0;
    for (int k = 0; k < n; ++k)
        meta |= x[k]->device == FC_META;
    for (int k = 0; k < n; ++k)
        if (!meta || x[k]->ndim || x[k]->device != FC_CPU)
            placed[kept++] = x[k];
    return kept;
}

/* The output of operands in their order of dims. Where one is converted first, to the dtype in which they meet, and has gaps or repeats elements,
 * PyTorch lays out its copy: that one has an opinion. */
static fc_tensor *fc_formed(int op, int dtype, int common, int device, int ndim, const int64_t *shape, int n, fc_tensor *const *x, int from)
{
    const int met = fc_ops[op].result_word == FC_RESULT_FLOAT ? dtype : common;
    fc_tensor *as[3] = { NULL, NULL, NULL }, *copies[3] = { NULL, NULL, NULL };
    for (int k = 0; k < n; ++k) {
        if (k >= from && x[k]->dtype != met && x[k]->ndim > 1 && !fc_is_dense(x[k]))
            copies[k] = fc_new_like_inputs(met, FC_META, x[k]->ndim, x[k]->shape, 1, x + k);
        as[k] = copies[k] ? copies[k] : x[k];
    }
    if (n == 2 && fc_op_has(op, FC_TRAIT_TURNED)) {
        fc_tensor *const first = as[0];
        as[0] = as[1];
        as[1] = first;
    }
    fc_tensor *out = fc_new_like_inputs(dtype, device, ndim, shape, n, as);
    for (int k = 0; k < n; ++k)
        if (copies[k])
            fc_free(copies[k]);
    return out;
}

/* The output of a row of whose operands only x has a say in how it lies (LIKE_X, X_DECIDES, and the real result of a complex operand), or none has
 * (PLAIN). */
static fc_tensor *fc_formed_by_trait(int op, int dtype, int device, int ndim, const int64_t *shape, fc_tensor *x)
{
    if (fc_op_has(op, FC_TRAIT_PLAIN))
        return fc_new(dtype, device, ndim, shape);
    const int whole = !fc_op_has(op, FC_TRAIT_X_DECIDES) && x->ndim == ndim && !memcmp(x->shape, shape, (size_t)ndim * sizeof(int64_t)) && fc_is_dense(x);
    return whole ? fc_new_strided(dtype, device, ndim, shape, x->stride) : fc_new_like_inputs(dtype, device, ndim, shape, 1, &x);
}

/* Beside so few elements a number is written out as often as they are many, and the loop runs as over two tensors. */
enum { FC_COPIES = 64 };

static void fc_repeat(char *data, size_t size, int64_t count)
{
    for (size_t have = size, all = size * (size_t)count; have < all; have *= 2)
        memcpy(data + have, data, have < all - have ? have : all - have);
}

/* A result that somebody holds already counts the write. */
static fc_tensor *fc_written(fc_tensor *out)
{
    if (fc_version(out) || out->refs > 1)
        fc_bump(out);
    return out;
}

/* x[0..n): tensors, the number's stand-in among them as x[number] (or number = -1). */
static fc_tensor *fc_map_run(int op, fc_tensor *out, int n, fc_tensor **x, int number, const fc_scalar *value)
{
    const fc_scalar *scalars = fc_op_scalars(op); /* first: takes what is pending even if the call fails */
    fc_tensor *real[3], *placed[3];
    fc_promotion p = FC_PROMOTION_START;
    int device, nreal = 0;
    for (int k = 0; k < n; ++k)
        if (k != number)
            real[nreal++] = x[k];
    if (fc_check_operands(fc_without_numbers(nreal, real, placed), placed, &device))
        return NULL;
    const int first_real = number == 0 ? 1 : 0;
    const int chooser = fc_op_has(op, FC_TRAIT_CHOOSES);
    for (int k = chooser; k < n; ++k)
        if (k != number)
            fc_promotion_add(&p, x[k]);
    if (number >= 0)
        fc_promotion_add_number(&p, value->kind);
    const int common = fc_promotion_result(&p);
    if (fc_op_has(op, FC_TRAIT_STRICT)) { /* a difference of truth values has no meaning, whatever the other operand is */
        if (number >= 0 && value->kind == FC_KBOOL && !fc_op_takes(op, FC_BOOL)) {
            fc_fail(FC_DTYPE, FC_BOOL, 0, 0, 0);
            return NULL;
        }
        for (int k = 0; k < nreal; ++k)
            if (!fc_op_takes(op, real[k]->dtype)) {
                fc_fail(FC_DTYPE, real[k]->dtype, 0, 0, 0);
                return NULL;
            }
    }
    if (op == FC_OP_addcdiv && fc_is_int(x[1]->dtype) && fc_is_int(x[2]->dtype)) { /* whether the quotient were whole is what nobody should guess */
        fc_fail(FC_DTYPE, x[1]->dtype, 0, 0, 0);
        return NULL;
    }
    if (common < 0) {
        fc_fail(FC_MIXED, 0, x[chooser]->dtype, 1, x[n - 1]->dtype);
        return NULL;
    }
    fc_types types = { 0, 0, 0 };
    int whole = number >= 0 && fc_takes_whole_number(op, number), rounded = 0;
    if (fc_is_half(common))
        for (int k = chooser; k < n; ++k)
            if (k != number && x[k]->dtype != common) {
                const int taken = !x[k]->ndim && fc_takes_whole_number(op, k);
                whole |= taken;
                rounded |= !taken << (k + 1);
            }
    if (fc_map_types(op, common, whole, &types))
        return NULL;
    fc_map_cell cell = fc_cpu_map_cell(op, types.compute);
    const int single = !cell && types.compute == FC_F32; /* some special functions compute in double alone */
    if (single) {
        types.compute = FC_F64;
        types.stored = types.stored == FC_F32 ? FC_F64 : types.stored;
        cell = fc_cpu_map_cell(op, FC_F64);
    }
    if (!cell) {
        fc_fail(FC_DTYPE, common, 0, 0, 0);
        return NULL;
    }
    const int apart = fc_op_has(op, FC_TRAIT_NUMBER_APART) && (number > 0 || (n == 3 && !x[2]->ndim)), formed = n - apart; /* the third is a tensor always */
    if (number >= 0) {
        x[number]->dtype = (uint8_t)types.compute;
        /* rounded or wrapped to the width of its dtype, also where the loop is of a wider one */
        const int held = !whole && fc_is_half(common) ? common : single ? FC_F32 : fc_divides_wide(op, common) ? common : types.compute;
        char *const bytes = x[number]->data;
        fc_store_scalar(held, bytes, value);
        if (held != types.compute) {
            char narrow[8];
            memcpy(narrow, bytes, fc_dt_size[held]);
            fc_convert(types.compute, bytes, held, narrow, 1);
        }
        if (op == FC_OP_pow && number == 1) {
            const double exponent = value->kind < FC_KFLOAT || value->im == 0 ? value->re : NAN;
            const fc_map_cell simple = fc_cpu_pow_cell(types.compute, exponent), of_halves = fc_is_half(common) ? fc_cpu_pow_cell(common, exponent) : NULL;
            if (of_halves)
                types.compute = types.stored = common;
            if (simple || of_halves) { /* the exponent has done its work */
                cell = of_halves ? of_halves : simple;
                number = -1;
                n = 1;
            }
        }
    }

    const int given = n;
    fc_scalar share;
    if (op == FC_OP_lerp && !x[2]->ndim && device != FC_META) { /* whose cell takes one number as a Scalar, where there is no third operand */
        double parts[2];
        fc_convert(FC_C128, parts, x[2]->dtype, x[2]->data, 1);
        share = fc_scalar_of(FC_KCOMPLEX, 0, parts[0], parts[1]);
        scalars = &share;
        n = 2;
    }

    /* the common case: everything contiguous, of one shape and already in the compute dtype */
    fc_tensor *lead = x[first_real];
    int plain = number < 0 || lead->numel <= FC_COPIES;
    for (int k = 0; k < n; ++k)
        plain = plain && (k == number || (x[k]->contiguous && x[k]->dtype == types.compute && x[k]->shape_id == lead->shape_id));
    plain = plain && lead->shape_id >= 0 && types.stored == types.result;
    if (plain && number >= 0)
        fc_repeat(x[number]->data, fc_dt_size[types.compute], lead->numel);

    int ndim = lead->ndim;
    int64_t broadcast[FC_MAX_DIMS];
    const int64_t *shape = lead->shape;
    if (!plain && n > 1) {
        if (fc_broadcast(n, x, &ndim, broadcast))
            return NULL;
        shape = broadcast;
    }
    if (out) {
        if (FC_IS_STALE(out)) {
            fc_fail_stale(out, n);
            return NULL;
        }
        if (fc_check_out(out, types.result, device, ndim, shape))
            return NULL;
        for (int k = 0; k < given; ++k)
            if (k != number && x[k] != out && fc_overlaps_partly(out, x[k])) {
                fc_fail(FC_OVERLAP, k + 1, 0, 0, 0);
                return NULL;
            }
        fc_retain(out);
        const fc_map_cell numbers = types.result == FC_BOOL && out->dtype == types.compute ? fc_cpu_map_number_cell(op, types.compute) : NULL;
        if (numbers) { /* truth values for an output of numbers */
            cell = numbers;
            types.stored = types.compute;
        }
        plain = plain && out->contiguous && out->dtype == types.stored;
    } else {
        const int real_part = fc_ops[op].result_word == FC_RESULT_REAL && fc_is_complex(types.compute);
        const int traits = real_part || fc_op_has(op, FC_TRAIT_PLAIN | FC_TRAIT_LIKE_X | FC_TRAIT_X_DECIDES);
        const int new = plain && (((number < 0 || apart) && !traits) || (lead->numel && !fc_lies_oddly(lead)));
        out = new ? fc_new(types.result, device, ndim, shape)
            : number == 0 && fc_op_has(op, FC_TRAIT_PLAIN_OF_NUMBER) ? fc_new(types.result, device, ndim, shape)
            : traits && number ? fc_formed_by_trait(op, types.result, device, ndim, shape, x[0])
                               : fc_formed(op, types.result, common, device, ndim, shape, formed, x, chooser);
        if (!out)
            return NULL;
    }
    if (device == FC_META)
        return fc_written(out);

    fc_scalar rounded_scalar;
    if (fc_is_half(common) && fc_op_has(op, FC_TRAIT_ROUNDED) && scalars->kind == FC_KFLOAT) {
        char bytes[2];
        float value;
        fc_store_scalar(common, bytes, scalars);
        fc_convert(FC_F32, &value, common, bytes, 1);
        rounded_scalar = fc_scalar_of(FC_KFLOAT, 0, value, 0);
        scalars = &rounded_scalar;
    }

    int fault = 0;
    if (plain && out->numel <= FC_GRAIN) {
        cell(out->data, x[0]->data, n > 1 ? x[1]->data : NULL, n > 2 ? x[2]->data : NULL, scalars, &fault, out->numel);
    } else {
        fc_tensor *ops[4] = { out, x[0], n > 1 ? x[1] : NULL, n > 2 ? x[2] : NULL };
        fc_nest nest;
        fc_nest_build(&nest, n + 1, ops);
        fault = fc_stage_run(&nest, cell, fc_op_has(op, FC_TRAIT_LIGHT), types.compute, types.stored, types.compute == common ? 0 : rounded, common, scalars);
    }
    if (fault) {
        fc_free(out);
        fc_fail(FC_ZERO_DIVISION, 0, 0, 0, 0);
        return NULL;
    }
    return fc_written(out);
}

fc_tensor *fc_map1(int op, fc_tensor *out, fc_tensor *x)
{
    return fc_map_run(op, out, 1, &x, -1, NULL);
}

fc_tensor *fc_map2(int op, fc_tensor *out, fc_tensor *x, fc_tensor *y)
{
    fc_tensor *ops[2] = { x, y };
    return fc_map_run(op, out, 2, ops, -1, NULL);
}

fc_tensor *fc_map3(int op, fc_tensor *out, fc_tensor *x, fc_tensor *y, fc_tensor *z)
{
    fc_tensor *ops[3] = { x, y, z };
    return fc_map_run(op, out, 3, ops, -1, NULL);
}

/* A Python number as operand: a 0-d tensor on the stack; dtype and value are filled in when the common dtype is known. */
#define FC_NUMBER(t, bytes)                                                                              \
    _Alignas(16) char bytes[16 * FC_COPIES];                                                             \
    fc_tensor t = { .numel = 1, .contiguous = 1, .shape_id = -1, .data = bytes }

fc_tensor *fc_map2s(int op, fc_tensor *out, fc_tensor *x, int kind, int64_t i, double re, double im)
{
    const fc_scalar value = fc_scalar_of(kind, i, re, im);
    FC_NUMBER(number, bytes);
    fc_tensor *ops[2] = { x, &number };
    return fc_map_run(op, out, 2, ops, 1, &value);
}

fc_tensor *fc_map2r(int op, fc_tensor *out, int kind, int64_t i, double re, double im, fc_tensor *y)
{
    const fc_scalar value = fc_scalar_of(kind, i, re, im);
    FC_NUMBER(number, bytes);
    fc_tensor *ops[2] = { &number, y };
    return fc_map_run(op, out, 2, ops, 0, &value);
}

#undef FC_NUMBER
