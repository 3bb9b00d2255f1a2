/*
 * Convolution as a matrix product whose one operand is never formed.
 *
 * Spatial dims are always three here, d h w, absent ones of size 1. "big" is the input of a convolution, "small" its
 * output; a transposed convolution goes from small to big.
 *
 *   small[n, o, j] = sum over c, t of weight[o, c, t] * big[n, c, j * stride - pad + t * dilation]
 */
#ifndef FC_CONV_H
#define FC_CONV_H

#include "../../core/call.h"
#include "../gemm_args.h"

typedef struct {
    int dtype, ndim;                 /* ndim: of the tensors, 2 + spatial */
    int pairs;                       /* of bfloat16: elements are pairs of channels, or of samples, and sums and dtype float32; conv_pairs.c */
    int last;                        /* big and small lie channels_last */
    int weight_last;                 /* and so does the weight, where kernels can tell */
    int64_t batch, groups;
    int64_t big_ch, small_ch;        /* channels per group */
    int64_t big[3], small[3], kernel[3], stride[3], pad[3], dilation[3];
    int64_t big_n, small_n, taps;    /* elements of a plane; places of the kernel */
    int64_t given[3], given_taps, first[3]; /* the kernel before fc_conv_trim, and where in it this one begins */
} fc_conv;

/* conv_trim.c: leaves out taps that meet padding alone; moves dims of one place to the front; copies the taps that are left out of a
 * weight, or a gradient of them back into one. */
void fc_conv_trim(fc_conv *v);
void fc_conv_flatten(fc_conv *v);
void fc_conv_pick_taps(const fc_conv *v, void *few, const void *all);
void fc_conv_spread_taps(const fc_conv *v, const void *few, void *all);

/* Whether kernels read and write channels_last in place, in one of the directions (conv_last.c). */
enum { FC_CONV_TO_SMALL, FC_CONV_TO_BIG, FC_CONV_WEIGHT };
enum { FC_CONV_LAST_NOT, FC_CONV_LAST_SAME, FC_CONV_LAST_DENSE }; /* SAME: the weight is the same memory in both formats */
int fc_conv_takes_last(const fc_conv *v, int direction);

/* conv_pairs.c: whether v goes by pairs; bytes that they take; and making them, after which v is of pairs, x and other (the weight, or in its
 * gradient big beside small) are those, and room is what is left of it. */
int fc_conv_takes_pairs(const fc_conv *v, int direction);
size_t fc_conv_pair_bytes(const fc_conv *v, int direction);
void fc_conv_pair(fc_conv *v, int direction, const void **x, const void **other, void **room);

/* A product's type. */
#define FC_CONV_PRODUCT(v) .dtype = (v)->pairs ? FC_BF16 : (v)->dtype, .pairs = (v)->pairs, .wide = (v)->pairs
int fc_conv_product(const fc_conv *v, fc_gemm_args *p); /* of matrices as they lie */

/* Is small one place, whose taps are all of big? Then every direction is a product of matrices as they lie. */
int fc_conv_is_whole(const fc_conv *v);

/* The three directions (conv_run.c); room: fc_conv_words of int64, for offsets of taps and columns. FC_OK or FC_MEMORY. */
int64_t fc_conv_words(const fc_conv *v);
int fc_conv_to_small(const fc_conv *v, void *small, const void *big, const void *weight, const void *bias, int64_t *room);
int fc_conv_to_big(const fc_conv *v, void *big, const void *small, const void *weight, const void *bias, int64_t *room);
int fc_conv_weight(const fc_conv *v, void *weight, const void *small, const void *big, int64_t *room);

/*
 * The operand that is never formed: lines are positions (n, d, h, w), k is (channel, tap). Position j and tap t of a dim
 * read source index j * step + off[t], and zero where there is none.
 */
typedef struct {
    const char *source;              /* of this group; channels are `plane` elements apart, samples `sample` */
    int dtype;
    int64_t plane, sample;
    int64_t size[3], count[3], step[3], ntaps[3];
    const int64_t *off[3];
    int64_t positions, taps;         /* products of count and ntaps */
    int folded;                      /* lines run over the samples too; else the sample is the product's number */
} fc_window;

/* Packing functions for fc_gemm_args; the operand is a const fc_window *. */
void fc_pack_window(const void *x, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch, int64_t first,
                    int64_t lines, int64_t k0, int64_t depth);            /* lines: positions, k: channels and taps */
void fc_pack_window_turned(const void *x, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch,
                           int64_t first, int64_t lines, int64_t k0, int64_t depth); /* the transpose, all samples along k */

/* Where position (d, h, w) goes in a plane of the result: index start + position * step of each dim. */
typedef struct { int64_t start[3], step[3], size[3]; } fc_conv_places;

/* Bytes from one group's operands to the next one's. */
typedef struct { int64_t groups, a, bias, c, source; } fc_conv_groups;

/* The product with that operand as b (or, turned, as a) without packing it: conv_shift.c. -1: not for this one, use fc_gemm_run.
 * p has everything but b, N and c_at, for the first group; or, turned, everything but a. With pack_a, a is a fc_two_level. */
int fc_conv_shifted(const fc_gemm_args *p, const fc_window *x, int64_t channels, const fc_conv_places *to, const fc_conv_groups *each);
int fc_conv_turned(fc_gemm_args *p, const fc_window *x, int64_t channels, int64_t batch);

/* A matrix whose k is two-level: line l, k = (outer, inner) at l * line + outer * far + place[inner] (place NULL: inner). */
typedef struct {
    const char *data;
    int64_t line, far, inner;
    const int64_t *place;
    int planes;                      /* complex numbers: real and imaginary parts apart */
} fc_two_level;

void fc_pack_two_level(const void *x, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch, int64_t first,
                       int64_t lines, int64_t k0, int64_t depth);

/* The three directions of tensors that lie channels_last. */
int fc_conv_last(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big);
int fc_conv_last_weight(const fc_conv *v, void *weight, const void *small, const void *big);

int fc_conv_dense_last(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big);

/* Integers, modulo 2^bits, one product at a time: small from big, or with to_big the other way round. */
void fc_conv_integers(const fc_conv *v, void *out, const void *x, const void *weight, const void *bias, int to_big);

#endif
