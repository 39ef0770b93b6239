"""Scripts that run inside a page: `OBSERVE` counts its visible text, `TAKE` returns its visible HTML.

`TAKE` modifies the page, which is not used afterwards. It removes consent banners and everything that style or layout
hides, moves open shadow trees into the document, drops scripts and style sheets, and serialises the rest. Style sheets
go because rules that count elements would hide others once the hidden ones are removed.
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
"""Selectors of consent dialogs, by the names that their vendors use."""

READABLE = ("text/", "application/xhtml+xml", "application/xml", "application/json")
"""Prefixes of media types that a browser shows as text."""

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
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\\d.]+/g).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const alike = (color, other) => {
    if (color === other) return true;
    if (!other || !color.startsWith("rgb") || !other.startsWith("rgb")) return false;
    const [dark, light] = [luminance(color), luminance(other)].sort((one, two) => one - two);
    return (light + 0.05) / (dark + 0.05) < 1.05;
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
    return style.textShadow === "none" && alike(style.color, backdrop(element));
  };
  const isEmpty = (element) => !element.textContent.trim() && !element.querySelector("img, svg, video, canvas, iframe");
  const covers = elements.filter((element) => {
    if (!element.isConnected || !isEmpty(element)) return false;
    const style = getComputedStyle(element);
    if (style.position !== "absolute" || alpha(style.backgroundColor) < 1 || Number(style.opacity) < 1) return false;
    const box = element.getBoundingClientRect();
    const area = box.width * box.height;
    return style.visibility === "visible" && area > 0 && area <= innerWidth * innerHeight / 2;
  }).slice(0, 50);
  const level = (element, above) => {
    let found = 0;
    for (let at = element; at && at !== above; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.position !== "static" && style.zIndex !== "auto") found = Number(style.zIndex);
    }
    return found;
  };
  const isAbove = (cover, element) => {
    if (cover.contains(element)) return false;
    if (element.contains(cover)) return level(cover, element) >= 0;
    let common = cover.parentElement;
    while (common && !common.contains(element)) common = common.parentElement;
    const difference = level(cover, common) - level(element, common);
    const after = element.compareDocumentPosition(cover) & Node.DOCUMENT_POSITION_FOLLOWING;
    return difference > 0 || (difference === 0 && Boolean(after));
  };
  const boxesOf = (nodes) => {
    const range = document.createRange();
    return nodes.flatMap((node) => (range.selectNodeContents(node), [...range.getClientRects()]));
  };
  const isCutOff = (element, nodes) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      const box = at.getBoundingClientRect();
      if (!/^(?:hidden|clip)/.test(style.overflowY) || Math.min(box.width, box.height) > 64) continue;
      const outside = (part) => part.top >= box.bottom || part.bottom <= box.top || part.left >= box.right ||
        part.right <= box.left;
      const boxes = boxesOf(nodes);
      if (boxes.length > 0 && boxes.every(outside)) return true;
    }
    return false;
  };
  const isCovered = (element, nodes) => {
    const boxes = boxesOf(nodes);
    const holds = (box, part) => part.left >= box.left - 1 && part.top >= box.top - 1 && part.top < box.bottom &&
      Math.min(part.right, innerWidth) <= box.right + 1 && part.bottom <= box.bottom + 1;
    return boxes.length > 0 && covers.some((cover) => {
      const box = cover.getBoundingClientRect();
      return boxes.every((part) => holds(box, part)) && isAbove(cover, element);
    });
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
    if (!own.length) continue;
    if (hiddenText(element, style) || isCovered(element, own) || isCutOff(element, own)) texts.push(...own);
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
  const html = "<!doctype html>" + root.outerHTML;
  return html.length > limit ? "" : html;
}"""
