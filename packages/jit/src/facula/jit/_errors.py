"""What tracing can say."""


class TracingCheckError(RuntimeError):
    """The trace, run again on the example inputs, gave something else than the function.

    >>> issubclass(facula.jit.TracingCheckError, Exception)
    True
    """


class TracerWarning(UserWarning):
    """A value left the tensors while tracing: the trace has it as a constant.

    >>> issubclass(facula.jit.TracerWarning, Warning)
    True
    """
