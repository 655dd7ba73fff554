"""Text from outside made safe for a terminal: shown, never obeyed."""

from __future__ import annotations

from rich.text import Text

_BLANKS = (*range(0x09, 0x0E), 0x85, 0x2028, 0x2029)
_C1 = range(0x80, 0xA0)
_SURROGATES = range(0xD800, 0xE000)
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))

_REPLACED: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys((*_C1, *_SURROGATES), "\N{REPLACEMENT CHARACTER}"),
    **dict.fromkeys(_DIRECTIONS, ""),
    **dict.fromkeys(_BLANKS, " "),
}

Styled = str | tuple[str, str]
"""A text, or a text and its style."""


def harmless(text: str) -> str:
    """``text`` on one line and without power over a terminal.

    Line breaks and tabs become blanks; other control characters are shown as their pictures (an
    escape as ``␛``), and what would turn the reading direction of a whole line is dropped.
    """
    return text.translate(_REPLACED)


def text_of(*parts: Styled) -> Text:
    """The parts as one harmless line; nothing in them is read as markup."""
    line = Text()
    for part in parts:
        content, style = (part, "") if isinstance(part, str) else part
        line.append(harmless(content), style or None)
    return line
