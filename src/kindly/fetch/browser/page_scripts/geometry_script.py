"""The part of `script.TAKE` that decides by layout whether text can be seen.

It finds text beyond the page or the viewport, and text that a box crops. Slides of a carousel and text that a control
beside it may open are kept.
"""

GEOMETRY = """
  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const range = document.createRange();
  const boxesOf = (node) => {
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
  };
  const isMoved = (style) => style.transform !== "none" || (style.translate || "none") !== "none";
  const holdsFixed = (style) => isMoved(style) || style.filter !== "none" || style.perspective !== "none" ||
    /paint|layout|strict|content/.test(style.contain) || /transform|filter|perspective/.test(style.willChange);
  // The ancestors that clip an element: those up to the containing block of an absolute one do not.
  const frames = function* (element) {
    let position = styleOf(element).position;
    for (let at = element.parentElement; at && at !== document.body && at !== root; at = at.parentElement) {
      const style = styleOf(at);
      if (position === "fixed" && !holdsFixed(style)) continue;
      if (position === "absolute" && style.position === "static" && !holdsFixed(style)) continue;
      position = style.position;
      if (style.overflowX !== "visible" || style.overflowY !== "visible") yield at;
    }
  };
  const ownFrames = function* (element) {
    const style = styleOf(element);
    if (style.display !== "inline" && (style.overflowX !== "visible" || style.overflowY !== "visible")) yield element;
    yield* frames(element);
  };
  const SLIVER = 3;
  const isBelowOrAbove = (part, box) => part.top >= box.bottom - SLIVER || part.bottom <= box.top + SLIVER;
  const isBeside = (part, box) => part.left >= box.right - SLIVER || part.right <= box.left + SLIVER;
  const CONTROL = "button, [role=button], [aria-expanded], [aria-controls], summary, label, input[type=checkbox], " +
    "a[href^='#'], a[href^='javascript:'], a:not([href])";
  const hasControl = (frame) => [frame, frame.previousElementSibling, frame.nextElementSibling,
    frame.parentElement?.nextElementSibling]
    .some((near) => near && (near.matches(CONTROL) || near.querySelector(CONTROL)));
  // One of several boxes of the same size in a row, another of which is in view: the slide of a carousel.
  const isSlide = (element, frame) => {
    const view = frame.getBoundingClientRect();
    for (let at = element; at && at !== frame && at !== document.body; at = at.parentElement) {
      if (!at.className || !at.parentElement) continue;
      const box = at.getBoundingClientRect();
      for (const other of at.parentElement.children) {
        const there = other.getBoundingClientRect();
        if (other !== at && other.tagName === at.tagName && other.className === at.className &&
            Math.abs(there.width - box.width) < 2 && Math.abs(there.top - box.top) < 2 &&
            !isBeside(there, view)) return true;
      }
    }
    return false;
  };
  const SMALL = 64;
  const isCutOff = (element, boxes) => {
    for (const frame of ownFrames(element)) {
      const style = styleOf(frame);
      const box = frame.getBoundingClientRect();
      if (/^(?:hidden|clip)/.test(style.overflowY) && boxes.every((part) => isBelowOrAbove(part, box)) &&
          (Math.min(box.width, box.height) <= SMALL || !hasControl(frame))) return true;
      if (/^(?:hidden|clip)/.test(style.overflowX) && boxes.every((part) => isBeside(part, box)) &&
          !isSlide(element, frame) && (box.height <= SMALL || !hasControl(frame))) return true;
    }
    return false;
  };
  const isInFrame = (element) => {
    for (const frame of ownFrames(element)) {
      const box = frame.getBoundingClientRect();
      if (box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.width > 1 && box.height > 1) return true;
    }
    return false;
  };
  const fixedAround = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (styleOf(at).position !== "fixed") continue;
      for (let up = at.parentElement; up; up = up.parentElement) if (holdsFixed(styleOf(up))) return null;
      return at;
    }
    return null;
  };
  // Whether a position, a transform or a margin puts an element right of the page; the columns of a wide table are not.
  const isPushedAside = (element, edge) => {
    let first = element;
    for (let at = element; at && at.getBoundingClientRect().left >= edge; at = at.parentElement) first = at;
    const style = styleOf(first);
    if (style.position !== "static" || isMoved(style)) return true;
    const around = first.parentElement ? styleOf(first.parentElement).display : "";
    return /^(?:block|list-item|flow-root)$/.test(style.display) && style.float === "none" && !/flex|grid/.test(around);
  };
  const isBeyond = (element, boxes) => {
    if (fixedAround(element)) {
      const out = (part) => part.right <= 1 || part.bottom <= 1 || part.left >= innerWidth - 1 ||
        part.top >= innerHeight - 1;
      return boxes.every(out) && !isInFrame(element);
    }
    const edge = Math.max(root.clientWidth, 1) - 1;
    const rtl = styleOf(document.body).direction === "rtl";
    const right = boxes.every((part) => part.left + scrollX >= edge);
    const gone = boxes.every((part) => part.bottom + scrollY <= 0) ||
      (rtl ? right : boxes.every((part) => part.right + scrollX <= 0));
    if (!gone && !(right && isPushedAside(element, edge))) return false;
    return !isInFrame(element);
  };
  const isPlaced = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (styleOf(at).position === "absolute" || isMoved(styleOf(at))) return true;
    }
    return false;
  };
  // Placed texts that begin more than a screen below everything else of the page, where hardly anybody scrolls.
  const farBelow = (texts) => {
    const pictures = [...document.querySelectorAll("img, video, canvas, svg, iframe")];
    const spans = [
      ...pictures.map((picture) => picture.getBoundingClientRect()).filter((box) => box.width * box.height > 0)
        .map((box) => ({ top: box.top, bottom: box.bottom })),
      ...texts.map((text) => ({ text, top: Math.min(...text.boxes.map((part) => part.top)),
        bottom: Math.max(...text.boxes.map((part) => part.bottom)) })),
    ].sort((one, two) => one.top - two.top);
    let end = document.body.getBoundingClientRect().bottom;
    const far = [];
    for (const span of spans) {
      if (span.text && span.top > end + innerHeight && isPlaced(span.text.element)) far.push(span.text);
      else end = Math.max(end, span.bottom);
    }
    return far;
  };
"""
