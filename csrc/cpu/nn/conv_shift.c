/*
 * Convolution without a column buffer: where taps read is the same for every position, but for a shift.
 *
 * A padded copy of the source is laid out so that positions are flat: position (d, h, w) is number (d * e1 + h) * e2 + w, tap t
 * of channel c reads at that number plus b_at[c, t], and neighbours read neighbours. Rows of the copy are longer than rows of
 * the result, so a few columns of the product mean nothing; they are computed and dropped. With a stride, the copy keeps
 * positions of each residue together ("phases"), which makes every tap dense again. Where there is nothing to pad and no
 * stride, the source itself will do. Rows of whole vectors are taken vector by vector, and then nothing is dropped.
 *
 * Small planes would drop too many columns. There, positions of all samples in a row are the columns, without gaps: what taps read
 * is packed from the copy, in stretches of a row each.
 *
 * The gradient by the weight reads the padded source one element at a time instead: a[c, t][position] broadcast over the
 * channels of the other side, which are packed as columns.
 *
 * Both are the sums of gemm.h over the same k as with packed columns, padding counted as zeros.
 */
#include "conv_layout.h"

#include "../../core/atomic.h"
#include "../../core/status.h"
#include "../../include/facula.h"
#include "../gemm_blocks.h"
#include "../parallel.h"

#define GROUPED_WORK (128 << 10) /* fma: about 5 us on each of two threads, with tables and copies */
#define SLACK 64 /* bytes that a stretch's last vector may read beyond it */
#define PACKING 10
#define FEW_COLUMNS 512 /* packing a costs about as much as 10 columns of products */
#define FEW_BYTES (16 << 10)  /* of a: in the first cache wherever it lies, and its rows can be cut anywhere */
#define CHUNK_BYTES (512 << 10) /* copies of so many samples at a time: they stay in the outer caches until they are read */
#define PACKED_CHUNK_BYTES (2 << 20) /* read once for each block of k: longer products are worth more */

static int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

/* --- positions as columns ------------------------------------------------------------------------------------------- */

typedef struct {
    fc_gemm_args p;
    fc_window x;
    const fc_conv_groups *each;
    int64_t channels;
    const fc_conv_places *to;
    fc_conv_layout l;
    int64_t flat, samples;        /* columns of a sample's product; samples in a chunk */
    int packed;                   /* one product of all samples, columns without gaps */
    int vectors, straight;        /* elements of one, where rows of positions are whole vectors; columns lie in c as they come */
    const int64_t *k_at;
    const char *from;             /* the copies, where packed */
    int64_t room_at, b_at, from_at, c_at, packed_at, copy_at;
    int *status;
} shifted;

#define WIDEST 32 /* columns of a panel */

/* Columns are the positions of sample after sample. */
static void pack_positions(const void *operand, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch, int64_t first,
                           int64_t lines, int64_t k0, int64_t depth)
{
    (void)batch;
    const shifted *s = operand;
    const int64_t *count = s->x.count, *extent = s->l.extent, sample = s->l.channel * s->l.channels;
    int64_t n = first / s->x.positions, w = first % s->x.positions % count[2], row = first % s->x.positions / count[2];
    for (int64_t at = 0; at < lines; at += width) {
        const int64_t here = lines - at < width ? lines - at : width;
        fc_gemm_stretch runs[WIDEST];
        int found = 0;
        for (int64_t lane = 0; lane < here;) {
            const int64_t left = count[2] - w, most = here - lane < left ? here - lane : left;
            runs[found++] = (fc_gemm_stretch){ (int)lane, (int)most, n * sample + (row / count[1] * extent[1] + row % count[1]) * extent[2] + w };
            lane += most;
            w += most;
            if (w < count[2]) continue;
            w = 0;
            if (++row == count[0] * count[1]) row = 0, ++n;
        }
        kernel->pack_runs((char *)panels + at * depth * kernel->size, s->from, s->k_at + k0, depth, runs, found, (int)here);
    }
}

static void run_shifted(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    shifted own = *(const shifted *)ctx, *s = &own;
    fc_gemm_args *p = &s->p;
    const fc_window *x = &s->x;
    fc_conv_layout *l = &s->l;
    const int64_t taps = x->taps, size = fc_dt_size[x->dtype];
    fc_conv_lay_out(l, x, s->channels, 1, (int64_t *)((char *)scratch + s->room_at));
    int64_t *b_at = (int64_t *)((char *)scratch + s->b_at), *c_at = (int64_t *)((char *)scratch + s->c_at);
    l->bare = l->bare && !s->packed;
    const int64_t pitch = l->bare ? x->plane : l->channel;
    for (int64_t t = 0; t < taps; ++t) b_at[t] = fc_conv_tap_at(l, t);
    for (int64_t k = taps; k < p->K; ++k) b_at[k] = b_at[k - taps] + pitch;
    const fc_conv_places *to = s->to;
    const int gaps = !s->packed && !s->vectors; /* among the columns */
    const int64_t rows = gaps ? l->extent[1] : x->count[1], cols = gaps ? l->extent[2] : x->count[2];
    p->c_at = s->straight ? NULL : c_at;
    for (int64_t n = 0; n < (s->straight ? 0 : s->packed ? s->samples : 1); ++n)
        for (int64_t d = 0; d < x->count[0]; ++d)
            for (int64_t h = 0; h < rows; ++h)
                for (int64_t w = 0; w < cols && (!gaps || c_at - p->c_at < s->flat); ++w)
                    *c_at++ = h >= x->count[1] || w >= x->count[2] ? -1
                            : n * p->c_batch + ((to->start[0] + d * to->step[0]) * to->size[1] + to->start[1] + h * to->step[1]) * to->size[2] +
                                  to->start[2] + w * to->step[2];
    if (s->packed) {
        s->k_at = b_at;
        s->from = (char *)scratch + s->copy_at;
        p->b = s;
        p->pack_b = pack_positions;
    } else {
        p->b_at = b_at;
        p->N = s->flat;
        if (s->vectors) {
            int64_t *from = (int64_t *)((char *)scratch + s->from_at);
            p->N = x->positions;
            p->b_from = from;
            for (int64_t at = 0; at < x->positions; at += s->vectors) {
                const int64_t row = at / x->count[2];
                *from++ = (row / x->count[1] * l->extent[1] + row % x->count[1]) * l->extent[2] + at % x->count[2];
            }
        }
    }
    const fc_gemm_args first = *p;
    const fc_two_level *const weights = p->pack_a ? p->a : NULL;
    fc_two_level two;
    for (int64_t g = begin; g < end; ++g) {
        p->a = (const char *)first.a + g * s->each->a;
        if (weights) {
            two = *weights;
            two.data += g * s->each->a;
            p->a = &two;
        }
        p->bias = first.bias ? (const char *)first.bias + g * s->each->bias : NULL;
        s->x.source = ((const shifted *)ctx)->x.source + g * s->each->source;
        if (s->packed_at) {
            fc_gemm_pack_whole(p, (char *)scratch + s->packed_at);
            p->a_packed = (char *)scratch + s->packed_at;
        }
        const int64_t batch = first.batch, threads = fc_get_num_threads();
        char *const c = (char *)first.c + g * s->each->c;
        int bad = FC_OK;
        for (int64_t n = 0; n < batch && !bad; n += s->samples) {
            const int64_t here = batch - n < s->samples ? batch - n : s->samples;
            p->c = c + n * p->c_batch * size;
            p->batch = s->packed ? 1 : here;
            if (s->packed)
                p->N = here * x->positions;
            if (l->bare) {
                p->b = x->source + n * x->sample * size;
                p->b_batch = x->sample;
            } else {
                fc_conv_copy(l, (char *)scratch + s->copy_at, n, here, here < threads ? threads : 1);
                if (!s->packed) {
                    p->b = (char *)scratch + s->copy_at;
                    p->b_batch = l->channel * l->channels;
                }
            }
            bad = fc_gemm_run(p);
        }
        if (bad) fc_atomic_poke(s->status, bad);
    }
}

int fc_conv_shifted(const fc_gemm_args *given, const fc_window *x, int64_t channels, const fc_conv_places *to, const fc_conv_groups *each)
{
    if (fc_is_complex(given->dtype) || !x->taps || !x->positions)
        return -1;
    int status = FC_OK;
    shifted s = { .p = *given, .x = *x, .each = each, .channels = channels, .to = to, .status = &status };
    fc_gemm_args *const p = &s.p;
    const int64_t size = fc_dt_size[x->dtype], tap_room = 3 * (x->ntaps[0] + x->ntaps[1] + x->ntaps[2]);
    int64_t few[3 * 64], bytes = 0;
    if (tap_room > 3 * 64)
        return -1;
    fc_conv_lay_out(&s.l, x, channels, 1, few);
    s.flat = fc_conv_flat(&s.l);
    const int64_t lanes = fc_gemm_kernel_for(p->dtype)->nr / 2;
    s.vectors = x->count[2] % lanes ? 0 : (int)lanes;
    /* vectors times rows; packing one costs about as much as PACKING rows of products */
    s.packed = !s.vectors && round_up(p->batch * x->positions, lanes) * (p->M + PACKING) < p->batch * round_up(s.flat, lanes) * p->M;
    s.l.bare = s.l.bare && !s.packed;
    const int64_t sample = s.l.channel * channels * size, chunk = s.packed ? PACKED_CHUNK_BYTES : CHUNK_BYTES;
    s.samples = s.l.bare ? p->batch : chunk / sample < 1 ? 1 : chunk / sample;
    if (s.samples > p->batch) s.samples = p->batch;
#define PLACE(at, n) (s.at = bytes, bytes += round_up((int64_t)(n), 64))
    PLACE(room_at, tap_room * 8);
    PLACE(b_at, p->K * 8);
    s.straight = s.vectors != 0;
    for (int d = 0; d < 3; ++d)
        s.straight = s.straight && to->start[d] == 0 && to->step[d] == 1 && to->size[d] == x->count[d];
    PLACE(from_at, s.vectors ? x->positions / lanes * 8 : 0);
    PLACE(c_at, s.straight ? 0 : (s.packed ? s.samples : 1) * (s.packed || s.vectors ? x->positions : s.flat) * 8);
    const int64_t columns = p->batch * (s.packed || s.vectors ? x->positions : s.flat);
    /* lines of a that are a multiple of a page apart would push each other out of the first cache */
    p->a_in_place = !p->pack_a && (columns <= FEW_COLUMNS || p->M * p->K * size <= FEW_BYTES) && p->a_row * size % 4096;
    if (!p->a_in_place && (columns > 1024 || (s.packed ? p->batch > s.samples : p->batch > 1)))
        PLACE(packed_at, fc_gemm_whole_bytes(p->dtype, p->M, p->K));
    PLACE(copy_at, s.l.bare ? 0 : s.samples * sample + SLACK);
#undef PLACE
    /* groups side by side where each thread has some; few groups one after the other, each cut by its own product */
    const int64_t threads = fc_get_num_threads(), side = each->groups >= 2 * threads && p->batch * x->positions * p->M * p->K * each->groups > GROUPED_WORK;
    const int bad = fc_parallel_scratch(each->groups, side ? (each->groups - 1) / threads + 1 : each->groups, (size_t)bytes, run_shifted, &s);
    return bad ? bad : status;
}

/* --- positions along k ---------------------------------------------------------------------------------------------- */

typedef struct {
    fc_gemm_args *p;
    const fc_window *x;
    int64_t channels, batch;
    fc_conv_layout l;
    int64_t room_at, a_at, k_at, copy_at;
    int status;
} turned;

static void run_turned(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    (void)begin, (void)end;
    turned *s = ctx;
    const fc_window *x = s->x;
    fc_conv_layout *l = &s->l;
    const int bare = l->bare;
    fc_conv_lay_out(l, x, s->channels, 0, (int64_t *)((char *)scratch + s->room_at));
    l->bare = bare;
    int64_t *a_at = (int64_t *)((char *)scratch + s->a_at), *a_k = (int64_t *)((char *)scratch + s->k_at);
    const int64_t *pitch = l->bare ? x->size : l->extent;
    const int64_t channel = l->bare ? x->plane : l->channel, sample = l->bare ? x->sample : l->channel * l->channels;
    for (int64_t t = 0; t < x->taps; ++t) {
        const int64_t w = t % x->ntaps[2], h = t / x->ntaps[2] % x->ntaps[1], d = t / x->ntaps[2] / x->ntaps[1];
        a_at[t] = (l->shift[0][d] * pitch[1] + l->shift[1][h]) * pitch[2] + l->shift[2][w];
    }
    for (int64_t m = x->taps; m < s->p->M; ++m) a_at[m] = a_at[m - x->taps] + channel;
    int64_t *k = a_k;
    for (int64_t n = 0; n < s->batch; ++n)
        for (int64_t d = 0; d < x->count[0]; ++d)
            for (int64_t h = 0; h < x->count[1]; ++h) {
                const int64_t row = n * sample + (d * x->step[0] * pitch[1] + h * x->step[1]) * pitch[2];
                for (int64_t w = 0; w < x->count[2]; ++w) *k++ = row + w * x->step[2];
            }
    s->p->a = x->source;
    if (!l->bare) {
        fc_conv_copy(l, (char *)scratch + s->copy_at, 0, s->batch, 1);
        s->p->a = (char *)scratch + s->copy_at;
    }
    s->p->a_at = a_at;
    s->p->a_k = a_k;
    s->status = fc_gemm_run(s->p);
}

int fc_conv_turned(fc_gemm_args *p, const fc_window *x, int64_t channels, int64_t batch)
{
    if (fc_is_complex(p->dtype) || !x->taps)
        return -1;
    turned s = { .p = p, .x = x, .channels = channels, .batch = batch };
    const int64_t tap_room = 3 * (x->ntaps[0] + x->ntaps[1] + x->ntaps[2]);
    int64_t few[3 * 64], bytes = 0;
    if (tap_room > 3 * 64)
        return -1;
    fc_conv_lay_out(&s.l, x, channels, 0, few);
    /* read one by one: any pitch will do, only nothing may lie outside */
    s.l.bare = 1;
    for (int d = 0; d < 3; ++d) s.l.bare = s.l.bare && s.l.low[d] == 0 && s.l.extent[d] <= x->size[d];
#define PLACE(at, n) (s.at = bytes, bytes += round_up((int64_t)(n), 64))
    PLACE(room_at, tap_room * 8);
    PLACE(a_at, p->M * 8);
    PLACE(k_at, p->K * 8);
    PLACE(copy_at, s.l.bare ? 0 : batch * channels * s.l.channel * fc_dt_size[x->dtype]);
#undef PLACE
    const int bad = fc_parallel_scratch(1, 1, (size_t)bytes, run_turned, &s);
    return bad ? bad : s.status;
}
