// Draws what the model did with one piece: the merges of BPE as a tree that plays step by step, the lattice of Unigram,
// and the walks of the other models as tables.
"use strict";
window.polytok = window.polytok || {};
(() => {
  const { Bytes, chip, chipLine, folded, make, number, table } = window.polytok;
  const SVG = "http://www.w3.org/2000/svg";
  const MOST_SYMBOLS = 160;
  const MOST_EDGES = 1500;

  function draw(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function picture(width, height, title, ...children) {
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...children);
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, svg);
  }

  // The width of a text in a picture, in pixels: the font has one width, which is doubled for wide characters.
  const CHARACTER_WIDTH = 8;
  const WIDEST_LABEL = 14 * CHARACTER_WIDTH;
  const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{3fffd}]/u;
  const widthOf = (text) => [...text].reduce((sum, character) => sum + CHARACTER_WIDTH * (/\p{Mn}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1), 0);

  // A text that is cut, with an ellipsis, if it is wider than this.
  function fitted(text, width) {
    if (widthOf(text) <= width) return text;
    const characters = [...text].slice(0, Math.ceil(width / CHARACTER_WIDTH));
    while (characters.length > 1 && widthOf(characters.join("")) > width - CHARACTER_WIDTH) characters.pop();
    return characters.join("") + "…";
  }

  const idOf = (id) => (id === null ? "no entry" : String(id));
  const score = (value) => (typeof value === "number" ? (Number.isInteger(value) ? String(value) : value.toFixed(4)) : String(value));

  // ---- Byte-pair encoding

  const PRIORITIES = { merges: "place in the list of merges", rank: "rank", score: "score" };

  function drawBpe(piece, walk) {
    const bytes = new Bytes(piece.text);
    if (walk.whole_piece !== null) return [make("p", {}, `The whole piece is an entry, so nothing is merged: id ${walk.whole_piece}.`)];
    const merges = walk.events.filter((event) => event.kind === "merge");
    const line = make("div");
    const said = make("p", { role: "status" });
    const queue = make("div");
    const tree = walk.symbols.length <= MOST_SYMBOLS ? drawTree(walk, bytes) : null;
    const slider = make("input", { type: "range", min: 0, max: merges.length, value: merges.length, "aria-label": "Merges" });
    const show = () => {
      const step = Number(slider.value);
      const symbols = symbolsAfter(walk, merges, step).map((at) => walk.symbols[at]);
      const newest = symbols.findIndex((symbol) => symbol.number === (step ? merges[step - 1].result : 0));
      line.replaceChildren(chipLine(symbols, (symbol, i) => chip(bytes.show(symbol.start, symbol.end), i % 2, symbol.id), [newest]));
      said.textContent = sentence(walk, merges, step, bytes);
      queue.replaceChildren(queueAfter(walk, step, bytes));
      if (tree) tree.show(merges.slice(0, step).map((event) => event.result), step ? merges[step - 1].result : null);
    };
    slider.addEventListener("input", show);
    const player = make("div", { class: "player" }, ...controls(slider, show), slider);
    show();
    return [
      merges.length ? player : "", said, line, tree ? tree.element : "",
      folded("The merges as a tree", () => walk.final.map((at) => branch(walk, at, bytes))),
      folded("The queue", () => queue),
      folded("Every event, in order", () => eventTable(walk, bytes)),
      ...afterMerging(walk, bytes),
    ];
  }

  function controls(slider, show) {
    let timer = null;
    const move = (value) => { slider.value = value; show(); };
    const play = make("button", { type: "button" }, "Play");
    const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    play.addEventListener("click", () => {
      if (timer) { stop(); return; }
      if (slider.value === slider.max) move(0);
      play.textContent = "Pause";
      timer = setInterval(() => {
        if (!slider.isConnected || slider.value === slider.max) { stop(); return; }
        move(Number(slider.value) + 1);
      }, 700);
    });
    const button = (name, value) => make("button", { type: "button", onclick: () => { stop(); move(value()); } }, name);
    return [
      button("First", () => 0), button("Back", () => Number(slider.value) - 1), play,
      button("Next", () => Number(slider.value) + 1), button("Last", () => slider.max),
    ];
  }

  // The numbers of the symbols after so many merges, in the order of the text.
  function symbolsAfter(walk, merges, step) {
    const alive = new Set(walk.symbols.slice(0, walk.initial_count).map((symbol) => symbol.number));
    for (const event of merges.slice(0, step)) {
      alive.delete(event.left);
      alive.delete(event.right);
      alive.add(event.result);
    }
    return [...alive].sort((a, b) => walk.symbols[a].start - walk.symbols[b].start || walk.symbols[a].end - walk.symbols[b].end);
  }

  function sentence(walk, merges, step, bytes) {
    if (!merges.length) return "No pair of symbols can merge.";
    if (!step) return `The symbols before the first of ${number(merges.length)} merges.`;
    const event = merges[step - 1];
    const text = (at) => `“${bytes.show(walk.symbols[at].start, walk.symbols[at].end)}”`;
    return `Merge ${step} of ${merges.length}: ${text(event.left)} and ${text(event.right)} become ${text(event.result)}, ${PRIORITIES[walk.priority]} ${score(event.priority)}.`;
  }

  function queueAfter(walk, step, bytes) {
    const waiting = new Map();
    let merged = 0;
    for (const event of walk.events) {
      if (event.kind === "merge") {
        if (merged === step) break;
        merged++;
      }
      const key = `${event.left} ${event.right}`;
      if (event.kind === "queue") waiting.set(key, event);
      else waiting.delete(key);
    }
    const isBetter = walk.priority === "score" ? (a, b) => b.priority - a.priority : (a, b) => a.priority - b.priority;
    const rows = [...waiting.values()].sort((a, b) => isBetter(a, b) || walk.symbols[a.left].start - walk.symbols[b.left].start);
    return table("The queue, the best pair first", ["pair", "id", PRIORITIES[walk.priority]], rows.map((event) => [pairText(walk, event, bytes), idOf(event.id), score(event.priority)]));
  }

  function pairText(walk, event, bytes) {
    return [event.left, event.right].map((at) => bytes.show(walk.symbols[at].start, walk.symbols[at].end)).join(" + ");
  }

  function eventTable(walk, bytes) {
    const names = { queue: () => "enters the queue", merge: (event) => `merge ${event.step}`, stale: (event) => `stale, because of merge ${event.step}` };
    return table("Events", ["event", "pair", PRIORITIES[walk.priority]], walk.events.map((event) => [names[event.kind](event), pairText(walk, event, bytes), score(event.priority)]));
  }

  // A symbol with the two that it was merged from, as a tree that opens and closes.
  function branch(walk, at, bytes) {
    const symbol = walk.symbols[at];
    const text = bytes.show(symbol.start, symbol.end);
    if (!symbol.children) return make("div", { class: "symbols" }, chip(text, false, symbol.id));
    return folded(make("span", {}, chip(text, true, symbol.id)), () => symbol.children.map((child) => branch(walk, child, bytes)), true);
  }

  function drawTree(walk, bytes) {
    const WIDTH = 62;
    const LEVEL = 44;
    const leaves = walk.symbols.slice(0, walk.initial_count);
    const places = new Map();
    leaves.forEach((symbol, i) => places.set(symbol.number, { x: i * WIDTH + WIDTH / 2 + 5, level: 0, leaves: 1 }));
    for (const symbol of walk.symbols) {
      if (!symbol.children) continue;
      const [a, b] = symbol.children.map((child) => places.get(child));
      places.set(symbol.number, { x: (a.x + b.x) / 2, level: Math.max(a.level, b.level) + 1, leaves: a.leaves + b.leaves });
    }
    const levels = Math.max(...[...places.values()].map((place) => place.level));
    const y = (level) => (levels - level) * LEVEL + 22;
    const groups = new Map();
    const svg = picture(leaves.length * WIDTH + 10, (levels + 1) * LEVEL, "The merges, as a tree over the first symbols", ...walk.symbols.map((symbol) => {
      const place = places.get(symbol.number);
      const text = bytes.show(symbol.start, symbol.end);
      const shown = fitted(text, Math.min(place.leaves * WIDTH - 8, WIDEST_LABEL));
      const half = Math.max(14, widthOf(shown) / 2 + 5);
      const lines = (symbol.children || []).map((child) => draw("line", { class: "edge", x1: place.x, y1: y(place.level) + 12, x2: places.get(child).x, y2: y(places.get(child).level) - 12 }));
      const label = draw("text", { x: place.x, y: y(place.level) + 5, "text-anchor": "middle" }, shown);
      const title = draw("title", {}, `${text}: ${symbol.id === null ? "no entry" : "id " + symbol.id}`);
      const group = draw("g", {}, title, ...lines, draw("rect", { class: "node", x: place.x - half, y: y(place.level) - 12, width: 2 * half, height: 24, rx: 5 }), label);
      groups.set(symbol.number, group);
      return group;
    }));
    const show = (merged, newest) => {
      const made = new Set(merged);
      for (const symbol of walk.symbols) {
        if (!symbol.children) continue;
        groups.get(symbol.number).setAttribute("class", made.has(symbol.number) ? "" : "later");
        groups.get(symbol.number).querySelector("rect").setAttribute("class", symbol.number === newest ? "node new" : "node");
      }
      if (newest !== null) scrollInto(svg, places.get(newest).x);
    };
    return { element: svg, show };
  }

  // Scrolls a picture that is wider than its place so that a part of it can be seen.
  function scrollInto(element, x) {
    const { scrollLeft, clientWidth } = element;
    if (x < scrollLeft + 40 || x > scrollLeft + clientWidth - 40) element.scrollLeft = x - clientWidth / 2;
  }

  function afterMerging(walk, bytes) {
    const lines = [
      ...walk.split_unused.map((part) => `“${bytes.show(part.start, part.end)}” is an unused entry (id ${part.id}), so it is split again into “${bytes.show(part.start, part.middle)}” and “${bytes.show(part.middle, part.end)}”.`),
      ...walk.resegment.map((part) => `“${bytes.show(walk.symbols[part.symbol].start, walk.symbols[part.symbol].end)}” is looked up again: ${part.id === null ? "no entry" : "id " + part.id}.`),
    ];
    return lines.length ? [make("ul", {}, lines.map((line) => make("li", {}, line)))] : [];
  }

  function rest(walk, bytes) {
    const lines = [
      ...walk.bytes.map((part) => `No entry covers “${bytes.show(part.start, part.end)}”: its bytes are encoded, ids ${part.ids.join(" ")}.`),
      ...walk.unknown.map((part) => `No entry covers “${bytes.show(part.start, part.end)}”: ${part.id === null ? "it is dropped" : "unknown, id " + part.id}${part.joined ? "; adjacent unknown text is one token" : ""}.`),
    ];
    return lines.length ? make("ul", {}, lines.map((line) => make("li", {}, line))) : "";
  }

  // ---- Unigram

  function drawUnigram(piece, walk) {
    const bytes = new Bytes(piece.text);
    const path = walk.best.map((at) => walk.edges[at]);
    const sentence = make("p", {}, `Of all ways through the lattice, this one has the best sum of scores, ${score(walk.score)}; ${walk.rounding}.`);
    const line = chipLine(path.slice(0, MOST_EDGES), (edge, i) => chip(bytes.show(edge.start, edge.end), i % 2, edge.id));
    const tokens = new Set(path.map((edge) => `${edge.start} ${edge.end}`));
    const runners = walk.runners_up.map((runner) => [drawRunner(bytes, runner, tokens), score(runner.score)]);
    const edges = walk.edges.map((edge) => [bytes.show(edge.start, edge.end), `${edge.start}–${edge.end}`, idOf(edge.id), score(edge.score), score(edge.sum), edge.on_path ? "on the best path" : edge.is_best ? "best into its end" : ""]);
    return [
      sentence, line, walk.edges.length <= MOST_EDGES ? drawLattice(walk, bytes) : "",
      runners.length ? folded("The next best ways", () => table("The next best ways", ["segmentation", "score"], runners), true) : "",
      folded("Every candidate", () => table("Candidates", ["text", "bytes", "id", "score", "sum", ""], edges)),
    ];
  }

  // A runner-up, near the tokens that the best path does not have.
  function drawRunner(bytes, runner, bestTokens) {
    const starts = [0, ...runner.ends];
    const places = runner.ends.flatMap((end, i) => (bestTokens.has(`${starts[i]} ${end}`) ? [] : [i]));
    const draw = (end, i) => chip(bytes.show(starts[i], end), i % 2, runner.ids[i]);
    return chipLine(runner.ends, draw, places);
  }

  // The lattice: each candidate is a bar over the characters that it covers; the best path is the row at the top.
  function drawLattice(walk, bytes) {
    const WIDTH = 62;
    const ROW = 40;
    const places = new Map(walk.nodes.map((offset, i) => [offset, i * WIDTH + 5]));
    const rows = [];
    const bars = [];
    const order = [...walk.edges].sort((a, b) => Number(b.on_path) - Number(a.on_path) || b.end - b.start - (a.end - a.start) || a.start - b.start);
    for (const edge of order) {
      let row = rows.findIndex((taken, i) => (i > 0 || edge.on_path) && taken.every(([start, end]) => edge.end <= start || end <= edge.start));
      if (row < 0) row = rows.push([]) - 1;
      if (row === 0 && !edge.on_path) row = rows.push([]) - 1;
      rows[row].push([edge.start, edge.end]);
      bars.push({ edge, row });
    }
    const groups = bars.map(({ edge, row }) => {
      const x = places.get(edge.start);
      const width = (places.get(edge.end) ?? x) - x - 4;
      const top = row * ROW + 26;
      const text = bytes.show(edge.start, edge.end);
      const label = fitted(text, width);
      return draw("g", {},
        draw("title", {}, `${text}: ${edge.id === null ? "unknown" : "id " + edge.id}, score ${score(edge.score)}, sum ${score(edge.sum)}${edge.on_path ? ", on the best path" : edge.is_best ? ", best into its end" : ""}`),
        draw("rect", { class: edge.on_path ? "node taken" : "node", x, y: top, width: Math.max(width, 10), height: ROW - 6, rx: 5 }),
        draw("text", { x: x + width / 2, y: top + 14, "text-anchor": "middle" }, label),
        draw("text", { x: x + width / 2, y: top + 29, "text-anchor": "middle", opacity: ".75" }, Number(edge.score).toFixed(2)));
    });
    const characters = walk.nodes.slice(0, -1).map((offset, i) => draw("text", { x: i * WIDTH + 5 + WIDTH / 2, y: 16, "text-anchor": "middle" }, bytes.show(offset, walk.nodes[i + 1])));
    return picture((walk.nodes.length - 1) * WIDTH + 12, rows.length * ROW + 34, "The lattice; the best path is the first row, with thick edges", ...characters, ...groups);
  }

  // ---- The other models

  function drawWordPiece(piece, walk) {
    const rows = walk.attempts.map((attempt) => [new Bytes(attempt.piece).show(), `${attempt.start}–${attempt.end}`, attempt.id === null ? "no entry" : `id ${attempt.id}: taken`]);
    return [walk.why ? make("p", {}, walk.why) : "", table("What was looked up, the longest text first", ["looked up", "bytes", "found"], rows)];
  }

  function drawLongest(piece, walk) {
    const bytes = new Bytes(piece.text);
    const rows = walk.positions.map((position) => [position.start, chipLine(position.candidates, (candidate, i) => {
      const element = chip(bytes.show(position.start, candidate.end), i % 2, candidate.id);
      return i === position.candidates.length - 1 ? make("strong", {}, element) : element;
    })]);
    return [table("The entries that begin at each place; the longest, which is the last, is taken", ["place", "entries"], rows)];
  }

  function drawWhole(piece, walk) {
    const bytes = new Bytes(piece.text);
    return [table("What was looked up", [walk.unit, "found"], walk.segments.map((part) => [bytes.show(part.start, part.end), part.id === null ? "no entry" : `id ${part.id}`]))];
  }

  function drawPlamo2(piece, walk) {
    const bytes = new Bytes(piece.text);
    return [table("The cheapest way from each place to the end", ["place", "first token", "id", "cost", ""], walk.table.map((row) => [row.start, bytes.show(row.start, row.end), idOf(row.id), number(row.cost), row.on_path ? "on the path" : ""]))];
  }

  const WALKS = { bpe: drawBpe, unigram: drawUnigram, wordpiece: drawWordPiece, longest: drawLongest, whole: drawWhole, plamo2: drawPlamo2 };

  // Draws the walk of one piece.
  function drawWalk(piece) {
    if (!piece.walk) return [make("p", { class: "soft" }, "The walk of this piece was not traced: open its token.")];
    return [...WALKS[piece.walk.kind](piece, piece.walk), rest(piece.walk, new Bytes(piece.text))].flat();
  }

  Object.assign(window.polytok, { drawWalk });
})();
