"""python operator_survey.py [--wide] [--most N] [--dtypes a,b] [--out FILE] REGEX: prints how entries that match differ from PyTorch, one process each.

What a person runs to see everything; test_operator_samples.py holds a sample of it.
"""

import argparse
import collections
import json
import os
import re
import signal
import warnings

import facula
import torch
from operator_compare import OTHERS, PLAIN, of_entry
from operator_samples import DTYPES, entries

SECONDS = 300  # of one entry
SIGNED = [d for d in DTYPES if "uint" not in str(d) or d is torch.uint8]


def apart(work):
    """work() in a process of its own; a crash or a timeout is an answer too."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(SECONDS)
        with os.fdopen(write, "w") as pipe:
            try:
                pipe.write(json.dumps(work()))
            except Exception as error:
                pipe.write(json.dumps({"comparison": [f"{type(error).__name__}: {error}"]}))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    status = os.waitpid(pid, 0)[1]
    return json.loads(text) if not status else {"crash": [f"status {status}"]}


def by_kind(differences):
    """kind -> its texts."""
    found = collections.defaultdict(list)
    for kind, text in differences:
        found[kind].append(text)
    return found


def survey(doc, of_entry, options=(), most=24, dtypes=SIGNED, wanted=lambda op: True):
    """A survey's program: of_entry(op, options) gives (kind, text) of every wanted entry that the command line's regex names, each apart.

    options: name -> what argparse is told of it, for those that are this survey's alone.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("regex")
    parser.add_argument("--most", type=int, default=most, help="samples of one dtype")
    parser.add_argument("--shown", type=int, default=3, help="texts of one kind")
    parser.add_argument("--dtypes", type=lambda text: [getattr(torch, n) for n in text.split(",")], default=dtypes)
    parser.add_argument("--out", type=argparse.FileType("w"), help="one JSON object a line: name, differences")
    for name, told in dict(options).items():
        parser.add_argument(name, **told)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    facula.set_num_threads(1)

    clean = total = 0
    for name, op in entries().items():
        if not re.search(options.regex, name) or not wanted(op):
            continue
        found = apart(lambda: by_kind(of_entry(op, options)))  # noqa: B023 - called at once
        total, clean = total + 1, clean + (not found)
        for kind, texts in found.items():
            print(f"{name:32} {kind:18} {len(texts):4}", *texts[: options.shown], sep="\n    ", flush=True)
        if options.out:
            print(json.dumps({"name": name, "found": found}), file=options.out, flush=True)
    print(f"{clean} of {total} entries like PyTorch's")


WIDE = {"--wide": dict(action="store_true", help="methods, in place, out=, non-contiguous arguments and reference samples too")}

if __name__ == "__main__":
    survey(__doc__, lambda op, given: of_entry(op, given.dtypes, given.most, PLAIN | OTHERS if given.wide else PLAIN, given.wide), WIDE)
