"""A look at Prefect's part of the installation: its server, our limits, automation, deployments."""

from __future__ import annotations

from collections.abc import AsyncIterator

from prefect.client.orchestration import PrefectClient, get_client
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL, temporary_settings

from deployments.manifest import deployments
from deployments.prefect_api import Answer, answer_at, wanted_place
from deployments.server_objects import AUTOMATION
from sourcemon.core.checkup import Finding, State
from tasks.limits import POLLS, limit_problem

_PROVISION = "python -m deployments.provision"
_SERVE = "`make up` serves them, `prefect deploy --all --no-prompt` hands them to workers"


async def examine() -> tuple[Finding, ...]:
    """How the server, and what it must hold for us, stand; the server alone if nobody answers.

    Raises:
        Refused: ``PREFECT_API_URL`` is no address.
    """
    place = wanted_place()
    answer = answer_at(place)
    if answer is not Answer.PREFECT:
        nobody = answer is Answer.NOBODY
        message = f"{'nobody' if nobody else 'no Prefect server'} answers at {place.url}"
        fix = "`make up` starts one; polls by hand need none"
        if not nobody:
            fix = "set PREFECT_API_URL to another address; polls by hand need none"
        return (Finding(subject="prefect server", state=State.PROBLEM, message=message, fix=fix),)
    with temporary_settings({PREFECT_API_URL: place.url}):
        async with get_client() as client:
            return (
                Finding(subject="prefect server", state=State.OK, message=place.url),
                await _limit(),
                await _automation(client),
                *[finding async for finding in _deployments(client)],
            )


async def _limit() -> Finding:
    problem = await limit_problem()
    if problem is None:
        return Finding(subject="limit", state=State.OK, message=POLLS)
    return Finding(subject="limit", state=State.PROBLEM, message=problem, fix=_PROVISION)


async def _automation(client: PrefectClient) -> Finding:
    subject = "automation"
    if await client.read_automations_by_name(AUTOMATION):
        return Finding(subject=subject, state=State.OK, message=AUTOMATION)
    message = "missing: the run of a killed process would stay Running for ever"
    return Finding(subject=subject, state=State.PROBLEM, message=message, fix=_PROVISION)


async def _deployments(client: PrefectClient) -> AsyncIterator[Finding]:
    for served in await deployments():
        name = f"{served.deployment.flow_name}/{served.deployment.name}"
        try:
            found = await client.read_deployment_by_name(name)
        except ObjectNotFound:
            yield Finding(subject=name, state=State.PROBLEM, message="missing", fix=_SERVE)
            continue
        if found.paused or any(not schedule.active for schedule in found.schedules):
            fix = f"prefect deployment resume {name}"
            yield Finding(subject=name, state=State.WARNING, message="paused", fix=fix)
            continue
        yield Finding(subject=name, state=State.OK, message=served.when)
