"""The part of `script.TAKE` that decides by paint order and colour whether text can be seen.

`COLOURS` knows what an element paints behind its text. `PAINT` asks the browser what is painted at the place of a text
(hit testing): what is above it may cover it, and what is below it is its background. In doubt text is visible.
"""

COLOURS = """
  const pen = new OffscreenCanvas(16, 16).getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  // Red, green, blue and opacity of a computed colour.
  const colourOf = (text) => {
    if (!parsed.has(text)) {
      const parts = (text.match(/[\\d.]+/g) || []).map(Number);
      if (/^rgba?\\(/.test(text)) parsed.set(text, [...parts.slice(0, 3), parts[3] ?? 1]);
      else {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = "#0000";
        pen.fillStyle = text;
        pen.fillRect(0, 0, 1, 1);
        const [red, green, blue, opacity] = pen.getImageData(0, 0, 1, 1).data;
        parsed.set(text, [red, green, blue, opacity / 255]);
      }
    }
    return parsed.get(text);
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const alike = (colour, other) => {
    if ([0, 1, 2].every((part) => Math.abs(colour[part] - other[part]) <= 12)) return true;
    const [dark, light] = [luminance(colour), luminance(other)].sort((one, two) => one - two);
    return (light + 0.05) / (dark + 0.05) < 1.05;
  };
  const over = (top, below) =>
    [0, 1, 2].map((part) => top[part] * top[3] + below[part] * (1 - top[3])).concat(Math.max(top[3], below[3]));
  const OPAQUE = 0.95;
  // The darkest and the lightest colour of each channel in a picture; null if it cannot be read or is not opaque.
  const sampled = (picture) => {
    try {
      pen.clearRect(0, 0, 16, 16);
      pen.drawImage(picture, 0, 0, 16, 16);
      const { data } = pen.getImageData(0, 0, 16, 16);
      const least = [255, 255, 255, 1], most = [0, 0, 0, 1];
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] < 250) return null;
        for (let part = 0; part < 3; part += 1) {
          least[part] = Math.min(least[part], data[at + part]);
          most[part] = Math.max(most[part], data[at + part]);
        }
      }
      return [least, most];
    } catch {
      return null;
    }
  };
  const pictures = new Map();
  const unread = new Set();
  const STOP = /(?:rgba?|color|oklch|oklab|lab|lch)\\([^()]*\\)/g;
  const INK = /(?:fill|stop-color|background(?:-color)?)\\s*[=:]\\s*["']?([^"';>]+)/g;
  // The colours of a picture in the page itself; null for others, because pictures are not loaded.
  const pictureOf = (address) => {
    if (address.startsWith("data:image/") && !pictures.has(address)) unread.add(address);
    return pictures.get(address) ?? null;
  };
  const readPicture = async (address) => {
    const comma = address.indexOf(",");
    const [head, body] = [address.slice(5, comma), decodeURIComponent(address.slice(comma + 1))];
    const text = /;base64/i.test(head) ? atob(body.replace(/\\s/g, "")) : body;
    if (head.startsWith("image/svg")) {
      const words = [...text.matchAll(INK)].map((found) => found[1].trim());
      const inks = words.filter((ink) => ink !== "none").map(colourOf);
      return inks.length && inks.every((ink) => ink[3] >= OPAQUE) ? inks : null;
    }
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    return sampled(await createImageBitmap(new Blob([bytes], { type: head.split(";")[0] })));
  };
  const readPictures = async () => {
    for (const address of [...unread].slice(0, 20)) {
      pictures.set(address, await readPicture(address).catch(() => null));
    }
  };
  // A page paints the background of its body on the canvas, below everything else.
  const isPropagated = () => styleOf(root).backgroundImage === "none" &&
    colourOf(styleOf(root).backgroundColor)[3] === 0;
  // The colours that an element paints behind its text: [] for none, null if unknown.
  const fillOf = (element) => {
    if (element === document.body && isPropagated()) return [];
    const style = styleOf(element === root && isPropagated() ? document.body : element);
    const plain = colourOf(style.backgroundColor);
    if (style.backgroundClip.includes("text")) return [];
    if (/^(?:VIDEO|CANVAS|IFRAME|OBJECT|EMBED|svg)$/.test(element.tagName)) return null;
    if (element.tagName === "IMG") return pictureOf(element.currentSrc || element.src);
    if (style.backgroundImage === "none") return plain[3] > 0 ? [plain] : [];
    if (/no-repeat/.test(style.backgroundRepeat) && !/cover|^100%(?: 100%)?$/.test(style.backgroundSize)) return null;
    const address = style.backgroundImage.match(/^url\\("(.*)"\\)$/s);
    if (address) return pictureOf(address[1].replace(/\\\\(.)/g, "$1"));
    if (/url\\(/.test(style.backgroundImage)) return null;
    const stops = (style.backgroundImage.match(STOP) || []).map(colourOf);
    return stops.length ? stops.map((stop) => over(stop, plain)) : null;
  };
  const WHITE = [255, 255, 255, 1];
  // The colours behind a text, from the nearest layer down; null if one is unknown.
  const behind = (layers) => {
    const veils = [];
    let base = [WHITE];
    for (const layer of layers) {
      const fill = fillOf(layer);
      if (fill === null) return null;
      if (!fill.length) continue;
      const opacity = Number(styleOf(layer).opacity);
      if (fill.every((colour) => colour[3] >= OPAQUE) && opacity >= OPAQUE) {
        base = fill;
        break;
      }
      if (fill.length > 1) return null;
      veils.push([...fill[0].slice(0, 3), fill[0][3] * opacity]);
    }
    return base.map((colour) => veils.reduceRight((below, veil) => over(veil, below), colour));
  };
  const ancestorsOf = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement) found.push(at);
    return found;
  };
"""

PAINT = """
  const clickable = new CSSStyleSheet();
  clickable.replaceSync("*, *::before, *::after { pointer-events: auto !important }");
  const makeClickable = () => {
    for (const scope of [document, ...elements.map((element) => element.shadowRoot).filter(Boolean)]) {
      scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, clickable];
    }
    for (const element of elements) {
      if (element.style?.getPropertyPriority("pointer-events")) element.style.removeProperty("pointer-events");
    }
  };
  const isInView = (part) => part.left < innerWidth && part.right > 0 && part.top >= 0 && part.bottom <= innerHeight;
  const pointsOf = (part) => {
    const left = Math.max(part.left, 0), right = Math.min(part.right, innerWidth);
    return [0.5, 0.1, 0.9].map((share) => [left + share * (right - left), (part.top + part.bottom) / 2]);
  };
  // Some parts of a text, scrolled into view.
  const partsInView = (node) => {
    let parts = boxesOf(node);
    parts = [parts[0], parts[parts.length >> 1], parts[parts.length - 1]];
    if (!parts.every(isInView)) {
      scrollTo({ left: 0, top: Math.max(0, scrollY + parts[0].top - innerHeight / 4), behavior: "instant" });
      parts = boxesOf(node);
      parts = [parts[0], parts[parts.length >> 1], parts[parts.length - 1]];
    }
    return parts.filter(isInView);
  };
  const layerOf = (element) => {
    for (let at = element; at; at = at.parentElement) if (/^(?:fixed|sticky)$/.test(styleOf(at).position)) return at;
    return null;
  };
  const opacityOf = (element) => ancestorsOf(element).reduce((least, at) => least * Number(styleOf(at).opacity), 1);
  const isOpaque = (element) => {
    if (opacityOf(element) < OPAQUE || styleOf(element).mixBlendMode !== "normal") return false;
    const fill = fillOf(element);
    return fill !== null && fill.length > 0 && fill.every((colour) => colour[3] >= OPAQUE);
  };
  // A bar or a dialog that stays while the page scrolls covers nothing for long, unless the text stays too.
  const mayCover = (cover, element) => {
    const layer = layerOf(cover);
    if (!layer || layer.contains(element)) return true;
    if (cover.closest("dialog, [role=dialog], [role=alertdialog], [aria-modal]")) return false;
    const box = cover.getBoundingClientRect();
    if (box.width * box.height > innerWidth * innerHeight / 2) return false;
    return Boolean(fixedAround(element)) || root.scrollHeight <= innerHeight + 1;
  };
  const stackAt = (element, [x, y]) => element.getRootNode().elementsFromPoint(x, y);
  const coverAt = (element, point) => {
    if (element.getRootNode().elementFromPoint(...point) === element) return null;
    const stack = stackAt(element, point);
    const at = stack.indexOf(element);
    return at < 0 ? undefined : stack.slice(0, at).find((above) => isOpaque(above) && mayCover(above, element)) ?? null;
  };
  // The element that covers a text; null if there is none.
  const coverOf = (element, node) => {
    let cover = null;
    for (const part of partsInView(node)) {
      for (const point of pointsOf(part)) {
        const found = coverAt(element, point);
        if (found === null) return null;
        cover = found ?? cover;
      }
    }
    return cover;
  };
  const level = (element, above) => {
    let found = null;
    for (let at = element; at && at !== above; at = at.parentElement) {
      const style = styleOf(at);
      if (style.position !== "static") found = Number(style.zIndex) || 0;
    }
    return found;
  };
  const generated = new Map();
  // The opaque boxes that an element generates over its own content.
  const generatedBy = (owner) => {
    if (generated.has(owner)) return generated.get(owner);
    const found = [];
    for (const name of styleOf(owner).position === "static" ? [] : ["::before", "::after"]) {
      const style = getComputedStyle(owner, name);
      if (/^(?:none|normal)$/.test(style.content) || style.display === "none") continue;
      if (style.visibility !== "visible") continue;
      if (style.position !== "absolute" || Number(style.zIndex) < 0 || Number(style.opacity) < OPAQUE) continue;
      const stops = style.backgroundImage === "none" ? [] : (style.backgroundImage.match(STOP) || []).map(colourOf);
      const fill = stops.length ? stops : [colourOf(style.backgroundColor)];
      if (fill.every((colour) => colour[3] >= OPAQUE)) found.push([name, style]);
    }
    generated.set(owner, found);
    return found;
  };
  const isUnder = (element, boxes, owner, [name, style]) => {
    const text = level(element, owner), box = Number(style.zIndex) || 0;
    if (text !== null && (box < text || (box === text && name === "::before"))) return false;
    const frame = owner.getBoundingClientRect();
    const left = frame.left + owner.clientLeft + parseFloat(style.left);
    const top = frame.top + owner.clientTop + parseFloat(style.top);
    const right = left + parseFloat(style.width), bottom = top + parseFloat(style.height);
    return boxes.every((part) => part.left >= left - 2 && part.top >= top - 2 && part.right <= right + 2 &&
      part.bottom <= bottom + 2);
  };
  const isUnderGenerated = (element, boxes) =>
    ancestorsOf(element).some((owner) => generatedBy(owner).some((box) => isUnder(element, boxes, owner, box)));
  // What is painted below a text, at one of its points; the ancestors if that cannot be seen.
  const layersBelow = (element, node) => {
    for (const part of partsInView(node)) {
      for (const point of pointsOf(part)) {
        const stack = stackAt(element, point);
        const at = stack.indexOf(element);
        if (at >= 0) return stack.slice(at);
      }
    }
    return null;
  };
  const isOffset = (style) => /^(?:absolute|fixed)$/.test(style.position) || isMoved(style) ||
    (style.position === "relative" && [style.left, style.top, style.right, style.bottom].some(parseFloat));
  // The colours in which a text is drawn; null if unknown. A background may be clipped to the text.
  const inksOf = (element, style) => {
    const ink = colourOf(style.webkitTextFillColor);
    if (ink[3] >= 0.05) return [ink];
    const clip = ancestorsOf(element).find((at) => styleOf(at).backgroundClip.includes("text"));
    if (!clip) return [ink];
    const stops = styleOf(clip).backgroundImage.match(STOP) || [styleOf(clip).backgroundColor];
    return /url\\(/.test(styleOf(clip).backgroundImage) ? null : stops.map(colourOf);
  };
  const isUnreadable = (element, style, node) => {
    if (parseFloat(style.webkitTextStrokeWidth) > 0) return false;
    const inks = inksOf(element, style)?.concat((style.textShadow.match(STOP) || []).map(colourOf));
    if (!inks) return false;
    const onAll = (colours) => colours !== null &&
      colours.every((other) => inks.every((ink) => alike(over(ink, other), other)));
    const around = ancestorsOf(element);
    const guess = around.some((at) => isOffset(styleOf(at))) ? null : behind(around);
    if (guess !== null && !onAll(guess)) return false;
    const layers = layersBelow(element, node);
    return onAll(layers ? behind(layers) : guess);
  };
"""
