"""Refusals of a forward proxy: whether the configured proxy wrote an answer itself instead of passing one on. Pure.

`Via` and `X-Cache` are no evidence: proxies add them to the answers of sites too, and so do the sites' own caches.
"""

import re

from kindly.fetch.chain.types import HopReply

ASKS_FOR_LOGIN = 407
"""Only a proxy sends it."""
STATUSES = frozenset({403, ASKS_FOR_LOGIN, 502, 503, 504})
OWN_HEADERS = frozenset({"x-squid-error", "proxy-authenticate"})
"""Headers of answers that a proxy writes itself."""
SERVER = re.compile(
    r"(?:squid|mitmproxy|tinyproxy|zscaler|blue ?coat|bluecoat-security-appliance)\b", re.I
)
"""The start of the `Server` header of a forward proxy."""
PROXY_ERROR = re.compile(r";\s*error=", re.I)
PASSED_ON = re.compile(r";\s*received-status=", re.I)
BODY_BYTES = 64 * 1024
BODY_MARK = re.compile(
    rb"\(squid/[\d.]+|<body id=[\"']?ERR_[A-Z_]+|"
    rb"zscaler\.(?:com|net)|Internet Security by Zscaler|"
    rb"Blue ?Coat (?:Systems|ProxySG)|Your system policy has denied access to the requested URL|"
    rb"<h1>\d{3} [\w ]{1,40}</h1>\s{0,99}<p>[^<]{0,500}mitmproxy|"
    rb"tinyproxy</a> version|<title>[^<]{0,99}tinyproxy",
    re.I,
)
"""What the error pages of Squid, Zscaler, Blue Coat, mitmproxy and tinyproxy contain."""


def is_from_proxy(reply: HopReply) -> bool:
    """Whether a proxy wrote this answer; ask only where the request went to a proxy."""
    if reply.status not in STATUSES:
        return False
    if reply.status == ASKS_FOR_LOGIN or any(name in OWN_HEADERS for name, _ in reply.headers):
        return True
    return (
        SERVER.match(reply.header("server") or "") is not None
        or _reports_error(reply.header("proxy-status") or "")
        or BODY_MARK.search(reply.body[:BODY_BYTES]) is not None
    )


def _reports_error(proxy_status: str) -> bool:
    """Whether the proxy nearest to us, which is the last one in the list, failed without an answer from beyond."""
    nearest = proxy_status.rpartition(",")[2]
    return PROXY_ERROR.search(nearest) is not None and PASSED_ON.search(nearest) is None
