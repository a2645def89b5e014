// Shortest paths, reachability and a fold in C++, with the owning classes of sparring.hpp.
//
// Five towns, and the roads between them in kilometres; town 4 is on an island.
//
// How to build it: capi/README.md.
#include <iostream>

#include "sparring.hpp"

using namespace sparring;

// The length of the shortest path from `start` to every reachable town: d = min(d, d min.+ A) until nothing
// changes (Bellman, Ford).
static Vector distances(const Device &device, const Matrix &roads, std::uint64_t start)
{
    const Semiring min_plus("min_plus", type_of<double>());
    const BinaryOp min("min", type_of<double>()), apart("a - b", type_of<double>());
    const Monoid sum("plus", type_of<double>());
    auto d = Vector::from_entries<double>(roads.nrows(), {start}, {0.0});
    for (std::uint64_t step = 0; step < roads.nrows(); step++) {
        const Vector before = d.dup();
        device.into(d).accum(min).vxm(min_plus, d, roads);
        const Vector gained = ewise_mult(device, apart, before, d);
        if (before.nvals() == d.nvals() && reduce<double>(device, sum, gained) == 0.0)
            break;
    }
    return d;
}

// The minimum number of roads to each town, by breadth-first search.
static Vector levels(const Device &device, const Matrix &roads, std::uint64_t start)
{
    const Semiring any_pair("any_pair", type_of<bool>());
    const UnaryOp constant("s", type_of<bool>(), type_of<std::int64_t>());
    const Matrix a = roads.cast(type_of<bool>());
    auto frontier = Vector::from_entries<bool>(a.nrows(), {start}, {1});
    Vector found(type_of<std::int64_t>(), a.nrows());
    const auto unseen = Descriptor().structure().complement().replace();
    for (std::int64_t depth = 0; frontier.nvals() != 0; depth++) {
        device.into(found).mask(frontier).structure().apply(constant.with(depth), frontier);
        device.into(frontier).mask(found).with(unseen).vxm(any_pair, frontier, a);
    }
    return found;
}

int main()
{
    const std::vector<std::uint32_t> from = {0, 0, 1, 2, 3}, to = {1, 2, 3, 3, 0};
    const std::vector<double> km = {7, 1, 2, 4.5, 5};
    try {
        const Device cpu;
        const auto roads = Matrix::from_coo<double>(5, 5, from, to, km);

        std::cout << "km:";
        const auto d = distances(cpu, roads, 0).entries<double>();
        for (std::size_t p = 0; p < d.indices.size(); p++)
            std::cout << ' ' << d.indices[p] << '=' << d.values[p];
        std::cout << "\nroads:";
        const auto l = levels(cpu, roads, 0).entries<std::int64_t>();
        for (std::size_t p = 0; p < l.indices.size(); p++)
            std::cout << ' ' << l.indices[p] << '=' << l.values[p];
        const Monoid max("max", type_of<double>());
        std::cout << "\nlongest road: " << reduce<double>(cpu, max, roads).value_or(0) << '\n';
        std::cout << "from 0 to 3: " << (roads.at<double>(0, 3) ? "a road" : "no road") << '\n';

        mxv(cpu, Semiring("min_plus", type_of<double>()), roads, Vector(type_of<double>(), 4));
    } catch (const Error &e) {
        std::cout << sparring_status_name(e.status()) << ": " << e.what() << '\n';
    }
    return sparring_handles_alive() == 0 ? 0 : 1;
}
