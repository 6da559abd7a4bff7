"""`diskproof schema`: the JSON Schema of the files that a person writes, for editors."""

import json
from typing import Literal

from diskproof.cli.screen import put_json
from diskproof.importers.article_form import ArticleForm
from diskproof.study.model import Study


def schema(of: Literal["study", "article"] = "study") -> None:
    """Print the JSON Schema of study files or articles; editors complete and check with it.

    Parameters
    ----------
    of
        Of which files: studies, or published experiments for `diskproof audit`.

    """
    model = Study if of == "study" else ArticleForm
    put_json(json.dumps(model.model_json_schema(), indent=2) + "\n")
