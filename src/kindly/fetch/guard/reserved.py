"""Reserved networks, names and ports: the SSRF guard's tables, with the source of each row.

Data only. The first matching row wins; `guard.py` decides what no row names.
"""

from ipaddress import IPv4Network, IPv6Network

Rule = tuple[IPv4Network | IPv6Network, str]

NEVER: tuple[Rule, ...] = (
    (IPv4Network("169.254.0.0/16"), "a link-local or metadata address (RFC 3927)"),
    (IPv4Network("100.100.100.200/32"), "a cloud metadata address (Alibaba Cloud)"),
    (IPv4Network("168.63.129.16/32"), "a cloud platform address (Azure WireServer)"),
    (IPv4Network("192.0.0.192/32"), "a cloud metadata address (Oracle Cloud)"),
    (IPv6Network("fd00:ec2::/32"), "a cloud metadata address (AWS)"),
    (IPv6Network("fd20:ce::254/128"), "a cloud metadata address (Google Cloud)"),
    (IPv6Network("fe80::/10"), "a link-local address (RFC 4291)"),
)
"""Refused even for hosts in `KINDLY_ALLOW_PRIVATE`."""

NOT_PUBLIC: tuple[Rule, ...] = (
    (IPv4Network("0.0.0.0/8"), "this network (RFC 1122)"),
    (IPv4Network("10.0.0.0/8"), "a private network (RFC 1918)"),
    (IPv4Network("100.64.0.0/10"), "a carrier's shared address space (RFC 6598)"),
    (IPv4Network("127.0.0.0/8"), "this machine (RFC 1122)"),
    (IPv4Network("169.254.0.0/16"), "a link-local or metadata address (RFC 3927)"),
    (IPv4Network("168.63.129.16/32"), "a cloud platform address (Azure WireServer)"),
    (IPv4Network("172.16.0.0/12"), "a private network (RFC 1918)"),
    (IPv4Network("192.0.0.0/24"), "a protocol assignment (RFC 6890)"),
    (IPv4Network("192.0.2.0/24"), "a documentation address (RFC 5737)"),
    (IPv4Network("192.31.196.0/24"), "an AS112 sink (RFC 7535)"),
    (IPv4Network("192.52.193.0/24"), "a multicast tunnel relay (RFC 7450)"),
    (IPv4Network("192.88.99.0/24"), "a 6to4 relay (RFC 7526)"),
    (IPv4Network("192.168.0.0/16"), "a private network (RFC 1918)"),
    (IPv4Network("192.175.48.0/24"), "an AS112 sink (RFC 7534)"),
    (IPv4Network("198.18.0.0/15"), "a benchmarking network (RFC 2544)"),
    (IPv4Network("198.51.100.0/24"), "a documentation address (RFC 5737)"),
    (IPv4Network("203.0.113.0/24"), "a documentation address (RFC 5737)"),
    (IPv4Network("224.0.0.0/4"), "a multicast address (RFC 5771)"),
    (IPv4Network("240.0.0.0/4"), "a reserved or broadcast address (RFC 1112, RFC 919)"),
    (IPv6Network("::/128"), "the unspecified address (RFC 4291)"),
    (IPv6Network("::1/128"), "this machine (RFC 4291)"),
    (IPv6Network("::/96"), "an IPv4-compatible address (RFC 4291)"),
    (IPv6Network("::ffff:0:0:0/96"), "an IPv4-translated address (RFC 2765)"),
    (IPv6Network("64:ff9b:1::/48"), "a local NAT64 prefix (RFC 8215)"),
    (IPv6Network("100::/64"), "the discard prefix (RFC 6666)"),
    (IPv6Network("2001::/32"), "a Teredo tunnel (RFC 4380)"),
    (IPv6Network("2001::/23"), "a protocol assignment (RFC 2928)"),
    (IPv6Network("2001:db8::/32"), "a documentation address (RFC 3849)"),
    (IPv6Network("2002::/16"), "a 6to4 tunnel (RFC 3056)"),
    (IPv6Network("2620:4f:8000::/48"), "an AS112 sink (RFC 7534)"),
    (IPv6Network("3ffe::/16"), "the returned 6bone (RFC 3701)"),
    (IPv6Network("3fff::/20"), "a documentation address (RFC 9637)"),
    (IPv6Network("5f00::/16"), "segment routing ids (RFC 9602)"),
    (IPv6Network("fc00::/7"), "a private network (RFC 4193)"),
    (IPv6Network("fe80::/10"), "a link-local address (RFC 4291)"),
    (IPv6Network("fec0::/10"), "a site-local address (RFC 3879)"),
    (IPv6Network("ff00::/8"), "a multicast address (RFC 4291)"),
)

PUBLIC_IPV6 = IPv6Network("2000::/3")
"""Global unicast (RFC 4291, IANA): outside it nothing is public."""

EMBEDDED_IPV4: tuple[IPv6Network, ...] = (
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped, RFC 4291
    IPv6Network(
        "64:ff9b::/96"
    ),  # NAT64 well-known prefix, RFC 6052: what DNS64 networks answer for public IPv4
)
"""Addresses that contain an IPv4 address in their last 32 bits, and are judged by it."""

LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
"""Translators of a local network (RFC 8215)."""

ISATAP_IDS = frozenset({0x0000_5EFE, 0x0200_5EFE})
"""First half of an interface id that contains an IPv4 address (RFC 5214)."""

RESERVED_NAMES: tuple[tuple[str, str], ...] = (
    ("localhost", "it is this machine (RFC 6761)"),
    ("localdomain", "it is this machine or its network"),
    ("local", "it is a name of a local network (RFC 6762)"),
    ("internal", "it is a name of a private network (ICANN, 2024)"),
    ("home.arpa", "it is a name of a home network (RFC 8375)"),
    ("intranet", "it is a name of a private network (RFC 6762, G)"),
    ("private", "it is a name of a private network (RFC 6762, G)"),
    ("corp", "it is a name of a private network (RFC 6762, G)"),
    ("home", "it is a name of a home network (RFC 6762, G)"),
    ("lan", "it is a name of a home network (RFC 6762, G)"),
    ("svc", "it is a name inside a Kubernetes cluster"),
    ("onion", "it is not a name of the public web (RFC 7686)"),
    ("alt", "it is not a name of the public web (RFC 9476)"),
    ("invalid", "it is a name that never resolves (RFC 6761)"),
)
"""Suffixes of names that belong to private networks."""

UNSAFE_PORTS = frozenset(
    # Fetch Standard, 2.9 "port blocking"
    {
        *(1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161),
        *(179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563),
        *(587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060),
        *(5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)
