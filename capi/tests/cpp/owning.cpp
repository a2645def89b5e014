// Every class and function of sparring.hpp: results, moves, errors. Prints "ok".
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "sparring.hpp"

using namespace sparring;

#define EXPECT(x)                                                                     \
    do {                                                                              \
        if (!(x)) {                                                                   \
            std::cerr << "owning.cpp:" << __LINE__ << ": not so: " << #x << '\n';     \
            std::exit(EXIT_FAILURE);                                                  \
        }                                                                             \
    } while (0)

// The message of the Error that a call throws, after a check of its status.
template <class Call> static std::string refused(SparringStatus status, Call call)
{
    try {
        call();
    } catch (const Error &e) {
        EXPECT(e.status() == status);
        return e.what();
    }
    return "nothing was thrown";
}

static_assert(type_of<bool>() == SPARRING_BOOL && type_of<long long>() == SPARRING_I64);
static_assert(type_of<std::uint16_t>() == SPARRING_U16 && type_of<float>() == SPARRING_F32);
static_assert(type_of<std::complex<double>>() == SPARRING_COMPLEX_F64);
static_assert(!std::is_copy_constructible_v<Matrix> && std::is_nothrow_move_constructible_v<Matrix>);

static void values()
{
    const auto a = Matrix::from_csr<std::int32_t>(2, 3, {0, 2, 3}, {0, 2, 1}, {1, 2, 3});
    EXPECT(a.shape() == std::make_pair(std::uint64_t{2}, std::uint64_t{3}) && a.nnz() == 3);
    EXPECT(a.at<std::int32_t>(0, 2) == 2 && !a.at<std::int32_t>(1, 2));
    auto edited = a.dup();
    edited.set<std::int32_t>(1, 2, 7);
    edited.remove(0, 0);
    EXPECT(edited.nnz() == 3 && edited.at<std::int32_t>(1, 2) == 7 && !edited.at<std::int32_t>(0, 0) && a.nnz() == 3);
    const auto csr = a.csr<std::int32_t>();
    EXPECT((csr.row_ptr == std::vector<std::uint64_t>{0, 2, 3} && csr.values == std::vector<std::int32_t>{1, 2, 3}));
    const std::array<std::uint32_t, 2> rows = {1, 0};
    const std::uint32_t cols[] = {0, 1};
    const std::vector<std::uint8_t> truths = {1, 1};
    const auto b = Matrix::from_coo<bool>(2, 2, rows, cols, {truths.data(), truths.size()});
    EXPECT(b.type() == SPARRING_BOOL && b.at<bool>(1, 0) == true && b.cast(SPARRING_F64).at<double>(0, 1) == 1.0);

    const auto x = Vector::from_entries<double>(4, {3, 1}, {3.5, 1.5});
    EXPECT(x.size() == 4 && x.nvals() == 2 && x.at<double>(3) == 3.5 && !x.at<double>(0));
    EXPECT((x.entries<double>().indices == std::vector<std::uint64_t>{1, 3}));
    EXPECT((Vector::from_dense<std::complex<float>>({{1, 2}, {3, 4}}).at<std::complex<float>>(1) ==
            std::complex<float>(3, 4)));
    EXPECT(x.cast(SPARRING_F32).entries<float>().values[1] == 3.5f);

    auto s = Scalar::of<std::int8_t>(-3);
    EXPECT(s.type() == SPARRING_I8 && s.value<std::int8_t>() == -3);
    s.set<std::int8_t>(4);
    EXPECT(s.value<std::int8_t>() == 4);
    s.clear();
    EXPECT(!s.value<std::int8_t>() && !Scalar(SPARRING_BOOL).value<bool>());
}

static void operations()
{
    const Device cpu("cpu", 1);
    EXPECT(cpu.describe().rfind("cpu", 0) == 0);
    cpu.wait();
    constexpr auto f64 = type_of<double>();
    const Semiring ring("plus_times", f64);
    const BinaryOp plus("plus", f64), minus("minus", f64);
    const Monoid sum("plus", f64);
    const UnaryOp twice("2*a", f64), above = UnaryOp("a > s", f64).with(1.5);
    EXPECT(ring.describe() == "plus_times" && minus.describe() == "minus" && sum.describe() == "plus");
    EXPECT(above.type() == SPARRING_BOOL && twice.describe() == "2*a" && UnaryOp("tril", f64, SPARRING_I64).type());
    const auto a = Matrix::from_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3});
    const auto x = Vector::from_dense<double>({10, 100});
    using Values = std::vector<double>;
    EXPECT((mxm(cpu, ring, a, a).csr<double>().values == Values{1, 8, 9}));
    EXPECT((mxv(cpu, ring, a, x).entries<double>().values == Values{210, 300}));
    EXPECT((vxm(cpu, ring, x, a).entries<double>().values == Values{10, 320}));
    EXPECT((ewise_add(cpu, minus, a, transpose(cpu, a)).csr<double>().values == Values{0, 2, 2, 0}));
    EXPECT((ewise_mult(cpu, minus, x, x).entries<double>().values == Values{0, 0}));
    EXPECT((apply(cpu, twice, a).csr<double>().values == Values{2, 4, 6}));
    EXPECT((apply(cpu, minus.bind_first(1.0), x).entries<double>().values == Values{-9, -99}));
    EXPECT((apply(cpu, minus.bind_second(1.0), x).entries<double>().values == Values{9, 99}));
    EXPECT((select(cpu, above, a).csr<double>().values == Values{2, 3}));
    EXPECT(kronecker(cpu, plus, a, a).nnz() == 9);
    EXPECT((reduce_rows(cpu, sum, a).entries<double>().values == Values{3, 3}));
    EXPECT(reduce<double>(cpu, sum, a) == 6 && reduce<double>(cpu, sum, x) == 110);
    EXPECT(!reduce<double>(cpu, sum, Vector(f64, 3)));

    auto dense = spmm<double>(cpu, ring, a, {1, 10, 2, 20}, 2);
    EXPECT((dense == Values{5, 50, 6, 60}));
    spmm_into<double>(cpu, dense.data(), dense.size(), &minus, ring, a, {1, 10, 2, 20}, 2, Descriptor().transpose_a());
    EXPECT((dense == Values{4, 40, -2, -20}));
    const auto how = explain([&] { mxm(cpu, ring, a, a); });
    EXPECT(how.rfind("mxm: 2×2 with 3 entries as compressed rows; ", 0) == 0 && how.find("\n  ") != how.npos);

    // Into existing objects: accumulated, masked, transposed.
    auto c = a.dup();
    cpu.into(c).accum(plus).transpose_b().mxm(ring, a, a);
    EXPECT((c.csr<double>().values == Values{6, 8, 6, 12} && a.nnz() == 3));
    cpu.into(c).mask(a).with(Descriptor().structure().complement().replace()).update(c);
    EXPECT((c.csr<double>().col_idx == std::vector<std::uint32_t>{0} && c.at<double>(1, 0) == 6.0));
    auto y = x.dup();
    cpu.into(y).accum(minus).transpose_a().reduce(sum, a);
    EXPECT((y.entries<double>().values == Values{9, 95}));
    cpu.into(y).with_transpose(transpose(cpu, a)).vxm(ring, x, a);
    EXPECT((y.entries<double>().values == Values{10, 320}));
    y = Vector::from_dense<double>({9, 95});
    Scalar s = Scalar::of(1.0);
    cpu.into(s).accum(plus).reduce(sum, y);
    EXPECT(s.value<double>() == 105);
    y.clear(cpu);
    c.clear(cpu);
    EXPECT(y.nvals() == 0 && c.nnz() == 0 && c.to(cpu).nnz() == 0 && x.to(cpu).nvals() == 2);
}

static void tensors()
{
    const Device cpu("cpu", 1);
    using Values = std::vector<float>;
    const std::vector<std::uint64_t> rows = {0, 1, 0}, cols = {1, 0, 1};
    const auto x = Tensor::from_coo<float>({2, 2}, {rows, cols}, {1, 2, 4});
    EXPECT(x.type() == SPARRING_F32 && x.nnz() == 3 && (x.dims() == std::vector<std::uint64_t>{2, 2}));
    const auto summed = x.summed(cpu).entries<float>();
    EXPECT((summed.values == Values{5, 2} && summed.indices[1] == std::vector<std::uint64_t>{1, 0}));
    const Values nothing, a = {10, 100};
    EXPECT((mttkrp<float>(cpu, x, 1, {nothing, a}, 0) == Values{500, 20}));
    EXPECT((mttkrp<float>(cpu, x, 1, {nothing, a}, 0, SPARRING_MTTKRP_COPIES) == Values{500, 20}));
    const Semiring min_plus("min_plus", SPARRING_F32);
    EXPECT((mttkrp<float>(cpu, min_plus, x, 1, {nothing, a}, 0) == Values{101, 12}));
    const auto i = x.cast(SPARRING_I64);
    EXPECT((mttkrp<std::int64_t>(cpu, i, 1, {{}, {10, 100}}, 0) == std::vector<std::int64_t>{500, 20}));
    EXPECT(explain([&] { mttkrp<float>(cpu, x, 1, {nothing, a}, 0); }).rfind("mttkrp: 2×2 with 3 entries of f32", 0) == 0);
    EXPECT(refused(SPARRING_TYPE, [&] { mttkrp<double>(cpu, x, 1, {{}, {10, 100}}, 0); }).rfind("tensor: ", 0) == 0);
    EXPECT(refused(SPARRING_LENGTH, [&] { mttkrp<float>(cpu, x, 2, {nothing, a}, 0); }).rfind("factors: 2 ", 0) == 0);
    EXPECT(refused(SPARRING_ARGUMENT, [&] { mttkrp<float>(cpu, x, 1, {a, a}, 2); }).rfind("mode: 2", 0) == 0);
    EXPECT(refused(SPARRING_LENGTH, [&] { Tensor::from_coo<float>({2, 2}, {rows}, {1, 2, 4}); }) != "");
    EXPECT(refused(SPARRING_TYPE, [&] { x.entries<double>(); }) != "");
    EXPECT(refused(SPARRING_IO, [&] { Tensor::read(cpu, SPARRING_F32, "no/such.tns"); }) != "");
    EXPECT(refused(SPARRING_IO, [&] { x.write(cpu, "no/such/folder/x.tns"); }) != "");
}

static void parts()
{
    const Device cpu("cpu", 1);
    constexpr auto i32 = type_of<std::int32_t>();
    using Values = std::vector<std::int32_t>;
    const BinaryOp plus("plus", i32), minus("minus", i32);
    const Scalar nine = Scalar::of<std::int32_t>(9);
    const auto a = Matrix::from_csr<std::int32_t>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3});
    Matrix c(i32, 2, 2);
    cpu.into(c).extract(a, {1, 0}, Indices::range(1, 2, -1));
    EXPECT((c.csr<std::int32_t>().values == Values{3, 2, 1}));
    cpu.into(c).ewise_union(minus, a, nine, transpose(cpu, a), nine);
    EXPECT((c.csr<std::int32_t>().values == Values{0, -7, 7, 0}));
    cpu.into(c).assign(a, {0, 1}, {1, 0});
    EXPECT((c.csr<std::int32_t>().values == Values{2, 1, 3}));
    cpu.into(c).assign(nine, {1});
    EXPECT((c.csr<std::int32_t>().values == Values{2, 1, 9, 9}));
    const auto x = Vector::from_dense<std::int32_t>({5, 6});
    assign_row(cpu, c, 0, x);
    assign_column(cpu, c, 1, x, {1, 0});
    EXPECT((c.csr<std::int32_t>().values == Values{5, 6, 9, 5}));
    cpu.into(c).diag(x);
    EXPECT(c.nnz() == 2);

    Vector y(i32, 2);
    cpu.into(y).extract(x, {1, 1});
    EXPECT((y.entries<std::int32_t>().values == Values{6, 6}));
    cpu.into(y).extract_row(a, 0, {});
    EXPECT((y.entries<std::int32_t>().values == Values{1, 2}));
    cpu.into(y).extract_column(a, {}, 0);
    EXPECT((y.entries<std::int32_t>().values == Values{1}));
    cpu.into(y).ewise_union(minus, x, nine, y, nine);
    EXPECT((y.entries<std::int32_t>().values == Values{4, -3}));
    cpu.into(y).scatter(plus, x, {0, 0});
    EXPECT((y.entries<std::int32_t>().values == Values{11}));
    cpu.into(y).assign(x, {1, 0});
    cpu.into(y).assign(nine, {0});
    EXPECT((y.entries<std::int32_t>().values == Values{9, 5}));
    cpu.into(y).diagonal(a);
    EXPECT((y.entries<std::int32_t>().values == Values{1, 3}));
    Vector counts(type_of<std::int64_t>(), 2);
    cpu.into(counts).aggregate(SPARRING_COUNT, a);
    EXPECT((counts.entries<std::int64_t>().values == std::vector<std::int64_t>{2, 1}));
    y.set<std::int32_t>(0, 8);
    y.remove(1);
    y.resize(cpu, 7);
    c.resize(cpu, 1, 5);
    EXPECT(y.size() == 7 && y.nvals() == 1 && c.ncols() == 5 && c.nnz() == 1);
    Matrix row(i32, 1, 2);
    EXPECT(refused(SPARRING_INDEX_RANGE, [&] { cpu.into(row).extract(a, {2}, {}); }).rfind("rows: index 2", 0) == 0);
}

// Lambdas as operators.
static void callables()
{
    const Device cpu("cpu", 2);
    const auto a = Matrix::from_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3});
    using Values = std::vector<double>;
    double step = 10;
    const auto plus = BinaryOp::of<double>([step](double x, double y) { return x + y + step; }, "stepped");
    const auto least = BinaryOp::of<double>([](double x, double y) { return x < y ? x : y; });
    EXPECT(plus.describe() == "stepped" && least.describe() == "function" && least.type() == SPARRING_F64);
    const Semiring ring(Monoid::of(least, 1e300), plus);
    EXPECT((mxm(cpu, ring, a, a).csr<double>().values == Values{12, 13, 16}));
    const auto even = UnaryOp::of<double>([](double x) { return static_cast<long>(x) % 2 == 0; });
    EXPECT((even.type() == SPARRING_BOOL && select(cpu, even, a).csr<double>().values == Values{2}));
    const auto moved = UnaryOp::of_index<double, std::int32_t>(
        [](double x, std::uint64_t i, std::uint64_t j, std::int32_t s) { return x + 10.0 * i + 100.0 * j + s; });
    EXPECT((apply(cpu, moved.with<std::int32_t>(-1), a).csr<double>().values == Values{0, 101, 112}));
    EXPECT(refused(SPARRING_TYPE, [&] { Semiring(Monoid::of(least, 1e300), BinaryOp::of<float>([](float x, float y) {
                                            return x * y;
                                        })); }) == "mul: function gives SPARRING_F32, function takes SPARRING_F64");
    // Mixed types, and a callable that owns a resource.
    const std::vector<float> table = {0.5f, 2.0f};
    const auto looked_up = BinaryOp::of<std::int8_t, std::int64_t>(
        [table](std::int8_t x, std::int64_t y) { return x * table[static_cast<std::size_t>(y)]; });
    const auto x = Vector::from_dense<std::int8_t>({3, 4});
    const auto y = Vector::from_dense<std::int64_t>({1, 0});
    Vector z(type_of<float>(), 2);
    cpu.into(z).ewise_mult(looked_up, x, y);
    EXPECT((z.entries<float>().values == std::vector<float>{6, 2}));
}

static void files(const std::string &folder)
{
    const Device cpu("cpu", 1);
    const auto a = Matrix::from_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3});
    const std::string path = folder + ".svm";
    const Labels classes({1.0, -2.5});
    a.write(cpu, SPARRING_SVMLIGHT, path.c_str(), &classes);
    Labels found(nullptr);
    SparringFileOptions options = {};
    options.columns = 3;
    const auto b = Matrix::read(cpu, SPARRING_SVMLIGHT, type_of<std::int16_t>(), path.c_str(), options, &found);
    EXPECT((b.ncols() == 3 && b.csr<std::int16_t>().values == std::vector<std::int16_t>{1, 2, 3}));
    EXPECT((found.numbers() == std::vector<double>{1, -2.5} && found.rows()[1] == "-2.5"));
    EXPECT(found.ids().empty() && found.columns().empty());
    options.header = SPARRING_YES;
    EXPECT(refused(SPARRING_ARGUMENT, [&] { Matrix::read(cpu, SPARRING_MAT, 0, "x.mat", options); }) ==
           "options.columns: SPARRING_MAT has no option columns");
    std::remove(path.c_str());

    auto bytes = a.serialize();
    EXPECT((Matrix::deserialize(bytes).csr<double>().values == std::vector<double>{1, 2, 3}));
    EXPECT(Vector::deserialize(Vector::from_dense<float>({1, 2}).serialize()).size() == 2);
    bytes.pop_back();
    EXPECT(refused(SPARRING_PARSE, [&] { Matrix::deserialize(bytes); }).find("1 more") != std::string::npos);
}

static void errors()
{
    const Device cpu("cpu", 1);
    EXPECT(refused(SPARRING_ARGUMENT, [] { Device("gpu"); }).rfind("name: 'gpu'", 0) == 0);
    EXPECT(refused(SPARRING_FORMULA, [] { BinaryOp("a + ", SPARRING_F64); }).rfind("text: ", 0) == 0);
    const auto x = Vector::from_dense<double>({1, 2});
    EXPECT(refused(SPARRING_TYPE, [&] { x.entries<std::int64_t>(); }).rfind("vector: ", 0) == 0);
    EXPECT(refused(SPARRING_TYPE, [&] { x.at<float>(0); }).rfind("scalar: ", 0) == 0);
    EXPECT(refused(SPARRING_INDEX_RANGE, [&] { x.at<double>(2); }) == "i is 2, not below the length, which is 2");
    EXPECT(refused(SPARRING_LENGTH, [] { Vector::from_entries<double>(3, {1}, {1, 2}); }) ==
           "indices: 1 elements, expected 2");
    EXPECT(refused(SPARRING_LENGTH, [] { Matrix::from_csr<double>(2, 2, {0, 1}, {1}, {1}); }) ==
           "row_ptr: 2 elements, expected 3");
    EXPECT(refused(SPARRING_IO, [&] { Matrix::read(cpu, SPARRING_F64, "no/such/file.mtx"); }) != "");
    // A moved-from object is NULL, and its use is reported.
    auto y = x.dup();
    const Vector z = std::move(y);
    EXPECT(y.get() == nullptr && z.nvals() == 2);
    EXPECT(refused(SPARRING_NULL_POINTER, [&] { (void)y.nvals(); }) == "vector is NULL");
    y = z.dup();
    y = Vector(SPARRING_I8, 5);
    EXPECT(y.size() == 5);
    SparringVector *raw = y.release();
    EXPECT(sparring_vector_free(raw) == SPARRING_OK);
}

// 0 → 1 → 2 → 0 and 2 → 3, with weights 1, 2, 4 and 8.
static void graphs()
{
    const Device cpu("cpu", 2);
    using Scores = std::vector<double>;
    using Labels = std::vector<std::uint32_t>;
    const auto a = Matrix::from_csr<double>(4, 4, {0, 1, 2, 4, 4}, {1, 2, 0, 3}, {1, 2, 4, 8});
    const auto g = Graph::weighted(cpu, a), both = Graph::weighted(cpu, a, SPARRING_GRAPH_UNDIRECTED);
    const Graph plain(cpu, a);
    EXPECT(g.vertices() == 4 && both.edges() == 4 && plain.info().weighted == 0);
    EXPECT(g.info().kind == SPARRING_GRAPH_DIRECTED && both.matrix().nnz() == 8);
    EXPECT(both.matrix().at<double>(3, 2) == 8.0 && plain.matrix().type() == SPARRING_BOOL);
    g.prepare(cpu);
    EXPECT((g.bfs(cpu, 1) == Labels{2, 0, 1, 2} && g.bfs(cpu, 3)[0] == unreached));
    EXPECT((g.bfs_tree(cpu, 0).parents == Labels{0, 0, 1, 2}));
    EXPECT((g.multi_source_bfs(cpu, {0, 2}) == Labels{0, 1, 2, 3, 1, 2, 0, 1}));
    EXPECT((g.sssp(cpu, 0) == Scores{0, 1, 3, 11} && g.all_pairs(cpu)[4] == 6));
    const auto tree = g.sssp_tree(cpu, 0);
    EXPECT((tree.path(3) == Labels{0, 1, 2, 3} && tree.path(9).empty() && g.sssp_tree(cpu, 3).path(0).empty()));
    EXPECT((g.bellman_ford(cpu, 1).distances == Scores{6, 0, 2, 10}));
    EXPECT((g.connected_components(cpu) == Labels{0, 0, 0, 0}));
    EXPECT((g.strongly_connected_components(cpu) == Labels{0, 0, 0, 3}));

    PageRankOptions options;
    options.damping = 0.5;
    options.personalization = {0, 0, 0, 1};
    EXPECT(g.pagerank(cpu).ranks.size() == 4 && g.pagerank(cpu).iterations > 0);
    EXPECT(g.pagerank(cpu, options).ranks[3] > 0.999);
    options.personalization.pop_back();
    EXPECT(refused(SPARRING_LENGTH, [&] { g.pagerank(cpu, options); }) == "personalization: 3 elements, expected 4");
    EXPECT((g.betweenness(cpu) == Scores{1, 2, 3, 0} && g.sampled_betweenness(cpu, 4) == Scores{1, 2, 3, 0}));
    EXPECT((g.betweenness(cpu, true)[2] == 0.5 && g.dependencies(cpu, {0, 1}) == Scores{0, 2, 3, 0}));
    EXPECT(g.closeness(cpu)[3] == 3.0 / 29 && g.harmonic(cpu)[3] == 1.0 / 8 + 1.0 / 10 + 1.0 / 11);
    EXPECT(both.eigenvector(cpu)[2] > 0.5 && g.katz(cpu, 0.01)[3] > 0.5);
    EXPECT(both.hits(cpu).hubs.size() == 4 && both.hits(cpu).authorities[2] > 0);
    EXPECT((both.core_numbers(cpu) == Labels{2, 2, 2, 1} && both.clustering(cpu).transitivity == 0.6));

    const auto found = both.leiden(cpu);
    EXPECT(found.labels.size() == 4 && found.count >= 1);
    EXPECT(std::abs(both.modularity(cpu, found.labels) - found.modularity) < 1e-12);
    EXPECT(both.louvain(cpu, 0.5, 7).count <= 2 && both.label_propagation(cpu).labels.size() == 4);
    EXPECT(both.asynchronous_label_propagation(cpu).labels.size() == 4);
    EXPECT(both.color(cpu).count == 3 && !both.independent_set(cpu).empty());
    const auto forest = both.spanning_forest(cpu);
    EXPECT(forest.weight == 11 && forest.edges.sources.size() == 3 && forest.edges.targets.size() == 3);
    EXPECT(g.matching(cpu).size == 3 && g.matching(cpu).rows[3] == unreached);
    EXPECT((both.truss(cpu, 3).targets == Labels{1, 2, 2} && both.truss_numbers(cpu).numbers == Labels{3, 3, 3, 2}));
    const Graph order(cpu, Matrix::from_csr<double>(2, 2, {0, 0, 1}, {0}, {1}));
    EXPECT((order.topological_order(cpu) == Labels{1, 0}));
    EXPECT(refused(SPARRING_ARGUMENT, [&] { g.topological_order(cpu); }).find("cycle") != std::string::npos);

    EXPECT(triangles(cpu, a) == 1 && triangles(cpu, a, SPARRING_TRIANGLES_DIRECT) == 1);
    EXPECT((triangles_per_vertex(cpu, a) == std::vector<std::uint64_t>{1, 1, 1, 0}));
    EXPECT(triangles_per_edge(cpu, a).at<std::uint64_t>(2, 0) == 1u);
    const auto wide = matching(cpu, Matrix::from_csr<double>(1, 3, {0, 2}, {1, 2}, {1, 1}));
    EXPECT((wide.size == 1 && wide.rows == Labels{1} && wide.columns == Labels{unreached, 0, unreached}));
    const Graph none(cpu, Matrix(SPARRING_F64, 0, 0));
    EXPECT(none.closeness(cpu).empty() && none.all_pairs(cpu).empty() && none.truss_numbers(cpu).numbers.empty());
}

int main(int, char **arguments)
{
    callables();
    files(arguments[0]);
    values();
    operations();
    parts();
    graphs();
    tensors();
    errors();
    EXPECT(sparring_handles_alive() == 0);
    std::cout << "ok\n";
}
