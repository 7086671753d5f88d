// Elements, and a list that has elements only for the rows in sight.

// Makes an element, such as make("p.note", {id: "x"}, "text"). The properties may be left out.
function make(tag, properties, ...children) {
  const [type, className] = tag.split("."), element = document.createElement(type);
  if (properties?.constructor !== Object) children.unshift(properties);
  else for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child != null));
  if (className) element.className = className;
  return element;
}
// A button that is on or off.
function toggle(label, isOn, onchange) {
  const one = button(label, () => {
    isOn = !isOn;
    one.setAttribute("aria-pressed", isOn);
    onchange(isOn);
  }, {"aria-pressed": String(isOn)});
  return one;
}
// A path, whose lines break after slashes.
function pathCode(path) { return make("code", path.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")])); }
function button(label, onclick, properties) { return make("button", {onclick, ...properties}, label); }
function pairs(list) { return make("dl", list.map(([name, value]) => [make("dt", name), make("dd", value)])); }
function tableOf(head, rows, name = "") {
  return make("table." + name, make("thead", make("tr", head.map((text) => text === "" ? make("td") : make("th", {scope: "col"}, text)))),
              make("tbody", rows));
}
function colored(parts) {
  return parts.map(([name, text]) => name === "" ? text : make("span." + name, typeof text === "string" ? text : colored(text)));
}

// Browsers end between 17 and 33 million pixels: what is higher scrolls in larger steps.
const MAX_HEIGHT = 15e6;
function scrolled(scroller, height) {
  const room = scroller.clientHeight;
  return height <= MAX_HEIGHT ? scroller.scrollTop : scroller.scrollTop / (MAX_HEIGHT - room) * (height - room);
}
function scrollTo_(scroller, height, top) {
  const room = scroller.clientHeight;
  scroller.scrollTop = height <= MAX_HEIGHT ? top : top / (height - room) * (MAX_HEIGHT - room);
}

// A scrolling list with one selected row. render(index) returns the element of a row, select(index) is called when the
// user selects a row, key(event, index) may handle keys first.
class VirtualList {
  constructor(scroller, options) {
    Object.assign(this, {scroller, options, count: 0, selected: -1, rowHeight: 0});
    this.layer = make("div.layer", {role: "presentation"});
    this.spacer = make("div", {role: "presentation"}, this.layer);
    scroller.append(this.spacer);
    scroller.addEventListener("scroll", () => this.drawSoon());
    scroller.addEventListener("keydown", (event) => this.onKey(event));
    scroller.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) options.select(Number(row.dataset.row), event);
    });
    new ResizeObserver(() => { this.rowHeight = 0; this.drawSoon(); }).observe(scroller);
  }
  setCount(count) {
    this.count = count;
    this.rowHeight = 0;
    this.draw();
  }
  measure() {
    if (this.rowHeight > 0) return;
    this.layer.style.setProperty("--row", "");
    this.layer.replaceChildren(make("div.row", "x"));
    this.rowHeight = Math.max(1, Math.ceil(this.layer.firstChild.getBoundingClientRect().height));
    this.layer.style.setProperty("--row", this.rowHeight + "px");
    this.spacer.style.height = Math.min(this.height, MAX_HEIGHT) + "px";
  }
  get height() { return this.count * this.rowHeight; }
  get inSight() { return Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight)); }
  // The first row in sight, with its fraction that is scrolled out.
  get first() { return Math.max(0, scrolled(this.scroller, this.height) / this.rowHeight); }
  set first(row) { scrollTo_(this.scroller, this.height, row * this.rowHeight); }

  drawSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.draw(); });
  }
  draw() {
    this.measure();
    const {first} = this, begin = Math.floor(first);
    this.drawRows(begin, Math.min(this.count, begin + this.inSight + 3));
    this.layer.style.transform = `translateY(${(begin - first) * this.rowHeight}px)`;
  }
  drawRows(begin, end) {
    const id = this.scroller.id + "-", rows = [];
    for (let i = begin; i < end; ++i) {
      const row = this.options.render(i);
      row.dataset.row = i;
      row.id = id + i;
      row.setAttribute("aria-posinset", i + 1);
      row.setAttribute("aria-setsize", this.count);
      row.setAttribute("aria-selected", i === this.selected);
      rows.push(row);
    }
    this.layer.replaceChildren(...rows);
    if (this.selected >= begin && this.selected < end) this.scroller.setAttribute("aria-activedescendant", id + this.selected);
    else this.scroller.removeAttribute("aria-activedescendant");
  }
  // Selects a row and brings it into sight.
  reveal(row) {
    this.selected = row;
    this.measure();
    const first = this.first, isInSight = row >= first && row + 1 <= first + this.scroller.clientHeight / this.rowHeight;
    if (row >= 0 && !isInSight) this.first = Math.max(0, row - this.inSight * 0.6);
    this.draw();
  }
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.count === 0) return;
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: this.inSight - 1, PageUp: 1 - this.inSight, Home: -Infinity, End: Infinity};
    if (this.options.key?.(event.key, this.selected)) return event.preventDefault();
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    this.options.select(Math.min(this.count - 1, Math.max(0, this.selected + steps[event.key])), event);
  }
}
