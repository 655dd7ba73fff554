"""Which addresses may be connected to. Pure: no look-ups, no sockets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_REFUSED: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("169.254.169.254/32", "a cloud's metadata service"),
        ("168.63.129.16/32", "a cloud's metadata service"),  # Azure; a public address outside it
        ("fd00:ec2::254/128", "a cloud's metadata service"),
        ("0.0.0.0/32", "the unspecified address"),
        ("::/128", "the unspecified address"),
        ("127.0.0.0/8", "a loopback address"),
        ("::1/128", "a loopback address"),
        ("10.0.0.0/8", "a private address"),
        ("172.16.0.0/12", "a private address"),
        ("192.168.0.0/16", "a private address"),
        ("fc00::/7", "a private address"),
        ("fec0::/10", "a site-local address"),
        ("169.254.0.0/16", "a link-local address"),
        ("fe80::/10", "a link-local address"),
        ("100.64.0.0/10", "shared by a carrier's customers (RFC 6598)"),
        ("224.0.0.0/4", "a multicast address"),
        ("ff00::/8", "a multicast address"),
        ("255.255.255.255/32", "the broadcast address"),
        ("198.18.0.0/15", "reserved for benchmarks"),
        ("192.0.2.0/24", "reserved for documentation"),
        ("198.51.100.0/24", "reserved for documentation"),
        ("203.0.113.0/24", "reserved for documentation"),
        ("2001:db8::/32", "reserved for documentation"),
        ("3fff::/20", "reserved for documentation"),
        ("0.0.0.0/8", "a reserved address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.88.99.0/24", "a reserved address"),
        ("240.0.0.0/4", "a reserved address"),
        ("64:ff9b:1::/48", "a NAT64 address of local use (RFC 8215)"),
        ("2001::/32", "a Teredo address"),
        ("2001::/23", "a reserved address"),
    )
)
"""What the special-purpose registries of IANA do not call globally reachable, with better words.

Needed beside ``is_global``, which in Python 3.11 lets pass: multicast, fec0::/10, 192.0.0.8/29 and
up, 64:ff9b:1::/48, 3fff::/20, and every address outside 2000::/3 but a few (gh-113171, gh-124217,
gh-151749).
"""

_GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All that IANA has given out; ranges reserved later (5f00::/16) lie outside."""

_DIALLED_AS_IPV4 = (
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped: the kernel speaks IPv4
    IPv6Network("64:ff9b::/96"),  # NAT64, on networks without IPv4 (RFC 6052)
)
_JUDGED_AS_IPV4 = (
    *_DIALLED_AS_IPV4,
    IPv6Network("2002::/16"),  # 6to4: newer versions of Python call all of it private (gh-113171)
)
_IPV4_LAST = (
    *_DIALLED_AS_IPV4,
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated (RFC 2765)
    IPv6Network("::/96"),  # IPv4-compatible
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressGuard:
    """Refuses every address that is not globally reachable, unless an ``allowed`` network holds it.

    An IPv6 address that stands for an IPv4 address is judged as that one, too. It judges addresses
    and never names: a name means what the resolver says at the moment of connecting.
    """

    allowed: Sequence[Network] = ()

    def refusal(self, address: str) -> str | None:
        """Why ``address``, as a resolver writes it, is not connected to; ``None`` when it is."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return f"{address!r} is no IP address"
        if isinstance(parsed, IPv6Address) and parsed.scope_id is not None:
            return f"{address} has a zone, so it is of one link only"
        embedded = tuple(_embedded(parsed))
        if any(one in network for one in (parsed, *embedded) for network in self.allowed):
            return None
        return _refusal(parsed, embedded)


def _refusal(address: Address, embedded: tuple[IPv4Address, ...]) -> str | None:
    """Why an address that nobody allowed is refused."""
    listed = _listed(address)
    if listed is not None:
        return f"{address} is {listed}"
    for inner in embedded:
        what = _special(inner)
        if what is not None:
            return f"{address} stands for {inner}, {what}"
    if any(address in network for network in _JUDGED_AS_IPV4):
        return None
    what = _special(address)
    return None if what is None else f"{address} is {what}"


def _special(address: Address) -> str | None:
    """What keeps an address from being globally reachable; ``None`` when nothing does."""
    listed = _listed(address)
    if listed is not None:
        return listed
    is_unicast = isinstance(address, IPv4Address) or address in _GLOBAL_UNICAST
    return None if address.is_global and is_unicast else "not globally reachable"


def _listed(address: Address) -> str | None:
    return next((what for network, what in _REFUSED if address in network), None)


def _embedded(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for or is reached through."""
    if isinstance(address, IPv4Address):
        return
    if any(address in network for network in _IPV4_LAST):
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
