"""A loaded machine is slow, which is no fault of the code: hypothesis sets no deadline here."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


def pytest_configure(config):
    """Register the markers for ansible-test, which does not read pyproject.toml."""
    config.addinivalue_line("markers", "long: takes minutes")
