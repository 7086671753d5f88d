// The text of lines, as `testlog show --report lines` prints it: a list of [class, text], or [class, list].

const LEVELS = ["", "ERROR", " WARN", " INFO", "DEBUG", "TRACE"];
const LEVEL_CLASSES = ["", "error", "warn", "info", "debug", "trace"];

function valueText(block, value) {
  const type = value % 8;
  if (type >= TEXT) return block.texts[(value - type) / 8];
  if (type === NATURAL) return String((value - type) / 8);
  if (type === NEGATIVE) return "-" + (value - type) / 8;
  return type === NO ? "false" : type === YES ? "true" : "";
}

function valueClass(value) {
  const type = value % 8;
  if (type === TEXT) return "text";
  return type === NO || type === YES ? "bool" : type === OTHER ? "other" : "number";
}

function messageText(block, site, first) {
  let text = site.message[0];
  for (let i = 1; i < site.message.length; ++i) text += valueText(block, block.values[first++]) + site.message[i];
  return text;
}

// Appends `message name=value`. `first` is the index of the first value.
function appendFields(parts, block, site, first) {
  let isFirst = true;
  const placeholders = first + site.fields.length - (site.fields.includes(null) ? 1 : 0);
  for (const name of site.fields) {
    const value = name === null ? 0 : block.values[first++];
    if (name !== null && value === NONE) continue;
    if (!isFirst) parts.push(["", " "]);
    isFirst = false;
    if (name === null) {
      parts.push(["message", messageText(block, site, placeholders)]);
    } else {
      parts.push(["name", name + "="], [valueClass(value), valueText(block, value)]);
    }
  }
}

function appendSpan(parts, block, span, nameClass) {
  const site = block.sites[block.spanSite[span]];
  parts.push([nameClass, site.name]);
  const fields = [];
  appendFields(fields, block, site, block.spanValues[span]);
  if (fields.length > 0) parts.push(["fields", [["", "{"], ...fields, ["", "}"]]]);
}

function spanParts(block, span) {
  const parts = [];
  appendSpan(parts, block, span, "span-name");
  return parts;
}

// The spans around a line, outermost first, without those that `isOn` leaves out.
function pathOf(block, span, isOn) {
  const path = [];
  for (; span !== 0; span = block.parent[span]) if (!isOn || isOn[span]) path.push(span);
  return path.reverse();
}

function absoluteTime(block, ns) {
  const all = block.start[1] + ns;
  const seconds = Math.floor(all / 1e9);
  const micros = Math.floor((all - seconds * 1e9) / 1e3);
  return new Date((block.start[0] + seconds) * 1000).toISOString().slice(0, 19) + "." +
         String(micros).padStart(6, "0") + "Z";
}

function relativeTime(block, ns) {
  const since = ns - block.origin;
  const micros = Math.floor(Math.abs(since) / 1000);
  return ((since < 0 ? "-" : "+") + Math.floor(micros / 1000) + "." + String(micros % 1000).padStart(3, "0") + " ms")
      .padStart(11);
}

function timeText(block, ns, isRelative) { return isRelative ? relativeTime(block, ns) : absoluteTime(block, ns); }

function durationText(ns) {
  for (const unit of ["ns", "µs", "ms"]) {
    if (ns < 1000) return ns.toFixed(unit === "ns" ? 0 : ns < 10 ? 2 : ns < 100 ? 1 : 0) + " " + unit;
    ns /= 1000;
  }
  return ns.toFixed(ns < 10 ? 2 : ns < 100 ? 1 : 0) + " s";
}

function tookText(block, span) { return block.duration[span] < 0 ? " open at the end" : " " + durationText(block.duration[span]); }

function lineParts(block, k, options) {
  const site = block.sites[block.site[k]];
  const own = block.text[k] === 0 ? null : block.texts[block.text[k] - 1];
  if (site === null) return [[block.kind[k] === EVENT ? "" : "mark", own]];
  const parts = [];
  const label = block.texts[block.label[k]];
  if (label !== "") parts.push(["label", label]);
  parts.push(["time", timeText(block, block.time[k], options.isRelative)], ["", " "], ["level " + LEVEL_CLASSES[site.level], LEVELS[site.level]], ["", " "]);
  if (block.context[k] !== 0) {
    parts.push(["context path", block.texts[block.context[k] - 1]]);
  } else {
    const path = [];
    for (const span of pathOf(block, block.span[k], options.spanIsOn)) {
      appendSpan(path, block, span, "around");
      path.push(["", ":"]);
    }
    if (path.length > 0) parts.push(["path", path], ["", " "]);
  }
  if (own !== null) return parts.push(["message", own]), parts;
  parts.push(["target", site.target + ": "]);
  appendFields(parts, block, site, block.lineValues[k]);
  return parts;
}

function textOf(parts) {
  let text = "";
  for (const [, part] of parts) text += typeof part === "string" ? part : textOf(part);
  return text;
}
