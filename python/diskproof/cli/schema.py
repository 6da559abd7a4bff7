"""`diskproof schema`: the JSON Schema of study files, for editors."""

import json

from diskproof.cli.screen import put_json
from diskproof.study.model import Study


def schema() -> None:
    """Print the JSON Schema of study files; editors complete and check with it."""
    put_json(json.dumps(Study.model_json_schema(), indent=2) + "\n")
