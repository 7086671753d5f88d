// The interactive part of a flame graph: a click zooms, typing searches, the pointer shows details. Each frame is a
// group `.f` whose data-f has depth, start, width and own part in the unit of the counts; everything else is read from
// its title.
// The state is in data-zoom and data-matched of the picture.
(function () {
  "use strict";
  const picture = (document.currentScript && document.currentScript.closest("svg")) || document.documentElement;
  const area = picture.querySelector(".frames");
  const details = picture.querySelector(".details");
  const matched = picture.querySelector(".matched");
  const unit = picture.dataset.unit;
  const seconds = { ns: 1e-9, us: 1e-6, "\u00b5s": 1e-6, ms: 1e-3, s: 1 }[unit];
  const areaWidth = Number(area.getAttribute("width"));
  const pictureWidth = Number(picture.getAttribute("width"));

  function make(name, attributes, parent) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    parent.appendChild(node);
    return node;
  }

  function brackets(text) {
    return Array.from(text.matchAll(/\s\(/g), function (found) { return found.index; });
  }
  // A title is a name, then, in brackets, numbers and the unit: `f(x) (10 ns, 25.00%)`. Both may contain brackets, but
  // the number of those after the name is constant.
  const afterName = 1 + brackets(" " + unit).length;
  function nameIn(title) {
    const places = brackets(title);
    return title.slice(0, places[places.length - afterName]);
  }

  const frames = Array.from(picture.querySelectorAll(".f"), function (node) {
    const numbers = node.dataset.f.split(",").map(Number);
    const title = node.querySelector("title").textContent;
    return {
      node: node, depth: numbers[0], start: numbers[1], width: numbers[2], own: numbers[3],
      title: title, name: nameIn(title),
      rect: node.querySelector("rect"), text: node.querySelector("text"),
    };
  });
  if (frames.length === 0) return;
  const all = frames[0];
  const frameOf = new Map(frames.map(function (frame) { return [frame.node, frame]; }));
  let shown = all;

  // Text that fits. All characters have the same width, East Asian ones twice that.
  const columnWidth = (function () {
    const ruler = make("text", { class: "ruler", y: -100 }, picture);
    ruler.textContent = "abcdefghijklmnopqrst";
    const width = ruler.getComputedTextLength() / 20;
    ruler.remove();
    return width || 7;
  })();

  function columnsOf(character) {
    const code = character.codePointAt(0);
    const isWide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) || code >= 0x1f300;
    return isWide ? 2 : 1;
  }

  function columns(text) {
    let sum = 0;
    for (const character of text) sum += columnsOf(character);
    return sum;
  }

  // Without namespaces and classes.
  function shortName(name) {
    let depth = 0;
    let begin = 0;
    for (let i = 0; i < name.length; ++i) {
      if ("<([{".includes(name[i])) ++depth;
      if (">)]}".includes(name[i]) && depth > 0) --depth;
      if (depth === 0 && name.startsWith("::", i) && i + 2 < name.length) begin = i + 2;
    }
    return name.slice(begin);
  }

  function cut(name, room) {
    if (columns(name) <= room) return name;
    let text = "";
    let used = 1;
    for (const character of name) {
      used += columnsOf(character);
      if (used > room) break;
      text += character;
    }
    return text + "\u2026";
  }

  function fitted(name, room) {
    if (room < 3) return "";
    return columns(name) <= room ? name : cut(shortName(name), room);
  }

  function label(frame, percent) {
    const text = fitted(frame.name, Math.floor((percent * areaWidth / 100 - 6) / columnWidth));
    if (text === "" && !frame.text) return;
    if (!frame.text) frame.text = make("text", { dx: 3, y: Number(frame.rect.getAttribute("y")) + 11.5 }, frame.node);
    frame.text.textContent = text;
  }

  function put(frame, x, width) {
    frame.rect.setAttribute("x", x + "%");
    frame.rect.setAttribute("width", width + "%");
    label(frame, width);
    if (frame.text) frame.text.setAttribute("x", x + "%");
  }

  // Makes one frame, and those below it, as wide as the picture.
  function zoom(to) {
    shown = to;
    const end = to.start + to.width;
    for (const frame of frames) {
      const frameEnd = frame.start + frame.width;
      const isUnder = frame.depth < to.depth && frame.start <= to.start && frameEnd >= end;
      const isInside = frame.depth >= to.depth && frame.start >= to.start && frameEnd <= end;
      frame.node.classList.toggle("under", isUnder);
      frame.node.classList.toggle("gone", !isUnder && !isInside);
      if (isUnder) put(frame, 0, 100);
      if (isInside) put(frame, 100 * (frame.start - to.start) / to.width, 100 * frame.width / to.width);
    }
    reset.classList.toggle("gone", to === all);
    picture.dataset.zoom = to === all ? "" : to.name;
    countMatches();
  }

  // How much of what is shown lies in frames that match: each part of it once, however many frames match there.
  function countMatches() {
    if (!picture.classList.contains("searched")) {
      matched.textContent = "";
      picture.dataset.matched = "";
      return;
    }
    const end = shown.start + shown.width;
    let covered = 0;
    let last = shown.start;
    const hits = frames.filter(function (frame) { return frame.node.classList.contains("hit"); });
    hits.sort(function (a, b) { return a.start - b.start; });
    for (const hit of hits) {
      const from = Math.max(hit.start, last);
      const to = Math.min(hit.start + hit.width, end);
      if (to > from) covered += to - from;
      last = Math.max(last, to);
    }
    const percent = (100 * covered / shown.width).toFixed(2);
    matched.textContent = "matched " + percent + "%";
    picture.dataset.matched = percent;
  }

  function search(text) {
    let pattern = null;
    input.classList.remove("wrong");
    try {
      if (text !== "") pattern = new RegExp(text, "i");
    } catch (error) {
      input.classList.add("wrong");  // search for the literal text
      pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
    for (const frame of frames) frame.node.classList.toggle("hit", pattern !== null && pattern.test(frame.name));
    picture.classList.toggle("searched", pattern !== null);
    countMatches();
  }

  function humanTime(count) {
    if (!seconds) return "";
    const time = count * seconds;
    const scales = [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"]];
    for (const scale of scales) {
      if (scale[0] === seconds) return "";  // that is its unit
      if (time >= scale[0]) return (time / scale[0]).toFixed(3) + " " + scale[1];
    }
    return "";
  }

  function amount(count) {
    const exact = count.toLocaleString("en-US") + " " + unit;
    const time = humanTime(count);
    return time ? exact + " = " + time : exact;
  }

  function describe(frame) {
    const room = Math.floor((pictureWidth - 130) / 6);
    let rest = frame.title.slice(frame.name.length);
    if (picture.dataset.kind !== "differential") {
      const percent = frame === all ? "100" : (100 * frame.width / all.width).toFixed(2);
      rest = ": " + amount(frame.width) + ", " + percent + "% of all; own " + amount(frame.own);
    }
    return cut(frame.name, Math.max(20, room - rest.length)) + rest;
  }

  // Controls are made here, as they would do nothing without a script.
  const reset = make("g", { class: "reset gone", role: "button", tabindex: 0 }, picture);
  make("rect", { x: pictureWidth - 308, y: 2, width: 80, height: 19, rx: 3 }, reset);
  make("text", { x: pictureWidth - 268, y: 15 }, reset).textContent = "Reset zoom";
  const holder = make("foreignObject", { x: pictureWidth - 220, y: 2, width: 210, height: 19 }, picture);
  const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
  input.setAttribute("placeholder", "Search (a pattern; / or Ctrl+F)");
  input.setAttribute("aria-label", "Search");
  input.setAttribute("spellcheck", "false");
  holder.appendChild(input);

  function frameAt(event) {
    const node = event.target.closest(".f");
    return node ? frameOf.get(node) : undefined;
  }
  area.addEventListener("click", function (event) {
    const frame = frameAt(event);
    if (frame && frame.width > 0) zoom(frame);
  });
  area.addEventListener("mouseover", function (event) {
    const frame = frameAt(event);
    details.textContent = frame ? describe(frame) : "";
  });
  area.addEventListener("mouseleave", function () { details.textContent = ""; });
  reset.addEventListener("click", function () { zoom(all); });
  reset.addEventListener("keydown", function (event) { if (event.key === "Enter" || event.key === " ") zoom(all); });
  input.addEventListener("input", function () { search(input.value); });
  document.addEventListener("keydown", function (event) {
    const opensSearch = (event.key === "f" && (event.ctrlKey || event.metaKey)) ||
      (event.key === "/" && event.target !== input);
    if (opensSearch) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === "Escape" && input.value !== "") {
      input.value = "";
      search("");
    } else if (event.key === "Escape") {
      zoom(all);
    }
  });
  zoom(all);
})();
