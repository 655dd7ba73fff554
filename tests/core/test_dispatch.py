"""How a tick is shown, and that sharing it out loses no source and splits no host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.dispatch import ClaimedSource, Detail, batches, by_host, detail_for
from sourcemon.core.sources import SourceId

LEVELS = {
    "nothing due": (0, Detail.FLOW_RUNS),
    "ten": (10, Detail.FLOW_RUNS),
    "eleven": (11, Detail.TASKS),
    "a thousand": (1_000, Detail.TASKS),
    "a thousand and one": (1_001, Detail.BATCHES),
}


@pytest.mark.parametrize("due, expected", LEVELS.values(), ids=LEVELS)
def test_detail_by_number(due, expected):
    assert detail_for(due) is expected


@pytest.mark.parametrize("wanted", set(Detail) - {Detail.AUTO})
@pytest.mark.parametrize("due", [1, 500, 5_000])
def test_a_wanted_detail_is_given(due, wanted):
    assert detail_for(due, wanted) is wanted


def claimed(number: int, host: str) -> ClaimedSource:
    return ClaimedSource(source_id=SourceId(number), name=str(number), host=host, token="t")


def on_hosts(hosts: str) -> tuple[ClaimedSource, ...]:
    """One source for each letter, on the host of that letter."""
    return tuple(claimed(number, host) for number, host in enumerate(hosts))


def ids(group) -> list[int]:
    return [source.source_id for source in group]


def test_sources_are_grouped_by_host_in_the_order_given():
    assert [ids(group) for group in by_host(on_hosts("abacb"))] == [[0, 2], [1, 4], [3]]


def test_no_sources_make_no_groups_and_no_batches():
    assert by_host([]) == ()
    assert batches([]) == ()


BATCHES = {
    "all fit into one": ("abc", [[1, 1, 1]]),
    "one more opens the next": ("abcde", [[1, 1, 1], [1, 1]]),
    "a group that does not fit opens the next": ("aabb", [[2], [2]]),
    "a group larger than a batch has one of its own": ("aaaab", [[4], [1]]),
    "a group larger than a batch after a small one": ("abbbbc", [[1], [4], [1]]),
}


@pytest.mark.parametrize("hosts, sizes", BATCHES.values(), ids=BATCHES)
def test_batches_of_three(hosts, sizes):
    packed = batches(by_host(on_hosts(hosts)), size=3)
    assert [[len(group) for group in batch] for batch in packed] == sizes


@given(st.text("abcdef", max_size=40), st.integers(1, 10))
def test_no_source_is_lost_and_no_group_split(hosts, size):
    groups = by_host(on_hosts(hosts))
    packed = batches(groups, size)
    assert [group for batch in packed for group in batch] == list(groups)
    assert sorted(n for group in groups for n in ids(group)) == list(range(len(hosts)))
    for batch in packed:
        assert len(batch) == 1 or sum(map(len, batch)) <= size


def test_a_batch_is_a_hundred_polls_by_default():
    groups = by_host(claimed(number, str(number)) for number in range(250))
    assert [len(batch) for batch in batches(groups)] == [100, 100, 50]
