// SPDX-License-Identifier: BSD-3-Clause
//
// C++ for the test of symbols: namespaces, templates, methods, functors, local classes, operators.
#include "part.h"

namespace field
{
template <typename T> struct grid {
    T value;
    __attribute__((noinline)) T add(T x)
    {
        sink += static_cast<int>(x);
        return value += x;
    }
    inline __attribute__((always_inline)) T twice(T x)
    {
        return add(x) + add(x + 1);
    }
    bool operator>(const grid &other) const;
};

template <typename T> __attribute__((noinline)) bool grid<T>::operator>(const grid<T> &other) const
{
    sink += part_outer(1);
    return value > other.value;
}

template <typename F> static inline __attribute__((always_inline)) int each(int n, F f)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}
} // namespace field

struct functor {
    field::grid<double> &g;
    inline __attribute__((always_inline)) int operator()(int i) const;
};

extern "C" __attribute__((noinline)) int part_helper(int x)
{
    sink += x;
    return sink;
}

int functor::operator()(int i) const
{
    return static_cast<int>(g.twice(i)) + part_helper(i);
}

int main(int argc, char **argv)
{
    (void)argv;
    field::grid<double> g{1.0}, h{2.0};
    double d = g.twice(argc) + field::each(argc, functor{g});
    struct local {
        __attribute__((noinline)) static int run(int x)
        {
            return part_outer(x) + 1;
        }
    };
    if (g > h)
        d += local::run(argc);
    if (argc > 5)
        part_last(argc);
    return part_outer(static_cast<int>(d)) == 0;
}
