#include "random_each.h"

#include <math.h>

/* Box and Muller; the sine is kept in the generator for the next call, of whatever tensor that is. */
double fc_draw_normal(fc_generator *g)
{
    if (g->normal_valid) {
        g->normal_valid = 0;
        return g->normal;
    }
    const double u1 = fc_draw_f64(g), u2 = fc_draw_f64(g);
    const double r = sqrt(-2 * log1p(-u2)), theta = 2 * 3.141592653589793238463 * u1;
    g->normal = r * sin(theta);
    g->normal_valid = 1;
    return r * cos(theta);
}

/* Transformed rejection: Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), PTRS. */
static double poisson_large(fc_generator *g, double rate)
{
    const double log_rate = log(rate);
    const double b = 0.931 + 2.53 * sqrt(rate);
    const double a = -0.059 + 0.02483 * b;
    const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = fc_draw_f64(g) - 0.5, v = fc_draw_f64(g);
        const double us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(inv_alpha) - log(a / (us * us) + b) <= -rate + k * log_rate - lgamma(k + 1))
            return k;
    }
}

/* Below 10: Knuth's product of uniforms (The Art of Computer Programming 2, section 3.4.1). */
double fc_draw_poisson(fc_generator *g, double rate)
{
    if (rate >= 10)
        return poisson_large(g, rate);
    if (rate == 0)
        return 0;
    const double floor_of_product = exp(-rate);
    double product = 1;
    for (double k = 0;; ++k) {
        product *= fc_draw_f64(g);
        if (!(product > floor_of_product))
            return k;
    }
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). A shape below 1 is drawn one higher and
 * scaled by a power of a uniform, which is drawn first. One third is a float32: the stream is defined so. */
double fc_draw_gamma(fc_generator *g, double shape, int as_f32)
{
    double scale = 1;
    if (shape < 1) {
        if (shape == 0)
            return 0;
        scale = pow(1 - fc_draw_f64(g), as_f32 ? 1.0f / (float)shape : 1 / shape);
        shape = as_f32 ? (float)shape + 1.0f : shape + 1;
    }
    const double d = as_f32 ? (float)shape - 1.0f / 3.0f : shape - 1.0f / 3.0f;
    const double c = 1 / sqrt(9 * d);
    for (;;) {
        double x, y;
        do {
            x = fc_draw_normal(g);
            y = 1 + c * x;
        } while (y <= 0);
        const double v = y * y * y, u = 1 - fc_draw_f64(g), xx = x * x;
        if (u < 1 - 0.0331 * xx * xx || log(u) < 0.5 * xx + d * (1 - v + log(v)))
            return scale * d * v;
    }
}

static double stirling_tail(double k)
{
    static const double table[] = {
        0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
        0.0138761288230707,  0.0118967099458917,  0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
    if (k <= 9)
        return table[(int)k];
    const double kp1_sq = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / kp1_sq) / kp1_sq) / (k + 1);
}

/* Waiting times: sums of geometric variables; for means below 10. */
static double binomial_inversion(fc_generator *g, double count, double p)
{
    const double log_q = log1p(-p);
    double sum = 0, hits = 0;
    for (;;) {
        sum += ceil(log(fc_draw_f64(g)) / log_q);
        if (sum > count)
            return hits;
        ++hits;
    }
}

/* Hoermann, "The generation of binomial random variates" (1993), BTRS. */
static double binomial_rejection(fc_generator *g, double count, double p)
{
    const double stddev = sqrt(count * p * (1 - p));
    const double b = 1.15 + 2.53 * stddev;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double c = count * p + 0.5;
    const double v_r = 0.92 - 4.2 / b;
    const double r = p / (1 - p);
    const double alpha = (2.83 + 5.1 / b) * stddev;
    const double m = floor((count + 1) * p);
    for (;;) {
        const double u = fc_draw_f64(g) - 0.5;
        double v = fc_draw_f64(g);
        const double us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || k > count)
            continue;
        v = log(v * alpha / (a / (us * us) + b));
        const double bound = (m + 0.5) * log((m + 1) / (r * (count - m + 1)))
                             + (count + 1) * log((count - m + 1) / (count - k + 1))
                             + (k + 0.5) * log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) + stirling_tail(count - m)
                             - stirling_tail(k) - stirling_tail(count - k);
        if (v <= bound)
            return k;
    }
}

double fc_draw_binomial(fc_generator *g, double count, double p, int as_f32)
{
    if (!(count > 0) || !(p > 0))
        return 0;
    if (p >= 1)
        return count;
    const double q = p <= 0.5 ? p : 1 - p;
    const double mean = as_f32 ? (float)count * (float)q : count * q; /* it decides how many words are drawn */
    const double k = mean >= 10 ? binomial_rejection(g, count, q) : binomial_inversion(g, count, q);
    return p <= 0.5 ? k : count - k;
}
