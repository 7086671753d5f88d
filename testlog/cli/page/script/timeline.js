// The timeline: lanes for each thread and each stream of a GPU. It draws what is in sight: in a lane it looks by binary
// search for what reaches the next pixel, so that a lane costs as much as it has pixels.

const LANE = 17, AXIS = 20;

class Timeline {
  constructor(scroller, options) {
    Object.assign(this, {scroller, options, block: null, pointer: null});
    this.canvas = make("canvas", {"aria-hidden": "true"});
    this.spacer = make("div", this.canvas);
    scroller.append(this.spacer);
    scroller.addEventListener("scroll", () => this.drawSoon());
    scroller.addEventListener("wheel", (event) => this.onWheel(event), {passive: false});
    for (const [type, handle] of [["down", this.onDown], ["move", this.onMove], ["up", this.onUp], ["leave", this.onLeave]])
      this.canvas.addEventListener("pointer" + type, handle.bind(this));
    this.canvas.addEventListener("dblclick", () => this.zoomTo(this.selected));
    new ResizeObserver(() => this.drawSoon()).observe(scroller);
    matchMedia("(prefers-color-scheme:dark)").addEventListener("change", () => this.drawSoon());
  }

  setBlock(block) {
    block.lanes ??= lanesOf(block);
    let first = block.lines > 0 ? block.time[0] : 0;
    for (let s = 1; s <= block.spans; ++s) first = Math.min(first, block.begin[s]);
    const margin = Math.max(1, (block.end - first) * 0.01);
    Object.assign(this, {block, selected: 0, instant: null, whole: [first - margin, block.end + margin]});
    [this.from, this.to] = this.whole;
    this.scroller.scrollTop = 0;
    this.draw();
  }

  // Pales what is not in these rows; null: nothing.
  setShown(rows) {
    const {block} = this, shown = this.shown = rows && {lines: new Uint8Array(block.lines), spans: new Uint8Array(block.spans + 1)};
    for (const row of rows ?? []) {
      if (row >= 0) shown.lines[row] = 1;
      shown.spans[spanOf(row)] = 1;
    }
    this.drawSoon();
  }

  get gutter() { return Math.min(150, this.width * 0.25); }
  x(ns) { return this.gutter + (ns - this.from) / (this.to - this.from) * (this.width - this.gutter); }
  ns(x) { return this.from + (x - this.gutter) / (this.width - this.gutter) * (this.to - this.from); }
  get wholeHeight() { return this.block.lanes.height * LANE + AXIS + 6; }
  get top() { return scrolled(this.scroller, this.wholeHeight); }

  drawSoon() {
    if (this.isWaiting || !this.block) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.draw(); });
  }

  draw() {
    if (!this.block) return;
    const {scroller, canvas} = this, style = getComputedStyle(scroller), scale = devicePixelRatio || 1;
    scroller.style.height = Math.min(this.wholeHeight, Math.max(110, innerHeight * 0.3)) + "px";
    this.spacer.style.height = Math.min(this.wholeHeight, MAX_HEIGHT) + "px";
    this.width = scroller.clientWidth;
    this.height = scroller.clientHeight;
    for (const side of ["width", "height"]) {
      canvas[side] = this[side] * scale;
      canvas.style[side] = this[side] + "px";
    }
    for (const name of ["ink", "paper", "faint", "error", "accent", "slice"]) this[name] = style.getPropertyValue("--" + name);
    const c = this.context = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.font = "11px system-ui,sans-serif";
    c.textBaseline = "middle";
    this.fill(this.paper, 0, 0, this.width, this.height);
    this.drawTracks();
    const {failure, failureText, time} = this.block;
    this.flag = failure < 0 ? "" : failureText ?? "✕ failed";
    this.drawAxis(this.x(time[failure]));
    if (this.instant !== null) this.drawLine(this.instant, this.accent, [2, 3]);
    if (this.flag) this.drawLine(time[failure], this.error, [6, 3], this.flag);
  }

  fill(color, x, y, width, height) {
    this.context.fillStyle = color;
    this.context.fillRect(x, y, width, height);
  }
  write(text, x, y, width) {
    const c = this.context;
    c.save();
    c.beginPath();
    c.rect(x, y, width, LANE);
    c.clip();
    c.fillStyle = this.ink;
    c.fillText(text.slice(0, 200), x, y + LANE / 2);
    c.restore();
  }

  drawTracks() {
    const {lanes, tracks} = this.block, top = this.top;
    for (let i = bound(0, lanes.order.length, (k) => lanes.top[k + 1] * LANE > top); i < lanes.order.length; ++i) {
      const y = AXIS + lanes.top[i] * LANE - top, track = lanes.order[i];
      if (y > this.height) break;
      this.fill(this.faint, 0, Math.round(y) - 1, this.width, 1);
      for (let lane = lanes.top[i]; lane < lanes.top[i + 1]; ++lane) this.drawLane(lane, y + (lane - lanes.top[i]) * LANE);
      this.drawEvents(track, y);
      this.fill(this.paper, 0, y, this.gutter - 4, LANE - 1);
      this.write(tracks[track].name, 4, y, this.gutter - 8);
    }
  }

  // Calls f(x, width, span) for the spans of a lane in sight, at most one for each pixel. The spans of a lane do not
  // overlap, so their ends are in order, too.
  forSpans(lane, f) {
    const {block} = this, {spans, first} = block.lanes, end = first[lane + 1];
    const firstEndingFrom = (begin, ns) => bound(begin, end, (i) => block.endOf(spans[i]) >= ns);
    for (let at = firstEndingFrom(first[lane], this.from); at < end;) {
      const span = spans[at], x = this.x(block.begin[span]);
      if (x > this.width) break;
      const left = Math.max(this.gutter, x), right = Math.min(this.width, this.x(block.endOf(span)));
      f(left, Math.max(1, right - left), span);
      at = firstEndingFrom(at + 1, this.ns(left + 1));
    }
  }

  drawLane(lane, y) {
    const {block, context: c} = this;
    this.forSpans(lane, (x, width, span) => {
      const site = block.spanSite[span];
      this.fill(this.shown?.spans[span] === 0 ? this.faint : `hsl(${site * 67 % 360} ${this.slice})`, x, y + 1, width, LANE - 3);
      if (block.duration[span] < 0)  // open at the end: a ragged edge
        for (let i = 0; i < 3; ++i) this.fill(this.paper, x + width - 3, y + 2 + i * 5, 3, 2);
      if (span === this.selected) {
        c.strokeStyle = this.accent;
        c.lineWidth = 2;
        c.strokeRect(x + 1, y + 1, Math.max(2, width - 2), LANE - 3);
      }
      if (width > 24) this.write(block.sites[site].name, x + 3, y, width - 5);
    });
  }

  // Events: a tick, a triangle for warnings, a cross for errors.
  drawEvents(track, y) {
    const {block, context: c} = this, {events, firstEvent} = block.lanes, end = firstEvent[track + 1];
    const firstFrom = (begin, ns) => bound(begin, end, (i) => block.time[events[i]] >= ns);
    for (let at = firstFrom(firstEvent[track], this.from); at < end;) {
      const x = this.x(block.time[events[at]]), next = firstFrom(at + 1, this.ns(x + 1));
      if (x > this.width) break;
      let level = 6;  // none is shown
      for (let i = at; i < Math.min(next, at + 100); ++i)
        if (this.shown?.lines[events[i]] !== 0) level = Math.min(level, block.sites[block.site[events[i]]].level);
      c.strokeStyle = c.fillStyle = level === 1 ? this.error : level < 6 ? this.ink : this.faint;
      c.lineWidth = 2;
      c.beginPath();
      if (level === 1) [[-4, 2], [4, 10], [4, 2], [-4, 10]].forEach(([dx, dy], i) => i % 2 ? c.lineTo(x + dx, y + dy) : c.moveTo(x + dx, y + dy));
      else if (level === 2) c.moveTo(x, y + 2), c.lineTo(x + 5, y + 10), c.lineTo(x - 5, y + 10), c.fill();
      else c.fillRect(x, y + LANE - 5, 1, 3);
      if (level === 1) c.stroke();
      at = next;
    }
  }

  // Leaves out labels that the flag of the failure, which ends at `flagEnd`, would cover.
  drawAxis(flagEnd) {
    const wish = (this.to - this.from) / Math.max(2, (this.width - this.gutter) / 110), power = 10 ** Math.floor(Math.log10(wish));
    const step = [1, 2, 5, 10].map((f) => f * power).find((one) => one >= wish), c = this.context;
    const {isRelative} = page, origin = isRelative ? this.block.origin : -this.block.start[1], flagBegin = flagEnd - c.measureText(this.flag).width - 8;
    this.fill(this.paper, 0, 0, this.width, AXIS - 2);
    for (let t = Math.ceil((this.from - origin) / step) * step; t + origin < this.to; t += step) {
      const x = this.x(t + origin);
      this.fill(this.ink, x, AXIS - 6, 1, 4);
      const text = isRelative ? (t < 0 ? "-" : "+") + durationText(Math.abs(t)) : absoluteTime(this.block, t + origin).slice(11, -1);
      if (!(x < flagEnd && x + 3 + c.measureText(text).width > flagBegin)) this.write(text, x + 3, 0, 100);
    }
  }

  drawLine(ns, color, dash, label) {
    const c = this.context, x = this.x(ns);
    if (x < this.gutter || x > this.width) return;
    c.strokeStyle = color;
    c.lineWidth = 2;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x, AXIS - 4);
    c.lineTo(x, this.height);
    c.stroke();
    c.setLineDash([]);
    if (!label) return;
    const width = c.measureText(label).width + 8;
    this.fill(color, x - width, 0, width, 16);
    c.fillStyle = this.paper;
    c.fillText(label, x - width + 4, 8);
  }

  // ---- moving ----

  show(from, to) {
    const [first, last] = this.whole, width = Math.min(Math.max(to - from, 10), last - first);
    this.from = Math.min(Math.max(from, first), last - width);
    this.to = this.from + width;
    this.drawSoon();
  }
  zoom(factor, x = this.pointer ?? (this.gutter + this.width) / 2) {
    const at = this.ns(Math.max(this.gutter, x));
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }
  zoomTo(span) {
    if (span === 0) return this.show(...this.whole);
    const length = Math.max(10, this.block.endOf(span) - this.block.begin[span]);
    this.show(this.block.begin[span] - length * 0.1, this.block.begin[span] + length * 1.1);
  }
  onKey(key) {
    const actions = {w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.pan(-0.2), d: () => this.pan(0.2)};
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]();
    return true;
  }
  onWheel(event) {
    if (event.ctrlKey) this.zoom(Math.exp(event.deltaY / 300), event.clientX - this.canvas.getBoundingClientRect().left);
    else if (event.shiftKey || event.deltaX !== 0) this.pan((event.deltaX || event.deltaY) / 1000);
    else return;
    event.preventDefault();
  }
  onDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = {x: event.offsetX, from: this.from, to: this.to};
  }
  onMove(event) {
    this.pointer = event.offsetX;
    const {drag, block} = this, moved = drag ? event.offsetX - drag.x : 0;
    if (drag && (drag.hasMoved ||= Math.abs(moved) > 3)) {
      const by = moved / (this.width - this.gutter) * (drag.to - drag.from);
      this.show(drag.from - by, drag.to - by);
    }
    const span = drag ? 0 : this.spanAt(event.offsetX, event.offsetY);
    this.canvas.title = span === 0 ? "" : textOf(spanParts(block, span)).slice(0, 1000) + tookText(block, span);
  }
  onUp(event) {
    const span = this.drag?.hasMoved ? 0 : this.spanAt(event.offsetX, event.offsetY);
    this.drag = null;
    if (span !== 0) this.options.select(span);
  }
  onLeave() { this.pointer = null; }
  spanAt(x, y) {
    const lane = Math.floor((y - AXIS + this.top) / LANE);
    let found = 0;
    if (x < this.gutter || y < AXIS || lane >= this.block.lanes.height) return 0;
    this.forSpans(lane, (left, width, span) => { if (x >= left - 1 && x <= left + width + 1) found = span; });
    return found;
  }

  // Shows an instant, and the span around it, without changing the zoom if they are in sight.
  select(span, instant) {
    Object.assign(this, {selected: span, instant});
    const half = (this.to - this.from) / 2, room = this.height - AXIS - LANE, y = this.block.lanes.of[span] * LANE;
    if (instant !== null && (instant < this.from || instant > this.to)) this.show(instant - half, instant + half);
    if (span !== 0 && (y < this.top || y > this.top + room)) scrollTo_(this.scroller, this.wholeHeight, Math.max(0, y - room / 2));
    this.drawSoon();
  }
}

// The first i in [begin, end) for which `holds`; once it holds it must hold.
function bound(begin, end, holds) {
  while (begin < end) {
    const middle = (begin + end) >>> 1;
    if (holds(middle)) end = middle;
    else begin = middle + 1;
  }
  return begin;
}

// Sorts indices by their times. Most lists are almost in order, so each index moves a few places.
function byTimes(list, times) {
  let steps = 20 * list.length;
  for (let i = 1; i < list.length && steps > 0; ++i) {
    const one = list[i], time = times[one];
    let at = i;
    for (; at > 0 && times[list[at - 1]] > time && --steps > 0; --at) list[at] = list[at - 1];
    list[at] = one;
  }
  return steps > 0 ? list : list.sort((a, b) => times[a] - times[b] || a - b);
}

// Groups indices by their numbers, which are below `count`: returns the list, and where each number begins in it.
function grouped(list, count, numbers) {
  const first = new Uint32Array(count + 1), out = new Uint32Array(list.length), size = list.length;
  for (let i = 0; i < size; ++i) ++first[numbers[list[i]] + 1];
  for (let i = 0; i < count; ++i) first[i + 1] += first[i];
  const next = first.slice();
  for (let i = 0; i < size; ++i) out[next[numbers[list[i]]]++] = list[i];
  return [out, first];
}

// Lays spans out in lanes, so that those of a lane do not overlap. `order`: the tracks from above; `top`: the first lane of
// each; `first` and `spans`: the spans of each lane by time; `of`: the lane of each span.
function lanesOf(block) {
  const {tracks} = block, of = new Uint32Array(block.spans + 1), stacks = tracks.map(() => []), count = tracks.map(() => 0);
  const byTime = new Uint32Array(block.spans), ofEvents = new Uint32Array(block.lines);
  let eventCount = 0;
  for (let i = 0; i < block.spans; ++i) byTime[i] = i + 1;
  for (let k = 0; k < block.lines; ++k) if (block.site[k] !== 0) ofEvents[eventCount++] = k;
  byTimes(byTime, block.begin);
  for (const s of byTime) {
    const track = block.spanTrack[s], stack = stacks[track];
    while (stack.length > 0 && stack[stack.length - 1] <= block.begin[s]) stack.pop();
    of[s] = stack.length;
    count[track] = Math.max(count[track], stack.push(block.endOf(s)));
  }
  const [events, firstEvent] = grouped(byTimes(ofEvents.subarray(0, eventCount), block.time), tracks.length, block.track);
  const order = tracks.map((_, i) => i).filter((i) => count[i] > 0 || firstEvent[i + 1] > firstEvent[i]);
  const rank = (i) => tracks[i].foreign * 2 - (tracks[i].name === "main");
  order.sort((a, b) => rank(a) - rank(b) || a - b);
  const top = [0], topOf = [];
  order.forEach((track, i) => { top[i + 1] = (topOf[track] = top[i]) + Math.max(1, count[track]); });
  const height = top[order.length];
  for (let s = 1; s <= block.spans; ++s) of[s] += topOf[block.spanTrack[s]];
  const [spans, first] = grouped(byTime, height, of);
  return {order, top, height, of, spans, first, events, firstEvent};
}
