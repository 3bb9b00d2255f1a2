"""oneDNN: absent; convolutions are our own."""


def is_available():
    """Is it there?"""
    return False

enabled = False  # kept as set
