"""Inputs for measuring distances: generated sets of sparse vectors, one per row, and real files.

The sets have the shapes of those in the paper on sparse distances, scaled down: ratings, gene counts, documents, names.
They come from numpy's seeded generator, so they are the same wherever numpy draws the same numbers. `python3 vectors.py
[--tiny] FOLDER [NAME or FILE...]` writes them into a folder and describes each.
"""
import json
import os
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

import cases


def popularity(n, exponent, shift=2.7):
    """Zipf weights of n items, with sum 1."""
    w = 1.0 / (np.arange(n) + shift) ** exponent
    return w / w.sum()


def draw(rng, cumulative, count):
    """One draw per entry; draws that fall beyond the cumulative sum through rounding are dropped."""
    at = np.searchsorted(cumulative, rng.random(count))
    return at[at < len(cumulative)]


def stack(rows, ncols):
    """Compressed rows from pairs (columns in order, values)."""
    ptr = np.cumsum([0] + [len(cols) for cols, _ in rows])
    cols = np.concatenate([cols for cols, _ in rows]).astype(np.int32)
    values = np.concatenate([values for _, values in rows]).astype(np.float64)
    return sp.csr_matrix((values, cols, ptr), shape=(len(rows), ncols))


def movielens(nrows=6000, ncols=9000, mean=80, seed=1):
    """Ratings from ½ to 5: log-normal degrees of users, power-law popularity of items; some users have no ratings."""
    rng = np.random.default_rng(seed)
    degrees = np.clip(rng.lognormal(np.log(mean) - 0.72, 1.2, nrows), 1, ncols * 0.12).astype(int)
    degrees[rng.random(nrows) < 0.002] = 0
    cumulative = np.cumsum(popularity(ncols, 0.9, 20.0))
    rows = []
    for d in degrees:
        # A draw beyond the end counts towards the degree here, and is dropped afterwards.
        cols = np.unique(np.searchsorted(cumulative, rng.random(int(d * 1.6) + 4)))
        if len(cols) > d:
            cols = np.sort(rng.permutation(cols)[:d])
        rows.append(cols[cols < ncols])
    count = sum(map(len, rows))
    ratings = np.clip(np.round(rng.normal(3.5, 1.05, count) * 2) / 2, 0.5, 5.0)
    label = rng.permutation(ncols)
    at = np.cumsum([0] + [len(cols) for cols in rows])
    return stack([(label[cols], ratings[a:b]) for cols, a, b in zip(rows, at, at[1:])], ncols)


def scrna(nrows=2000, ncols=4000, density=0.07, seed=2):
    """Cells by genes, log(1 + counts), eight kinds of cells; every row is 2 to 37 % full."""
    rng = np.random.default_rng(seed)
    base = popularity(ncols, 0.8, 30.0)
    kinds = [rng.gamma(0.6, 1.0, ncols) * base for _ in range(8)]
    kinds = [np.cumsum(p / p.sum()) for p in kinds]
    rows = []
    for _ in range(nrows):
        d = int(np.clip(rng.lognormal(np.log(density * ncols) - 0.12, 0.5), 0.019 * ncols, 0.37 * ncols))
        kind = kinds[rng.integers(8)]
        genes, counts = np.unique(draw(rng, kind, d * 3), return_counts=True)
        if len(genes) > d:
            keep = np.sort(rng.permutation(len(genes))[:d])
            genes, counts = genes[keep], counts[keep]
        rows.append((genes, np.log1p(counts * 1e4 / counts.sum())))
    return stack(rows, ncols)


def tfidf(a):
    """TF-IDF: counts times ln((1 + rows) / (1 + rows with the column)) + 1; each row is then divided by its 2-norm."""
    rarity = np.log((1 + a.shape[0]) / (1 + np.bincount(a.indices, minlength=a.shape[1]))) + 1
    a.data = a.data * rarity[a.indices]
    lengths = np.diff(a.indptr)
    norms = np.sqrt(np.add.reduceat(a.data * a.data, a.indptr[:-1][lengths > 0]))
    a.data = np.repeat(1 / norms, lengths[lengths > 0]) * a.data
    return a


def nytimes(nrows=5000, ncols=10000, mean=120, seed=3):
    """Documents by words, drawn from 20 topics, with TF-IDF weights and normalised rows; some are empty."""
    rng = np.random.default_rng(seed)
    base = popularity(ncols, 1.0)
    topics = []
    for _ in range(20):
        w = base * np.where(rng.random(ncols) < 0.15, 8.0, 0.5)
        topics.append(np.cumsum(w / w.sum()))
    rows = []
    for _ in range(nrows):
        empty = rng.random() < 0.001
        length = 0 if empty else int(np.clip(rng.lognormal(np.log(mean * 1.6), 0.7), 5, 3000))
        topic = topics[rng.integers(20)]
        rows.append(np.unique(draw(rng, topic, length), return_counts=True))
    return tfidf(stack(rows, ncols))


ONSETS = "b c d f g h k l m n p r s t v w st tr pr cl".split()
CODAS = ["", "n", "r", "l", "s", "t", "x"]
ENDINGS = ["inc", "corp", "llc", "ltd", "holdings inc", "capital partners lp", "fund ii lp", "group", "co", "trust",
           "acquisition corp", "bancorp", "pharmaceuticals inc", "energy partners"]


def names(count, seed=4):
    """Company names: one or two made-up words and an ending; some are earlier names with one letter changed."""
    rng = np.random.default_rng(seed)
    syllables = [o + v + c for o in ONSETS for v in "aeiou" for c in CODAS]

    def choose(n, weights):
        return np.searchsorted(np.cumsum(weights)[:-1], rng.random(n))

    nwords = max(200, count // 3)
    parts = choose(nwords * 3, popularity(len(syllables), 0.7)).reshape(nwords, 3)
    long = rng.random(nwords) < 0.5
    words = ["".join(syllables[s] for s in three[: 3 if of_three else 2]) for three, of_three in zip(parts, long)]
    first, second = (choose(count, popularity(nwords, 0.55)) for _ in range(2))
    two = rng.random(count) < 0.5
    ending = choose(count, popularity(len(ENDINGS), 0.6, 1.0))
    copied = rng.random(count) < 0.12
    source, place = rng.random(count), rng.random(count)
    letter = rng.integers(0, 9, count)
    made = []
    for i in range(count):
        if i > 0 and copied[i]:
            old = made[int(source[i] * i)]
            at = int(place[i] * len(old))
            made.append(old[:at] + "aeiounrst"[letter[i]] + old[at + 1:])
        else:
            made.append(" ".join([words[first[i]]] + [words[second[i]]] * int(two[i]) + [ENDINGS[ending[i]]]))
    return made


def edgar(nrows=20000, seed=4):
    """Names by their 3-grams, with TF-IDF weights and normalised rows; columns in order of first occurrence."""
    seen, rows = {}, []
    for name in names(nrows, seed):
        grams = [seen.setdefault(name[i:i + 3], len(seen)) for i in range(len(name) - 2)]
        rows.append(np.unique(np.array(grams, int), return_counts=True))
    return tfidf(stack(rows, len(seen)))


def uniform(nrows=100_000, ncols=100_000, entries=10, seed=5):
    """Rows with uniformly drawn columns: most pairs share none."""
    rng = np.random.default_rng(seed)
    rows, cols = np.repeat(np.arange(nrows), entries), rng.integers(0, ncols, nrows * entries)
    return sp.csr_matrix((rng.random(nrows * entries) + 0.5, (rows, cols)), shape=(nrows, ncols))


def wide(nrows=20_000, ncols=1_000_000, entries=50, seed=6):
    """The same with very many columns."""
    return uniform(nrows, ncols, entries, seed)


GENERATED = {"movielens": movielens, "scrna": scrna, "nytimes": nytimes, "edgar": edgar, "uniform": uniform, "wide": wide}
# Small versions for tests.
TINY = {
    "movielens": lambda: movielens(300, 200, 12, 7),
    "scrna": lambda: scrna(60, 120, 0.07, 2),
    "nytimes": lambda: nytimes(80, 300, 15, 3),
    "edgar": lambda: edgar(150),
    "uniform": lambda: uniform(300, 400, 4),
    "wide": lambda: wide(60, 200_000, 6),
}


def canonical(a):
    """Sorted rows, doubles, no stored zeros: the input of every library."""
    a = sp.csr_matrix(a, dtype=np.float64)
    a.sum_duplicates()
    a.eliminate_zeros()
    a.sort_indices()
    return a


def load(name, generated=GENERATED):
    """A generated set by its name, or the rows of a Matrix Market file with their original values."""
    if name in generated:
        return canonical(generated[name]())
    return canonical(cases.load(name))


def write(folder, name, generated=GENERATED):
    """Writes the set as an exact Matrix Market file for us and as arrays for the others, and describes it."""
    a = load(name, generated)
    short = os.path.basename(name).removesuffix(".gz").removesuffix(".mtx")
    arrays = os.path.join(folder, short + ".npz")
    sp.save_npz(arrays, a, compressed=False)
    file = os.path.join(folder, short + ".mtx") if name in generated else os.path.abspath(name)
    if name in generated:
        with open(file, "wb") as f:
            scipy.io.mmwrite(f, a, symmetry="general", precision=17)
    return {"data": short, "file": file, "arrays": arrays, "nrows": a.shape[0], "ncols": a.shape[1], "nnz": int(a.nnz),
            "empty": int((np.diff(a.indptr) == 0).sum())}


if __name__ == "__main__":
    known = GENERATED
    if sys.argv[1] == "--tiny":
        known = TINY
        del sys.argv[1]
    os.makedirs(sys.argv[1], exist_ok=True)
    for wanted in sys.argv[2:] or known:
        print(json.dumps(write(sys.argv[1], wanted, known)))
