"""Which surface each camera ray meets first, and how far along the optical axis.

Rays are eye + t (forward + x right + y down), so t is the z-depth. In the unit coordinates of a shape such a
ray has a fixed origin and a direction linear in (x, y); a wall has an inverse depth linear in (x, y). Both
are rows of `rays`. Shapes are visited one by one, each only over its bounding rectangle in the image.
"""

from graphsr.scenes.camera import AHEAD, ALONG, ALONG_X, ALONG_Y, INVERSE, LEAST, NEAR
from graphsr.scenes.jit import called, inlined
from graphsr.scenes.shapes import hit
from graphsr.scenes.tables import KIND, TAPER, Ends, Indices, Table


@called
def find_surfaces(
    world: Table,
    ends: Ends,
    rays: Table,
    bounds: Indices,
    window: tuple[int, int, int, int],
    origin: tuple[float, float],
    pixel: float,
    depth: Table,
    seen: Indices,
) -> None:
    """Fill `depth` and `seen` (rows of the table) for the pixels of window (top, bottom, left, right).

    origin is (x, y) at the centre of the window's first pixel; pixel the step to the next.
    """
    first_row, end_row, first_column, end_column = window
    x0, y0 = origin
    for r in range(end_row - first_row):
        for c in range(end_column - first_column):
            inverse, seen[r, c] = wall_at(rays, ends, x0 + c * pixel, y0 + r * pixel)
            depth[r, c] = 1.0 / inverse
    for i in range(ends.shapes):
        top, bottom = max(bounds[i, 0], first_row), min(bounds[i, 1], end_row)
        left, right = max(bounds[i, 2], first_column), min(bounds[i, 3], end_column)
        if top >= bottom or left >= right:
            continue
        kind, taper, least = int(world[i, KIND]), world[i, TAPER], rays[i, LEAST]
        ox, oy, oz = rays[i, AHEAD], rays[i, AHEAD + 1], rays[i, AHEAD + 2]
        ax, ay, az = rays[i, ALONG], rays[i, ALONG + 1], rays[i, ALONG + 2]
        bx, by, bz = rays[i, ALONG_X], rays[i, ALONG_X + 1], rays[i, ALONG_X + 2]
        cx, cy, cz = rays[i, ALONG_Y], rays[i, ALONG_Y + 1], rays[i, ALONG_Y + 2]
        for r in range(top - first_row, bottom - first_row):
            y = y0 + r * pixel
            ex, ey, ez = ax + y * cx, ay + y * cy, az + y * cz
            for c in range(left - first_column, right - first_column):
                if least >= depth[r, c]:
                    continue
                x = x0 + c * pixel
                t = hit(kind, taper, ox, oy, oz, ex + x * bx, ey + x * by, ez + x * bz, NEAR)
                if t < depth[r, c]:
                    depth[r, c] = t
                    seen[r, c] = i


@inlined
def wall_at(rays: Table, ends: Ends, x: float, y: float) -> tuple[float, int]:
    """Return the inverse depth and the row of the wall that ends the ray (x, y)."""
    nearest, wall = 1e-9, ends.shapes
    for k in range(ends.shapes, ends.walls):
        inverse = rays[k, INVERSE] + rays[k, INVERSE + 1] * x + rays[k, INVERSE + 2] * y
        if inverse > nearest:
            nearest, wall = inverse, k
    return nearest, wall


@inlined
def find_surface_in_pixel(
    world: Table, ends: Ends, rays: Table, seen: Indices, row: int, column: int, x: float, y: float
) -> tuple[float, int]:
    """Return depth and surface of a ray within a pixel, among what its 3 x 3 neighbourhood shows at the centres.

    What shows at none of them is too thin to be in the depth map, and so is kept out of the guide.
    """
    inverse, what = wall_at(rays, ends, x, y)
    depth, tried = 1.0 / inverse, -1
    for r in range(row - 1, row + 2):
        for c in range(column - 1, column + 2):
            i = seen[r, c]
            if i >= ends.shapes or i == tried:
                continue
            tried = i
            dx = rays[i, ALONG] + x * rays[i, ALONG_X] + y * rays[i, ALONG_Y]
            dy = rays[i, ALONG + 1] + x * rays[i, ALONG_X + 1] + y * rays[i, ALONG_Y + 1]
            dz = rays[i, ALONG + 2] + x * rays[i, ALONG_X + 2] + y * rays[i, ALONG_Y + 2]
            ox, oy, oz = rays[i, AHEAD], rays[i, AHEAD + 1], rays[i, AHEAD + 2]
            t = hit(int(world[i, KIND]), world[i, TAPER], ox, oy, oz, dx, dy, dz, NEAR)
            if t < depth:
                depth, what = t, i
    return depth, what
