// The filter grammar of TRACE_FILTER (docs/filter-grammar.md), for the records of a block.

const LEVEL_NAMES = ["off", "error", "warn", "info", "debug", "trace"];
class FilterError extends Error {}

// Returns the closing quote for the quote at `open`, or `open`.
function closingQuote(text, open) {
  for (let i = open + 1; i < text.length; ++i) {
    if (text[i] === "\\") ++i;
    else if (text[i] === '"') return /\w/.test(text[i + 1] ?? "") ? open : i;
  }
  return open;
}

// Returns the `}` that closes the field list at `open`, or -1.
function fieldListEnd(text, open) {
  let inValue = false, braces = 0, brackets = 0, others = 0;
  for (let i = open + 1; i < text.length; ++i) {
    const c = text[i];
    if (c === "}" && braces === 0) return i;
    if (c === "]" && brackets + braces === 0 && ",=".includes(text[i + 1] ?? ",")) break;
    if (!inValue) {
      inValue = c === "=";
      braces = brackets = others = 0;
    } else if (c === "\\") ++i;
    else if (c === '"') i = closingQuote(text, i);
    else if (c === "{") ++braces;
    else if (c === "}") --braces;
    else if (c === "[") ++brackets;
    else if (c === "]") brackets -= brackets > 0;
    else if (c === "(" || c === "<") ++others;
    else if (c === ")" || (c === ">" && text[i - 1] !== "-")) others -= others > 0;
    else if (c === ",") inValue = braces + brackets + others > 0;
  }
  return text.indexOf("}", open + 1);
}

function skipTo(text, i, ends) {
  while (i < text.length && !ends.includes(text[i])) ++i;
  return i;
}

function splitDirectives(text) {
  const pieces = [];
  for (let begin = 0, end; begin < text.length; begin = end + 1) {
    let i = skipTo(text, begin, "[=,");
    if (text[i] === "[") i = skipTo(text, i, "]{,");
    if (text[i] === "{") i = Math.max(i, fieldListEnd(text, i));
    end = skipTo(text, i, ",");
    pieces.push(text.slice(begin, end).trim());
  }
  return pieces.filter((piece) => piece !== "");
}

// Splits at the commas outside of quotes and brackets in values.
function splitFields(list) {
  const opens = "([{<", closes = ")]}>", open = [];
  let commas = [], inValue = false;
  for (let i = 0; i < list.length; ++i) {
    const c = list[i], close = closes.indexOf(c);
    if (c === ",") {
      commas.push(i);
      inValue &&= open.length > 0;
    } else if (!inValue) inValue = c === "=";
    else if (c === '"') i = closingQuote(list, i);
    else if (opens.includes(c)) open.push([opens.indexOf(c), commas.length]);
    else if (close >= 0 && (c !== ">" || list[i - 1] !== "-") && open.some(([kind]) => kind === close)) {
      let [kind, before] = open.pop();
      while (kind !== close) [kind, before] = open.pop();
      commas = commas.slice(0, before);
    }
  }
  let begin = 0;
  return [...commas, list.length].map((comma) => {
    const field = list.slice(begin, comma).trimStart();
    begin = comma + 1;
    return field;
  });
}

function unescaped(text) {
  const letters = {n: "\n", t: "\t", r: "\r", 0: "\0"};
  return text.replace(/\\(?:u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(.))/g, (_, point, byte, letter) =>
      letter ? letters[letter] ?? letter : String.fromCodePoint(Math.min(parseInt(point ?? byte, 16), 0x10ffff)));
}

// A value of a directive. matches() takes a value of a block.
class ValueMatch {
  constructor(text) {
    this.text = text;
    this.known = new Map();  // answers, by value
    if (text === "true" || text === "false") this.bool = text === "true" ? YES : NO;
    else if (/^[-+]?\d+$/.test(text)) this.integer = text.replace(/^(\+|(-))?0*(?=\d)/, "$2");
    else if (/^[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|infinity|nan)$/i.test(text)) this.real = realOf(text);
    else {
      this.isText = true;
      try {
        this.pattern = new RegExp("(?:" + text + ")$", "su");
      } catch {}  // it is plain text
    }
    this.inside = /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1) : null;
  }
  matchesText(text) {
    return text === this.text || (this.inside !== null && (text === this.inside || text === unescaped(this.inside))) ||
           !!this.pattern?.test(text);
  }
  matches(block, value) {
    if (!this.known.has(value)) this.known.set(value, this.compare(value % 8, valueText(block, value)));
    return this.known.get(value);
  }
  compare(type, printed) {
    if (type === NONE) return false;
    if (type === TEXT) return !!this.isText && this.matchesText(unescaped(printed.slice(1, -1)));
    if (this.inside !== null && this.matchesText(printed)) return true;
    if (type === NO || type === YES) return this.bool === type;
    if (type === REAL) return Object.is(this.real, realOf(printed)) || Math.abs(this.real - realOf(printed)) < Number.EPSILON;
    return this.integer === printed || (type === OTHER && !!this.isText && this.matchesText(printed));
  }
}
function realOf(text) {
  if (/nan/i.test(text)) return NaN;
  return /inf/i.test(text) ? (text[0] === "-" ? -Infinity : Infinity) : Number(text);
}

function levelNumber(text) {
  return /^[0-5]$/.test(text) ? Number(text) : LEVEL_NAMES.indexOf(text.toLowerCase());
}

function parseDirective(piece) {
  const wrong = (what) => { throw new FilterError(piece + ": " + what); };
  const parseLevel = (text) => {
    const level = text === "" ? 5 : levelNumber(text);
    return level >= 0 ? level : wrong(`"${text}" is no level: expected ${LEVEL_NAMES.join(", ")} or 0 to 5`);
  };
  const directive = {target: null, span: null, fields: [], level: 5}, open = skipTo(piece, 0, "[=");
  if (open > 0) directive.target = piece.slice(0, open);
  if (open > 0 && !/^[-:_\p{L}\p{N}]/u.test(piece)) wrong('expected a target, a level or "["');
  if (open === piece.length) {
    const level = levelNumber(piece);
    return level < 0 ? directive : {...directive, target: null, level};
  }
  if (piece[open] === "=") return open === 0 ? wrong("a target is missing") : {...directive, level: parseLevel(piece.slice(open + 1))};
  const end = skipTo(piece, open, "]{");
  if (end === piece.length) wrong('the "[" is never closed by "]"');
  let after = end + 1;
  if (piece[end] === "]" || end > open + 1) directive.span = piece.slice(open + 1, end);
  if (piece[end] === "{") {
    const close = fieldListEnd(piece, end);
    if (close < 0) wrong('the "{" is never closed by "}"');
    for (const field of splitFields(piece.slice(end + 1, close))) {
      if (field === "") wrong("the name of a field is missing");
      const equals = skipTo(field, 0, "=");
      directive.fields.push({name: field.slice(0, equals), value: equals < field.length ? new ValueMatch(field.slice(equals + 1)) : null});
    }
    if (piece[close + 1] !== "]") wrong('expected "]" after "}"');
    after = close + 2;
  }
  if (after < piece.length && piece[after] !== "=") wrong('expected "=" and a level after "]"');
  directive.level = parseLevel(piece.slice(after + 1));
  return directive;
}

class Filter {
  constructor(text) {
    const all = splitDirectives(text).map(parseDirective), size = (d) => (d.target ?? "").length + (d.target !== null);
    // Of directives that differ only in their level the last decides: the sort is stable, so it must come first.
    this.statics = all.filter((d) => d.span === null && d.fields.every((field) => field.value === null)).reverse()
                       .sort((a, b) => size(b) - size(a) || b.fields.length - a.fields.length);
    this.dynamics = all.filter((d) => d.span !== null || d.fields.length > 0);
    this.dynamicLevel = Math.max(0, ...this.dynamics.map((d) => d.level));
  }
  staticallyOn(site) {
    const first = this.statics.find((d) => site.target.startsWith(d.target ?? "") &&
        (site.span || d.fields.every((field) => site.fields.includes(field.name))));
    return !!first && site.level <= first.level;
  }
  // The directives that spans of this callsite may match, with the places of the values that they want.
  dynamicsOf(site) {
    const names = site.fields.filter((name) => name !== null);
    return this.dynamics.filter((d) => site.target.startsWith(d.target ?? "") && (d.span ?? site.name) === site.name &&
        d.fields.every((field) => names.includes(field.name))).map((d) => ({level: d.level,
        wanted: d.fields.filter((field) => field.value).map((field) => [names.indexOf(field.name), field.value])}));
  }
  // Tells whether a directive names the callsite, or may match its spans.
  names(site) { return this.staticallyOn(site) || (site.span && this.dynamicsOf(site).length > 0); }
  // Returns as bytes: the spans that lines show, the spans that have a row, and the lines that are on.
  apply(block) {
    const sites = block.sites.map((site) => site && {on: this.staticallyOn(site), level: site.level, dynamics: site.span ? this.dynamicsOf(site) : []});
    const [inside, spanIsOn, spanHasRow] = [0, 0, 0].map(() => new Uint8Array(block.spans + 1));  // inside: a level
    for (let s = 1; s <= block.spans; ++s) {
      const site = sites[block.spanSite[s]], around = inside[block.parent[s]], first = block.spanValues[s];
      let level = around;
      for (const d of site.dynamics)
        if (d.level > level && d.wanted.every(([at, value]) => value.matches(block, block.values[first + at]))) level = d.level;
      inside[s] = level;
      spanHasRow[s] = site.on || site.level <= level;
      spanIsOn[s] = site.on || site.level <= around || (site.dynamics.length > 0 && site.level <= this.dynamicLevel);
    }
    const lineIsOn = new Uint8Array(block.lines);
    for (let k = 0; k < block.lines; ++k) {
      const site = sites[block.site[k]];
      lineIsOn[k] = !site || site.on || site.level <= inside[block.span[k]];
    }
    return {spanIsOn, spanHasRow, lineIsOn};
  }
}
