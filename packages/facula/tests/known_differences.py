"""The tables of known differences are exact: what differs stands in them, and nothing else does."""


def assert_only_known_differ(found, known):
    """found: kind of difference -> text; known: the kinds that may and must differ."""
    unknown = [f"{kind}: {text}" for kind, text in found.items() if kind not in known]
    gone = known.keys() - found.keys()

    assert not unknown, unknown
    assert not gone, f"no longer different, take that out of KNOWN: {sorted(gone)}"
