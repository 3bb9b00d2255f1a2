from pathlib import Path

import facula
import pytest
from facula import nn, optim
from facula.utils.data import DataLoader, TensorDataset
from facula.utils.trainer import Callback, Checkpoint, EarlyStopping, Trainer, accuracy


def problem(n=48):
    generator = facula.Generator().manual_seed(1)
    x = facula.randn(n, 4, generator=generator)
    return TensorDataset(x, (x.sum(1) > 0).to(facula.int64))


def trainer(seed=0, scheduled=False):
    facula.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 2))
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 2) if scheduled else None
    return Trainer(model, optimizer, nn.CrossEntropyLoss(), metrics={"accuracy": accuracy}, scheduler=scheduler)


def numbers(history):
    return [{name: value for name, value in logs.items() if name != "samples_per_second"} for logs in history]


def loader(**options):
    return DataLoader(problem(), batch_size=10, shuffle=True, **options)


def test_fit_learns_and_records_every_epoch():
    history = trainer().fit(loader(), 12, validation=DataLoader(problem(), 20))

    assert 12 == len(history)
    assert {"loss", "accuracy", "val_loss", "val_accuracy", "samples_per_second"} == set(history[0])
    assert history[-1]["loss"] < history[0]["loss"] / 2
    assert history[-1]["val_accuracy"] > 0.9


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("own_generator", [False, True])
def test_a_resumed_fit_gives_the_numbers_of_an_uninterrupted_one(tmp_path, scheduled, own_generator):
    def batches():
        return loader(generator=facula.Generator().manual_seed(3) if own_generator else None)

    whole = trainer(scheduled=scheduled)
    whole.fit(batches(), 5)

    first = trainer(scheduled=scheduled)
    first.fit(batches(), 2, [Checkpoint(tmp_path / "state.pt")])
    second = trainer(seed=99, scheduled=scheduled)
    second.load(tmp_path / "state.pt")
    second.fit(batches(), 5)

    assert numbers(whole.history) == numbers(second.history)
    for expected, actual in zip(whole.model.parameters(), second.model.parameters()):
        assert facula.equal(expected, actual)


def test_evaluate_weighs_batches_by_their_size_and_leaves_the_mode():
    t = trainer()

    together = t.evaluate(DataLoader(problem(), 48))
    apart = t.evaluate(DataLoader(problem(), 47))

    assert t.model.training
    assert together == pytest.approx(apart, rel=1e-5)


def test_early_stopping_waits_and_stops():
    class Rising(Callback):
        def on_epoch_end(self, trainer, logs):
            logs["val_loss"] = float(trainer.epoch)

    t = trainer()
    t.fit(loader(), 10, [Rising(), EarlyStopping(patience=2)])

    assert 3 == t.epoch


def test_checkpoint_keeps_the_best(tmp_path):
    class Dip(Callback):
        def on_epoch_end(self, trainer, logs):
            logs["val_loss"] = abs(trainer.epoch - 2.0)

    t = trainer()
    t.fit(loader(), 4, [Dip(), Checkpoint(tmp_path / "best.pt", monitor="val_loss")])
    best = trainer()
    best.load(tmp_path / "best.pt")

    assert 2 == best.epoch


def test_callbacks_are_called_in_order():
    calls = []

    class Spy(Callback):
        def on_fit_begin(self, trainer, loader):
            calls.append("fit")

        def on_epoch_begin(self, trainer):
            calls.append("epoch")

        def on_batch_end(self, trainer, logs):
            calls.append(sorted(logs))

        def on_epoch_end(self, trainer, logs):
            calls.append("epoch end")

        def on_fit_end(self, trainer):
            calls.append("fit end")

    trainer().fit(DataLoader(problem(), 24), 1, [Spy()])

    assert ["fit", "epoch", ["accuracy", "loss"], ["accuracy", "loss"], "epoch end", "fit end"] == calls


def test_max_norm_bounds_the_gradient():
    t = trainer()
    t.max_norm = 1e-3
    x, y = problem().tensors
    t.step(x, y)

    assert 1.001e-3 > sum(p.grad.pow(2).sum().item() for p in t.model.parameters()) ** 0.5 > 0.99e-3


@pytest.mark.parametrize(
    "make,error",
    [
        (lambda: EarlyStopping(best="least"), ValueError),
        (lambda: trainer().fit(loader(), 1, [EarlyStopping("val_loss")]), KeyError),
        (lambda: trainer(scheduled=True).load_state_dict(trainer().state_dict()), ValueError),
    ],
)
def test_what_does_not_fit_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_a_save_that_is_interrupted_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    path, saved = tmp_path / "checkpoint.pt", trainer()
    saved.save(path)

    def interrupted(state, target):
        Path(target).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(facula, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        saved.save(path)

    saved.load(path)
