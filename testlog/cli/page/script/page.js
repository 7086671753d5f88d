// The page: tests at the left; the failure, the records, the tree and the attempts of one test at the right.

const RESULTS = new Map([["failed", ["✕", "failed"]], ["crashed", ["!", "crashed"]], ["hung", ["…", "did not end"]],
                         ["flaky", ["≈", "flaky"]], ["slow", ["»", "slow"]], ["skipped", ["–", "skipped"]], ["passed", ["✓", "passed"]]]);
const RED = ["failed", "crashed", "hung"];
const KEYS = [["j k", "next, previous test"], ["n N", "next, previous failure, error or warning"], ["/", "search tests"],
              ["f", "filter records"], ["[ ]", "out of a span, into a span"], ["w s a d", "zoom and move the timeline, also with Ctrl or Shift and the wheel"],
              ["t", "times since the test began, or absolute"], ["?", "this help"]];
const page = {test: -1, cause: null, block: null, folded: new Uint8Array(1), isRelative: true, hasSpans: true, filter: null, tab: "records"};
const ui = {}, blocks = new Map();  // by id; the last few

async function blockOf(id) {
  if (!blocks.has(id)) {
    if (blocks.size >= 4) blocks.delete(blocks.keys().next().value);
    blocks.set(id, new Block(await unpack(id)));
  }
  return blocks.get(id);
}
function counted(count, noun) { return `${count} ${noun}${count === 1 ? "" : "s"}`; }
function resultOf(test) { return RESULTS.get(statusOf(test)) ?? ["?", test.result]; }
function statusOf(test) { return test.slow && test.result === "passed" ? "slow" : test.result; }
function isGreen(attempt) { return ["passed", "skipped"].includes(attempt.result); }
function debounced(f, ms) {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(f, ms); };
}

// ---- the tests ----

// Failures first, those of the causes with the most tests before others.
function orderTests({tests, causes}) {
  const ranks = [...RESULTS.keys()], causeOf = new Map();
  causes.forEach((cause, i) => cause.tests.forEach((test) => causeOf.has(test) || causeOf.set(test, i)));
  const keys = tests.map((test, i) => [ranks.indexOf(statusOf(test)), causeOf.get(i) ?? causes.length, test.slow ? -test.ms : 0, i]);
  return keys.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]).map((key) => key[3]);
}

// Returns a function that tells whether a test is meant: by `s:failed`, a directive such as `[launch]`, or a part of its name.
function testMatch(word) {
  const state = word.slice(2), text = word.toLowerCase();
  if (word.startsWith("s:"))
    return (test) => statusOf(test).startsWith(state) || test.result.startsWith(state) || (state === "failed" && RED.includes(test.result));
  if (!/^\[|=/.test(word)) return (test) => test.name.toLowerCase().includes(text);
  const sites = filterOf(word) ? page.index.sites.map((site) => filterOf(word).names(site)) : [];
  return (test) => [...test.attempts, ...test.passing].some((one) => one.sites.some((site) => sites[site]));
}

function searchTests() {
  const {tests, causes} = page.index, matches = ui.search.value.split(/\s+/).map(testMatch);
  page.shown = page.order.filter((i) => (page.cause === null || causes[page.cause].tests.includes(i)) && matches.every((f) => f(tests[i])));
  ui.tests.setCount(page.shown.length);
  ui.tests.reveal(page.shown.indexOf(page.test));
  ui.testCount.textContent = (page.shown.length < tests.length ? page.shown.length + " of " : "") + counted(tests.length, "test");
}

function renderTest(row) {
  const test = page.index.tests[page.shown[row]], [icon, word] = resultOf(test);
  return make("div.row test " + statusOf(test), {role: "option", title: test.name},
              make("span.icon", {"aria-hidden": "true"}, icon), make("span.test-name", test.name),
              make("span.state", word), make("span.ms", test.ms < 1000 ? test.ms + " ms" : durationText(test.ms * 1e6)));
}

function showCauses() {
  const MAX = 20, {causes} = page.index;
  const items = causes.slice(0, MAX).map((cause, i) => make("li", button([make("b", counted(cause.tests.length, "test") + ": "), cause.text], () => {
    page.cause = page.cause === i ? null : i;
    showCauses();
    searchTests();
    if (page.cause !== null) openTest(page.shown[0]);
  }, {"aria-pressed": String(page.cause === i)})));
  if (causes.length > MAX) items.push(make("li", `and ${causes.length - MAX} more causes`));
  ui.causes.replaceChildren(...(causes.length === 0 ? [] : [make("h2", counted(causes.length, "cause")), make("ul", items)]));
}

// ---- one test ----

// The folder that has all sources; paths are shown from there. Empty if that is the root of the file system.
function rootOf(files) {
  const [first = [], ...others] = files.filter((file) => file).map((file) => file.split("/").slice(0, -1));
  const depth = first.findIndex((name, i) => others.some((one) => one[i] !== name)), root = first.slice(0, depth < 0 ? first.length : depth);
  return root.length > 1 ? root.join("/") + "/" : "";
}
function shortened(path) { return path.startsWith(page.root) ? path.slice(page.root.length) : path; }

function copyButton(label, text) {
  return button(label, (event) => {
    const target = event.currentTarget, area = make("textarea.for-readers", text());
    document.body.append(area);  // pages of file:// may have no navigator.clipboard
    area.select();
    target.textContent = document.execCommand("copy") ? "Copied" : "Copying failed";
    area.remove();
    setTimeout(() => { target.textContent = label; }, 1500);
  });
}

function markdownOf(test) {
  const quote = (text) => "    " + text.replaceAll("\n", "\n    "), lines = [`## ${test.name}: ${resultOf(test)[1]}`, ""];
  if (test.spans) lines.push("In `" + test.spans + "`:", "");
  lines.push(...[test.error, test.how, test.place].filter((text) => text).map(quote));
  if (test.why.length > 0) lines.push("", "Different from runs that passed:", "", ...test.why.map((one, i) => `${i + 1}. ${one.text}`));
  if (test.command) lines.push("", "Run it again:", "", quote(test.command));
  const {block, visible} = page, end = block ? visible.indexOf(block.failure) : -1;
  if (end > 0) {
    const rows = [...visible.slice(Math.max(0, end - 20), end)].filter((row) => row >= 0);
    lines.push("", "The last records before:", "", ...rows.map((row) => quote(textOf(lineParts(block, row, {isRelative: true})))));
  }
  return lines.join("\n") + "\n";
}

function showSummary(test) {
  const place = (word, text) => text && make("p", word, pathCode(text)), [icon, word] = resultOf(test);
  ui.title.replaceChildren(make("span.badge " + test.result, icon + " " + word), " " + test.name);
  const facts = [place("in ", test.spans), test.error && make("p.error", test.error),
                 test.how && make("pre.how", {tabindex: 0}, test.how), place("at ", shortened(test.place))].filter((fact) => fact);
  if (test.why.length > 0) facts.push(make("h2", "Why: different from the runs that passed"), make("ol", test.why.map(whyItem)));
  ui.summary.replaceChildren(...facts);
  ui.summary.hidden = facts.length === 0;
  ui.actions.replaceChildren(test.how ? button("Go to the failure", goToFailure) : "", copyButton("Copy as Markdown", () => markdownOf(test)),
                             test.command ? copyButton("Copy command", () => test.command) : "");
}

// A difference, which selects its record. As soon as the block is there, it begins with the time of the record.
function whyItem(one) {
  const {block, attempt, firstAttempt} = page, text = one.text.replaceAll("(" + page.root, "(");
  if (!firstAttempt || isGreen(firstAttempt)) return make("li", text);
  const time = block && attempt === firstAttempt ? make("code", relativeTime(block, momentOf(block, one)).trim()) : "";
  return make("li", button([time, " " + text], async () => {
    if (page.attempt !== firstAttempt) await openTest(page.test, firstAttempt.block);
    const {block} = page;
    goTo(recordOf(block, one) ?? Math.max(0, block.time.findLastIndex((time) => time <= momentOf(block, one))));
  }));
}

function momentOf(block, {before}) { return block.time[block.failure] - before; }
// Of the records of the statement the nearest in time, if possible of the same thread. Null if there are none.
function recordOf(block, one) {
  const {file, line, thread} = one, ns = momentOf(block, one), isMeant = block.sites.map((site) => site?.file === file && site.line === line);
  let found = null, nearest = Infinity;
  const see = (record, track, begin, end) => {
    const distance = (begin === ns ? -1 : Math.max(begin - ns, ns - end, 0)) + (block.tracks[track].name === thread ? 0 : 1e15);
    if (distance < nearest) found = record, nearest = distance;
  };
  for (let k = 0; k < block.lines; ++k) if (isMeant[block.site[k]]) see(k, block.track[k], block.time[k], block.time[k]);
  for (let s = 1; s <= block.spans; ++s) if (isMeant[block.spanSite[s]]) see(-s, block.spanTrack[s], block.begin[s], block.endOf(s));
  return found;
}

async function openTest(number, blockId, record) {
  const test = page.index.tests[number], all = [...test.attempts, ...test.passing];
  const firstAttempt = test.attempts.find((one) => one.block !== "" && !isGreen(one)) ?? all.find((one) => one.block !== "");
  const attempt = all.find((one) => blockId && one.block === blockId) ?? firstAttempt;
  Object.assign(page, {test: number, attempt, firstAttempt, block: null, selected: null, marks: []});
  ui.tests.reveal(page.shown.indexOf(number));
  showSummary(test);
  showAttempts(test, all);
  ui.about.replaceChildren(...(test.command ? [make("h2", "Run it again"), make("pre.command", {tabindex: 0}, test.command)] : []),
                           make("h2", "Environment"), pairs([...test.environment, ...(page.root ? [["sources", page.root]] : [])].map(([name, value]) => [name, pathCode(value)])));
  ui.noRecords.hidden = !!attempt;
  ui.records.hidden = !attempt;
  ui.note.textContent = "";
  ui.tree.replaceChildren();
  writeHash();
  if (!attempt) return;
  ui.rows.setCount(0);  // until the block is there
  const block = await blockOf(attempt.block);
  if (page.attempt !== attempt) return;
  Object.assign(page, {block, folded: new Uint8Array(block.spans + 1)});
  if (block.failure < 0 && !isGreen(attempt)) Object.assign(block, {failure: block.lines - 1, failureText: "✕ last record"});
  ui.note.textContent = [all.length > 1 ? `Shown: ${attemptName(test, attempt)}.` : "", attempt.stopped,
      block.left_out > 0 ? `${counted(block.left_out, "line")} in the middle are left out to keep this file small, at the double line.` : ""].join(" ");
  showSummary(test);
  if (attempt === firstAttempt && !isGreen(attempt)) page.marks = test.why.map((one) => recordOf(block, one));
  ui.timeline.setBlock(block);
  find();
  ui.rows.first = 0;
  const first = record ?? page.marks.find((one) => one !== null) ?? block.failure;
  if (record !== undefined || block.failure >= 0) selectRow(rowOf(first));
  showTab(page.tab);
}

function attemptName(test, attempt) {
  const time = attempt.began > 0 ? " of " + new Date(attempt.began).toISOString().slice(0, 19).replace("T", " ") : "";
  if (test.passing.includes(attempt)) return "a run that passed" + time;
  return test.attempts.length > 1 ? `attempt ${test.attempts.length - test.attempts.indexOf(attempt)} (${attempt.result})` + time : "the run" + time;
}

// ---- the records ----

// Rows are lines by their index, or spans as -index. Of a folded span only its own row is there.
function updateRows() {
  const {block, folded} = page, {spanIsOn, spanHasRow, lineIsOn} = page.filter ? page.filter.apply(block) : {};
  const isHidden = new Uint8Array(block.spans + 1), rows = new Int32Array(block.spans + block.lines);
  let count = 0, lines = 0, span = 1;
  const addSpansBefore = (line) => {
    for (; span <= block.spans && block.firstLine[span] <= line; ++span) {
      const around = block.parent[span];
      isHidden[span] = isHidden[around] | folded[around];
      if (page.hasSpans && !isHidden[span] && (!spanHasRow || spanHasRow[span])) rows[count++] = -span;
    }
  };
  for (let k = 0; k < block.lines; ++k) {
    addSpansBefore(k);
    const around = block.span[k];
    if ((lineIsOn && !lineIsOn[k]) || isHidden[around] || folded[around]) continue;
    ++lines;
    rows[count++] = k;
  }
  addSpansBefore(Infinity);
  page.spanIsOn = spanIsOn;
  showRows(rows.subarray(0, count), lines);
}

function showRows(rows, lines) {
  const {block} = page, countOf = (shown, all, noun) => (shown < all ? shown + " of " : "") + counted(all, noun);
  page.visible = rows;
  ui.rows.setCount(rows.length);
  ui.timeline.setShown(page.filter || ui.find.value ? rows : null);
  ui.count.textContent = countOf(lines, block.lines, "line") + ", " + countOf(rows.length - lines, block.spans, "span");
}

// Shows the rows that have the text, and selects the row that was selected or, if it is gone, one nearby. Lets the page
// answer in between.
async function find() {
  const wanted = ui.find.value.toLowerCase(), {block} = page, search = page.search = {};
  updateRows();
  const rows = page.visible, out = new Int32Array(rows.length), options = lineOptions();
  let count = 0, lines = 0, until = performance.now() + 50;
  for (const row of wanted === "" ? [] : rows) {
    if (textOf(rowParts(row, options)).toLowerCase().includes(wanted)) out[count++] = row, lines += row >= 0;
    if (performance.now() < until) continue;
    ui.count.textContent = "searching …";
    await new Promise((resolve) => setTimeout(resolve));
    if (page.search !== search || page.block !== block) return;
    until = performance.now() + 50;
  }
  if (wanted !== "") showRows(out.subarray(0, count), lines);
  if (page.selected !== null && page.visible.length > 0) selectRow(rowOf(page.selected));
  else showNoDetails();
  writeHash();
}

function lineOptions() { return {isRelative: page.isRelative, spanIsOn: page.spanIsOn}; }
function rowParts(row, options) { return row < 0 ? spanParts(page.block, -row) : lineParts(page.block, row, options); }
// The thread and the time of a span, as lines have them.
function spanHead(block, span) {
  const {name} = block.tracks[block.spanTrack[span]];
  return [["label", name === "main" ? "" : `[${name}] `], ["time", timeText(block, block.begin[span], page.isRelative)], ["", " "]];
}
function timeOf(block, row) { return row < 0 ? block.begin[-row] : block.time[row]; }
function spanOf(row) { return row < 0 ? -row : page.block.span[row]; }

function renderRow(i) {
  const {block} = page, row = page.visible[i], span = spanOf(row), parts = colored(rowParts(row, lineOptions()));
  let element;
  if (row < 0) {
    const isOpen = !page.folded[span];
    element = make("div.row span", {role: "treeitem", "aria-level": block.depth[span], "aria-expanded": String(isOpen)},
                   make("span.fold", {"aria-hidden": "true"}, isOpen ? "▾ " : "▸ "), colored(spanHead(block, span)), parts, make("span.took", tookText(block, span)),
                   block.cause[span] === 0 ? "" : make("span.took", " from ", colored(spanParts(block, block.cause[span]))));
  } else {
    const site = block.sites[block.site[row]], level = site ? LEVEL_CLASSES[site.level] : block.kind[row] === FAILURE ? "failure" : "marks";
    element = make(`div.row line ${level}-row${row + 1 === block.cut ? " before-cut" : ""}`, {role: "treeitem", "aria-level": block.depth[span] + 1}, parts);
  }
  const mark = page.marks.indexOf(row);
  if (mark >= 0) element.prepend(make("b.error", String.fromCharCode(9312 + mark) + " "));  // ① is the first difference
  element.classList.toggle("nested", page.hasSpans);
  if (page.hasSpans) element.style.paddingInlineStart = 0.4 + Math.min(block.depth[span] - (row < 0), 30) * 0.9 + "em";
  return element;
}

function selectRow(i, event) {
  const row = page.visible[i], {block} = page;
  if (row === undefined) return;
  const span = spanOf(row);
  if (row < 0 && event?.target.closest?.(".fold")) return fold(span);
  page.selected = row;
  ui.rows.reveal(i);
  ui.timeline.select(span, timeOf(block, row));
  showDetails(row);
  writeHash();
}

// The row of a line, or of a span (-index), or else of the next line, or else the last row.
function rowOf(record) {
  const {visible} = page, exact = visible.indexOf(record), line = record < 0 ? page.block.firstLine[-record] : record;
  const next = exact < 0 ? visible.findIndex((row) => row >= line) : exact;
  return next < 0 ? visible.length - 1 : next;
}

function fold(span) {
  page.folded[span] ^= 1;
  page.selected = -span;
  find();
}

function showNoDetails() {
  ui.rows.reveal(-1);
  ui.timeline.select(0, null);
  ui.details.replaceChildren(make("p.note", "Select a record to see its fields."));
}

function showDetails(row) {
  const {block} = page, span = spanOf(row), isSpan = row < 0, list = [];
  const site = block.sites[isSpan ? block.spanSite[span] : block.site[row]], ns = timeOf(block, row);
  if (site) {
    let at = isSpan ? block.spanValues[span] : block.lineValues[row];
    for (const name of site.fields) {
      const value = name === null ? NONE : block.values[at++];
      if (value !== NONE) list.push([name, make("code." + valueClass(value), valueText(block, value))]);
    }
    list.push(["statement", pathCode(site.file ? shortened(site.file) + ":" + site.line : "unknown")], ["target", make("code", site.target)]);
  }
  list.push(["thread", block.tracks[isSpan ? block.spanTrack[span] : block.track[row]].name],
            ["time", relativeTime(block, ns).trim() + ", " + absoluteTime(block, ns)]);
  if (isSpan) list.push(["took", tookText(block, span)]);
  if (isSpan && block.cause[span] !== 0) list.push(["from", make("code", textOf(spanParts(block, block.cause[span])))]);
  if (span !== 0) list.push(["inside", make("code", pathOf(block, span).map((one) => textOf(spanParts(block, one))).join(":"))]);
  ui.details.replaceChildren(make("h2", isSpan ? "Span" : "Record"), make("p.whole", textOf(rowParts(row, {isRelative: page.isRelative}))), pairs(list));
}

// Selects a record, even if it is filtered out or folded away.
function goTo(record) {
  showTab("records");
  if (!page.visible.includes(record)) {
    ui.filter.value = ui.find.value = "";
    page.folded.fill(0);
    applyFilter();
  }
  selectRow(rowOf(record));
  ui.rowsElement.focus();
}
function goToFailure() { if (page.block?.failure >= 0) goTo(page.block.failure); }

// Selects the next failure, error or warning; `step` is 1 or -1.
function goToNext(step) {
  const {block, visible} = page, isWanted = (row) => row >= 0 && (block.kind[row] === FAILURE || (block.sites[block.site[row]]?.level ?? 5) <= 2);
  let i = ui.rows.selected < 0 && step < 0 ? visible.length : ui.rows.selected;
  do i += step; while (i >= 0 && i < visible.length && !isWanted(visible[i]));
  if (i >= 0 && i < visible.length) selectRow(i);
  else ui.status.textContent = (step > 0 ? "No further" : "No earlier") + " failure or warning.";
}

function outOfSpan() {
  const row = page.selected, span = row === null ? 0 : row < 0 ? page.block.parent[-row] : page.block.span[row];
  if (span !== 0) selectRow(rowOf(-span));
}
function intoSpan() {
  const row = page.selected, {block} = page;
  if (row === null || row >= 0) return;
  if (page.folded[-row]) fold(-row);
  const inside = page.visible.findIndex((one) => (one < 0 ? block.parent[-one] : block.span[one]) === -row);
  if (inside >= 0) selectRow(inside);
}

// Returns null if the text is no filter, after telling `onError` why.
function filterOf(text, onError) {
  try {
    return new Filter(text);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    onError?.(error.message);
    return null;
  }
}

function applyFilter() {
  const text = ui.filter.value.trim();
  let problem = "";
  const filter = text === "" ? null : filterOf(text, (message) => { problem = message; });
  if (problem === "") page.filter = filter;
  ui.filterError.textContent = problem;
  ui.filter.setAttribute("aria-invalid", problem !== "");
  if (problem === "" && page.block) find();
}

// Paper does not scroll: it gets the rows around the failure, which CSS lets wrap.
function drawForPaper() {
  const MAX = 300, AFTER = 30, {block, visible} = page;
  if (!block) return;
  const middle = block.failure < 0 ? 0 : rowOf(block.failure), end = Math.min(visible.length, Math.max(MAX, middle + AFTER)), begin = Math.max(0, end - MAX);
  ui.rows.drawRows(begin, end);
  ui.paper.textContent = end - begin < visible.length ? `Rows ${begin + 1} to ${end} of ${visible.length}:` : "";
}

// ---- tabs ----

function showAttempts(test, all) {
  const rows = all.map((one) => make("tr", make("th", {scope: "row"}, attemptName(test, one)), [one.result, pathCode(one.file),
      one.block === "" ? "not in this file" : button(counted(one.lines, "line"), () => {
        page.tab = "records";
        openTest(page.test, one.block);
      })].map((cell) => make("td", cell))));
  const parts = [tableOf(["Run", "Result", "Recording", "Records"], rows), make("p", test.diff_note)];
  if (test.diff.length > 0) {
    const words = new Map([["-", "only in the failing run"], ["+", "only in the run that passed"], ["~", "differs"], ["*", "varies in runs that passed"]]);
    const lines = test.diff.map(([mark, left, right]) => mark === "=" ? make("tr", make("th", {colspan: 3}, left)) : make(mark ? "tr.differs" : "tr",
        make("td", mark, make("span.for-readers", words.get(mark) ?? "")), make("td", left), make("td", right)));
    parts.push(make("h2", "The failing run beside the last that passed"), make("p.note", [...words].map((pair) => pair.join(" ")).join(", ")),
               tableOf(["", "Failing run", "Run that passed"], lines, "diff"));
  }
  ui.attempts.replaceChildren(...parts);
}

function showTab(name) {
  page.tab = name;
  for (const [tab, {tabButton, panel}] of ui.tabs) {
    tabButton.setAttribute("aria-selected", tab === name);
    tabButton.tabIndex = tab === name ? 0 : -1;
    panel.hidden = tab !== name;
  }
  if (!page.block) return;
  if (name === "tree" && !ui.tree.hasChildNodes()) ui.tree.append(...[treeTable(page.block)].flat());
  if (name === "records") ui.rows.draw(), ui.timeline.draw();
}

// ---- the address ----

function writeHash() {
  const {attempt, selected} = page, state = new URLSearchParams({test: page.index.tests[page.test].name});
  if (attempt !== page.firstAttempt) state.set("run", attempt.block);
  if (selected !== null) state.set("record", selected < 0 ? "s" + -selected : selected);
  if (ui.filter.value.trim() !== "") state.set("filter", ui.filter.value.trim());
  page.hash = "#" + state;
  if (location.hash !== page.hash) history.replaceState(null, "", page.hash);
}

async function readHash() {
  const state = new URLSearchParams(location.hash.slice(1)), record = state.get("record");
  ui.filter.value = state.get("filter") ?? "";
  applyFilter();
  const test = page.index.tests.findIndex((one) => one.name === state.get("test"));
  const at = record === null ? undefined : record[0] === "s" ? -Number(record.slice(1)) : Number(record);
  await openTest(test >= 0 ? test : page.order[0], state.get("run"), Number.isNaN(at) ? undefined : at);
}

// ---- keys ----

function stepTest(by) {
  const next = page.shown[page.shown.indexOf(page.test) + by];
  if (next !== undefined) openTest(next);
}

function onKey(event) {
  const isTyping = event.target.matches("input");
  if (event.key === "Escape" && isTyping) return ui.rowsElement.focus();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || ui.help.open) return;
  const actions = {j: () => stepTest(1), k: () => stepTest(-1), "/": () => ui.search.focus(), t: () => ui.time.click(), "?": () => ui.help.showModal()};
  const withBlock = {n: () => goToNext(1), N: () => goToNext(-1), f: () => (showTab("records"), ui.filter.focus()), "[": outOfSpan, "]": intoSpan};
  if (page.block) Object.assign(actions, withBlock);
  if (Object.hasOwn(actions, event.key)) actions[event.key]();
  else if (!page.block || !ui.timeline.onKey(event.key)) return;
  event.preventDefault();
}
function onRowKey(key) {
  const row = page.selected, isSpan = row !== null && row < 0;
  if (key === "ArrowRight") intoSpan();
  else if (key === "ArrowLeft") isSpan && !page.folded[-row] ? fold(-row) : outOfSpan();
  else if (key === "Enter" || key === " ") isSpan && fold(-row);
  else return false;
  return true;
}

// ---- start ----

function buildTabs() {
  ui.tabs = new Map([["records", "Records"], ["tree", "Tree"], ["attempts", "Attempts"], ["about", "Environment"]].map(([name, label]) => [name, {
    tabButton: button(label, () => showTab(name), {role: "tab", id: "tab-" + name, "aria-controls": "panel-" + name}),
    panel: ui[name] = make("div.panel", {role: "tabpanel", id: "panel-" + name, "aria-labelledby": "tab-" + name})}]));
  const onArrow = (event) => {
    const names = [...ui.tabs.keys()], next = names[names.indexOf(page.tab) + (event.key === "ArrowRight") - (event.key === "ArrowLeft")];
    if (!event.key.startsWith("Arrow") || !next) return;
    showTab(next);
    ui.tabs.get(next).tabButton.focus();
  };
  const all = [...ui.tabs.values()];
  return [make("div", {role: "tablist", "aria-label": "Parts of the test", onkeydown: onArrow}, all.map((tab) => tab.tabButton)), all.map((tab) => tab.panel)];
}

function input(id, label, oninput, properties) {
  ui[id] = make("input", {id, spellcheck: "false", autocomplete: "off", oninput, ...properties});
  return [make("label", {for: id}, label), ui[id]];
}

function buildRecords() {
  const spans = toggle("Spans", true, (isOn) => {
    page.hasSpans = isOn;
    find();
  });
  const foldAll = button("Fold all", () => {
    page.folded.fill(page.folded.includes(1) ? 0 : 1, 1);
    find();
  });
  ui.time = toggle("Absolute times", false, (isOn) => {
    page.isRelative = !isOn;
    if (page.block) ui.rows.draw(), ui.timeline.draw();
  });
  ui.count = make("span.note", {"aria-live": "polite"});
  ui.filterError = make("p.error", {id: "filter-error", role: "alert"});
  const bar = make("div.filters", make("span.field", input("filter", "Filter", debounced(applyFilter, 120), {placeholder: "debug, or pool=trace",
      title: "Such as pool=debug or [load{rows=8}]=trace", "aria-describedby": "filter-error"})),
      make("span.field", input("find", "Text", debounced(find, 250), {placeholder: "part of a line"})), spans, foldAll, ui.time, ui.count);
  ui.timelineElement = make("div.timeline", {tabindex: 0, role: "region", "aria-label": "Timeline: w and s zoom, a and d move"});
  ui.rowsElement = make("div.rows", {id: "rows", tabindex: 0, role: "tree", "aria-label": "Records"});
  ui.details = make("section.details", {"aria-label": "Selected record", tabindex: 0});
  const panel = ui.records;
  ui.records = make("div.panel records", bar, ui.filterError, ui.timelineElement, ui.paper = make("p.paper"), make("div.rows-and-details", ui.rowsElement, ui.details));
  ui.noRecords = make("p", "This file has no records of this test. If its recording was kept, testlog show prints them.");
  panel.append(ui.note = make("p.note"), ui.noRecords, ui.records);
}

function buildPage() {
  const {index} = page, help = button("Keys (?)", () => ui.help.showModal());
  ui.causes = make("section.causes", {"aria-label": "Causes", tabindex: 0});
  ui.testCount = make("p.note", {"aria-live": "polite"});
  ui.testsElement = make("div.tests", {id: "tests", tabindex: 0, role: "listbox", "aria-label": "Tests"});
  ui.title = make("h1", {tabindex: -1});
  ui.summary = make("section.summary", {"aria-label": "Failure"});
  ui.actions = make("p.actions");
  ui.status = make("p.for-readers", {role: "status"});
  ui.help = make("dialog", {"aria-label": "Keys"}, make("h2", "Keys"), pairs(KEYS.map(([key, what]) => [make("kbd", key), what])),
                 button("Close", () => ui.help.close()));
  const tabs = buildTabs();
  buildRecords();
  document.body.append(
      make("header", make("a.skip", {href: "#", onclick: (event) => (event.preventDefault(), ui.search.focus())}, "Tests"),
           make("b", index.title), help),
      make("div.columns",
           make("main", index.notes.map((note) => make("p.note", note)), ui.title, ui.summary, ui.actions, tabs),
           make("nav", {"aria-label": "Tests"}, ui.causes, input("search", "Search tests", debounced(searchTests, 80), {type: "search", placeholder: "Pool s:failed"}),
                make("div.filters", toggle("Order of the run", false, (isOn) => {
                  page.order = isOn ? [...index.tests.keys()] : orderTests(index);
                  searchTests();
                }), ui.testCount), ui.testsElement)),
      ui.status, ui.help);
  ui.tests = new VirtualList(ui.testsElement, {render: renderTest, select: (row) => openTest(page.shown[row])});
  ui.rows = new VirtualList(ui.rowsElement, {render: renderRow, select: selectRow, key: onRowKey});
  ui.timeline = new Timeline(ui.timelineElement, {select: (span) => selectRow(rowOf(-span))});
  document.addEventListener("keydown", onKey);
  addEventListener("beforeprint", drawForPaper);
  addEventListener("afterprint", () => ui.rows.draw());
  addEventListener("hashchange", () => { if (location.hash !== page.hash) readHash(); });
}

async function start() {
  page.index = json(await unpack("index"));
  page.order = orderTests(page.index);
  page.root = rootOf(page.index.sites.map((site) => site.file));
  document.title = page.index.title;
  buildPage();
  showCauses();
  searchTests();
  showTab("records");
  if (page.index.tests.length > 0) {
    await readHash();
  } else {
    ui.title.textContent = "No tests are recorded";
    for (const name of ["summary", "actions", "records", "noRecords"]) ui[name].hidden = true;
  }
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  document.body.append(make("p.error", {role: "alert"}, "This report cannot be shown: " + error));
  throw error;
});
