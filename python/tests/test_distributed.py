# SPDX-License-Identifier: Apache-2.0
"""Parts of the data on workers: the same bytes as one machine, whoever is lost.  Ray and Dask where they are installed."""
import concurrent.futures
import functools
import multiprocessing
import os
import pickle
import signal

import numpy as np
import pytest

import tosac
import tosac.distributed

PARTS = 4


@pytest.fixture(scope="session")
def parts(digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    paths = []
    for i, part in enumerate(np.array_split(digits.samples, PARTS)):
        paths.append(str(folder / f"part{i}.npz"))
        np.savez(paths[-1], x=part)
    return paths


@pytest.fixture(scope="session")
def whole(digits):
    return tosac.quantize(digits.model, digits.samples).text()


def loaded(path, mark=None):
    """The data of a part; with a mark that is not there yet, the worker leaves it and dies."""
    if mark and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    with open(f"{path}.seen", "a") as seen:
        seen.write("x")
    return np.load(path)["x"]


def check_engine(engine, digits, parts, whole):
    told = []
    typed = tosac.distributed.quantize(digits.model, parts, engine, progress=lambda *said: told.append(said))
    assert typed.text() == whole
    for what in ("first pass", "second pass"):
        assert [said[1:] for said in told if said[0] == what] == [(k + 1, PARTS) for k in range(PARTS)]
    pairs = list(zip(np.array_split(digits.x[:200], PARTS), np.array_split(digits.label[:200], PARTS)))
    typed_file = typed.text().encode()
    rows = tosac.distributed.evaluate({"float": digits.model, "int8": typed_file}, pairs, engine)
    assert rows == tosac.distributed.evaluate({"float": digits.model, "int8": typed_file}, pairs)
    y = tosac.run(digits.model, digits.x[:200])[0]
    assert rows[0].right == round(200 * digits.right(y)) and rows[0].n == rows[0].agree == 200 and rows[0].sqnr_db == float("inf")
    assert rows[1].agree >= 196 and 20 < rows[1].sqnr_db < 60 and rows[1].right5 >= rows[1].right


def check_lost(engine, digits, parts, whole, tmp_path):
    """One worker of the first round is killed: its part alone is read again."""
    for path in parts:
        if os.path.exists(f"{path}.seen"):
            os.unlink(f"{path}.seen")
    mark = str(tmp_path / "lost")
    work = [functools.partial(loaded, path, mark if path == parts[1] else None) for path in parts]
    typed = tosac.distributed.quantize(digits.model, work, engine, biases=parts)
    assert os.path.exists(mark) and typed.text() == whole
    # Read in both rounds; a worker that sat beside the lost one may have taken a result with it.
    seen = [len(open(f"{path}.seen").read()) for path in parts]
    assert seen[1] == 2 and all(2 <= n <= 3 for n in seen)


def check_refused(engine, digits, parts):
    """What tosac turns down is not tried again, and comes with its message."""
    with pytest.raises(tosac.TosacError) as error:
        tosac.distributed.quantize(digits.model, parts[:1] + [np.zeros((1, 7), np.float32)], engine)
    assert error.value.text and error.value.status in (1, 2)


def test_here(digits, parts, whole):
    check_engine(None, digits, parts, whole)
    check_refused(None, digits, parts)


def test_observations_merge(digits, whole):
    halves = np.array_split(digits.samples, 2)
    first = [tosac.observe(digits.model, half) for half in halves]
    second = [tosac.observe(digits.model, half, merge=first) for half in halves]
    assert tosac.quantize(digits.model, digits.samples, merge=second).text() == whole
    with pytest.raises(tosac.TosacError, match="observations"):
        tosac.quantize(digits.model, digits.samples, merge=[second[0], second[0]])


def test_processes(digits, parts, whole):
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        check_engine(pool, digits, parts, whole)
        check_refused(pool, digits, parts)


def test_words(digits, parts):
    with pytest.raises(tosac.UsageError, match="no engine"):
        tosac.distributed.quantize(digits.model, parts, engine=3)
    with pytest.raises(tosac.UsageError, match="no parts"):
        tosac.distributed.quantize(digits.model, [])
    tries = []

    def never():
        tries.append(1)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        tosac.distributed.quantize(digits.model, [never], tries=2)
    assert len(tries) == 2
    with pytest.raises(tosac.TosacError) as error:
        tosac.load("/nowhere/model.pt2")
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is type(error.value) and str(again) == str(error.value) and again.diagnostics == error.value.diagnostics


def test_ray(digits, parts, whole, tmp_path):
    ray = pytest.importorskip("ray")
    here = os.path.dirname(os.path.abspath(__file__))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": here}})
    try:
        check_engine(ray, digits, parts, whole)
        check_lost(ray, digits, parts, whole, tmp_path)
        check_refused(ray, digits, parts)
    finally:
        ray.shutdown()


def test_dask(digits, parts, whole, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            check_engine(client, digits, parts, whole)
            check_lost(client, digits, parts, whole, tmp_path)
            check_refused(client, digits, parts)
