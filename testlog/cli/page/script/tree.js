// The tree: the spans of a test summed up by their path, the slowest first.

function treeOf(block) {
  const nodeFor = (site) => ({site, children: new Map(), total: 0, self: 0, count: 0, open: 0});
  const root = nodeFor(0), nodes = new Array(block.spans + 1).fill(root);
  for (let s = 1; s <= block.spans; ++s) {
    const above = block.parent[s], site = block.spanSite[s], parent = nodes[above];
    let node = parent.children.get(site);
    if (!node) parent.children.set(site, node = nodeFor(site));
    nodes[s] = node;
    const length = Math.max(0, block.endOf(s) - block.begin[s]);
    node.total += length;
    node.self += length;
    node.count += 1;
    node.open += block.duration[s] < 0;
    if (above !== 0 && block.spanTrack[above] === block.spanTrack[s]) parent.self -= length;
  }
  const rows = [], waiting = [[root, 0]];
  while (waiting.length > 0) {
    const [node, depth] = waiting.pop();
    if (depth > 0) rows.push({...node, depth});
    for (const child of [...node.children.values()].sort((a, b) => a.total - b.total)) waiting.push([child, depth + 1]);
  }
  return rows;
}

function treeTable(block) {
  const MAX = 2000, all = treeOf(block), shown = all.slice(0, MAX);
  if (all.length === 0) return make("p", "No spans are recorded.");
  const most = Math.max(1, ...shown.map((row) => row.total));
  const rows = shown.map((row) => {
    const name = make("th", {scope: "row"}, block.sites[row.site].name), bar = make("span.bar");
    name.style.paddingInlineStart = Math.min(row.depth - 1, 40) * 1.1 + 0.4 + "em";
    bar.style.width = row.total / most * 8 + "rem";
    const cells = [durationText(row.total), durationText(Math.max(0, row.self)), row.count, [bar, row.open > 0 ? row.open + " open at the end" : ""]];
    return make("tr", name, cells.map((cell) => make("td", cell)));
  });
  return [tableOf(["Span", "Total", "Self", "Times", ""], rows, "tree"),
          all.length > MAX ? make("p", all.length - MAX + " more paths are left out.") : ""];
}
