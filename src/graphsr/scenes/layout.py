"""What is in a scene: one of a few kinds of place, furnished at random, and where the camera may stand."""

from collections.abc import Callable, Iterator
from itertools import islice
from math import cos, pi, sin
from random import Random
from typing import TypeAlias

from graphsr.scenes import clutter, fittings, furniture, palette
from graphsr.scenes.builder import Builder, Frame, Top, Vector, World
from graphsr.scenes.camera import is_clear, look_at
from graphsr.scenes.furnishing import dress_wall, floor_object, furnish_middle, furnish_wall
from graphsr.scenes.room import Room, build_room, light_room
from graphsr.scenes.tables import Table

Views: TypeAlias = Iterator[tuple[Vector, Vector]]
"""Where to stand and what to look at, one suggestion after another."""

_TRIES, _KEPT = 10, 3


def lay_out(rng: Random) -> tuple[World, list[Table]]:
    """Build a furnished world, and one to three views of it to choose from."""
    b = Builder(rng)
    b.camouflage_share = rng.choice((0.03, 0.1, 0.25))
    places = list(islice(rng.choice(_KINDS)(b), _TRIES))
    world = b.world()
    views = []
    for eye, aim in places:
        # 0.55 to 0.95 diagonals: 84 to 56 degrees from corner to corner, as phones and depth cameras have.
        view = look_at(b.inside(eye, 0.2), aim, roll=rng.gauss(0.0, 0.03), focal=rng.uniform(0.55, 0.95))
        if is_clear(world, view):
            views.append(view)
        if len(views) == _KEPT:
            break
    return world, views or [view]


def _living_room(b: Builder) -> Views:
    """Build a furnished room."""
    r = b.rng
    room = build_room(b, r.uniform(3.0, 6.0), r.uniform(3.5, 6.5), r.uniform(2.3, 3.0))
    light_room(b, room)
    for wall in (room.back, room.left, room.right):
        furnish_wall(b, wall, room.height)
    furnish_middle(b, room)
    return _standing(r, room)


def _hall(b: Builder) -> Views:
    """Build a long, sparse space: a corridor or a gallery."""
    r = b.rng
    room = build_room(b, r.uniform(2.2, 5.0), r.uniform(6.0, 9.0), r.uniform(2.5, 3.6))
    light_room(b, room)
    if r.random() < 0.6:
        stone = palette.stone(r)
        wide = r.uniform(0.12, 0.25)
        for k in range(r.randint(2, 4)):
            for side in (-1, 1):
                b.post(Frame((side * 0.3 * room.width, 2.5 + 1.6 * k, 0)), wide, room.height, b.camouflaged(stone))
    for wall in (room.back, room.left, room.right):
        furnish_wall(b, wall, room.height)
    if r.random() < 0.4:
        foot = Frame((r.uniform(-0.3, 0.1) * room.width, r.uniform(3.0, 4.5), 0))
        furniture.stairs(b, foot.yaw(r.choice((0.0, 0.5 * pi))), 1.0)
    for _ in range(r.randint(1, 4)):
        place = Frame((r.uniform(-0.35, 0.35) * room.width, r.uniform(2.5, 0.8 * room.depth), 0))
        floor_object(b, place.yaw(r.uniform(0, 2 * pi)))
    return _standing(r, room)


def _table_top(b: Builder) -> Views:
    """Build a still life close up, with a room behind it."""
    r = b.rng
    room = build_room(b, r.uniform(2.5, 5.0), r.uniform(2.5, 5.0), r.uniform(2.3, 2.8))
    light_room(b, room)
    gap = r.choice((0.02, r.uniform(0.1, 1.0)))
    wide, deep, high = r.uniform(1.0, 1.8), r.uniform(0.7, 1.1), r.uniform(0.6, 0.95)
    stand = Frame((r.uniform(-0.2, 0.2), room.depth - gap - 0.5 * deep, 0)).yaw(pi + r.uniform(-0.25, 0.25))
    top = furniture.table(b, stand, wide, deep, high)
    if r.random() < 0.5:
        clutter.cloth(b, top)
    dress_wall(b, room.back, -0.45 * room.back.length, 0.45 * room.back.length, high + 0.3)
    clutter.sheets(b, top, r.randint(0, 4))
    middle = Top(top.frame, 0.9 * top.half_x, 0.9 * top.half_y, 0.6)
    clutter.scatter(b, middle, r.randint(8, 24), (0.05, 0.17))
    return _around(r, top)


def _shelf(b: Builder) -> Views:
    """Build bookcases, cabinets and wall shelves, seen from near."""
    r = b.rng
    room = build_room(b, r.uniform(2.5, 4.5), r.uniform(2.2, 4.0), r.uniform(2.3, 2.8))
    light_room(b, room)
    wall = room.back.frame
    x = -1.4
    while x < 1.4:
        wide, deep = r.uniform(0.6, 1.2), r.uniform(0.22, 0.4)
        place = wall.at(x + 0.5 * wide, 0.5 * deep + 0.01, 0)
        kind = r.random()
        if kind < 0.7:
            furniture.bookcase(b, place, wide, deep, r.uniform(1.2, 2.1))
        elif kind < 0.85:
            top = furniture.cabinet(b, place, wide, deep, r.uniform(0.8, 1.1))
            clutter.scatter(b, top, 4, (0.07, 0.14))
        else:
            fittings.wall_shelf(b, wall.at(x + 0.5 * wide, 0, r.uniform(0.9, 1.5)), wide)
        x += wide + r.choice((0.02, 0.3))
    if r.random() < 0.5:
        floor_object(b, wall.at(r.uniform(-0.8, 0.8), r.uniform(0.5, 0.8), 0))
    return _facing(r, wall)


def _boards(b: Builder) -> Views:
    """Build slanted boards and clutter before a camera, as makers of stereo data sets do."""
    r = b.rng
    room = build_room(b, r.uniform(2.5, 4.0), r.uniform(2.5, 3.5), 2.5)
    light_room(b, room)
    stand = Frame((0.0, room.depth - 1.0, 0)).yaw(pi)
    top = furniture.table(b, stand, 2.2, 1.6, r.uniform(0.5, 0.8))
    for k in range(r.randint(3, 7)):
        place = top.frame.at(r.uniform(-0.9, 0.9), -0.6 + 0.15 * k, 0)
        size = (r.uniform(0.15, 0.8), 0.012, r.uniform(0.2, 0.9) * (1.0 - 0.08 * k))
        finish = r.choice((palette.picture, palette.picture, palette.cloth, palette.timber, palette.stone))
        b.block(place.yaw(r.uniform(-0.7, 0.7)).pitch(r.uniform(0.0, 0.5)), size, b.camouflaged(finish(r)))
    clutter.scatter(b, Top(top.frame.at(0, 0.2, 0), 0.9, 0.5, 0.7), r.randint(6, 14), (0.07, 0.2))
    return _before(r, top)


_KINDS: tuple[Callable[[Builder], Views], ...] = (
    _living_room, _living_room, _living_room, _hall, _table_top, _table_top, _shelf, _boards,
)  # fmt: skip


def _standing(r: Random, room: Room) -> Views:
    """Look from the near side of the room, at the height of a sitting or standing person."""
    while True:
        eye = (r.uniform(-0.42, 0.42) * room.width, r.uniform(0.05, 0.3) * room.depth, r.uniform(0.9, 1.8))
        aim = (r.uniform(-0.45, 0.45) * room.width, r.uniform(0.7, 1.0) * room.depth, r.uniform(0.3, 1.2))
        yield eye, aim


def _around(r: Random, top: Top) -> Views:
    """Look down on a table from close in front of it."""
    while True:
        aim = top.frame.point(r.uniform(-0.2, 0.2), r.uniform(-0.1, 0.15), r.uniform(0.0, 0.15))
        away, up = r.uniform(0.75, 1.7), r.uniform(0.2, 0.8)
        yield top.frame.yaw(r.uniform(-0.6, 0.6)).point(0.0, away * cos(up), 0.05 + away * sin(up)), aim


def _facing(r: Random, wall: Frame) -> Views:
    """Look at a wall from near, at the height of what stands there."""
    while True:
        aim = wall.point(r.uniform(-0.7, 0.7), 0.15, r.uniform(0.6, 1.4))
        yield wall.point(r.uniform(-1.0, 1.0), r.uniform(1.0, 2.0), r.uniform(0.8, 1.7)), aim


def _before(r: Random, top: Top) -> Views:
    """Look at the objects on a table from their own height."""
    while True:
        aim = top.frame.point(r.uniform(-0.3, 0.3), 0.0, r.uniform(0.1, 0.35))
        yield top.frame.point(r.uniform(-0.7, 0.7), r.uniform(1.2, 1.7), r.uniform(0.2, 0.8)), aim
