from nodes import _clean_environment, authority, certificates, controller, start  # noqa: F401
