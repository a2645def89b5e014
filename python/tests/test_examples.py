"""The programs of ``examples/``, where their packages are installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def main(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main()


@pytest.mark.filterwarnings("ignore")
def test_umap():
    pytest.importorskip("umap")
    points, kept = main("umap_precomputed")
    assert points.shape == (1500, 2) and kept > 0.5


def test_hdbscan():
    pytest.importorskip("sklearn")
    labels, agree = main("hdbscan_precomputed")
    assert labels.max() > 50 and agree > 0.95


@pytest.mark.filterwarnings("ignore")
def test_scanpy():
    pytest.importorskip("scanpy")
    labels, pure = main("scanpy_neighbors")
    assert len(set(labels.tolist())) == 6 and pure > 0.95


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_without_its_package_a_program_says_so(path):
    # With nothing installed except what reads the data.
    hidden = "import sys; sys.modules.update(dict.fromkeys(['umap', 'sklearn', 'sklearn.cluster', 'scanpy', 'anndata']))"
    run = f"{hidden}; import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"
    found = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("skipped: the package ")
