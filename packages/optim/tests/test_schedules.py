"""Every learning rate schedule beside PyTorch over 100 steps."""

import json
import warnings
from pathlib import Path

import pytest
from backend import torch
from cases import SCHEDULES, difference, lines, plateau, schedule

STORED = json.loads((Path(__file__).parent / "stored.json").read_text())


@pytest.mark.parametrize("line", lines(SCHEDULES))
def test_a_schedule_gives_the_stored_rates(line):
    assert difference(STORED[line], schedule(torch, line), 1e-12) is None


@pytest.mark.parametrize("line", lines(SCHEDULES))
def test_a_schedule_agrees_with_pytorch(line):
    other = pytest.importorskip("torch")

    assert difference(schedule(other, line), schedule(torch, line), 1e-14) is None


def test_a_plateau_gives_the_stored_rates():
    assert difference(STORED["plateau"], plateau(torch), 1e-12) is None


@pytest.mark.parametrize("line", [x for x in lines(SCHEDULES) if "lambda" not in x])
def test_a_loaded_schedule_goes_on_where_it_was(line):
    def made():
        optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)
        return optimizer, eval("S." + line, {"S": torch.optim.lr_scheduler, "o": optimizer})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (first, schedule1), (second, schedule2) = made(), made()
        for _ in range(23):
            first.step()
            schedule1.step()
        second.load_state_dict(first.state_dict())
        schedule2.load_state_dict(schedule1.state_dict())
        for _ in range(23):
            for o, s in ((first, schedule1), (second, schedule2)):
                o.step()
                s.step()

    assert schedule1.get_last_lr() == schedule2.get_last_lr()
    assert first.param_groups[0]["lr"] == second.param_groups[0]["lr"]
