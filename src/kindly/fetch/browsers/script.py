"""What is run inside a page: one script that looks how much text it shows, one that takes what a person would see.

`TAKE` works on the page itself, which nobody uses afterwards: consent banners and everything that style or layout hides
are removed, open shadow trees are laid out in place, scripts are dropped, and the rest is serialised.
"""

BANNERS = (
    "#onetrust-consent-sdk",
    "#onetrust-banner-sdk",
    "#CybotCookiebotDialog",
    "#CybotCookiebotDialogBodyUnderlay",
    "#usercentrics-root",
    "#usercentrics-cmp-ui",
    "#didomi-host",
    "#didomi-popup",
    "#qc-cmp2-container",
    "#truste-consent-track",
    "#trustarcNoticeFrame",
    "#consent_blackbar",
    "#sp_message_container",
    "[id^=sp_message_container_]",
    "#cmpbox",
    "#cmpbox2",
    "#cmpwrapper",
    "#cookie-law-info-bar",
    "#cookie-notice",
    "#cookie-banner",
    "#cookie-consent",
    "#cookieConsent",
    "#cookiebanner",
    "#cookie-bar",
    "#gdpr-banner",
    "#iubenda-cs-banner",
    "#tarteaucitronRoot",
    "#axeptio_overlay",
    "#ketch-consent-banner",
    "#BorlabsCookieBox",
    "#cc--main",
    "#cc-main",
    "#klaro",
    "#cmplz-cookiebanner-container",
    "#moove_gdpr_cookie_info_bar",
    "#osano-cm-dialog",
    "#hs-eu-cookie-confirmation",
    "#termly-code-snippet-support",
    "#transcend-consent-manager",
    "#fc-consent-root",
    ".cc-window.cc-banner",
    ".cky-consent-container",
    ".cmplz-cookiebanner",
    ".cookie-banner",
    ".cookie-consent",
    ".cookie-notice",
    ".cookieconsent",
    ".fc-consent-root",
    ".osano-cm-window",
    ".qc-cmp2-container",
    ".truste_overlay",
    ".truste_box_overlay",
    ".evidon-banner",
    ".eu-cookie-compliance-banner",
    "[aria-label='Cookie banner' i]",
    "[aria-label='cookie consent' i]",
    "[data-testid='cookie-banner']",
)
"""Consent dialogs by the names their makers give them."""

OBSERVE = """() => [
  document.body ? document.body.innerText.length : 0,
  document.readyState === "complete",
]"""

TAKE = """([banners, limit]) => {
  const root = document.documentElement;
  const all = (scope, seen = []) => {
    for (const element of scope.querySelectorAll("*")) {
      seen.push(element);
      if (element.shadowRoot) all(element.shadowRoot, seen);
    }
    return seen;
  };
  const elements = all(document);
  for (const selector of banners) {
    for (const found of document.querySelectorAll(selector)) {
      if (found !== document.body && found !== root) found.remove();
    }
  }
  const alpha = (color) => {
    const parts = color.match(/[\\d.]+/g) || [];
    return color.startsWith("rgb") && parts.length < 4 ? 1 : Number(parts[3] ?? 1);
  };
  const backdrop = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none" || style.position === "absolute" || style.position === "fixed") return null;
      if (alpha(style.backgroundColor) === 1) return style.backgroundColor;
      if (alpha(style.backgroundColor) > 0) return null;
    }
    return "rgb(255, 255, 255)";
  };
  const clipped = (style) =>
    /^inset\\((?:[5-9]\\d|100)(?:\\.\\d+)?%|^(?:circle|ellipse)\\(0/.test(style.clipPath) ||
    /^polygon\\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\\)/.test(style.clipPath) ||
    (style.position !== "static" && /^rect\\((?:[01]px,? ?){4}\\)/.test(style.clip));
  const hiddenTree = (element, style) => {
    if (style.display === "none" || Number(style.opacity) < 0.05 || clipped(style)) return true;
    if (/(?:^| )(?:opacity\\((?:0|0?\\.0\\d*|0%)\\))/.test(style.filter)) return true;
    if (style.contentVisibility === "hidden") return true;
    if (style.display === "contents" || style.display === "inline") return false;
    const box = element.getBoundingClientRect();
    const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
    if (clips && (box.width <= 1 || box.height <= 1)) return true;
    if (/scale(?:3d|X|Y)?\\(0[,)]/.test(element.style.transform) || (style.transform !== "none" &&
        (box.width === 0 || box.height === 0) && element.offsetWidth > 0)) return true;
    const away = style.position === "absolute" || style.position === "fixed" || style.transform !== "none" ||
        style.position === "relative";
    if (!away || box.width === 0 || box.height === 0) return false;
    return box.right + scrollX <= 0 || box.bottom + scrollY <= 0 ||
        box.left + scrollX >= Math.max(root.clientWidth, 1) + 4000;
  };
  const hiddenText = (element, style) => {
    if (style.visibility !== "visible" || parseFloat(style.fontSize) < 2) return true;
    if (Math.abs(parseFloat(style.textIndent)) > 900) return true;
    if (style.webkitTextFillColor !== style.color && alpha(style.webkitTextFillColor) < 0.05) {
      return style.backgroundClip !== "text";
    }
    if (alpha(style.color) < 0.05) return style.backgroundClip !== "text";
    return style.textShadow === "none" && style.color === backdrop(element);
  };
  const trees = [];
  const texts = [];
  for (const element of elements) {
    if (!element.isConnected || element.closest("head") || element === document.body) continue;
    if (/^(?:SCRIPT|STYLE|LINK|META|TITLE|BR|OPTION)$/.test(element.tagName)) continue;
    const style = getComputedStyle(element);
    if (hiddenTree(element, style)) {
      trees.push(element);
      continue;
    }
    const own = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (own.length && hiddenText(element, style)) texts.push(...own);
  }
  const flat = (host) => {
    const held = document.createDocumentFragment();
    for (const slot of host.shadowRoot.querySelectorAll("slot")) slot.replaceWith(...slot.assignedNodes());
    held.append(...host.shadowRoot.childNodes);
    for (const style of held.querySelectorAll("style")) style.remove();
    host.replaceChildren(held);
  };
  for (const node of [...texts, ...trees]) node.remove();
  for (const element of elements.reverse()) if (element.shadowRoot) flat(element);
  for (const gone of document.querySelectorAll(
    "script:not([type='application/ld+json']), noscript, template, link[rel~=preload], link[rel~=modulepreload]")) {
    gone.remove();
  }
  const html = "<!doctype html>" + root.outerHTML;
  return html.length > limit ? "" : html;
}"""
