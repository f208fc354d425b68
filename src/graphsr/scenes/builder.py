"""Coordinate frames, and the builder that collects shapes, walls, materials and lights."""

from dataclasses import dataclass
from math import cos, hypot, sin, sqrt
from random import Random
from typing import TypeAlias

import numpy as np

from graphsr.scenes import shapes
from graphsr.scenes.materials import Colour, Material, Pattern
from graphsr.scenes.tables import CASTS, CENTRE, HALF, IS_SUN, PLACE, TO_UNIT, Table

Vector: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class Frame:
    """A place with axes: by custom x along the front, y away from the wall behind, z up; metres."""

    origin: Vector = (0.0, 0.0, 0.0)
    x: Vector = (1.0, 0.0, 0.0)
    y: Vector = (0.0, 1.0, 0.0)
    z: Vector = (0.0, 0.0, 1.0)

    def point(self, a: float, b: float, c: float) -> Vector:
        """Return the world coordinates of a point given in this frame."""
        o, x, y, z = self.origin, self.x, self.y, self.z
        return (
            o[0] + a * x[0] + b * y[0] + c * z[0],
            o[1] + a * x[1] + b * y[1] + c * z[1],
            o[2] + a * x[2] + b * y[2] + c * z[2],
        )

    def at(self, a: float, b: float, c: float) -> "Frame":
        """Return the same axes at a point given in this frame."""
        return Frame(self.point(a, b, c), self.x, self.y, self.z)

    def yaw(self, angle: float) -> "Frame":
        """Turn about z (radians, anticlockwise from above)."""
        x, y = _turned(self.x, self.y, angle)
        return Frame(self.origin, x, y, self.z)

    def pitch(self, angle: float) -> "Frame":
        """Turn about x: the y axis rises."""
        y, z = _turned(self.y, self.z, angle)
        return Frame(self.origin, self.x, y, z)

    def roll(self, angle: float) -> "Frame":
        """Turn about y: the z axis leans to x."""
        z, x = _turned(self.z, self.x, angle)
        return Frame(self.origin, x, self.y, z)


def _turned(a: Vector, b: Vector, angle: float) -> tuple[Vector, Vector]:
    """Rotate two axes in their own plane."""
    c, s = cos(angle), sin(angle)
    return (
        (c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2]),
        (c * b[0] - s * a[0], c * b[1] - s * a[1], c * b[2] - s * a[2]),
    )


@dataclass(frozen=True)
class World:
    """A scene as tables, one for each kind of row (see tables.py); materials are counted from 0."""

    shapes: Table
    walls: Table
    lights: Table
    materials: Table
    ambient: Table


@dataclass(frozen=True)
class Top:
    """A level surface to put objects on: a frame in its middle and its half extents."""

    frame: Frame
    half_x: float
    half_y: float
    room_above: float = 1.0


class Builder:
    """Collects a scene. `rng` is the only source of randomness; `backdrop` is what most objects stand before."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.backdrop = Material((0.8, 0.8, 0.8))
        self.camouflage_share = 0.0
        self._shapes: list[tuple[float, ...]] = []
        self._walls: list[tuple[float, ...]] = []
        self._materials: list[tuple[float, ...]] = []
        self._lights: list[tuple[float, ...]] = []
        self._known: dict[int, tuple[Material, int]] = {}
        self.ambient: tuple[Colour, Colour] = ((0.5, 0.5, 0.5), (0.3, 0.3, 0.3))

    def camouflaged(self, material: Material) -> Material:
        """Return the material, or now and then the backdrop's, so that a depth edge has no colour edge."""
        return self.backdrop if self.rng.random() < self.camouflage_share else material

    def set_backdrop(self, material: Material) -> None:
        """Make the colour of this material, without its pattern, the backdrop."""
        self.backdrop = material if material.pattern is Pattern.PLAIN else Material(material.base, grain=0.0)

    def box(self, frame: Frame, size: Vector, material: Material, casts: bool = True) -> None:
        """Add a box of full extents `size` about the frame's origin."""
        self._add(shapes.BOX, frame, (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]), material, 1.0, casts)

    def block(self, frame: Frame, size: Vector, material: Material) -> None:
        """Add a box that stands on the frame's origin."""
        self.box(frame.at(0.0, 0.0, 0.5 * size[2]), size, material)

    def ball(self, frame: Frame, half: Vector, material: Material, casts: bool = True) -> None:
        """Add an ellipsoid about the frame's origin."""
        self._add(shapes.BALL, frame, half, material, 1.0, casts)

    def bowl(self, frame: Frame, half: Vector, material: Material) -> None:
        """Add the lower half of an ellipsoid's skin; its rim is at the frame's origin."""
        self._add(shapes.BOWL, frame, half, material, 1.0, True)

    def post(
        self,
        frame: Frame,
        radius: float,
        height: float,
        material: Material,
        taper: float = 1.0,
        casts: bool = True,
    ) -> None:
        """Add a cylinder or frustum that stands on the frame's origin; taper is upper over lower radius."""
        half = 0.5 * height
        self._add(shapes.FRUSTUM, frame.at(0, 0, half), (radius, radius, half), material, taper, casts)

    def cup(
        self,
        frame: Frame,
        radius: float,
        height: float,
        material: Material,
        taper: float = 1.0,
        casts: bool = True,
    ) -> None:
        """Add a frustum open at the top that stands on the frame's origin."""
        half = 0.5 * height
        self._add(shapes.CUP, frame.at(0, 0, half), (radius, radius, half), material, taper, casts)

    def wall(self, frame: Frame, material: Material) -> None:
        """Add a plane through the frame's origin; y points into the room, x and z carry the texture."""
        n, o = frame.y, frame.origin
        offset = -(n[0] * o[0] + n[1] * o[1] + n[2] * o[2])
        out = (-n[0], -n[1], -n[2])
        self._walls.append((float(shapes.WALL), float(self._material(material)), *out, offset, *frame.x, *frame.z, *o))

    def lamp(self, place: Vector, colour: Colour, radius: float, falloff: float) -> None:
        """Add a light at a place; half its strength at the distance `falloff`."""
        self._lights.append((0.0, *place, *colour, radius, falloff, *(0.0,) * 12))

    def sun(
        self,
        direction: Vector,
        colour: Colour,
        pane: Frame,
        size: tuple[float, float],
        panes: tuple[int, int],
    ) -> None:
        """Add sunlight from `direction` through a window about the frame's origin (x along it, z up)."""
        a, b = 2.0 / size[0], 2.0 / size[1]
        u = (a * pane.x[0], a * pane.x[1], a * pane.x[2])
        v = (b * pane.z[0], b * pane.z[1], b * pane.z[2])
        grid = (float(panes[0]), float(panes[1]), 0.05)
        self._lights.append((1.0, *direction, *colour, 0.01, 1.0, *pane.origin, *u, *v, *grid))

    def inside(self, point: Vector, margin: float) -> Vector:
        """Move the point to at least `margin` within every wall so far."""
        x, y, z = point
        for _ in range(4):
            for _, _, a, b, c, offset, *_ in self._walls:
                lack = max(0.0, margin - (offset - a * x - b * y - c * z))
                x, y, z = x - lack * a, y - lack * b, z - lack * c
        return (x, y, z)

    def world(self) -> World:
        """Return all that was collected, as tables."""
        solid = _table(self._shapes)
        for sun, *place in _table(self._lights)[:, IS_SUN : PLACE + 3]:
            if not sun:
                # A lamp right at a cupboard or within it would leave the room dark, or dappled.
                solid[gap_to_shapes(solid, np.array(place)) < 0.2, CASTS] = 0.0
        return World(
            shapes=solid,
            walls=_table(self._walls),
            materials=_table(self._materials),
            lights=_table(self._lights),
            ambient=_table(list(self.ambient)),
        )

    def _material(self, material: Material) -> int:
        known = self._known.get(id(material))
        if known is None:
            # The material is kept with its index: an id alone could be given to another object later.
            known = (material, len(self._materials))
            self._known[id(material)] = known
            self._materials.append(material.row())
        return known[1]

    def _add(self, kind: int, frame: Frame, half: Vector, material: Material, taper: float, casts: bool) -> None:
        hx, hy, hz = max(half[0], 1e-4), max(half[1], 1e-4), max(half[2], 1e-4)
        x, y, z = frame.x, frame.y, frame.z
        if kind == shapes.BOX:
            reach = sqrt(hx * hx + hy * hy + hz * hz)
        elif kind in (shapes.BALL, shapes.BOWL):
            reach = max(hx, hy, hz)
        else:
            reach = hypot(max(hx, hy) * max(1.0, taper), hz)
        self._shapes.append(
            (
                float(kind), float(self._material(material)), taper, float(casts),
                *frame.origin,
                hx, hy, hz,
                x[0] / hx, x[1] / hx, x[2] / hx,
                y[0] / hy, y[1] / hy, y[2] / hy,
                z[0] / hz, z[1] / hz, z[2] / hz,
                reach,
            )
        )  # fmt: skip


def gap_to_shapes(solid: Table, point: Table) -> Table:
    """Return (N,) metres from a point (3,) to the box around each shape, along its axis where most."""
    to_unit = solid[:, TO_UNIT : TO_UNIT + 9].reshape(-1, 3, 3)
    unit = (to_unit @ (point - solid[:, CENTRE : CENTRE + 3])[:, :, np.newaxis])[:, :, 0]
    gaps: Table = ((np.abs(unit) - 1.0) * solid[:, HALF : HALF + 3]).max(axis=1)
    return gaps


def _table(rows: list[tuple[float, ...]] | list[Colour]) -> Table:
    return np.array(rows, dtype=np.float64)
