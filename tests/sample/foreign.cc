/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computes through the templates and the run-time library of C++: containers, virtual calls, regular
 * expressions, exceptions that pass frames with destructors. Argument: rounds.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area(double scale) const = 0;
};

template <int N> struct Sides : Shape {
    double area(double scale) const override
    {
        double a = scale;
        for (int i = 1; i < N + 20; i++)
            a += scale / (i + a);
        return a;
    }
};

static double fall(int depth, const std::vector<std::unique_ptr<Shape>> &shapes)
{
    std::string name = "level " + std::to_string(depth);
    if (depth == 0)
        throw std::runtime_error(name);
    return fall(depth - 1, shapes) + shapes[depth % shapes.size()]->area(depth) + name.size();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    double sum = 0;
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Sides<3>>());
    shapes.push_back(std::make_unique<Sides<5>>());
    const std::regex word("([a-z]+)([0-9]+)(x|y)*");
    for (int r = 0; r < rounds; r++) {
        std::map<std::string, std::vector<int>> map;
        for (int i = 0; i < 2000; i++)
            map["key" + std::to_string(i * 7919 % 503)].push_back(i);
        for (auto &entry : map)
            std::sort(entry.second.begin(), entry.second.end(), std::greater<int>());
        for (auto &entry : map)
            sum += std::regex_match(entry.first, word) + entry.second.front();
        for (int i = 0; i < 3000; i++)
            sum += shapes[i % 2]->area(i);
        for (int i = 0; i < 20; i++) {
            try {
                sum += fall(i, shapes);
            } catch (const std::exception &e) {
                sum += e.what()[0];
            }
        }
    }
    if (sum > 0)
        puts("done");
    return 0;
}
