"""Things that stand on the floor. Frames: origin on the floor, x along the front, y away from the wall."""

from math import pi

from graphsr.scenes import clutter, palette
from graphsr.scenes.builder import Builder, Frame, Top
from graphsr.scenes.materials import Material, Pattern


def table(b: Builder, f: Frame, width: float, depth: float, height: float, round_share: float = 0.2) -> Top:
    """Add a top on four legs, or at times round on one foot."""
    r = b.rng
    wood = b.camouflaged(palette.timber(r))
    frame_wood = wood if r.random() < 0.6 else palette.ornament(r)
    thick = r.uniform(0.02, 0.05)
    if r.random() < round_share:
        radius = 0.5 * min(width, depth)
        b.post(f.at(0, 0, height - thick), radius, thick, wood)
        b.post(f, 0.06 * radius + 0.02, height - thick, frame_wood)
        b.post(f, 0.5 * radius, 0.03, frame_wood)
        return Top(f.at(0, 0, height), 0.68 * radius, 0.68 * radius)
    b.block(f.at(0, 0, height - thick), (width, depth, thick), wood)
    leg = r.uniform(0.025, 0.07)
    round_legs = r.random() < 0.35
    for sx in (-1, 1):
        for sy in (-1, 1):
            place = f.at(sx * (0.5 * width - leg), sy * (0.5 * depth - leg), 0)
            if round_legs:
                b.post(place, 0.4 * leg, height - thick, frame_wood, r.uniform(1.0, 1.5))
            else:
                b.block(place, (leg, leg, height - thick), frame_wood)
    if r.random() < 0.5:
        for sy in (-1, 1):
            b.box(f.at(0, sy * (0.5 * depth - leg), height - 0.1), (width - 2 * leg, 0.02, 0.1), frame_wood)
    return Top(f.at(0, 0, height), 0.5 * width, 0.5 * depth)


def chair(b: Builder, f: Frame) -> None:
    """Add a seat, legs, and a back with slats."""
    r = b.rng
    wood = b.camouflaged(palette.timber(r) if r.random() < 0.7 else palette.metal(r))
    seat = wood if r.random() < 0.5 else palette.cloth(r)
    wide, deep, high, back = r.uniform(0.38, 0.48), r.uniform(0.38, 0.46), 0.45, r.uniform(0.85, 1.05)
    leg = r.uniform(0.02, 0.045)
    b.block(f.at(0, 0, high - 0.04), (wide, deep, 0.04), seat)
    for sx in (-1, 1):
        b.block(f.at(sx * 0.5 * (wide - leg), 0.5 * (deep - leg), 0), (leg, leg, high), wood)
        b.block(f.at(sx * 0.5 * (wide - leg), -0.5 * (deep - leg), 0).pitch(0.06), (leg, leg, back), wood)
    kind = r.random()
    behind = f.at(0, -0.5 * (deep - leg), 0).pitch(0.06)
    if kind < 0.4:
        for k in range(r.randint(2, 4)):
            b.box(behind.at(0, 0, back - 0.06 - 0.12 * k), (wide - leg, 0.015, 0.05), wood)
    elif kind < 0.7:
        count = r.randint(3, 6)
        b.box(behind.at(0, 0, back - 0.03), (wide - leg, 0.02, 0.06), wood)
        for k in range(count):
            x = ((k + 0.5) / count - 0.5) * (wide - 2 * leg)
            b.block(behind.at(x, 0, high), (0.014, 0.012, back - high - 0.04), wood)
    else:
        b.block(behind.at(0, 0, high + 0.12), (wide - leg, 0.03, back - high - 0.12), seat)


def bookcase(b: Builder, f: Frame, width: float, depth: float, height: float) -> None:
    """Add boards with books and ornaments; with or without a back."""
    r = b.rng
    wood = b.camouflaged(palette.timber(r))
    board = r.uniform(0.015, 0.03)
    for sx in (-1, 1):
        b.block(f.at(sx * 0.5 * (width - board), 0, 0), (board, depth, height), wood)
    if r.random() < 0.6:
        b.block(f.at(0, 0.006 - 0.5 * depth, 0), (width, 0.01, height), wood)
    levels = max(2, round(height / r.uniform(0.28, 0.42)))
    gap = (height - board) / levels
    inner = width - 2 * board
    for k in range(levels + 1):
        b.block(f.at(0, 0, k * gap), (inner, depth, board), wood)
        if k < levels:
            _fill_shelf(b, f.at(0, 0, k * gap + board), inner, depth, gap - board)
    top = Top(f.at(0, 0, height), 0.5 * width, 0.5 * depth, 0.5)
    if height < 2.0:
        clutter.scatter(b, top, r.randint(0, 3), (0.07, 0.14))


def _fill_shelf(b: Builder, f: Frame, width: float, depth: float, height: float) -> None:
    """Put books, ornaments or nothing on one shelf."""
    r = b.rng
    kind = r.random()
    if kind < 0.55:
        share = r.uniform(0.4, 1.0)
        start = r.choice((-0.5 * width, 0.5 * width - share * width))
        clutter.book_row(b, f.at(start, -0.5 * depth, 0), share * width, height, depth)
        if share < 0.75:
            middle = (share * 0.5 if start < -0.49 * width else -share * 0.5) * width
            rest = Top(f.at(middle, 0, 0), 0.5 * (1 - share) * width, 0.5 * depth, 0.9 * height)
            clutter.scatter(b, rest, 1, (0.06, 0.12))
    elif kind < 0.9:
        clutter.scatter(b, Top(f, 0.5 * width, 0.5 * depth, 0.9 * height), r.randint(2, 5), (0.05, 0.13))


def cabinet(b: Builder, f: Frame, width: float, depth: float, height: float) -> Top:
    """Add a carcass with doors or drawers and knobs."""
    r = b.rng
    wood = b.camouflaged(palette.timber(r))
    front = wood if r.random() < 0.7 else palette.painted(r)
    knob = palette.metal(r)
    b.block(f.at(0, 0, 0.05), (width, depth, height - 0.05), wood)
    b.block(f, (0.94 * width, 0.9 * depth, 0.05), Material((0.1, 0.1, 0.1)))
    columns, rows = max(1, round(width / r.uniform(0.4, 0.7))), r.choice((1, 1, 2, 3, 4))
    for i in range(columns):
        for j in range(rows):
            w, h = width / columns, (height - 0.08) / rows
            x, z = (i + 0.5) * w - 0.5 * width, 0.06 + (j + 0.5) * h
            b.box(f.at(x, 0.5 * depth + 0.008, z), (w - 0.012, 0.016, h - 0.012), front)
            b.ball(f.at(x if rows > 1 else x + 0.35 * w, 0.5 * depth + 0.03, z), (0.014, 0.014, 0.014), knob)
    return Top(f.at(0, 0, height), 0.5 * width, 0.5 * depth)


def sofa(b: Builder, f: Frame, width: float) -> None:
    """Add a seat, a back, arms and loose cushions."""
    r = b.rng
    cover = b.camouflaged(palette.cloth(r))
    deep, seat, back, arm = (
        r.uniform(0.75, 0.95),
        r.uniform(0.36, 0.45),
        r.uniform(0.7, 0.95),
        r.uniform(0.1, 0.22),
    )
    b.block(f.at(0, 0, 0.08), (width, deep, seat - 0.2), cover)
    count = max(1, round((width - 2 * arm) / 0.7))
    w = (width - 2 * arm) / count
    for k in range(count):
        x = (k + 0.5) * w - 0.5 * width + arm
        b.block(f.at(x, 0.08, seat - 0.12), (w - 0.01, deep - 0.16, 0.12), cover)
        b.box(
            f.at(x, -0.5 * deep + 0.2, 0.5 * (seat + back)).pitch(0.15),
            (w - 0.02, 0.16, back - seat + 0.1),
            cover,
        )
    b.block(f.at(0, -0.5 * deep + 0.06, 0.08), (width, 0.12, back - 0.1), cover)
    for sx in (-1, 1):
        side = f.at(sx * 0.5 * (width - arm), 0, 0)
        b.block(side.at(0, 0, 0.05), (arm, deep, seat + 0.1), cover)
        if r.random() < 0.6:
            b.post(side.at(0, -0.5 * deep, seat + 0.15).pitch(-0.5 * pi), 0.55 * arm, deep, cover)
    for _ in range(r.randint(0, 4)):
        x = r.uniform(-0.35, 0.35) * width
        pillow = f.at(x, -0.1, seat + 0.2).pitch(r.uniform(0.2, 0.6)).roll(r.uniform(-0.4, 0.4))
        b.ball(pillow, (0.24, 0.09, 0.2), palette.cloth(r))


def bed(b: Builder, f: Frame, width: float) -> None:
    """Add a frame, a mattress, a blanket and pillows."""
    r = b.rng
    wood, sheet, blanket = b.camouflaged(palette.timber(r)), palette.painted(r), palette.cloth(r)
    long, high = r.uniform(1.9, 2.1), r.uniform(0.3, 0.5)
    b.block(f.at(0, 0, 0.1), (width, long, high - 0.2), wood)
    b.block(f.at(0, 0, high - 0.12), (width - 0.06, long - 0.06, 0.2), sheet)
    b.block(f.at(0, -0.5 * long, 0), (width, 0.05, r.uniform(0.7, 1.2)), wood)
    cover = r.uniform(0.5, 0.75) * long
    b.block(f.at(0, 0.5 * (long - cover) + 0.01, high - 0.2), (width + 0.02, cover, 0.3), blanket)
    for k in range(r.randint(1, 3)):
        x = (k - 0.5) * 0.5 * width if width > 1.2 else 0.0
        b.ball(f.at(x, -0.5 * long + 0.3 + 0.08 * k, high + 0.14).pitch(0.3), (0.32, 0.2, 0.09), palette.cloth(r))


def floor_lamp(b: Builder, f: Frame) -> None:
    """Add a foot, a thin pole and a lit shade."""
    r = b.rng
    iron = palette.metal(r)
    tall = r.uniform(1.2, 1.8)
    b.post(f, r.uniform(0.1, 0.17), 0.025, iron)
    b.post(f, r.uniform(0.008, 0.016), tall, iron)
    warm = Material((0.98, 0.9, 0.72), grain=0.02, glow=r.uniform(0.2, 1.0))
    if r.random() < 0.6:
        b.post(
            f.at(0, 0, tall - 0.1),
            r.uniform(0.15, 0.24),
            r.uniform(0.2, 0.32),
            warm,
            r.uniform(0.5, 0.9),
            False,
        )
    else:
        size = r.uniform(0.1, 0.16)
        b.ball(f.at(0, 0, tall + 0.5 * size), (size, size, size), warm, False)


def big_plant(b: Builder, f: Frame) -> None:
    """Add a tub with a bush or small tree."""
    r = b.rng
    tub, high = r.uniform(0.12, 0.22), r.uniform(0.2, 0.45)
    b.cup(f, 0.8 * tub, high, b.camouflaged(palette.ceramic(r)), 1.25)
    b.post(f, 0.78 * tub, 0.9 * high, Material((0.2, 0.14, 0.1), grain=0.3), 1.2)
    crown = f.at(0, 0, high)
    if r.random() < 0.4:
        trunk = r.uniform(0.3, 0.8)
        b.post(crown, 0.02, trunk, palette.timber(r), 0.8)
        crown = crown.at(0, 0, 0.8 * trunk)
    clutter.leaves(b, crown, r.uniform(0.25, 0.45), r.uniform(0.4, 0.8), r.randint(18, 36))


def crates(b: Builder, f: Frame) -> None:
    """Add cardboard boxes on each other."""
    r = b.rng
    z = 0.0
    for _ in range(r.randint(1, 4)):
        size = (r.uniform(0.25, 0.6), r.uniform(0.25, 0.5), r.uniform(0.15, 0.4))
        place = f.at(r.uniform(-0.05, 0.05), r.uniform(-0.05, 0.05), z).yaw(r.uniform(-0.3, 0.3))
        b.block(place, size, b.camouflaged(palette.card(r) if r.random() < 0.7 else palette.packet(r)))
        z += size[2]


def stool(b: Builder, f: Frame) -> Top:
    """Add a round seat on three legs."""
    r = b.rng
    wood = palette.timber(r)
    high, wide = r.uniform(0.4, 0.65), r.uniform(0.15, 0.2)
    b.post(f.at(0, 0, high - 0.03), wide, 0.03, wood)
    for k in range(3):
        b.post(f.yaw(2.1 * k).at(0, 0.9 * wide, 0).pitch(0.12), 0.016, high - 0.02, wood)
    return Top(f.at(0, 0, high), 0.7 * wide, 0.7 * wide, 0.4)


def stairs(b: Builder, f: Frame, width: float) -> None:
    """Add steps that rise along x, with a balustrade of thin rods."""
    r = b.rng
    tread, rail = b.camouflaged(palette.timber(r)), palette.metal(r)
    rise, run = r.uniform(0.16, 0.2), r.uniform(0.24, 0.3)
    for k in range(r.randint(5, 10)):
        step = f.at(k * run, 0, 0)
        b.block(step, (run, width, (k + 1) * rise), tread)
        b.post(step.at(0, 0.46 * width, (k + 1) * rise), 0.01, 0.9, rail)


def screen(b: Builder, f: Frame, width: float, height: float) -> None:
    """Add a frame with a grid or bars: a see-through divider, a fence, a drying rack."""
    r = b.rng
    wood = b.camouflaged(palette.timber(r) if r.random() < 0.5 else palette.metal(r))
    bar = r.uniform(0.006, 0.02)
    for sx in (-1, 1):
        b.block(f.at(sx * 0.5 * width, 0, 0), (0.04, 0.04, height), wood)
    for z in (0.08, height - 0.02):
        b.box(f.at(0, 0, z), (width, 0.035, 0.04), wood)
    columns, rows = r.randint(5, 16), r.choice((0, 0, 3, 5, 8))
    for k in range(1, columns):
        b.block(f.at((k / columns - 0.5) * width, 0, 0.08), (bar, bar, height - 0.1), wood)
    for k in range(1, rows):
        b.box(f.at(0, 0, 0.08 + k / rows * (height - 0.1)), (width, bar, bar), wood)


def ladder(b: Builder, f: Frame) -> None:
    """Add two rails and rungs, leaning towards the wall."""
    r = b.rng
    wood = palette.timber(r)
    lean, tall, wide = f.at(0, 0.6, 0).pitch(r.uniform(0.15, 0.3)), r.uniform(1.6, 2.3), r.uniform(0.35, 0.45)
    for sx in (-1, 1):
        b.block(lean.at(sx * 0.5 * wide, 0, 0), (0.03, 0.06, tall), wood)
    for k in range(1, int(tall / 0.28) + 1):
        b.box(lean.at(0, 0, 0.28 * k - 0.1), (wide, 0.03, 0.03), wood)


def leaning_boards(b: Builder, f: Frame) -> None:
    """Add planks and canvases leaning on the wall: slanted planes."""
    r = b.rng
    for k in range(r.randint(1, 4)):
        size = (r.uniform(0.2, 0.9), r.uniform(0.01, 0.03), r.uniform(0.5, 1.6))
        lean = f.at(r.uniform(-0.5, 0.5), 0.15 + 0.12 * k + 0.3 * size[2], 0).pitch(r.uniform(0.15, 0.4))
        b.block(lean, size, b.camouflaged(r.choice((palette.picture, palette.timber, palette.painted))(r)))


def desk(b: Builder, f: Frame, width: float) -> Top:
    """Add a table with a screen on it."""
    r = b.rng
    top = table(b, f, width, r.uniform(0.6, 0.8), r.uniform(0.7, 0.76), round_share=0.0)
    dark = Material((0.06, 0.06, 0.07), gloss=0.4, shine=80.0)
    image = palette.picture(r)
    wide = r.uniform(0.45, 0.65)
    stand = top.frame.at(r.uniform(-0.2, 0.2) * width, -0.6 * top.half_y, 0).yaw(r.uniform(-0.3, 0.3))
    b.block(stand, (0.2, 0.15, 0.012), dark)
    b.block(stand, (0.05, 0.03, 0.2), dark)
    b.box(stand.at(0, 0.02, 0.3), (wide, 0.03, 0.6 * wide), dark)
    lit = Material(image.base, image.second, image.third, image.pattern, image.scale, glow=0.5, salt=image.salt)
    b.box(stand.at(0, 0.037, 0.3), (0.95 * wide, 0.002, 0.55 * wide), lit)
    keys = Material((0.15, 0.15, 0.16), (0.5, 0.5, 0.5), (0.05, 0.05, 0.05), Pattern.TILES, 0.018)
    b.block(top.frame.at(0, 0.3 * top.half_y, 0), (0.42, 0.14, 0.018), keys)
    return top
