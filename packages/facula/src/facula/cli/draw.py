"""Pictures of a training run, with matplotlib (the extra "demo")."""

from __future__ import annotations

from pathlib import Path

_MISTAKES = 24  # at most so many are drawn, 8 in a row
_COLUMNS = 8


def have_matplotlib() -> bool:
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")  # files only: a display may be missing
    return True


def draw_curve(history: list[dict[str, float]], path: Path) -> None:
    """Loss and accuracy by epoch, of training and held-out data."""
    from matplotlib import pyplot

    epochs = range(1, len(history) + 1)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for axis, name, factor, unit in ((axes[0], "loss", 1, ""), (axes[1], "accuracy", 100, " (%)")):
        for key, label in ((name, "training"), (f"val_{name}", "held out")):
            if key in history[0]:
                axis.plot(epochs, [factor * logs[key] for logs in history], marker="o", markersize=3, label=label)
        axis.set_xlabel("epoch")
        axis.set_ylabel(name + unit)
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_mistakes(pictures, targets, predictions, classes: list[str], path: Path) -> None:
    """The first wrongly classified pictures, each with what it is and what it was taken for."""
    from matplotlib import pyplot

    wrong = [i for i, (t, p) in enumerate(zip(targets, predictions)) if t != p][:_MISTAKES]
    rows = max(1, -(-len(wrong) // _COLUMNS))
    figure, axes = pyplot.subplots(rows, _COLUMNS, figsize=(_COLUMNS * 1.2, rows * 1.5), layout="constrained")
    for axis in axes.flat:
        axis.axis("off")
    for axis, i in zip(axes.flat, wrong):
        axis.imshow(pictures[i], cmap="gray_r")
        axis.set_title(f"{classes[targets[i]]}, not {classes[predictions[i]]}", fontsize=8)
    figure.suptitle(
        f"{sum(t != p for t, p in zip(targets, predictions))} of {len(targets)} held-out pictures are wrong"
    )
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
