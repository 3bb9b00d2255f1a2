"""Scans of lines that go many at a time, across memory or alone give what each line gives by itself."""

import numpy as np
import pytest

import facula


@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16", "float16", "int64", "uint8"))
@pytest.mark.parametrize("name", ("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"))
def test_short_lines_scan_as_one_does(name, dtype):
    if name == "logcumsumexp" and dtype in ("int64", "uint8"):
        return
    rng = np.random.default_rng(8)
    scan = getattr(facula, name)
    for lines, n in ((1, 1), (5, 1), (700, 1), (3, 2), (131, 3), (1100, 7), (9, 17), (300, 65), (6, 1030)):
        x = rng.integers(-3, 4, (lines, n)).astype(np.float64) if name != "cumsum" else rng.standard_normal((lines, n)) * 3
        if dtype.startswith(("float", "bf")) and name != "cumsum":
            x[rng.random(x.shape) < 0.05] = np.nan
        x = facula.from_numpy(abs(x) if dtype == "uint8" else x).to(getattr(facula, dtype))
        results = [scan(lying, 1) for lying in (x, x.t().contiguous().t(), facula.stack([x, x, x], 2)[..., 1])]
        results += [scan(x.t().contiguous(), 0), scan(facula.stack([x, x, x], 2), 1), [scan(row, 0) for row in x]]
        for part in range(2 if name in ("cummax", "cummin") else 1):
            pick = lambda r: r[part] if name in ("cummax", "cummin") else r
            one = facula.stack([pick(r) for r in results[-1]])
            for got in (*map(pick, results[:3]), pick(results[3]).t(), *pick(results[4]).unbind(2)):
                assert facula.equal(got.isnan(), one.isnan()) and facula.equal(got[~got.isnan()], one[~one.isnan()]), (lines, n)
