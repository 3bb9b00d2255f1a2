/* Pooling rows: arguments, shapes and windows. The loops are in pool_plane.c. int[3] is right-aligned, as in conv.c. */
#include "../fold.h"
#include "format.h"
#include "pool.h"

#define SHORT_LINE 32  /* windows of a row that do not fill a vector's lanes often enough: planes do */
#define FEW_CHANNELS 4 /* fewer lanes than this are not worth a kernel of channels */

static int there(const fc_pool *p, int d) { return d - 3 + p->ndim >= 2; }

static int plane_args(fc_pool *p, const fc_tensor *x, const int64_t *size)
{
    *p = (fc_pool){ .dtype = x->dtype, .ndim = x->ndim, .size_n = 1, .out_n = 1 };
    if (x->ndim < 3 || x->ndim > 5)
        return fc_fail(FC_RANK, 0, x->ndim, 4, 0);
    p->batch = x->shape[0];
    p->channels = x->shape[1];
    p->planes = p->batch * p->channels;
    for (int d = 0; d < 3; ++d) {
        p->size[d] = !there(p, d) ? 1 : size ? size[d] : x->shape[d - 3 + x->ndim];
        p->size_n *= p->size[d];
        p->kernel[d] = p->stride[d] = p->dilation[d] = p->out[d] = 1;
    }
    return FC_OK;
}

/* PyTorch's rule; with ceil_mode the last window must still begin inside the plane or its near padding. */
static int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, int ceil_mode)
{
    const int64_t room = size + 2 * pad - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
    int64_t out = room < 0 ? 0 : room / stride + 1;
    if (ceil_mode && (out - 1) * stride >= size + pad)
        --out;
    return out;
}

/* kernel, stride, padding, dilation (NULL: 1), ceil_mode */
static int window_args(fc_pool *p, const int64_t *kernel, const int64_t *stride, const int64_t *pad, const int64_t *dilation,
                       int ceil_mode)
{
    for (int d = 0; d < 3; ++d)
        if (there(p, d)) {
            p->kernel[d] = kernel[d], p->stride[d] = stride[d], p->pad[d] = pad[d];
            p->dilation[d] = dilation ? dilation[d] : 1;
            const int64_t given[4] = { kernel[d], stride[d], pad[d], p->dilation[d] };
            for (int k = 0; k < 4; ++k)
                if (given[k] > FC_MOST_STEP) return fc_fail(FC_ARG, 1 + k, given[k], FC_MOST_STEP, 0);
            if (kernel[d] < 1) return fc_fail(FC_ARG, 1, kernel[d], 1, 0);
            if (stride[d] < 1) return fc_fail(FC_ARG, 2, stride[d], 1, 0);
            if (pad[d] < 0 || 2 * pad[d] > p->dilation[d] * (kernel[d] - 1) + 1) return fc_fail(FC_ARG, 3, pad[d], kernel[d] / 2, 0);
            if (p->dilation[d] < 1) return fc_fail(FC_ARG, 4, dilation[d], 1, 0);
            p->out[d] = windows(p->size[d], kernel[d], stride[d], pad[d], p->dilation[d], ceil_mode);
            if (p->out[d] < 1) return fc_fail(FC_ARG, 0, p->size[d], p->dilation[d] * (kernel[d] - 1) + 1 - 2 * pad[d], 0);
        }
    p->out_n = p->out[0] * p->out[1] * p->out[2];
    return FC_OK;
}

static int adaptive_args(fc_pool *p, const int64_t *out)
{
    p->adaptive = 1;
    for (int d = 0; d < 3; ++d)
        if (there(p, d)) {
            if (out[d] < 0) return fc_fail(FC_ARG, 1, out[d], 0, 0);
            if (p->size[d] < 1 && out[d]) return fc_fail(FC_ARG, 0, p->size[d], 1, 0);
            p->out[d] = out[d];
        }
    p->out_n = p->out[0] * p->out[1] * p->out[2];
    return FC_OK;
}

static size_t window_bytes(const fc_pool *p)
{
    return (size_t)(p->out[0] + p->out[1] + p->out[2]) * (sizeof(fc_span) + sizeof(int64_t));
}

/* Window j of dim d: where it lies, clipped; answers how many places it has before that, but for those beyond the far padding. */
static int64_t lay_window(const fc_pool *p, int d, int64_t j, fc_span *span)
{
    const int64_t size = p->size[d], step = p->dilation[d];
    int64_t start = j * p->stride[d] - p->pad[d], end = start + step * (p->kernel[d] - 1) + 1;
    if (p->adaptive) {
        start = j * size / p->out[d]; /* floor(j * size / out) to ceil((j + 1) * size / out) */
        end = ((j + 1) * size - 1) / p->out[d] + 1;
    }
    const int64_t whole = (end < size + p->pad[d] ? end : size + p->pad[d]) - start;
    if (start < 0) start += (-start + step - 1) / step * step;
    *span = (fc_span){ start, end < size ? end : size };
    return whole;
}

static void lay_windows(fc_pool *p, void *scratch)
{
    fc_span *span = scratch;
    int64_t *whole = (int64_t *)(span + p->out[0] + p->out[1] + p->out[2]);
    for (int d = 0; d < 3; ++d) {
        const int64_t out = p->out[d], stride = p->stride[d], extent = p->dilation[d] * (p->kernel[d] - 1) + 1;
        p->span[d] = span;
        p->whole[d] = whole;
        int64_t j = 0, start = -p->pad[d];
        for (; j < out && (p->adaptive || start < 0); ++j, start += stride) whole[j] = lay_window(p, d, j, span + j);
        for (const int64_t last = p->size[d] - extent; j < out && start <= last; ++j, start += stride) /* most of many: nothing is clipped */
            span[j] = (fc_span){ start, start + extent }, whole[j] = extent;
        for (; j < out; ++j) whole[j] = lay_window(p, d, j, span + j);
        span += out, whole += out;
    }
}

static int declare(fc_call *c, const fc_pool *p, int k, fc_tensor *like, int dtype, const int64_t spatial[3])
{
    int64_t shape[5] = { like->shape[0], like->shape[1], 0, 0, 0 };
    for (int d = 5 - p->ndim; d < 3; ++d)
        shape[d - 3 + p->ndim] = spatial[d];
    c->scratch_bytes = window_bytes(p);
    const int bad = fc_declare(c, k, dtype, p->ndim, shape);
    if (bad)
        return bad;
    if (fc_reads_last(like, p->deep) && p->channels >= FEW_CHANNELS && p->size_n <= INT32_MAX) {
        c->spec[k].direct = 1;
        c->as_is = 1;
    }
    if (p->ndim == 3) {
        c->spec[k].format = fc_lies_last(like) ? FC_LINES_LAST : 0;
        return FC_OK;
    }
    return fc_keep_format(c, k, like, NULL, p->deep);
}

/* The same of max_pool3d's results: a volume alone, whose batch of one has any stride, keeps it, too. */
static int declare_max(fc_call *c, const fc_pool *p, int k)
{
    fc_tensor *x = c->t[0];
    const int bad = declare(c, p, k, x, k ? FC_I64 : p->dtype, p->out);
    if (!bad && p->ndim == 5 && x->shape[0] == 1 && !x->contiguous && fc_is_contiguous(x, 3))
        c->spec[k].format = 3;
    return bad;
}

/* input; int[3] kernel, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode */
static int max_args(fc_pool *p, const fc_call *c)
{
    const int bad = plane_args(p, c->t[0], NULL);
    p->deep = 1;
    return bad ? bad : window_args(p, c->i, c->i + 3, c->i + 6, c->i + 9, c->i[12] != 0);
}

int fc_infer_max_pool(fc_call *c)
{
    fc_pool p;
    int bad = max_args(&p, c);
    if (!bad) bad = declare_max(c, &p, 0);
    return bad ? bad : declare_max(c, &p, 1);
}

static int run_max(fc_call *c, const fc_pool *p, int64_t *places)
{
    int bad;
    if (!c->as_is && p->out[2] < SHORT_LINE && (bad = fc_pool_max_turned(p, c->out[0]->data, places, c->t[0]->data)) != -1)
        return bad;
    (c->as_is ? fc_pool_max_last : fc_pool_max)(p, c->out[0]->data, places, c->t[0]->data);
    return FC_OK;
}

int fc_cpu_max_pool(fc_call *c)
{
    fc_pool p;
    const int bad = max_args(&p, c);
    if (bad || !c->out[0]->numel) return bad;
    lay_windows(&p, c->scratch);
    return run_max(c, &p, FC_DATA(int64_t, c->out[1]));
}

int fc_infer__max_pool_values(fc_call *c)
{
    fc_pool p;
    int bad = max_args(&p, c);
    if (!bad) bad = declare_max(c, &p, 0);
    if (p.ndim == 3) /* PyTorch has a kernel of lines for these */
        c->spec[0].format = 0;
    return bad;
}

int fc_cpu__max_pool_values(fc_call *c)
{
    fc_pool p;
    const int bad = max_args(&p, c);
    if (bad || !c->out[0]->numel) return bad;
    lay_windows(&p, c->scratch);
    return run_max(c, &p, NULL);
}

/* input; int[3] size */
int fc_infer_adaptive_max_pool(fc_call *c)
{
    fc_pool p;
    int bad = plane_args(&p, c->t[0], NULL);
    if (!bad) bad = adaptive_args(&p, c->i);
    if (!bad) bad = declare(c, &p, 0, c->t[0], p.dtype, p.out);
    return bad ? bad : declare(c, &p, 1, c->t[0], FC_I64, p.out);
}

int fc_cpu_adaptive_max_pool(fc_call *c)
{
    fc_pool p;
    int bad = plane_args(&p, c->t[0], NULL);
    if (!bad) bad = adaptive_args(&p, c->i);
    if (bad || !c->out[0]->numel) return bad;
    lay_windows(&p, c->scratch);
    if (!c->as_is && (bad = fc_pool_max_turned(&p, c->out[0]->data, FC_DATA(int64_t, c->out[1]), c->t[0]->data)) != -1)
        return bad;
    (c->as_is ? fc_pool_max_last : fc_pool_max)(&p, c->out[0]->data, FC_DATA(int64_t, c->out[1]), c->t[0]->data);
    return FC_OK;
}

/* grad, indices; int[3] size (of the input) */
static int max_grad_args(fc_pool *p, const fc_call *c)
{
    const fc_tensor *grad = c->t[0], *places = c->t[1];
    const int bad = plane_args(p, grad, c->i);
    p->deep = 1;
    if (bad) return bad;
    if (places->dtype != FC_I64) return fc_fail(FC_MIXED, 0, FC_I64, 1, places->dtype);
    if (places->numel != grad->numel) return fc_fail(FC_SIZE, 0, grad->numel, 1, places->numel);
    for (int d = 0; d < 3; ++d)
        if (there(p, d)) p->out[d] = grad->shape[d - 3 + grad->ndim];
    p->out_n = p->out[0] * p->out[1] * p->out[2];
    return FC_OK;
}

int fc_infer_max_pool_grad(fc_call *c)
{
    fc_pool p;
    int bad = max_grad_args(&p, c);
    if (!bad) bad = declare(c, &p, 0, c->t[0], p.dtype, p.size);
    if (c->as_is && (c->t[1]->ndim != p.ndim || c->t[1]->shape[1] != p.channels || !fc_is_contiguous(c->t[1], c->spec[0].format)))
        c->as_is = 0, c->spec[0].direct = 0;
    c->as_is |= c->as_is << 1;
    return bad;
}

int fc_cpu_max_pool_grad(fc_call *c)
{
    fc_pool p;
    const int bad = max_grad_args(&p, c);
    if (bad || !c->out[0]->numel) return bad;
    const int64_t *places = FC_DATA(int64_t, c->t[1]);
    const int64_t numel = c->t[1]->numel;
    uint64_t far = 0; /* is any beyond? without a branch for each */
    for (int64_t k = 0; k < numel; ++k) far |= (uint64_t)places[k] | (uint64_t)(p.size_n - 1 - places[k]);
    for (int64_t k = 0; far >> 63 && k < numel; ++k)
        if (places[k] < 0 || places[k] >= p.size_n) return fc_fail(FC_INDEX, places[k], p.size_n, 2, 0);
    (c->as_is ? fc_pool_max_grad_last : fc_pool_max_grad)(&p, c->out[0]->data, c->t[0]->data, places);
    return FC_OK;
}

/* input; int[3] kernel, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int divisor (0: none) */
static int mean_args(fc_pool *p, const fc_call *c)
{
    int bad = plane_args(p, c->t[0], NULL);
    if (!bad) bad = window_args(p, c->i, c->i + 3, c->i + 6, NULL, c->i[9] != 0);
    for (int d = 0; d < 3 && !bad; ++d) /* PyTorch's volumes are no smaller than the window, whatever the padding */
        if (p->ndim == 5 && p->size[d] < p->kernel[d])
            bad = fc_fail(FC_ARG, 0, p->size[d], p->kernel[d], 0);
    p->count_pad = c->i[10] != 0;
    p->divisor = c->i[11];
    return bad;
}

int fc_infer_avg_pool(fc_call *c)
{
    fc_pool p;
    const int bad = mean_args(&p, c);
    return bad ? bad : declare(c, &p, 0, c->t[0], p.dtype, p.out);
}

int fc_cpu_avg_pool(fc_call *c)
{
    fc_pool p;
    int bad = mean_args(&p, c);
    if (bad || !c->out[0]->numel) return bad;
    lay_windows(&p, c->scratch);
    if (!c->as_is && p.out[2] < SHORT_LINE && (bad = fc_pool_mean_turned(&p, c->out[0]->data, c->t[0]->data)) != -1)
        return bad;
    (c->as_is ? fc_pool_mean_last : fc_pool_mean)(&p, c->out[0]->data, c->t[0]->data);
    return FC_OK;
}

/* grad; int[3] size, then as avg_pool */
static int mean_grad_args(fc_pool *p, const fc_call *c)
{
    const fc_tensor *grad = c->t[0];
    int bad = plane_args(p, grad, c->i);
    if (!bad) bad = window_args(p, c->i + 3, c->i + 6, c->i + 9, NULL, c->i[12] != 0);
    p->count_pad = c->i[13] != 0;
    p->divisor = c->i[14];
    for (int d = 0; d < 3 && !bad; ++d)
        if (there(p, d) && grad->shape[d - 3 + grad->ndim] != p->out[d])
            bad = fc_fail(FC_SIZE, 0, grad->shape[d - 3 + grad->ndim], 1, p->out[d]);
    return bad;
}

int fc_infer_avg_pool_grad(fc_call *c)
{
    fc_pool p;
    const int bad = mean_grad_args(&p, c);
    return bad ? bad : declare(c, &p, 0, c->t[0], p.dtype, p.size);
}

int fc_cpu_avg_pool_grad(fc_call *c)
{
    fc_pool p;
    const int bad = mean_grad_args(&p, c);
    if (bad || !c->out[0]->numel) return bad;
    lay_windows(&p, c->scratch);
    (c->as_is ? fc_pool_mean_grad_last : fc_pool_mean_grad)(&p, c->out[0]->data, c->t[0]->data);
    return FC_OK;
}

static fc_fold_form planes_in_rows(const fc_call *c, const fc_pool *p)
{
    return c->as_is ? fc_fold_dense(c->t[0]->data, p->batch, p->size_n, p->channels) : fc_fold_dense(c->t[0]->data, p->planes, p->size_n, 1);
}

/* input; int[3] size */
int fc_infer_adaptive_avg_pool(fc_call *c)
{
    fc_pool p;
    int bad = plane_args(&p, c->t[0], NULL);
    if (!bad) bad = adaptive_args(&p, c->i);
    p.deep = p.out_n == 1; /* which PyTorch computes by mean */
    if (!bad) bad = declare(c, &p, 0, c->t[0], p.dtype, p.out);
    if (!bad && p.out_n == 1) {
        const fc_fold_form form = planes_in_rows(c, &p);
        c->scratch_bytes = fc_fold_scratch(FC_FOLD_mean, p.dtype, &form, 0);
    }
    return bad;
}

int fc_cpu_adaptive_avg_pool(fc_call *c)
{
    fc_pool p;
    int bad = plane_args(&p, c->t[0], NULL);
    if (!bad) bad = adaptive_args(&p, c->i);
    if (bad || !c->out[0]->numel) return bad;
    if (p.out_n == 1) { /* a plane is one row */
        const fc_fold_form form = planes_in_rows(c, &p);
        return fc_fold_run(FC_FOLD_mean, p.dtype, p.dtype, c->out[0]->data, NULL, &form, 0, c->scratch);
    }
    lay_windows(&p, c->scratch);
    if (!c->as_is && (bad = fc_pool_mean_turned(&p, c->out[0]->data, c->t[0]->data)) != -1)
        return bad;
    (c->as_is ? fc_pool_mean_last : fc_pool_mean)(&p, c->out[0]->data, c->t[0]->data);
    return FC_OK;
}

/* grad; int[3] size (of the input) */
static int adaptive_grad_args(fc_pool *p, const fc_call *c)
{
    const fc_tensor *grad = c->t[0];
    int64_t out[3] = { 1, 1, 1 };
    const int bad = plane_args(p, grad, c->i);
    if (bad) return bad;
    for (int d = 0; d < 3; ++d)
        if (there(p, d)) out[d] = grad->shape[d - 3 + grad->ndim];
    return adaptive_args(p, out);
}

int fc_infer_adaptive_avg_pool_grad(fc_call *c)
{
    fc_pool p;
    int bad = adaptive_grad_args(&p, c);
    if (!bad) bad = declare(c, &p, 0, c->t[0], p.dtype, p.size);
    if (!bad && p.out_n == 1 && c->spec[0].format && c->t[0]->contiguous && (p.dtype == FC_F32 || p.dtype == FC_F64)) /* both formats are the same memory */
        c->as_is = 1, c->spec[0].direct = 1;
    return bad;
}

int fc_cpu_adaptive_avg_pool_grad(fc_call *c)
{
    fc_pool p;
    const int bad = adaptive_grad_args(&p, c);
    if (bad || !c->out[0]->numel) return bad;
    lay_windows(&p, c->scratch);
    (c->as_is ? fc_pool_mean_grad_last : fc_pool_mean_grad)(&p, c->out[0]->data, c->t[0]->data);
    return FC_OK;
}
