"""Files of data sets: fetched, checked, unpacked and listed, under torchvision's names."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import re
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlparse

__all__ = [
    "calculate_md5", "check_integrity", "check_md5", "download_and_extract_archive", "download_file_from_google_drive", "download_url",
    "extract_archive", "iterable_to_str", "list_dir", "list_files", "verify_str_arg",
]  # fmt: skip

USER_AGENT = "facula-vision"
_SECONDS = 60
_OPENERS = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_ZIPPED = {".bz2": zipfile.ZIP_BZIP2, ".xz": zipfile.ZIP_LZMA}
_SHORT = {".tbz": (".tar", ".bz2"), ".tbz2": (".tar", ".bz2"), ".tgz": (".tar", ".gz")}


def calculate_md5(fpath: str | os.PathLike, chunk_size: int = 1024 * 1024) -> str:
    """The file's MD5, in hexadecimal; read in pieces of chunk_size bytes.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     facula.vision.datasets.utils.calculate_md5(file.name)
    'd41d8cd98f00b204e9800998ecf8427e'
    """
    digest = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            digest.update(chunk)
    return digest.hexdigest()


def check_md5(fpath: str | os.PathLike, md5: str, **kwargs) -> bool:
    """Whether that is the file's MD5; kwargs go to calculate_md5.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     facula.vision.datasets.utils.check_md5(file.name, "d41d8cd98f00b204e9800998ecf8427e")
    True
    """
    return md5 == calculate_md5(fpath, **kwargs)


def check_integrity(fpath: str | os.PathLike, md5: str | None = None) -> bool:
    """Whether the file is there, and has that MD5 where one is given.

    >>> facula.vision.datasets.utils.check_integrity("nowhere")
    False
    """
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, hops: int) -> None:
        self.max_redirections = hops


def _target(root, filename, fallback: str) -> str:
    """Where the file goes; the folder is there afterwards."""
    root = os.path.expanduser(root)
    os.makedirs(root, exist_ok=True)
    return os.fspath(os.path.join(root, filename or fallback))


def _drive_id(url: str) -> str | None:
    parts = urlparse(url)
    found = re.match(r"/file/d/([^/]*)", parts.path) if re.match(r"(drive|docs)[.]google[.]com", parts.netloc) else None
    return found[1] if found else None


def download_url(url: str, root: str | os.PathLike, filename: str | os.PathLike | None = None, md5: str | None = None, max_redirect_hops: int = 3) -> None:
    """Fetch url into the folder root, under filename or the url's last part, unless it is there with that MD5; whole or not at all.

    Raises RuntimeError for another MD5, RecursionError for more redirections than max_redirect_hops,
    urllib.error.URLError where the address does not answer. What fails over https is not tried again without encryption.

    >>> import os, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_text("picture")
    ...     facula.vision.datasets.utils.download_url(pathlib.Path(folder, "a.txt").as_uri(), folder, "b.txt")
    ...     print(sorted(os.listdir(folder)))
    ['a.txt', 'b.txt']
    """
    path = _target(root, filename, os.path.basename(url))
    if check_integrity(path, md5):
        return
    request = urllib.request.Request(url, headers={"User-Agent": USER_AGENT})
    try:
        response = urllib.request.build_opener(_Redirects(max_redirect_hops)).open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        if "infinite loop" in error.msg:  # what urllib calls more hops than it may make
            raise RecursionError(f"download_url: {url} exceeded {max_redirect_hops} redirects. The last points to {error.url}.") from error
        raise
    with response:
        drive = _drive_id(response.url)
        if drive is None:
            handle, part = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
            try:
                with open(handle, "wb") as file:
                    shutil.copyfileobj(response, file)
                _check(part, md5, url)
                os.replace(part, path)
            finally:
                if os.path.exists(part):
                    os.unlink(part)
    if drive is not None:
        download_file_from_google_drive(drive, root, filename or os.path.basename(url), md5)


def _check(path: str, md5: str | None, source: str) -> None:
    if not check_integrity(path, md5):
        found = f"its md5 is {calculate_md5(path)}, {md5} expected" if os.path.isfile(path) else "nothing came"
        raise RuntimeError(f"File not found or corrupted: {source}: {found}.")


def download_file_from_google_drive(file_id: str, root: str | os.PathLike, filename: str | os.PathLike | None = None, md5: str | None = None) -> None:
    """Fetch Google Drive's file of that id into root, by the package gdown. Raises RuntimeError without it, and for another MD5."""
    try:
        import gdown
    except ModuleNotFoundError as error:
        raise RuntimeError("To download files from GDrive, 'gdown' is required. You can install it with 'pip install gdown'.") from error
    path = _target(root, filename, file_id)
    if not check_integrity(path, md5):
        gdown.download(id=file_id, output=path, quiet=False, user_agent=USER_AGENT)
        _check(path, md5, file_id)


def _file_type(path) -> tuple[str, str | None, str | None]:
    """(the suffix, ".tar" or ".zip" or None, the compression or None): what a file's name says of it."""
    suffixes = Path(path).suffixes
    if not suffixes:
        raise RuntimeError(f"File '{path}' has no suffixes that could be used to detect the archive type and compression.")
    last, before = suffixes[-1], suffixes[-2] if len(suffixes) > 1 else None
    if last in _SHORT:
        return last, *_SHORT[last]
    if last in (".tar", ".zip"):
        return last, last, None
    if last in _OPENERS:
        return (before + last, before, last) if before in (".tar", ".zip") else (last, None, last)
    known = sorted({".tar", ".zip", *_SHORT, *_OPENERS})
    raise RuntimeError(f"Unknown compression or archive type: '{last}'.\nKnown suffixes are: '{known}'.")


def _unpack(tar: tarfile.TarFile, to_path: str | Path) -> None:
    """All members below to_path. Raises tarfile.TarError for one that leads outside of it, or is neither a file, a folder nor a link."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(to_path, filter="data")
        return
    root = os.path.realpath(to_path)  # Python 3.10 before 3.10.12, 3.11 before 3.11.4
    for member in tar.getmembers():
        ends = [os.path.join(root, member.name)]
        if member.issym():
            ends.append(os.path.join(os.path.dirname(ends[0]), member.linkname))
        elif member.islnk():
            ends.append(os.path.join(root, member.linkname))
        elif not (member.isfile() or member.isdir()):
            raise tarfile.ExtractError(f"extract_archive: {member.name!r} is neither a file, a folder nor a link. Unpack it by hand.")
        for end in map(os.path.realpath, ends):
            if end != root and not end.startswith(os.path.join(root, "")):
                raise tarfile.ExtractError(f"extract_archive: {member.name!r} leads outside of {os.fspath(to_path)!r}, to {end!r}. Unpack it by hand.")
        tar.extract(member, to_path)


def extract_archive(from_path: str | os.PathLike, to_path: str | os.PathLike | None = None, remove_finished: bool = False):
    """Unpack a .tar, .zip or compressed file, as its name tells, into to_path or its own folder: the path of what came out.

    A compressed file that is no archive loses its suffix. remove_finished: the packed file goes.
    Members of a tar file that would land outside of to_path, and links and devices that would, are refused (tarfile's filter "data").

    Raises RuntimeError for a name that tells of nothing known.

    >>> import os, pathlib, shutil, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_text("picture")
    ...     archive = shutil.make_archive(folder + "/data", "zip", folder, "a.txt")
    ...     _ = facula.vision.datasets.utils.extract_archive(archive, folder + "/out")
    ...     print(os.listdir(folder + "/out"))
    ['a.txt']
    """
    to_path = os.path.dirname(from_path) if to_path is None else to_path
    suffix, archive, compression = _file_type(from_path)
    if archive is None:
        to_path = os.path.join(to_path, os.path.basename(from_path).replace(suffix, ""))
        with _OPENERS[compression](from_path, "rb") as packed, open(to_path, "wb") as file:
            shutil.copyfileobj(packed, file)
    elif archive == ".tar":
        with tarfile.open(from_path, f"r:{compression[1:]}" if compression else "r") as tar:
            _unpack(tar, to_path)
    else:
        with zipfile.ZipFile(from_path, "r", compression=_ZIPPED[compression] if compression else zipfile.ZIP_STORED) as packed:
            packed.extractall(to_path)
    if remove_finished:
        os.remove(from_path)
    return os.fspath(to_path) if isinstance(from_path, str) else Path(to_path)


def download_and_extract_archive(
    url: str,
    download_root: str | os.PathLike,
    extract_root: str | os.PathLike | None = None,
    filename: str | os.PathLike | None = None,
    md5: str | None = None,
    remove_finished: bool = False,
) -> None:
    """download_url into download_root, then extract_archive into extract_root, or there.

    >>> import os, pathlib, shutil, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_text("picture")
    ...     archive = shutil.make_archive(folder + "/data", "zip", folder, "a.txt")
    ...     facula.vision.datasets.utils.download_and_extract_archive(pathlib.Path(archive).as_uri(), folder + "/root")
    ...     print(sorted(os.listdir(folder + "/root")))
    ['a.txt', 'data.zip']
    """
    download_root = os.path.expanduser(download_root)
    filename = filename or os.path.basename(url)
    download_url(url, download_root, filename, md5)
    extract_archive(os.path.join(download_root, filename), download_root if extract_root is None else extract_root, remove_finished)


def _listed(root, wanted, prefix: bool) -> list[str]:
    root = os.path.expanduser(root)
    names = [n for n in os.listdir(root) if wanted(os.path.join(root, n))]
    return [os.path.join(root, n) for n in names] if prefix is True else names


def list_dir(root: str | os.PathLike, prefix: bool = False) -> list[str]:
    """Names of the folders in root, after root's own where prefix.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(folder + "/cats")
    ...     print(facula.vision.datasets.utils.list_dir(folder))
    ['cats']
    """
    return _listed(root, os.path.isdir, prefix)


def list_files(root: str | os.PathLike, suffix: str | tuple[str, ...], prefix: bool = False) -> list[str]:
    """Names of the files in root that end in suffix, or in one of them; after root's own where prefix.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.png").write_text("")
    ...     print(facula.vision.datasets.utils.list_files(folder, ".png"))
    ['a.png']
    """
    return _listed(root, lambda path: os.path.isfile(path) and path.endswith(suffix), prefix)


def iterable_to_str(iterable: Iterable) -> str:
    """The items, each quoted, between commas.

    >>> iterable_to_str(("train", "test"))
    "'train', 'test'"
    """
    return "'" + "', '".join(map(str, iterable)) + "'"


def verify_str_arg(value, arg: str | None = None, valid_values: Iterable | None = None, custom_msg: str | None = None):
    """value, where it is a str, and one of valid_values if they are given; else ValueError, with custom_msg for a value that is not among them.

    >>> facula.vision.datasets.utils.verify_str_arg("train", "split", ("train", "test"))
    'train'
    """
    if not isinstance(value, str):
        of = f" for argument {arg}" if arg is not None else ""
        raise ValueError(f"Expected type str{of}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        raise ValueError(custom_msg or f"Unknown value '{value}' for argument {arg}. Valid values are {{{iterable_to_str(valid_values)}}}.")
    return value
