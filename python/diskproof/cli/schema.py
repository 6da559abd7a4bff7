"""`diskproof schema`: the study file's JSON Schema, for editors."""

import json

from diskproof.study.model import Study


def schema() -> None:
    """Print the JSON Schema of study files; editors complete and check with it."""
    print(json.dumps(Study.model_json_schema(), indent=2))
