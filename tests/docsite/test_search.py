"""The search of the docsite that `tests/tools/docsite` has built finds the words that people type."""

import json
from functools import reduce
from pathlib import Path

import pytest
from sphinx.search.en import SearchEnglish

from ansible_collections.slb.fleet.tests.unit.test_documentation import TYPED

INDEX = Path(__file__).resolve().parents[2] / ".cache/docsite/build/html/searchindex.js"


@pytest.fixture(scope="module")
def index():
    return json.loads(INDEX.read_text().removeprefix("Search.setIndex(").removesuffix(")"))


@pytest.mark.parametrize("word", TYPED)
def test_word_that_people_type_is_found(index, word):
    def pages(part):
        found = [index[kind].get(language.stem(part), []) for kind in ("terms", "titleterms")]
        return {page for pages in found for page in (pages if isinstance(pages, list) else [pages])}

    language = SearchEnglish({})
    # The search ignores articles and the like.
    parts = [part for part in language.split(word.lower()) if language.word_filter(part)]
    names = {index["docnames"][page] for page in reduce(set.intersection, map(pages, parts))}
    assert any(name.startswith(("docs/", "README")) for name in names), names
