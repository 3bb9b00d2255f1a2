"""What tracing can say."""


class TracingCheckError(RuntimeError):
    """The trace, run again on the example inputs, gave something else than the function."""


class TracerWarning(UserWarning):
    """A value left the tensors while tracing: the trace has it as a constant."""
