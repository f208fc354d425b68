from graphsr.models.base import load, models as names  # noqa
