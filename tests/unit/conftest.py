def pytest_configure(config):
    """Register the markers for ansible-test, which does not read pyproject.toml."""
    config.addinivalue_line("markers", "long: takes minutes")
