import pytest

from kindly.text.terms import runs_together, term_words, terms, tokens, whole_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Foxes jumped", ["the", "fox", "jump"]),
        ("running runs stopped cities", ["run", "run", "stop", "citi"]),
        ("using makes happily", ["using", "mak", "happi"]),
        ("renewal agreements", ["renewa", "agreem"]),
        ("class glass bus", ["class", "glass", "bus"]),
        ("read_page", ["read", "pag", "readpage"]),
        ("readPage", ["read", "pag", "readpage"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("os.path.join", ["os", "path", "join", "ospathjoin"]),
        ("__init__", ["init"]),
        ("1,234.5", ["1", "234", "5", "12345"]),
        ("COVID-19 h264", ["covid", "19", "h264"]),
        ("end. Next", ["end", "next"]),
        ("café naïve Straße", ["caf", "naiv", "strass"]),
        ("İstanbul ısı", ["istanb", "isi"]),
        ("Ελλάδας Ἑλλάς", ["ελλαδ", "ελλασ"]),
        ("ёлка Москвы", ["елка", "москв"]),
        ("والكتاب بالمدرسة كتابها", ["كتاب", "مدرس", "كتاب"]),
        ("कितने अंक", ["कितने", "अंक"]),
        ("डिफ़ेंस", ["डिफें"]),
        ("東京都", ["東京", "京都"]),
        ("字", ["字"]),
        ("한국어", ["한국", "국어"]),
        ("がぎ ｱﾊﾟｰﾄ", ["がぎ", "アパ", "パー", "ート"]),
        ("ก้าวไป", ["ก้า", "้าว", "าวไ", "วไป"]),
        ("Python3版", ["python", "版"]),
        ("第3章", ["第", "3", "章"]),
        ("ﬁne x²", ["fin", "x2"]),
        ("\"quoted\" 'words'", ["quot", "word"]),
        ("", []),
        ("… — !", []),
    ],
    ids=lambda value: value if isinstance(value, str) and value else None,
)
def test_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_terms_can_be_joined_by_spaces_and_quoted() -> None:
    text = 'a\'b "c" d-e f/g h\\i {j} [k] l*m n%o 東京\u3000都 a\u00a0b don’t x_y.z'

    assert not set(" \t'\"*()-/\\%’\u3000\u00a0") & set("".join(terms(text)))


def test_endless_words_are_bounded() -> None:
    assert max(map(len, terms("9" * 10_000 + " " + "a_" * 10_000))) <= 64


def test_ascii_and_other_text_are_cut_alike() -> None:
    text = "See os.path, read_page(1,234.5) and e.g. v1.2.3 of snake__case."

    assert tokens(text + "é")[: len(tokens(text)) - 1] == tokens(text)[:-1]


def test_term_comes_with_its_word() -> None:
    assert term_words("Agreements") == (("agreem", "agreements"),)
    assert term_words("readPage") == (("read", "read"), ("pag", "pag"), ("readpage", "readpage"))


@pytest.mark.parametrize(
    ("term", "together"),
    [
        ("東京", True),
        ("アパ", True),
        ("국어", True),
        ("ก้า", True),
        ("bees", False),
        ("москв", False),
    ],
)
def test_scripts_without_spaces_between_words_are_known(term: str, together: bool) -> None:
    assert runs_together(term) is together


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Generators generated generally", ["generator", "generat", "general"]),
        ("readPages os.path", ["read", "pag", "readpages", "os", "path", "ospath"]),
        ("Москвы 東京都", ["москв", "東京", "京都"]),
        ("", []),
    ],
)
def test_whole_terms_are_not_cut_and_as_many_as_terms(text: str, expected: list[str]) -> None:
    assert whole_terms(text) == expected
    assert len(terms(text)) == len(expected)
