"""torch.profiler: schedules, steps, traces."""

import json

import pytest
from backend import BACKEND, torch

if BACKEND == "torch":
    import torch.profiler as profiler
else:
    from facula import profiler

SCHEDULES = [dict(wait=1, warmup=1, active=2), dict(wait=0, warmup=1, active=1, repeat=2), dict(wait=2, warmup=0, active=1, skip_first=3), dict(wait=1, warmup=1, active=1, skip_first_wait=1)]


def name(k):
    return "NONE WARMUP RECORD RECORD_AND_SAVE".split()[k]


EXPECTED = [
    [0, 1, 2, 3, 0, 1, 2, 3, 0, 1], [1, 3, 1, 3, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3, 0, 0, 3, 0], [1, 3, 0, 1, 3, 0, 1, 3, 0, 1],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SCHEDULES)))
def test_a_schedule_says_what_happens_in_each_step(number):
    what = profiler.schedule(**SCHEDULES[number])

    assert [name(k) for k in EXPECTED[number]] == [what(k).name for k in range(10)]


def test_a_schedule_that_makes_no_sense_is_refused():
    with pytest.raises(AssertionError):
        profiler.schedule(wait=-1, warmup=0, active=1)
    with pytest.raises(AssertionError):
        profiler.schedule(wait=1, warmup=0, active=0)


def test_steps_that_are_recorded_are_handed_on(tmp_path):
    seen = []
    x = torch.ones(2)
    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: seen.append(p.step_num), record_shapes=True) as p:
        for _ in range(8):
            x.sin()
            p.step()

    assert [4, 8] == seen
    (sin,) = [e for e in p.key_averages() if e.key.endswith("sin")]
    assert 2 == sin.count
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_without_a_schedule_the_whole_block_is_recorded(tmp_path):
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), "me")) as p:
        with profiler.record_function("forward"):
            torch.ones(2).cos()

    assert {"forward"} <= {e.key for e in p.key_averages()} and any(e.name.endswith("cos") for e in p.events())
    assert 1 == len(list(tmp_path.glob("me.*.pt.trace.json")))


@pytest.mark.facula_only
def test_what_is_not_recorded_is_refused():
    for options, error in ((dict(with_flops=True), ValueError), (dict(activities=[1]), AssertionError), (dict(activities=[]), AssertionError)):
        with pytest.raises(error):
            profiler.profile(**options)
    with pytest.raises(AssertionError):
        profiler.profile().key_averages()
