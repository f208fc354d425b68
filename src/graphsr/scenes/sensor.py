"""From linear light to an 8-bit picture: exposure, white balance, vignetting, noise, tone curve."""

import math
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from graphsr.scenes.jit import inlined, kernel
from graphsr.scenes.tables import Table

# The curve is steep near black: this many levels keep its straight pieces below the noise.
_LEVELS = 16384
_WHITE = 3.0


@dataclass(frozen=True)
class Sensor:
    """The properties of one camera. Noise in parts of full scale: `shot` grows with the root of light, `read` not."""

    exposure: float
    balance: tuple[float, float, float]
    vignetting: float
    shot: float
    read: float
    blur: float
    contrast: float
    noise_seed: int

    @staticmethod
    def draw(rng: Random) -> "Sensor":
        """Draw a plausible camera."""
        warmth = rng.uniform(-0.12, 0.12)
        return Sensor(
            exposure=rng.uniform(0.75, 1.3),
            balance=(1.0 + warmth, 1.0 + rng.uniform(-0.03, 0.03), 1.0 - warmth),
            vignetting=rng.uniform(0.0, 0.5),
            shot=rng.uniform(0.002, 0.02),
            read=rng.uniform(0.0005, 0.004),
            blur=rng.uniform(0.0, 0.14),
            contrast=rng.uniform(0.0, 0.6),
            noise_seed=rng.getrandbits(32),
        )


def develop(image: NDArray[np.float32], sensor: Sensor) -> NDArray[np.uint8]:
    """Convert linear light (H, W, 3) to sRGB-like uint8, metered for the middle of the histogram."""
    grey = image[::4, ::4].mean(axis=2)
    # Between mean and median: a bright window may not black out the room, nor a dark room burn the rest.
    meter = 0.5 * float(grey.mean()) + 0.5 * float(np.median(grey))
    gain = sensor.exposure * 0.2 / max(meter, 1e-4)
    gains = np.array([gain * b for b in sensor.balance])
    noise = (sensor.shot, sensor.read, sensor.noise_seed)
    return _expose(image, gains, sensor.vignetting, noise, sensor.blur, _tone_curve(sensor.contrast))


def _tone_curve(contrast: float) -> Table:
    """Return the display value (0 to 255) by light in [0, _WHITE]: a shoulder, power 1/2.2, an S of `contrast`."""
    light = np.linspace(0.0, _WHITE, _LEVELS)
    shouldered = np.where(light < 0.6, light, 0.6 + 0.4 * np.tanh((light - 0.6) / 0.4))
    value = shouldered ** (1.0 / 2.2)
    return 255.0 * (value + contrast * (value * value * (3.0 - 2.0 * value) - value))


@kernel
def _expose(
    image: NDArray[np.float32],
    gains: Table,
    vignetting: float,
    noise: tuple[float, float, int],
    blur: float,
    curve: Table,
) -> NDArray[np.uint8]:
    height, width, _ = image.shape
    shot, read, seed = noise
    reach = 1.0 / (height * height + width * width)
    noisy = np.empty((height, width, 3), np.float32)
    for r in range(height):
        for c in range(width):
            y, x = 2.0 * r + 1.0 - height, 2.0 * c + 1.0 - width
            fall = 1.0 - vignetting * (x * x + y * y) * reach
            for k in range(3):
                light = max(0.0, image[r, c, k] * gains[k] * fall)
                deviation = math.sqrt(shot * shot * light + read * read)
                noisy[r, c, k] = light + deviation * _normal(seed + 3 * (r * width + c) + k)
    out = np.empty((height, width, 3), np.uint8)
    step = (curve.size - 1) / _WHITE
    for r in range(height):
        above, below = max(r - 1, 0), min(r + 1, height - 1)
        for c in range(width):
            left, right = max(c - 1, 0), min(c + 1, width - 1)
            for k in range(3):
                # After the noise, to correlate it as lens and demosaicing do.
                cross = noisy[above, c, k] + noisy[below, c, k] + noisy[r, left, k] + noisy[r, right, k]
                light = (1.0 - 4.0 * blur) * noisy[r, c, k] + blur * cross
                at = min(max(light, 0.0) * step, curve.size - 1.001)
                i = int(at)
                out[r, c, k] = int(curve[i] + (at - i) * (curve[i + 1] - curve[i]) + 0.5)
    return out


@inlined
def _normal(number: int) -> float:
    """Return a nearly normal number by index: four 16-bit parts of a hash (SplitMix64), centred and scaled."""
    # The masks make the shifts of signed numbers logical ones.
    h = number * -7046029254386353131
    h = (h ^ ((h >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    h = (h ^ ((h >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    h ^= (h >> 31) & 0x1FFFFFFFF
    total = (h & 0xFFFF) + ((h >> 16) & 0xFFFF) + ((h >> 32) & 0xFFFF) + ((h >> 48) & 0xFFFF)
    # The sum of four uniform parts has mean 2 and variance 1/3.
    return (total * (1.0 / 65536.0) - 2.0) * 1.7320508
