"""Flat pictures that fill a face: (share of the second colour, share of the third, brightness).

u and v are metres from the middle of the face, hu and hv its half extents.
"""

import math

from graphsr.scenes.jit import called
from graphsr.scenes.noise import fractal, hashed, inside, pulse, trait, value_noise


@called
def _ink(x: float, y: float, salt: int, footprint: float) -> float:
    """Paint letters in lines of pitch 1 and words of random length; grey where too small to be read."""
    line, place = math.floor(y), math.floor(x / 0.55)
    height = y - line
    if height < 0.22 or height > 0.82 or hashed(place, line, salt) < 0.17:
        return 0.0
    grey = 0.5
    sharp = min(1.0, max(0.0, 1.5 - 4.0 * footprint))
    if sharp <= 0.0:
        return grey
    across = math.floor((x / 0.55 - place) * 4.0)
    down = int((height - 0.22) * 6.6)
    stroke = 0.0 if across == 3 else 1.0 if hashed(4 * place + across, 5 * line + down, salt + 1) < 0.62 else 0.0
    return grey + (stroke - grey) * sharp


@called
def page(
    u: float, v: float, hu: float, hv: float, scale: float, salt: int, footprint: float
) -> tuple[float, float, float]:
    """Paint text in the second colour under a heading on base paper, and blocks (figures) in the third."""
    margin = 0.14 * min(hu, hv)
    if abs(u) > hu - margin or abs(v) > hv - margin:
        return 0.0, 0.0, 1.0
    x, y = (u + hu - margin) / scale, (hv - margin - v) / scale
    heading = 2.6
    if y < heading:
        ink = _ink(x / heading, y / heading, salt, footprint / (scale * heading))
        return ink if x * scale < (0.7 + trait(salt + 4)) * hu else 0.0, 0.0, 1.0
    paragraph = math.floor((y - heading) / 9.0)
    if trait(salt + 5 + 16 * paragraph) < 0.22:
        w2, w3, shade = poster(u, v, hu, hv, salt + paragraph, footprint)
        return w2, max(w3, 0.3), shade
    line = math.floor(y)
    width = 2.0 * (hu - margin) / scale
    if (line - int(heading)) % 9 == 8 or ((line * 7) % 9 == 0 and x > width * trait(salt + 2 + 16 * line)):
        return 0.0, 0.0, 1.0
    return _ink(x, y, salt, footprint / scale), 0.0, 1.0


@called
def poster(u: float, v: float, hu: float, hv: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint an abstract composition: bars, discs, wedges and waves in mixtures of three colours."""
    x, y = u / hu, v / hv
    wide = footprint / min(hu, hv)
    w2, w3, shade = 0.5 + 0.5 * y if trait(salt + 0) < 0.4 else 0.0, 0.0, 1.0
    for k in range(3 + int(5.0 * trait(salt + 1))):
        cx, cy = 2.0 * trait(salt + 2 + 16 * k) - 1.0, 2.0 * trait(salt + 3 + 16 * k) - 1.0
        size = 0.12 + 0.5 * trait(salt + 4 + 16 * k)
        form = trait(salt + 5 + 16 * k)
        a, b = x - cx, y - cy
        if form < 0.3:
            cover = inside(size - math.sqrt(a * a + b * b), wide)
        elif form < 0.6:
            cover = inside(min(size - abs(a), 0.7 * trait(salt + 6 + 16 * k) + 0.05 - abs(b)), wide)
        elif form < 0.8:
            cover = inside(min(size - abs(a) + 0.6 * b, b + size), wide)
        else:
            cover = inside(0.5 * size - abs(b + 0.3 * math.sin(4.0 * x + 6.0 * cx)), wide)
        tint = trait(salt + 7 + 16 * k)
        w2 += cover * ((1.0 if tint < 0.4 else 0.0) - w2)
        w3 += cover * ((1.0 if tint > 0.6 else 0.0) - w3)
        shade += cover * (0.4 + 0.8 * trait(salt + 8 + 16 * k) - shade)
    return w2, w3, shade


@called
def landscape(u: float, v: float, hu: float, hv: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint a sky in the first colour (clouds of the second) over ridges of the third; also seen through windows."""
    x, y = u / hu, v / hv
    wide = footprint / min(hu, hv)
    clouds = fractal(2.0 * x + 5.0, 5.0 * y, salt, 5.0 * wide)
    w2, w3, shade = min(1.0, max(0.0, 0.2 + 2.0 * clouds - 0.5 * y)), 0.0, 1.0 + 0.15 * y
    for k in range(4):
        ridge = 0.35 - 0.4 * k + 0.9 * fractal((1.5 + k) * x + 17.0 * k, 3.0, salt + 20 + k, wide)
        cover = inside(ridge - y, wide)
        trees = value_noise(14.0 * x, 14.0 * y + 40.0 * k, salt + k)
        w3 += cover * (0.55 + 0.15 * k - w3)
        shade += cover * (1.05 - 0.2 * k + 0.35 * (trees - 0.5) - shade)
    return w2, w3, shade


@called
def portrait(u: float, v: float, hu: float, hv: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint a head (second colour) and shoulders (third) before a backdrop."""
    x, y = u / hu, v / hv
    wide = footprint / min(hu, hv)
    lean = 0.3 * (trait(salt + 5) - 0.5)
    shade = 0.8 + 0.3 * y + 0.4 * fractal(3.0 * x, 3.0 * y, salt, 3.0 * wide)
    a, b = (x - lean) / 0.75, (y + 1.15) / 0.75
    coat = inside(1.0 - math.sqrt(a * a + b * b), wide)
    a, b = (x - lean) / 0.36, (y - 0.25) / 0.5
    hair = inside(1.0 - math.sqrt(a * a + b * b), wide)
    a, b = (x - lean) / 0.29, (y - 0.08) / 0.42
    face = inside(1.0 - math.sqrt(a * a + b * b), wide)
    eyes = inside(0.12 - math.sqrt((abs(a) - 0.42) ** 2 + (b - 0.15) ** 2), 4.0 * wide)
    eyes = max(eyes, inside(min(0.3 - abs(a), 0.05 - abs(b + 0.5)), 4.0 * wide))
    shade += hair * (0.25 - shade)
    shade += max(coat, face) * (1.0 - 0.35 * a - shade)
    shade *= 1.0 - 0.8 * eyes * face
    return face, max(coat * (1.0 - face), 0.4 * hair * (1.0 - face)), shade


@called
def label(
    u: float, v: float, hu: float, hv: float, scale: float, salt: int, footprint: float
) -> tuple[float, float, float]:
    """Paint a band of the second colour with letters in the third, along the longer side: spines, packets, tins."""
    if hv > hu:
        u, v, hu, hv = v, u, hv, hu
    x, y = u / hu, v / hv
    wide = footprint / hv
    low, high = -0.9 + 0.6 * trait(salt + 3), 0.1 + 0.8 * trait(salt + 6)
    band = inside(min(x - low, high - x) * hu / hv, wide)
    pitch = 1.5
    ink = 0.0
    if abs(y) < 0.55 and low + 0.05 < x < high - 0.05:
        ink = _ink(x * hu / hv / pitch * 1.2, y / pitch + 0.52, salt, wide / pitch)
    rule = pulse(x * 1.02 + 0.5 * trait(salt + 9), 0.03, footprint / hu)
    return band * (0.3 + 0.7 * trait(salt + 12)), max(ink, rule), 1.0


@called
def rug(
    u: float, v: float, hu: float, hv: float, scale: float, salt: int, footprint: float
) -> tuple[float, float, float]:
    """Paint borders in the three colours around a field of lozenges."""
    edge = min(hu - abs(u), hv - abs(v)) / scale
    wide = footprint / scale
    pile = 1.0 + 0.2 * fractal(u / 0.03, v / 0.03, salt, footprint / 0.03)
    second = pulse(0.5 * edge, 0.5, wide) if edge < 4.0 else 0.0
    third = inside(min(edge - 1.4, 1.8 - edge), wide)
    if edge >= 4.0:
        step = 2.0 + 3.0 * trait(salt + 8)
        a = abs(u / (step * scale) - math.floor(u / (step * scale)) - 0.5)
        b = abs(v / (step * scale) - math.floor(v / (step * scale)) - 0.5)
        lozenge = a + b
        second = inside(0.42 - lozenge, wide / step)
        third = inside(0.2 - lozenge, wide / step)
    return second, third, pile
