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
    for (int sign;;) { /* lgamma_r's; lgamma itself writes a global */
        const double u = fc_draw_f64(g) - 0.5, v = fc_draw_f64(g);
        const double us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(inv_alpha) - log(a / (us * us) + b) <= -rate + k * log_rate - lgamma_r(k + 1, &sign))
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
