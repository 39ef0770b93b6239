from ipaddress import ip_address

from kindly.fetch.guard.guard import why_not_public
from kindly.fetch.guard.reserved import NEVER, NOT_PUBLIC, RESERVED_NAMES, UNSAFE_PORTS


def test_every_refused_range_has_its_source_and_none_is_public() -> None:
    for network, why in (*NEVER, *NOT_PUBLIC):
        assert "(" in why, f"{network} has no source"
        for address in (network.network_address, network.broadcast_address):
            assert why_not_public(ip_address(address)), network
    assert all(why for _, why in RESERVED_NAMES)


def test_a_reserved_name_is_one_lower_case_suffix() -> None:
    names = [name for name, _ in RESERVED_NAMES]
    assert len(set(names)) == len(names)
    assert all(name == name.lower().strip(".") for name in names)


def test_web_ports_are_safe_and_ports_of_other_services_are_not() -> None:
    assert not UNSAFE_PORTS & {80, 443, 8000, 8080, 8443}
    assert {22, 25, 53, 110, 143, 389, 587, 6667} <= UNSAFE_PORTS
