/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of C++: handlers of exceptions, destructors that run while an exception passes their
 * frame, and frames that were left by an exception.
 */
extern "C" {
#include "tests/walk/frames.h"
}

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

static volatile int sink;

namespace
{
struct job {
    leaf_fn leaf;
    void *arg;
    ~job()
    {
        if (leaf)
            leaf(arg);
    }
};

__attribute__((noinline)) void thrower(int n)
{
    std::string text(static_cast<size_t>(n), 'x');
    if (n > 10)
        thrower(n - 1);
    else
        throw text;
    sink = sink + static_cast<int>(text.size());
}

int in_handler(leaf_fn leaf, void *arg, int n)
{
    try {
        thrower(n);
    } catch (const std::string &) {
        leaf(arg);
        try {
            thrower(n);
        } catch (...) {
            leaf(arg);
        }
        leaf(arg);
    }
    leaf(arg);
    return sink + n;
}

__attribute__((noinline)) int throws_with_job(leaf_fn leaf, void *arg, int n)
{
    job at_end = {leaf, arg};
    thrower(n);
    return sink + n + (at_end.leaf != nullptr);
}

int in_destructor(leaf_fn leaf, void *arg, int n)
{
    try {
        return throws_with_job(leaf, arg, n);
    } catch (const std::string &) {
        leaf(arg);
    }
    return sink + n;
}

int in_function_object(leaf_fn leaf, void *arg, int n)
{
    std::vector<int> values = {3, 1, 2};
    bool done = false;
    std::function<bool(int, int)> less = [&](int a, int b) {
        if (!done)
            leaf(arg);
        done = true;
        return a < b;
    };
    std::sort(values.begin(), values.end(), less);
    return values[0] + n;
}
} // namespace

extern "C" const struct frame_kind frames_cxx[] = {
    {"handler", in_handler},
    {"destructor", in_destructor},
    {"function object", in_function_object},
    {nullptr, nullptr},
};
