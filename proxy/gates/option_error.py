"""How a gate says that one of its options is wrong, so that its place in the file can be told."""


class BadOption(ValueError):
    """Raised by a check of a gate's options model.

    The message reads on from the key's name ("is below `min`"); `remedy` says what to write. `at`
    leads from the checked value to the part at fault.
    """

    def __init__(self, message: str, remedy: str, at: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.at = at
