"""Text in pictures, in the one font that comes with Pillow and so looks the same everywhere."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

INK = (38, 38, 42)
PAPER = (255, 255, 255)

# The font has few letters beyond ASCII; these would come out as empty boxes.
_STAND_INS = str.maketrans({"×": "x", "−": "-", "–": "-", "—": "-", "µ": "u", "μ": "u", "…": "..."})


@lru_cache(maxsize=16)
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font whose letters are `size` pixels high."""
    return ImageFont.load_default(size)


def plain(text: str) -> str:
    """Return the text in letters that the font has: cm² becomes cm2, Höhe becomes Hohe."""
    letters = unicodedata.normalize("NFKD", text.translate(_STAND_INS))
    return "".join(letter for letter in letters if letter.isascii() or letter in "°±·")


def text_width(text: str, size: int) -> int:
    """Return the width of a text in pixels."""
    return round(font(size).getbbox(plain(text))[2])


def shortened(text: str, size: int, width: int) -> str:
    """Return the text, cut with dots to be no wider than `width`."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "...", size) > width:
        text = text[:-1]
    return text.rstrip() + "..."


def wrapped(text: str, size: int, width: int, most: int) -> list[str]:
    """Return the text in lines no wider than `width`, broken after commas or else between words.

    The last of `most` lines is cut with dots.
    """
    words = text.split(" ")
    lines: list[str] = []
    while words and len(lines) < most - 1:
        count = len(words)
        while count > 1 and text_width(" ".join(words[:count]), size) > width:
            count -= 1
        if count < len(words):  # rather after a comma
            count = next((n for n in range(count, 0, -1) if words[n - 1].endswith(",")), count)
        lines.append(" ".join(words[:count]).strip())
        words = words[count:]
    if words:
        lines.append(" ".join(words).strip())
    return [shortened(line, size, width) for line in lines if line]


def draw_text(canvas: Image.Image, at: tuple[float, float], text: str, size: int, anchor: str = "ls") -> None:
    """Write at a point; the anchor is Pillow's ("ls": left end of the base line)."""
    ImageDraw.Draw(canvas).text(at, plain(text), font=font(size), fill=INK, anchor=anchor)


def draw_upwards(canvas: Image.Image, centre: tuple[int, int], text: str, size: int) -> None:
    """Write from bottom to top round a centre."""
    strip = Image.new("RGB", (text_width(text, size) + 2, round(1.4 * size)), PAPER)
    draw_text(strip, (1, strip.height / 2), text, size, anchor="lm")
    turned = strip.rotate(90, expand=True)
    canvas.paste(turned, (centre[0] - turned.width // 2, centre[1] - turned.height // 2))
