"""Small objects that stand on tops: each within a radius and a height (metres) of its frame, facing +y."""

from collections.abc import Callable
from math import cos, hypot, pi, sin
from typing import TypeAlias

from graphsr.scenes import palette
from graphsr.scenes.builder import Builder, Frame, Top
from graphsr.scenes.materials import Material

Item: TypeAlias = Callable[[Builder, Frame, float, float], None]


def book_pile(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add books lying on each other, each turned a little."""
    z = 0.0
    for _ in range(b.rng.randint(1, 6)):
        thick = b.rng.uniform(0.012, 0.05)
        if z + thick > height:
            return
        size = (radius * b.rng.uniform(1.0, 1.4), radius * b.rng.uniform(0.75, 1.0), thick)
        b.block(f.at(0, 0, z).yaw(b.rng.uniform(-0.4, 0.4)), size, b.camouflaged(palette.packet(b.rng)))
        z += thick


def carton(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a packet or box, now and then one on another."""
    r = b.rng
    size = (
        radius * r.uniform(0.6, 1.3),
        radius * r.uniform(0.3, 1.0),
        min(height, radius * r.uniform(0.4, 2.2)),
    )
    b.block(f, size, b.camouflaged(palette.packet(r)))
    if r.random() < 0.25 and size[2] < 0.5 * height:
        top = f.at(0, 0, size[2]).yaw(r.uniform(-0.6, 0.6))
        b.block(top, (0.7 * size[0], 0.7 * size[1], 0.7 * size[2]), palette.packet(r))


def mug(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a cup with a handle."""
    r = b.rng
    wide = min(radius * 0.65, r.uniform(0.035, 0.05))
    tall = min(height, wide * r.uniform(1.8, 2.6))
    glaze = b.camouflaged(palette.ceramic(r))
    b.cup(f, wide, tall, glaze, r.uniform(0.95, 1.25))
    side = f.at(wide * 1.25, 0, 0)
    b.box(side.at(0.15 * wide, 0, 0.5 * tall), (0.15 * wide, 0.2 * wide, 0.55 * tall), glaze)
    for z in (0.25, 0.75):
        b.box(side.at(-0.1 * wide, 0, z * tall), (0.6 * wide, 0.2 * wide, 0.08 * tall), glaze)


def bottle(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a bottle: body, shoulder, neck and cap."""
    r = b.rng
    wide = min(0.6 * radius, r.uniform(0.025, 0.05))
    tall = min(height, wide * r.uniform(5.0, 8.0))
    body = b.camouflaged(palette.packet(r) if r.random() < 0.5 else palette.plastic(r))
    glass = palette.plastic(r)
    b.post(f, wide, 0.6 * tall, body)
    b.post(f.at(0, 0, 0.6 * tall), wide, 0.15 * tall, glass, 0.35)
    b.post(f.at(0, 0, 0.75 * tall), 0.35 * wide, 0.2 * tall, glass)
    b.post(f.at(0, 0, 0.95 * tall), 0.42 * wide, 0.05 * tall, palette.plastic(r))


def tin(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a can or a roll."""
    wide = min(0.8 * radius, b.rng.uniform(0.03, 0.07))
    b.post(f, wide, min(height, wide * b.rng.uniform(0.8, 3.0)), b.camouflaged(palette.packet(b.rng)))


def fruit_bowl(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a bowl with a heap of fruit."""
    r = b.rng
    wide = min(0.95 * radius, r.uniform(0.09, 0.16))
    deep = min(height * 0.5, wide * r.uniform(0.4, 0.7))
    b.bowl(f.at(0, 0, deep), (wide, wide, deep), b.camouflaged(palette.ceramic(r)))
    size = 0.32 * wide
    skin = palette.fruit(r)
    for k in range(r.randint(0, 6)):
        angle = 2.0 * pi * k / 5.0
        out = 0.0 if k == 5 else 0.5 * wide
        place = f.at(out * cos(angle), out * sin(angle), deep * (1.3 if k == 5 else 0.75))
        b.ball(place, (size, size, size * r.uniform(0.85, 1.15)), skin if r.random() < 0.6 else palette.fruit(r))


def vase(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a bellied vase, often with twigs in it."""
    r = b.rng
    wide = min(0.6 * radius, r.uniform(0.04, 0.09))
    tall = min(0.6 * height, wide * r.uniform(2.0, 4.0))
    glaze = b.camouflaged(palette.ceramic(r))
    b.ball(f.at(0, 0, 0.4 * tall), (wide, wide, 0.4 * tall), glaze)
    b.cup(f.at(0, 0, 0.6 * tall), 0.6 * wide, 0.4 * tall, glaze, r.uniform(0.7, 1.3))
    bark = palette.timber(r)
    for _ in range(r.choice((0, 0, 4, 7))):
        lean = f.at(0, 0, 0.9 * tall).yaw(r.uniform(0, 2 * pi)).pitch(r.uniform(0.05, 0.5))
        stem = min(height - tall, tall * r.uniform(0.5, 1.3))
        b.post(lean, 0.002, stem, bark)
        b.ball(lean.at(0, 0, stem), (0.012, 0.012, 0.016), palette.fruit(r))


def pencil_pot(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add sticks and brushes leaning in a pot: thin structure."""
    r = b.rng
    wide = min(0.5 * radius, r.uniform(0.03, 0.06))
    tall = min(0.5 * height, wide * r.uniform(2.0, 3.0))
    b.cup(f, wide, tall, palette.ornament(r))
    for _ in range(r.randint(3, 9)):
        stick = f.yaw(r.uniform(0, 2 * pi)).at(0, 0.3 * wide, 0.1 * tall).pitch(-r.uniform(0.0, 0.3))
        b.post(
            stick,
            r.uniform(0.002, 0.005),
            min(height, tall * r.uniform(1.4, 2.1)),
            palette.plastic(r),
            r.uniform(0.6, 1.0),
        )


def leaning_card(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a picture on a stand: a slanted plane with print on it."""
    r = b.rng
    wide, tall = radius * r.uniform(0.8, 1.5), min(height, radius * r.uniform(0.8, 1.8))
    lean = f.at(0, 0.2 * radius, 0).pitch(r.uniform(0.1, 0.5))
    if r.random() < 0.5:
        b.block(lean, (wide, 0.008, tall), palette.ornament(r))
        b.block(lean.at(0, 0.005, 0.06 * tall), (0.86 * wide, 0.004, 0.88 * tall), palette.picture(r))
    else:
        b.block(lean, (wide, 0.004, tall), palette.picture(r))


def ball(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a ball, a globe or an egg."""
    size = min(0.8 * radius, 0.5 * height, b.rng.uniform(0.025, 0.12))
    squash = b.rng.choice((1.0, 1.0, b.rng.uniform(0.6, 1.3)))
    b.ball(
        f.at(0, 0, size * squash).roll(b.rng.uniform(-0.6, 0.6)),
        (size, size, size * squash),
        b.camouflaged(palette.ornament(b.rng)),
    )


def cone(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a cone or a truncated one."""
    wide = min(0.8 * radius, b.rng.uniform(0.03, 0.12))
    b.post(
        f,
        wide,
        min(height, wide * b.rng.uniform(1.0, 3.5)),
        b.camouflaged(palette.ornament(b.rng)),
        b.rng.choice((0.0, 0.0, 0.5)),
    )


def bust(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a bust: plinth, shoulders, neck, head."""
    r = b.rng
    tall = min(height, radius * r.uniform(2.0, 3.0))
    clay = b.camouflaged(palette.stone(r) if r.random() < 0.5 else palette.painted(r))
    s = tall / 4.0
    b.block(f, (1.2 * s, 1.2 * s, 0.8 * s), palette.ornament(r))
    b.ball(f.at(0, 0, 1.3 * s), (0.95 * s, 0.55 * s, 0.7 * s), clay)
    b.post(f.at(0, 0, 1.7 * s), 0.32 * s, 0.9 * s, clay, 0.9)
    b.ball(f.at(0, 0.08 * s, 3.1 * s), (0.55 * s, 0.65 * s, 0.8 * s), clay)
    b.ball(f.at(0, 0.72 * s, 3.05 * s), (0.1 * s, 0.15 * s, 0.18 * s), clay)


def teapot(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a pot with spout, handle and lid."""
    r = b.rng
    s = min(0.6 * radius, 0.4 * height, r.uniform(0.06, 0.1))
    glaze = b.camouflaged(palette.ceramic(r))
    b.ball(f.at(0, 0, 0.8 * s), (s, s, 0.8 * s), glaze)
    b.post(f.at(0.7 * s, 0, 0.6 * s).roll(0.8), 0.25 * s, 1.2 * s, glaze, 0.5)
    b.ball(f.at(0, 0, 1.6 * s), (0.5 * s, 0.5 * s, 0.12 * s), glaze)
    b.ball(f.at(0, 0, 1.75 * s), (0.12 * s, 0.12 * s, 0.12 * s), glaze)
    b.box(f.at(-1.35 * s, 0, 0.85 * s), (0.12 * s, 0.16 * s, 0.9 * s), glaze)
    for z in (0.45, 1.25):
        b.box(f.at(-1.1 * s, 0, z * s), (0.6 * s, 0.16 * s, 0.12 * s), glaze)


def blocks(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add toy bricks in a tower or a heap."""
    r = b.rng
    s = min(0.35 * radius, r.uniform(0.02, 0.05))
    wide = r.choice((1, 3))
    for k in range(r.randint(3, 8)):
        layer = k // wide
        if (layer + 1) * s > height:
            return
        x = (k % wide - 0.5 * (wide - 1)) * 1.05 * s
        place = f.at(x, r.uniform(-0.2, 0.2) * s, layer * s)
        b.block(place.yaw(r.uniform(-0.3, 0.3)), (s, s, s), palette.plastic(r))


def pot_plant(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add a pot with leaves on stems."""
    r = b.rng
    wide = min(0.45 * radius, 0.2 * height)
    pot = min(0.35 * height, 1.8 * wide)
    b.cup(f, 0.75 * wide, pot, b.camouflaged(palette.ceramic(r)), 1.3)
    b.post(f, 0.7 * wide, 0.85 * pot, Material((0.2, 0.14, 0.1), grain=0.3), 1.25)
    leaves(b, f.at(0, 0, pot), radius, height - pot, r.randint(8, 18))


def leaves(b: Builder, f: Frame, radius: float, height: float, count: int) -> None:
    """Add a bush of flat ellipsoids, or a tuft of blades."""
    r = b.rng
    greens = (palette.foliage(r), palette.foliage(r))
    tuft = r.random() < 0.35
    size = 0.4 * radius * r.uniform(0.6, 1.2)
    for _ in range(count):
        around = f.yaw(r.uniform(0, 2 * pi))
        if tuft:
            blade = around.pitch(-r.uniform(0.05, 0.9))
            tall = height * r.uniform(0.6, 1.0)
            b.ball(blade.at(0, 0, 0.5 * tall), (0.04 * tall + 0.004, 0.003, 0.5 * tall), r.choice(greens))
            continue
        lean, tall = r.uniform(0.0, 0.8), height * r.uniform(0.25, 0.95)
        stem = around.pitch(-lean)
        tip = stem.at(0, 0, tall)
        if r.random() < 0.5:
            b.post(stem, 0.004, tall, greens[0])
        leaf = tip.yaw(r.uniform(0, 2 * pi)).pitch(r.uniform(-1.0, 0.6)).at(0, 0.6 * size, 0)
        b.ball(leaf, (0.5 * size, size, 0.004), r.choice(greens))


def wire_rack(b: Builder, f: Frame, radius: float, height: float) -> None:
    """Add two rails and many thin uprights."""
    r = b.rng
    wide, tall = 1.5 * radius, min(height, radius * r.uniform(0.7, 1.5))
    iron = palette.metal(r)
    for z in (0.1 * tall, tall):
        b.box(f.at(0, 0, z), (wide, 0.005, 0.005), iron)
    count = r.randint(5, 14)
    for k in range(count + 1):
        b.post(f.at((k / count - 0.5) * wide, 0, 0), 0.0025, tall, iron)


ITEMS: tuple[Item, ...] = (
    book_pile, book_pile, carton, carton, mug, bottle, tin, fruit_bowl, vase, pencil_pot, leaning_card,
    leaning_card, ball, ball, cone, bust, teapot, blocks, pot_plant, wire_rack,
)  # fmt: skip


def sheets(b: Builder, top: Top, count: int) -> None:
    """Add paper lying flat: strong colour edges, hardly any depth edge."""
    r = b.rng
    for k in range(count):
        place = top.frame.at(r.uniform(-0.7, 0.7) * top.half_x, r.uniform(-0.7, 0.7) * top.half_y, 0.0004 * k)
        short = r.uniform(0.08, 0.22)
        b.block(place.yaw(r.uniform(0, 2 * pi)), (short, short * 1.4, 0.0006), palette.picture(r))


def scatter(b: Builder, top: Top, count: int, sizes: tuple[float, float], items: tuple[Item, ...] = ITEMS) -> None:
    """Place items of these radii on a top, apart from each other."""
    r = b.rng
    placed: list[tuple[float, float, float]] = []
    for _ in range(3 * count):
        if len(placed) == count:
            return
        radius = min(r.uniform(*sizes), top.half_x, top.half_y)
        x = r.uniform(-1, 1) * (top.half_x - radius)
        y = r.uniform(-1, 1) * (top.half_y - radius)
        if all(hypot(x - a, y - c) > 0.85 * (radius + other) for a, c, other in placed):
            placed.append((x, y, radius))
            turn = r.uniform(-0.7, 0.7)
            r.choice(items)(b, top.frame.at(x, y, 0).yaw(turn), radius, min(top.room_above, 4.0 * radius))


def book_row(b: Builder, f: Frame, length: float, height: float, depth: float) -> None:
    """Add upright books from x = 0 to x = length, some of them leaning."""
    r = b.rng
    x = 0.0
    tall = min(height * 0.92, r.uniform(0.18, 0.3))
    while True:
        thick = r.uniform(0.015, 0.055)
        if x + thick > length:
            return
        size = (thick * 0.96, depth * r.uniform(0.65, 0.9), tall * r.uniform(0.72, 1.0))
        lean = r.uniform(0.1, 0.3) if r.random() < 0.06 and x + 0.4 * tall < length else 0.0
        place = f.at(x + 0.5 * thick, 0.5 * size[1], 0)
        b.block(place.roll(lean), size, b.camouflaged(palette.packet(r)))
        x += thick + tall * 0.9 * sin(lean)


def cloth(b: Builder, top: Top) -> None:
    """Add a cloth over a part of a top."""
    weave = palette.cloth(b.rng)
    turn = b.rng.uniform(-0.4, 0.4)
    share = b.rng.uniform(0.5, 0.9)
    b.block(top.frame.yaw(turn), (2 * share * top.half_x, 2 * share * top.half_y, 0.002), weave)
