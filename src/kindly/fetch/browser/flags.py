"""How Chromium is started, whoever starts it: no way out but the proxy, nothing on its own account, nothing kept."""

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
"""No errands of the vendor's."""

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
"""No way out but the proxy, no names looked up, no permission given."""

LEAN = (
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
    "--mute-audio",
    "--autoplay-policy=user-gesture-required",
    "--hide-scrollbars",
)
"""No pictures, fonts or sound: only text is read."""

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
"""What the drivers turn off themselves (only one such list counts), and parts of a window that nobody sees: without
these a new page costs a third less."""

FLAGS = (*QUIET, *NARROW, *LEAN, f"--disable-features={','.join(FEATURES_OFF)}")
