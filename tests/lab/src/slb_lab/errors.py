"""The one error of the lab's programs."""


class LabError(Exception):
    """What happened and what to do next, in one or two sentences. Caught by the command line alone."""
