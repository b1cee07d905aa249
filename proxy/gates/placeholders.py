"""Finds what a template leaves behind in a text: gaps that somebody was to fill in.

A bracket alone proves nothing: Markdown links, citations, ticks and asides have them too. So what
stands inside must name a form's field, or ask to be replaced.
"""

import re
from collections.abc import Iterator
from typing import Final

_FIELDS: Final = (
    r"(?:vor|nach|firmen|unternehmens|produkt|orts)?name(?:n|ns)?|firma|unternehmen|produkt|datum"
    r"|uhrzeit|ort|stadt|adresse|anschrift|stra(?:ß|ss)e|plz|telefon(?:nummer)?"
    r"|e ?mail(?: ?adresse)?|betrag|preis|zahl|titel|überschrift|thema|abteilung|empfänger"
    r"|absender|unterschrift"
    r"|kontaktdaten|webseite|website|url|link"
    r"|(?:first |last |full |company |product |brand |city |contact )?name|company|product|date"
    r"|time|city|location|address|phone(?: number)?|e ?mail address|amount|price|number|title"
    r"|headline|topic|department|recipient|sender|signature|contact (?:details|information)"
    r"|nom|prénom|entreprise|adresse|montant|titre|nome|cognome|azienda|indirizzo|importo|titolo"
)
_WHOSE: Final = (
    r"(?:ihr|dein|euer|unser)(?:e[nmrs]?)?|your|our|the|votre|vos|ton|(?:il )?tuo|(?:il )?vostro"
)
_ORDERS: Final = (
    r"(?:hier )?(?:.{1,40} )?(?:hier )?(?:einsetzen|einfügen|eintragen|ergänzen|ausfüllen)"
    r"|insert (?!mode|key)\w.*|(?:add|enter|fill in|replace with) (?:your|the|an?|name|date)\b.*"
    r"|.*\b(?:platzhalter|placeholder)\b.*|.*\bto be (?:added|confirmed|determined|filled in)"
    r"|(?:tbd|todo|fixme|x{2,})\b.*|insérer \w.*|.*\bà compléter|inserire \w.*|.*\bda completare"
)
_IN_BRACKETS: Final = re.compile(
    rf"(?:(?:{_WHOSE}) )?(?:{_FIELDS})(?: hier)?|{_ORDERS}", re.IGNORECASE
)
_IN_OTHERS: Final = re.compile(rf"(?:{_WHOSE}) (?:{_FIELDS})|{_ORDERS}", re.IGNORECASE)
_GAP: Final = re.compile(
    r"\[(?P<square>[^\[\]\n]{2,60})\](?!\s?[\[(:])"
    r"|<(?P<angle>[^<>/\n]{2,60})>"
    r"|(?<![{$])\{(?P<brace>[^{}\"\n]{2,60})\}(?!\})"
)
_BLANKS: Final = re.compile(r"[\s_-]+")
_NUMERALS: Final = (
    r"(?<!Bowl )(?<!Band )(?<!Kapitel )(?<!Chapter )(?<!Artikel )(?<!Article )(?<!Teil )(?<!Part )"
    r"(?<!Volume )(?<!Vol\. )(?<!Buch )(?<!Book )(?<!Art\. )"
)
_PLAIN: Final = re.compile(
    r"(?P<mustache>(?<![\w^_}\\{])\{\{\s*[#/^>&]?\s*[A-Za-z_][\w .|-]{1,60}\}\}"
    r"|\{%-?\s*\w[^%\n]{0,80}%\}|(?<!\\)\$\{[A-Za-z_]\w{1,40}\}|%[A-Z][A-Z_]{2,30}%)"
    r"|(?i:\blorem ipsum\b|\bdolor sit amet\b)"
    r"|\b(?:TODO(?![- ]?(?:[Ll]ist|[Aa]pp|[Ii]tem))|TBD|FIXME)\b"
    rf"|{_NUMERALS}\bXXX+\b(?!\.? (?:Olymp|Games|Spiele))|\bXX\.XX\.XX(?:XX)?\b"
    r"|\bXX+(?:[.,]XX)? ?(?:€|%|Euro\b|EUR\b|CHF\b|Franken\b|Prozent\b|percent\b|Uhr\b|kg\b|km\b)"
    r"|\b(?:bei|von|mit|zu|für|an|at|from) (?:Ihr|Dein|Your) (?:[A-Z]\w{0,20} ?)?[Nn]ame\b"
    r"|^[ \t>*_-]*(?:(?:Ihr|Dein) (?:Firmen|Unternehmens|Vor|Nach|Produkt)?[Nn]ame"
    r"|\[?Your (?:Company |Full |First |Last |Product )?Name)[ \t*_]*[,.!]?[ \t]*$"
    r"|\b(?:Max|Erika|Maria) Mustermann\b|\bMuster(?:firma|stra(?:ß|ss)e|stadt)\b",
    re.MULTILINE,
)


def placeholders(text: str) -> Iterator[tuple[int, int]]:
    """Where gaps stand, in time linear in the text. Code should be masked before."""
    for gap in _GAP.finditer(text):
        kind = _IN_BRACKETS if gap["square"] else _IN_OTHERS
        inside = _BLANKS.sub(" ", gap["square"] or gap["angle"] or gap["brace"]).strip(" .:…*")
        if kind.fullmatch(inside):
            yield gap.span()
    for plain in _PLAIN.finditer(text):
        yield plain.span()
