/*
 * The call record of an OWN op.
 *
 * A row FC_OWN(name, ...) names two functions in one file (cpu/<...>/<name>.c):
 *
 *   int fc_infer_<name>(fc_call *c)   checks the arguments, declares every result with fc_declare(), sets c->scratch_bytes.
 *                                     Touches no data (meta tensors come here too). Shared by all backends.
 *   int fc_cpu_<name>(fc_call *c)     computes c->out[] from c->t[].
 *
 * Both return FC_OK or fc_fail(...). What the core does around them:
 *   - c->t[k] are the tensor arguments in signature order, NULL where absent. Before run they are contiguous, and
 *     float16/bfloat16 ones arrive as float32 (results are rounded back once), unless the row has AS_IT_LIES or infer set bit k of c->halves, and
 *     spec.half. Where it set bit k of c->as_is, argument k comes as it lies, or, widened, lies the same way; where it set spec.direct, the kernel writes that result in its
 *     format. Arguments marked "!" in the signature
 *     (written in place) keep identity: the core hands a contiguous float32 staging copy and copies it back where needed.
 *   - int, bool and int[n] arguments lie flat in c->i[] in signature order, int[] behind its length; float arguments in c->d[] likewise.
 *     A Tensor[] list contributes its tensors to c->t[] and its length to c->len[] (in order of the lists).
 *   - results are allocated contiguous, or are the caller's `out` after a check.
 *   - where infer set c->slabs, large arguments that are to be staged come slab by slab, with results of that size.
 *   - scratch is an arena block of scratch_bytes, 64-byte aligned, uninitialised.
 */
#ifndef FC_CALL_H
#define FC_CALL_H

#include "tensor.h"

#define FC_MAX_OUT 6
#define FC_MAX_INTS 136 /* padding has two for each dim */
#define FC_MAX_DOUBLES 16
#define FC_MOST_STEP INT32_MAX /* what a window's kernel, stride, padding and dilation may be, so that sums of their products fit */

typedef struct {
    int dtype, ndim;
    int format; /* as fc_to's memory_format, 1 as the first argument lies; 0 after fc_declare. The kernel writes contiguously, the core rearranges, but where */
    int direct; /* this is set: the result is allocated in its format; 0 after fc_declare */
    int strided; /* the kernel heeds the strides of the first argument where it is to write over that; 0 after fc_declare */
    int half;   /* a result of halves is allocated so, not as float32; 0 after fc_declare */
    int64_t shape[FC_MAX_DIMS];
} fc_spec;

typedef struct fc_call {
    int op;
    int nt, ni, nd, nout, nlists;
    unsigned as_is;
    unsigned halves;      /* arguments whose halves stay what they are; 0 before infer */
    unsigned slabs;       /* the dims along which the call may be cut, by bits; 0 after fc_own */
    unsigned cut, whole;  /* arguments that have those dims, of any other every slab takes the whole; results that have not, and are empty */
    fc_tensor **t;
    int64_t i[FC_MAX_INTS];
    double d[FC_MAX_DOUBLES];
    int len[8];
    fc_spec spec[FC_MAX_OUT];
    fc_tensor *out[FC_MAX_OUT];
    fc_tensor *into;      /* the caller's, whose memory takes result 0; NULL: a new tensor's does */
    size_t scratch_bytes;
    void *scratch;
} fc_call;

/* Declare result k; shape NULL with ndim 0 is a scalar. Returns FC_OK, or fails where sizes overflow. */
int fc_declare(fc_call *c, int k, int dtype, int ndim, const int64_t *shape);

/* As bits: the dims before n, and one of them; no more dims than there are bits, and none before a negative n, which is refused elsewhere. */
static inline unsigned fc_dims_below(int n) { return n >= 0 && n < 32 ? (1u << n) - 1 : 0; }
static inline unsigned fc_dim_bit(int64_t d) { return d < 32 ? 1u << d : 0; }

typedef int (*fc_own_fn)(fc_call *);

/* Typed data pointers, for kernels. */
#define FC_DATA(type, tensor) ((type *)(tensor)->data)

#endif
