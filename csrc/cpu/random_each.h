/* One draw of a distribution, in float64. The caller holds the generator's lock. */
#ifndef FC_RANDOM_EACH_H
#define FC_RANDOM_EACH_H

#include "../core/generator.h"

double fc_draw_normal(fc_generator *g);                        /* mean 0, deviation 1; every second one comes from the cache */
double fc_draw_poisson(fc_generator *g, double rate);          /* rate >= 0 */
double fc_draw_gamma(fc_generator *g, double shape, int as_f32); /* scale 1; as_f32: the shape is rounded as float32's is */
double fc_draw_binomial(fc_generator *g, double count, double p);

#endif
