// Draws traces: each step of the pipeline, in the order of the picture, from the JSON of `Trace.to_json`.
"use strict";
window.polytok = window.polytok || {};
(() => {
  const { make, number, visible, write } = window.polytok;
  const MANY = 300;
  const MANY_TOKENS = 1000;
  const LONG_TEXT = 200;
  const NEAR = 40;

  // A byte string of the JSON, with offsets in bytes.
  class Bytes {
    constructor(value) {
      this.data = value.text !== undefined ? new TextEncoder().encode(value.text) : Uint8Array.from((value.hex.match(/../g) || []).map((pair) => parseInt(pair, 16)));
    }
    get length() { return this.data.length; }
    // The bytes of a range as readable text; bytes that are not UTF-8 as escapes.
    show(start = 0, end = this.data.length) {
      const part = this.data.subarray(start, end);
      return visible(decode(part) ?? withEscapes(part)).replaceAll("↵\n", "↵");
    }
  }

  function decode(bytes) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return null;
    }
  }

  function withEscapes(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; ) {
      const length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
      const character = decode(bytes.subarray(at, at + length));
      text += character ?? "\\x" + bytes[at].toString(16).padStart(2, "0");
      at += character === null ? 1 : length;
    }
    return text;
  }

  const shown = (value) => new Bytes(value).show();

  function chip(text, isOdd, id, special = false) {
    const element = make("span", { class: `t${isOdd ? " b" : ""}${special ? " special" : ""}` });
    write(element, text, id ?? null);
    return element;
  }

  // Chips in a line, which breaks between them, and not inside of a token. Of many rows only those near some places
  // become chips.
  function chipLine(rows, draw, places = null) {
    const line = make("p", { class: "symbols", dir: "auto" });
    let isGap = false;
    rows.forEach((row, i) => {
      const isShown = places === null || places.some((place) => Math.abs(i - place) <= NEAR);
      if (isShown) line.append(draw(row, i), make("wbr"));
      else if (!isGap) line.append("… ");
      isGap = !isShown;
    });
    return line;
  }

  function more(count, noun) {
    return count > 0 ? make("p", { class: "soft" }, `and ${number(count)} more ${noun}`) : "";
  }

  const shorter = (text) => (text.length > LONG_TEXT ? text.slice(0, LONG_TEXT) + "…" : text);

  function table(caption, head, rows) {
    const body = rows.slice(0, MANY).map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell instanceof Node ? cell : String(cell)))));
    const header = make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, header), make("tbody", {}, body)), more(rows.length - MANY, "rows"));
  }

  function section(title, ...children) {
    return make("section", {}, make("h4", {}, title), ...children);
  }

  // A part that is drawn when it is first opened.
  function folded(title, draw, isOpen = false) {
    const element = make("details", {}, make("summary", {}, title));
    const fill = () => { if (element.open && element.children.length === 1) element.append(...[draw()].flat()); };
    element.addEventListener("toggle", fill);
    if (isOpen) { element.open = true; fill(); }
    return element;
  }

  function drawSpecials(trace) {
    const found = trace.specials.map((token) => [chip(shown(token.piece), false, token.id, true), `${token.start}–${token.end}`, token.why]);
    const seen = trace.not_taken.map((token) => [chip(shown(token.piece), false), `${token.start}–${token.end}`, `not taken: ${token.why}`]);
    if (!found.length && !seen.length) return section("Special tokens", make("p", { class: "soft" }, "The text has none."));
    return section("Special tokens", table("Special tokens", ["token", "bytes", "why"], [...found, ...seen]));
  }

  function drawNormalize(part) {
    if (!part.normalize.length) return section("Normalize", make("p", { class: "soft" }, "This tokenizer keeps the text as it is."));
    return section("Normalize", part.normalize.map((step) => {
      const isSame = JSON.stringify(step.before) === JSON.stringify(step.after);
      const line = make("p", {}, make("strong", {}, step.name), ` ${step.description}`, isSame ? ": changes nothing" : ":");
      return isSame ? line : make("div", {}, line, drawChanges(step), more(step.changes.length - MANY, "changes, which are not marked"));
    }));
  }

  function drawChanges(step) {
    const before = new Bytes(step.before);
    const after = new Bytes(step.after);
    const line = make("p", { class: "symbols", dir: "auto" });
    let at = 0;
    for (const change of step.changes.slice(0, MANY)) {
      line.append(after.show(at, change.after_start));
      if (change.before_start < change.before_end) line.append(make("del", {}, before.show(change.before_start, change.before_end)));
      if (change.after_start < change.after_end) line.append(make("ins", {}, after.show(change.after_start, change.after_end)));
      at = change.after_end;
    }
    line.append(after.show(at));
    return line;
  }

  function drawSplit(part) {
    if (!part.split.length) return section("Split", make("p", { class: "soft" }, "This tokenizer does not split the text."));
    return section("Split", part.split.map((step) => make("div", {},
      make("p", {}, make("strong", {}, step.name), ` ${shorter(step.description)}`),
      chipLine(step.pieces.slice(0, MANY), (piece, i) => {
        const element = chip(shown(piece.text), i % 2, piece.alternative);
        if (piece.alternative_text) element.title = `alternative ${piece.alternative}: ${piece.alternative_text}`;
        return element;
      }),
      more(step.pieces.length - MANY, "pieces"),
      step.alternatives.length ? folded("The alternatives of the pattern; a number beside a piece names the one that matched", () => make("ol", { start: 0 }, step.alternatives.map((text) => make("li", {}, make("code", {}, text))))) : "",
    )));
  }

  function drawPieces(part, trace, chosen) {
    const isOpen = (piece) => piece.tokens.includes(chosen) || part.pieces.length === 1;
    const lines = part.pieces.slice(0, MANY).map((piece) => folded(
      make("span", {}, `piece ${piece.index}: `, chip(shorter(shown(piece.text)), piece.index % 2), ` → ${piece.ids.slice(0, NEAR).join(" ") || "no ids"}${piece.ids.length > NEAR ? " …" : ""}`),
      () => window.polytok.drawWalk(piece, trace),
      isOpen(piece),
    ));
    const chosenLater = part.pieces.slice(MANY).filter(isOpen).map((piece) => folded(`piece ${piece.index}`, () => window.polytok.drawWalk(piece, trace), true));
    return section("Model", ...lines, more(part.pieces.length - MANY, "pieces"), ...chosenLater);
  }

  function drawPost(trace) {
    const lines = trace.post.map((step) => make("li", {}, `${step.description}${step.ids.length ? `: ${step.ids.join(" ")}` : ""}`));
    return section("Post-process", lines.length ? make("ul", {}, lines) : make("p", { class: "soft" }, "Nothing is added."));
  }

  function drawTokens(trace) {
    const count = trace.tokens.length;
    return section("Tokens", tokenLine(trace.tokens), make("p", {}, `${number(count)} ${count === 1 ? "token" : "tokens"}`));
  }

  function tokenLine(tokens) {
    const draw = (token, i) => chip(shown(token.piece), i % 2, token.id, token.is_special);
    return make("div", {}, chipLine(tokens.slice(0, MANY_TOKENS), draw), more(tokens.length - MANY_TOKENS, "tokens"));
  }

  function drawGiven(given) {
    if (!given) return "";
    const row = (name, tokens) => make("div", {}, make("p", {}, `${name}:`), tokenLine(tokens));
    const rows = given.canonical ? [] : [row("given", given.given), row("this encoder", given.canonical_rows)];
    return section("These ids", make("p", {}, given.why), ...rows);
  }

  function drawTrace(trace, token) {
    const parts = trace.parts.flatMap((part, i) => {
      const title = trace.parts.length > 1 ? [make("h3", {}, `Text ${i + 1}: bytes ${part.start}–${part.end}`)] : [];
      return [...title, drawNormalize(part), drawSplit(part), drawPieces(part, trace, token)];
    });
    const picture = [...new Set(trace.steps.map((step) => step.stage))].join(" → ");
    return make("article", { class: "column" },
      make("div", { class: "head" }, make("h3", {}, trace.name || trace.model), make("p", { class: "soft" }, `text → ${picture} → ids`)),
      make("div", { class: "tokens-of-trace" }, drawGiven(trace.given), drawTokens(trace), drawSpecials(trace), parts, drawPost(trace)));
  }

  // Draws traces side by side. `options.token` is the token whose piece is opened.
  function drawTraces(container, traces, options) {
    const grid = make("div", { id: "saved-columns" }, traces.map((trace) => drawTrace(trace, options.token)));
    container.replaceChildren(grid);
  }

  Object.assign(window.polytok, { Bytes, chip, drawTraces, chipLine, folded, shown, table });
})();
