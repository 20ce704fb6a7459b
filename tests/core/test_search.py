import pytest

from extractord.core.search import Passage, Ranked, Text, passages, ranked, searchable, terms


def texts(*bodies: str) -> list[Text]:
    return [
        Text("user", f"{at}.md", at, searchable(f"{at}.md", body), sure=True)
        for at, body in enumerate(bodies)
    ]


def found(words: str, *bodies: str) -> list[tuple[str, int, int]]:
    return [(one.path, one.terms, one.matches) for one in ranked(texts(*bodies), terms(words))]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("Deploys, on TUESDAYS!", ("deploys", "tuesdays")),
        ("Käse käse kase", ("kase",)),
        ("node.js a+b C++ deploys-on-tuesdays", ("node.js", "a+b", "c++", "deploys-on-tuesdays")),
        ("the what", ("the", "what")),
        ("仓库盘点", ("仓库", "库盘", "盘点")),
        ("倉庫 Tag 库", ("倉庫", "tag", "库")),
        ("これは倉庫", ("は倉", "倉庫")),
        ("\u200bpass\u00adword", ("password",)),
        ("« » … ?! 「」", ()),
        ("", ()),
        (" ,.; ", ()),
    ],
)
def test_words_in_any_script_become_folded_terms(words: str, wanted: tuple[str, ...]) -> None:
    assert terms(words) == wanted


def test_distinct_terms_come_before_matches_and_the_newer_before_the_older() -> None:
    assert found(
        "deploy tuesday", "deploy deploy deploy deploy", "deploy on tuesday", "deploy", "nothing", "deploy"
    ) == [("1.md", 2, 2), ("0.md", 1, 4), ("4.md", 1, 1), ("2.md", 1, 1)]


def test_case_accents_and_scripts_do_not_matter() -> None:
    assert found("STRASSE", "Die Straße") == [("0.md", 1, 1)]
    assert found("kase", "Käse") == [("0.md", 1, 1)]
    assert found("\uff34\uff41\uff42", "tab") == [("0.md", 1, 1)]
    assert found("盘点", "周一在仓库盘点库存", "周一开会") == [("0.md", 1, 1)]
    assert found("คลังสินค้า", "นับคลังสินค้าวันจันทร์")[0][0] == "0.md"


def test_a_short_word_is_found_at_the_beginning_of_words_and_a_longer_one_within() -> None:
    assert found("api", "rapid", "the api", "apis, api_key") == [("2.md", 1, 2), ("1.md", 1, 1)]
    assert found("bestand", "Lagerbestand") == [("0.md", 1, 1)]


def test_a_word_that_occurs_nowhere_is_found_by_its_beginning_and_one_that_does_is_not() -> None:
    assert found("deploying", "We deploy on Tuesdays", "redeployed") == [("0.md", 1, 1)]
    assert found("deploys", "We deploy", "It deploys") == [("1.md", 1, 1)]
    assert found("fact-77", "fact-7") == []


def test_path_name_and_description_are_searched_and_the_keys_of_the_front_matter_are_not() -> None:
    front = "name: stock\ndescription: counted on Mondays\nmetadata:\n  type: project\n  trust: stated"
    text = f"---\n{front}\n---\nBody.\n"
    folded = searchable("places/warehouse.md", text)
    assert [word in folded for word in ("warehouse", "stock", "mondays", "body")] == [True] * 4
    assert [word in folded for word in ("project", "trust", "description")] == [False] * 3
    assert searchable("bad.md", "---\nname: [\n---\nBody\n") == ""


def test_whether_a_memory_may_be_shown_goes_with_its_rank() -> None:
    unsure = Text("user", "a.md", 1, "tabs", sure=False)
    assert ranked([unsure], ["tabs"]) == (Ranked("user", "a.md", 1, 1, sure=False),)


def test_matches_are_shown_with_three_lines_on_either_side_and_those_that_touch_as_one() -> None:
    lines = [f"line {number}" for number in range(30)]
    lines[4], lines[10], lines[20] = "tabs", "Tabs!", "täbs"
    shown, more = passages("\n".join(lines), ["tabs"])
    assert more == 0
    assert shown == (
        Passage(tuple(lines[1:14]), (3, 9)),
        Passage(tuple(lines[17:24]), (3,)),
    )


def test_what_is_left_out_of_a_memory_is_counted_and_a_long_line_is_cut_with_marks() -> None:
    far = "\n".join("tabs" if number % 20 == 0 else "" for number in range(200))
    shown, more = passages(far, ["tabs"])
    assert (len(shown), more) == (5, 5)
    (cut,), more = passages("x" * 1000 + " tabs " + "y" * 1000, ["tabs"])
    (line,) = cut.lines
    assert (len(line), line[0], line[-1], "tabs" in line, cut.matched, more) == (302, "…", "…", True, (0,), 0)
    assert passages("nothing here", ["tabs"]) == ((), 0)
