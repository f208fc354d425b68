"""What stands along a wall, hangs on it, or fills the middle of a room."""

from math import pi

from graphsr.scenes import clutter, fittings, furniture, palette
from graphsr.scenes.builder import Builder, Frame
from graphsr.scenes.room import Room, Wall


def furnish_wall(b: Builder, wall: Wall, ceiling: float) -> None:
    """Place furniture side by side along a wall, and pictures, windows or shelves above what is low."""
    r = b.rng
    x, end = -0.5 * wall.length + r.uniform(0.1, 0.8), 0.5 * wall.length - 0.15
    while x < end - 0.5:
        wide = min(end - x, r.uniform(0.6, 2.0))
        top = _stand_at_wall(b, wall.frame.at(x + 0.5 * wide, 0, 0), wide, ceiling)
        if top < 1.35:
            dress_wall(b, wall, x, x + wide, top)
        x += wide + r.uniform(0.02, 0.8)


def _stand_at_wall(b: Builder, f: Frame, wide: float, ceiling: float) -> float:
    """Place furniture of about this width with its back to the wall; return how high it reaches."""
    r = b.rng
    kind = r.randrange(13)
    if kind <= 1:
        high = min(r.uniform(0.9, 2.2), ceiling - 0.1)
        deep = r.uniform(0.24, 0.4)
        furniture.bookcase(b, f.at(0, 0.5 * deep + 0.01, 0), min(wide, 1.4), deep, high)
        return high
    if kind <= 3:
        high, deep = r.choice((r.uniform(0.5, 1.1), r.uniform(1.6, 2.1))), r.uniform(0.35, 0.6)
        top = furniture.cabinet(b, f.at(0, 0.5 * deep + 0.01, 0), wide, deep, high)
        if high < 1.2:
            clutter.scatter(b, top, r.randint(0, 6), (0.07, 0.18))
        return high
    if kind == 4 and wide > 1.2:
        furniture.sofa(b, f.at(0, 0.5, 0), wide)
        return 0.9
    if kind == 5 and wide > 1.0:
        top = furniture.desk(b, f.at(0, 0.42, 0), wide)
        clutter.scatter(b, top, r.randint(1, 5), (0.05, 0.13))
        furniture.chair(b, f.at(r.uniform(-0.2, 0.2), r.uniform(0.9, 1.1), 0).yaw(pi + r.uniform(-0.5, 0.5)))
        return 1.2
    if kind == 6 and wide > 0.9:
        furniture.bed(b, f.at(0, 1.08, 0), wide)
        return 1.0
    if kind == 7:
        fittings.door(b, f)
        return 2.2
    if kind == 8:
        furniture.leaning_boards(b, f)
        return 2.0
    if kind == 9:
        fittings.radiator(b, f, min(wide, 1.2))
        return 0.8
    if kind == 10:
        furniture.ladder(b, f)
        return 2.2
    floor_object(b, f.at(0, 0.4, 0))
    return 0.9


def floor_object(b: Builder, f: Frame) -> None:
    """Add something that stands by itself."""
    r = b.rng
    kind = r.randrange(9)
    if kind == 0:
        furniture.floor_lamp(b, f)
    elif kind <= 2:
        furniture.big_plant(b, f)
    elif kind == 3:
        furniture.crates(b, f)
    elif kind == 4:
        furniture.chair(b, f)
    elif kind == 5:
        clutter.scatter(b, furniture.stool(b, f), 1, (0.08, 0.14))
    elif kind == 6:
        furniture.screen(b, f, r.uniform(0.6, 1.6), r.uniform(0.7, 1.8))
    elif kind == 7:
        b.cup(f, r.uniform(0.12, 0.2), r.uniform(0.25, 0.5), b.camouflaged(palette.ornament(r)), 1.2)
    else:
        size = r.uniform(0.1, 0.3)
        b.ball(f.at(0, 0, size), (size, size, size), b.camouflaged(palette.ornament(r)))


def dress_wall(b: Builder, wall: Wall, start: float, end: float, above: float) -> None:
    """Add something on the wall between two places along it, above what stands there."""
    r = b.rng
    room = end - start
    f = wall.frame.at(0.5 * (start + end), 0, 0)
    kind = r.random()
    if kind < 0.4:
        fittings.pictures(b, f, room)
    elif kind < 0.65 and room > 0.6:
        low = max(above + 0.15, 0.85)
        high = min(2.1 - low, 1.4)
        if high > 0.4:
            fittings.window(b, f.at(0, 0, low + 0.5 * high), min(room, 1.8) * 0.9, high)
    elif kind < 0.8:
        fittings.wall_shelf(b, f.at(0, 0, max(above + 0.3, r.uniform(1.2, 1.7))), 0.8 * min(room, 1.6))
    elif kind < 0.87:
        fittings.clock(b, f.at(0, 0, 1.75))


def furnish_middle(b: Builder, room: Room) -> None:
    """Place a rug, a table with chairs, or free-standing objects."""
    r = b.rng
    spot = Frame((r.uniform(-0.2, 0.2) * room.width, r.uniform(0.45, 0.62) * room.depth, 0.0))
    middle = spot.yaw(r.choice((0.0, r.uniform(-0.5, 0.5))))
    if r.random() < 0.5:
        rug = palette.carpet(r)
        b.block(middle, (r.uniform(1.2, 2.4), r.uniform(1.0, 1.8), 0.008), rug)
    kind = r.random()
    if kind < 0.45:
        wide, deep = r.uniform(0.8, 1.6), r.uniform(0.7, 0.95)
        top = furniture.table(b, middle, wide, deep, r.uniform(0.68, 0.78))
        for side in (0, 1):
            for x in (-0.25, 0.25):
                if r.random() < 0.6:
                    seat = middle.yaw(pi * side).at(x * wide, -0.5 * deep - r.uniform(-0.05, 0.25), 0)
                    furniture.chair(b, seat.yaw(r.uniform(-0.3, 0.3)))
    elif kind < 0.7:
        top = furniture.table(b, middle, r.uniform(0.7, 1.3), r.uniform(0.5, 0.7), r.uniform(0.35, 0.5))
    else:
        for _ in range(r.randint(1, 3)):
            place = middle.at(r.uniform(-0.8, 0.8), r.uniform(-0.5, 0.8), 0)
            floor_object(b, place.yaw(r.uniform(0, 2 * pi)))
        return
    clutter.sheets(b, top, r.randint(0, 3))
    clutter.scatter(b, top, r.randint(1, 7), (0.06, 0.16))
