"""Colours and finishes as rooms have them: quiet large surfaces, livelier small ones."""

from collections.abc import Callable
from colorsys import hsv_to_rgb
from math import pi
from random import Random
from typing import TypeAlias

from graphsr.scenes.materials import Colour, Material, Pattern

Finish: TypeAlias = Callable[[Random], Material]


def shade_of(colour: Colour, factor: float) -> Colour:
    """Make a colour lighter or darker."""
    return (min(1.0, colour[0] * factor), min(1.0, colour[1] * factor), min(1.0, colour[2] * factor))


def _salt(rng: Random) -> int:
    """Draw the number that tells one pattern from another of its kind."""
    return rng.randrange(1 << 20)


def neutral(rng: Random) -> Colour:
    """Draw white, cream, grey or beige; rarely dark."""
    value = rng.uniform(0.55, 0.95) if rng.random() < 0.8 else rng.uniform(0.15, 0.5)
    return hsv_to_rgb(rng.uniform(0.05, 0.16), rng.uniform(0.0, 0.18), value)


def hue(rng: Random) -> float:
    """Draw a hue: mostly warm, often blue or green, seldom purple, as objects are dyed and painted."""
    kind = rng.random()
    if kind < 0.45:
        return rng.uniform(0.0, 0.15)
    if kind < 0.65:
        return rng.uniform(0.54, 0.65)
    if kind < 0.8:
        return rng.uniform(0.22, 0.45)
    return rng.random()


def muted(rng: Random) -> Colour:
    """Draw a colour of paint and cloth."""
    return hsv_to_rgb(hue(rng), rng.uniform(0.1, 0.5), rng.uniform(0.3, 0.85))


def vivid(rng: Random) -> Colour:
    """Draw a colour of toys, covers and print."""
    return hsv_to_rgb(hue(rng), rng.uniform(0.5, 0.95), rng.uniform(0.3, 0.95))


def any_colour(rng: Random) -> Colour:
    """Draw a colour for a small object."""
    return rng.choice((neutral, muted, vivid))(rng)


def brown(rng: Random) -> Colour:
    """Draw a colour of timber, leather or cardboard."""
    return hsv_to_rgb(rng.uniform(0.05, 0.11), rng.uniform(0.3, 0.65), rng.uniform(0.3, 0.85))


def wall_finish(rng: Random) -> Material:
    """Draw a wall: mostly plain paint; also paper, brick, tile and two-coloured walls."""
    base = neutral(rng) if rng.random() < 0.65 else muted(rng)
    near = shade_of(base, rng.uniform(0.88, 0.97))
    kind = rng.random()
    grain = rng.uniform(0.0, 0.06)
    if kind < 0.5:
        return Material(base, grain=grain, salt=_salt(rng))
    if kind < 0.62:
        return Material(base, near, pattern=Pattern.MOTTLED, scale=rng.uniform(0.05, 0.5), salt=_salt(rng))
    if kind < 0.72:
        other = shade_of(base, rng.uniform(0.6, 0.95)) if rng.random() < 0.7 else muted(rng)
        return Material(base, other, near, Pattern.STRIPES, rng.uniform(0.06, 0.35), salt=_salt(rng))
    if kind < 0.79:
        mortar = hsv_to_rgb(0.1, 0.08, rng.uniform(0.5, 0.85))
        red = hsv_to_rgb(rng.uniform(0.0, 0.07), rng.uniform(0.2, 0.6), rng.uniform(0.4, 0.75))
        red = red if rng.random() < 0.7 else neutral(rng)
        return Material(red, shade_of(red, 0.7), mortar, Pattern.BRICKS, rng.uniform(0.2, 0.27), salt=_salt(rng))
    if kind < 0.86:
        return _tiling(rng, base, rng.uniform(0.1, 0.3))
    if kind < 0.96:
        return Material(base, muted(rng), neutral(rng), Pattern.DADO, rng.uniform(0.7, 1.2), grain=grain)
    return Material(base, near, pattern=Pattern.DOTS, scale=rng.uniform(0.06, 0.2), salt=_salt(rng))


def _tiling(rng: Random, base: Colour, scale: float) -> Material:
    """Draw tiles with grout."""
    grout = neutral(rng)
    lean = shade_of(base, rng.uniform(0.6, 1.1))
    return Material(base, lean, grout, Pattern.TILES, scale, gloss=rng.uniform(0.0, 0.5), shine=60.0, salt=_salt(rng))


def floor_finish(rng: Random) -> Material:
    """Draw a floor: boards, tiles, carpet or stone."""
    kind = rng.random()
    turn = rng.choice((0.0, 0.5 * pi))
    gloss = rng.uniform(0.0, 0.35)
    if kind < 0.45:
        base = brown(rng)
        second = shade_of(base, rng.uniform(0.6, 0.85))
        width = rng.uniform(0.06, 0.2)
        return Material(base, second, pattern=Pattern.WOOD, scale=width, angle=turn, gloss=gloss, salt=_salt(rng))
    if kind < 0.62:
        return _tiling(rng, neutral(rng), rng.uniform(0.2, 0.6))
    if kind < 0.7:
        scale = rng.uniform(0.2, 0.5)
        return Material(neutral(rng), muted(rng), pattern=Pattern.CHECKS, scale=scale, gloss=gloss)
    if kind < 0.88:
        base = muted(rng) if rng.random() < 0.5 else neutral(rng)
        second = shade_of(base, rng.uniform(0.7, 0.9))
        return Material(base, second, pattern=Pattern.WEAVE, scale=rng.uniform(0.01, 0.03), salt=_salt(rng))
    return stone(rng)


def stone(rng: Random) -> Material:
    """Draw marble, terrazzo or concrete."""
    base = neutral(rng)
    pattern = rng.choice((Pattern.MARBLE, Pattern.SPECKLE, Pattern.MOTTLED))
    scale = {Pattern.MARBLE: 0.4, Pattern.SPECKLE: 0.03, Pattern.MOTTLED: 0.3}[pattern] * rng.uniform(0.5, 1.5)
    second, third = shade_of(base, rng.uniform(0.7, 0.9)), muted(rng)
    return Material(base, second, third, pattern, scale, gloss=rng.uniform(0.0, 0.4), salt=_salt(rng))


def timber(rng: Random) -> Material:
    """Draw sawn and planed wood, or wood painted over."""
    if rng.random() < 0.3:
        return painted(rng)
    base = brown(rng)
    second = shade_of(base, rng.uniform(0.55, 0.85))
    gloss = rng.uniform(0.0, 0.3)
    turn = rng.choice((0.0, 0.5 * pi))
    return Material(base, second, pattern=Pattern.WOOD, scale=9.0, angle=turn, gloss=gloss, salt=_salt(rng))


def painted(rng: Random) -> Material:
    """Draw an even colour with a little gloss."""
    colour = neutral(rng) if rng.random() < 0.6 else muted(rng)
    return Material(colour, grain=rng.uniform(0.0, 0.1), gloss=rng.uniform(0.0, 0.4), salt=_salt(rng))


def plastic(rng: Random) -> Material:
    """Draw an even, lively, shiny colour."""
    return Material(any_colour(rng), grain=0.0, gloss=rng.uniform(0.1, 0.8), shine=rng.uniform(30.0, 150.0))


def metal(rng: Random) -> Material:
    """Draw a grey with strong highlights, or black iron."""
    value = rng.uniform(0.35, 0.75) if rng.random() < 0.7 else rng.uniform(0.05, 0.15)
    colour = hsv_to_rgb(rng.uniform(0.05, 0.65), rng.uniform(0.0, 0.12), value)
    return Material(colour, grain=0.05, gloss=rng.uniform(0.5, 1.2), shine=rng.uniform(40.0, 120.0))


def cloth(rng: Random) -> Material:
    """Draw upholstery, blankets or curtains."""
    base = neutral(rng) if rng.random() < 0.35 else muted(rng)
    second, third = shade_of(base, rng.uniform(0.55, 0.9)), any_colour(rng)
    pattern = rng.choice(
        (
            Pattern.WEAVE,
            Pattern.WEAVE,
            Pattern.PLAIN,
            Pattern.PLAID,
            Pattern.STRIPES,
            Pattern.DOTS,
            Pattern.MOTTLED,
        )
    )
    if pattern in (Pattern.PLAID, Pattern.STRIPES, Pattern.DOTS) and rng.random() < 0.6:
        second = any_colour(rng)
    scale = {Pattern.WEAVE: 0.012, Pattern.MOTTLED: 0.1}.get(pattern, rng.uniform(0.03, 0.2))
    return Material(base, second, third, pattern, scale, rng.choice((0.0, 0.5 * pi)), grain=0.1, salt=_salt(rng))


def picture(rng: Random) -> Material:
    """Draw a painting, photograph, poster or printed sheet."""
    pattern = rng.choice(
        (Pattern.POSTER, Pattern.POSTER, Pattern.LANDSCAPE, Pattern.LANDSCAPE, Pattern.PORTRAIT, Pattern.PAGE)
    )
    if pattern is Pattern.PAGE:
        return paper(rng)
    if pattern is Pattern.LANDSCAPE:
        sky = hsv_to_rgb(rng.uniform(0.5, 0.65) if rng.random() < 0.7 else rng.random(), rng.uniform(0.1, 0.6), 0.9)
        land = hsv_to_rgb(rng.uniform(0.1, 0.45), rng.uniform(0.2, 0.7), rng.uniform(0.2, 0.6))
        return Material(sky, (0.95, 0.95, 0.93), land, pattern, grain=0.0, salt=_salt(rng))
    if pattern is Pattern.PORTRAIT:
        skin = hsv_to_rgb(rng.uniform(0.04, 0.09), rng.uniform(0.25, 0.6), rng.uniform(0.4, 0.95))
        return Material(muted(rng), skin, any_colour(rng), pattern, grain=0.0, salt=_salt(rng))
    return Material(any_colour(rng), any_colour(rng), any_colour(rng), pattern, grain=0.0, salt=_salt(rng))


def paper(rng: Random) -> Material:
    """Draw a page of print."""
    base = hsv_to_rgb(0.12, rng.uniform(0.0, 0.15), rng.uniform(0.8, 0.97))
    ink = (0.08, 0.08, 0.1) if rng.random() < 0.8 else vivid(rng)
    scale = rng.choice((0.005, 0.008, 0.012, 0.03))
    return Material(base, ink, any_colour(rng), Pattern.PAGE, scale, grain=0.0, salt=_salt(rng))


def packet(rng: Random) -> Material:
    """Draw a cover, carton or tin: labelled, printed or plain."""
    base = any_colour(rng)
    gloss = rng.uniform(0.0, 0.4)
    kind = rng.random()
    if kind < 0.45:
        return Material(base, any_colour(rng), any_colour(rng), Pattern.LABEL, grain=0.03, gloss=gloss, salt=_salt(rng))
    if kind < 0.65:
        return picture(rng)
    if kind < 0.75:
        return Material(
            base, any_colour(rng), any_colour(rng), Pattern.STRIPES, rng.uniform(0.01, 0.06), salt=_salt(rng)
        )
    return Material(base, grain=0.05, gloss=gloss, salt=_salt(rng))


def ceramic(rng: Random) -> Material:
    """Draw a glaze: plain, banded, dotted or speckled."""
    base = neutral(rng) if rng.random() < 0.5 else any_colour(rng)
    pattern = rng.choice((Pattern.PLAIN, Pattern.PLAIN, Pattern.STRIPES, Pattern.DOTS, Pattern.SPECKLE, Pattern.MARBLE))
    scale = rng.uniform(0.012, 0.04)
    gloss = rng.uniform(0.2, 0.9)
    shine = rng.uniform(40.0, 160.0)
    colours = (base, any_colour(rng), any_colour(rng))
    return Material(*colours, pattern, scale, 0.5 * pi, gloss=gloss, shine=shine, salt=_salt(rng))


def foliage(rng: Random) -> Material:
    """Draw leaves: mostly green."""
    hue = rng.uniform(0.2, 0.42) if rng.random() < 0.85 else rng.uniform(0.0, 0.12)
    base = hsv_to_rgb(hue, rng.uniform(0.35, 0.8), rng.uniform(0.25, 0.65))
    return Material(base, shade_of(base, 0.7), pattern=Pattern.MOTTLED, scale=0.05, gloss=0.1, salt=_salt(rng))


def card(rng: Random) -> Material:
    """Draw brown cardboard."""
    base = hsv_to_rgb(rng.uniform(0.07, 0.1), rng.uniform(0.3, 0.5), rng.uniform(0.5, 0.8))
    return Material(
        base,
        shade_of(base, 0.9),
        (0.2, 0.15, 0.1),
        Pattern.LABEL if rng.random() < 0.4 else Pattern.MOTTLED,
        0.1,
        grain=0.1,
        salt=_salt(rng),
    )


def fruit(rng: Random) -> Material:
    """Draw an apple, orange, lemon or plum."""
    base = hsv_to_rgb(rng.choice((0.0, 0.03, 0.08, 0.14, 0.25, 0.9)), rng.uniform(0.6, 0.95), rng.uniform(0.4, 0.95))
    return Material(
        base,
        shade_of(base, 0.75),
        pattern=Pattern.MOTTLED,
        scale=0.03,
        gloss=0.3,
        shine=30.0,
        salt=_salt(rng),
    )


def ornament(rng: Random) -> Material:
    """Draw any finish for an ornament."""
    return rng.choice((plastic, ceramic, painted, timber, metal, packet, stone))(rng)


def carpet(rng: Random) -> Material:
    """Draw a rug: bordered, or cloth."""
    if rng.random() < 0.4:
        return cloth(rng)
    colours = (any_colour(rng), any_colour(rng), any_colour(rng))
    return Material(*colours, Pattern.RUG, rng.uniform(0.04, 0.09), salt=_salt(rng))
