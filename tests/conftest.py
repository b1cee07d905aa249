"""What all tests share: hypothesis without deadlines, since test machines are noisy."""

from hypothesis import settings

settings.register_profile("sluicegate", deadline=None)
settings.load_profile("sluicegate")
