"""A sentence is weighed by its words and their order; the weights are learnt from the sentences beside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from extractord.agent.heuristics.statements import language_of
from extractord.agent.heuristics.stating import needs_sign
from extractord.agent.heuristics.weighing import Scales, features, load
from extractord.agent.languages import language

LANGUAGES = language.load()
BY_CODE = {each.code: each for each in LANGUAGES}
SCALES = load()
WEIGH = Path(__file__).parents[2] / "scripts" / "weigh"


def weigh(sentence: str, code: str = "en") -> float:
    return SCALES.weigh(sentence, BY_CODE[code])


def test_the_weights_are_of_the_sentences_beside() -> None:
    done = subprocess.run([sys.executable, WEIGH, "--check"], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_word_that_is_not_known_counts_by_its_form_and_by_what_it_means() -> None:
    found = features("Never ship Zorbs in node_modules!", BY_CODE["en"], frozenset({"never", "in"}))
    assert found >= {
        "en:<begin> never",
        "en:never ~ <cap>",
        "en:in <name>",
        "en:! <end>",
        "<begin> #never",
        "#never>#place",
        "length 1",
    }
    assert not any("ship" in one or "zorbs" in one for one in found)


def test_a_meaning_is_the_same_in_each_language_and_the_words_are_not() -> None:
    english = features("we never guess", BY_CODE["en"], frozenset({"we", "never"}))
    french = features("nous jamais devinons", BY_CODE["fr"], frozenset({"nous", "jamais"}))
    assert {one for one in english & french if one.startswith(("#", "<begin> #"))} >= {"#we", "#we #never"}
    assert not any(one.startswith("en:") for one in french)


def test_a_script_without_spaces_counts_by_its_characters() -> None:
    found = features("别用 var", BY_CODE["zh"], frozenset())
    assert found >= {"zh:<begin> 别 用", "zh:别 用 var <end>"}


@pytest.mark.parametrize(
    ("code", "lasting", "passing"),
    [
        ("en", "The importer for the old catalogue is owned by Petra.", "The importer is broken again."),
        ("de", "Im Frontend wird nur Deutsch angezeigt.", "Kannst du das Frontend kurz starten?"),
        ("fr", "Le code est relu par deux personnes.", "Tu peux relire ce code ?"),
        ("es", "Todos los precios llevan IVA.", "¿Puedes revisar este código?"),
        ("zh", "代码由两个人审核。", "你能审核这段代码吗"),
        ("ja", "コードは二人でレビューします。", "このコードを見てくれる"),
    ],
)
def test_what_lasts_weighs_more_than_what_passes(code: str, lasting: str, passing: str) -> None:
    assert weigh(lasting, code) > weigh(passing, code)


def test_a_language_without_weights_is_never_clear() -> None:
    empty = Scales(bias=0.0, clear={}, known={}, weights={})
    assert not empty.is_clear(100.0, BY_CODE["en"])
    assert SCALES.is_clear(100.0, BY_CODE["en"])


def test_what_speaks_against_a_sentence_is_not_outweighed() -> None:
    assert needs_sign("The importer for the old catalogue is owned by Petra, I think.", BY_CODE["en"])
    assert not needs_sign("The importer for the old catalogue is owned by Petra.", BY_CODE["en"])


def test_a_sentence_is_of_the_language_whose_small_words_it_has() -> None:
    found = {
        sentence: language_of(sentence, LANGUAGES)
        for sentence in (
            "Er meint das nicht.",
            "Il ne le dit pas.",
            "We mean it.",
            "我不知道",
            "わからない",
            "xyzzy",
        )
    }
    assert [each.code if each else None for each in found.values()] == ["de", "fr", "en", "zh", "ja", None]
