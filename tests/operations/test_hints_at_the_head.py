"""What a server asks for in its head is kept, whatever becomes of the body."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sourcemon.core.replies import Headers, Response
from sourcemon.core.schedule import ObjectionName
from sourcemon.errors import Stopped
from sourcemon.operations.check_schedule import check_schedule
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.operations.poll_context import Poll
from tests.operations.watched import URL


class HalfAnswer:
    """Sends a head that asks to wait, and never the whole body."""

    def __init__(self, now):
        self._now = now

    def fetch(self, plan, *, heard):
        headers = Headers((("Retry-After", "7200"), ("X-Poll-Interval", "900")))
        heard(
            Response(
                url=URL,
                status=503,
                headers=headers,
                body=b"",
                sent_at=self._now,
                received_at=self._now,
            )
        )
        raise Stopped("the process was told to end in the middle of a request")

    def close(self):
        """Nothing to close."""


def test_a_stop_in_the_middle_of_a_body_does_not_forget_what_the_head_asked(kiosk, deps):
    half = replace(deps, http=HalfAnswer(deps.clock.now()))
    begun = check_schedule(half, kiosk.source.id)
    assert isinstance(begun, Poll)
    with pytest.raises(Stopped):
        fetch_page(half, begun)

    until = {
        o.name: (o.until - deps.clock.now()).total_seconds()
        for o in kiosk.state.schedule.objections
    }
    assert until == {ObjectionName.FLOOR: 900, ObjectionName.RETRY: 7200}
