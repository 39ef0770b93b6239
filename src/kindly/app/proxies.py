"""Settings → the proxies of the API clients."""

from kindly.net.api_client import Proxies
from kindly.settings import Settings, revealed


def api_proxies(settings: Settings) -> Proxies:
    """HTTPS_PROXY, HTTP_PROXY and NO_PROXY."""
    return Proxies(revealed(settings.https_proxy), revealed(settings.http_proxy), settings.no_proxy)
