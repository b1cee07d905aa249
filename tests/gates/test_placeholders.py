import pytest

from proxy.gates.placeholders import placeholders


def _found(text: str) -> list[str]:
    return [text[start:end] for start, end in placeholders(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sehr geehrte Frau [Name einsetzen],", "[Name einsetzen]"),
        ("am [Datum] in [Ort]", "[Datum]"),
        ("Mit freundlichen Grüßen\n[Ihr Name]", "[Ihr Name]"),
        ("[Hier Produktbeschreibung einfügen]", "[Hier Produktbeschreibung einfügen]"),
        ("Rufen Sie an: [Ihre Telefonnummer]", "[Ihre Telefonnummer]"),
        ("Dear [Your Name],", "[Your Name]"),
        ("[Insert product name here]", "[Insert product name here]"),
        ("by [date to be confirmed]", "[date to be confirmed]"),
        ("Founded in [TBD]", "[TBD]"),
        ("Il costo è [inserire importo]", "[inserire importo]"),
        ("Madame [insérer le nom]", "[insérer le nom]"),
        ("Hello <insert name>!", "<insert name>"),
        ("Kontakt: <ihre-e-mail-adresse>", "<ihre-e-mail-adresse>"),
        ("Hallo <IHR_NAME>", "<IHR_NAME>"),
        ("Hallo {Ihr Name}", "{Ihr Name}"),
        ("Hallo {{name}},", "{{name}}"),
        ("Hallo {{ user.first_name }},", "{{ user.first_name }}"),
        ("{% if premium %}Danke", "{% if premium %}"),
        ("Preis: ${price}", "${price}"),
        ("Hallo %VORNAME%", "%VORNAME%"),
        ("Lorem ipsum dolor", "Lorem ipsum"),
        ("TODO: Zahlen prüfen", "TODO"),
        ("Der Preis ist TBD.", "TBD"),
        ("Firma XXX wächst", "XXX"),
        ("seit XX.XX.XXXX", "XX.XX.XXXX"),
        ("nur XX Euro", "XX Euro"),
        ("um XX,XX € günstiger", "XX,XX €"),
        ("Willkommen bei Ihr Firmenname!", "bei Ihr Firmenname"),
        ("Viele Grüße\nIhr Firmenname\n", "Ihr Firmenname"),
        ("Best regards,\nYour Name", "Your Name"),
        ("Max Mustermann aus Musterstadt", "Max Mustermann"),
    ],
)
def test_gap_of_a_template_is_found(text: str, found: str) -> None:
    assert _found(text)[0] == found


@pytest.mark.parametrize(
    "text",
    [
        "Mehr [im Bericht](https://example.org/bericht) und [hier](#unten).",
        "[Name](https://example.org) und [Datum][1]",
        "[Titel]: https://example.org",
        "Die Stadt wächst [1], [2, S. 14] und [^3].",
        "- [ ] offen\n- [x] erledigt",
        "„Das [gemeint ist die Bahn] war [sic] ein Fehler [...]“, sagte sie [Anm. d. Red.].",
        "Werte in [0, 1] und [10, 20).",
        "Drücken Sie [Enter], dann [Insert] und [Strg].",
        '{"titel": "Ulm", "werte": {"a": {"b": 1}}}',
        '{{"city":"Ulm"}}',
        "die Menge {a, b, c} und {x | x > 0}",
        r"\frac{{a}}{{b}} und x^{{max}} und $\{x_1\}$",
        "Pfad /users/{id}/posts und <br> <title>Ulm</title> <address>",
        "if a < b and c > d",
        "Preise von 5 < x > 3",
        "Ihr Name steht auf der Liste, Ihr Firmenname auch.",
        "Geben Sie Ihren Namen und Ihre Adresse ein.",
        "Your name is on the list. Grow your company with us.",
        "Super Bowl XXX und die XXX. Olympischen Spiele",
        "Größe XXL, Kapitel XXX",
        "Schreiben Sie eine TODO-Liste; die todo-app hilft.",
        "100 % und 20% Rabatt, 50 %USD",
        "Das kostet 5 $ {pro Stück}.",
        "Der Platzhalter im Entwurf ist ersetzt.",
        "Musterung der Rekruten, Mustermesse Basel",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert _found(text) == []


def test_many_brackets_are_read_in_linear_time() -> None:
    assert _found("[" * 200_000 + "{{a" * 100_000 + "<insert " * 50_000) == []
