"""datasets.utils: what is fetched is checked, what is unpacked stays where it belongs."""

import gzip
import io
import os
import tarfile
import zipfile

import pytest
from facula.vision.datasets import utils

DATA = b"pictures" * 100


def packed(path, mode, members):
    with tarfile.open(path, mode) as tar:
        for name in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(DATA)
            tar.addfile(entry, io.BytesIO(DATA))
    return path


def test_a_file_is_fetched_once_and_checked(tmp_path):
    source = tmp_path / "source.bin"
    source.write_bytes(DATA)
    md5 = utils.calculate_md5(source, chunk_size=7)
    root = tmp_path / "deep" / "root"
    with pytest.raises(RuntimeError, match="corrupted.*source.bin.*0000 expected"):
        utils.download_url(source.as_uri(), root, md5="0000")
    assert [] == os.listdir(root)

    utils.download_url(source.as_uri(), root, "kept.bin", md5)
    utils.download_url("file:///nonsuch", root, "kept.bin", md5)  # it is there: nothing is asked for

    assert utils.check_md5(root / "kept.bin", md5) and utils.check_integrity(root / "kept.bin", md5)
    assert not utils.check_integrity(root / "kept.bin", "0000") and not utils.check_integrity(root / "other")
    with pytest.raises(OSError):
        utils.download_url("file:///nonsuch", root)


@pytest.mark.parametrize("name, mode", [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tgz", "w:gz"), ("a.tbz2", "w:bz2"), ("a.tar.xz", "w:xz")])
def test_tar_files_are_unpacked(tmp_path, name, mode):
    path = packed(tmp_path / name, mode, ["in/one.bin"])
    utils.extract_archive(path, tmp_path / "out", remove_finished=True)

    assert DATA == (tmp_path / "out" / "in" / "one.bin").read_bytes()
    assert not path.exists()


def test_zip_files_and_compressed_ones_are_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("one.bin", DATA)
    (tmp_path / "b.bin.gz").write_bytes(gzip.compress(DATA))
    utils.download_and_extract_archive((tmp_path / "a.zip").as_uri(), tmp_path / "got", tmp_path / "out")

    assert DATA == (tmp_path / "out" / "one.bin").read_bytes()
    assert tmp_path / "b.bin" == utils.extract_archive(tmp_path / "b.bin.gz")
    assert str(tmp_path / "b.bin") == utils.extract_archive(str(tmp_path / "b.bin.gz"))
    assert DATA == (tmp_path / "b.bin").read_bytes()
    for name in ("nothing", "a.rar"):
        with pytest.raises(RuntimeError, match="suffix"):
            utils.extract_archive(tmp_path / name)


def test_members_that_lead_outside_are_refused(tmp_path):
    path = packed(tmp_path / "a.tar", "w", ["../outside.bin"])
    with pytest.raises(tarfile.TarError):
        utils.extract_archive(path, tmp_path / "out")

    assert not (tmp_path / "outside.bin").exists()


def test_files_and_folders_are_listed(tmp_path):
    for name in ("a.png", "b.jpg", "c.txt"):
        (tmp_path / name).touch()
    (tmp_path / "d.png").mkdir()

    assert ["a.png"] == utils.list_files(tmp_path, ".png")
    assert [str(tmp_path / "a.png"), str(tmp_path / "b.jpg")] == sorted(utils.list_files(tmp_path, (".png", ".jpg"), prefix=True))
    assert ["d.png"] == utils.list_dir(tmp_path)
    assert [str(tmp_path / "d.png")] == utils.list_dir(tmp_path, prefix=True)


def test_words_are_verified():
    assert "train" == utils.verify_str_arg("train", "split", ("train", "test"))
    with pytest.raises(ValueError, match="'val' for argument split.*'train', 'test'"):
        utils.verify_str_arg("val", "split", ("train", "test"))
    with pytest.raises(ValueError, match="type str for argument split.*int"):
        utils.verify_str_arg(3, "split")
    with pytest.raises(ValueError, match="mine"):
        utils.verify_str_arg("val", "split", ("train",), "mine")
