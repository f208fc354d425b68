"""Settings of all tests."""

from hypothesis import settings

settings.register_profile("on machines of any speed", deadline=None)
settings.load_profile("on machines of any speed")
