/* Status codes: C computes, Python explains. `fc_fail` stores the code with up to four details and returns it. */
#ifndef FC_STATUS_H
#define FC_STATUS_H

#include <stdint.h>

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

/* Of functions that may find no memory: who drops their answer returns what malloc left in the result */
#if defined(__GNUC__)
#define FC_CHECKED __attribute__((warn_unused_result))
#else
#define FC_CHECKED
#endif

int fc_fail(fc_code code, int64_t a, int64_t b, int64_t c, int64_t d);

#endif
