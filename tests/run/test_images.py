"""Loaded data sets that several runs keep in one folder."""

from pathlib import Path

from diskproof.run.dataset import FACTS, ImageFacts, _give_name
from diskproof.system.own_folder import OwnFolder

COMPLETE = ImageFacts(data_bytes=1, rows=1, load_s=1.0).model_dump_json()


def test_of_two_that_load_one_data_set_the_first_gives_it(tmp_path: Path) -> None:
    image = tmp_path / "image"
    made = {name: OwnFolder.make(tmp_path / name, name) for name in ("damaged", "first", "second")}
    for name, own in made.items():
        (own.path / FACTS).write_text("{" if name == "damaged" else COMPLETE)
        (own.path / "by").write_text(name)
    for name, kept in [("damaged", "damaged"), ("first", "first"), ("second", "first")]:
        _give_name(made[name], image)
        assert (image / "by").read_text() == kept
    assert [*tmp_path.iterdir()] == [image]
