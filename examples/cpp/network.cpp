// Communities, central vertices and a shortest path of a network, with the class Graph of sparring.hpp.
//
// Eight people, and the minutes between the homes of friends; only 3 and 4 know each other across the two groups.
//
// How to build it: capi/README.md.
#include <algorithm>
#include <iostream>

#include "sparring.hpp"

using namespace sparring;

int main()
{
    const std::vector<std::uint32_t> from = {0, 0, 1, 2, 3, 4, 4, 5, 5, 6}, to = {1, 2, 3, 3, 4, 5, 6, 6, 7, 7};
    const std::vector<double> minutes = {4, 3, 6, 2, 9, 3, 4, 2, 1, 5};
    try {
        const Device cpu;
        const auto friends = Matrix::from_coo<double>(8, 8, from, to, minutes);
        const Graph network(cpu, friends, SPARRING_GRAPH_UNDIRECTED);

        const auto groups = network.leiden(cpu);
        std::cout << groups.count << " groups:";
        for (auto group : groups.labels)
            std::cout << ' ' << group;
        std::cout << ", of modularity " << groups.modularity << '\n';

        const auto between = network.betweenness(cpu);
        const auto most = std::max_element(between.begin(), between.end());
        std::cout << "between the most others: " << most - between.begin() << ", " << *most << " pairs\n";

        const auto roads = Graph::weighted(cpu, friends, SPARRING_GRAPH_UNDIRECTED);
        const auto paths = roads.sssp_tree(cpu, 0);
        std::cout << "from 0 to 7 in " << paths.distances[7] << " minutes:";
        for (auto stop : paths.path(7))
            std::cout << ' ' << stop;
        std::cout << '\n';

        roads.topological_order(cpu);
    } catch (const Error &e) {
        std::cout << sparring_status_name(e.status()) << ": " << e.what() << '\n';
    }
    return sparring_handles_alive() == 0 ? 0 : 1;
}
