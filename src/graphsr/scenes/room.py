"""The shell of a scene: floor, walls, ceiling and light."""

from dataclasses import dataclass
from math import cos, pi, sin

from graphsr.scenes import fittings, palette
from graphsr.scenes.builder import Builder, Frame, Vector
from graphsr.scenes.materials import Colour, Material


@dataclass(frozen=True)
class Wall:
    """Frame on the floor in the middle of the wall (y into the room), and its length."""

    frame: Frame
    length: float


@dataclass(frozen=True)
class Room:
    """x from -width/2 to width/2, y from 0 (behind the viewer) to depth, z from 0 to height."""

    width: float
    depth: float
    height: float
    back: Wall
    left: Wall
    right: Wall


def build_room(b: Builder, width: float, depth: float, height: float) -> Room:
    """Add six planes, not always square to each other; at times a sloping roof, beams, skirting and a dado."""
    r = b.rng
    skew = 0.0 if r.random() < 0.6 else 0.12
    paint = palette.wall_finish(r)
    other = paint if r.random() < 0.6 else palette.wall_finish(r)
    walls = []
    for k, (x, y, length, finish) in enumerate(
        (
            (0.0, depth, width, paint),
            (-0.5 * width, 0.5 * depth, depth, other),
            (0.5 * width, 0.5 * depth, depth, other if r.random() < 0.7 else palette.wall_finish(r)),
            (0.0, 0.0, width, paint),
        )
    ):
        facing = (pi, -0.5 * pi, 0.5 * pi, 0.0)[k] + r.uniform(-skew, skew) * (k < 3)
        frame = Frame((x, y, 0.0)).yaw(facing)
        b.wall(frame, finish)
        walls.append(Wall(frame, length))
    b.set_backdrop(paint)
    b.wall(Frame().pitch(0.5 * pi), palette.floor_finish(r))
    ceiling = Material(palette.neutral(r) if r.random() < 0.3 else (0.9, 0.9, 0.88), grain=0.03)
    b.wall(Frame((0.0, 0.0, height)).pitch(-0.5 * pi), ceiling)
    if r.random() < 0.15:
        _sloping_roof(b, width, height, paint)
    if r.random() < 0.12:
        fittings.beams(b, Frame((0.0, 0.0, height)), width, depth)
    if r.random() < 0.6:
        _skirting(b, walls[:3])
    return Room(width, depth, height, walls[0], walls[1], walls[2])


def _sloping_roof(b: Builder, width: float, height: float, finish: Material) -> None:
    """Add a plane from a side wall at knee or head height up to the ceiling."""
    side = b.rng.choice((-1, 1))
    frame = Frame((side * 0.5 * width, 0.0, b.rng.uniform(0.9, 0.7 * height))).yaw(side * 0.5 * pi)
    b.wall(frame.pitch(-b.rng.uniform(0.5, 1.0)), finish)


def _skirting(b: Builder, walls: list[Wall]) -> None:
    """Add a skirting board along some walls."""
    trim = palette.painted(b.rng)
    high = b.rng.uniform(0.06, 0.14)
    for wall in walls:
        b.box(wall.frame.at(0, 0.006, 0.5 * high), (wall.length + 0.5, 0.012, high), trim)


def light_room(b: Builder, room: Room) -> None:
    """Add ambient light, one or two lamps, and at times the sun through a window beside or behind the viewer."""
    r = b.rng
    mood = r.random()
    fill = r.uniform(0.25, 0.7)
    b.ambient = (
        _tinted(r.uniform(-0.06, 0.06), fill),
        _tinted(r.uniform(0.0, 0.12), fill * r.uniform(0.4, 0.8)),
    )
    if mood < 0.5:
        place = (r.uniform(-0.3, 0.3) * room.width, r.uniform(0.3, 0.75) * room.depth, 0.93 * room.height)
        _add_lamp(b, place, r.uniform(0.5, 1.1))
        if r.random() < 0.5:
            fittings.ceiling_lamp(b, Frame((place[0], place[1], room.height)), r.uniform(0.1, 0.5))
    else:
        side = r.choice((-1, 1))
        place = (
            side * 0.47 * room.width,
            r.uniform(0.1, 0.8) * room.depth,
            r.uniform(0.5, 0.9) * room.height,
        )
        _add_lamp(b, place, r.uniform(0.7, 1.4))
    if r.random() < 0.35:
        place = (
            r.uniform(-0.45, 0.45) * room.width,
            r.uniform(0.05, 0.9) * room.depth,
            r.uniform(0.5, 0.95) * room.height,
        )
        _add_lamp(b, place, r.uniform(0.2, 0.7))
    elif r.random() < 0.45:
        _add_sun(b, room)


def _tinted(warmth: float, level: float) -> Colour:
    return (level * (1.0 + warmth), level, level * (1.0 - warmth))


def _add_lamp(b: Builder, place: Vector, level: float) -> None:
    r = b.rng
    b.lamp(place, _tinted(r.uniform(-0.05, 0.2), level), r.choice((0.01, 0.05, 0.12)), r.uniform(1.5, 4.0))


def _add_sun(b: Builder, room: Room) -> None:
    r = b.rng
    side = r.choice((-1, 1))
    wall = room.left if side < 0 else room.right
    size = (r.uniform(0.7, 1.6), r.uniform(0.8, 1.5))
    # Above and behind the glass, shining along the wall's inward normal and down.
    azimuth, low = r.uniform(-0.7, 0.7), r.uniform(0.35, 0.9)
    frame = wall.frame.at(r.uniform(-0.3, 0.3) * wall.length, 0.0, r.uniform(1.2, 1.7))
    inward, along = frame.y, frame.x
    direction = (
        cos(low) * (-cos(azimuth) * inward[0] + sin(azimuth) * along[0]),
        cos(low) * (-cos(azimuth) * inward[1] + sin(azimuth) * along[1]),
        sin(low),
    )
    b.sun(
        direction,
        _tinted(r.uniform(0.05, 0.2), r.uniform(1.2, 2.5)),
        frame,
        size,
        (r.randint(1, 4), r.randint(1, 4)),
    )
