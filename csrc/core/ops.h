/* Op numbers and what the table says of them. Numbers are positions in ops.def: never stored outside a process. */
#ifndef FC_OPS_H
#define FC_OPS_H

#include "dtype.h"

typedef enum {
#define FC_MAP1(name, ...) FC_OP_##name,
#define FC_MAP2(name, ...) FC_OP_##name,
#define FC_MAP3(name, ...) FC_OP_##name,
#define FC_FOLD(name, ...) FC_OP_##name,
#define FC_SCAN(name, ...) FC_OP_##name,
#define FC_DOT(name, ...) FC_OP_##name,
#define FC_GATHER(name, ...) FC_OP_##name,
#define FC_VIEW(name, ...) FC_OP_##name,
#define FC_OWN(name, ...) FC_OP_##name,
#define FC_RANDOM(name, ...) FC_OP_##name,
#define FC_TO(name, ...) FC_OP_##name,
#define FC_PLACE(name, ...) FC_OP_##name,
#define FC_HOST(name, ...) FC_OP_##name,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    FC_NOPS
} fc_op_id;

typedef enum { FC_ROW_MAP1, FC_ROW_MAP2, FC_ROW_MAP3, FC_ROW_FOLD, FC_ROW_SCAN, FC_ROW_DOT, FC_ROW_GATHER, FC_ROW_VIEW, FC_ROW_OWN, FC_ROW_RANDOM, FC_ROW_TO, FC_ROW_PLACE, FC_ROW_HOST } fc_row_kind;
typedef enum { FC_RESULT_SAME, FC_RESULT_BOOL, FC_RESULT_WIDE, FC_RESULT_FLOAT, FC_RESULT_REAL, FC_RESULT_INDEX } fc_result_word;

typedef struct {
    const char *name, *kind, *signature, *types, *result, *body, *doc;
    uint8_t row, result_word;
    uint32_t mask; /* bit per dtype */
} fc_op_row;

extern const fc_op_row fc_ops[FC_NOPS];

/* The words of FC_TRAITS, bit by bit: ops.def says what they mean. WHOLE_X << k is that of operand k. */
enum {
    FC_TRAIT_WHOLE_X = 1, FC_TRAIT_WHOLE_Y = 2, FC_TRAIT_WHOLE_Z = 4, FC_TRAIT_LIGHT = 8, FC_TRAIT_ROUNDED = 16, FC_TRAIT_INT64 = 32,
    FC_TRAIT_STRICT = 64, FC_TRAIT_CHOOSES = 128, FC_TRAIT_AS_IT_LIES = 256, FC_TRAIT_PLAIN = 512, FC_TRAIT_LIKE_X = 1024, FC_TRAIT_X_DECIDES = 2048,
    FC_TRAIT_OVER = 4096, FC_TRAIT_NUMBER_APART = 8192, FC_TRAIT_PLAIN_OF_NUMBER = 16384, FC_TRAIT_TURNED = 32768
};

extern const uint16_t fc_op_traits[FC_NOPS];

static inline int fc_op_has(int op, int trait) { return (fc_op_traits[op] & trait) != 0; }

static inline int fc_op_takes(int op, int dtype) { return fc_ops[op].mask >> dtype & 1; }

/* The Scalars of this call: defaults from the signature, overridden by what fc_attr left pending (and takes it). NULL for none. */
const fc_scalar *fc_op_scalars(int op);

fc_scalar fc_scalar_of(int kind, int64_t i, double re, double im);

#endif
