"""Event files read back by a reader of their format; weights by URL; models of a folder."""

import struct
import zlib

import facula
import pytest
from facula.utils.tensorboard import SummaryWriter, _masked_crc


def fields(data):
    """{field number: [values]} of a protobuf message."""
    found, at = {}, 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return n

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 2:
            size = varint()
            value = data[at : at + size]
            at += size
        else:
            size, form = (8, "<d") if kind == 1 else (4, "<f")
            value = struct.unpack(form, data[at : at + size])[0]
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder):
    (path,) = [p for p in folder.iterdir() if p.is_file()]
    data, at = path.read_bytes(), 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + size]
        assert struct.unpack_from("<I", data, at + 8)[0] == _masked_crc(data[at : at + 8])
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == _masked_crc(body)
        at += 16 + size
        yield fields(body)


def values(folder):
    """(tag, step, Summary.Value) of every summary."""
    for event in events(folder):
        for summary in event.get(5, ()):
            value = fields(fields(summary)[1][0])
            yield value[1][0].decode(), event.get(2, [None])[0], value


def test_checksum_is_crc32c():
    crc = (_masked_crc(b"123456789") - 0xA282EAD8) & 0xFFFFFFFF

    assert 0xE3069283 == (crc << 15 | crc >> 17) & 0xFFFFFFFF


def test_loggers_write_hyperparameters_to_the_file_themselves(tmp_path):
    import facula.torch

    with facula.torch.enabled(shadow=True):
        from torch.utils.tensorboard import SummaryWriter as Writer
        from torch.utils.tensorboard.summary import hparams

        with Writer(tmp_path) as writer:
            for k, summary in enumerate(hparams({"lr": 0.1, "name": "x"}, {"loss": 0.0})):
                (writer.file_writer if k else writer._get_file_writer()).add_summary(summary, 7)
    found = list(values(tmp_path))

    assert ["_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"] == [tag for tag, _, _ in found]
    assert [7, 7, 7] == [step for _, step, _ in found]


def test_a_list_is_no_scalar(tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.raises(NotImplementedError, match="list"):  # PyTorch's class, which libraries catch
        writer.add_scalar("loss", [1.0, 2.0])


def test_scalars_are_written_with_their_steps(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", facula.tensor(1.5) * step, step)
        writer.add_scalar("new", 2, 7, new_style=True)
    first, *rest = events(tmp_path)

    assert [b"brain.Event:2"] == first[3]
    assert [("loss", 0, 0.0), ("loss", 1, 1.5), ("loss", 2, 3.0)] == [
        (t, s, v[2][0]) for t, s, v in values(tmp_path) if t == "loss"
    ]
    assert [2.0] == [struct.unpack("<f", fields(v[8][0])[5][0])[0] for t, _, v in values(tmp_path) if t == "new"]


def test_several_scalars_go_to_folders_of_their_own(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("run/loss", {"train": 1.0, "test": 2.0}, 3)

    assert [("run/loss", 3, 2.0)] == [(t, s, v[2][0]) for t, s, v in values(tmp_path / "run_loss_test")]


def test_histograms_count_everything(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("w", facula.arange(10.0), bins=5)
        with pytest.raises(ValueError, match="inf"):
            writer.add_histogram("w", facula.tensor([1.0, float("inf")]))
    ((tag, _, value),) = values(tmp_path)
    histogram = fields(value[5][0])

    assert [0.0, 9.0, 10.0, 45.0, 285.0] == [histogram[k][0] for k in range(1, 6)]
    assert (2.0,) * 5 == struct.unpack("<5d", histogram[7][0])


def test_images_and_text_are_written(tmp_path):
    pytest.importorskip("facula.vision")
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("picture", facula.tensor([[[0.0, 1.0]]]), 1)
        writer.add_text("note", "*small* torch", 2)
        with pytest.raises(ValueError, match="CHWW"):
            writer.add_image("picture", facula.zeros(1, 2, 3), dataformats="CHWW")
    (_, _, picture), (tag, _, text) = values(tmp_path)
    image = fields(picture[4][0])
    start = image[4][0].index(b"IDAT") + 4

    assert ([1], [2]) == (image[1], image[2])
    assert bytes([0, 0, 0, 0, 255, 255, 255]) == zlib.decompress(image[4][0][start : image[4][0].index(b"IEND") - 8])
    assert ("note/text_summary", b"*small* torch") == (tag, fields(text[8][0])[8][0])


def test_state_dict_by_url_is_fetched_once_and_checked(tmp_path):
    facula.save({"w": facula.arange(3)}, tmp_path / "net-00000000.pth")
    url = (tmp_path / "net-00000000.pth").as_uri()
    state = facula.hub.load_state_dict_from_url(url, model_dir=tmp_path / "cache", progress=False)
    (tmp_path / "net-00000000.pth").write_bytes(b"other")

    assert [0, 1, 2] == state["w"].tolist()
    assert [0, 1, 2] == facula.hub.load_state_dict_from_url(url, model_dir=tmp_path / "cache", progress=False)[
        "w"
    ].tolist()
    with pytest.raises(RuntimeError, match="00000000"):
        facula.hub.load_state_dict_from_url(url, model_dir=tmp_path / "again", progress=False, check_hash=True)
    assert not list((tmp_path / "again").iterdir())


def test_a_folder_offers_models(tmp_path):
    (tmp_path / "hubconf.py").write_text('dependencies = ["facula"]\ndef net(n):\n    "A number."\n    return n + 1\n')

    assert ["net"] == facula.hub.list(tmp_path)
    assert "A number." == facula.hub.help(tmp_path, "net")
    assert 4 == facula.hub.load(tmp_path, "net", 3, source="local", trust_repo=True, force_reload=True, verbose=False)
    with pytest.raises(RuntimeError, match="nonsuch"):
        facula.hub.load(tmp_path, "nonsuch")
    with pytest.raises(ValueError, match="github"):
        facula.hub.load("owner/name", "net", source="github")


def plugin(value):
    """(name, content) of the plugin that shows a value."""
    data = fields(fields(value[9][0])[1][0])
    return data[1][0].decode(), fields(data.get(2, [b""])[0])


def test_precision_and_recall_at_thresholds(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve("pr", [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], 2, num_thresholds=3)
        with pytest.raises(ValueError, match="1.5"):
            writer.add_pr_curve("pr", [1], [1.5])
    ((tag, step, value),) = values(tmp_path)
    tensor = fields(value[8][0])
    numbers = struct.unpack("<18f", tensor[5][0])

    assert ("pr", 2, "pr_curves") == (tag, step, plugin(value)[0])
    assert [6, 3] == [fields(d)[1][0] for d in fields(tensor[2][0])[2]]
    # at 0, 1/2 and 1: true and false positives, true and false negatives, precision, recall
    assert [(2, 1, 0), (2, 1, 0), (0, 1, 2), (0, 1, 2)] == [numbers[3 * k : 3 * k + 3] for k in range(4)]
    assert (0.5, 0.5, 0.0, 1.0, 0.5, 0.0) == numbers[12:]


def test_hyperparameters_are_a_run_of_their_own(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"lr": 0.5, "name": "sgd", "flag": True}, {"loss": 0.25}, {"name": ["sgd", "adam"]}, run_name="r")
        with pytest.raises(ValueError, match="list"):
            writer.add_hparams({"lr": [1]}, {})
    found = {tag: value for tag, _, value in values(tmp_path / "r")}
    experiment = fields(plugin(found["_hparams_/experiment"])[1][2][0])
    given = fields(plugin(found["_hparams_/session_start_info"])[1][3][0])

    assert 0.25 == found["loss"][2][0]
    assert [(b"lr", 3), (b"name", 1), (b"flag", 2)] == [(i[1][0], i[4][0]) for i in map(fields, experiment[4])]
    assert [0.5] == fields(fields(given[1][0])[2][0])[2]
    assert [b"sgd"] == fields(fields(given[1][1])[2][0])[3]


def test_embeddings_are_tables_and_pictures(tmp_path):
    pytest.importorskip("facula.vision")
    points = facula.arange(6.0).reshape(3, 2)
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(points, ["a", "b", "c"], facula.rand(3, 3, 4, 4), global_step=2)
        writer.add_embedding(points, [["a", 1], ["b", 2], ["c", 3]], metadata_header=["n", "k"], tag="x/y")
        with pytest.raises(ValueError, match="2 and 3"):
            writer.add_embedding(points, ["a", "b"])
    config = (tmp_path / "projector_config.pbtxt").read_text()

    assert "0.0\t1.0\n2.0\t3.0\n4.0\t5.0\n" == (tmp_path / "00002/default/tensors.tsv").read_text()
    assert "n\tk\na\t1\nb\t2\nc\t3\n" == (tmp_path / "00000/x%2fy/metadata.tsv").read_text()
    assert b"\x89PNG" == (tmp_path / "00002/default/sprite.png").read_bytes()[:4]
    assert all(f'"{part}"' in config for part in ("default:00002", "00002/default/sprite.png", "00000/x%2fy/tensors.tsv"))
    assert 2 == config.count("embeddings {")


def test_a_graph_has_what_runs_where_it_runs(tmp_path):
    from facula import nn

    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(net, facula.ones(2, 4))
    (graph,) = (fields(e[4][0]) for e in events(tmp_path) if 4 in e)
    nodes = {n[1][0].decode(): [i.decode() for i in n.get(3, [])] for n in map(fields, graph[1])}

    assert ["input/input0", "Sequential/Linear[0]/weight", "Sequential/Linear[0]/bias"] == nodes["Sequential/Linear[0]/linear"]
    assert ["Sequential/Linear[0]/linear"] == nodes["Sequential/ReLU[1]/relu"]
    assert ["Sequential/ReLU[1]/relu"] == nodes["output/output.1"]
    assert not net[0]._forward_hooks
