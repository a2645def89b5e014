/* sparring: sparse linear algebra over any semiring, and sparse tensors.
 *
 * Made by cbindgen from the crate sparring-capi; do not edit. SPARRING_UPDATE_HEADER=1 cargo test -p sparring-capi
 * writes it anew.
 *
 * Status: nearly every function returns a SparringStatus, SPARRING_OK (0) or the reason why not, and the text of
 * the reason is in sparring_last_error(); it names the argument that is wrong as it is called here. Whatever a failed
 * call would have made is NULL, and there is nothing to free. Numbers that a failed call would have written are not to
 * be read. Each kind of mistake has one status, whichever function meets it:
 *   a pointer is NULL that may not be                      SPARRING_NULL_POINTER
 *   a handle was freed, is of another kind, or is none     SPARRING_INVALID_HANDLE
 *   values are of a type that is not taken there, not of
 *     that of the other operand, or of a file's numbers    SPARRING_TYPE
 *   matrices do not fit together; one must be square       SPARRING_SHAPE; SPARRING_NOT_SQUARE
 *   a plan is not of these matrices                        SPARRING_PATTERN_CHANGED
 *   your array is too short for what it is to get          SPARRING_LENGTH
 *   row pointers; indices; entries given twice             SPARRING_ROW_POINTER; SPARRING_INDEX_RANGE; SPARRING_DUPLICATE
 *   a size that no array of this machine has               SPARRING_INDEX_OVERFLOW
 *   a name that is not known, a number that is no
 *     enumerator, an option or an entry outside its
 *     domain, something of another device, text that is
 *     not UTF-8, an address that is not aligned            SPARRING_ARGUMENT
 *   a formula or an expression cannot be read, or does
 *     not fit its operands                                 SPARRING_FORMULA
 *   what is asked for is right, but not done here          SPARRING_UNSUPPORTED
 *   a scalar that is empty is read                         SPARRING_NO_VALUE
 *   memory; a budget of yours; memory of a GPU             SPARRING_OUT_OF_MEMORY; SPARRING_BUDGET; SPARRING_DEVICE_MEMORY
 *   a file: the system's refusal; what is in it            SPARRING_IO; SPARRING_PARSE
 *
 * Handles: SparringDevice, SparringMatrix, SparringVector, SparringScalar, SparringSemiring, SparringBinaryOp,
 * SparringUnaryOp, SparringMonoid, SparringPlan, SparringArrays, SparringIndex, SparringLabels, SparringBytes, SparringTensor,
 * SparringMttkrp, SparringEinsumPlan and SparringGraph are seen by pointer only, and the pointer is no address. A handle that was
 * freed, is of another kind or is no handle at all is told from a live one without touching memory: SPARRING_INVALID_HANDLE. NULL is
 * SPARRING_NULL_POINTER, but may be freed.
 *
 * Threads: every function may be called from any thread, and handles of all kinds may be used, shared and
 * freed by several threads at once; a call that has begun keeps what it needs until it ends. The library starts threads
 * for a SparringDevice alone. In a child of fork() handles stay good: a SparringDevice of the processor has threads of
 * its own there, started when it is first used, or works on the caller's where there are none to be had. Calls must not
 * be under way while a process forks. A GPU cannot be used in the child of a process that has used one.
 *   SparringDevice  calls that share it share its threads, or take turns on the GPU;
 *   SparringPlan    never changes;
 *   SparringTensor  never changes;
 *   SparringSemiring, SparringBinaryOp, SparringUnaryOp, SparringMonoid  never change either;
 *   SparringMttkrp, SparringEinsumPlan, SparringIndex, SparringLabels, SparringBytes, SparringGraph  nor do these;
 *   SparringMatrix, SparringVector, SparringScalar  change where a call says that it writes them: one that reads them
 *                   meanwhile sees the old entries or waits for the new ones, never half of them.
 * Only pointers lent by sparring_matrix_borrow and sparring_arrays_new ask for care, as is said there.
 *
 * Sizes, lengths and row pointers are uint64_t, row and column indices of arrays of entries are uint32_t, indices of
 * vectors and tensors and single indices uint64_t, given and taken alike. Arrays come with their lengths, or have those of a tensor that is given with them. Text is UTF-8 and ends
 * with a zero; text that is written for you goes to a buffer of a length that you give. What you pass in is copied: it is
 * yours to free as soon as the call returns. What is too large to be there twice is written where it stays:
 * sparring_arrays_new, sparring_matrix_from_foreign, sparring_einsum.
 * Choices are passed as uint32_t and checked, so a number that is no enumerator is SPARRING_ARGUMENT.
 */

#ifndef SPARRING_H
#define SPARRING_H

#include <stddef.h>
#include <stdint.h>

/* Version of this header; sparring_version_number() is that of the library that runs. */
#define SPARRING_VERSION_MAJOR 0
#define SPARRING_VERSION_MINOR 1
#define SPARRING_VERSION_PATCH 0
/* A number to compare: #if SPARRING_VERSION >= 1002003, for 1.2.3. */
#define SPARRING_VERSION (SPARRING_VERSION_MAJOR * 1000000 + SPARRING_VERSION_MINOR * 1000 + SPARRING_VERSION_PATCH)

/// What a function returns: SPARRING_OK, or why not. sparring_last_error() has the message.
enum SparringStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Done.
  SPARRING_OK = 0,
  /// The shapes of the operands do not fit together.
  SPARRING_SHAPE = 1,
  /// The operation needs a square matrix.
  SPARRING_NOT_SQUARE = 2,
  /// A size or index is larger than its type holds.
  SPARRING_INDEX_OVERFLOW = 3,
  /// Memory could not be had.
  SPARRING_OUT_OF_MEMORY = 4,
  /// The memory budget of the SparringDevice would be exceeded.
  SPARRING_BUDGET = 5,
  /// The lengths of parallel arrays disagree.
  SPARRING_LENGTH = 6,
  /// Row pointers decrease, or do not start at 0 or end at the number of entries.
  SPARRING_ROW_POINTER = 7,
  /// An index lies outside its dimension.
  SPARRING_INDEX_RANGE = 8,
  /// The columns of a row do not increase where they must.
  SPARRING_NOT_SORTED = 9,
  /// The same entry was given twice where that is not allowed.
  SPARRING_DUPLICATE = 10,
  /// A plan was used with matrices that it was not made for.
  SPARRING_PATTERN_CHANGED = 11,
  /// A file is not what its format says.
  SPARRING_PARSE = 12,
  /// Legal, but not something that this library does.
  SPARRING_UNSUPPORTED = 13,
  /// An argument is outside its domain.
  SPARRING_ARGUMENT = 14,
  /// The file system refused.
  SPARRING_IO = 15,
  /// Stopped by a callback.
  SPARRING_CANCELLED = 16,
  /// Threads could not be started.
  SPARRING_THREADS = 17,
  /// There is no such GPU, or no driver for it.
  SPARRING_NO_DEVICE = 18,
  /// The compiler of GPU programs is missing.
  SPARRING_NO_COMPILER = 19,
  /// A GPU program does not compile.
  SPARRING_COMPILE = 20,
  /// The GPU or its driver reported an error.
  SPARRING_DEVICE_FAILED = 21,
  /// The GPU has not that much memory left.
  SPARRING_DEVICE_MEMORY = 22,
  /// A formula cannot be read, or an expression of indices, or it does not fit its operands; the message points at
  /// the place.
  SPARRING_FORMULA = 23,
  /// An error of a class that this header does not know yet.
  SPARRING_OTHER = 99,
  /// A handle was freed before, is of another kind, or never was a handle.
  SPARRING_INVALID_HANDLE = 100,
  /// A pointer is NULL where it may not be.
  SPARRING_NULL_POINTER = 101,
  /// A defect of this library was met and contained. Please report it with the message.
  SPARRING_PANIC = 102,
  /// Values are of a type that the operation or the semiring does not take, or not of that of the other operand.
  SPARRING_TYPE = 103,
  /// A scalar that is empty was read.
  SPARRING_NO_VALUE = 104,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringStatus SparringStatus;
#else
typedef uint32_t SparringStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Type of the values of a matrix.
enum SparringType
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// bool, or any type of one byte of which 0 is false.
  SPARRING_BOOL = 1,
  /// int8_t; sums and products of integers wrap.
  SPARRING_I8 = 2,
  /// uint8_t.
  SPARRING_U8 = 3,
  /// int16_t.
  SPARRING_I16 = 4,
  /// uint16_t.
  SPARRING_U16 = 5,
  /// int32_t.
  SPARRING_I32 = 6,
  /// uint32_t.
  SPARRING_U32 = 7,
  /// int64_t.
  SPARRING_I64 = 8,
  /// uint64_t.
  SPARRING_U64 = 9,
  /// float.
  SPARRING_F32 = 10,
  /// double.
  SPARRING_F64 = 11,
  /// float _Complex, std::complex<float>: two floats.
  SPARRING_COMPLEX_F32 = 12,
  /// double _Complex, std::complex<double>: two doubles.
  SPARRING_COMPLEX_F64 = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringType SparringType;
#else
typedef uint32_t SparringType;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Whose rules choose the algorithm of a product.
enum SparringPolicy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// This library's.
  SPARRING_POLICY_AUTO = 0,
  /// kkSpGEMM's (Deveci, Trott, Rajamanickam 2018).
  SPARRING_POLICY_KKSPGEMM = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringPolicy SparringPolicy;
#else
typedef uint32_t SparringPolicy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What gathers the products of a row.
enum SparringAccumulator
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// The policy's choice.
  SPARRING_ACCUMULATOR_AUTO = 0,
  /// Hash map with linked lists.
  SPARRING_ACCUMULATOR_LINKED_LIST = 1,
  /// Hash map with linear probing.
  SPARRING_ACCUMULATOR_LINEAR_PROBE = 2,
  /// One slot a column.
  SPARRING_ACCUMULATOR_DENSE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringAccumulator SparringAccumulator;
#else
typedef uint32_t SparringAccumulator;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Whether the symbolic phase reads B with its columns compressed to bits.
enum SparringCompress
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// If it saves enough work.
  SPARRING_COMPRESS_AUTO = 0,
  /// Always.
  SPARRING_COMPRESS_ON = 1,
  /// Never.
  SPARRING_COMPRESS_OFF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringCompress SparringCompress;
#else
typedef uint32_t SparringCompress;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// How triangles are counted.
enum SparringTriangleMethod
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Chosen from the graph.
  SPARRING_TRIANGLES_AUTO = 0,
  /// Masked product over plus-pair of rows ordered by degree.
  SPARRING_TRIANGLES_MASKED = 1,
  /// Rows compressed to bits and intersected.
  SPARRING_TRIANGLES_COMPRESSED = 2,
  /// Rows as they stand, without new names.
  SPARRING_TRIANGLES_DIRECT = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringTriangleMethod SparringTriangleMethod;
#else
typedef uint32_t SparringTriangleMethod;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Whether the edges of a graph have a direction.
enum SparringGraphKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Undirected if the matrix is symmetric, values and all; else directed.
  SPARRING_GRAPH_AUTO = 0,
  /// Entry (i, j) is an edge from i to j.
  SPARRING_GRAPH_DIRECTED = 1,
  /// Entry (i, j), entry (j, i) or both are the edge between i and j.
  SPARRING_GRAPH_UNDIRECTED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringGraphKind SparringGraphKind;
#else
typedef uint32_t SparringGraphKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Whether rows are divided by their sums before they are compared.
enum SparringNormalize
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// For "jensenshannon" alone.
  SPARRING_NORMALIZE_AUTO = 0,
  /// For "hellinger", "jensenshannon", "kl" and "kl_intersection".
  SPARRING_NORMALIZE_ON = 1,
  /// Never.
  SPARRING_NORMALIZE_OFF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringNormalize SparringNormalize;
#else
typedef uint32_t SparringNormalize;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What distances are computed in. They are given in the type of the matrices either way.
enum SparringPrecision
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// double, whatever the entries are.
  SPARRING_PRECISION_DOUBLE = 0,
  /// The type of the entries: float for float.
  SPARRING_PRECISION_ENTRIES = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringPrecision SparringPrecision;
#else
typedef uint32_t SparringPrecision;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What becomes of entries of a file that are repeated.
enum SparringDuplicates
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// They are summed. The entries come sorted by their indices, the last mode fastest.
  SPARRING_DUPLICATES_SUM = 0,
  /// The first of them is an error of the file. The entries come in its order.
  SPARRING_DUPLICATES_REFUSE = 1,
  /// They stay as they are, and nobody looks for them. The entries come in the order of the file.
  SPARRING_DUPLICATES_KEEP = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringDuplicates SparringDuplicates;
#else
typedef uint32_t SparringDuplicates;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// How the products of a tensor with factors are computed. Variants differ by rounding; all but A and B give the same
/// bits for any number of threads.
enum SparringMttkrpVariant
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Chosen by the tensor's shape and the memory budget: for one product no copy of the tensor is made, for a plan or
  /// CP mostly one for each mode.
  SPARRING_MTTKRP_AUTO = 0,
  /// MTTKRP-A of Phipps and Kolda 2019: a row in memory, every product added under a lock.
  SPARRING_MTTKRP_A = 1,
  /// Their MTTKRP-B: as A, a block of columns in registers.
  SPARRING_MTTKRP_B = 2,
  /// Their MTTKRP-C: a permutation for each mode.
  SPARRING_MTTKRP_C = 3,
  /// A copy of the tensor for each mode.
  SPARRING_MTTKRP_COPIES = 4,
  /// Neighbouring modes share copies and products.
  SPARRING_MTTKRP_TREE = 5,
  /// The tensor as it stands, without a copy.
  SPARRING_MTTKRP_SINGLE = 6,
  /// One copy for all modes, in an order in which neighbours are close in every mode.
  SPARRING_MTTKRP_LINEAR = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringMttkrpVariant SparringMttkrpVariant;
#else
typedef uint32_t SparringMttkrpVariant;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// How arrays of the caller's are taken: values to be combined by |.
enum SparringForeign
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Row pointers and columns are not looked at. You promise that they are those of a matrix; anything may happen if
  /// not.
  SPARRING_UNCHECKED = 1,
  /// With SPARRING_UNCHECKED: columns increase within each row.
  SPARRING_SORTED_ROWS = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringForeign SparringForeign;
#else
typedef uint32_t SparringForeign;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// A number that tells of the entries of a row.
enum SparringAggregate
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// How many there are, of SPARRING_I64.
  SPARRING_COUNT = 1,
  /// Their sum over their number, of SPARRING_F64.
  SPARRING_MEAN = 2,
  /// The column of the least one, the first of equal ones, of SPARRING_I64. NaN is no least one.
  SPARRING_ARGMIN = 3,
  /// The column of the greatest one, the first of equal ones, of SPARRING_I64. NaN is no greatest one.
  SPARRING_ARGMAX = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringAggregate SparringAggregate;
#else
typedef uint32_t SparringAggregate;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What kind of file a matrix is in, compressed by gzip or not.
enum SparringFormat
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Matrix Market; values are of the file's field: int64_t, double, double complex, of a pattern bool.
  SPARRING_MATRIX_MARKET = 1,
  /// MATLAB's MAT-file of version 5 to 7: a sparse or full matrix. It is read alone.
  SPARRING_MAT = 2,
  /// A table, a row a line: every element, of which 0 is no entry; doubles.
  SPARRING_CSV = 3,
  /// svmlight and libsvm: rows of column:value behind a label; doubles.
  SPARRING_SVMLIGHT = 4,
  /// An edge a line: two vertices, perhaps a weight; bool, or doubles. It is read alone.
  SPARRING_EDGES = 5,
  /// A graph of the DIMACS challenges. It is read alone.
  SPARRING_DIMACS = 6,
  /// A graph of METIS. It is read alone.
  SPARRING_METIS = 7,
  /// An array of NumPy, of one or two dimensions.
  SPARRING_NPY = 8,
  /// A sparse matrix of SciPy.
  SPARRING_NPZ = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringFormat SparringFormat;
#else
typedef uint32_t SparringFormat;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// The answer to a question that a file may leave open.
enum SparringAnswer
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// Nothing is said of it: the file decides, or is refused where it does not.
  SPARRING_UNSAID = 0,
  /// Yes.
  SPARRING_YES = 1,
  /// No.
  SPARRING_NO = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringAnswer SparringAnswer;
#else
typedef uint32_t SparringAnswer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What becomes of an edge with a weight that stands in a graph more than once.
enum SparringRepeated
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /// It is an error of the file.
  SPARRING_REPEATED_REFUSE = 0,
  /// Weights are added up.
  SPARRING_REPEATED_SUM = 1,
  /// The least weight counts.
  SPARRING_REPEATED_MIN = 2,
  /// The greatest weight counts.
  SPARRING_REPEATED_MAX = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SparringRepeated SparringRepeated;
#else
typedef uint32_t SparringRepeated;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// The arrays of a matrix in the making, which you fill.
typedef struct SparringArrays SparringArrays;

/// z = a ∘ b for values of given types, read and compiled once. Threads of yours may share one.
typedef struct SparringBinaryOp SparringBinaryOp;

/// Bytes that a call made. Threads of yours may share them.
typedef struct SparringBytes SparringBytes;

/// Where operations run: the processor with its threads, or a GPU; and a memory budget. Threads of yours may share one.
typedef struct SparringDevice SparringDevice;

/// A contraction that is prepared: made once, run often.
typedef struct SparringEinsumPlan SparringEinsumPlan;

/// A graph of vertices 0..n in the processor's memory. It does not change, but for the transpose of a directed graph
/// and a copy on a GPU, which it keeps once made; threads of yours may share it.
typedef struct SparringGraph SparringGraph;

/// Rows prepared for a metric and indexed once, to be asked for neighbours as often as wanted. Threads of yours may
/// share one.
typedef struct SparringIndex SparringIndex;

/// What a file says beside its numbers: a text for each row, as the labels of svmlight and the names of vertices, one
/// for each column, as the heading of a table, and the numbers that vertices have in it. It never changes.
typedef struct SparringLabels SparringLabels;

/// A sparse matrix in compressed rows, of one of the types above, in the memory of the processor or of a GPU. Threads
/// of yours may share one.
typedef struct SparringMatrix SparringMatrix;

/// ⊕ with its identity. Threads of yours may share one.
typedef struct SparringMonoid SparringMonoid;

/// The products that a tensor is prepared for, with factors of so many columns. Threads of yours may share one.
typedef struct SparringMttkrp SparringMttkrp;

/// The structure of a product, for any values and any semiring. Threads of yours may share one.
typedef struct SparringPlan SparringPlan;

/// One value of one of the types above, or none: then it is empty. Threads of yours may share one.
typedef struct SparringScalar SparringScalar;

/// A semiring over values of given types: its formulas read, its laws tried, its loops made once, for any number of
/// products. Threads of yours may share one.
typedef struct SparringSemiring SparringSemiring;

/// A sparse tensor with 1 to 255 modes, of one of the types above, in coordinates, in the processor's memory. It never
/// changes.
typedef struct SparringTensor SparringTensor;

/// z = f(a), or f(a, s, i, j): of an entry, a scalar s, and the row i and column j of the entry. Threads of yours may
/// share one.
typedef struct SparringUnaryOp SparringUnaryOp;

/// A vector with entries at some indices or at all, of one of the types above, in the memory of the processor or of a
/// GPU. Threads of yours may share one.
typedef struct SparringVector SparringVector;

/// How a file is read. All zero (`SparringReadOptions o = {0};`) are the defaults.
typedef struct {
  /// Bytes of text, after decompression, beyond which the file is refused: SPARRING_BUDGET. 0: no limit.
  uint64_t max_bytes;
  /// Not 0: also read what other programs write and the format leaves open: of (i, j) and (j, i) in a symmetric file
  /// the lower one, the positions of a pattern with values, skew patterns, a file with garbage behind gzip.
  uint32_t lenient;
} SparringReadOptions;

/// How a file is written. All zero (`SparringWriteOptions o = {0};`) are the defaults.
typedef struct {
  /// Not 0: the lower triangle alone, as a symmetric file; a matrix that is not symmetric is SPARRING_ARGUMENT.
  uint32_t symmetric;
  /// Not 0: positions without values.
  uint32_t pattern_only;
} SparringWriteOptions;

/// How a file is read. All zero (`SparringFileOptions o = {0};`) are the defaults. What is set for another format than
/// the file's is SPARRING_ARGUMENT.
typedef struct {
  /// Bytes, after decompression, beyond which the file is refused: SPARRING_BUDGET. 0: no limit.
  uint64_t max_bytes;
  /// SPARRING_SVMLIGHT: number of columns, for rows that leave out the last ones. 0: the largest that it has.
  uint64_t columns;
  /// SPARRING_MAT: which variable, "A", or "Problem.A" in a structure. NULL: its only matrix, or Problem.A.
  const char *variable;
  /// Not 0: also read what other programs write and the format leaves open, garbage behind gzip among it.
  uint32_t lenient;
  /// SPARRING_CSV: whether the first line is a heading, a SparringAnswer.
  uint32_t header;
  /// SPARRING_CSV: what stands between cells, a character of ASCII; ' ' for any number of spaces and tabs. 0: a
  /// comma.
  uint32_t delimiter;
  /// SPARRING_SVMLIGHT and SPARRING_EDGES: whether columns and vertices count from 0, a SparringAnswer. Columns count
  /// from 1 if nothing is said.
  uint32_t zero_based;
  /// SPARRING_EDGES: whether each edge stands for both directions, a SparringAnswer.
  uint32_t undirected;
  /// SPARRING_EDGES, not 0: edges go from one set of vertices to another, rows and columns.
  uint32_t bipartite;
  /// SPARRING_EDGES, not 0: vertices are any integers, numbered in their order: sparring_labels_ids.
  uint32_t renumber;
  /// SPARRING_EDGES, not 0: vertices are any words, numbered as they appear: sparring_labels_row.
  uint32_t named;
  /// SPARRING_EDGES, SPARRING_DIMACS and SPARRING_METIS: a SparringRepeated.
  uint32_t repeated;
} SparringFileOptions;

/// How a product is computed. All zero (`SparringOptions o = {0};`) are the defaults.
/// A GPU has no dense accumulator, and compresses under kkSpGEMM's policy alone, which an accumulator asks for too:
/// otherwise SPARRING_UNSUPPORTED.
typedef struct {
  /// A SparringPolicy.
  uint32_t policy;
  /// A SparringAccumulator.
  uint32_t accumulator;
  /// A SparringCompress.
  uint32_t compress;
  /// Not 0: columns of a row of the result may come in any order, where that is faster.
  uint32_t unsorted;
} SparringOptions;

/// Figures of a product.
typedef struct {
  /// Multiplications.
  uint64_t flops;
  /// Most multiplications in a row.
  uint64_t max_row_flops;
  /// Longest row of the result; UINT64_MAX if not counted, as on a GPU.
  uint64_t max_row_nnz;
  /// Entries of the result.
  uint64_t nnz;
  /// Multiplications left after compression over those before; NaN if not counted.
  double cf;
  /// Largest bound of a row after compression over that before; NaN if not counted.
  double cmrf;
} SparringStats;

/// How an operation reads its operands and writes its result: c⟨mask⟩ ⊙= t, where t is what it computes and ⊙ the
/// operator `accum`. All zero (`SparringDescriptor d = {0};`) and NULL are the defaults. The rules are those of
/// GraphBLAS:
///
///                       without accum                         with accum
///   no mask             c = t                                 c = c ⊙ t
///   mask                c = t where it allows, else c         c = c ⊙ t where it allows, else c
///   mask, replace       c = t where it allows, else nothing   c = c ⊙ t where it allows, else nothing
///
/// c ⊙ t is an entry of c where t has none, one of t where c has none, and ⊙ of the two where both have one.
/// Every operation takes, in this order, the object c that it writes, which has the shape and the type of the result,
/// then mask and accum, each NULL for none. The mask is of the shape of c and of any type; accum takes and gives c's
/// type. c may also be an operand or the mask. On failure c is as it was, unless memory runs out while it is written.
/// On a GPU c stays where it is, and what else is in the processor's memory is sent for the call.
typedef struct {
  /// Not 0: the mask allows where it has an entry, whatever its value; else where its value is not 0.
  uint32_t structure;
  /// Not 0: the mask allows everywhere else.
  uint32_t complement;
  /// Not 0: entries of c that the mask does not allow are removed.
  uint32_t replace;
  /// Not 0: the operand `a`, a matrix, is taken transposed.
  uint32_t transpose_a;
  /// Not 0: the operand `b`, a matrix, is taken transposed.
  uint32_t transpose_b;
  /// The transpose of the matrix of `sparring_mxv` or `sparring_vxm`, made before, or NULL: the product goes by the rows
  /// of the two that the mask allows ("pull") or by those that the vector names ("push"), whichever is less work. A
  /// matrix that is not the transpose gives a wrong result; its shape and how many entries it has are checked.
  /// Other operations refuse it.
  const SparringMatrix *transposed;
} SparringDescriptor;

/// Which rows, columns or indices an operation takes, in which order, and how often: `list[0]` to `list[len - 1]`, or,
/// where `list` is NULL, `len` of them: start, start + step, and so on. NULL instead of a SparringIndices: all.
/// `&(SparringIndices){.list = rows, .len = 3}`, `&(SparringIndices){.start = 10, .step = 1, .len = 5}`.
typedef struct {
  /// An array of `len` indices, or NULL.
  const uint64_t *list;
  /// How many there are.
  uint64_t len;
  /// The first one, where there is no list.
  uint64_t start;
  /// What is added from one to the next, where there is no list; it may be negative.
  int64_t step;
} SparringIndices;

/// What a graph is.
typedef struct {
  /// Number of vertices.
  uint64_t vertices;
  /// Number of edges, an undirected one once, self-loops among them.
  uint64_t edges;
  /// Number of edges from a vertex to itself.
  uint64_t self_loops;
  /// SPARRING_GRAPH_DIRECTED or SPARRING_GRAPH_UNDIRECTED.
  uint32_t kind;
  /// 1 if edges have weights, else 0.
  uint32_t weighted;
} SparringGraphInfo;

/// What sparring_graph_pagerank computes.
typedef struct {
  /// Damping factor, in [0, 1): usually 0.85.
  double damping;
  /// The iteration stops when the 1-norm of the change is less than this: 1e-6, say.
  double tolerance;
  /// Failing to converge within this many iterations is SPARRING_ARGUMENT.
  uint32_t max_iterations;
  /// 1: drop the rank of dangling vertices, as the GAP benchmark does. 0: it follows the teleport distribution.
  uint32_t drop_dangling;
  /// Teleport distribution, up to a factor, a number for each vertex; NULL: uniform.
  const double *personalization;
} SparringPageRankOptions;

/// How rows are compared. All zero (`SparringDistanceOptions o = {0};`) are the defaults.
typedef struct {
  /// The p of "minkowski", which needs one of at least 1; 0 for every other metric.
  double p;
  /// Bytes that results, in your arrays too, and scratch memory may take together: SPARRING_BUDGET otherwise. 0: what
  /// the device allows, which counts in any case. For a GPU it is memory there.
  uint64_t memory_budget;
  /// A SparringNormalize.
  uint32_t normalize;
  /// A SparringPrecision.
  uint32_t precision;
  /// Not 0: entries that the metric cannot take are not searched for. Distances from their rows are then NaN, or
  /// whatever comes of them.
  uint32_t unchecked;
  /// Not 0: a row is not its own neighbour. Only where `y` is NULL.
  uint32_t exclude_self;
} SparringDistanceOptions;

/// How the file of a tensor is read. All zero (`SparringTensorReadOptions o = {0};`) are the defaults.
typedef struct {
  /// Bytes of text, after decompression, beyond which the file is refused: SPARRING_BUDGET. 0: no limit.
  uint64_t max_bytes;
  /// The length of each mode, `order` of them; indices beyond are errors of the file. NULL: the largest index of each
  /// mode.
  const uint64_t *dims;
  /// Number of modes, if `dims` is not NULL.
  uint64_t order;
  /// A SparringDuplicates.
  uint32_t duplicates;
  /// Not 0: lines have no value, all their numbers are indices, and each entry is 1.
  uint32_t no_values;
  /// Not 0: comments behind entries are left out, and so is garbage behind gzip.
  uint32_t lenient;
} SparringTensorReadOptions;

/// A sweep through all modes, done.
typedef struct {
  /// Which start, from 0.
  uint64_t start;
  /// Which sweep of it, from 1.
  uint64_t number;
  /// 1 - ‖X - M‖ / ‖X‖.
  double fit;
  /// Difference from the fit before; of the first sweep, the fit.
  double change;
  /// Seconds since the call began.
  double seconds;
} SparringSweep;

/// How sparring_cp_als goes on. All zero (`SparringCpOptions o = {0};`) are the defaults.
typedef struct {
  /// Most sweeps of each start. 0: 100.
  uint64_t sweeps;
  /// A start ends when the fit changes by less. 0: 0.0001.
  double tolerance;
  /// Not 0: every start makes all its sweeps, however little the fit changes, and `tolerance` is not used.
  uint32_t all_sweeps;
  /// Not 0: `weights` and `factors` hold a model when the function is called, from which the first start begins.
  uint32_t warm_start;
  /// Starts, of which the best is kept. 0: 1.
  uint64_t starts;
  /// The first start begins with factors of elements in [0, 1) that this number gives, the next one with those of the
  /// next number: they are those of NumPy's Generator(PCG64(seed)).random, factor after factor.
  uint64_t seed;
  /// Added to what is made least: this times the squared norm of each factor, from 0 up.
  double ridge;
  /// Not 0: factors without negative elements.
  uint32_t nonnegative;
  /// A SparringMttkrpVariant.
  uint32_t variant;
  /// Called after each sweep by the thread that called sparring_cp_als, unless NULL. What is not 0 stops, and the
  /// best model so far is the result. It returns: no longjmp, and no exception of C++. It may call functions of this
  /// library.
  int32_t (*on_sweep)(const SparringSweep *sweep, void *context);
  /// Given to `on_sweep`.
  void *context;
} SparringCpOptions;

/// What sparring_cp_als found, beside weights and factors.
typedef struct {
  /// 1 - ‖X - M‖ / ‖X‖.
  double fit;
  /// Sweeps of the best start.
  uint64_t sweeps;
  /// Which start was best, from 0.
  uint64_t start;
  /// Systems of the best start that were singular, and had the solution of minimum norm.
  uint64_t singular;
  /// Seconds to prepare the tensor.
  double setup_seconds;
  /// Seconds of the products with factors, all starts together.
  double mttkrp_seconds;
  /// Seconds in all.
  double seconds;
  /// 1 if the fit of the best start changed by less than the tolerance at the end, else 0.
  uint32_t converged;
} SparringCpFit;

/// Where the elements of a batch of equal tensors lie in an array: element (i, j, ...) of tensor b at offset + b *
/// batch_stride + i * strides[0] + j * strides[1] + ... Of operands strides may be negative, or 0: one element for
/// every value of an index. A result has positive ones, each larger than what those below it reach together.
typedef struct {
  /// Number of indices.
  uint64_t rank;
  /// How many values each has.
  const uint64_t *extents;
  /// Elements from one value of each to the next; NULL: as C lays arrays out, the last index fastest.
  const int64_t *strides;
  /// Where the element lies whose indices are all 0.
  uint64_t offset;
  /// Tensors: 1 if there is no batch. The batch is one more index, which has no letter.
  uint64_t batch;
  /// Elements from one tensor to the next; 0: one for the whole batch.
  int64_t batch_stride;
} SparringLayout;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Name of a status code, such as "SPARRING_SHAPE"; "unknown status" for a number that is none.
/// The text is constant and is not freed.
const char *sparring_status_name(uint32_t status);

/// What went wrong in the last call on this thread of a function that returns a SparringStatus: UTF-8 with the numbers
/// involved, cut to 4095 bytes, empty if it succeeded. Each thread has one such text, always at the same address, good
/// until the thread ends and not to be freed: what is read there is the message of the last call before the reading. So
/// `printf("%d %s", call(), sparring_last_error())` prints the message of `call()`, whichever of the two is evaluated
/// first. Copy what has to outlast the next call.
const char *sparring_last_error(void);

/// Version of the library that runs, such as "0.1.0". The text is constant and is not freed.
const char *sparring_version(void);

/// Version of the library that runs, as a number to compare: that of the header is SPARRING_VERSION.
uint32_t sparring_version_number(void);

/// Number of handles that have not been freed, of all kinds and threads: 0 at the end of a program
/// without leaks.
uint64_t sparring_handles_alive(void);

/// A device by its name: "cpu" for the processor, "cuda:0" for the first NVIDIA GPU, "cuda:1" for the next.
///
/// On the processor there is a pool of `threads` threads, or SPARRING_THREADS if the system refuses them (0: one for
/// each processor that this process may use, or as many as are to be had); for a GPU `threads` is 0. Products,
/// distances and decompositions refuse with SPARRING_BUDGET to use more than `memory_budget` bytes for results and
/// scratch together (0: no limit), of the device's memory if it is a GPU. A GPU needs the NVIDIA driver, or the status
/// is SPARRING_NO_DEVICE, and its first operation needs NVRTC, the compiler that comes with CUDA: SPARRING_NO_COMPILER
/// otherwise. `*device` gets the handle, NULL on failure; free it with sparring_device_free.
SparringStatus sparring_device_new(const char *name,
                                   uint32_t threads,
                                   uint64_t memory_budget,
                                   SparringDevice **device);

/// Number of GPUs that the NVIDIA driver has; 0 where there is no driver.
uint64_t sparring_gpu_count(void);

/// What the device is, in words: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain. It begins
/// with the name that sparring_device_new takes.
SparringStatus sparring_device_describe(const SparringDevice *device,
                                        char *buffer,
                                        uint64_t capacity,
                                        uint64_t *length);

/// Number of threads of the processor; 0 for a GPU.
SparringStatus sparring_device_threads(const SparringDevice *device, uint32_t *threads);

/// Waits until the device has done all that it was asked for. No other call needs this: results that you see are
/// finished. It is for measuring time on a GPU, whose matrices may still be in the making when a call returns.
SparringStatus sparring_device_wait(const SparringDevice *device);

/// Frees a SparringDevice; NULL is allowed. Matrices and plans on a GPU stay good.
SparringStatus sparring_device_free(SparringDevice *device);

/// Begins (`on` not 0) or ends (0) to note how the calls on this thread compute their results: for each operation its
/// operands and their forms, the kernel that ran, and why. Beginning forgets what was noted before. A call that notes
/// takes some microseconds more. Other threads are not concerned.
SparringStatus sparring_explain(uint32_t on);

/// What the calls on this thread noted since sparring_explain(1), lines of UTF-8 text, into `buffer` of `capacity`
/// bytes as for sparring_plan_explain; of more than a mebibyte the beginning. It may be read before and after
/// sparring_explain(0). Failed calls note what they ran until they failed.
SparringStatus sparring_explanation(char *buffer,
                                    uint64_t capacity,
                                    uint64_t *length);

/// An nrows × ncols matrix from compressed rows, which are checked and copied (sparring_arrays_new makes do without the
/// copy): the entries of row i are `col_idx[p]` and `values[p]` for p from `row_ptr[i]` to `row_ptr[i + 1]` - 1.
/// `type` is a SparringType, and `values` points to `nnz` values of it; `row_ptr` has nrows + 1 elements and
/// `col_idx` has `nnz`. The columns of a row may stand in any order, but none of them twice.
/// `*matrix` gets the handle, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_matrix_from_csr(uint32_t type,
                                        uint64_t nrows,
                                        uint64_t ncols,
                                        const uint64_t *row_ptr,
                                        const uint32_t *col_idx,
                                        const void *values,
                                        uint64_t nnz,
                                        SparringMatrix **matrix);

/// An nrows × ncols matrix from coordinates, which are checked and copied: entries (rows[p], cols[p]) = values[p]
/// for p from 0 to len - 1, in any order. Entries at the same place are summed (bool: or); an integer
/// type that does not hold a sum is refused. The caller's thread does it.
/// `type` is a SparringType; all three arrays have `len` elements.
/// `*matrix` gets the handle, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_matrix_from_coo(uint32_t type,
                                        uint64_t nrows,
                                        uint64_t ncols,
                                        const uint32_t *rows,
                                        const uint32_t *cols,
                                        const void *values,
                                        uint64_t len,
                                        SparringMatrix **matrix);

/// The nrows × ncols matrix without entries. `type` is a SparringType. `*matrix` gets the handle, NULL on failure; free
/// it with sparring_matrix_free. Rows may be any number, and cost nothing while they are empty; columns are below 2^32:
/// SPARRING_INDEX_OVERFLOW otherwise.
SparringStatus sparring_matrix_new(uint32_t type,
                                   uint64_t nrows,
                                   uint64_t ncols,
                                   SparringMatrix **matrix);

/// The same matrix under another handle: what is written to one leaves the other as it is. Nothing is copied before
/// one of the two is written. `*copy` gets the handle, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_matrix_dup(const SparringMatrix *matrix,
                                   SparringMatrix **copy);

/// Removes all entries; the type, the shape and the memory in which it is stay. `device` is where it is. Pointers from
/// sparring_matrix_borrow end here.
SparringStatus sparring_matrix_clear(const SparringDevice *device,
                                     SparringMatrix *matrix);

/// The value at row `i` and column `j` into `scalar`, which is of the matrix' type; where there is no entry, the scalar
/// becomes empty. The matrix is in the processor's memory.
SparringStatus sparring_matrix_get(const SparringMatrix *matrix,
                                   uint64_t i,
                                   uint64_t j,
                                   SparringScalar *scalar);

/// A new matrix with the same entries, of values of another type: as floats the nearest, as integers the same numbers,
/// as bool whether they are not 0. A value that the type does not hold is refused with its place: SPARRING_UNSUPPORTED;
/// with `wrap` not 0 it is converted as C does, but that floats saturate and a NaN becomes 0. `*there` gets the handle,
/// NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_matrix_cast(const SparringMatrix *matrix,
                                    uint32_t type,
                                    uint32_t wrap,
                                    SparringMatrix **there);

/// Type of the values, a SparringType.
SparringStatus sparring_matrix_type(const SparringMatrix *matrix, uint32_t *type);

/// Number of rows and of columns.
SparringStatus sparring_matrix_shape(const SparringMatrix *matrix, uint64_t *nrows, uint64_t *ncols);

/// Number of entries, stored zeros included.
SparringStatus sparring_matrix_nnz(const SparringMatrix *matrix, uint64_t *nnz);

/// The same matrix in the memory of `device`: of a GPU for "cuda:N", of the processor for "cpu". Operations on that
/// device then find it there, and what they make of it stays there too; matrices that are elsewhere are sent for each
/// call. A matrix on a GPU belongs to the SparringDevice that it was sent to, and is used with no other. `*there` gets
/// the handle of a new matrix, NULL on failure; free it with sparring_matrix_free. Both matrices live on their own: new
/// values of the one leave the other as it is.
SparringStatus sparring_matrix_to(const SparringDevice *device,
                                  const SparringMatrix *matrix,
                                  SparringMatrix **there);

/// Where the matrix is: "cpu", "cuda:0" and so on, into `buffer` of `capacity` bytes as for sparring_plan_explain.
SparringStatus sparring_matrix_device(const SparringMatrix *matrix,
                                      char *buffer,
                                      uint64_t capacity,
                                      uint64_t *length);

/// Copies the matrix into your arrays; an array that is NULL is not wanted.
/// The matrix is in the processor's memory: see sparring_matrix_to.
/// `row_ptr` has room for `row_ptr_len` elements (nrows + 1 are written), and `col_idx` and `values` have room for
/// `nnz_len` each (nnz are written): SPARRING_LENGTH if that is too few. `values` has the matrix's type.
SparringStatus sparring_matrix_copy(const SparringMatrix *matrix,
                                    uint64_t *row_ptr,
                                    uint64_t row_ptr_len,
                                    uint32_t *col_idx,
                                    void *values,
                                    uint64_t nnz_len);

/// Lends the arrays of a matrix in the processor's memory, without a copy: nrows + 1 row pointers, nnz columns and nnz
/// values of the matrix's type. Do not write to them. They are good until the matrix is freed or, on any thread,
/// written by sparring_plan_numeric_into or as the c of an operation. Each of `row_ptr`, `col_idx`, `values` may be
/// NULL: not wanted.
SparringStatus sparring_matrix_borrow(const SparringMatrix *matrix,
                                      const uint64_t **row_ptr,
                                      const uint32_t **col_idx,
                                      const void **values);

/// Frees a matrix; NULL is allowed.
SparringStatus sparring_matrix_free(SparringMatrix *matrix);

/// The vector of `len` indices, without entries. `type` is a SparringType. `*vector` gets the handle, NULL on failure;
/// free it with sparring_vector_free. A length is below 2^32: SPARRING_INDEX_OVERFLOW otherwise.
SparringStatus sparring_vector_new(uint32_t type,
                                   uint64_t len,
                                   SparringVector **vector);

/// The vector of `len` indices with the entries v(indices[p]) = values[p] for p from 0 to nvals - 1, in any order,
/// which are checked and copied. Entries at the same index are summed (bool: or); an integer type that does not hold a
/// sum is refused. `type` is a SparringType; both arrays have `nvals` elements. `*vector` gets the handle, NULL on
/// failure; free it with sparring_vector_free.
SparringStatus sparring_vector_from_entries(uint32_t type,
                                            uint64_t len,
                                            const uint64_t *indices,
                                            const void *values,
                                            uint64_t nvals,
                                            SparringVector **vector);

/// The vector of `len` indices with an entry at each, values[i] at i, which are copied. `type` is a SparringType.
/// `*vector` gets the handle, NULL on failure; free it with sparring_vector_free.
SparringStatus sparring_vector_from_dense(uint32_t type,
                                          const void *values,
                                          uint64_t len,
                                          SparringVector **vector);

/// The same vector under another handle: what is written to one leaves the other as it is. Nothing is copied before
/// one of the two is written. `*copy` gets the handle, NULL on failure; free it with sparring_vector_free.
SparringStatus sparring_vector_dup(const SparringVector *vector,
                                   SparringVector **copy);

/// Type of the values, a SparringType.
SparringStatus sparring_vector_type(const SparringVector *vector, uint32_t *type);

/// Number of indices, with or without an entry.
SparringStatus sparring_vector_len(const SparringVector *vector, uint64_t *len);

/// Number of entries, stored zeros included.
SparringStatus sparring_vector_nvals(const SparringVector *vector, uint64_t *nvals);

/// Copies the entries into your arrays, indices increasing; an array that is NULL is not wanted. The vector is in the
/// processor's memory: see sparring_vector_to. `indices` and `values` have room for `capacity` elements each, of which
/// as many are written as there are entries: SPARRING_LENGTH if that is too few. `values` has the vector's type.
SparringStatus sparring_vector_entries(const SparringVector *vector,
                                       uint64_t *indices,
                                       void *values,
                                       uint64_t capacity);

/// The value at index `i` into `scalar`, which is of the vector's type; where there is no entry, the scalar becomes
/// empty. The vector is in the processor's memory.
SparringStatus sparring_vector_get(const SparringVector *vector,
                                   uint64_t i,
                                   SparringScalar *scalar);

/// Removes all entries; the type, the length and the memory in which it is stay. `device` is where it is.
SparringStatus sparring_vector_clear(const SparringDevice *device, SparringVector *vector);

/// A new vector with the same entries, of values of another type: as floats the nearest, as integers the same numbers,
/// as bool whether they are not 0. A value that the type does not hold is refused with its index:
/// SPARRING_UNSUPPORTED; with `wrap` not 0 it is converted as C does, but that floats saturate and a NaN becomes 0.
/// `*there` gets the handle, NULL on failure; free it with sparring_vector_free.
SparringStatus sparring_vector_cast(const SparringVector *vector,
                                    uint32_t type,
                                    uint32_t wrap,
                                    SparringVector **there);

/// The same vector in the memory of `device`, as sparring_matrix_to has it of matrices. `*there` gets the handle of a
/// new vector, NULL on failure; free it with sparring_vector_free.
SparringStatus sparring_vector_to(const SparringDevice *device,
                                  const SparringVector *vector,
                                  SparringVector **there);

/// Where the vector is: "cpu", "cuda:0" and so on, into `buffer` of `capacity` bytes as for sparring_plan_explain.
SparringStatus sparring_vector_device(const SparringVector *vector,
                                      char *buffer,
                                      uint64_t capacity,
                                      uint64_t *length);

/// Frees a vector; NULL is allowed.
SparringStatus sparring_vector_free(SparringVector *vector);

/// A scalar of the type `type`, a SparringType, with the value of that type that `value` points to; NULL makes it
/// empty. `*scalar` gets the handle, NULL on failure; free it with sparring_scalar_free.
SparringStatus sparring_scalar_new(uint32_t type,
                                   const void *value,
                                   SparringScalar **scalar);

/// Gives the scalar the value that `value` points to, which is of its type; NULL makes it empty.
SparringStatus sparring_scalar_set(SparringScalar *scalar, const void *value);

/// Writes the value to `value`, which has room for one of the scalar's type. An empty scalar: SPARRING_NO_VALUE, and
/// nothing is written.
SparringStatus sparring_scalar_get(const SparringScalar *scalar,
                                   void *value);

/// 1 if the scalar has a value, 0 if it is empty.
SparringStatus sparring_scalar_nvals(const SparringScalar *scalar, uint64_t *nvals);

/// Its type, a SparringType.
SparringStatus sparring_scalar_type(const SparringScalar *scalar, uint32_t *type);

/// Frees a scalar; NULL is allowed.
SparringStatus sparring_scalar_free(SparringScalar *scalar);

/// Room for the compressed rows of an nrows × ncols matrix with `nnz` entries, in memory that becomes the matrix: what
/// you write there is not copied. All of it is 0. `type` is a SparringType. `*row_ptr` gets the address of nrows + 1
/// elements, `*col_idx` and `*values` of `nnz` each, for you to fill as those of sparring_matrix_from_csr, by as many
/// threads as you like. They are good until sparring_matrix_from_arrays or sparring_arrays_free. `*arrays` gets the
/// handle, NULL on failure; end it with one of those two.
SparringStatus sparring_arrays_new(uint32_t type,
                                   uint64_t nrows,
                                   uint64_t ncols,
                                   uint64_t nnz,
                                   uint64_t **row_ptr,
                                   uint32_t **col_idx,
                                   void **values,
                                   SparringArrays **arrays);

/// The matrix of arrays that you have filled: they are checked as those of sparring_matrix_from_csr, and not copied.
/// Nobody writes to them from here on, nor after; the matrix lends them as sparring_matrix_borrow says. `*matrix` gets
/// the handle, NULL on failure; free it with sparring_matrix_free. `arrays` ends here: what is wrong with their
/// contents frees them too. With SPARRING_NULL_POINTER and SPARRING_INVALID_HANDLE nothing has happened.
SparringStatus sparring_matrix_from_arrays(SparringArrays *arrays,
                                           SparringMatrix **matrix);

/// Frees arrays that are to be no matrix; NULL is allowed.
SparringStatus sparring_arrays_free(SparringArrays *arrays);

/// An nrows × ncols matrix over compressed rows of yours, which are read where they are and not copied: as those of
/// sparring_matrix_from_csr, but that `row_ptr` may be of SPARRING_I32, SPARRING_I64 or SPARRING_U64 (`row_ptr_type`)
/// and `col_idx` of SPARRING_I32, SPARRING_U32, SPARRING_I64 or SPARRING_U64 (`col_idx_type`), as SciPy and Arrow have
/// them. Row pointers of 32 bits and columns of 64 are copied to the other width; a column that 32 bits do not hold is
/// refused. Arrays are checked once, in time of nrows + nnz, unless `flags` has SPARRING_UNCHECKED; bytes of
/// SPARRING_BOOL are always checked to be 0 or 1. On success the arrays belong to the matrix and to all results that
/// share them: nobody writes to them until `release`, which may be NULL, is called with `context`, once, by any thread.
/// On failure they are yours as before, and `release` is not called. `*matrix` gets the handle, NULL on failure; free
/// it with sparring_matrix_free.
SparringStatus sparring_matrix_from_foreign(uint32_t type,
                                            uint64_t nrows,
                                            uint64_t ncols,
                                            uint64_t nnz,
                                            uint32_t row_ptr_type,
                                            const void *row_ptr,
                                            uint32_t col_idx_type,
                                            const void *col_idx,
                                            const void *values,
                                            uint32_t flags,
                                            void (*release)(void *context),
                                            void *context,
                                            SparringMatrix **matrix);

/// A matrix from a Matrix Market file, compressed by gzip or not, read by the threads of `device`: symmetry is expanded
/// and repeated entries are summed (bool: or). `type` is a SparringType: doubles and floats take the nearest value,
/// integers only what they hold exactly (SPARRING_TYPE otherwise), bool whether it differs from 0, real numbers no
/// imaginary part. Entries of a pattern are 1. For a GPU the processor reads, and the matrix is in its memory: see
/// sparring_matrix_to. `path` is UTF-8. `*matrix` gets the handle, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_matrix_read(const SparringDevice *device,
                                    uint32_t type,
                                    const char *path,
                                    SparringMatrix **matrix);

/// sparring_matrix_read with options; NULL for the defaults.
SparringStatus sparring_matrix_read_with(const SparringDevice *device,
                                         uint32_t type,
                                         const char *path,
                                         const SparringReadOptions *options,
                                         SparringMatrix **matrix);

/// Writes the matrix, which is in the processor's memory (see sparring_matrix_to), as a Matrix Market file, compressed
/// by gzip if `path` ends in ".gz", by the threads of `device`. Reading it as the same type gives the same entries bit
/// for bit, except that every NaN becomes the usual one. It is written beside its place and takes it when it is
/// complete: on failure, what was at `path` is as it was. `path` is UTF-8; `options` may be NULL.
SparringStatus sparring_matrix_write(const SparringDevice *device,
                                     const SparringMatrix *matrix,
                                     const char *path,
                                     const SparringWriteOptions *options);

/// A matrix from a file of the format `format`, a SparringFormat, read by the threads of `device`. `type` is a
/// SparringType, or 0 for that of the file; a value that it does not hold: SPARRING_TYPE. `options` may be NULL.
/// `labels` is NULL, or gets what the file says beside its numbers, which is empty for a format that has nothing of it;
/// free it with sparring_labels_free. An error of the file (SPARRING_PARSE) says path:line:column and what is wrong
/// there. For a GPU the processor reads: sparring_matrix_to. `path` is UTF-8. `*matrix` gets the handle, NULL on
/// failure; free it with sparring_matrix_free.
SparringStatus sparring_matrix_read_file(const SparringDevice *device,
                                         uint32_t format,
                                         uint32_t type,
                                         const char *path,
                                         const SparringFileOptions *options,
                                         SparringLabels **labels,
                                         SparringMatrix **matrix);

/// Writes the matrix, which is in the processor's memory (see sparring_matrix_to), as a file of the format `format`, a
/// SparringFormat, by the threads of `device`: SPARRING_MATRIX_MARKET, SPARRING_CSV, SPARRING_SVMLIGHT, SPARRING_NPY or
/// SPARRING_NPZ; others are read alone: SPARRING_UNSUPPORTED. Text is compressed by gzip if `path` ends in ".gz".
/// `labels` has a label for each row of SPARRING_SVMLIGHT, NULL: each is 0; for other formats it is NULL. The file is
/// written beside its place and takes it when it is complete: on failure, what was at `path` is as it was. `path` is
/// UTF-8.
SparringStatus sparring_matrix_write_file(const SparringDevice *device,
                                          uint32_t format,
                                          const SparringMatrix *matrix,
                                          const SparringLabels *labels,
                                          const char *path);

/// Labels of rows that are numbers, for sparring_matrix_write_file: `len` doubles, each the shortest text that gives it
/// back. `*labels` gets the handle, NULL on failure; free it with sparring_labels_free.
SparringStatus sparring_labels_from_numbers(const double *numbers,
                                            uint64_t len,
                                            SparringLabels **labels);

/// How many labels of rows, names of columns and numbers of vertices there are; each may be NULL.
SparringStatus sparring_labels_counts(const SparringLabels *labels,
                                      uint64_t *rows,
                                      uint64_t *columns,
                                      uint64_t *ids);

/// The label of row `at`, from 0: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
SparringStatus sparring_labels_row(const SparringLabels *labels,
                                   uint64_t at,
                                   char *buffer,
                                   uint64_t capacity,
                                   uint64_t *length);

/// The name of column `at`, from 0: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
SparringStatus sparring_labels_column(const SparringLabels *labels,
                                      uint64_t at,
                                      char *buffer,
                                      uint64_t capacity,
                                      uint64_t *length);

/// The labels of all rows as numbers, into an array of `capacity` doubles. One that is no number: SPARRING_PARSE.
SparringStatus sparring_labels_numbers(const SparringLabels *labels,
                                       double *numbers,
                                       uint64_t capacity);

/// The numbers that the vertices have in the file, in the order of rows and columns, into an array of `capacity`.
SparringStatus sparring_labels_ids(const SparringLabels *labels,
                                   int64_t *ids,
                                   uint64_t capacity);

/// Frees labels; NULL is allowed.
SparringStatus sparring_labels_free(SparringLabels *labels);

/// The matrix as bytes, of a stated format with a version and a check, which sparring_matrix_deserialize reads, also in
/// another process, on another machine and by a later version. One on a GPU is downloaded. `*bytes` gets the handle,
/// NULL on failure; free it with sparring_bytes_free.
SparringStatus sparring_matrix_serialize(const SparringMatrix *matrix,
                                         SparringBytes **bytes);

/// The vector as bytes, as sparring_matrix_serialize makes them of a matrix.
SparringStatus sparring_vector_serialize(const SparringVector *vector, SparringBytes **bytes);

/// Where the bytes are, and how many: good until sparring_bytes_free.
SparringStatus sparring_bytes_get(const SparringBytes *bytes, const void **data, uint64_t *len);

/// Frees bytes; NULL is allowed.
SparringStatus sparring_bytes_free(SparringBytes *bytes);

/// The matrix that sparring_matrix_serialize made `len` bytes of, whatever its type, in the processor's memory. Bytes
/// that are cut, damaged, of another version or of something else are SPARRING_PARSE, with the place. No size in them
/// is trusted: memory is taken as bytes come. `*matrix` gets the handle, NULL on failure; free it with
/// sparring_matrix_free.
SparringStatus sparring_matrix_deserialize(const void *data,
                                           uint64_t len,
                                           SparringMatrix **matrix);

/// The vector that sparring_vector_serialize made `len` bytes of, as sparring_matrix_deserialize.
SparringStatus sparring_vector_deserialize(const void *data, uint64_t len, SparringVector **vector);

/// Number of semirings that sparring_mxm knows by name.
uint64_t sparring_semiring_count(void);

/// Name of a semiring, `index` from 0 to sparring_semiring_count() - 1, or NULL beyond: "plus_times", "min_plus" and
/// so on, the sum first. Not every type has every one: the error that says so lists those that it has. "lor_land"
/// and its kind give bool, and those of positions ("any_secondi" and so on) give int64_t; all others give the type
/// of the operands. The text is constant and is not freed.
const char *sparring_semiring_name(uint64_t index);

/// The semiring of this name (see sparring_semiring_name), or of these formulas: ⊕, a comma, ⊗, as in "min, a + 2*b",
/// for products of A with values of `a_type` and B with values of `b_type`, both a SparringType. A name takes one type
/// for both; where it does not exist for that type: SPARRING_TYPE. A formula may take two. What it takes to run it is
/// made by the first product that needs it; a product with the handle reads no text. `*ring` gets the handle, NULL on
/// failure; free it with sparring_semiring_free.
SparringStatus sparring_semiring_new(const char *semiring,
                                     uint32_t a_type,
                                     uint32_t b_type,
                                     SparringSemiring **ring);

/// Its name, or its formulas as they were given: UTF-8 text into `buffer` of `capacity` bytes, as for
/// sparring_plan_explain.
SparringStatus sparring_semiring_describe(const SparringSemiring *ring,
                                          char *buffer,
                                          uint64_t capacity,
                                          uint64_t *length);

/// Type of the values that it gives, a SparringType.
SparringStatus sparring_semiring_type(const SparringSemiring *ring, uint32_t *type);

/// Frees a semiring; NULL is allowed.
SparringStatus sparring_semiring_free(SparringSemiring *ring);

/// The operator of this name, as "plus", "min", "second", "times", or of this formula of a and b, as "a + 2*b" or
/// "a < b". Operands are of `a_type` and `b_type`, both a SparringType; a name takes one type for both, and where it
/// does not exist for that type: SPARRING_TYPE. A formula may take two. `*op` gets the handle, NULL on failure; free it
/// with sparring_binary_op_free.
SparringStatus sparring_binary_op_new(const char *text,
                                      uint32_t a_type,
                                      uint32_t b_type,
                                      SparringBinaryOp **op);

/// Type of the values that it gives, a SparringType.
SparringStatus sparring_binary_op_type(const SparringBinaryOp *op, uint32_t *type);

/// Its name or formula: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
SparringStatus sparring_binary_op_describe(const SparringBinaryOp *op,
                                           char *buffer,
                                           uint64_t capacity,
                                           uint64_t *length);

/// The operator f(x) = s ∘ x, s the value that the scalar has now, of the type of a. `*unary` gets the handle, NULL on
/// failure; free it with sparring_unary_op_free.
SparringStatus sparring_binary_op_bind_first(const SparringBinaryOp *op,
                                             const SparringScalar *scalar,
                                             SparringUnaryOp **unary);

/// The operator f(x) = x ∘ s, s the value that the scalar has now, of the type of b. `*unary` gets the handle, NULL on
/// failure; free it with sparring_unary_op_free.
SparringStatus sparring_binary_op_bind_second(const SparringBinaryOp *op,
                                              const SparringScalar *scalar,
                                              SparringUnaryOp **unary);

/// Frees an operator; NULL is allowed.
SparringStatus sparring_binary_op_free(SparringBinaryOp *op);

/// The operator of this name, as "abs", "ainv" or "tril", or of this formula of a, s, i and j, as "a*a", "a > s" or
/// "i < j": a is an entry, s a scalar, i and j the row and column of the entry, of SPARRING_U64 (j is 0 in a vector).
/// Entries are of the type `type`. The scalar of a formula is of `s_type`, or of `type` if that is 0; a name takes a
/// scalar of a type of its own ("tril" one of SPARRING_I64), and `s_type` is that type, or 0. An operator that reads a
/// scalar gets it by sparring_unary_op_with before it is used. `*op` gets the handle, NULL on failure; free it with
/// sparring_unary_op_free.
SparringStatus sparring_unary_op_new(const char *text,
                                     uint32_t type,
                                     uint32_t s_type,
                                     SparringUnaryOp **op);

/// The same operator with s, the value that the scalar has now; `op` reads one and has none yet. `*bound` gets the
/// handle, NULL on failure; free it with sparring_unary_op_free.
SparringStatus sparring_unary_op_with(const SparringUnaryOp *op,
                                      const SparringScalar *scalar,
                                      SparringUnaryOp **bound);

/// Type of the values that it gives, a SparringType.
SparringStatus sparring_unary_op_type(const SparringUnaryOp *op, uint32_t *type);

/// Its name or formula: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
SparringStatus sparring_unary_op_describe(const SparringUnaryOp *op,
                                          char *buffer,
                                          uint64_t capacity,
                                          uint64_t *length);

/// Frees an operator; NULL is allowed.
SparringStatus sparring_unary_op_free(SparringUnaryOp *op);

/// The monoid of this name, as "plus", "max" or "lor", or of this formula with its identity, as "a + b - a*b identity
/// 0", over values of `type`, a SparringType. That it is a monoid is tried on many values: SPARRING_ARGUMENT with those
/// that show the contrary. `*monoid` gets the handle, NULL on failure; free it with sparring_monoid_free.
SparringStatus sparring_monoid_new(const char *text,
                                   uint32_t type,
                                   SparringMonoid **monoid);

/// Type of its values, a SparringType.
SparringStatus sparring_monoid_type(const SparringMonoid *monoid, uint32_t *type);

/// Its identity, e with e ⊕ x = x, into `scalar`, which is of its type.
SparringStatus sparring_monoid_identity(const SparringMonoid *monoid, SparringScalar *scalar);

/// Its name or formula: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
SparringStatus sparring_monoid_describe(const SparringMonoid *monoid,
                                        char *buffer,
                                        uint64_t capacity,
                                        uint64_t *length);

/// Frees a monoid; NULL is allowed.
SparringStatus sparring_monoid_free(SparringMonoid *monoid);

/// The operator z = f(x) of a function of yours, which reads an `x_type` at `x` and writes a `z_type` to `z`, both a
/// SparringType; the two addresses differ. Messages call it `name`, which may be NULL.
///
/// It is called once for a value, by several threads at a time. It depends on `x` alone, returns, and calls no function
/// of this library: what it throws, longjmps over or writes elsewhere is undefined. It works wherever an operator works
/// on the processor; a GPU cannot call it: SPARRING_UNSUPPORTED, and the same as the text of a formula runs there too.
/// Two operators are equal if one is made of the other. `*op` gets the handle, NULL on failure; free it with
/// sparring_unary_op_free.
SparringStatus sparring_unary_op_from_function(void (*f)(void *z, const void *x),
                                               const char *name,
                                               uint32_t z_type,
                                               uint32_t x_type,
                                               SparringUnaryOp **op);

/// The same of a function with a context of yours, which it gets first. `release` is called once with the context, by
/// any thread, when the operator is freed and whatever was made of it too; it may be NULL. On failure it is not called.
SparringStatus sparring_unary_op_from_closure(void (*f)(void *context, void *z, const void *x),
                                              void *context,
                                              void (*release)(void *context),
                                              const char *name,
                                              uint32_t z_type,
                                              uint32_t x_type,
                                              SparringUnaryOp **op);

/// The operator z = f(x, i, j, s) of a function of yours: of an entry, its row, its column (0 in a vector) and a
/// scalar, as GrB_IndexUnaryOp. For select, `z_type` is SPARRING_BOOL. It gets its scalar, of `s_type`, by
/// sparring_unary_op_with before it is used. What is asked of the function is said at sparring_unary_op_from_function.
SparringStatus sparring_unary_op_from_index_function(void (*f)(void *z,
                                                               const void *x,
                                                               uint64_t i,
                                                               uint64_t j,
                                                               const void *s),
                                                     const char *name,
                                                     uint32_t z_type,
                                                     uint32_t x_type,
                                                     uint32_t s_type,
                                                     SparringUnaryOp **op);

/// The same of a function with a context of yours, as for sparring_unary_op_from_closure.
SparringStatus sparring_unary_op_from_index_closure(void (*f)(void *context,
                                                              void *z,
                                                              const void *x,
                                                              uint64_t i,
                                                              uint64_t j,
                                                              const void *s),
                                                    void *context,
                                                    void (*release)(void *context),
                                                    const char *name,
                                                    uint32_t z_type,
                                                    uint32_t x_type,
                                                    uint32_t s_type,
                                                    SparringUnaryOp **op);

/// The operator z = f(x, y) of a function of yours, which reads an `x_type` at `x` and a `y_type` at `y` and writes a
/// `z_type` to `z`, as GrB_BinaryOp. What is asked of the function is said at sparring_unary_op_from_function. `*op`
/// gets the handle, NULL on failure; free it with sparring_binary_op_free.
SparringStatus sparring_binary_op_from_function(void (*f)(void *z, const void *x, const void *y),
                                                const char *name,
                                                uint32_t z_type,
                                                uint32_t x_type,
                                                uint32_t y_type,
                                                SparringBinaryOp **op);

/// The same of a function with a context of yours, as for sparring_unary_op_from_closure.
SparringStatus sparring_binary_op_from_closure(void (*f)(void *context, void *z, const void *x, const void *y),
                                               void *context,
                                               void (*release)(void *context),
                                               const char *name,
                                               uint32_t z_type,
                                               uint32_t x_type,
                                               uint32_t y_type,
                                               SparringBinaryOp **op);

/// The monoid of an operator, which takes and gives one type, and its identity, the value that the scalar has now. That
/// it is a monoid is tried on many values, SPARRING_ARGUMENT with those that show the contrary; not of a function of
/// yours, which may be one on the values that you have alone. `*monoid` gets the handle, NULL on failure; free it with
/// sparring_monoid_free.
SparringStatus sparring_monoid_from_op(const SparringBinaryOp *op,
                                       const SparringScalar *identity,
                                       SparringMonoid **monoid);

/// The semiring of a monoid and an operator that gives its type. Products by it take A of the operator's first type and
/// B of its second. `*ring` gets the handle, NULL on failure; free it with sparring_semiring_free.
SparringStatus sparring_semiring_from_ops(const SparringMonoid *add,
                                          const SparringBinaryOp *mul,
                                          SparringSemiring **ring);

/// The product C = A ⊕.⊗ B over the semiring of this name (see sparring_semiring_name), or of these formulas: ⊕, a
/// comma, ⊗, as in "min, a + 2*b". `a` is m×k, `b` is k×n, both of the same type; the result is m×n, of the type that
/// the semiring gives. Where the semiring does not exist for that type: SPARRING_TYPE. On a GPU the result is where `a`
/// is, with the bits of the processor's, but for the last ones of a logarithm ("log_plus"). `options` may be NULL. `*c`
/// gets the handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_mxm(const SparringDevice *device,
                            const char *semiring,
                            const SparringMatrix *a,
                            const SparringMatrix *b,
                            const SparringOptions *options,
                            SparringMatrix **c);

/// Symbolic phase of C = A·B: the structure of C from those of `a` and `b`, whose values and types do not matter.
/// The plan serves any number of numeric phases with matrices of the same structure. `options` may be NULL.
/// `*plan` gets the handle, NULL on failure; free it with sparring_plan_free.
SparringStatus sparring_plan_new(const SparringDevice *device,
                                 const SparringMatrix *a,
                                 const SparringMatrix *b,
                                 const SparringOptions *options,
                                 SparringPlan **plan);

/// Figures of the product.
SparringStatus sparring_plan_stats(const SparringPlan *plan, SparringStats *stats);

/// What was chosen, and why: UTF-8 text into `buffer` of `capacity` bytes, ended by a zero and cut to what fits.
/// `*length` gets the length of the whole text in bytes without the zero; `length` may be NULL, and so may
/// `buffer` if `capacity` is 0.
SparringStatus sparring_plan_explain(const SparringPlan *plan,
                                     char *buffer,
                                     uint64_t capacity,
                                     uint64_t *length);

/// Numeric phase: the values of C = A ⊕.⊗ B over the semiring of this name, in a new matrix. `a` and `b` have the
/// structure that the plan was made for: SPARRING_PATTERN_CHANGED otherwise. The plan is one of this device. On a GPU
/// the result is where `a` is. `*c` gets the handle, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_plan_numeric(const SparringDevice *device,
                                     const SparringPlan *plan,
                                     const char *semiring,
                                     const SparringMatrix *a,
                                     const SparringMatrix *b,
                                     SparringMatrix **c);

/// Numeric phase into `c`, a matrix that this plan made before, of the type that the semiring gives: its values are
/// replaced, and nothing is allocated if all are in the memory of the device. On failure they are unspecified.
/// `c` may be `a` or `b`.
/// Pointers from sparring_matrix_borrow(c) end here.
SparringStatus sparring_plan_numeric_into(const SparringDevice *device,
                                          const SparringPlan *plan,
                                          const char *semiring,
                                          const SparringMatrix *a,
                                          const SparringMatrix *b,
                                          SparringMatrix *c);

/// Frees a plan; NULL is allowed.
SparringStatus sparring_plan_free(SparringPlan *plan);

/// sparring_mxm over the semiring of a handle, on matrices of the types that it was made for: SPARRING_TYPE otherwise.
SparringStatus sparring_mxm_with(const SparringDevice *device,
                                 const SparringSemiring *ring,
                                 const SparringMatrix *a,
                                 const SparringMatrix *b,
                                 const SparringOptions *options,
                                 SparringMatrix **c);

/// sparring_plan_numeric over the semiring of a handle, on matrices of the types that it was made for.
SparringStatus sparring_plan_numeric_with(const SparringDevice *device,
                                          const SparringPlan *plan,
                                          const SparringSemiring *ring,
                                          const SparringMatrix *a,
                                          const SparringMatrix *b,
                                          SparringMatrix **c);

/// sparring_plan_numeric_into over the semiring of a handle, on matrices of the types that it was made for.
SparringStatus sparring_plan_numeric_into_with(const SparringDevice *device,
                                               const SparringPlan *plan,
                                               const SparringSemiring *ring,
                                               const SparringMatrix *a,
                                               const SparringMatrix *b,
                                               SparringMatrix *c);

/// c⟨mask⟩ ⊙= A ⊕.⊗ B, the product of two matrices over a semiring: c(i, j) = A(i, k) ⊗ B(k, j) ⊕ …, over the k for
/// which both have an entry, k in the order of the row of A; there is an entry where there is such a k. `a` is m×k, `b`
/// k×n, c m×n, `a` and `b` of the types that the semiring takes, c of that which it gives. A product under a mask
/// computes what the mask allows alone. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_mxm(const SparringDevice *device,
                                   SparringMatrix *c,
                                   const SparringMatrix *mask,
                                   const SparringBinaryOp *accum,
                                   const SparringSemiring *ring,
                                   const SparringMatrix *a,
                                   const SparringMatrix *b,
                                   const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ⊕.⊗ b, a matrix times a vector over a semiring: c(i) = A(i, k) ⊗ b(k) ⊕ …, over the k for which both
/// have an entry. `a` is m×n, `b` of length n, c of length m. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_mxv(const SparringDevice *device,
                                   SparringVector *c,
                                   const SparringVector *mask,
                                   const SparringBinaryOp *accum,
                                   const SparringSemiring *ring,
                                   const SparringMatrix *a,
                                   const SparringVector *b,
                                   const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= a ⊕.⊗ B, a vector times a matrix over a semiring: c(j) = a(k) ⊗ B(k, j) ⊕ …, over the k for which both
/// have an entry. `a` is of length m, `b` m×n, c of length n; it is `b` that descriptor.transpose_b transposes. For c,
/// mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_vxm(const SparringDevice *device,
                                   SparringVector *c,
                                   const SparringVector *mask,
                                   const SparringBinaryOp *accum,
                                   const SparringSemiring *ring,
                                   const SparringVector *a,
                                   const SparringMatrix *b,
                                   const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ∘ B of matrices, on the union of their entries: a ∘ b where both have one, and where one has, that
/// entry. All are of one shape and one type, which the operator takes and gives. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_matrix_ewise_add(const SparringDevice *device,
                                         SparringMatrix *c,
                                         const SparringMatrix *mask,
                                         const SparringBinaryOp *accum,
                                         const SparringBinaryOp *op,
                                         const SparringMatrix *a,
                                         const SparringMatrix *b,
                                         const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ∘ B of vectors, on the union of their entries: a ∘ b where both have one, and where one has, that
/// entry. All are of one shape and one type, which the operator takes and gives. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_vector_ewise_add(const SparringDevice *device,
                                         SparringVector *c,
                                         const SparringVector *mask,
                                         const SparringBinaryOp *accum,
                                         const SparringBinaryOp *op,
                                         const SparringVector *a,
                                         const SparringVector *b,
                                         const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ∘ B of matrices, on the intersection of their entries: a ∘ b where both have one. All are of one shape,
/// `a` and `b` of the types that the operator takes, c of that which it gives. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_matrix_ewise_mult(const SparringDevice *device,
                                          SparringMatrix *c,
                                          const SparringMatrix *mask,
                                          const SparringBinaryOp *accum,
                                          const SparringBinaryOp *op,
                                          const SparringMatrix *a,
                                          const SparringMatrix *b,
                                          const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ∘ B of vectors, on the intersection of their entries: a ∘ b where both have one. All are of one shape,
/// `a` and `b` of the types that the operator takes, c of that which it gives. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_vector_ewise_mult(const SparringDevice *device,
                                          SparringVector *c,
                                          const SparringVector *mask,
                                          const SparringBinaryOp *accum,
                                          const SparringBinaryOp *op,
                                          const SparringVector *a,
                                          const SparringVector *b,
                                          const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= the Kronecker product c(i·p + k, j·q + l) = A(i, j) ∘ B(k, l), for each entry of `a` and each of `b`. `a`
/// is m×n, `b` p×q, c mp×nq, `a` and `b` of the types that the operator takes, c of that which it gives. For c, mask,
/// accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_kronecker(const SparringDevice *device,
                                         SparringMatrix *c,
                                         const SparringMatrix *mask,
                                         const SparringBinaryOp *accum,
                                         const SparringBinaryOp *op,
                                         const SparringMatrix *a,
                                         const SparringMatrix *b,
                                         const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= f(A, s, i, j): the operator at every entry. c is of the shape of `a` and of the type that the operator
/// gives; an operator that reads a scalar has it from sparring_unary_op_with. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_matrix_apply(const SparringDevice *device,
                                     SparringMatrix *c,
                                     const SparringMatrix *mask,
                                     const SparringBinaryOp *accum,
                                     const SparringUnaryOp *op,
                                     const SparringMatrix *a,
                                     const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= f(a, s, i, 0): the operator at every entry. c is of the shape of `a` and of the type that the operator
/// gives; an operator that reads a scalar has it from sparring_unary_op_with. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_vector_apply(const SparringDevice *device,
                                     SparringVector *c,
                                     const SparringVector *mask,
                                     const SparringBinaryOp *accum,
                                     const SparringUnaryOp *op,
                                     const SparringVector *a,
                                     const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= the entries of `a` for which f(A, s, i, j) holds, as they are. The operator gives SPARRING_BOOL; c is of
/// the shape and type of `a`. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_select(const SparringDevice *device,
                                      SparringMatrix *c,
                                      const SparringMatrix *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringUnaryOp *op,
                                      const SparringMatrix *a,
                                      const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= the entries of `a` for which f(a, s, i, 0) holds, as they are. The operator gives SPARRING_BOOL; c is of
/// the shape and type of `a`. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_select(const SparringDevice *device,
                                      SparringVector *c,
                                      const SparringVector *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringUnaryOp *op,
                                      const SparringVector *a,
                                      const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= ⊕ over each row of a matrix: c(i) = A(i, j) ⊕ …, where row i has an entry; over each column with
/// descriptor.transpose_a. `a` is m×n, c of length m, both of the monoid's type. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_vector_reduce(const SparringDevice *device,
                                      SparringVector *c,
                                      const SparringVector *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringMonoid *monoid,
                                      const SparringMatrix *a,
                                      const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= Aᵀ; with descriptor.transpose_a A itself. `a` is m×n, c n×m, of one type. For c, mask, accum and
/// descriptor see SparringDescriptor.
SparringStatus sparring_matrix_transpose(const SparringDevice *device,
                                         SparringMatrix *c,
                                         const SparringMatrix *mask,
                                         const SparringBinaryOp *accum,
                                         const SparringMatrix *a,
                                         const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= `a`: writes one matrix into another of its shape and type, under a mask or with an accumulator. For c,
/// mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_update(const SparringDevice *device,
                                      SparringMatrix *c,
                                      const SparringMatrix *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringMatrix *a,
                                      const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= `a`: writes one vector into another of its shape and type, under a mask or with an accumulator. For c,
/// mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_update(const SparringDevice *device,
                                      SparringVector *c,
                                      const SparringVector *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringVector *a,
                                      const SparringDescriptor *descriptor);

/// scalar ⊙= ⊕ over all entries of a matrix, in an order that is the same in every run. Without entries the scalar
/// becomes empty; with `accum`, which may be NULL, it stays as it is then, and an empty scalar takes what is found.
/// `scalar` and `a` are of the monoid's type, which `accum` takes and gives.
SparringStatus sparring_matrix_reduce_scalar(const SparringDevice *device,
                                             SparringScalar *scalar,
                                             const SparringBinaryOp *accum,
                                             const SparringMonoid *monoid,
                                             const SparringMatrix *a);

/// scalar ⊙= ⊕ over all entries of a vector, in an order that is the same in every run. Without entries the scalar
/// becomes empty; with `accum`, which may be NULL, it stays as it is then, and an empty scalar takes what is found.
/// `scalar` and `a` are of the monoid's type, which `accum` takes and gives.
SparringStatus sparring_vector_reduce_scalar(const SparringDevice *device,
                                             SparringScalar *scalar,
                                             const SparringBinaryOp *accum,
                                             const SparringMonoid *monoid,
                                             const SparringVector *a);

/// c⟨mask⟩ ⊙= A(rows, cols): c(p, q) = A(rows[p], cols[q]). c has as many rows and columns as the two lists, in which
/// indices may repeat; NULL is all of them. An index beyond: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor
/// see SparringDescriptor.
SparringStatus sparring_matrix_extract(const SparringDevice *device,
                                       SparringMatrix *c,
                                       const SparringMatrix *mask,
                                       const SparringBinaryOp *accum,
                                       const SparringMatrix *a,
                                       const SparringIndices *rows,
                                       const SparringIndices *cols,
                                       const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= a(indices): c(p) = a(indices[p]). c is as long as the list, in which indices may repeat; NULL is all of
/// them. An index beyond: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_extract(const SparringDevice *device,
                                       SparringVector *c,
                                       const SparringVector *mask,
                                       const SparringBinaryOp *accum,
                                       const SparringVector *a,
                                       const SparringIndices *indices,
                                       const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A(rows, j), a column of a matrix: c(p) = A(rows[p], j). c is as long as the list; NULL is all rows. An
/// index beyond: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_extract_column(const SparringDevice *device,
                                              SparringVector *c,
                                              const SparringVector *mask,
                                              const SparringBinaryOp *accum,
                                              const SparringMatrix *a,
                                              const SparringIndices *rows,
                                              uint64_t j,
                                              const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A(i, cols), a row of a matrix: c(p) = A(i, cols[p]). c is as long as the list; NULL is all columns. An
/// index beyond: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_extract_row(const SparringDevice *device,
                                           SparringVector *c,
                                           const SparringVector *mask,
                                           const SparringBinaryOp *accum,
                                           const SparringMatrix *a,
                                           uint64_t i,
                                           const SparringIndices *cols,
                                           const SparringDescriptor *descriptor);

/// c(rows, cols)⟨mask⟩ ⊙= A: c(rows[p], cols[q]) becomes A(p, q), and loses its entry where A has none; with accum it
/// is joined to it. `a` has as many rows and columns as the two lists, in which no index repeats (SPARRING_DUPLICATE);
/// NULL is all of them. The mask has the shape of c, and descriptor.replace is about all of c (GrB_assign). An index
/// beyond: SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_assign(const SparringDevice *device,
                                      SparringMatrix *c,
                                      const SparringMatrix *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringMatrix *a,
                                      const SparringIndices *rows,
                                      const SparringIndices *cols,
                                      const SparringDescriptor *descriptor);

/// c(indices)⟨mask⟩ ⊙= a: c(indices[p]) becomes a(p), as sparring_matrix_assign has it of matrices. For c, mask, accum
/// and descriptor see SparringDescriptor.
SparringStatus sparring_vector_assign(const SparringDevice *device,
                                      SparringVector *c,
                                      const SparringVector *mask,
                                      const SparringBinaryOp *accum,
                                      const SparringVector *a,
                                      const SparringIndices *indices,
                                      const SparringDescriptor *descriptor);

/// c(rows, j)⟨mask⟩ ⊙= a: a column of a matrix, c(rows[p], j), becomes the vector. The mask is a vector of c's rows; it
/// and descriptor.replace are about this column alone. An index beyond: SPARRING_INDEX_RANGE. For c, mask, accum and
/// descriptor see SparringDescriptor.
SparringStatus sparring_matrix_assign_column(const SparringDevice *device,
                                             SparringMatrix *c,
                                             const SparringVector *mask,
                                             const SparringBinaryOp *accum,
                                             const SparringVector *a,
                                             const SparringIndices *rows,
                                             uint64_t j,
                                             const SparringDescriptor *descriptor);

/// c(i, cols)⟨mask⟩ ⊙= a: a row of a matrix, c(i, cols[p]), becomes the vector. The mask is a vector of c's columns; it
/// and descriptor.replace are about this row alone. An index beyond: SPARRING_INDEX_RANGE. For c, mask, accum and
/// descriptor see SparringDescriptor.
SparringStatus sparring_matrix_assign_row(const SparringDevice *device,
                                          SparringMatrix *c,
                                          const SparringVector *mask,
                                          const SparringBinaryOp *accum,
                                          const SparringVector *a,
                                          uint64_t i,
                                          const SparringIndices *cols,
                                          const SparringDescriptor *descriptor);

/// c(rows, cols)⟨mask⟩ ⊙= scalar: an entry with this value at every such place that the mask allows; NULL is all rows,
/// all columns. The scalar is of c's type, and not empty: SPARRING_NO_VALUE. An index beyond: SPARRING_INDEX_RANGE. For
/// c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_assign_scalar(const SparringDevice *device,
                                             SparringMatrix *c,
                                             const SparringMatrix *mask,
                                             const SparringBinaryOp *accum,
                                             const SparringScalar *scalar,
                                             const SparringIndices *rows,
                                             const SparringIndices *cols,
                                             const SparringDescriptor *descriptor);

/// c(indices)⟨mask⟩ ⊙= scalar: an entry with this value at every such index that the mask allows; NULL is all of them.
/// The scalar is of c's type, and not empty: SPARRING_NO_VALUE. An index beyond: SPARRING_INDEX_RANGE. For c, mask,
/// accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_assign_scalar(const SparringDevice *device,
                                             SparringVector *c,
                                             const SparringVector *mask,
                                             const SparringBinaryOp *accum,
                                             const SparringScalar *scalar,
                                             const SparringIndices *indices,
                                             const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= t with t(i) = a(p) ∘ a(q) ∘ … over the p, q, … whose indices are i: an assign whose indices may repeat,
/// as in f(f(i)) = min. `a` is as long as the list; the operator takes and gives its type. An index beyond:
/// SPARRING_INDEX_RANGE. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_scatter(const SparringDevice *device,
                                       SparringVector *c,
                                       const SparringVector *mask,
                                       const SparringBinaryOp *accum,
                                       const SparringBinaryOp *op,
                                       const SparringVector *a,
                                       const SparringIndices *indices,
                                       const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ∘ B where either has an entry; `alpha` stands for an absent one of `a`, `beta` for one of `b`. `a` and
/// alpha, `b` and beta are of the types that the operator takes, c of that which it gives (GxB_eWiseUnion). For c,
/// mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_ewise_union(const SparringDevice *device,
                                           SparringMatrix *c,
                                           const SparringMatrix *mask,
                                           const SparringBinaryOp *accum,
                                           const SparringBinaryOp *op,
                                           const SparringMatrix *a,
                                           const SparringScalar *alpha,
                                           const SparringMatrix *b,
                                           const SparringScalar *beta,
                                           const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= A ∘ B where either has an entry; `alpha` stands for an absent one of `a`, `beta` for one of `b`. `a` and
/// alpha, `b` and beta are of the types that the operator takes, c of that which it gives (GxB_eWiseUnion). For c,
/// mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_ewise_union(const SparringDevice *device,
                                           SparringVector *c,
                                           const SparringVector *mask,
                                           const SparringBinaryOp *accum,
                                           const SparringBinaryOp *op,
                                           const SparringVector *a,
                                           const SparringScalar *alpha,
                                           const SparringVector *b,
                                           const SparringScalar *beta,
                                           const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= a number for each row that has entries, of each column with descriptor.transpose_a: `aggregate` is a
/// SparringAggregate, which says c's type. `a` is m×n, c of length m. For c, mask, accum and descriptor see
/// SparringDescriptor.
SparringStatus sparring_vector_aggregate(const SparringDevice *device,
                                         SparringVector *c,
                                         const SparringVector *mask,
                                         const SparringBinaryOp *accum,
                                         uint32_t aggregate,
                                         const SparringMatrix *a,
                                         const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= the square matrix whose diagonal `k` is a vector: 0 is the main one, those above it are positive. c has
/// as many rows and columns as `a` is long, and |k| more. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_matrix_diag(const SparringDevice *device,
                                    SparringMatrix *c,
                                    const SparringMatrix *mask,
                                    const SparringBinaryOp *accum,
                                    const SparringVector *a,
                                    int64_t k,
                                    const SparringDescriptor *descriptor);

/// c⟨mask⟩ ⊙= the diagonal `k` of a matrix: c(p) = A(p, p + k), or A(p - k, p) for a negative k. c is as long as the
/// diagonal. For c, mask, accum and descriptor see SparringDescriptor.
SparringStatus sparring_vector_diagonal(const SparringDevice *device,
                                        SparringVector *c,
                                        const SparringVector *mask,
                                        const SparringBinaryOp *accum,
                                        const SparringMatrix *a,
                                        int64_t k,
                                        const SparringDescriptor *descriptor);

/// The matrix of blocks: those at `blocks[i * ncols + j]` are row i, column j of `nrows` rows and `ncols` columns of
/// blocks, all of one type. Blocks of one row have the same number of rows, those of one column the same number of
/// columns. `*matrix` gets the handle of a new matrix in the memory of the device, NULL on failure; free it with
/// sparring_matrix_free.
SparringStatus sparring_matrix_concat(const SparringDevice *device,
                                      const SparringMatrix *const *blocks,
                                      uint64_t nrows,
                                      uint64_t ncols,
                                      SparringMatrix **matrix);

/// The blocks of a matrix: `nrows` rows of blocks of row_lens[i] rows, `ncols` columns of blocks of col_lens[j]
/// columns, which add up to its shape. `blocks` has room for nrows * ncols handles, row after row; all are NULL on
/// failure. Free each with sparring_matrix_free.
SparringStatus sparring_matrix_split(const SparringDevice *device,
                                     const SparringMatrix *matrix,
                                     const uint64_t *row_lens,
                                     uint64_t nrows,
                                     const uint64_t *col_lens,
                                     uint64_t ncols,
                                     SparringMatrix **blocks);

/// Gives the matrix another shape: entries outside of it are removed, and what is new has none. `device` is where the
/// matrix is. Pointers from sparring_matrix_borrow end here.
SparringStatus sparring_matrix_resize(const SparringDevice *device,
                                      SparringMatrix *matrix,
                                      uint64_t nrows,
                                      uint64_t ncols);

/// Gives the vector another length: entries beyond it are removed, and new indices have none. `device` is where the
/// vector is.
SparringStatus sparring_vector_resize(const SparringDevice *device,
                                      SparringVector *vector,
                                      uint64_t len);

/// Gives index `i` of a vector, in the processor's memory, the value of the scalar, which is of its type; an empty one
/// removes the entry. Many entries are given faster at once, by sparring_vector_assign.
SparringStatus sparring_vector_set(SparringVector *vector,
                                   uint64_t i,
                                   const SparringScalar *scalar);

/// Gives the place (i, j) of a matrix, in the processor's memory, the value of the scalar, which is of its type; an
/// empty one removes the entry. Entries wait beside the rows until the matrix is read, and are merged once then: n of
/// them cost O(n log n). Pointers from sparring_matrix_borrow end here.
SparringStatus sparring_matrix_set(SparringMatrix *matrix,
                                   uint64_t i,
                                   uint64_t j,
                                   const SparringScalar *scalar);

/// The nrows × ncols matrix of entries (rows[p], cols[p]) = values[p], as sparring_matrix_from_coo, those at the same
/// place joined by the operator `dup` in the order given, from the left; without one, NULL, two at one place are
/// SPARRING_DUPLICATE. `dup` takes and gives the type. `*matrix` gets the handle, NULL on failure; free it with
/// sparring_matrix_free.
SparringStatus sparring_matrix_build(uint32_t type,
                                     uint64_t nrows,
                                     uint64_t ncols,
                                     const uint32_t *rows,
                                     const uint32_t *cols,
                                     const void *values,
                                     uint64_t len,
                                     const SparringBinaryOp *dup,
                                     SparringMatrix **matrix);

/// The vector of entries v(indices[p]) = values[p], as sparring_vector_from_entries, those at the same index joined by
/// the operator `dup` in the order given, from the left; without one, NULL, two at one index are SPARRING_DUPLICATE.
/// `dup` takes and gives the type. `*vector` gets the handle, NULL on failure; free it with sparring_vector_free.
SparringStatus sparring_vector_build(uint32_t type,
                                     uint64_t len,
                                     const uint64_t *indices,
                                     const void *values,
                                     uint64_t nvals,
                                     const SparringBinaryOp *dup,
                                     SparringVector **vector);

/// y ⊙= A ⊕.⊗ X, a sparse matrix times a dense one over a semiring: y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ …, over the k for
/// which A has an entry, in the order of the row of A, e the identity of ⊕. `x` and `y` are row-major arrays of
/// `columns` columns. `a` is m×k, `x` k×columns with `x_len` elements of the type `x_type`, y m×columns with `y_len`
/// elements of the type that the semiring gives. `a` and `x` are of the types that the semiring takes. y is written, or
/// joined to what it holds by `accum`, which may be NULL. Of the descriptor, which may be NULL, transpose_a alone may
/// be set. `a` may be on a GPU, `x` and `y` are in the processor's memory. On failure y is as it was.
SparringStatus sparring_matrix_spmm(const SparringDevice *device,
                                    void *y,
                                    uint64_t y_len,
                                    const SparringBinaryOp *accum,
                                    const SparringSemiring *ring,
                                    const SparringMatrix *a,
                                    uint32_t x_type,
                                    const void *x,
                                    uint64_t x_len,
                                    uint64_t columns,
                                    const SparringDescriptor *descriptor);

/// Counts the triangles of the simple undirected graph under the square matrix `a`: direction, loops, repeated
/// edges and values do not matter.
/// A GPU has one method, for SPARRING_TRIANGLES_AUTO and SPARRING_TRIANGLES_COMPRESSED.
/// `method` is a SparringTriangleMethod; `*count` gets the number of triangles. What ran, and why, goes to
/// `buffer` as for sparring_plan_explain (`capacity` 0 and `length` NULL: not wanted).
SparringStatus sparring_triangles(const SparringDevice *device,
                                  const SparringMatrix *a,
                                  uint32_t method,
                                  uint64_t *count,
                                  char *buffer,
                                  uint64_t capacity,
                                  uint64_t *length);

/// Counts for each vertex the triangles that it is in, of the graph that sparring_triangles reads. `counts` has room
/// for `capacity` numbers and gets one for each row of `a`: if there is room for fewer, SPARRING_LENGTH before anything
/// is computed. A GPU refuses with SPARRING_UNSUPPORTED.
SparringStatus sparring_triangles_per_vertex(const SparringDevice *device,
                                             const SparringMatrix *a,
                                             uint64_t *counts,
                                             uint64_t capacity);

/// Counts for each edge the triangles that it is in, of the graph that sparring_triangles reads: `*counts` gets the
/// handle of a new matrix of SPARRING_U64, symmetric, with an entry for each edge in both directions, 0 where it is in
/// none; NULL on failure. Free it with sparring_matrix_free. A GPU refuses with SPARRING_UNSUPPORTED.
SparringStatus sparring_triangles_per_edge(const SparringDevice *device,
                                           const SparringMatrix *a,
                                           SparringMatrix **counts);

/// The graph under the square matrix `a`, whose entries are edges, stored zeros too. `kind` is a SparringGraphKind; if
/// `weighted` is not 0, values are weights of edges, as doubles: complex numbers and integers that no double holds are
/// refused, and so is an undirected edge whose two directions differ. `*graph` gets the handle, NULL on failure. Free
/// it with sparring_graph_free; it does not need `a` any more.
///
/// Breadth-first search, shortest paths by weights that are not negative, connected components, PageRank, betweenness
/// without weights and label propagation run on the processor and on GPUs, whatever device the graph was made with; the
/// others are SPARRING_UNSUPPORTED on a GPU.
SparringStatus sparring_graph_new(const SparringDevice *device,
                                  const SparringMatrix *a,
                                  uint32_t kind,
                                  uint32_t weighted,
                                  SparringGraph **graph);

/// Frees a graph; NULL is fine.
SparringStatus sparring_graph_free(SparringGraph *graph);

/// What a graph is goes to `*info`.
SparringStatus sparring_graph_info(const SparringGraph *graph, SparringGraphInfo *info);

/// The adjacency matrix of a graph: `*matrix` gets the handle, NULL on failure, of a matrix of SPARRING_F64 with the
/// weights, or of SPARRING_BOOL if edges have none; of an undirected graph with both directions of each edge. Free it
/// with sparring_matrix_free.
SparringStatus sparring_graph_matrix(const SparringGraph *graph,
                                     SparringMatrix **matrix);

/// Computes the transpose of a directed graph now, and for a GPU copies the graph there; algorithms would do so when
/// they first need it, and sparring_graph_bfs on the processor does without a transpose where it is missing.
SparringStatus sparring_graph_prepare(const SparringDevice *device,
                                      const SparringGraph *graph);

/// A breadth-first search from the vertex `source`: `levels` gets the least number of edges to each vertex, `parents`
/// the least vertex before it, a level nearer, `source` its own parent; UINT32_MAX where no path leads. Either may be
/// NULL; both have room for `capacity` numbers, of which each vertex takes one.
SparringStatus sparring_graph_bfs(const SparringDevice *device,
                                  const SparringGraph *graph,
                                  uint64_t source,
                                  uint32_t *levels,
                                  uint32_t *parents,
                                  uint64_t capacity);

/// Shortest paths from the vertex `source`: `distances` gets the least sum of weights to each vertex, infinite where no
/// path leads, `parents` the vertex before it on such a path, UINT32_MAX where there is none. `parents` may be NULL;
/// both have room for `capacity` numbers. A graph without weights has 1 for each edge. Negative weights are
/// SPARRING_ARGUMENT unless `negative` is not 0; then a cycle of negative length is.
SparringStatus sparring_graph_sssp(const SparringDevice *device,
                                   const SparringGraph *graph,
                                   uint64_t source,
                                   uint32_t negative,
                                   double *distances,
                                   uint32_t *parents,
                                   uint64_t capacity);

/// Breadth-first searches from each of `count` sources, 64 at a time through the graph together: the level of vertex v
/// in the search from sources[k] goes to levels[k * vertices + v], UINT32_MAX where no path leads. `levels` has room
/// for `capacity` numbers, `count` times the number of vertices or more; else SPARRING_LENGTH before anything is
/// computed.
SparringStatus sparring_graph_multi_source_bfs(const SparringDevice *device,
                                               const SparringGraph *graph,
                                               const uint64_t *sources,
                                               uint64_t count,
                                               uint32_t *levels,
                                               uint64_t capacity);

/// The length of a shortest path between each two vertices, by weights if the graph has them: from u to v it goes to
/// distances[u * vertices + v], infinite where no path leads. For small graphs: `distances` has room for `capacity`
/// numbers, the square of the number of vertices or more, else SPARRING_LENGTH before anything is computed. They are
/// computed there; on a failure the array holds some of them. Negative weights are SPARRING_ARGUMENT.
SparringStatus sparring_graph_all_pairs(const SparringDevice *device,
                                        const SparringGraph *graph,
                                        double *distances,
                                        uint64_t capacity);

/// `components` gets for each vertex the least vertex of its connected component, of a directed graph the weak one, or
/// if `strong` is not 0 the strong one. There is room for `capacity` numbers.
SparringStatus sparring_graph_components(const SparringDevice *device,
                                         const SparringGraph *graph,
                                         uint32_t strong,
                                         uint32_t *components,
                                         uint64_t capacity);

/// PageRank: `ranks` has room for `capacity` numbers and gets one for each vertex; they add up to 1 unless dangling
/// ranks are dropped. `options` may be NULL: a damping of 0.85, a tolerance of 1e-6 and 100 steps. `iterations` and
/// `change`, the steps taken and by how much the last changed the ranks, may be NULL.
SparringStatus sparring_graph_pagerank(const SparringDevice *device,
                                       const SparringGraph *graph,
                                       const SparringPageRankOptions *options,
                                       double *ranks,
                                       uint64_t capacity,
                                       uint32_t *iterations,
                                       double *change);

/// Betweenness: of all shortest paths between two others the part that goes through each vertex, of an undirected graph
/// each pair once; divided by the number of pairs if `normalized` is not 0. From all vertices if `samples` is 0, else
/// estimated from so many sources, drawn by `seed`. By weights if the graph has them, which must be positive. `scores`
/// has room for `capacity` numbers.
SparringStatus sparring_graph_betweenness(const SparringDevice *device,
                                          const SparringGraph *graph,
                                          uint64_t samples,
                                          uint64_t seed,
                                          uint32_t normalized,
                                          double *scores,
                                          uint64_t capacity);

/// What `count` sources depend on each vertex: the sum over the shortest paths from them to all others. `scores` has
/// room for `capacity` numbers.
SparringStatus sparring_graph_dependencies(const SparringDevice *device,
                                           const SparringGraph *graph,
                                           const uint64_t *sources,
                                           uint64_t count,
                                           double *scores,
                                           uint64_t capacity);

/// Closeness of each vertex, from the distances of those that lead to it (Wasserman and Faust's, for graphs that are
/// not connected); if `harmonic` is not 0, the sum of 1/distance. By weights if the graph has them. `scores` has room
/// for `capacity` numbers.
SparringStatus sparring_graph_closeness(const SparringDevice *device,
                                        const SparringGraph *graph,
                                        uint32_t harmonic,
                                        double *scores,
                                        uint64_t capacity);

/// The eigenvector of the transposed adjacency matrix of the largest eigenvalue, of length 1, by steps until one
/// changes it by less than `tolerance` in all, or SPARRING_ARGUMENT after `max_iterations`. `scores` has room for
/// `capacity` numbers.
SparringStatus sparring_graph_eigenvector(const SparringDevice *device,
                                          const SparringGraph *graph,
                                          double tolerance,
                                          uint32_t max_iterations,
                                          double *scores,
                                          uint64_t capacity);

/// Katz centrality x = alpha·Aᵀ·x + beta, of length 1, by steps as of sparring_graph_eigenvector. `scores` has room for
/// `capacity` numbers.
SparringStatus sparring_graph_katz(const SparringDevice *device,
                                   const SparringGraph *graph,
                                   double alpha,
                                   double beta,
                                   double tolerance,
                                   uint32_t max_iterations,
                                   double *scores,
                                   uint64_t capacity);

/// Hubs and authorities, each adding up to 1, by steps as of sparring_graph_eigenvector. Either may be NULL; both have
/// room for `capacity` numbers.
SparringStatus sparring_graph_hits(const SparringDevice *device,
                                   const SparringGraph *graph,
                                   double tolerance,
                                   uint32_t max_iterations,
                                   double *hubs,
                                   double *authorities,
                                   uint64_t capacity);

/// The core number of each vertex, the largest k for which it is in a subgraph of degrees from k on; of a directed
/// graph that of the undirected graph under it. `cores` has room for `capacity`.
SparringStatus sparring_graph_core_numbers(const SparringDevice *device,
                                           const SparringGraph *graph,
                                           uint32_t *cores,
                                           uint64_t capacity);

/// Clustering of an undirected graph: `local` gets for each vertex the part of its pairs of neighbors that are
/// neighbors, `average` their mean, `transitivity` three times the triangles over the paths of two edges. Each may be
/// NULL; `local` has room for `capacity` numbers.
SparringStatus sparring_graph_clustering(const SparringDevice *device,
                                         const SparringGraph *graph,
                                         double *local,
                                         uint64_t capacity,
                                         double *average,
                                         double *transitivity);

/// A maximal independent set: `vertices`, with room for `capacity`, gets its `*count` vertices in increasing order;
/// `count` may be NULL. If there is room for fewer than the graph has vertices, SPARRING_LENGTH.
SparringStatus sparring_graph_independent_set(const SparringDevice *device,
                                              const SparringGraph *graph,
                                              uint32_t *vertices,
                                              uint64_t capacity,
                                              uint64_t *count);

/// Colors from 0 on, so that neighbors differ, at most one more than the largest degree: `colors` has room for
/// `capacity`, `*count` gets their number and may be NULL.
SparringStatus sparring_graph_color(const SparringDevice *device,
                                    const SparringGraph *graph,
                                    uint32_t *colors,
                                    uint64_t capacity,
                                    uint32_t *count);

/// Labels after at most `iterations` steps, in each of which a vertex takes the most frequent label of its neighbors,
/// the least of these: all vertices at the same time (CDLP of LDBC Graphalytics, which takes 10 steps), or if
/// `asynchronous` is not 0, one after the other, until no label changes (UINT64_MAX steps, say), on the processor.
/// `communities` has room for `capacity`, `*taken` gets the steps and may be NULL.
SparringStatus sparring_graph_label_propagation(const SparringDevice *device,
                                                const SparringGraph *graph,
                                                uint64_t iterations,
                                                uint32_t asynchronous,
                                                uint32_t *communities,
                                                uint64_t capacity,
                                                uint64_t *taken);

/// The minimum spanning forest of an undirected graph, by weights if it has them: `sources` and `targets`, each with
/// room for `capacity` and at least as many as there are vertices, get the ends of its `*count` edges, and `*weight`
/// the sum of their weights. `count` and `weight` may be NULL.
SparringStatus sparring_graph_spanning_forest(const SparringDevice *device,
                                              const SparringGraph *graph,
                                              uint32_t *sources,
                                              uint32_t *targets,
                                              uint64_t capacity,
                                              uint64_t *count,
                                              double *weight);

/// A maximum matching of the rows and columns of the adjacency matrix: `partners` gets for each row the column that it
/// is matched with, UINT32_MAX for none, and has room for `capacity`; `*count` gets the number of pairs and may be
/// NULL.
SparringStatus sparring_graph_matching(const SparringDevice *device,
                                       const SparringGraph *graph,
                                       uint32_t *partners,
                                       uint64_t capacity,
                                       uint64_t *count);

/// The vertices of a directed graph without cycles in an order in which every edge leads forwards, the least vertex
/// first where several could be: `order` has room for `capacity`. A cycle is SPARRING_ARGUMENT, and a vertex on it is
/// named.
SparringStatus sparring_graph_topological_order(const SparringDevice *device,
                                                const SparringGraph *graph,
                                                uint32_t *order,
                                                uint64_t capacity);

/// Communities of an undirected graph, by weights if it has them: `communities`, with room for `capacity`, gets for
/// each vertex the number of its community, numbered by their least vertices, `*count` how many there are, and
/// `*modularity` theirs; both may be NULL. By Leiden's method in at most `iterations` rounds (2, say), whose
/// communities hang together, or by Louvain's if `iterations` is 0. The higher the `resolution` (usually 1), the
/// smaller they are. `seed` draws the order in which vertices are considered (0, say).
SparringStatus sparring_graph_communities(const SparringDevice *device,
                                          const SparringGraph *graph,
                                          double resolution,
                                          uint64_t iterations,
                                          uint64_t seed,
                                          uint32_t *communities,
                                          uint64_t capacity,
                                          uint64_t *count,
                                          double *modularity);

/// The edges of the k-truss of the undirected graph under a graph, the largest subgraph in which every edge is in k - 2
/// triangles: `*count` gets their number, `sources` and `targets` their ends, the lesser first. Both have room for
/// `capacity`; with a `capacity` of 0 only their number is wanted. Each may be NULL.
SparringStatus sparring_graph_truss(const SparringDevice *device,
                                    const SparringGraph *graph,
                                    uint32_t k,
                                    uint32_t *sources,
                                    uint32_t *targets,
                                    uint64_t capacity,
                                    uint64_t *count);

/// The truss number of each edge of the undirected graph under a graph, self-loops left out: the largest k for which
/// sparring_graph_truss has the edge, 2 or more. `*count` gets the number of edges, no more than sparring_graph_info
/// has, `sources` and `targets` their ends, the lesser first, in increasing order, `numbers` their truss numbers. Each
/// may be NULL; the arrays have room for `capacity`, and with a `capacity` of 0 only `*count` is wanted.
SparringStatus sparring_graph_truss_numbers(const SparringDevice *device,
                                            const SparringGraph *graph,
                                            uint32_t *sources,
                                            uint32_t *targets,
                                            uint32_t *numbers,
                                            uint64_t capacity,
                                            uint64_t *count);

/// The modularity of communities: `communities` has `count` numbers, one for each vertex, any below the number of
/// vertices, as sparring_graph_communities and sparring_graph_components give them. `*modularity` gets it; `resolution`
/// is 1 as a rule. By weights if the graph has them; of a directed graph by its degrees out and in.
SparringStatus sparring_graph_modularity(const SparringDevice *device,
                                         const SparringGraph *graph,
                                         const uint32_t *communities,
                                         uint64_t count,
                                         double resolution,
                                         double *modularity);

/// A maximum matching of the rows and columns of a matrix of any shape, whose entries are what may be matched: `rows`
/// gets for each row the column that it is matched with, `columns` for each column its row, UINT32_MAX for none.
/// `*count` gets the number of pairs, the structural rank. Each may be NULL; `rows` has room for `row_capacity`,
/// `columns` for `column_capacity`.
SparringStatus sparring_matching(const SparringDevice *device,
                                 const SparringMatrix *a,
                                 uint32_t *rows,
                                 uint64_t row_capacity,
                                 uint32_t *columns,
                                 uint64_t column_capacity,
                                 uint64_t *count);

/// Number of metrics that sparring_pairwise, sparring_knn and sparring_radius know by name.
uint64_t sparring_metric_count(void);

/// Name of a metric, `index` from 0 to sparring_metric_count() - 1, or NULL beyond: "cosine", "euclidean", "jaccard"
/// and so on. "minkowski" needs the `p` of SparringDistanceOptions; "dot" is a similarity, the larger the nearer. The
/// text is constant and is not freed.
const char *sparring_metric_name(uint64_t index);

/// D(i, j) = d(X(i, :), Y(j, :)): all distances between the rows of `x`, n×k, and of `y`, m×k, or among those of `x` if
/// `y` is NULL. Both are of the same type, SPARRING_F32 or SPARRING_F64: SPARRING_TYPE for others. The metric is the
/// one of this name (see sparring_metric_name), or by a formula of a and b, as in "abs(a-b)/(a+b+1)": its sum over the
/// columns where one of the rows has an entry. Entries that it cannot take are refused with the number of their row.
/// `options` may be NULL. `distances` has room for `distances_len` values of the matrices' type, and gets n·m of them,
/// row after row: if there is room for fewer, SPARRING_LENGTH before anything is computed. What ran, and why, goes to
/// `buffer` as for sparring_plan_explain (`capacity` 0 and `length` NULL: not wanted). On a GPU the last bits of sums
/// may differ from the processor's, and more than 1 GiB of distances comes in blocks of rows: they need not fit there.
SparringStatus sparring_pairwise(const SparringDevice *device,
                                 const char *metric,
                                 const SparringMatrix *x,
                                 const SparringMatrix *y,
                                 const SparringDistanceOptions *options,
                                 void *distances,
                                 uint64_t distances_len,
                                 char *buffer,
                                 uint64_t capacity,
                                 uint64_t *length);

/// The `k` nearest rows of `y` for each of the n rows of `x`, or of `x` itself if `y` is NULL (each row is then among
/// its own neighbours, unless `exclude_self`). Never holds all distances. Matrices, `metric` and `options` as for
/// sparring_pairwise. `*found` gets the number of neighbours of each row: `k`, or as many rows as there are. Those of
/// row i, nearest first, are `ids[p]` at `distances[p]` for p from i·found to (i + 1)·found - 1; rows at equal distance
/// come in order of their numbers. `ids` and `distances` have room for `len` elements each and get n·found, distances
/// in the matrices' type; if there is room for fewer, SPARRING_LENGTH before anything is computed. One that is NULL is
/// not wanted. What ran, and why, goes to `buffer` as for sparring_plan_explain (`capacity` 0 and `length` NULL: not
/// wanted).
SparringStatus sparring_knn(const SparringDevice *device,
                            const char *metric,
                            uint64_t k,
                            const SparringMatrix *x,
                            const SparringMatrix *y,
                            const SparringDistanceOptions *options,
                            uint32_t *ids,
                            void *distances,
                            uint64_t len,
                            uint64_t *found,
                            char *buffer,
                            uint64_t capacity,
                            uint64_t *length);

/// The graph of nearest neighbours: what sparring_knn finds as an n×m matrix, with an entry (i, j) for each neighbour j
/// of row i, its value the distance, 0 too. Columns are sorted. On a GPU the result is where `x` is. `*graph` gets the
/// handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_knn_graph(const SparringDevice *device,
                                  const char *metric,
                                  uint64_t k,
                                  const SparringMatrix *x,
                                  const SparringMatrix *y,
                                  const SparringDistanceOptions *options,
                                  SparringMatrix **graph);

/// The rows of `y`, or of `x` if `y` is NULL, at most `radius` away from each row of `x` (for "dot", a similarity: at
/// least `radius`), as an n×m matrix: an entry (i, j) for each, its value the distance, 0 too. Columns are sorted.
/// Matrices, `metric` and `options` as for sparring_pairwise. A radius that is NaN is SPARRING_ARGUMENT. On a GPU the
/// result is where `x` is. `*within` gets the handle of a new matrix, NULL on failure; free it with
/// sparring_matrix_free.
SparringStatus sparring_radius(const SparringDevice *device,
                               const char *metric,
                               double radius,
                               const SparringMatrix *x,
                               const SparringMatrix *y,
                               const SparringDistanceOptions *options,
                               SparringMatrix **within);

/// The rows of `y`, of SPARRING_F32 or SPARRING_F64, prepared for a metric and indexed on the device, so that a few
/// rows at a time are answered without preparing them again. `metric` and `options` as for sparring_pairwise;
/// `exclude_self` is refused. `y` may be freed or changed afterwards. `*index` gets the handle, NULL on failure; free
/// it with sparring_index_free.
SparringStatus sparring_index_new(const SparringDevice *device,
                                  const char *metric,
                                  const SparringMatrix *y,
                                  const SparringDistanceOptions *options,
                                  SparringIndex **index);

/// The `k` nearest rows of the index for each of the n rows of `x`, what sparring_knn finds: `found`, `ids`,
/// `distances`, `len`, `buffer`, `capacity` and `length` as there. `device` is the one that the index was made on; `x`
/// has the type of the index.
SparringStatus sparring_index_knn(const SparringDevice *device,
                                  const SparringIndex *index,
                                  uint64_t k,
                                  const SparringMatrix *x,
                                  uint32_t *ids,
                                  void *distances,
                                  uint64_t len,
                                  uint64_t *found,
                                  char *buffer,
                                  uint64_t capacity,
                                  uint64_t *length);

/// The rows of the index at most `radius` away from each row of `x`, what sparring_radius finds.
/// `*within` gets the handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
SparringStatus sparring_index_radius(const SparringDevice *device,
                                     const SparringIndex *index,
                                     double radius,
                                     const SparringMatrix *x,
                                     SparringMatrix **within);

/// Rows and columns of an index, and the SparringType of its values.
SparringStatus sparring_index_shape(const SparringIndex *index,
                                    uint64_t *nrows,
                                    uint64_t *ncols,
                                    uint32_t *ty);

/// Writes an index to a file, which any device and any later version reads: its rows, metric and options, with a check.
/// What is prepared is made again by sparring_index_load.
SparringStatus sparring_index_save(const SparringIndex *index,
                                   const char *path);

/// Reads an index that was written by sparring_index_save, onto a device. A file that is cut short, damaged or none of
/// an index is SPARRING_ARGUMENT. `*index` gets the handle, NULL on failure; free it with sparring_index_free.
SparringStatus sparring_index_load(const SparringDevice *device,
                                   const char *path,
                                   SparringIndex **index);

/// Frees a SparringIndex; NULL is allowed.
SparringStatus sparring_index_free(SparringIndex *index);

/// A tensor from coordinates, which are checked and copied: entry e has the value `values[e]` at `indices[m][e]` in
/// each mode m. `type` is a SparringType, and `values` points to `nnz` values of it. Modes and indices count from 0;
/// `dims` has the length of each of the `order` modes, `indices` the addresses of `order` arrays of `nnz` elements.
/// Entries stay in their order. Those at the same place stay apart, and mean their sum: sparring_tensor_summed.
/// `*tensor` gets the handle, NULL on failure; free it with sparring_tensor_free.
SparringStatus sparring_tensor_from_coo(uint32_t type,
                                        uint64_t order,
                                        const uint64_t *dims,
                                        const uint64_t *const *indices,
                                        const void *values,
                                        uint64_t nnz,
                                        SparringTensor **tensor);

/// A tensor from a FROSTT file, compressed by gzip or not, read by the threads of `device` (of the processor, whatever
/// the device is): a line an entry, an index from 1 for each mode and the value, a double that becomes the nearest of
/// `type`, a SparringType. An integer type takes whole numbers that it holds, below 2^53, and refuses others with their
/// entry: SPARRING_UNSUPPORTED. Repeated entries are summed (bool: or). `options` may be NULL. `path` is UTF-8.
/// `*tensor` gets the handle, NULL on failure; free it with sparring_tensor_free.
SparringStatus sparring_tensor_read(const SparringDevice *device,
                                    uint32_t type,
                                    const char *path,
                                    const SparringTensorReadOptions *options,
                                    SparringTensor **tensor);

/// Writes the tensor as a FROSTT file, compressed by gzip if `path` ends in ".gz", by the threads of `device`: the
/// entries in their order. Reading it gives the same entries bit for bit, except that every NaN becomes the usual one;
/// the lengths of the modes are not in the file, so where last slices are empty the reader is told (`dims` of
/// SparringTensorReadOptions). Complex numbers are refused: SPARRING_UNSUPPORTED. It is written beside its place and
/// takes it when it is complete: on failure, what was at `path` is as it was. `path` is UTF-8; `options` may be NULL,
/// and do not ask for symmetry.
SparringStatus sparring_tensor_write(const SparringDevice *device,
                                     const SparringTensor *tensor,
                                     const char *path,
                                     const SparringWriteOptions *options);

/// The same tensor with entries at the same place summed, in their order, by the threads of `device`: sorted by their
/// indices, the last mode fastest. Sums of integers wrap, and of bool it is or. `*summed` gets the handle of a new
/// tensor, NULL on failure; free it with sparring_tensor_free.
SparringStatus sparring_tensor_summed(const SparringDevice *device,
                                      const SparringTensor *tensor,
                                      SparringTensor **summed);

/// A new tensor with the same entries, of values of another type, as sparring_matrix_cast converts them. `*there` gets
/// the handle, NULL on failure; free it with sparring_tensor_free.
SparringStatus sparring_tensor_cast(const SparringTensor *tensor,
                                    uint32_t type,
                                    uint32_t wrap,
                                    SparringTensor **there);

/// Type of the values, a SparringType.
SparringStatus sparring_tensor_type(const SparringTensor *tensor, uint32_t *type);

/// Number of modes.
SparringStatus sparring_tensor_order(const SparringTensor *tensor, uint64_t *order);

/// Length of each mode, into `dims`, which has room for `dims_len`: SPARRING_LENGTH if the tensor has more modes.
SparringStatus sparring_tensor_dims(const SparringTensor *tensor,
                                    uint64_t *dims,
                                    uint64_t dims_len);

/// Number of entries, stored zeros and repeated ones included.
SparringStatus sparring_tensor_nnz(const SparringTensor *tensor, uint64_t *nnz);

/// Copies the entries into your arrays, as sparring_tensor_from_coo takes them: `indices` has the addresses of an array
/// for each mode. What is NULL is not wanted: `indices`, one of its arrays, `values`, which has the tensor's type. All
/// arrays have room for `nnz_len` elements: SPARRING_LENGTH if that is too few.
SparringStatus sparring_tensor_copy(const SparringTensor *tensor,
                                    uint64_t *const *indices,
                                    void *values,
                                    uint64_t nnz_len);

/// Frees a tensor; NULL is allowed.
SparringStatus sparring_tensor_free(SparringTensor *tensor);

/// V = X₍ₙ₎ (⊙ₘ Aₘ), the matricized tensor times the Khatri–Rao product of all factors but that of `mode`, which is n:
/// V(i, r) is the sum over the entries whose index in mode n is i of their value times Aₘ(iₘ, r) for each other mode m
/// (bool: or, and). `factors` has the addresses of a factor for each mode, of values of the tensor's type, that of mode
/// m with `dims[m]` · `rank` elements, row after row; the one of `mode` is not read and may be NULL. `variant` is a
/// SparringMttkrpVariant; values that are no floats take SPARRING_MTTKRP_AUTO alone, and are a few times slower. `out`
/// has room for `out_len` elements of the same type and gets `dims[mode]` · `rank`, row after row: if there is room for
/// fewer, SPARRING_LENGTH before anything is computed. The same bits for any number of threads, but for the variants A
/// and B. On a GPU tensor and factors, which are floats, are sent there, in as many parts as its memory asks for; it
/// knows the variants C and COPIES. Several products of one tensor: sparring_mttkrp_new.
SparringStatus sparring_mttkrp(const SparringDevice *device,
                               const SparringTensor *tensor,
                               uint64_t rank,
                               const void *const *factors,
                               uint64_t mode,
                               uint32_t variant,
                               void *out,
                               uint64_t out_len);

/// The same over a semiring on values of the tensor's type, also of functions of yours: V(i, r) is the sum over the
/// entries whose index in mode n is i of their value times Aₘ(iₘ, r) for each other mode m, by ⊕ in the order of the
/// entries and ⊗ from left to right in the order of the modes; the identity of ⊕ where there are no entries. `factors`,
/// `mode`, `out` and `out_len` as there. On the processor. The same bits for any number of threads.
SparringStatus sparring_mttkrp_with(const SparringDevice *device,
                                    const SparringSemiring *ring,
                                    const SparringTensor *tensor,
                                    uint64_t rank,
                                    const void *const *factors,
                                    uint64_t mode,
                                    void *out,
                                    uint64_t out_len);

/// Prepares every mode of the tensor for products with factors of `rank` columns: copies or permutations of its
/// entries, made once for any number of sparring_mttkrp_run. `variant` is a SparringMttkrpVariant. Nothing is prepared
/// of values that are no floats, which take SPARRING_MTTKRP_AUTO alone. On a GPU the tensor is sent, sorted and kept
/// there; it knows the variants C and COPIES, and where neither fits, the parts of the tensor are sent for each
/// product. The memory budget of the device counts what is kept, and on the processor also the result of a product.
/// Tensor and device may be freed afterwards: the plan keeps what it needs of them. `*mttkrp` gets the handle, NULL on
/// failure; free it with sparring_mttkrp_free.
SparringStatus sparring_mttkrp_new(const SparringDevice *device,
                                   const SparringTensor *tensor,
                                   uint64_t rank,
                                   uint32_t variant,
                                   SparringMttkrp **mttkrp);

/// V = X₍ₙ₎ (⊙ₘ Aₘ) of the tensor that `mttkrp` was made for, as sparring_mttkrp computes it: `factors`, `mode`, `out`
/// and `out_len` as there. `rank` is that of the plan: SPARRING_ARGUMENT otherwise. Nothing is sorted; on a GPU the
/// factors alone are sent, and V comes back. The same bits in every call and for any number of threads, but for the
/// variants A and B.
SparringStatus sparring_mttkrp_run(const SparringMttkrp *mttkrp,
                                   uint64_t rank,
                                   const void *const *factors,
                                   uint64_t mode,
                                   void *out,
                                   uint64_t out_len);

/// What was prepared for the modes of a tensor, and why: UTF-8 text into `buffer` of `capacity` bytes, as for
/// sparring_plan_explain.
SparringStatus sparring_mttkrp_explain(const SparringMttkrp *mttkrp,
                                       char *buffer,
                                       uint64_t capacity,
                                       uint64_t *length);

/// Frees a SparringMttkrp; NULL is allowed.
SparringStatus sparring_mttkrp_free(SparringMttkrp *mttkrp);

/// CP by alternating least squares: the sum M of `rank` components λᵣ a₀ᵣ ∘ a₁ᵣ ∘ … that comes nearest to the tensor X,
/// whose entries are at different places (sparring_tensor_summed), doubles or floats, which become doubles. Where
/// components coincide, the solution of minimum norm is taken. `weights` has room for the `rank` weights λ, and
/// `factors` the addresses of room for a factor for each mode, that of mode m with `dims[m]` · `rank` elements, row
/// after row: column r holds a component of 2-norm 1. Components come by falling weight. `*fit` gets the figures.
/// `options` may be NULL. On failure, weights and factors are as they were. What ran, and why, goes to `buffer` as for
/// sparring_plan_explain (`capacity` 0 and `length` NULL: not wanted). The same bits for any number of threads, but for
/// the variants A and B. On a GPU tensor and factors are sent there and stay until the end; it knows the variants C and
/// COPIES, and where the tensor does not fit it is sent in parts.
SparringStatus sparring_cp_als(const SparringDevice *device,
                               const SparringTensor *tensor,
                               uint64_t rank,
                               const SparringCpOptions *options,
                               double *weights,
                               double *const *factors,
                               SparringCpFit *fit,
                               char *buffer,
                               uint64_t capacity,
                               uint64_t *length);

/// Prepares C(r...) = x1(...) times x2(...) times ..., summed over the indices that C has not: its path, its steps and
/// the places of elements, once for contractions of many arrays. `expression` has a letter for each index, as in
/// "bij,bjk->bik"; an index that an operand has twice runs along its diagonal. Sum and product are those of `semiring`,
/// a name or formulas as for sparring_semiring_new, on operands of `type`, a SparringType; the result is of the type
/// that the semiring gives (sparring_einsum_plan_type). A product that reads the place of an entry:
/// SPARRING_UNSUPPORTED. "plus_times" of SPARRING_F64 has loops of its own, others are a few times slower. `layouts`
/// has `count` elements, one for each operand. Runs on the processor; it keeps the device. `*einsum` gets the handle,
/// NULL on failure; free it with sparring_einsum_plan_free.
SparringStatus sparring_einsum_plan_new(const SparringDevice *device,
                                        const char *expression,
                                        const char *semiring,
                                        uint32_t type,
                                        const SparringLayout *layouts,
                                        uint64_t count,
                                        const SparringLayout *result_layout,
                                        SparringEinsumPlan **einsum);

/// sparring_einsum_plan_new over a semiring that is a handle, also of functions of yours; operands are of the one type
/// that its product takes.
SparringStatus sparring_einsum_plan_new_with(const SparringDevice *device,
                                             const char *expression,
                                             const SparringSemiring *ring,
                                             const SparringLayout *layouts,
                                             uint64_t count,
                                             const SparringLayout *result_layout,
                                             SparringEinsumPlan **einsum);

/// Type of the elements of the result, a SparringType.
SparringStatus sparring_einsum_plan_type(const SparringEinsumPlan *einsum, uint32_t *type);

/// Bytes that a contraction takes beside its operands and its result, offsets that the plan holds among them.
SparringStatus sparring_einsum_plan_workspace(const SparringEinsumPlan *einsum, uint64_t *bytes);

/// C = alpha * (the contraction) + beta * C, by sum and product of the plan's semiring. `operands` has the addresses of
/// `count` arrays, `lengths` how many elements each has, whose places the layouts of the plan say; one array may be
/// several operands. `alpha` and `beta` point to a value of the type of the operands. NULL for `alpha`: nothing is
/// multiplied. NULL for `beta`, and the identity of the sum (0 for plus_times): C is not read, whatever it holds.
/// `result` is an array of `result_len` elements, which shares no memory with an operand; what is no element of C stays
/// as it is. Over "plus_times" of doubles nothing is copied, else the result once, and operands of SPARRING_BOOL. The
/// same bits for any number of threads.
SparringStatus sparring_einsum_plan_run(const SparringEinsumPlan *einsum,
                                        const void *const *operands,
                                        const uint64_t *lengths,
                                        uint64_t count,
                                        const void *alpha,
                                        const void *beta,
                                        void *result,
                                        uint64_t result_len);

/// Frees a plan; NULL is allowed.
SparringStatus sparring_einsum_plan_free(SparringEinsumPlan *einsum);

/// sparring_einsum_plan_new, sparring_einsum_plan_run and sparring_einsum_plan_free at once, for what is computed one
/// time.
SparringStatus sparring_einsum(const SparringDevice *device,
                               const char *expression,
                               const char *semiring,
                               uint32_t type,
                               const SparringLayout *layouts,
                               const void *const *operands,
                               const uint64_t *lengths,
                               uint64_t count,
                               const void *alpha,
                               const void *beta,
                               const SparringLayout *result_layout,
                               void *result,
                               uint64_t result_len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPARRING_H */
