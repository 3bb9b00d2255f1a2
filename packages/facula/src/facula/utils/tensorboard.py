"""SummaryWriter: event files that TensorBoard reads, written without TensorBoard or protobuf.

An event file is a sequence of records, each: length (u64), masked CRC-32C of the length, data, masked CRC-32C of the data. The data
is an Event message of TensorFlow's event.proto; its few fields are encoded here by hand.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time

import facula

from . import _tensorboard_plugins as plugins
from ._tensorboard_proto import _bytes, _double, _float, _int, _masked_crc, _metadata, _packed, _record, _value  # noqa: F401

__all__ = ["FileWriter", "SummaryWriter"]

# --- summaries ----------------------------------------------------------------------------------------------------------


def _number(value) -> float:
    if hasattr(value, "item"):
        return float(value.item())
    if not isinstance(value, (int, float, complex, str, bytes)):
        raise NotImplementedError(f"add_scalar: got {type(value)}, but a number, NumPy array or torch tensor is expected. Convert it.")
    return float(value)


def _histogram(values, bins: int) -> bytes:
    x = facula.as_tensor(values).detach().to(facula.float64).reshape(-1)
    if not x.numel():
        raise ValueError("add_histogram: the input has no element to count.")
    low, high = x.min().item(), x.max().item()
    if not (low - low == 0 and high - high == 0):
        raise ValueError(f"add_histogram: the range is [{low}, {high}]. Leave out what is not finite.")
    counts = facula.histc(x, bins, low, high if high > low else low + 1).tolist()
    width = (high - low if high > low else 1) / bins
    edges = [low + width * (k + 1) for k in range(bins)]
    statistics = (
        _double(1, low)
        + _double(2, high)
        + _double(3, x.numel())
        + _double(4, x.sum().item())
        + _double(5, (x * x).sum().item())
    )
    return _bytes(5, statistics + _packed(6, edges) + _packed(7, counts))


def _image(img, dataformats: str) -> bytes:
    from facula.vision.utils import _png

    x = facula.as_tensor(img).detach()
    if sorted(dataformats) != sorted(set(dataformats)) or len(dataformats) != x.dim() or set(dataformats) - set("NCHW"):
        raise ValueError(
            f"add_image: dataformats {dataformats!r} for a tensor of {x.dim()} dims. Give one letter of N, C, H, W for each dim."
        )
    if "C" not in dataformats:
        x, dataformats = x.unsqueeze(0), "C" + dataformats
    if "N" in dataformats:
        from facula.vision.utils import make_grid

        x = make_grid(x.permute([dataformats.index(d) for d in "NCHW"]))
        dataformats = "CHW"
    x = x.permute([dataformats.index(d) for d in "HWC"])
    x = x.mul(255).clamp(0, 255).to(facula.uint8) if x.is_floating_point() else x.to(facula.uint8)
    x = (x.expand(-1, -1, 3) if x.shape[2] == 1 else x[:, :, :3]).contiguous()
    height, width, _ = x.shape
    return _bytes(4, _int(1, height) + _int(2, width) + _int(3, 3) + _bytes(4, _png(x.numpy())))


class FileWriter:
    """The file behind a SummaryWriter, for libraries that write summaries which they made themselves.

    >>> import tempfile
    >>> from facula.utils.tensorboard import SummaryWriter
    >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
    ...     print(type(writer.file_writer).__name__)
    FileWriter
    """

    def __init__(self, writer: SummaryWriter) -> None:
        self._writer = writer

    def add_summary(self, summary: bytes, global_step=None, walltime=None) -> None:
        """A Summary as tensorboard.summary's functions give it."""
        self._writer._summary(bytes(summary), global_step, walltime)

    def get_logdir(self) -> str:
        """Where the file is."""
        return self._writer.log_dir

    def flush(self) -> None:
        """All that waits goes to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._writer.close()


class SummaryWriter:
    """Writes what a run says to log_dir (runs/<date>_<host> unless given); TensorBoard shows it.

    comment: added to the name of a log_dir that is not given. purge_step: steps from there on, of an earlier run in the same folder, are
    hidden. flush_secs: how long values may wait; max_queue: how many.

    >>> import os, tempfile
    >>> from facula.utils.tensorboard import SummaryWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SummaryWriter(folder) as writer:
    ...         writer.add_scalar("loss", 0.5, 1)
    ...     print(os.listdir(folder)[0][:6])
    events
    """

    def __init__(
        self,
        log_dir=None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step, self.max_queue, self.flush_secs, self.filename_suffix = (
            purge_step,
            max_queue,
            flush_secs,
            filename_suffix,
        )
        self._lock, self._file, self._waiting, self._flushed = threading.Lock(), None, 0, time.monotonic()
        self._children: dict[str, SummaryWriter] = {}
        self._embeddings: dict[tuple, str] = {}
        self._open()

    def _open(self) -> None:
        os.makedirs(self.log_dir, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{id(self)}{self.filename_suffix}"
        self._file = open(os.path.join(self.log_dir, name), "ab")
        self._write(_double(1, time.time()) + _bytes(3, "brain.Event:2"))
        if self.purge_step is not None:  # a session begins: SessionLog.START
            self._write(_double(1, time.time()) + _int(2, self.purge_step) + _bytes(7, _int(1, 1)))

    def _write(self, event: bytes) -> None:
        with self._lock:
            self._file.write(_record(event))
            self._waiting += 1
            if self._waiting >= self.max_queue or time.monotonic() - self._flushed > self.flush_secs:
                self._file.flush()
                self._waiting, self._flushed = 0, time.monotonic()

    def _summary(self, summary: bytes, step, walltime) -> None:
        if self._file is None:
            self._open()
        event = _double(1, time.time() if walltime is None else walltime)
        self._write(event + (b"" if step is None else _int(2, int(step))) + _bytes(5, summary))

    def get_logdir(self) -> str:
        """Where the files are."""
        return self.log_dir

    @property
    def file_writer(self) -> FileWriter | None:
        """The file, None once it is closed."""
        return None if self._file is None else FileWriter(self)

    def _get_file_writer(self) -> FileWriter:
        if self._file is None:
            self._open()
        return FileWriter(self)

    def add_scalar(
        self, tag: str, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False
    ) -> None:
        """One number at a step. new_style: as a tensor, in double_precision if wanted."""
        value = _number(scalar_value)
        if new_style:
            kind, body = (2, _packed(6, [value])) if double_precision else (1, _bytes(5, struct.pack("<f", value)))
            tensor = _int(1, kind) + body
            self._summary(_value(tag, _metadata("scalars") + _bytes(8, tensor)), global_step, walltime)
        else:
            self._summary(_value(tag, _float(2, value)), global_step, walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict, global_step=None, walltime=None) -> None:
        """Several numbers in one chart, each in a folder of its own below log_dir."""
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in self._children:
                self._children[folder] = SummaryWriter(folder, max_queue=self.max_queue, flush_secs=self.flush_secs)
            self._children[folder].add_scalar(main_tag, value, global_step, walltime)

    def add_histogram(
        self, tag: str, values, global_step=None, bins: int | str = "tensorflow", walltime=None, max_bins=None
    ) -> None:
        """How often values of a tensor fall into each of `bins` equal intervals (64 for a rule by name), at most max_bins."""
        if bins in ("tensorflow", "auto", "fd"):  # rules that choose a number: 64 here
            bins = 64
        if not isinstance(bins, int) or bins < 1:
            raise ValueError(f"add_histogram: bins is {bins!r}. Give how many.")
        self._summary(_value(tag, _histogram(values, min(bins, max_bins or bins))), global_step, walltime)

    def add_image(self, tag: str, img_tensor, global_step=None, walltime=None, dataformats: str = "CHW") -> None:
        """A picture: floating in [0, 1], or integers in [0, 255]; needs facula-vision."""
        self._summary(_value(tag, _image(img_tensor, dataformats)), global_step, walltime)

    def add_images(self, tag: str, img_tensor, global_step=None, walltime=None, dataformats: str = "NCHW") -> None:
        """Several pictures in a grid."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(self, tag: str, figure, global_step=None, close: bool = True, walltime=None) -> None:
        """A matplotlib figure, or several, as pictures."""
        import numpy

        for one in figure if isinstance(figure, (list, tuple)) else (figure,):
            one.canvas.draw()
            self.add_image(tag, numpy.asarray(one.canvas.buffer_rgba())[:, :, :3].copy(), global_step, walltime, "HWC")
            if close:
                from matplotlib import pyplot

                pyplot.close(one)

    def add_text(self, tag: str, text_string: str, global_step=None, walltime=None) -> None:
        """Text, shown as Markdown."""
        tensor = _int(1, 7) + _bytes(2, _bytes(2, _int(1, 1))) + _bytes(8, text_string)
        self._summary(_value(f"{tag}/text_summary", _metadata("text") + _bytes(8, tensor)), global_step, walltime)

    def add_pr_curve(self, tag: str, labels, predictions, global_step=None, num_thresholds: int = 127, weights=None, walltime=None) -> None:
        """Precision against recall of probabilities for labels 0 and 1, at up to 127 thresholds."""
        self._summary(plugins.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_hparams(self, hparam_dict: dict, metric_dict: dict, hparam_domain_discrete: dict | None = None, run_name=None, global_step=None) -> None:
        """Hyperparameters (numbers, bools, strings) and what came of them, as a run of its own below log_dir."""
        for what, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            if not isinstance(given, dict):
                raise TypeError(f"add_hparams: {what} should be a dictionary, it is a {type(given).__name__}.")
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for summary in plugins.hparams_summaries(hparam_dict, metric_dict, hparam_domain_discrete or {}):
                writer._summary(summary, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag: str = "default", metadata_header=None) -> None:
        """Points (N, D) for the projector, with a label each and a picture (N, C, H, H) each."""
        self._embeddings[tag, global_step] = plugins.embedding_files(self.log_dir, mat, metadata, label_img, global_step, tag, metadata_header)
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write("".join(self._embeddings.values()))

    def add_graph(self, model, input_to_model=None, verbose: bool = False, use_strict_trace: bool = True) -> None:
        """What the model runs on an input (a tensor, or a tuple of arguments): its rows, in the modules that run them.

        verbose: print the module too. use_strict_trace changes nothing: lists and dicts may come out either way.
        """
        if input_to_model is None:
            raise ValueError("add_graph: input_to_model is None. Give an input: the model is run to see what it does.")
        if verbose:
            print(model)
        if self._file is None:
            self._open()
        self._write(_double(1, time.time()) + _bytes(4, plugins.graph_definition(model, input_to_model)))

    def flush(self) -> None:
        """All that waits goes to the file."""
        for writer in (self, *self._children.values()):
            if writer._file is not None:
                writer._file.flush()

    def close(self) -> None:
        """Flush and close; a later add_* opens a new file."""
        for writer in (self, *self._children.values()):
            if writer._file is not None:
                writer._file.close()
                writer._file = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc_info) -> None:
        self.close()
