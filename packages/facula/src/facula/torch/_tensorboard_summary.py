"""torch.utils.tensorboard.summary: what loggers of other libraries build themselves and hand to the file writer."""

from __future__ import annotations

from facula.utils._tensorboard_plugins import hparams_summaries

__all__ = ["hparams"]


class Summary(bytes):
    """A message of TensorBoard's format Summary."""

    def SerializeToString(self) -> bytes:  # the name that protobuf's messages have
        return bytes(self)


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None) -> tuple[Summary, Summary, Summary]:
    """The experiment with its hyperparameters and metrics, a session with these values, and its end.

    >>> len(hparams({"lr": 0.1}, {"loss": 0.0}))
    3
    """
    for what, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(given, dict):
            raise TypeError(f"hparams: {what} should be a dictionary, it is a {type(given).__name__}.")
    experiment, begin, end = (Summary(s) for s in hparams_summaries(hparam_dict, metric_dict, hparam_domain_discrete or {}))
    return experiment, begin, end
