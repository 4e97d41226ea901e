// SPDX-License-Identifier: BSD-3-Clause
//
// The computation of mixed.f90: a template in a namespace, whose name is long.
#include <cstddef>

namespace field
{
template <typename T, typename Weight> struct stencil {
    T value[64];

    __attribute__((noinline)) T relax(int n)
    {
        T sum = 0;
        for (int i = 0; i < n; i++)
            for (std::size_t k = 1; k < sizeof value / sizeof *value; k++)
                sum += value[k] = (value[k - 1] + value[k]) * Weight::half;
        return sum;
    }
};

struct even {
    static constexpr double half = 0.5;
};
} // namespace field

static volatile double result;

extern "C" void smooth(int n)
{
    static field::stencil<double, field::even> s = {{1}};
    result = s.relax(n);
}
