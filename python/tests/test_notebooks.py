"""The notebooks run, and are stored without outputs."""

from pathlib import Path

import pytest
import sparring as sp

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, monkeypatch):
    client, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    for package in ("ipykernel", "matplotlib", *(["umap"] if path.stem == "neighbors" else [])):
        pytest.importorskip(package)
    # The kernel starts in another folder; it must import the package under test.
    monkeypatch.setenv("PYTHONPATH", str(Path(sp.__file__).resolve().parents[1]))
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    client.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": path.parent}}).execute()
    pictures = sum("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
    assert pictures >= 2


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["graph", "neighbors", "tensor"]
