// The tokens of one text as a list that stays fast with a million tokens: only the blocks near the visible part have
// elements. A block is a few hundred tokens, if possible whole lines.
"use strict";
window.polytok = window.polytok || {};
(() => {
  const BLOCK = 256;
  const CHARACTER_WIDTH = 10;
  const LINE_HEIGHT = 29;
  const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zs}\p{Zl}\p{Zp}]/gu;
  const SHORT = { " ": "␣", "\n": "↵\n", "\r": "\\r", "\t": "⇥" };
  const ESCAPE = /\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|<0x[0-9A-F]{2}>/;
  const LONG_TOKEN = 24;
  let views = 0;

  // A text in which white space and other invisible characters can be seen. A mark that would join the character of the
  // token before gets a circle of its own.
  function visible(text, showsSpaces = true) {
    const shown = text.replace(INVISIBLE, (character) => {
      if (!showsSpaces && (character === " " || character === "\n" || character === "\t")) return character;
      return SHORT[character] || "\\u" + character.codePointAt(0).toString(16).padStart(4, "0");
    });
    return /^\p{M}/u.test(shown) ? "◌" + shown : shown;
  }

  // Writes a token into its element. Escapes are read from left to right, also in text that is not. Only a long token is
  // divided at the end of a line.
  function write(element, shown, id) {
    element.textContent = shown || "∅";
    if (ESCAPE.test(shown)) element.dir = "ltr";
    if (shown.length <= LONG_TOKEN) element.classList.add("short");
    if (id === null) return;
    const small = document.createElement("small");
    small.textContent = id;
    element.append(small);
  }

  class TokenView {
    // `options`: name (for screen readers), and the functions hover(index or null), select(index), open(index).
    constructor(container, options) {
      this.options = options;
      this.element = document.createElement("div");
      this.element.className = "tokens";
      this.element.tabIndex = 0;
      this.element.setAttribute("role", "listbox");
      this.element.setAttribute("aria-label", options.name);
      this.prefix = "v" + ++views + "-";
      container.append(this.element);
      this.blocks = [];
      this.active = -1;
      this.parts = new Set();
      this.observer = new IntersectionObserver((entries) => this.fill(entries), { root: this.element, rootMargin: "500px" });
      this.element.addEventListener("mouseover", (event) => this.call("hover", this.indexOf(event.target)));
      this.element.addEventListener("mouseleave", () => this.call("hover", null));
      this.element.addEventListener("click", (event) => {
        const index = this.indexOf(event.target);
        if (index === null) return;
        this.activate(index, false);
        this.call("open", index);
      });
      this.element.addEventListener("keydown", (event) => this.key(event));
      this.element.addEventListener("focus", () => {
        if (this.active < 0 && this.data && this.data.ids.length) this.activate(0);
      });
    }

    call(name, index) {
      if (this.options[name]) this.options[name](index);
    }

    indexOf(target) {
      const chip = target.closest && target.closest(".t");
      return chip ? Number(chip.dataset.i) : null;
    }

    // Shows other tokens. `data` has text, ids, starts, ends, labels, special, and for conversations origins.
    show(data, { showsSpaces, showsIds, parts }) {
      this.data = data;
      this.showsSpaces = showsSpaces;
      this.showsIds = showsIds;
      this.parts = parts || new Set();
      this.isSpecial = new Set(data.special);
      this.near = null;
      this.observer.disconnect();
      const kept = this.element.scrollTop;
      const width = Math.max(20, Math.floor(this.element.clientWidth / CHARACTER_WIDTH));
      this.blocks = this.cut(width);
      this.element.replaceChildren(...this.blocks.map((block) => block.element));
      this.element.scrollTop = kept;
      this.active = Math.min(this.active, data.ids.length - 1);
      this.blocks.forEach((block) => this.observer.observe(block.element));
      this.fillVisible();
    }

    cut(width) {
      const { ids, starts, ends, text } = this.data;
      const blocks = [];
      for (let first = 0; first < ids.length; ) {
        let end = Math.min(first + BLOCK, ids.length);
        for (let i = first; i < Math.min(first + 2 * BLOCK, ids.length); i++) {
          if (i - first >= BLOCK / 2 && text.charCodeAt(ends[i] - 1) === 10) { end = i + 1; break; }
        }
        const element = document.createElement("div");
        element.className = "block";
        element.setAttribute("role", "presentation");
        element.dir = "auto";
        const characters = ends[end - 1] - starts[first] + 2 * (end - first);
        element.style.minHeight = Math.ceil(characters / width) * LINE_HEIGHT + "px";
        element.dataset.block = blocks.length;
        blocks.push({ first, end, element, isFull: false });
        first = end;
      }
      return blocks;
    }

    // The blocks in sight are filled at once, so that a key shows its tokens in the next frame.
    fillVisible() {
      const top = this.element.scrollTop;
      const bottom = top + this.element.clientHeight;
      for (const block of this.blocks) {
        const start = block.element.offsetTop - this.element.offsetTop;
        if (start > bottom) break;
        if (start + block.element.offsetHeight >= top) this.fillBlock(block);
      }
    }

    fill(entries) {
      for (const { target, isIntersecting } of entries) {
        const block = this.blocks[Number(target.dataset.block)];
        if (!block || block.element !== target) continue;
        if (isIntersecting) this.fillBlock(block);
        else if (block.isFull) {
          block.element.style.minHeight = block.element.offsetHeight + "px";
          block.element.replaceChildren();
          block.isFull = false;
        }
      }
    }

    fillBlock(block) {
      if (block.isFull) return;
      const { starts, ends, text } = this.data;
      const parts = [];
      let before = block.first ? ends[block.first - 1] : 0;
      for (let i = block.first; i < block.end; i++) {
        if (starts[i] > before) parts.push(this.gap(text.slice(before, starts[i])));
        parts.push(this.chip(i), document.createElement("wbr"));
        before = Math.max(before, ends[i]);
      }
      if (block.end === this.data.ids.length && before < text.length) parts.push(this.gap(text.slice(before)));
      block.element.replaceChildren(...parts);
      block.element.style.minHeight = "";
      block.isFull = true;
    }

    // Text of no token, which the tokenizer drops.
    gap(text) {
      const element = document.createElement("span");
      element.className = "gap";
      element.textContent = visible(text, this.showsSpaces);
      element.setAttribute("aria-hidden", "true");
      return element;
    }

    chip(i) {
      const { ids, starts, ends, labels, text, origins } = this.data;
      const element = document.createElement("span");
      const label = labels[i];
      element.className = "t" + (i % 2 ? " b" : "") + (this.isSpecial.has(i) ? " special" : "");
      if (origins) element.className = "t o" + this.originClass(origins[i]) + (this.isSpecial.has(i) ? " special" : "");
      if (label !== undefined) element.classList.add("fragment");
      if (this.parts.has(i)) element.classList.add("parts");
      if (this.near && starts[i] < this.near[1] && this.near[0] < ends[i]) element.classList.add("near");
      if (i === this.active) element.classList.add("active");
      const shown = label !== undefined ? label : visible(text.slice(starts[i], ends[i]), this.showsSpaces);
      write(element, shown, this.showsIds ? ids[i] : null);
      element.id = this.prefix + i;
      element.dataset.i = i;
      element.setAttribute("role", "option");
      element.setAttribute("aria-selected", String(i === this.active));
      element.setAttribute("aria-setsize", ids.length);
      element.setAttribute("aria-posinset", i + 1);
      return element;
    }

    originClass(origin) {
      return origin === -1 ? 0 : origin < 0 ? 3 : 1 + (origin % 2);
    }

    blockOf(index) {
      return this.blocks.find((block) => index < block.end);
    }

    chipOf(index) {
      const block = this.blockOf(index);
      if (!block) return null;
      this.fillBlock(block);
      return document.getElementById(this.prefix + index);
    }

    // Makes a token the active one, which the keys move.
    activate(index, scrolls = true) {
      const old = document.getElementById(this.prefix + this.active);
      if (old) { old.classList.remove("active"); old.setAttribute("aria-selected", "false"); }
      this.active = index;
      const chip = this.chipOf(index);
      if (!chip) return;
      chip.classList.add("active");
      chip.setAttribute("aria-selected", "true");
      this.element.setAttribute("aria-activedescendant", chip.id);
      if (scrolls) this.scrollTo(chip);
      this.call("select", index);
    }

    scrollTo(chip) {
      const box = this.element.getBoundingClientRect();
      const place = chip.getBoundingClientRect();
      if (place.top < box.top) this.element.scrollTop -= box.top - place.top + 10;
      if (place.bottom > box.bottom) this.element.scrollTop += place.bottom - box.bottom + 10;
    }

    key(event) {
      const last = this.data ? this.data.ids.length - 1 : -1;
      if (last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      const at = Math.max(this.active, 0);
      const isRightToLeft = this.chipOf(at) && getComputedStyle(this.chipOf(at).parentElement).direction === "rtl";
      const step = isRightToLeft ? -1 : 1;
      const targets = {
        ArrowRight: at + step, ArrowLeft: at - step, Home: 0, End: last,
        ArrowDown: this.inNextLine(at, 1), ArrowUp: this.inNextLine(at, -1),
        PageDown: at + BLOCK, PageUp: at - BLOCK,
      };
      if (event.key === "Enter" || event.key === " ") this.call("open", at);
      else if (event.key in targets) this.activate(Math.max(0, Math.min(last, targets[event.key])));
      else return;
      event.preventDefault();
    }

    // The token of the next line (or of the line before) that is nearest below (or above) a token.
    inNextLine(index, direction) {
      const from = this.chipOf(index).getClientRects()[0];
      let best = index;
      let distance = Infinity;
      let line = null;
      for (let i = index + direction; i >= 0 && i < this.data.ids.length; i += direction) {
        const box = this.chipOf(i).getClientRects()[0];
        if (Math.abs(box.top - from.top) < box.height / 2) continue;
        if (line === null) line = box.top;
        if (Math.abs(box.top - line) > box.height / 2) break;
        if (Math.abs(box.left - from.left) < distance) { distance = Math.abs(box.left - from.left); best = i; }
      }
      return best === index ? index + direction * 20 : best;
    }

    // Marks the tokens that have characters of this range; null removes the marks.
    highlight(range) {
      this.near = range;
      const { starts, ends } = this.data || { starts: [], ends: [] };
      for (const chip of this.element.querySelectorAll(".t")) {
        const i = Number(chip.dataset.i);
        chip.classList.toggle("near", Boolean(range) && starts[i] < range[1] && range[0] < ends[i]);
      }
    }
  }

  // The tokens of `other` that are no tokens of `first`: they have other borders.
  function partedFrom(first, other) {
    const endAt = new Int32Array(first.text.length + 1).fill(-1);
    const empty = new Set();
    for (let i = 0; i < first.ids.length; i++) {
      if (first.starts[i] === first.ends[i]) empty.add(first.starts[i]);
      else endAt[first.starts[i]] = first.ends[i];
    }
    const parted = new Set();
    for (let i = 0; i < other.ids.length; i++) {
      const [start, end] = [other.starts[i], other.ends[i]];
      if (start === end ? !empty.has(start) : endAt[start] !== end) parted.add(i);
    }
    return parted;
  }

  Object.assign(window.polytok, { TokenView, partedFrom, visible, write });
})();
