from kindly.fetch.browser.flags import FEATURES_OFF, FLAGS, PICTURE_FLAGS, TEXT_ONLY


def test_no_flag_is_given_twice() -> None:
    """Chromium uses only the last of several."""
    names = [flag.partition("=")[0] for flag in FLAGS]
    assert len(set(names)) == len(names)
    assert all(name.startswith("--") for name in names)
    assert len(set(FEATURES_OFF)) == len(FEATURES_OFF)


def test_a_browser_for_pictures_differs_only_in_what_it_draws() -> None:
    assert set(FLAGS) - set(PICTURE_FLAGS) == set(TEXT_ONLY)
    assert set(PICTURE_FLAGS) <= set(FLAGS)


def test_the_only_way_out_is_the_proxy() -> None:
    """What this achieves is tested with a real browser, by `test_egress.py` and `attacks/test_ssrf.py`."""
    assert {
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    } <= set(FLAGS)
    assert "--no-sandbox" not in FLAGS
