"""What a thread knows, and work that goes on in another thread knowing the same."""

import threading

_known = []  # every ThreadState


class ThreadState(threading.local):
    """A threading.local whose values follow the work into elsewhere()."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls, *args, **kwargs)
        _known.append(self)
        return self


def elsewhere(work, begin=None):
    """work() in a new thread that has this one's ThreadStates, while this one waits; what it returns or raises. begin: called there first."""
    states = [dict(vars(state)) for state in _known]  # lists in them (stacks of modes) are the same objects: this thread waits
    found, raised = [], []

    def run():
        for state, values in zip(_known, states):
            vars(state).update(values)
        try:
            if begin is not None:
                begin()
            found.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised.pop()
    return found.pop()
