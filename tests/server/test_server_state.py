"""The app is available to the HTTP pages only while it is open."""

from kindly.app import App
from kindly.redact import Redactor
from kindly.server.server_state import AppHolder
from kindly.stages import Stages


def test_the_holder_has_the_app_only_within_its_block() -> None:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # nothing is called here
    app, holder = App(stages, Redactor.of([]), 1000, 1000, 5), AppHolder()
    assert holder() is None
    with holder.holding(app):
        assert holder() is app
    assert holder() is None
