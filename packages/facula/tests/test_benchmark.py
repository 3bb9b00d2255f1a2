"""Times beside each other: what is measured, and the table."""

import facula
import pytest
from facula.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit


def measured(description, seconds, number=10, **task):
    what = {"label": "sums", "sub_label": "small", "description": description, **task}
    return Measurement(number, [s * number for s in seconds], TaskSpec("x", "pass", **what))


def test_a_timer_calls_the_statement_in_the_given_names():
    calls = []
    found = Timer("f(y)", setup="y = 2", globals={"f": calls.append}, label="L", num_threads=1).timeit(20)

    assert {2} == set(calls) and len(calls) >= 20
    assert (20, 1, "L") == (found.number_per_run, len(found.times), found.title) and found.mean > 0


def test_blocks_last_as_long_as_asked():
    before = facula.get_num_threads()
    heard = []
    found = Timer("sum(range(50))", num_threads=2).blocked_autorange(lambda number, seconds: heard.append(seconds), min_run_time=0.005)

    assert sum(found.raw_times) >= 0.005 and heard == found.raw_times
    assert before == facula.get_num_threads()


def test_a_measurement_knows_its_middle_and_spread():
    m = measured("a", [1.0, 2.0, 3.0, 4.0, 5.0])

    assert (3.0, 3.0, 2.0) == (m.mean, m.median, m.iqr)
    assert "Median: 3.00 s" in repr(m) and not m.meets_confidence()


def test_a_table_has_a_row_for_each_case_and_a_column_for_each_description():
    text = str(Compare([measured("one", [1e-6]), measured("two", [2.5e-6]), measured("two", [4e-6], sub_label="large")]))

    lines = text.splitlines()
    assert lines[0].startswith("[-") and " sums " in lines[0] and "one" in lines[1] and "two" in lines[1]
    assert ["small", "1.0", "2.5"] == lines[3].replace("|", " ").split() and ["large", "4.0"] == lines[4].replace("|", " ").split()
    assert "microseconds (us)" in text


def test_measurements_of_one_task_are_one():
    assert [1.0, 3.0] == Measurement.merge([measured("a", [1.0]), measured("a", [3.0])])[0].times
    (one,) = Measurement.merge([measured("a", [1.0], 2), measured("a", [3.0], 5)])
    assert (1, [1.0, 3.0]) == (one.number_per_run, one.raw_times)
    assert ("ms", 1e-3) == select_unit(0.02)


def test_other_languages_are_refused():
    with pytest.raises(ValueError, match="c\\+\\+"):
        Timer("x", language="c++")


def test_a_measurement_says_what_was_timed():
    task = TaskSpec("x\ny", "a = 1\nb = 2", sub_label="S", description="D")
    m = Measurement(1, [1.0, 2.0, 3.0, 4.0], task)

    assert ("stmt: (S)\n  x\n  y", "setup:\n  a = 1\n  b = 2") == (m.title, task.setup_str())
    assert (task, None, None, "D", 1) == (m.task_spec, m.metadata, m.env, m.description, m.num_threads)
    assert "Interquartile range is 60.0% of the median" in repr(m) and "IQR:" in repr(m)
    assert "IQR:" not in repr(Measurement(1, [1.0, 1.0, 1.0], task))
    assert Timer("x + 1", globals={"x": 1}, label="L").timeit(2).task_spec == TaskSpec("x + 1", "pass", label="L")
