/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Student's t (student.h): the tail by the incomplete beta function, the quantile by an expansion
 * about that of the normal distribution.
 */
#include "analysis/student.h"

#include <math.h>

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m <= 300; m++) {
        double up = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double down = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double term = half ? down : up;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-12)
            break;
    }
    return f;
}

/* Regularised incomplete beta function. */
static double beta_part(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double pct_student_tail(double t, double freedom)
{
    if (!(freedom > 0))
        return 1;
    return beta_part(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* Uses the Cornish-Fisher expansion, which is accurate to 0.04 % in the range where it is used. */
double pct_student_95(size_t freedom)
{
    static const double exact[] = {INFINITY, 12.706205, 4.302653, 3.182446,
                                   2.776445, 2.570582,  2.446912};
    if (freedom < sizeof exact / sizeof *exact)
        return exact[freedom];
    double z = 1.959963985, n = (double)freedom, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double pct_student_error(double deviation, size_t n)
{
    return n < 2 ? -1 : pct_student_95(n - 1) * deviation / sqrt((double)n);
}

double pct_normal_above(double chance)
{
    double low = 0, high = 40;
    for (unsigned i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        if (erfc(z / sqrt(2)) / 2 > chance)
            low = z;
        else
            high = z;
    }
    return high;
}
