"""Things on walls and ceilings. Frames: origin on the wall, x along it, y into the room, z up."""

from math import pi

from graphsr.scenes import clutter, palette
from graphsr.scenes.builder import Builder, Frame, Top
from graphsr.scenes.materials import Material, Pattern


def framed_picture(b: Builder, f: Frame, width: float, height: float) -> None:
    """Add a picture almost flat on the wall: colour edges without depth edges."""
    r = b.rng
    edge = r.choice((0.0, 0.0, 0.015, 0.03, 0.06))
    if edge > 0.0:
        b.box(f.at(0, 0.008, 0), (width, 0.016, height), palette.timber(r))
    if r.random() < 0.4:
        b.box(f.at(0, 0.009, 0), (width - 2 * edge, 0.016, height - 2 * edge), Material((0.92, 0.91, 0.88)))
        edge += 0.12 * min(width, height)
    b.box(f.at(0, 0.01, 0), (width - 2 * edge, 0.016, height - 2 * edge), palette.picture(r))


def pictures(b: Builder, f: Frame, length: float) -> None:
    """Add one or several pictures along `length`, at eye height."""
    r = b.rng
    count = max(1, round(length * r.uniform(0.5, 1.6)))
    for k in range(count):
        width = min(length / count * 0.85, r.uniform(0.2, 0.9))
        x = ((k + 0.5) / count - 0.5) * length
        framed_picture(b, f.at(x, 0, r.uniform(1.45, 1.75)), width, width * r.uniform(0.65, 1.4))


def window(b: Builder, f: Frame, width: float, height: float) -> None:
    """Add a bright view with bars and a sill, at times behind a blind or curtains."""
    r = b.rng
    rail = palette.painted(r)
    sky = (r.uniform(0.6, 0.85), r.uniform(0.75, 0.9), 0.95)
    land = (r.uniform(0.2, 0.4), r.uniform(0.3, 0.5), r.uniform(0.15, 0.3))
    view = Material(sky, (0.97, 0.97, 0.97), land, Pattern.LANDSCAPE, glow=r.uniform(0.4, 1.1), salt=r.randrange(9999))
    b.box(f.at(0, 0.003, 0), (width, 0.006, height), view, False)
    bar = r.uniform(0.03, 0.07)
    for sx in (-1, 1):
        b.box(f.at(sx * 0.5 * width, 0.03, 0), (bar, 0.06, height + bar), rail)
    for sz in (-1, 1):
        b.box(f.at(0, 0.03, sz * 0.5 * height), (width, 0.06, bar), rail)
    b.box(f.at(0, 0.09, -0.5 * height - bar), (width + 0.12, 0.18, 0.03), rail)
    columns, rows = r.randint(1, 4), r.randint(1, 4)
    for k in range(1, columns):
        b.box(f.at((k / columns - 0.5) * width, 0.02, 0), (0.6 * bar, 0.04, height), rail)
    for k in range(1, rows):
        b.box(f.at(0, 0.02, (k / rows - 0.5) * height), (width, 0.04, 0.6 * bar), rail)
    dressing = r.random()
    if dressing < 0.25:
        blind(b, f.at(0, 0.1, 0), width, height)
    elif dressing < 0.6:
        for sx in (-1, 1):
            curtain(
                b,
                f.at(sx * (0.5 * width + 0.1), 0.12, 0.5 * height + 0.1),
                r.uniform(0.25, 0.5),
                height + 0.6,
            )
        b.post(f.at(-0.5 * width - 0.3, 0.12, 0.5 * height + 0.12).roll(0.5 * pi), 0.012, width + 0.6, rail)


def blind(b: Builder, f: Frame, width: float, height: float) -> None:
    """Add tilted slats over the upper part of a window."""
    r = b.rng
    slat = b.camouflaged(palette.painted(r))
    pitch, lean = r.uniform(0.03, 0.07), r.uniform(0.2, 1.2)
    for k in range(int(r.uniform(0.4, 1.0) * height / pitch)):
        b.box(f.at(0, 0, 0.5 * height - k * pitch).pitch(lean), (width, 0.9 * pitch, 0.002), slat)


def curtain(b: Builder, f: Frame, width: float, height: float) -> None:
    """Add folds hanging down from the frame's origin."""
    r = b.rng
    drape = b.camouflaged(palette.cloth(r))
    folds = r.randint(4, 9)
    step = width / folds
    for k in range(folds):
        x = (k + 0.5) * step - 0.5 * width
        b.post(
            f.at(x, 0.3 * step * (k % 2), -height),
            r.uniform(0.55, 0.8) * step,
            height,
            drape,
            r.uniform(0.8, 1.0),
        )


def door(b: Builder, f: Frame) -> None:
    """Add a leaf with panels, a frame and a handle; the origin is on the floor."""
    r = b.rng
    leaf, trim = b.camouflaged(palette.timber(r)), palette.painted(r)
    wide, tall = r.uniform(0.75, 0.95), r.uniform(1.95, 2.1)
    b.block(f.at(0, 0.01, 0), (wide, 0.02, tall), leaf)
    for sx in (-1, 1):
        b.block(f.at(sx * (0.5 * wide + 0.03), 0.015, 0), (0.07, 0.03, tall + 0.06), trim)
    b.block(f.at(0, 0.015, tall), (wide + 0.12, 0.03, 0.07), trim)
    rows = r.choice((0, 2, 3))
    for k in range(rows):
        h = (tall - 0.2) / rows
        b.block(f.at(0, 0.022, 0.12 + k * h), (0.7 * wide, 0.008, 0.85 * h), leaf)
    b.post(f.at(0.42 * wide, 0.06, 1.0).roll(-0.5 * pi), 0.01, 0.12, palette.metal(r))


def radiator(b: Builder, f: Frame, width: float) -> None:
    """Add upright ribs under a window; the origin is on the floor."""
    r = b.rng
    paint = b.camouflaged(palette.painted(r))
    high = r.uniform(0.45, 0.65)
    for z in (0.14, high + 0.06):
        b.box(f.at(0, 0.08, z), (width, 0.03, 0.03), paint)
    count = max(4, int(width / r.uniform(0.05, 0.09)))
    for k in range(count):
        b.block(f.at(((k + 0.5) / count - 0.5) * width, 0.08, 0.1), (0.03, 0.09, high), paint)


def wall_shelf(b: Builder, f: Frame, width: float) -> None:
    """Add a board with books and ornaments."""
    r = b.rng
    depth = r.uniform(0.18, 0.28)
    b.box(f.at(0, 0.5 * depth, 0), (width, depth, 0.025), b.camouflaged(palette.timber(r)))
    top = Top(f.at(0, 0.5 * depth, 0.0125), 0.5 * width, 0.5 * depth, 0.35)
    if r.random() < 0.5:
        clutter.book_row(b, f.at(-0.5 * width, 0.01, 0.0125), 0.5 * width, 0.32, depth)
        top = Top(f.at(0.25 * width, 0.5 * depth, 0.0125), 0.25 * width, 0.5 * depth, 0.35)
    clutter.scatter(b, top, r.randint(1, 4), (0.05, 0.11))


def clock(b: Builder, f: Frame) -> None:
    """Add a disc with two hands."""
    r = b.rng
    size = r.uniform(0.1, 0.2)
    face = f.pitch(-0.5 * pi)
    b.post(face, size, 0.02, palette.metal(r))
    b.post(face, 0.9 * size, 0.022, Material((0.93, 0.93, 0.9)))
    for length in (0.5, 0.75):
        b.block(
            f.at(0, 0.024, 0).roll(r.uniform(0, 2 * pi)),
            (0.01, 0.004, length * size),
            Material((0.05, 0.05, 0.05)),
        )


def ceiling_lamp(b: Builder, f: Frame, drop: float) -> None:
    """Add a cord and a lit globe or shade; the origin is on the ceiling, z up."""
    r = b.rng
    warm = Material((0.98, 0.93, 0.8), glow=r.uniform(0.5, 1.6))
    b.post(f.at(0, 0, -drop), 0.005, drop, Material((0.1, 0.1, 0.1)), casts=False)
    size = r.uniform(0.1, 0.22)
    if r.random() < 0.5:
        b.ball(f.at(0, 0, -drop - 0.5 * size), (size, size, size), warm, False)
    else:
        b.post(f.at(0, 0, -drop - size), 1.3 * size, size, warm, r.uniform(0.3, 0.7), False)


def beams(b: Builder, f: Frame, span: float, length: float) -> None:
    """Add joists under a ceiling, side by side along y over `length`; the origin is on the ceiling."""
    r = b.rng
    wood = b.camouflaged(palette.timber(r))
    wide, high, step = r.uniform(0.08, 0.18), r.uniform(0.1, 0.2), r.uniform(0.5, 1.0)
    for k in range(int(length / step)):
        b.box(f.at(0, (k + 0.5) * step, -0.5 * high), (span, wide, high), wood)
