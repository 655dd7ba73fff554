"""TLS: verified, with the name that was asked, and its failures told apart."""

from __future__ import annotations

import itertools
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sourcemon.core.replies import ErrorCategory, FetchLimits, NoResponse, RequestPlan, Response
from sourcemon.net.backend import GuardedBackend
from sourcemon.net.client import HttpClient
from sourcemon.net.guard import AddressGuard
from sourcemon.net.lookups import destinations
from sourcemon.net.transport import OneShotTransport
from tests.net.loopback import Exchange, Loopback, Script

PLAN = RequestPlan(url="https://site.test/feed", accept="*/*")
QUICK = FetchLimits(
    connect_timeout=timedelta(seconds=0.3),
    read_timeout=timedelta(seconds=0.3),
    total_timeout=timedelta(seconds=0.5),
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for ``site.test`` with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "site.test")])
    today = datetime.now(UTC)  # the certificate must be valid for the system's clock
    names: list[x509.GeneralName] = [
        x509.DNSName("site.test"),
        x509.IPAddress(ip_address("127.0.0.1")),
    ]
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "site.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def server(certificate: Path) -> Iterator[Loopback]:
    """A TLS server for ``site.test``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Loopback(lambda exchange: exchange.answer(b"feed"), tls=context) as running:
        yield running


def client(server: Loopback, *, trusting: Path | None = None, **names: str) -> HttpClient:
    """A client that trusts what the world trusts, or one certificate."""
    guard = AddressGuard()
    resolver = {"site.test": server.address, **names}
    backend = GuardedBackend(guard=guard, limits=QUICK, names=destinations(resolver))
    context = ssl.create_default_context(cafile=trusting) if trusting else None
    return HttpClient(
        user_agent="x",
        limits=QUICK,
        guard=guard,
        now=lambda: datetime(2026, 1, 10, tzinfo=UTC),
        transport=OneShotTransport(backend, ssl_context=context),
    )


def test_a_trusted_certificate_is_accepted(server: Loopback, certificate: Path) -> None:
    reply = client(server, trusting=certificate).fetch(PLAN)
    assert isinstance(reply, Response)
    assert reply.body == b"feed"


def test_a_self_signed_certificate_is_a_tls_failure(server: Loopback) -> None:
    reply = client(server).fetch(PLAN)
    assert isinstance(reply, NoResponse)
    assert reply.failure.category is ErrorCategory.TLS
    assert reply.failure.message.startswith("site.test:443 has no certificate that we trust")
    assert server.heads == []


def test_a_certificate_for_another_name_is_a_tls_failure(
    server: Loopback, certificate: Path
) -> None:
    other = client(server, trusting=certificate, **{"other.test": server.address})
    reply = other.fetch(RequestPlan(url="https://other.test/", accept="*/*"))
    assert isinstance(reply, NoResponse)
    assert reply.failure.category is ErrorCategory.TLS
    assert "other.test" in reply.failure.message


HANDSHAKES: dict[str, tuple[Script, ErrorCategory]] = {
    "plain HTTP": (lambda e: e.send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), ErrorCategory.TLS),
    "an alert": (lambda e: e.send(b"\x15\x03\x03\x00\x02\x02\x28"), ErrorCategory.TLS),
    "the end": (lambda _: None, ErrorCategory.TLS),
    "a reset": (lambda exchange: exchange.reset(), ErrorCategory.NETWORK),
    "silence": (lambda exchange: exchange.hang(), ErrorCategory.TIMEOUT),
    "a byte at a time": (
        lambda e: e.drip(itertools.repeat(b"\x16"), every_s=0.05),
        ErrorCategory.TLS,
    ),
}


@pytest.mark.parametrize(("script", "category"), HANDSHAKES.values(), ids=HANDSHAKES)
def test_handshakes_that_fail(script: Script, category: ErrorCategory) -> None:
    with Loopback(script) as plain:
        reply = client(plain).fetch(PLAN)
    assert isinstance(reply, NoResponse)
    assert reply.failure.category is category
    assert reply.failure.message.startswith("site.test:443 ")


def record_drip(exchange: Exchange) -> None:
    """A handshake record that announces 16 KB and comes byte by byte."""
    exchange.drip(itertools.chain([b"\x16\x03\x03\x40\x00"], itertools.repeat(b"x")), every_s=0.05)


def test_a_handshake_that_drips_ends_in_time() -> None:
    began = time.monotonic()
    with Loopback(record_drip) as slow:
        reply = client(slow).fetch(PLAN)
    assert isinstance(reply, NoResponse)
    assert reply.failure.category is ErrorCategory.TIMEOUT
    assert time.monotonic() - began < 1.5


def test_a_body_that_drips_under_tls_ends_in_time(certificate: Path) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        exchange.drip(itertools.repeat(b"x", 999), every_s=0.05)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    began = time.monotonic()
    with Loopback(script, tls=context) as slow:
        reply = client(slow, trusting=certificate).fetch(PLAN)
    assert isinstance(reply, Response)
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.TIMEOUT
    assert time.monotonic() - began < 2


def test_many_threads_share_one_tls_context(server: Loopback, certificate: Path) -> None:
    shared = client(server, trusting=certificate)
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(shared.fetch, [PLAN] * 64))
    assert all(isinstance(reply, Response) and reply.body == b"feed" for reply in replies)
