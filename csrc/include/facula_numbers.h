/* The numbers that calls take and give, and that files and other libraries know. They are the library's ABI: append, never reorder. */
#ifndef FACULA_NUMBERS_H
#define FACULA_NUMBERS_H

/* element types */
typedef enum {
    FC_BOOL, FC_U8, FC_I8, FC_I16, FC_I32, FC_I64, FC_U16, FC_U32, FC_U64,
    FC_F16, FC_BF16, FC_F32, FC_F64, FC_C64, FC_C128,
    FC_F8E4M3FN, FC_F8E5M2, FC_F8E4M3FNUZ, FC_F8E5M2FNUZ, FC_F8E8M0FNU, /* to store and convert; float8.h */
    FC_NDTYPES
} fc_dt;

/* devices */
typedef enum { FC_CPU = 0, FC_META = 1, FC_CUDA = 2 } fc_dev;

/* kinds of a scalar operand, which decide promotion */
typedef enum { FC_KBOOL, FC_KINT, FC_KFLOAT, FC_KCOMPLEX } fc_kind;

/* what fc_status() says, and its details */
typedef enum {
    FC_OK = 0,
    FC_MEMORY,         /* details: bytes wanted */
    FC_SHAPE,          /* operands do not broadcast: details: dim (from the end), size x, size y */
    FC_DTYPE,          /* no kernel for this dtype: details: dtype */
    FC_DEVICE,         /* operands on two devices: details: device x, device y */
    FC_DIM,            /* dim out of range: details: dim, ndim */
    FC_INDEX,          /* index out of range: details: index, size, dim */
    FC_ZERO_DIVISION,  /* integer division by zero */
    FC_CAST,           /* result cannot be cast to out: details: result dtype, out dtype */
    FC_OUT_SHAPE,      /* out of the wrong shape where it must fit (in-place): details: dim, size out, size result */
    FC_OVERLAP,        /* out overlaps itself or an input */
    FC_STALE,          /* a view whose base was modified in place with history: ask the tape to rebuild its origin */
    FC_LAYOUT,         /* not a strided tensor */
    FC_ARG,            /* an argument has a value it may not have: details: argument number, value, limit */
    FC_RANK,           /* wrong number of dims: details: argument number, ndim, wanted */
    FC_SIZE,           /* sizes of two arguments must agree: details: argument a, size a, argument b, size b */
    FC_EMPTY,          /* a fold without identity over no elements: details: dim */
    FC_READONLY,       /* writing to memory that was borrowed read-only */
    FC_VIEW,           /* view: strides do not allow it without a copy */
    FC_NUMEL,          /* shape and number of elements disagree: details: numel, wanted */
    FC_MIXED,          /* dtypes of two arguments must agree: details: argument a, dtype a, argument b, dtype b */
    FC_LAZY,           /* a conjugate or negative view, which only views and copies look through: call again with fc_resolve's copy */
    FC_UNRESOLVED      /* such a view has no view of this kind: details: its lazy bits */
} fc_code;

#endif
