"""facula train: fits a small network to a data set of pictures and shows how well it does."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import facula
from facula import nn, optim
from facula.utils.data import DataLoader, TensorDataset
from facula.utils.trainer import Checkpoint, Trainer, accuracy

from . import draw
from .progress import Progress

DATA = ("digits", "mnist", "fashion-mnist")
MODELS = ("mlp", "lenet")
_EVALUATION_BATCH = 512


def parser(prog: str) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog=prog, description=__doc__)
    p.add_argument("--data", choices=DATA, default="digits", help="digits comes with the package (default)")
    p.add_argument("--root", default="data", help="folder of the other data sets' files (default: %(default)s)")
    p.add_argument("--download", action="store_true", help="fetch those files if they are missing")
    p.add_argument("--model", choices=MODELS, default="mlp", help="default: %(default)s")
    p.add_argument("--epochs", type=_positive(int), default=10, help="default: %(default)s")
    p.add_argument("--batch-size", type=_positive(int), default=32, help="default: %(default)s")
    p.add_argument("--lr", type=_positive(float), default=3e-3, help="Adam's step size (default: %(default)s)")
    p.add_argument("--decay", type=_positive(float), default=0.9, help="its factor per epoch (default: %(default)s)")
    p.add_argument("--seed", type=_seed, default=0, help="same seed, same numbers (default: %(default)s)")
    p.add_argument("--out", type=Path, help="folder for checkpoint.pt, history.json, curve.png and mistakes.png")
    p.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    return p


def _seed(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or not -(2**63) <= int(text) < 2**64:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of 64 bits")
    return int(text)


def _positive(kind):
    def parse(text: str):
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    parse.__name__ = f"positive {kind.__name__}"
    return parse


def load_data(options):
    """Training and test data set, of one class from facula.vision.datasets."""
    from facula.vision import datasets

    if options.data == "digits":
        return datasets.Digits(train=True), datasets.Digits(train=False)
    kind = {"mnist": datasets.MNIST, "fashion-mnist": datasets.FashionMNIST}[options.data]
    return tuple(kind(options.root, train=train, download=options.download) for train in (True, False))


def standardised(train, test) -> tuple[TensorDataset, TensorDataset]:
    """Pixels with mean 0 and standard deviation 1, measured on the training pictures."""
    pixels = [d.data.to(facula.float32).unsqueeze(1) / 255 for d in (train, test)]
    mean, std = pixels[0].mean().item(), pixels[0].std().item()
    return tuple(TensorDataset((p - mean) / std, d.targets) for p, d in zip(pixels, (train, test)))


def make_model(name: str, side: int, classes: int) -> nn.Module:
    from facula.vision import models

    if name == "mlp":
        return models.mlp(in_features=side * side, hidden=(128,), num_classes=classes)
    return models.lenet(num_classes=classes, image_size=side)


def predict(model: nn.Module, pictures) -> list[int]:
    model.eval()
    with facula.no_grad():
        return [n for part in pictures.split(_EVALUATION_BATCH) for n in model(part).argmax(1).tolist()]


def main(arguments: list[str], prog: str = "facula train") -> int:
    p = parser(prog)
    options = p.parse_args(arguments)
    checkpoint = options.out / "checkpoint.pt" if options.out else None
    if options.resume and (checkpoint is None or not checkpoint.is_file()):
        p.error(f"--resume: there is no {checkpoint or 'checkpoint without --out'}")
    try:
        raw_train, raw_test = load_data(options)
    except (RuntimeError, OSError, ValueError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1

    facula.manual_seed(options.seed)
    train, test = standardised(raw_train, raw_test)
    model = make_model(options.model, raw_train.data.shape[-1], len(raw_train.classes))
    optimizer = optim.Adam(model.parameters(), lr=options.lr)
    decay = optim.lr_scheduler.ExponentialLR(
        optimizer, options.decay
    )  # by the epoch alone: a longer run goes on from a shorter one
    trainer = Trainer(model, optimizer, nn.CrossEntropyLoss(), metrics={"accuracy": accuracy}, scheduler=decay)
    callbacks = [Progress(options.epochs)]
    if checkpoint is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        callbacks.append(Checkpoint(checkpoint))
        if options.resume:
            trainer.load(checkpoint)

    size = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{options.data}: {len(train)} pictures to train on, {len(test)} held out; {options.model}: {size:,} parameters"
    )
    held_out = DataLoader(test, batch_size=_EVALUATION_BATCH)
    start = time.perf_counter()
    trainer.fit(
        DataLoader(train, batch_size=options.batch_size, shuffle=True), options.epochs, callbacks, validation=held_out
    )
    print(f"trained in {time.perf_counter() - start:.1f} s")
    predictions, targets = predict(model, test.tensors[0]), test.tensors[1].tolist()
    if options.out is not None:
        for path, what in write(options.out, trainer.history, raw_test, targets, predictions):
            print(f"{what}: {path}")
    right = sum(t == n for t, n in zip(targets, predictions))
    print(f"test accuracy: {100 * right / len(targets):.2f} %")
    return 0


def write(out: Path, history, raw_test, targets: list[int], predictions: list[int]) -> list[tuple[Path, str]]:
    """History and pictures of the run; (file, what it is) of all that is in `out` afterwards."""
    (out / "history.json").write_text(json.dumps(history, indent=1) + "\n")
    made = [(out / "checkpoint.pt", "checkpoint"), (out / "history.json", "losses and accuracies")]
    if not draw.have_matplotlib():
        print("curve.png and mistakes.png are not drawn: matplotlib is not installed (pip install facula[demo])")
        return made
    draw.draw_curve(history, out / "curve.png")
    draw.draw_mistakes(raw_test.data.numpy(), targets, predictions, raw_test.classes, out / "mistakes.png")
    return [*made, (out / "curve.png", "learning curve"), (out / "mistakes.png", "mistakes")]
