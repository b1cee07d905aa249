"""Text of strangers for a terminal."""


def printable(text: str) -> str:
    """The text on one line: what could steer or mislead a terminal stands as its code."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _code(each) for each in text)


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
