"""Each check of every registry fails for its reason and passes a sound subject: none is without a case."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from diskproof.audit import registry
from diskproof.audit.check import Check
from diskproof.audit.registry import (
    CONFIGURATION_CHECKS,
    RESULT_CHECKS,
    RUN_CHECKS,
    TRIAL_CHECKS,
)
from support.cases import Case
from support.cases.configurations import CONFIGURATION_CASES
from support.cases.results import RESULT_CASES
from support.cases.runs import RUN_CASES
from support.cases.trials import TRIAL_CASES

TABLES: dict[str, tuple[Sequence[Check[Any]], Sequence[Case[Any]]]] = {
    "trial": (TRIAL_CHECKS, TRIAL_CASES),
    "result": (RESULT_CHECKS, RESULT_CASES),
    "run": (RUN_CHECKS, RUN_CASES),
    "configuration": (CONFIGURATION_CHECKS, CONFIGURATION_CASES),
}
"""Every registry beside its cases: what is added to the one must be added to the other."""

CASES = [case for _, cases in TABLES.values() for case in cases]


@pytest.mark.parametrize("subject", TABLES)
def test_every_check_has_a_case_of_its_own(subject: str) -> None:
    checks, cases = TABLES[subject]
    assert sorted(case.check.name for case in cases) == sorted(check.name for check in checks)


def test_no_registry_is_without_cases() -> None:
    told = {name for name in vars(registry) if name.endswith("_CHECKS")}
    assert told == {f"{subject.upper()}_CHECKS" for subject in TABLES}


def test_no_two_checks_share_a_name() -> None:
    names = [one.name for checks, _ in TABLES.values() for one in checks]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("check", [case.check for case in CASES], ids=lambda check: check.name)
def test_every_check_says_why_what_to_do_and_who_says_so(check: Check[Any]) -> None:
    assert check.reason.endswith(".")
    assert check.remedy
    assert check.source


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check.name)
def test_it_fails_for_its_reason(case: Case[Any]) -> None:
    outcome = case.check.outcome(case.fails)
    assert [one.message.text for one in outcome.problems if re.search(case.says, one.message.text)], outcome


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check.name)
def test_a_sound_subject_passes(case: Case[Any]) -> None:
    outcome = case.check.outcome(case.passes)
    assert (outcome.state, outcome.problems) == ("passed", ())
