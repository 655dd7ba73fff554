"""The operator's settings, from the environment, ``.env`` and ``sourcemon.toml``."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from sourcemon.settings.files import config_file, default_database_file

PREFIX = "SOURCEMON_"


def _contact(text: str) -> str:
    contact = text.strip()
    is_plain = contact.isascii() and contact.isprintable() and " " not in contact
    if not is_plain or len(contact) > _LONGEST_CONTACT or not ("@" in contact or "//" in contact):
        raise ValueError("write an address or a page, e.g. mailto:ops@example.org")
    return contact


def _network(text: object) -> IPv4Network | IPv6Network:
    try:
        return ip_network(str(text), strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is no network; write e.g. 127.0.0.0/8") from None


_LONGEST_CONTACT = 200

Contact = Annotated[str, AfterValidator(_contact)]
Network = Annotated[IPv4Network | IPv6Network, PlainValidator(_network)]
Seconds = Annotated[float, Field(gt=0, le=3_600)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HttpSettings(_Section):
    """Caps of one fetch, and where it may go."""

    max_body_bytes: int = Field(default=10_000_000, ge=1_000, le=1_000_000_000)
    """The largest body that is read, in bytes after decompression."""
    max_header_bytes: int = Field(default=65_536, ge=1_000, le=1_000_000)
    """The largest header section, in bytes."""
    max_redirects: int = Field(default=5, ge=0, le=20)
    """How many redirects are followed."""
    connect_timeout_s: Seconds = 5.0
    """The longest wait for a connection, in seconds."""
    read_timeout_s: Seconds = 15.0
    """The longest silence of a server, in seconds."""
    total_timeout_s: Seconds = 60.0
    """The longest time for a whole fetch, redirects included, in seconds."""
    allowed_networks: tuple[Network, ...] = ()
    """Local networks that may be asked all the same, e.g. ``["127.0.0.0/8"]``."""
    resolver: dict[str, str] = Field(default_factory=dict)
    """Names and the address, or ``address:port``, to ask instead of looking the name up."""


class PollingSettings(_Section):
    """When sources are polled, as far as it is up to us."""

    default_interval_s: float = Field(default=1_800, ge=10, le=2_592_000)
    """The interval of a source that is added without one, in seconds."""
    jitter: float = Field(default=0.1, ge=0, le=1)
    """The share of the interval that chance adds at most; never earlier, only later."""
    ceiling_with_validators_s: float = Field(default=300, ge=0, le=86_400)
    """The shortest interval, in seconds, for a public feed without a hint that can answer 304."""
    ceiling_without_validators_s: float = Field(default=3_600, ge=0, le=86_400)
    """The same for a public feed that sends every byte each time."""
    claim_lease_s: float = Field(default=300, ge=1, le=3_600)
    """How long a worker may hold a source without a sign of life, in seconds."""
    threads: int = Field(default=16, ge=1, le=64)
    """How many polls one worker process has under way at most."""
    max_in_flight: int = Field(default=32, ge=1, le=10_000)
    """How many polls the whole fleet has under way at most, over all worker processes."""


class HealthSettings(_Section):
    """Thresholds of the grade, as shares 0..1 of the newest attempts."""

    window_size: int = Field(default=20, ge=1, le=1_000)
    """How many of the newest attempts are judged."""
    healthy_threshold: Decimal = Field(default=Decimal("0.8"), ge=0, le=1)
    """The rate from which a source is ``working``."""
    auto_pause_threshold: Decimal = Field(default=Decimal("0.2"), ge=0, le=1)
    """The rate below which a source with a full window is ``failing``."""


class Settings(BaseSettings):
    """All settings; a value that is out of range is refused with its name and the range."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    contact: Contact | None = None
    """An address or page of whoever answers for the requests, e.g. ``mailto:ops@example.org``."""
    database_url: str | None = None
    """``postgresql://…`` or ``sqlite:////…``; unset means one file of the embedded default."""
    http: HttpSettings = HttpSettings()
    polling: PollingSettings = PollingSettings()
    health: HealthSettings = HealthSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given in code wins, then environment, ``.env``, ``sourcemon.toml``."""
        del file_secret_settings
        toml = TomlConfigSettingsSource(settings_cls, toml_file=config_file())
        return init_settings, env_settings, dotenv_settings, toml

    @property
    def effective_database_url(self) -> str:
        """The database's URL: the one that is set, else the embedded default's absolute file."""
        return self.database_url or f"sqlite:///{default_database_file()}"

    @property
    def is_embedded(self) -> bool:
        """Whether nobody set a database, so that its schema is ours to keep current."""
        return self.database_url is None


def seconds(value: float) -> timedelta:
    """A setting in seconds as a duration."""
    return timedelta(seconds=value)
