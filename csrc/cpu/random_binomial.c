/*
 * Binomial numbers, in PyTorch's stream: of each pair (count, probability) the number of successes.
 *
 * Fewer than 10 expected: sums of geometric waits (Devroye 1986, section X.4.3). Else transformed rejection with squeeze: Hoermann
 * (1993), The Generation of Binomial Random Variates, algorithm BTRS. Probabilities above 1/2 count the failures. Counts and
 * probabilities out of range give 0, or the count, as in PyTorch.
 */
#include <math.h>

#include "random_each.h"

/* log k! less its approximation (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2 */
static double stirling_rest(double k)
{
    static const double first[10] = { 0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509, 0.01664469118982119,
                                      0.01387612882307075, 0.01189670994589177, 0.01041126526197209, 0.009255462182712733, 0.008330563433362871 };
    if (k <= 9)
        return first[(int)k];
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

static double by_waits(fc_generator *g, double count, double p)
{
    const double log_failure = log1p(-p);
    double sum = 0, found = 0;
    for (;;) {
        sum += ceil(log(fc_draw_f64(g)) / log_failure);
        if (!(sum <= count))
            return found;
        found += 1;
    }
}

static double by_rejection(fc_generator *g, double count, double p)
{
    const double deviation = sqrt(count * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
    const double inside = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, mode = floor((count + 1) * p);
    for (;;) {
        const double u = fc_draw_f64(g) - 0.5, v = fc_draw_f64(g), us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + c);
        if (!(k >= 0 && k <= count))
            continue;
        if (us >= 0.07 && v <= inside)
            return k;
        const double limit = (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1))) + (count + 1) * log((count - mode + 1) / (count - k + 1))
                           + (k + 0.5) * log(odds * (count - k + 1) / (k + 1)) + stirling_rest(mode) + stirling_rest(count - mode)
                           - stirling_rest(k) - stirling_rest(count - k);
        if (log(v * alpha / (a / (us * us) + b)) <= limit)
            return k;
    }
}

double fc_draw_binomial(fc_generator *g, double count, double p)
{
    if (count <= 0 || p <= 0)
        return 0;
    if (p >= 1)
        return count;
    if (!(p > 0) || !(count < HUGE_VAL)) /* NaN, and counts without end */
        return NAN;
    const double rare = p <= 0.5 ? p : 1 - p;
    const double found = count * rare >= 10 ? by_rejection(g, count, rare) : by_waits(g, count, rare);
    return p <= 0.5 ? found : count - found;
}
