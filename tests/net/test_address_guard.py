"""Which addresses may be connected to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.net.guard import AddressGuard

REFUSED = {
    "loopback": "127.0.0.1",
    "loopback, far end": "127.255.255.254",
    "loopback over IPv6": "::1",
    "unspecified": str(IPv4Address(0)),
    "unspecified over IPv6": "::",
    "this network": "0.1.2.3",
    "private, ten": "10.1.2.3",
    "private, one seven two": "172.31.255.255",
    "private, one nine two": "192.168.1.1",
    "unique local": "fd00::1",
    "link-local": "169.254.1.1",
    "link-local over IPv6": "fe80::1",
    "link-local with a zone": "fe80::1%eth0",
    "any address with a zone": "2606:2800:220:1::1%2",
    "site-local": "fec0::1",
    "carrier-grade NAT": "100.64.0.1",
    "metadata": "169.254.169.254",
    "metadata over IPv6": "fd00:ec2::254",
    "metadata at Alibaba": "100.100.100.200",
    "metadata at Azure": "168.63.129.16",
    "metadata at Oracle": "192.0.0.192",
    "multicast": "224.0.0.1",
    "multicast that is_global calls global": "239.1.2.3",
    "multicast over IPv6": "ff0e::1",
    "broadcast": "255.255.255.255",
    "reserved": "240.0.0.1",
    "protocol assignments beyond Python's /29": "192.0.0.8",
    "benchmarks": "198.18.0.1",
    "benchmarks over IPv6": "2001:2::1",
    "documentation one": "192.0.2.1",
    "documentation two": "198.51.100.1",
    "documentation three": "203.0.113.1",
    "documentation over IPv6": "2001:db8::1",
    "documentation over IPv6, the newer": "3fff::1",
    "discard": "100::1",
    "dummy prefix": "100:0:0:1::1",
    "segment routing": "5f00::1",
    "outside global unicast": "4000::1",
    "relays of 6to4": "192.88.99.1",
    "mapped loopback": "::ffff:127.0.0.1",
    "mapped private": "::ffff:10.0.0.1",
    "mapped carrier-grade NAT": "::ffff:100.64.0.1",
    "translated loopback": "::ffff:0:127.0.0.1",
    "translated public": "::ffff:0:8.8.8.8",
    "compatible loopback": "::127.0.0.1",
    "compatible public": "::8.8.8.8",
    "NAT64 of loopback": "64:ff9b::7f00:1",
    "NAT64 of metadata": "64:ff9b::169.254.169.254",
    "NAT64 of local use": "64:ff9b:1::8.8.8.8",
    "6to4 of loopback": "2002:7f00:1::",
    "6to4 of private": "2002:c0a8:101::1",
    "Teredo": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "no address": "site.test",
}

PERMITTED = {
    "public": "93.184.216.34",
    "public over IPv6": "2606:2800:220:1::1",
    "mapped public": "::ffff:93.184.216.34",
    "NAT64 of public": "64:ff9b::93.184.216.34",
    "6to4 of public": "2002:5db8:d822::1",
    "beside a private range": "172.32.0.1",
    "beside carrier-grade NAT": "100.128.0.1",
    "beside link-local": "169.255.0.1",
}


@pytest.mark.parametrize("address", REFUSED.values(), ids=REFUSED)
def test_refused(address: str) -> None:
    assert AddressGuard().refusal(address) is not None


@pytest.mark.parametrize("address", PERMITTED.values(), ids=PERMITTED)
def test_permitted(address: str) -> None:
    assert AddressGuard().refusal(address) is None


ALLOWED = {
    "an address of an allowed network": ("192.168.1.0/24", "192.168.1.5", True),
    "its mapped form": ("192.168.1.0/24", "::ffff:192.168.1.5", True),
    "its NAT64 form": ("192.168.1.0/24", "64:ff9b::192.168.1.5", True),
    "an address beside it": ("192.168.1.0/24", "192.168.2.5", False),
    "the mapped form of one beside it": ("192.168.1.0/24", "::ffff:192.168.2.5", False),
    "an IPv6 network": ("fd12::/16", "fd12::1", True),
    "loopback for a demonstration": ("127.0.0.0/8", "127.0.0.1", True),
    "not the other family's loopback": ("127.0.0.0/8", "::1", False),
    "never a zone": ("fe80::/10", "fe80::1%eth0", False),
}


@pytest.mark.parametrize(("network", "address", "permitted"), ALLOWED.values(), ids=ALLOWED)
def test_allowed_networks(network: str, address: str, permitted: bool) -> None:
    guard = AddressGuard(allowed=(ip_network(network),))
    assert (guard.refusal(address) is None) is permitted


def test_a_refusal_names_the_address_and_the_reason() -> None:
    assert AddressGuard().refusal("127.0.0.1") == "127.0.0.1 is a loopback address"
    assert AddressGuard().refusal("64:ff9b::7f00:1") == (
        "64:ff9b::7f00:1 stands for 127.0.0.1, a loopback address"
    )


@given(st.ip_addresses(v=4))
def test_no_form_of_a_refused_ipv4_address_is_permitted(address: IPv4Address) -> None:
    number = int(address)
    forms = (
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address(number),
        IPv6Address((0xFFFF << 48) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80)),
        IPv6Address((0x20010000 << 96) | (~number & 0xFFFFFFFF)),
    )
    if AddressGuard().refusal(str(address)) is not None:
        assert all(AddressGuard().refusal(str(form)) is not None for form in forms)


@given(st.ip_addresses())
def test_a_permitted_address_is_global_by_the_standard_library(
    address: IPv4Address | IPv6Address,
) -> None:
    if AddressGuard().refusal(str(address)) is None:
        # 6to4 is private or not as the version of Python has it; what it stands for is not.
        stands_for = (getattr(address, form, None) for form in ("ipv4_mapped", "sixtofour"))
        inner = next((one for one in stands_for if one is not None), address)
        assert ip_address(str(inner)).is_global
        assert not inner.is_multicast
        assert not inner.is_link_local
