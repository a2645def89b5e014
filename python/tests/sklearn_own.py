"""scikit-learn's own tests of neighbors, run on our functions: ``python sklearn_own.py [pytest options]``.

Prints how many tests passed, and how many were skipped for each reason.
"""

import functools
import importlib
import importlib.util
import os
import re
import sys
from collections import Counter

import pytest
import scipy.sparse

MODULES = [
    "sklearn.neighbors.tests.test_neighbors",
    "sklearn.neighbors.tests.test_neighbors_pipeline",
    "sklearn.neighbors.tests.test_graph",
    "sklearn.metrics.tests.test_pairwise",
    "sklearn.cluster.tests.test_dbscan",
    "sklearn.manifold.tests.test_isomap",
]
# Skipped tests, by name and parameters, and the reason.
LEFT_OUT = {
    r"^test_auto_algorithm": "ask for the private name of a tree",
    r"^test_neighbors_minkowski_semimetric_algo_warn": "ask for the private name of a tree",
    r"^test_pairwise_boolean_distance\[": "want a warning that rows are taken as true and false",
    r"^test_k_and_radius_neighbors_duplicates": "want one of several equal rows, by the order of scikit-learn's search",
}
# Tests that expect an exception where our function returns a result. They are run and fail only for that reason.
ANSWERED = {
    r"^test_pairwise_distances_for_sparse_data": "minkowski of sparse rows",
    r"^test_neighbors_metrics.*(braycurtis|canberra)": "algorithm='kd_tree' with a metric that a k-d tree cannot have",
    r"^test_predict_sparse_ball_kd_tree": "sparse rows with algorithm='kd_tree'",
}


class Plugin:
    """Counts results and skips tests."""

    def __init__(self):
        self.counts, self.left_out, self.answered = Counter(), Counter(), Counter()
        # Names of the tests that reach our functions, of those with sparse rows, and of those that use a metric which
        # only scikit-learn computes.
        self.reach, self.sparse, self.elsewhere, self.running = set(), set(), set(), None

    def pytest_collection_modifyitems(self, config, items):
        kept, dropped = [], []
        for item in items:
            reason = next((why for name, why in LEFT_OUT.items() if re.search(name, item.name)), None)
            self.left_out.update([reason] if reason else [])
            (dropped if reason else kept).append(item)
        items[:] = kept
        config.hook.pytest_deselected(items=dropped)

    def pytest_runtest_setup(self, item):
        self.running = item.nodeid

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        result = yield
        report = result.get_result()
        why = next((why for name, why in ANSWERED.items() if re.search(name, item.name)), None)
        if call.excinfo and why and "DID NOT RAISE" in str(call.excinfo.value):
            report.outcome, self.answered[why] = "passed", self.answered[why] + 1
        if item.nodeid in self.reach and (report.when == "call" or report.outcome != "passed"):
            self.counts[report.outcome] += 1

    def note(self, function, names):
        """Wraps the function so that each call adds the running test to `names`."""

        @functools.wraps(function)
        def noted(*args, **kwargs):
            names.add(self.running)
            if any(map(scipy.sparse.issparse, (*args, *kwargs.values()))):
                self.sparse.add(self.running)
            return function(*args, **kwargs)

        return noted


def main(options):
    import sklearn
    import sparring as sp

    os.environ.setdefault("SKLEARN_RUN_FLOAT32_TESTS", "1")
    # scikit-learn's internal calls keep its own functions, because these modules are imported before the replacement.
    for name in MODULES:
        importlib.import_module(name.partition(".tests.")[0])
    ours, plugin = importlib.import_module("sparring._estimators"), Plugin()
    ours._Neighbors._fit = plugin.note(ours._Neighbors._fit, plugin.reach)
    ours._Neighbors._fit_elsewhere = plugin.note(ours._Neighbors._fit_elsewhere, plugin.elsewhere)
    ours._DISTANCES = plugin.note(ours._DISTANCES, plugin.elsewhere)
    for module in ("sklearn.neighbors", "sklearn.metrics", "sklearn.metrics.pairwise"):
        of = importlib.import_module(module)
        for name in sp.neighbors.__all__:
            if hasattr(of, name):
                value = getattr(sp.neighbors, name)
                setattr(of, name, value if isinstance(value, type) else plugin.note(value, plugin.reach))
    importlib.import_module("sklearn.neighbors._base").KNeighborsMixin = ours._KNeighborsMixin
    files = [importlib.util.find_spec(name).origin for name in MODULES]
    arguments = ["-q", "-c", os.devnull, "-p", "no:cacheprovider", "-W", "ignore", "--no-header", *options, *files]
    code = pytest.main(arguments, plugins=[plugin])
    count = plugin.counts
    print(
        f"tests of scikit-learn {sklearn.__version__} that reach ours: {count['passed']} passed, {count['failed']} failed, "
        f"{count['skipped']} skipped; {len(plugin.sparse)} of them have sparse rows; in {len(plugin.elsewhere)} "
        "scikit-learn computed a metric that it alone has"
    )
    for title, reasons in [("left out", plugin.left_out), ("passed but for an exception", plugin.answered)]:
        for why, times in reasons.most_common():
            print(f"{title}: {times}, {why}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
