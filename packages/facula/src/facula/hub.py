"""Files of weights by URL, and models that a local folder offers in its hubconf.py."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import urllib.request
from urllib.parse import urlparse

import facula

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "load_url", "set_dir"]

_TIMEOUT, _CHUNK = 60, 1 << 20
_folder: str | None = None
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # where a file's name tells its hash: net-1a2b3c4d.pth


def get_dir() -> str:
    """Where downloads are kept: what set_dir said, else hub below TORCH_HOME, XDG_CACHE_HOME/torch or ~/.cache/torch.

    >>> type(facula.hub.get_dir()).__name__
    'str'
    """
    if _folder is not None:
        return _folder
    return os.path.join(_home(), "hub")


def _home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d) -> None:
    """Keep downloads there.

    >>> before = facula.hub.get_dir()
    >>> facula.hub.set_dir("/tmp/hub")
    >>> facula.hub.get_dir()
    '/tmp/hub'
    >>> facula.hub.set_dir(before)
    """
    global _folder
    _folder = os.path.expanduser(os.fspath(d))


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """The bytes at url, in the file dst: whole or not at all. hash_prefix: what their SHA-256 begins with.

    Raises RuntimeError for another hash, urllib.error.URLError where the address does not answer.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_text("here")
    ...     facula.hub.download_url_to_file(pathlib.Path(folder, "a.txt").as_uri(), folder + "/b.txt", progress=False)
    ...     print(open(folder + "/b.txt").read())
    here
    """
    dst = os.path.expanduser(dst)
    digest, done = hashlib.sha256(), 0
    handle, part = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(dst)), suffix=".part")
    try:
        with open(handle, "wb") as file, urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
            while data := answer.read(_CHUNK):
                file.write(data)
                digest.update(data)
                done += len(data)
                if progress:
                    print(f"\r{os.path.basename(dst)}: {done >> 20} MB", end="", file=sys.stderr)
        if progress:
            print(file=sys.stderr)
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        os.replace(part, dst)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location=None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
):
    """What facula.load reads from the file at url, fetched once. check_hash: a name such as net-1a2b3c4d.pth is held to its hash.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facula.save({"w": facula.ones(2)}, folder + "/a.pt")
    ...     print(facula.hub.load_state_dict_from_url(pathlib.Path(folder, "a.pt").as_uri(), folder + "/kept", progress=False))
    {'w': tensor([1., 1.])}
    """
    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found[1] if found else None, progress)
    return facula.load(path, map_location=map_location, weights_only=weights_only)


load_url = load_state_dict_from_url


def _hubconf(repo_or_dir, source: str):
    if source != "local":
        raise ValueError(
            f"hub: source={source!r} would fetch and run code; Facula runs what is already there: source='local' with a folder."
        )
    path = os.path.join(os.path.expanduser(os.fspath(repo_or_dir)), "hubconf.py")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub: {path} is not there. Give a folder with a hubconf.py.")
    sys.path.insert(0, os.path.dirname(path))
    try:
        spec = importlib.util.spec_from_file_location("hubconf", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(os.path.dirname(path))
    missing = [d for d in getattr(module, "dependencies", []) if importlib.util.find_spec(d) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module, name: str):
    found = getattr(module, name, None)
    if not callable(found) or name.startswith("_"):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


# force_reload, skip_validation, trust_repo, verbose: of code that is fetched, which none is
def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True, *, source: str = "local"):  # noqa: A001 - PyTorch's name
    """Names of what the folder's hubconf.py offers.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "hubconf.py").write_text("def three(): return 3")
    ...     print(facula.hub.list(folder, source="local"))
    ['three']
    """
    module = _hubconf(github, source)
    return [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]


def help(github, model: str, force_reload=False, skip_validation=False, trust_repo="check", *, source: str = "local"):  # noqa: A001 - PyTorch's name
    """The docstring of one of them.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "hubconf.py").write_text("def three(): 'The number 3.'; return 3")
    ...     print(facula.hub.help(folder, "three", source="local"))
    The number 3.
    """
    return _entry(_hubconf(github, source), model).__doc__


def load(
    repo_or_dir, model: str, *args, source: str = "local", trust_repo="check", force_reload=False, verbose=True, skip_validation=False, **kwargs
):
    """What hubconf.py's function of that name gives for the arguments.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "hubconf.py").write_text("def three(): return 3")
    ...     print(facula.hub.load(folder, "three", source="local"))
    3
    """
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)
