"""Whole documents: ``samples/NAME`` beside the value that it is, ``samples/NAME.py``."""

import runpy
from pathlib import Path

import pytest

from sourcemon.parse.feed import read_feed

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name.removesuffix(".py") for path in SAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_the_page_beside_it(name):
    body = (SAMPLES / name).read_bytes()

    page = read_feed(body, url="https://fetched.example/feeds/all", content_type="text/xml")

    assert page == runpy.run_path(str(SAMPLES / f"{name}.py"))["expected"]


def test_every_document_has_its_value():
    documents = {path.name for path in SAMPLES.iterdir() if path.suffix != ".py"}

    assert documents - {"__pycache__"} == set(NAMES)
