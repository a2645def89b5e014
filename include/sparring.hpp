// sparring for C++17: owning classes over sparring.h, header-only.
//
//     sparring::Device cpu;
//     sparring::Semiring min_plus("min_plus", sparring::type_of<double>());
//     auto a = sparring::Matrix::from_coo<double>(3, 3, rows, cols, values);
//     auto c = sparring::mxm(cpu, min_plus, a, a);                                 // C = A min.+ A, a new matrix
//     cpu.into(q).mask(seen).structure().complement().replace().vxm(reach, q, a);  // q⟨¬seen⟩ = q ⊕.⊗ A, in place
//     const auto path = sparring::Graph::weighted(cpu, a).sssp_tree(cpu, 0).path(2);
//
// - A class owns one handle and frees it; it is movable, and copied only by dup(). get() lends the handle to functions
//   of sparring.h without a wrapper; a constructor from a handle adopts it.
// - Failures throw an Error with the status and the message of sparring_last_error(). Destructors never throw.
// - Value types are checked where C trusts the caller: reading doubles as integers is an Error.
// - Threads, devices, masks and accumulators work as in sparring.h (SparringDescriptor).

#ifndef SPARRING_HPP
#define SPARRING_HPP

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sparring.h"

namespace sparring {

/// A failed call: its status, and as what() the message that names the argument.
class Error : public std::runtime_error {
public:
    Error(SparringStatus status, const std::string &message) : std::runtime_error(message), status_(status) {}
    SparringStatus status() const noexcept { return status_; }

private:
    SparringStatus status_;
};

/// Throws an Error unless the status of a sparring.h function is SPARRING_OK.
inline void check(SparringStatus status)
{
    if (status != SPARRING_OK)
        throw Error(status, sparring_last_error());
}

// Value types.

/// The SparringType of bool, integers of 8 to 64 bits, float, double, and std::complex of those two.
template <class T> constexpr SparringType type_of() noexcept
{
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<float>> ||
                      std::is_same_v<T, std::complex<double>>,
                  "a numeric type that sparring supports");
    static_assert(sizeof(bool) == 1, "bool must be one byte");
    if constexpr (std::is_same_v<T, bool>) {
        return SPARRING_BOOL;
    } else if constexpr (std::is_integral_v<T>) {
        static_assert(sizeof(T) <= 8, "integers have at most 64 bits");
        constexpr bool is_signed = std::is_signed_v<T>;
        switch (sizeof(T)) {
        case 1: return is_signed ? SPARRING_I8 : SPARRING_U8;
        case 2: return is_signed ? SPARRING_I16 : SPARRING_U16;
        case 4: return is_signed ? SPARRING_I32 : SPARRING_U32;
        default: return is_signed ? SPARRING_I64 : SPARRING_U64;
        }
    } else if constexpr (std::is_same_v<T, float>) {
        return SPARRING_F32;
    } else if constexpr (std::is_same_v<T, double>) {
        return SPARRING_F64;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return SPARRING_COMPLEX_F32;
    } else {
        static_assert(std::is_same_v<T, std::complex<double>>, "long double is not supported");
        return SPARRING_COMPLEX_F64;
    }
}

/// The element type of an array of T: a byte for bool, because std::vector<bool> has no array.
template <class T> using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// A borrowed array: from a vector, an array, a braced list, or a pointer and a length.
template <class T> class Span {
public:
    Span(const T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    Span(const std::vector<T> &v) noexcept : Span(v.data(), v.size()) {}
    Span(std::initializer_list<T> list) noexcept : Span(list.begin(), list.size()) {}
    template <std::size_t N> Span(const T (&array)[N]) noexcept : Span(array, N) {}
    template <std::size_t N> Span(const std::array<T, N> &array) noexcept : Span(array.data(), N) {}
    const T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

private:
    const T *data_;
    std::size_t size_;
};

/// A selection of rows, columns or indices: all, a list owned by the caller, or `len` indices from `start` by `step`.
class Indices {
public:
    /// All indices.
    Indices() noexcept = default;
    Indices(Span<std::uint64_t> list) noexcept : indices_{list.data(), list.size(), 0, 1}, all_(false) {}
    Indices(const std::vector<std::uint64_t> &list) noexcept : Indices(Span<std::uint64_t>(list)) {}
    Indices(std::initializer_list<std::uint64_t> list) noexcept : Indices(Span<std::uint64_t>(list)) {}
    static Indices range(std::uint64_t start, std::uint64_t len, std::int64_t step = 1) noexcept
    {
        Indices made;
        made.indices_ = {nullptr, len, start, step};
        made.all_ = false;
        return made;
    }
    const SparringIndices *get() const noexcept { return all_ ? nullptr : &indices_; }

private:
    SparringIndices indices_ = {};
    bool all_ = true;
};

namespace detail {

/// Owns a handle.
template <class Raw, SparringStatus (*free_)(Raw *)> class Handle {
public:
    /// Adopts a handle.
    explicit Handle(Raw *raw) noexcept : raw_(raw) {}
    Handle(Handle &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Handle &operator=(Handle &&other) noexcept
    {
        if (this != &other) {
            free_(raw_);
            raw_ = std::exchange(other.raw_, nullptr);
        }
        return *this;
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() { free_(raw_); }
    /// The handle, still owned.
    Raw *get() const noexcept { return raw_; }
    /// Releases the handle to the caller.
    [[nodiscard]] Raw *release() noexcept { return std::exchange(raw_, nullptr); }

private:
    Raw *raw_;
};

/// The handle returned by a call.
template <class Raw, class Function> Raw *make(Function function)
{
    Raw *raw = nullptr;
    check(function(&raw));
    return raw;
}

/// The number returned by a function.
template <class Number, class Raw> Number number(SparringStatus (*function)(const Raw *, Number *), const Raw *raw)
{
    Number found{};
    check(function(raw, &found));
    return found;
}

/// The text returned by a function.
template <class Raw>
std::string text(SparringStatus (*function)(const Raw *, char *, std::uint64_t, std::uint64_t *), const Raw *raw)
{
    std::uint64_t length = 0;
    check(function(raw, nullptr, 0, &length));
    std::string found(static_cast<std::size_t>(length) + 1, '\0');
    check(function(raw, found.data(), found.size(), nullptr));
    found.resize(static_cast<std::size_t>(length));
    return found;
}

/// The bytes returned by a function.
template <class Raw>
std::vector<std::uint8_t> serialized(SparringStatus (*function)(const Raw *, SparringBytes **), const Raw *raw)
{
    const Handle<SparringBytes, sparring_bytes_free> bytes(
        make<SparringBytes>([=](SparringBytes **out) { return function(raw, out); }));
    const void *data = nullptr;
    std::uint64_t len = 0;
    check(sparring_bytes_get(bytes.get(), &data, &len));
    const auto *first = static_cast<const std::uint8_t *>(data);
    return std::vector<std::uint8_t>(first, first + len);
}

/// A callable as the context of a C function. An exception ends the program (std::terminate), because it must not
/// unwind through the library.
template <class F> struct Callable {
    template <class X> static void unary(void *f, void *z, const void *x) noexcept
    {
        put(z, (*static_cast<const F *>(f))(at<X>(x)));
    }
    template <class X, class Y> static void binary(void *f, void *z, const void *x, const void *y) noexcept
    {
        put(z, (*static_cast<const F *>(f))(at<X>(x), at<Y>(y)));
    }
    template <class X, class S>
    static void index(void *f, void *z, const void *x, std::uint64_t i, std::uint64_t j, const void *s) noexcept
    {
        put(z, (*static_cast<const F *>(f))(at<X>(x), i, j, at<S>(s)));
    }
    static void release(void *f) { delete static_cast<F *>(f); }
    /// The handle that `function` creates from the callable, taking ownership of it.
    template <class Raw, class Function> static Raw *make(F f, Function function)
    {
        auto held = std::make_unique<F>(std::move(f));
        Raw *raw = detail::make<Raw>([&](Raw **out) { return function(held.get(), out); });
        held.release();
        return raw;
    }

private:
    template <class T> static const T &at(const void *p) noexcept { return *static_cast<const T *>(p); }
    template <class Z> static void put(void *z, Z value) noexcept { *static_cast<Z *>(z) = value; }
};

template <class T> void expect(SparringType found, const char *what)
{
    if (found != type_of<T>())
        throw Error(SPARRING_TYPE, std::string(what) + ": its values are of another type than those asked for");
}

inline void expect_length(std::size_t found, std::size_t expected, const char *what)
{
    if (found != expected)
        throw Error(SPARRING_LENGTH, std::string(what) + ": " + std::to_string(found) + " elements, expected " +
                                         std::to_string(expected));
}

} // namespace detail

/// Calls `f` and explains the operations that it performs on this thread: operands with their storage forms, kernels
/// and reasons, line by line.
template <class F> std::string explain(F &&f)
{
    struct Listening {
        Listening() { check(sparring_explain(1)); }
        ~Listening() { sparring_explain(0); }
    };
    {
        const Listening listening;
        std::forward<F>(f)();
    }
    std::uint64_t length = 0;
    check(sparring_explanation(nullptr, 0, &length));
    std::string found(static_cast<std::size_t>(length) + 1, '\0');
    check(sparring_explanation(found.data(), found.size(), nullptr));
    found.resize(static_cast<std::size_t>(length));
    return found;
}

template <class C> class Into;
class Matrix;
class Vector;
class Scalar;

/// A device: "cpu" with a number of threads (0: all), or "cuda:0"; with a memory budget in bytes (0: none).
class Device : public detail::Handle<SparringDevice, sparring_device_free> {
public:
    using Handle::Handle;
    explicit Device(const char *name = "cpu", std::uint32_t threads = 0, std::uint64_t memory_budget = 0)
        : Handle(detail::make<SparringDevice>(
              [=](SparringDevice **out) { return sparring_device_new(name, threads, memory_budget, out); }))
    {
    }
    std::string describe() const { return detail::text(sparring_device_describe, get()); }
    /// Waits until all operations are finished; for timing a GPU.
    void wait() const { check(sparring_device_wait(get())); }
    /// An operation into an existing object: c⟨mask⟩ ⊙= …
    template <class C> Into<C> into(C &c) const { return Into<C>(*this, c); }
};

/// One value of a type, or empty.
class Scalar : public detail::Handle<SparringScalar, sparring_scalar_free> {
public:
    using Handle::Handle;
    /// An empty scalar.
    explicit Scalar(SparringType type) : Handle(make(type, nullptr)) {}
    /// A scalar with a value.
    template <class T> static Scalar of(T value) { return Scalar(make(type_of<T>(), &value)); }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_scalar_type, get())); }
    /// The value, if there is one.
    template <class T> std::optional<T> value() const
    {
        detail::expect<T>(type(), "scalar");
        T found{};
        const SparringStatus status = sparring_scalar_get(get(), &found);
        if (status == SPARRING_NO_VALUE)
            return std::nullopt;
        check(status);
        return found;
    }
    template <class T> void set(T value)
    {
        detail::expect<T>(type(), "scalar");
        check(sparring_scalar_set(get(), &value));
    }
    void clear() { check(sparring_scalar_set(get(), nullptr)); }

private:
    static SparringScalar *make(SparringType type, const void *value)
    {
        return detail::make<SparringScalar>(
            [=](SparringScalar **out) { return sparring_scalar_new(type, value, out); });
    }
};

/// z = f(a), or f(a, s, i, j), by name or formula: "abs", "a*a", "a > s", "i < j".
class UnaryOp : public detail::Handle<SparringUnaryOp, sparring_unary_op_free> {
public:
    using Handle::Handle;
    /// The scalar of a formula has the type of a.
    UnaryOp(const char *text, SparringType type) : UnaryOp(make(text, type, 0)) {}
    UnaryOp(const char *text, SparringType type, SparringType of_s) : UnaryOp(make(text, type, of_s)) {}
    /// z = f(x) from a callable, for values of X. Threads of the device call it concurrently. It depends only on x, and
    /// an exception ends the program. It works wherever an operator is accepted on the processor, but not on a GPU.
    template <class X, class F> static UnaryOp of(F f, const char *name = nullptr)
    {
        using Z = std::invoke_result_t<const F &, const X &>;
        using Call = detail::Callable<F>;
        return UnaryOp(Call::template make<SparringUnaryOp>(std::move(f), [=](void *context, SparringUnaryOp **out) {
            return sparring_unary_op_from_closure(&Call::template unary<X>, context, &Call::release, name, type_of<Z>(),
                                                  type_of<X>(), out);
        }));
    }
    /// z = f(x, i, j, s) from a callable: i and j are the row and column of the entry, s a scalar set by with().
    template <class X, class S, class F> static UnaryOp of_index(F f, const char *name = nullptr)
    {
        using Z = std::invoke_result_t<const F &, const X &, std::uint64_t, std::uint64_t, const S &>;
        using Call = detail::Callable<F>;
        return UnaryOp(Call::template make<SparringUnaryOp>(std::move(f), [=](void *context, SparringUnaryOp **out) {
            return sparring_unary_op_from_index_closure(&Call::template index<X, S>, context, &Call::release, name,
                                                        type_of<Z>(), type_of<X>(), type_of<S>(), out);
        }));
    }
    /// The operator with its scalar set.
    UnaryOp with(const Scalar &s) const
    {
        return UnaryOp(detail::make<SparringUnaryOp>(
            [&](SparringUnaryOp **out) { return sparring_unary_op_with(get(), s.get(), out); }));
    }
    template <class T> UnaryOp with(T s) const { return with(Scalar::of(s)); }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_unary_op_type, get())); }
    std::string describe() const { return detail::text(sparring_unary_op_describe, get()); }

private:
    static SparringUnaryOp *make(const char *text, SparringType type, std::uint32_t of_s)
    {
        return detail::make<SparringUnaryOp>(
            [=](SparringUnaryOp **out) { return sparring_unary_op_new(text, type, of_s, out); });
    }
};

/// z = a ∘ b by name or formula: "plus", "a + 2*b".
class BinaryOp : public detail::Handle<SparringBinaryOp, sparring_binary_op_free> {
public:
    using Handle::Handle;
    BinaryOp(const char *text, SparringType type) : BinaryOp(text, type, type) {}
    BinaryOp(const char *text, SparringType a, SparringType b)
        : Handle(detail::make<SparringBinaryOp>(
              [=](SparringBinaryOp **out) { return sparring_binary_op_new(text, a, b, out); }))
    {
    }
    /// z = f(x, y) from a callable, for values of X and Y, like UnaryOp::of.
    template <class X, class Y = X, class F> static BinaryOp of(F f, const char *name = nullptr)
    {
        using Z = std::invoke_result_t<const F &, const X &, const Y &>;
        using Call = detail::Callable<F>;
        return BinaryOp(Call::template make<SparringBinaryOp>(std::move(f), [=](void *context, SparringBinaryOp **out) {
            return sparring_binary_op_from_closure(&Call::template binary<X, Y>, context, &Call::release, name,
                                                   type_of<Z>(), type_of<X>(), type_of<Y>(), out);
        }));
    }
    /// x ↦ s ∘ x.
    UnaryOp bind_first(const Scalar &s) const
    {
        return UnaryOp(detail::make<SparringUnaryOp>(
            [&](SparringUnaryOp **out) { return sparring_binary_op_bind_first(get(), s.get(), out); }));
    }
    template <class T> UnaryOp bind_first(T s) const { return bind_first(Scalar::of(s)); }
    /// x ↦ x ∘ s.
    UnaryOp bind_second(const Scalar &s) const
    {
        return UnaryOp(detail::make<SparringUnaryOp>(
            [&](SparringUnaryOp **out) { return sparring_binary_op_bind_second(get(), s.get(), out); }));
    }
    template <class T> UnaryOp bind_second(T s) const { return bind_second(Scalar::of(s)); }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_binary_op_type, get())); }
    std::string describe() const { return detail::text(sparring_binary_op_describe, get()); }
};

/// ⊕ with its identity, by name or formula: "plus", "a + b - a*b identity 0".
class Monoid : public detail::Handle<SparringMonoid, sparring_monoid_free> {
public:
    using Handle::Handle;
    Monoid(const char *text, SparringType type)
        : Handle(detail::make<SparringMonoid>(
              [=](SparringMonoid **out) { return sparring_monoid_new(text, type, out); }))
    {
    }
    /// From an operator, also a callable, and its identity.
    Monoid(const BinaryOp &op, const Scalar &identity)
        : Handle(detail::make<SparringMonoid>(
              [&](SparringMonoid **out) { return sparring_monoid_from_op(op.get(), identity.get(), out); }))
    {
    }
    template <class T> static Monoid of(const BinaryOp &op, T identity) { return Monoid(op, Scalar::of(identity)); }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_monoid_type, get())); }
    std::string describe() const { return detail::text(sparring_monoid_describe, get()); }
};

/// ⊕ and ⊗ by name or formula: "min_plus", "min, a + 2*b".
class Semiring : public detail::Handle<SparringSemiring, sparring_semiring_free> {
public:
    using Handle::Handle;
    Semiring(const char *text, SparringType type) : Semiring(text, type, type) {}
    Semiring(const char *text, SparringType a, SparringType b)
        : Handle(detail::make<SparringSemiring>(
              [=](SparringSemiring **out) { return sparring_semiring_new(text, a, b, out); }))
    {
    }
    /// From a monoid and an operator, also callables.
    Semiring(const Monoid &add, const BinaryOp &mul)
        : Handle(detail::make<SparringSemiring>(
              [&](SparringSemiring **out) { return sparring_semiring_from_ops(add.get(), mul.get(), out); }))
    {
    }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_semiring_type, get())); }
    std::string describe() const { return detail::text(sparring_semiring_describe, get()); }
};

/// The labels of a file: row labels, column names, vertex numbers.
class Labels : public detail::Handle<SparringLabels, sparring_labels_free> {
public:
    using Handle::Handle;
    /// Numeric row labels.
    explicit Labels(Span<double> numbers)
        : Handle(detail::make<SparringLabels>([&](SparringLabels **out) {
              return sparring_labels_from_numbers(numbers.data(), numbers.size(), out);
          }))
    {
    }
    std::vector<std::string> rows() const { return texts(sparring_labels_row, counts()[0]); }
    std::vector<std::string> columns() const { return texts(sparring_labels_column, counts()[1]); }
    /// The row labels as numbers.
    std::vector<double> numbers() const
    {
        // One more element, so that an empty array has an address.
        std::vector<double> found(static_cast<std::size_t>(counts()[0]) + 1);
        check(sparring_labels_numbers(get(), found.data(), found.size()));
        found.pop_back();
        return found;
    }
    /// The original number of each row and column in the file, if they were renumbered.
    std::vector<std::int64_t> ids() const
    {
        std::vector<std::int64_t> found(static_cast<std::size_t>(counts()[2]) + 1);
        check(sparring_labels_ids(get(), found.data(), found.size()));
        found.pop_back();
        return found;
    }

private:
    std::array<std::uint64_t, 3> counts() const
    {
        std::array<std::uint64_t, 3> found{};
        check(sparring_labels_counts(get(), &found[0], &found[1], &found[2]));
        return found;
    }
    template <class Function> std::vector<std::string> texts(Function function, std::uint64_t count) const
    {
        std::vector<std::string> found;
        for (std::uint64_t at = 0; at < count; at++) {
            std::uint64_t length = 0;
            check(function(get(), at, nullptr, 0, &length));
            std::string text(static_cast<std::size_t>(length) + 1, '\0');
            check(function(get(), at, text.data(), text.size(), nullptr));
            text.resize(static_cast<std::size_t>(length));
            found.push_back(std::move(text));
        }
        return found;
    }
};

/// CSR arrays: the entries of row i are at p from row_ptr[i] to row_ptr[i + 1] - 1.
template <class T> struct Csr {
    std::vector<std::uint64_t> row_ptr;
    std::vector<std::uint32_t> col_idx;
    std::vector<Stored<T>> values;
};

/// A sparse matrix.
class Matrix : public detail::Handle<SparringMatrix, sparring_matrix_free> {
public:
    using Handle::Handle;
    /// Empty.
    Matrix(SparringType type, std::uint64_t nrows, std::uint64_t ncols)
        : Handle(detail::make<SparringMatrix>(
              [=](SparringMatrix **out) { return sparring_matrix_new(type, nrows, ncols, out); }))
    {
    }
    /// From CSR arrays, which are validated and copied.
    template <class T>
    static Matrix from_csr(std::uint64_t nrows, std::uint64_t ncols, Span<std::uint64_t> row_ptr,
                           Span<std::uint32_t> col_idx, Span<Stored<T>> values)
    {
        detail::expect_length(row_ptr.size(), static_cast<std::size_t>(nrows) + 1, "row_ptr");
        detail::expect_length(values.size(), col_idx.size(), "values");
        return Matrix(detail::make<SparringMatrix>([&](SparringMatrix **out) {
            return sparring_matrix_from_csr(type_of<T>(), nrows, ncols, row_ptr.data(), col_idx.data(), values.data(),
                                            values.size(), out);
        }));
    }
    /// From coordinates in any order; duplicate entries are summed.
    template <class T>
    static Matrix from_coo(std::uint64_t nrows, std::uint64_t ncols, Span<std::uint32_t> rows, Span<std::uint32_t> cols,
                           Span<Stored<T>> values)
    {
        detail::expect_length(rows.size(), values.size(), "rows");
        detail::expect_length(cols.size(), values.size(), "cols");
        return Matrix(detail::make<SparringMatrix>([&](SparringMatrix **out) {
            return sparring_matrix_from_coo(type_of<T>(), nrows, ncols, rows.data(), cols.data(), values.data(),
                                            values.size(), out);
        }));
    }
    /// From a Matrix Market file.
    static Matrix read(const Device &device, SparringType type, const char *path)
    {
        return Matrix(detail::make<SparringMatrix>(
            [&](SparringMatrix **out) { return sparring_matrix_read(device.get(), type, path, out); }));
    }
    /// From a file of any format, with values of `type`, or for 0 of the type of the file. `labels` receives the labels
    /// of the file.
    static Matrix read(const Device &device, SparringFormat format, std::uint32_t type, const char *path,
                       const SparringFileOptions &options = {}, Labels *labels = nullptr)
    {
        SparringLabels *beside = nullptr;
        Matrix found(detail::make<SparringMatrix>([&](SparringMatrix **out) {
            return sparring_matrix_read_file(device.get(), format, type, path, &options, labels ? &beside : nullptr, out);
        }));
        if (labels)
            *labels = Labels(beside);
        return found;
    }
    /// Writes a file, in a format that supports writing.
    void write(const Device &device, SparringFormat format, const char *path, const Labels *labels = nullptr) const
    {
        check(sparring_matrix_write_file(device.get(), format, get(), labels ? labels->get() : nullptr, path));
    }
    /// Serializes to bytes, for deserialize() in this or another process.
    std::vector<std::uint8_t> serialize() const { return detail::serialized(sparring_matrix_serialize, get()); }
    static Matrix deserialize(Span<std::uint8_t> bytes)
    {
        return Matrix(detail::make<SparringMatrix>([&](SparringMatrix **out) {
            return sparring_matrix_deserialize(bytes.data(), bytes.size(), out);
        }));
    }
    Matrix dup() const
    {
        return Matrix(
            detail::make<SparringMatrix>([&](SparringMatrix **out) { return sparring_matrix_dup(get(), out); }));
    }
    /// A copy in the memory of a device.
    Matrix to(const Device &device) const
    {
        return Matrix(detail::make<SparringMatrix>(
            [&](SparringMatrix **out) { return sparring_matrix_to(device.get(), get(), out); }));
    }
    /// A copy with another value type; an unrepresentable value is an Error.
    Matrix cast(SparringType type) const
    {
        return Matrix(detail::make<SparringMatrix>(
            [&](SparringMatrix **out) { return sparring_matrix_cast(get(), type, 0, out); }));
    }
    void clear(const Device &device) { check(sparring_matrix_clear(device.get(), get())); }
    /// Changes the shape; entries outside are deleted.
    void resize(const Device &device, std::uint64_t nrows, std::uint64_t ncols)
    {
        check(sparring_matrix_resize(device.get(), get(), nrows, ncols));
    }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_matrix_type, get())); }
    std::uint64_t nrows() const { return shape().first; }
    std::uint64_t ncols() const { return shape().second; }
    std::uint64_t nnz() const { return detail::number(sparring_matrix_nnz, get()); }
    /// Rows and columns.
    std::pair<std::uint64_t, std::uint64_t> shape() const
    {
        std::pair<std::uint64_t, std::uint64_t> found;
        check(sparring_matrix_shape(get(), &found.first, &found.second));
        return found;
    }
    /// The value at (i, j), if there is an entry.
    template <class T> std::optional<T> at(std::uint64_t i, std::uint64_t j) const
    {
        const Scalar s(type());
        check(sparring_matrix_get(get(), i, j, s.get()));
        return s.value<T>();
    }
    /// Sets (i, j) to a value. Updates stay pending until the matrix is read.
    template <class T> void set(std::uint64_t i, std::uint64_t j, T value)
    {
        check(sparring_matrix_set(get(), i, j, Scalar::of(value).get()));
    }
    /// Removes the entry at (i, j).
    void remove(std::uint64_t i, std::uint64_t j)
    {
        check(sparring_matrix_set(get(), i, j, Scalar(type()).get()));
    }
    /// A copy of its arrays.
    template <class T> Csr<T> csr() const
    {
        detail::expect<T>(type(), "matrix");
        Csr<T> found;
        found.row_ptr.resize(static_cast<std::size_t>(nrows()) + 1);
        found.col_idx.resize(static_cast<std::size_t>(nnz()));
        found.values.resize(found.col_idx.size());
        check(sparring_matrix_copy(get(), found.row_ptr.data(), found.row_ptr.size(), found.col_idx.data(),
                                   found.values.data(), found.values.size()));
        return found;
    }
};

/// The entries of a vector, by increasing index.
template <class T> struct Entries {
    std::vector<std::uint64_t> indices;
    std::vector<Stored<T>> values;
};

/// A sparse or full vector.
class Vector : public detail::Handle<SparringVector, sparring_vector_free> {
public:
    using Handle::Handle;
    /// Empty.
    Vector(SparringType type, std::uint64_t len)
        : Handle(detail::make<SparringVector>(
              [=](SparringVector **out) { return sparring_vector_new(type, len, out); }))
    {
    }
    /// From entries in any order; duplicates are summed.
    template <class T>
    static Vector from_entries(std::uint64_t len, Span<std::uint64_t> indices, Span<Stored<T>> values)
    {
        detail::expect_length(indices.size(), values.size(), "indices");
        return Vector(detail::make<SparringVector>([&](SparringVector **out) {
            return sparring_vector_from_entries(type_of<T>(), len, indices.data(), values.data(), values.size(), out);
        }));
    }
    /// A full vector.
    template <class T> static Vector from_dense(Span<Stored<T>> values)
    {
        return Vector(detail::make<SparringVector>([&](SparringVector **out) {
            return sparring_vector_from_dense(type_of<T>(), values.data(), values.size(), out);
        }));
    }
    Vector dup() const
    {
        return Vector(
            detail::make<SparringVector>([&](SparringVector **out) { return sparring_vector_dup(get(), out); }));
    }
    /// A copy in the memory of a device.
    Vector to(const Device &device) const
    {
        return Vector(detail::make<SparringVector>(
            [&](SparringVector **out) { return sparring_vector_to(device.get(), get(), out); }));
    }
    /// A copy with another value type; an unrepresentable value is an Error.
    Vector cast(SparringType type) const
    {
        return Vector(detail::make<SparringVector>(
            [&](SparringVector **out) { return sparring_vector_cast(get(), type, 0, out); }));
    }
    /// Serializes to bytes, for deserialize() in this or another process.
    std::vector<std::uint8_t> serialize() const { return detail::serialized(sparring_vector_serialize, get()); }
    static Vector deserialize(Span<std::uint8_t> bytes)
    {
        return Vector(detail::make<SparringVector>([&](SparringVector **out) {
            return sparring_vector_deserialize(bytes.data(), bytes.size(), out);
        }));
    }
    void clear(const Device &device) { check(sparring_vector_clear(device.get(), get())); }
    /// Changes the length; entries beyond it are deleted.
    void resize(const Device &device, std::uint64_t len) { check(sparring_vector_resize(device.get(), get(), len)); }
    /// Sets an index to a value.
    template <class T> void set(std::uint64_t i, T value)
    {
        check(sparring_vector_set(get(), i, Scalar::of(value).get()));
    }
    /// Removes the entry at an index.
    void remove(std::uint64_t i) { check(sparring_vector_set(get(), i, Scalar(type()).get())); }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_vector_type, get())); }
    std::uint64_t size() const { return detail::number(sparring_vector_len, get()); }
    std::uint64_t nvals() const { return detail::number(sparring_vector_nvals, get()); }
    /// The value at an index, if there is an entry.
    template <class T> std::optional<T> at(std::uint64_t i) const
    {
        const Scalar s(type());
        check(sparring_vector_get(get(), i, s.get()));
        return s.value<T>();
    }
    /// A copy of its entries.
    template <class T> Entries<T> entries() const
    {
        detail::expect<T>(type(), "vector");
        Entries<T> found;
        found.indices.resize(static_cast<std::size_t>(nvals()));
        found.values.resize(found.indices.size());
        check(sparring_vector_entries(get(), found.indices.data(), found.values.data(), found.indices.size()));
        return found;
    }
};

/// Chained setters of a SparringDescriptor.
template <class Self> class Flags {
public:
    /// Structural mask: allows every position where the mask has an entry, whatever its value.
    Self &structure() noexcept { return set(flags_.structure); }
    /// Complements the mask.
    Self &complement() noexcept { return set(flags_.complement); }
    /// Deletes entries outside the mask.
    Self &replace() noexcept { return set(flags_.replace); }
    /// Transposes the first operand, a matrix.
    Self &transpose_a() noexcept { return set(flags_.transpose_a); }
    /// Transposes the second operand, a matrix.
    Self &transpose_b() noexcept { return set(flags_.transpose_b); }
    /// The precomputed transpose of the matrix of mxv or vxm, so that push or pull can be chosen; it must outlive the
    /// call.
    Self &with_transpose(const Matrix &at) noexcept
    {
        flags_.transposed = at.get();
        return static_cast<Self &>(*this);
    }

protected:
    Self &set(std::uint32_t &flag) noexcept
    {
        flag = 1;
        return static_cast<Self &>(*this);
    }
    SparringDescriptor flags_ = {};
};

/// A reusable descriptor: Descriptor().structure().replace().
class Descriptor : public Flags<Descriptor> {
public:
    const SparringDescriptor &flags() const noexcept { return flags_; }
};

/// Shared part of operations into matrices and into vectors.
template <class C> class IntoAny : public Flags<Into<C>> {
public:
    /// Writes only where the mask allows; it has the kind and shape of c.
    Into<C> &mask(const C &mask) noexcept
    {
        mask_ = mask.get();
        return self();
    }
    /// Accumulates the result into c.
    Into<C> &accum(const BinaryOp &op) noexcept
    {
        accum_ = op.get();
        return self();
    }
    /// Applies all settings of a descriptor.
    Into<C> &with(const Descriptor &descriptor) noexcept
    {
        this->flags_ = descriptor.flags();
        return self();
    }

protected:
    IntoAny(const Device &device, C &c) noexcept : device_(device.get()), c_(c.get()) {}
    template <class Function, class... Operands> void run(Function function, Operands... operands)
    {
        check(function(device_, c_, mask_, accum_, operands..., &this->flags_));
    }

private:
    Into<C> &self() noexcept { return static_cast<Into<C> &>(*this); }
    SparringDevice *device_;
    decltype(std::declval<C>().get()) c_;
    decltype(std::declval<C>().get()) mask_ = nullptr;
    SparringBinaryOp *accum_ = nullptr;
};

/// c⟨mask⟩ ⊙= …, for a matrix c.
template <> class Into<Matrix> : public IntoAny<Matrix> {
public:
    Into(const Device &device, Matrix &c) noexcept : IntoAny(device, c) {}
    /// A ⊕.⊗ B.
    void mxm(const Semiring &ring, const Matrix &a, const Matrix &b)
    {
        run(sparring_matrix_mxm, ring.get(), a.get(), b.get());
    }
    /// A ∘ B on the union of the patterns.
    void ewise_add(const BinaryOp &op, const Matrix &a, const Matrix &b)
    {
        run(sparring_matrix_ewise_add, op.get(), a.get(), b.get());
    }
    /// A ∘ B on the intersection.
    void ewise_mult(const BinaryOp &op, const Matrix &a, const Matrix &b)
    {
        run(sparring_matrix_ewise_mult, op.get(), a.get(), b.get());
    }
    /// A ∘ B for each entry of A and each of B.
    void kronecker(const BinaryOp &op, const Matrix &a, const Matrix &b)
    {
        run(sparring_matrix_kronecker, op.get(), a.get(), b.get());
    }
    /// f(A).
    void apply(const UnaryOp &op, const Matrix &a) { run(sparring_matrix_apply, op.get(), a.get()); }
    /// The entries for which f(A) holds.
    void select(const UnaryOp &op, const Matrix &a) { run(sparring_matrix_select, op.get(), a.get()); }
    /// A ∘ B on the union, with alpha for absent entries of A and beta for those of B.
    void ewise_union(const BinaryOp &op, const Matrix &a, const Scalar &alpha, const Matrix &b, const Scalar &beta)
    {
        run(sparring_matrix_ewise_union, op.get(), a.get(), alpha.get(), b.get(), beta.get());
    }
    /// A(rows, cols).
    void extract(const Matrix &a, const Indices &rows, const Indices &cols)
    {
        run(sparring_matrix_extract, a.get(), rows.get(), cols.get());
    }
    /// c(rows, cols) = A.
    void assign(const Matrix &a, const Indices &rows, const Indices &cols)
    {
        run(sparring_matrix_assign, a.get(), rows.get(), cols.get());
    }
    /// c(rows, cols) = s at every position.
    void assign(const Scalar &s, const Indices &rows = {}, const Indices &cols = {})
    {
        run(sparring_matrix_assign_scalar, s.get(), rows.get(), cols.get());
    }
    /// The square matrix with x on diagonal k.
    void diag(const Vector &x, std::int64_t k = 0) { run(sparring_matrix_diag, x.get(), k); }
    /// Aᵀ.
    void transpose(const Matrix &a) { run(sparring_matrix_transpose, a.get()); }
    /// A itself.
    void update(const Matrix &a) { run(sparring_matrix_update, a.get()); }
};

/// c⟨mask⟩ ⊙= …, for a vector c.
template <> class Into<Vector> : public IntoAny<Vector> {
public:
    Into(const Device &device, Vector &c) noexcept : IntoAny(device, c) {}
    /// A ⊕.⊗ x.
    void mxv(const Semiring &ring, const Matrix &a, const Vector &x)
    {
        run(sparring_vector_mxv, ring.get(), a.get(), x.get());
    }
    /// x ⊕.⊗ A.
    void vxm(const Semiring &ring, const Vector &x, const Matrix &a)
    {
        run(sparring_vector_vxm, ring.get(), x.get(), a.get());
    }
    /// x ∘ y on the union of the patterns.
    void ewise_add(const BinaryOp &op, const Vector &x, const Vector &y)
    {
        run(sparring_vector_ewise_add, op.get(), x.get(), y.get());
    }
    /// x ∘ y on the intersection.
    void ewise_mult(const BinaryOp &op, const Vector &x, const Vector &y)
    {
        run(sparring_vector_ewise_mult, op.get(), x.get(), y.get());
    }
    /// f(x).
    void apply(const UnaryOp &op, const Vector &x) { run(sparring_vector_apply, op.get(), x.get()); }
    /// The entries for which f(x) holds.
    void select(const UnaryOp &op, const Vector &x) { run(sparring_vector_select, op.get(), x.get()); }
    /// x ∘ y on the union, with alpha for absent entries of x and beta for those of y.
    void ewise_union(const BinaryOp &op, const Vector &x, const Scalar &alpha, const Vector &y, const Scalar &beta)
    {
        run(sparring_vector_ewise_union, op.get(), x.get(), alpha.get(), y.get(), beta.get());
    }
    /// x(indices).
    void extract(const Vector &x, const Indices &indices) { run(sparring_vector_extract, x.get(), indices.get()); }
    /// A(rows, j).
    void extract_column(const Matrix &a, const Indices &rows, std::uint64_t j)
    {
        run(sparring_vector_extract_column, a.get(), rows.get(), j);
    }
    /// A(i, cols).
    void extract_row(const Matrix &a, std::uint64_t i, const Indices &cols)
    {
        run(sparring_vector_extract_row, a.get(), i, cols.get());
    }
    /// c(indices) = x.
    void assign(const Vector &x, const Indices &indices) { run(sparring_vector_assign, x.get(), indices.get()); }
    /// c(indices) = s at every index.
    void assign(const Scalar &s, const Indices &indices = {})
    {
        run(sparring_vector_assign_scalar, s.get(), indices.get());
    }
    /// t(indices(p)) = x(p), duplicates combined by the operator.
    void scatter(const BinaryOp &op, const Vector &x, const Indices &indices)
    {
        run(sparring_vector_scatter, op.get(), x.get(), indices.get());
    }
    /// An aggregate of each nonempty row of A.
    void aggregate(SparringAggregate aggregate, const Matrix &a) { run(sparring_vector_aggregate, aggregate, a.get()); }
    /// Diagonal k of A.
    void diagonal(const Matrix &a, std::int64_t k = 0) { run(sparring_vector_diagonal, a.get(), k); }
    /// ⊕ over each row of A.
    void reduce(const Monoid &monoid, const Matrix &a) { run(sparring_vector_reduce, monoid.get(), a.get()); }
    /// x itself.
    void update(const Vector &x) { run(sparring_vector_update, x.get()); }
};

/// s ⊙= …, for a scalar s.
template <> class Into<Scalar> {
public:
    Into(const Device &device, Scalar &s) noexcept : device_(device.get()), scalar_(s.get()) {}
    /// Accumulates the result into s.
    Into &accum(const BinaryOp &op) noexcept
    {
        accum_ = op.get();
        return *this;
    }
    /// ⊕ over all entries; empty if there are none.
    void reduce(const Monoid &monoid, const Matrix &a)
    {
        check(sparring_matrix_reduce_scalar(device_, scalar_, accum_, monoid.get(), a.get()));
    }
    void reduce(const Monoid &monoid, const Vector &x)
    {
        check(sparring_vector_reduce_scalar(device_, scalar_, accum_, monoid.get(), x.get()));
    }

private:
    SparringDevice *device_;
    SparringScalar *scalar_;
    SparringBinaryOp *accum_ = nullptr;
};

/// c(i, cols) = x; all columns by default.
inline void assign_row(const Device &device, Matrix &c, std::uint64_t i, const Vector &x, const Indices &cols = {})
{
    check(sparring_matrix_assign_row(device.get(), c.get(), nullptr, nullptr, x.get(), i, cols.get(), nullptr));
}
/// c(rows, j) = x; all rows by default.
inline void assign_column(const Device &device, Matrix &c, std::uint64_t j, const Vector &x, const Indices &rows = {})
{
    check(sparring_matrix_assign_column(device.get(), c.get(), nullptr, nullptr, x.get(), rows.get(), j, nullptr));
}

// Plain operations: a new result in host memory.

/// A ⊕.⊗ B.
inline Matrix mxm(const Device &device, const Semiring &ring, const Matrix &a, const Matrix &b)
{
    Matrix c(ring.type(), a.nrows(), b.ncols());
    device.into(c).mxm(ring, a, b);
    return c;
}
/// A ⊕.⊗ x.
inline Vector mxv(const Device &device, const Semiring &ring, const Matrix &a, const Vector &x)
{
    Vector y(ring.type(), a.nrows());
    device.into(y).mxv(ring, a, x);
    return y;
}
/// x ⊕.⊗ A.
inline Vector vxm(const Device &device, const Semiring &ring, const Vector &x, const Matrix &a)
{
    Vector y(ring.type(), a.ncols());
    device.into(y).vxm(ring, x, a);
    return y;
}
namespace detail {
inline Matrix like(const Matrix &a, SparringType type) { return Matrix(type, a.nrows(), a.ncols()); }
inline Vector like(const Vector &x, SparringType type) { return Vector(type, x.size()); }
} // namespace detail
/// a ∘ b on the union of the patterns, of matrices or vectors.
template <class C> C ewise_add(const Device &device, const BinaryOp &op, const C &a, const C &b)
{
    C c = detail::like(a, op.type());
    device.into(c).ewise_add(op, a, b);
    return c;
}
/// a ∘ b on the intersection.
template <class C> C ewise_mult(const Device &device, const BinaryOp &op, const C &a, const C &b)
{
    C c = detail::like(a, op.type());
    device.into(c).ewise_mult(op, a, b);
    return c;
}
/// f(a).
template <class C> C apply(const Device &device, const UnaryOp &op, const C &a)
{
    C c = detail::like(a, op.type());
    device.into(c).apply(op, a);
    return c;
}
/// The entries for which f(a) holds.
template <class C> C select(const Device &device, const UnaryOp &op, const C &a)
{
    C c = detail::like(a, a.type());
    device.into(c).select(op, a);
    return c;
}
/// Aᵀ.
inline Matrix transpose(const Device &device, const Matrix &a)
{
    Matrix c(a.type(), a.ncols(), a.nrows());
    device.into(c).transpose(a);
    return c;
}
/// The Kronecker product.
inline Matrix kronecker(const Device &device, const BinaryOp &op, const Matrix &a, const Matrix &b)
{
    Matrix c(op.type(), a.nrows() * b.nrows(), a.ncols() * b.ncols());
    device.into(c).kronecker(op, a, b);
    return c;
}
/// y ⊙= A ⊕.⊗ X, X and y row-major arrays of `columns` columns of values of X and Y; without `accum` y is overwritten.
template <class Y, class X = Y>
void spmm_into(const Device &device, Stored<Y> *y, std::size_t y_len, const BinaryOp *accum, const Semiring &ring,
               const Matrix &a, Span<Stored<X>> x, std::uint64_t columns, const Descriptor &descriptor = {})
{
    detail::expect<Y>(ring.type(), "y");
    check(sparring_matrix_spmm(device.get(), y, y_len, accum ? accum->get() : nullptr, ring.get(), a.get(), type_of<X>(),
                               x.data(), x.size(), columns, &descriptor.flags()));
}
/// A ⊕.⊗ X, X and the result row-major arrays of `columns` columns.
template <class Y, class X = Y>
std::vector<Stored<Y>> spmm(const Device &device, const Semiring &ring, const Matrix &a, Span<Stored<X>> x,
                            std::uint64_t columns)
{
    std::vector<Stored<Y>> y(static_cast<std::size_t>(a.nrows() * columns));
    spmm_into<Y, X>(device, y.data(), y.size(), nullptr, ring, a, x, columns);
    return y;
}
/// ⊕ over each row of A.
inline Vector reduce_rows(const Device &device, const Monoid &monoid, const Matrix &a)
{
    Vector y(monoid.type(), a.nrows());
    device.into(y).reduce(monoid, a);
    return y;
}
/// ⊕ over all entries of a matrix or a vector, if there are any.
template <class T, class C> std::optional<T> reduce(const Device &device, const Monoid &monoid, const C &a)
{
    Scalar s(monoid.type());
    device.into(s).reduce(monoid, a);
    return s.value<T>();
}

/// Stands for a missing vertex or level: unreachable or unmatched.
constexpr std::uint32_t unreached = UINT32_MAX;

/// A breadth-first search, with a number per vertex.
struct BfsTree {
    std::vector<std::uint32_t> levels;
    std::vector<std::uint32_t> parents;
};

/// Shortest paths from one vertex, with a number per vertex.
struct ShortestPaths {
    std::vector<double> distances;
    std::vector<std::uint32_t> parents;
    /// The vertices of a shortest path to `target`, the source first; empty without a path.
    std::vector<std::uint32_t> path(std::size_t target) const
    {
        std::vector<std::uint32_t> backwards;
        for (std::size_t at = target; backwards.size() <= parents.size();) {
            if (at >= parents.size() || parents[at] == unreached)
                return {};
            backwards.push_back(static_cast<std::uint32_t>(at));
            if (parents[at] == at)
                return {backwards.rbegin(), backwards.rend()};
            at = parents[at];
        }
        return {};
    }
};

/// Options of Graph::pagerank().
struct PageRankOptions {
    double damping = 0.85;
    /// The iteration stops when the 1-norm of the change is below this.
    double tolerance = 1e-6;
    std::uint32_t max_iterations = 100;
    /// Drops the rank of vertices without outgoing edges, as the GAP benchmark does.
    bool drop_dangling = false;
    /// Teleport distribution, up to a factor, a number per vertex; empty: uniform.
    std::vector<double> personalization = {};
};

/// The rank of each vertex, the number of iterations, and the last change of the ranks.
struct PageRank {
    std::vector<double> ranks;
    std::uint32_t iterations;
    double change;
};

/// Two scores of each vertex.
struct Hits {
    std::vector<double> hubs;
    std::vector<double> authorities;
};

/// The clustering coefficient of each vertex, their mean, and that of the graph.
struct Clustering {
    std::vector<double> local;
    double average;
    double transitivity;
};

/// The color of each vertex, below `count`.
struct Coloring {
    std::vector<std::uint32_t> colors;
    std::uint32_t count;
};

/// The label of each vertex, and the number of iterations.
struct LabelPropagation {
    std::vector<std::uint32_t> labels;
    std::uint64_t iterations;
};

/// The community of each vertex, below `count`, and their modularity.
struct Communities {
    std::vector<std::uint32_t> labels;
    std::uint64_t count;
    double modularity;
};

/// Edges as pairs of vertices, in increasing order.
struct Edges {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> targets;
};

/// The edges of a spanning forest and the sum of their weights.
struct SpanningForest {
    Edges edges;
    double weight;
};

/// Edges, with a number per edge.
struct TrussNumbers {
    Edges edges;
    std::vector<std::uint32_t> numbers;
};

/// The partner of each row, and of each column if requested, `unreached` if unmatched; and the number of pairs.
struct Matching {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> columns;
    std::uint64_t size;
};

/// A graph of vertices 0..n, immutable and shareable between threads. Each algorithm takes the device to run on; the
/// functions of the same names in sparring.h document it.
class Graph : public detail::Handle<SparringGraph, sparring_graph_free> {
public:
    using Handle::Handle;
    /// From a square matrix, whose entries are edges; values are ignored.
    explicit Graph(const Device &device, const Matrix &a, SparringGraphKind kind = SPARRING_GRAPH_AUTO)
        : Graph(device, a, kind, 0)
    {
    }
    /// The same with the values as edge weights.
    static Graph weighted(const Device &device, const Matrix &a, SparringGraphKind kind = SPARRING_GRAPH_AUTO)
    {
        return Graph(device, a, kind, 1);
    }
    /// Vertices, edges, self-loops, kind, and whether edges have weights.
    SparringGraphInfo info() const { return detail::number(sparring_graph_info, get()); }
    std::uint64_t vertices() const { return info().vertices; }
    std::uint64_t edges() const { return info().edges; }
    /// The adjacency matrix: weights, or bool if unweighted.
    Matrix matrix() const
    {
        return Matrix(
            detail::make<SparringMatrix>([&](SparringMatrix **out) { return sparring_graph_matrix(get(), out); }));
    }
    /// Computes the transpose of a directed graph in advance.
    void prepare(const Device &device) const { check(sparring_graph_prepare(device.get(), get())); }

    // Paths.

    /// The minimum number of edges from the source to each vertex.
    std::vector<std::uint32_t> bfs(const Device &device, std::uint64_t source) const
    {
        return each<std::uint32_t>([&](std::uint32_t *levels, std::uint64_t capacity) {
            return sparring_graph_bfs(device.get(), get(), source, levels, nullptr, capacity);
        });
    }
    /// The same, with the parent of each vertex.
    BfsTree bfs_tree(const Device &device, std::uint64_t source) const
    {
        BfsTree found{numbers<std::uint32_t>(), numbers<std::uint32_t>()};
        check(sparring_graph_bfs(device.get(), get(), source, found.levels.data(), found.parents.data(),
                                 found.levels.size()));
        return found;
    }
    /// Levels from several sources, one source after the other.
    std::vector<std::uint32_t> multi_source_bfs(const Device &device, Span<std::uint64_t> sources) const
    {
        std::vector<std::uint32_t> levels(sources.size() * size());
        check(sparring_graph_multi_source_bfs(device.get(), get(), sources.data(), sources.size(), levels.data(),
                                              levels.size()));
        return levels;
    }
    /// The length of a shortest path to each vertex, infinite without a path.
    std::vector<double> sssp(const Device &device, std::uint64_t source) const
    {
        return each<double>([&](double *distances, std::uint64_t capacity) {
            return sparring_graph_sssp(device.get(), get(), source, 0, distances, nullptr, capacity);
        });
    }
    /// The same, with the predecessor of each vertex.
    ShortestPaths sssp_tree(const Device &device, std::uint64_t source) const { return paths(device, source, 0); }
    /// The same with negative weights allowed; a negative cycle is an Error.
    ShortestPaths bellman_ford(const Device &device, std::uint64_t source) const { return paths(device, source, 1); }
    /// The length of a shortest path from u to v, at u * vertices() + v.
    std::vector<double> all_pairs(const Device &device) const
    {
        std::vector<double> distances(size() * size());
        check(sparring_graph_all_pairs(device.get(), get(), distances.data(), distances.size()));
        return distances;
    }
    /// The smallest vertex of each vertex's connected component (weakly connected in a directed graph).
    std::vector<std::uint32_t> connected_components(const Device &device) const { return components(device, 0); }
    /// The same for strongly connected components.
    std::vector<std::uint32_t> strongly_connected_components(const Device &device) const
    {
        return components(device, 1);
    }
    /// A topological order of an acyclic directed graph.
    std::vector<std::uint32_t> topological_order(const Device &device) const
    {
        return each<std::uint32_t>([&](std::uint32_t *order, std::uint64_t capacity) {
            return sparring_graph_topological_order(device.get(), get(), order, capacity);
        });
    }

    // Scores of vertices.

    PageRank pagerank(const Device &device, const PageRankOptions &options = {}) const
    {
        const auto &jumps = options.personalization;
        if (!jumps.empty())
            detail::expect_length(jumps.size(), size(), "personalization");
        const SparringPageRankOptions given = {options.damping, options.tolerance, options.max_iterations,
                                               options.drop_dangling, jumps.empty() ? nullptr : jumps.data()};
        PageRank found{numbers<double>(), 0, 0};
        check(sparring_graph_pagerank(device.get(), get(), &given, found.ranks.data(), found.ranks.size(),
                                      &found.iterations, &found.change));
        return found;
    }
    /// Betweenness from all vertices; divided by the number of pairs if `normalized`.
    std::vector<double> betweenness(const Device &device, bool normalized = false) const
    {
        return between(device, 0, 0, normalized);
    }
    /// Betweenness estimated from `samples` random sources, drawn with `seed`.
    std::vector<double> sampled_betweenness(const Device &device, std::uint64_t samples, std::uint64_t seed = 0,
                                            bool normalized = false) const
    {
        if (samples == 0)
            throw Error(SPARRING_ARGUMENT, "samples: it must be at least 1");
        return between(device, samples, seed, normalized);
    }
    /// The dependencies of these sources on each vertex.
    std::vector<double> dependencies(const Device &device, Span<std::uint64_t> sources) const
    {
        return each<double>([&](double *scores, std::uint64_t capacity) {
            return sparring_graph_dependencies(device.get(), get(), sources.data(), sources.size(), scores, capacity);
        });
    }
    std::vector<double> closeness(const Device &device) const { return near(device, 0); }
    std::vector<double> harmonic(const Device &device) const { return near(device, 1); }
    std::vector<double> eigenvector(const Device &device, double tolerance = 1e-6,
                                    std::uint32_t max_iterations = 1000) const
    {
        return each<double>([&](double *scores, std::uint64_t capacity) {
            return sparring_graph_eigenvector(device.get(), get(), tolerance, max_iterations, scores, capacity);
        });
    }
    std::vector<double> katz(const Device &device, double alpha, double beta = 1, double tolerance = 1e-6,
                             std::uint32_t max_iterations = 1000) const
    {
        return each<double>([&](double *scores, std::uint64_t capacity) {
            return sparring_graph_katz(device.get(), get(), alpha, beta, tolerance, max_iterations, scores, capacity);
        });
    }
    Hits hits(const Device &device, double tolerance = 1e-6, std::uint32_t max_iterations = 1000) const
    {
        Hits found{numbers<double>(), numbers<double>()};
        check(sparring_graph_hits(device.get(), get(), tolerance, max_iterations, found.hubs.data(),
                                  found.authorities.data(), found.hubs.size()));
        return found;
    }
    std::vector<std::uint32_t> core_numbers(const Device &device) const
    {
        return each<std::uint32_t>([&](std::uint32_t *cores, std::uint64_t capacity) {
            return sparring_graph_core_numbers(device.get(), get(), cores, capacity);
        });
    }
    Clustering clustering(const Device &device) const
    {
        Clustering found{numbers<double>(), 0, 0};
        check(sparring_graph_clustering(device.get(), get(), found.local.data(), found.local.size(), &found.average,
                                        &found.transitivity));
        return found;
    }

    // Sets of vertices.

    /// Leiden method: communities are connected. A larger resolution gives smaller communities; the seed determines the
    /// random vertex order.
    Communities leiden(const Device &device, double resolution = 1, std::uint64_t iterations = 2,
                       std::uint64_t seed = 0) const
    {
        if (iterations == 0)
            throw Error(SPARRING_ARGUMENT, "iterations: it must be at least 1");
        return communities(device, resolution, iterations, seed);
    }
    /// Louvain method.
    Communities louvain(const Device &device, double resolution = 1, std::uint64_t seed = 0) const
    {
        return communities(device, resolution, 0, seed);
    }
    /// Synchronous label propagation, as in LDBC Graphalytics.
    LabelPropagation label_propagation(const Device &device, std::uint64_t iterations = 10) const
    {
        return labels(device, iterations, 0);
    }
    /// Asynchronous label propagation, one vertex at a time until no label changes.
    LabelPropagation asynchronous_label_propagation(const Device &device, std::uint64_t iterations = UINT64_MAX) const
    {
        return labels(device, iterations, 1);
    }
    /// The modularity of given communities, a label below vertices() per vertex.
    double modularity(const Device &device, Span<std::uint32_t> labels, double resolution = 1) const
    {
        double found = 0;
        check(sparring_graph_modularity(device.get(), get(), labels.data(), labels.size(), resolution, &found));
        return found;
    }
    /// A maximal independent set, in increasing order.
    std::vector<std::uint32_t> independent_set(const Device &device) const
    {
        auto found = numbers<std::uint32_t>();
        std::uint64_t count = 0;
        check(sparring_graph_independent_set(device.get(), get(), found.data(), found.size(), &count));
        found.resize(static_cast<std::size_t>(count));
        return found;
    }
    Coloring color(const Device &device) const
    {
        Coloring found{numbers<std::uint32_t>(), 0};
        check(sparring_graph_color(device.get(), get(), found.colors.data(), found.colors.size(), &found.count));
        return found;
    }

    // Sets of edges.

    SpanningForest spanning_forest(const Device &device) const
    {
        SpanningForest found{{numbers<std::uint32_t>(), numbers<std::uint32_t>()}, 0};
        std::uint64_t count = 0;
        check(sparring_graph_spanning_forest(device.get(), get(), found.edges.sources.data(),
                                             found.edges.targets.data(), found.edges.sources.size(), &count,
                                             &found.weight));
        found.edges = first(std::move(found.edges), count);
        return found;
    }
    /// A maximum matching of the rows and columns of the adjacency matrix: the column of each row.
    Matching matching(const Device &device) const
    {
        Matching found{numbers<std::uint32_t>(), {}, 0};
        check(sparring_graph_matching(device.get(), get(), found.rows.data(), found.rows.size(), &found.size));
        return found;
    }
    /// The edges of the k-truss.
    Edges truss(const Device &device, std::uint32_t k) const
    {
        Edges found = all_edges();
        std::uint64_t count = 0;
        check(sparring_graph_truss(device.get(), get(), k, found.sources.data(), found.targets.data(),
                                   found.sources.size(), &count));
        return first(std::move(found), count);
    }
    /// The truss number of each edge.
    TrussNumbers truss_numbers(const Device &device) const
    {
        TrussNumbers found{all_edges(), {}};
        found.numbers.resize(found.edges.sources.size());
        std::uint64_t count = 0;
        check(sparring_graph_truss_numbers(device.get(), get(), found.edges.sources.data(),
                                           found.edges.targets.data(), found.numbers.data(), found.numbers.size(),
                                           &count));
        found.edges = first(std::move(found.edges), count);
        found.numbers.resize(static_cast<std::size_t>(count));
        return found;
    }

private:
    Graph(const Device &device, const Matrix &a, SparringGraphKind kind, std::uint32_t weighted)
        : Handle(detail::make<SparringGraph>([&](SparringGraph **out) {
              return sparring_graph_new(device.get(), a.get(), kind, weighted, out);
          }))
    {
    }
    std::size_t size() const { return static_cast<std::size_t>(vertices()); }
    /// An array with a number per vertex.
    template <class T> std::vector<T> numbers() const { return std::vector<T>(size()); }
    /// The number per vertex returned by `function`.
    template <class T, class Function> std::vector<T> each(Function function) const
    {
        auto found = numbers<T>();
        check(function(found.data(), found.size()));
        return found;
    }
    /// Arrays for all edges.
    Edges all_edges() const
    {
        const auto m = static_cast<std::size_t>(edges());
        return {std::vector<std::uint32_t>(m), std::vector<std::uint32_t>(m)};
    }
    static Edges first(Edges edges, std::uint64_t count)
    {
        edges.sources.resize(static_cast<std::size_t>(count));
        edges.targets.resize(static_cast<std::size_t>(count));
        return edges;
    }
    ShortestPaths paths(const Device &device, std::uint64_t source, std::uint32_t negative) const
    {
        ShortestPaths found{numbers<double>(), numbers<std::uint32_t>()};
        check(sparring_graph_sssp(device.get(), get(), source, negative, found.distances.data(), found.parents.data(),
                                  found.parents.size()));
        return found;
    }
    std::vector<std::uint32_t> components(const Device &device, std::uint32_t strong) const
    {
        return each<std::uint32_t>([&](std::uint32_t *found, std::uint64_t capacity) {
            return sparring_graph_components(device.get(), get(), strong, found, capacity);
        });
    }
    std::vector<double> between(const Device &device, std::uint64_t samples, std::uint64_t seed, bool normalized) const
    {
        return each<double>([&](double *scores, std::uint64_t capacity) {
            return sparring_graph_betweenness(device.get(), get(), samples, seed, normalized, scores, capacity);
        });
    }
    std::vector<double> near(const Device &device, std::uint32_t harmonic) const
    {
        return each<double>([&](double *scores, std::uint64_t capacity) {
            return sparring_graph_closeness(device.get(), get(), harmonic, scores, capacity);
        });
    }
    LabelPropagation labels(const Device &device, std::uint64_t iterations, std::uint32_t asynchronous) const
    {
        LabelPropagation found{numbers<std::uint32_t>(), 0};
        check(sparring_graph_label_propagation(device.get(), get(), iterations, asynchronous, found.labels.data(),
                                               found.labels.size(), &found.iterations));
        return found;
    }
    Communities communities(const Device &device, double resolution, std::uint64_t iterations,
                            std::uint64_t seed) const
    {
        Communities found{numbers<std::uint32_t>(), 0, 0};
        check(sparring_graph_communities(device.get(), get(), resolution, iterations, seed, found.labels.data(),
                                         found.labels.size(), &found.count, &found.modularity));
        return found;
    }
};

/// The number of triangles of the undirected graph of a square matrix.
inline std::uint64_t triangles(const Device &device, const Matrix &a,
                               SparringTriangleMethod method = SPARRING_TRIANGLES_AUTO)
{
    std::uint64_t count = 0;
    check(sparring_triangles(device.get(), a.get(), method, &count, nullptr, 0, nullptr));
    return count;
}
/// The number of triangles of each vertex.
inline std::vector<std::uint64_t> triangles_per_vertex(const Device &device, const Matrix &a)
{
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(a.nrows()));
    check(sparring_triangles_per_vertex(device.get(), a.get(), counts.data(), counts.size()));
    return counts;
}
/// The number of triangles of each edge, stored in both directions.
inline Matrix triangles_per_edge(const Device &device, const Matrix &a)
{
    return Matrix(detail::make<SparringMatrix>(
        [&](SparringMatrix **out) { return sparring_triangles_per_edge(device.get(), a.get(), out); }));
}
/// A maximum matching of the rows and columns of a matrix of any shape, whose entries are the possible pairs.
inline Matching matching(const Device &device, const Matrix &a)
{
    const auto shape = a.shape();
    Matching found{std::vector<std::uint32_t>(static_cast<std::size_t>(shape.first)),
                   std::vector<std::uint32_t>(static_cast<std::size_t>(shape.second)), 0};
    check(sparring_matching(device.get(), a.get(), found.rows.data(), found.rows.size(), found.columns.data(),
                            found.columns.size(), &found.size));
    return found;
}

/// An immutable sparse tensor in coordinates, of one value type.
class Tensor : public detail::Handle<SparringTensor, sparring_tensor_free> {
public:
    using Handle::Handle;
    /// Entries: `indices` has a list per mode.
    template <class T> struct Entries {
        std::vector<std::vector<std::uint64_t>> indices;
        std::vector<Stored<T>> values;
    };
    /// From coordinates, which are validated and copied; duplicate entries are stored separately, and represent their
    /// sum.
    template <class T>
    static Tensor from_coo(Span<std::uint64_t> dims, const std::vector<Span<std::uint64_t>> &indices,
                           Span<Stored<T>> values)
    {
        detail::expect_length(indices.size(), dims.size(), "indices");
        std::vector<const std::uint64_t *> lists;
        for (const auto &list : indices) {
            detail::expect_length(list.size(), values.size(), "indices");
            lists.push_back(list.data());
        }
        return Tensor(detail::make<SparringTensor>([&](SparringTensor **out) {
            return sparring_tensor_from_coo(type_of<T>(), dims.size(), dims.data(), lists.data(), values.data(),
                                            values.size(), out);
        }));
    }
    /// From a FROSTT file, with values of the given type.
    static Tensor read(const Device &device, SparringType type, const char *path,
                       const SparringTensorReadOptions &options = {})
    {
        return Tensor(detail::make<SparringTensor>(
            [&](SparringTensor **out) { return sparring_tensor_read(device.get(), type, path, &options, out); }));
    }
    /// Writes a FROSTT file.
    void write(const Device &device, const char *path, const SparringWriteOptions &options = {}) const
    {
        check(sparring_tensor_write(device.get(), get(), path, &options));
    }
    SparringType type() const { return static_cast<SparringType>(detail::number(sparring_tensor_type, get())); }
    std::uint64_t nnz() const { return detail::number(sparring_tensor_nnz, get()); }
    /// The length of each mode.
    std::vector<std::uint64_t> dims() const
    {
        std::vector<std::uint64_t> found(static_cast<std::size_t>(detail::number(sparring_tensor_order, get())));
        check(sparring_tensor_dims(get(), found.data(), found.size()));
        return found;
    }
    /// A copy of the entries.
    template <class T> Entries<T> entries() const
    {
        detail::expect<T>(type(), "tensor");
        const auto n = static_cast<std::size_t>(nnz());
        Entries<T> found{std::vector<std::vector<std::uint64_t>>(dims().size(), std::vector<std::uint64_t>(n)),
                         std::vector<Stored<T>>(n)};
        std::vector<std::uint64_t *> lists;
        for (auto &list : found.indices)
            lists.push_back(list.data());
        check(sparring_tensor_copy(get(), lists.data(), found.values.data(), n));
        return found;
    }
    /// A sorted tensor with duplicate entries summed.
    Tensor summed(const Device &device) const
    {
        return Tensor(detail::make<SparringTensor>(
            [&](SparringTensor **out) { return sparring_tensor_summed(device.get(), get(), out); }));
    }
    /// A copy with another value type; an unrepresentable value is an Error, unless `wrap` is set.
    Tensor cast(SparringType type, bool wrap = false) const
    {
        return Tensor(detail::make<SparringTensor>(
            [&](SparringTensor **out) { return sparring_tensor_cast(get(), type, wrap, out); }));
    }
};

namespace detail {
/// The MTTKRP computed by `function`, with factors that carry their lengths.
template <class T, class Function>
std::vector<Stored<T>> with_factors(const Tensor &x, std::uint64_t rank, const std::vector<Span<Stored<T>>> &factors,
                                    std::size_t mode, Function function)
{
    expect<T>(x.type(), "tensor");
    const auto dims = x.dims();
    expect_length(factors.size(), dims.size(), "factors");
    std::vector<const void *> lists;
    for (std::size_t m = 0; m < dims.size(); m++) {
        if (m != mode)
            expect_length(factors[m].size(), static_cast<std::size_t>(dims[m] * rank), "factors");
        lists.push_back(factors[m].data());
    }
    std::vector<Stored<T>> out(mode < dims.size() ? static_cast<std::size_t>(dims[mode] * rank) : 0);
    check(function(lists.data(), out.data(), out.size()));
    return out;
}
} // namespace detail
/// X₍ₙ₎ (⊙ₘ Aₘ), the matricized tensor times the Khatri–Rao product of all factors except that of `mode`, which is not
/// read: a row-major matrix with a row of `rank` columns per index of the mode, like the factors.
template <class T>
std::vector<Stored<T>> mttkrp(const Device &device, const Tensor &x, std::uint64_t rank,
                              const std::vector<Span<Stored<T>>> &factors, std::size_t mode,
                              SparringMttkrpVariant variant = SPARRING_MTTKRP_AUTO)
{
    return detail::with_factors<T>(x, rank, factors, mode, [&](const void *const *lists, void *out, std::uint64_t len) {
        return sparring_mttkrp(device.get(), x.get(), rank, lists, mode, variant, out, len);
    });
}
/// The same over any semiring.
template <class T>
std::vector<Stored<T>> mttkrp(const Device &device, const Semiring &ring, const Tensor &x, std::uint64_t rank,
                              const std::vector<Span<Stored<T>>> &factors, std::size_t mode)
{
    return detail::with_factors<T>(x, rank, factors, mode, [&](const void *const *lists, void *out, std::uint64_t len) {
        return sparring_mttkrp_with(device.get(), ring.get(), x.get(), rank, lists, mode, out, len);
    });
}

} // namespace sparring

#endif // SPARRING_HPP
