/*
 * The nest: one loop nest over up to four operands, operand 0 being the output.
 *
 * Built once for all kernels: shapes are broadcast against the output, dims are put in the order of the strides (fastest first,
 * PyTorch's rule, which also decides the strides of a new output), dims of size 1 go, and dims that all operands walk
 * with one stride are merged. The nest picks the order in which elements are visited, never the order in which a sum runs.
 */
#ifndef FC_NEST_H
#define FC_NEST_H

#include "tensor.h"

#define FC_NEST_OPERANDS 4
#define FC_SHORT_OPERAND 256 /* elements of a row, up to which fc_nest_gather brings many of them at once if they lie well */

typedef struct {
    int ndim;                       /* after merging; 0 for one element */
    int nops;
    int64_t total;
    int64_t size[FC_MAX_DIMS];      /* fastest first */
    int64_t stride[FC_NEST_OPERANDS][FC_MAX_DIMS]; /* bytes */
    char *data[FC_NEST_OPERANDS];
    int dtype[FC_NEST_OPERANDS];    /* of the memory */
} fc_nest;

/* Broadcast shape of n operands; fails with FC_SHAPE. NULL operands are skipped. */
int fc_broadcast(int n, fc_tensor *const *x, int *ndim, int64_t *shape);

/* A new output of this shape with PyTorch's strides for these inputs (all of them broadcastable to shape). */
fc_tensor *fc_new_like_inputs(int dtype, int device, int ndim, const int64_t *shape, int n, fc_tensor *const *x);

/* op[0] = out, already of the right shape; op[1..n-1] inputs. */
void fc_nest_build(fc_nest *nest, int n, fc_tensor *const *op);

/* Whether writing t through its strides would write one element twice. */
int fc_overlaps_itself(const fc_tensor *t);

/* Whether t and x share memory, as far as is known. */
int fc_overlaps(const fc_tensor *t, const fc_tensor *x);

/* Whether t and x share memory in another way than element by element. */
int fc_overlaps_partly(const fc_tensor *t, const fc_tensor *x);

/* An operand's walk through the nest, block by block. */
typedef struct { int64_t index[FC_MAX_DIMS]; } fc_nest_at;
void fc_nest_seek(const fc_nest *nest, int64_t position, fc_nest_at *at);
void fc_nest_step(const fc_nest *nest, int64_t count, fc_nest_at *at);
/* One element of `size` bytes, n times: an operand that is broadcast along a row. */
void fc_fill_same(void *to, const void *from, int size, int64_t n);

/* Copies `count` elements of operand k, from `at` on, into contiguous memory; or from it back. */
void fc_nest_gather(const fc_nest *nest, int k, const fc_nest_at *at, int64_t count, void *to);
void fc_nest_scatter(const fc_nest *nest, int k, const fc_nest_at *at, int64_t count, const void *from);

#endif
