"""What the kernels read: one float64 table a scene, one row an object, columns named here by kind of object.

One table, not one array for each kind, because a kernel counts references to every array it hands on.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Table: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

# Surfaces, that is shapes and walls
KIND, MATERIAL = 0, 1

# Shapes: a unit solid (box, ball, frustum) carried into the world by an affine map
TAPER, CASTS = 2, 3
CENTRE = 4  # 3 columns, metres
HALF = 7  # 3 columns, half extents in metres
TO_UNIT = 10  # 9 columns, rows of the world-to-unit matrix
REACH = 19  # radius of the bounding ball, metres

# Walls: half-spaces whose intersection is the (convex) room
NORMAL = 2  # 3 columns, pointing out of the room
OFFSET = 5  # normal . point, on the wall
WALL_U, WALL_V = 6, 9  # 3 columns each, texture axes
WALL_ORIGIN = 12  # 3 columns, texture origin

# Lights: a lamp at a place, or the sun from a direction through a window
IS_SUN = 0
PLACE = 1  # 3 columns: position, or direction towards the sun
COLOUR = 4  # 3 columns
SPREAD = 7  # width of the lamp in metres; of the sun in radians
FALLOFF = 8  # distance at which a lamp's light is halved
PANE_CENTRE, PANE_U, PANE_V = 9, 12, 15  # 3 columns each; U and V divided by the half extents
PANES_U, PANES_V, BAR = 18, 19, 20

# Materials
PATTERN = 0
BASE, SECOND, THIRD = 1, 4, 7  # 3 columns each, linear RGB
SCALE, COSINE, SINE = 10, 11, 12
GRAIN, GLOSS, SHINE, GLOW, SALT = 13, 14, 15, 16, 17

# The last row: a pinhole camera and the ambient light from above and from below, linear RGB.
# The focal length is in units of the image diagonal, so that a view does not depend on its size.
EYE, RIGHT, DOWN, FORWARD = 0, 3, 6, 9
FOCAL = 12
ABOVE, BELOW = 13, 16

COLUMNS = 21


class Ends(NamedTuple):
    """Where the rows of each kind end: shapes, walls, lights; materials follow, then the view."""

    shapes: int
    walls: int
    lights: int
