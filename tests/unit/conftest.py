"""A loaded machine is slow, which is no fault of the code: hypothesis sets no deadline here."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
