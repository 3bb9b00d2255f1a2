"""datasets.utils: what is fetched is checked, what is unpacked stays where it belongs."""

import gzip
import io
import json
import os
import tarfile
import zipfile

import facula
import pytest
from facula.vision import datasets
from facula.vision.datasets import utils
from facula.vision.utils import save_image

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


@pytest.fixture(params=["as it is", "without filters"])
def tarfiles(request, monkeypatch):
    """tarfile as this Python has it, and as it was before it had filters (3.10.12, 3.11.4)."""
    if request.param == "without filters":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


@pytest.mark.usefixtures("tarfiles")
def test_members_and_links_are_unpacked(tmp_path):
    path = packed(tmp_path / "a.tar", "w", ["in/one.bin"])
    with tarfile.open(path, "a") as tar:
        for name, kind, to in (("in/soft", tarfile.SYMTYPE, "one.bin"), ("hard", tarfile.LNKTYPE, "in/one.bin")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, to
            tar.addfile(link)
    utils.extract_archive(path, tmp_path / "out")

    assert [DATA] * 3 == [(tmp_path / "out" / name).read_bytes() for name in ("in/one.bin", "in/soft", "hard")]


@pytest.mark.usefixtures("tarfiles")
@pytest.mark.parametrize("kind, to", [(tarfile.SYMTYPE, "../../outside"), (tarfile.LNKTYPE, "../outside"), (tarfile.FIFOTYPE, "")])
def test_links_that_lead_outside_and_pipes_are_refused(kind, to, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        member = tarfile.TarInfo("in")
        member.type, member.linkname = kind, to
        tar.addfile(member)
    with pytest.raises(tarfile.TarError):
        utils.extract_archive(tmp_path / "a.tar", tmp_path / "out")


@pytest.mark.usefixtures("tarfiles")
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


XML = """<annotation><folder>VOC2012</folder><size><width>6</width><height>4</height></size><segmented> </segmented>
<object><name>cat</name><bndbox><xmin>1</xmin></bndbox><part><name>a</name></part><part><name>b</name></part></object></annotation>"""


def test_voc_reads_its_folders(tmp_path):
    pytest.importorskip("PIL")
    home = tmp_path / "VOCdevkit" / "VOC2012"
    for folder in ("JPEGImages", "Annotations", "SegmentationClass", "ImageSets/Main", "ImageSets/Segmentation"):
        (home / folder).mkdir(parents=True)
    for folder in ("Main", "Segmentation"):
        (home / "ImageSets" / folder / "val.txt").write_text("one\n")
    save_image(facula.zeros(3, 4, 6), home / "JPEGImages" / "one.jpg")
    save_image(facula.ones(3, 4, 6), home / "SegmentationClass" / "one.png")
    (home / "Annotations" / "one.xml").write_text(XML)
    picture, told = datasets.VOCDetection(tmp_path, image_set="val")[0]
    boxed = {"name": "cat", "bndbox": {"xmin": "1"}, "part": [{"name": "a"}, {"name": "b"}]}

    assert (6, 4) == picture.size
    assert {"folder": "VOC2012", "size": {"width": "6", "height": "4"}, "segmented": "", "object": [boxed]} == told["annotation"]
    assert (6, 4) == datasets.VOCSegmentation(tmp_path, image_set="val", transforms=lambda a, b: (b, a))[0][0].size
    with pytest.raises(ValueError, match="'test' for argument image_set"):
        datasets.VOCDetection(tmp_path, image_set="test")
    with pytest.raises(RuntimeError, match="VOC2009 is no folder"):
        datasets.VOCDetection(tmp_path, "2009")


def test_coco_reads_its_json(tmp_path):
    pytest.importorskip("PIL")
    save_image(facula.zeros(3, 4, 6), tmp_path / "a.png")
    told = [{"id": 1, "image_id": 7, "caption": "black"}, {"id": 2, "image_id": 7, "caption": "dark"}]
    (tmp_path / "a.json").write_text(json.dumps({"images": [{"id": 9, "file_name": "b.png"}, {"id": 7, "file_name": "a.png"}], "annotations": told}))
    data = datasets.CocoDetection(tmp_path, tmp_path / "a.json", transform=lambda picture: picture.size)

    assert [7, 9] == data.ids
    assert ((6, 4), told) == data[0]
    assert ["black", "dark"] == datasets.CocoCaptions(tmp_path, tmp_path / "a.json")[0][1]
    with pytest.raises(ValueError, match="integer"):
        data["a"]
