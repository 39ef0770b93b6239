"""Scripts that run inside a page: `OBSERVE` counts its visible text, `TAKE` returns its visible HTML.

`TAKE` modifies the page, which is not used afterwards. It removes consent banners and everything that style, layout or
paint order hides, moves open shadow trees into the document, drops scripts and style sheets, and serialises the rest.
Style sheets go because rules that count elements would hide others once the hidden ones are removed.
"""

from kindly.fetch.browser.page_scripts.geometry_script import GEOMETRY
from kindly.fetch.browser.page_scripts.paint_script import COLOURS, PAINT

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
"""Selectors of consent dialogs, by the names that their vendors use."""

DECIDED = """
    color background text-shadow -webkit-text-fill-color position left top right bottom inset margin padding transform
    translate text-indent width height max-width max-height overflow z-index line-height
"""
"""Inline properties that are removed from the result: their effect is decided here, with the layout known."""

READABLE = ("text/", "application/xhtml+xml", "application/xml", "application/json")
"""Prefixes of media types that a browser shows as text."""

OBSERVE = """() => [
  document.body ? document.body.innerText.length : 0,
  document.readyState === "complete",
]"""

TAKE = (
    """async ([banners, limit]) => {
  const root = document.documentElement;
  const decided = `"""
    + DECIDED
    + """`.trim().split(/\\s+/);
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
"""
    + GEOMETRY
    + COLOURS
    + PAINT
    + """
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
    return /scale(?:3d|X|Y)?\\(0[,)]/.test(element.style.transform) || (style.transform !== "none" &&
        (box.width === 0 || box.height === 0) && element.offsetWidth > 0);
  };
  const hiddenText = (style) => {
    if (style.visibility !== "visible" || parseFloat(style.fontSize) < 2) return true;
    return Math.abs(parseFloat(style.textIndent)) > 900;
  };
  scrollTo({ left: 0, top: 0, behavior: "instant" });
  const trees = [];
  const texts = [];
  const shown = [];
  for (const element of elements) {
    if (!element.isConnected || element.closest("head") || element === document.body) continue;
    if (/^(?:SCRIPT|STYLE|LINK|META|TITLE|BR|OPTION)$/.test(element.tagName)) continue;
    const style = styleOf(element);
    if (hiddenTree(element, style)) {
      trees.push(element);
      continue;
    }
    const nodes = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!nodes.length) continue;
    if (hiddenText(style)) {
      texts.push(...nodes);
      continue;
    }
    for (const node of nodes) {
      const boxes = boxesOf(node);
      if (!boxes.length) continue;
      if (isCutOff(element, boxes) || isBeyond(element, boxes) || isUnderGenerated(element, boxes)) texts.push(node);
      else shown.push({ element, node, boxes, style });
    }
  }
  const gone = new Set(trees);
  const inTree = (element) => ancestorsOf(element).some((at) => gone.has(at));
  const drawn = shown.filter(({ element }) => !inTree(element));
  const far = new Set(farBelow(drawn));
  texts.push(...[...far].map(({ node }) => node));
  makeClickable();
  const sizeOf = (some) => some.reduce((sum, { node }) => sum + node.data.trim().length, 0);
  const covered = new Map();
  const decide = (candidates) => candidates.filter((text) => {
    const cover = coverOf(text.element, text.node);
    if (cover) covered.set(cover, [...(covered.get(cover) || []), text]);
    const hidden = !cover && isUnreadable(text.element, text.style, text.node);
    if (hidden) texts.push(text.node);
    return !hidden;
  });
  const candidates = drawn.filter((text) => !far.has(text));
  const left = decide(candidates);
  if (unread.size) {
    await readPictures();
    covered.clear();
    decide(left);
  }
  // A box over most of the page is a splash screen that a script removes.
  for (const found of covered.values()) {
    const size = sizeOf(found);
    if (size <= 600 || size <= 0.6 * sizeOf(candidates)) texts.push(...found.map(({ node }) => node));
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
    "script:not([type='application/ld+json']), noscript, template, style, " +
    "link[rel~=stylesheet], link[rel~=preload], link[rel~=modulepreload]")) {
    gone.remove();
  }
  for (const element of document.querySelectorAll("[style]")) {
    for (const name of decided) element.style?.removeProperty(name);
  }
  for (const element of document.querySelectorAll("[hidden], [popover]")) {
    element.removeAttribute("hidden");
    element.removeAttribute("popover");
  }
  const html = "<!doctype html>" + root.outerHTML;
  return html.length > limit ? "" : html;
}"""
)
