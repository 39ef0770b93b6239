"""Chromium's command-line flags: no network but the proxy, no vendor services, nothing stored."""

QUIET = (
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
)
"""No background requests to the vendor."""

NARROW = (
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--deny-permission-prompts",
    "--disable-notifications",
    "--disable-file-system",
)
"""No network path but the proxy, no DNS look-ups, no permissions."""

LEAN = (
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--autoplay-policy=user-gesture-required",
    "--hide-scrollbars",
)
"""No sound, no graphics processor."""

TEXT_ONLY = ("--blink-settings=imagesEnabled=false", "--disable-remote-fonts")
"""No images and fonts, where only text is needed."""

FEATURES_OFF = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)
"""Features that the drivers disable themselves (Chromium reads only one such list), and parts of the window that are
not visible in headless mode: without them, a new page costs a third less."""

PICTURE_FLAGS = (*QUIET, *NARROW, *LEAN, f"--disable-features={','.join(FEATURES_OFF)}")
"""For screenshots."""
FLAGS = (*PICTURE_FLAGS, *TEXT_ONLY)
