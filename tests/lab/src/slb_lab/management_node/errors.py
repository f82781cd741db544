"""What ends a request or a deployment and has to be said in the console's language."""

from slb_lab.management_node.messages import Language, Message


class ConsoleError(Exception):
    """A sentence of the catalogue with its values."""

    def __init__(self, message: Message, **values: object) -> None:
        super().__init__(message.say("en", **values))
        self._message = message
        self._values = values

    def say(self, language: Language) -> str:
        return self._message.say(language, **self._values)


class RefusedError(ConsoleError):
    """The install request is refused: the engine exists, or its port is occupied."""


class HalfWayError(ConsoleError):
    """The deployment ended after the container was started, which is left on the host."""
