// Small things that the page and the saved files share: elements, numbers, and lines about tokens.
"use strict";
window.polytok = window.polytok || {};
(() => {
  // An element with attributes and children; texts become text nodes, so nothing is read as HTML.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.flat());
    return element;
  }

  // The columns of an answer, which are base64 of little-endian int32, as arrays.
  function unpack(answer) {
    const columns = ["ids", "starts", "ends", "origins", "fragment_starts", "fragment_ends"].filter((name) => typeof answer[name] === "string");
    return { ...answer, ...Object.fromEntries(columns.map((name) => [name, numbers(answer[name])])) };
  }

  function numbers(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
    return new Int32Array(bytes.buffer);
  }

  const number = (value) => value.toLocaleString("en-US");

  function counts(data) {
    const tokens = data.ids.length;
    const rate = tokens ? `, ${(data.bytes / tokens).toFixed(2)} bytes per token` : "";
    return `${number(tokens)} ${tokens === 1 ? "token" : "tokens"}${rate}; ${number(data.characters)} characters, ${number(data.bytes)} bytes`;
  }

  const MAX_BYTES = 24;

  // The bytes of a token's text in hexadecimal.
  function hexadecimal(text) {
    const bytes = [...new TextEncoder().encode(text)];
    const shown = bytes.slice(0, MAX_BYTES).map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    return `${shown}${bytes.length > MAX_BYTES ? " …" : ""}`;
  }

  const range = (start, end) => (start === end ? `at ${number(start)}` : `${number(start)}–${number(end)}`);

  // The offsets of a token in characters and in bytes, and its bytes. A token that is not whole characters has its bytes
  // in its label.
  function places(data, i) {
    if (data.labels[i] !== undefined && data.fragment_starts) {
      const row = Object.keys(data.labels).indexOf(String(i));
      return `bytes ${range(data.fragment_starts[row], data.fragment_ends[row])}`;
    }
    const [start, end] = [data.starts[i], data.ends[i]].map((place) => data.text.slice(0, place));
    const characters = range(lengthOf(start), lengthOf(end));
    const bytes = range(new TextEncoder().encode(start).length, new TextEncoder().encode(end).length);
    const text = end.slice(start.length);
    return `characters ${characters}, bytes ${bytes}${data.labels[i] === undefined && text ? `: ${hexadecimal(text)}` : ""}`;
  }

  // The number of characters: JavaScript counts those beyond U+FFFF twice.
  function lengthOf(text) {
    let count = 0;
    for (const _ of text) count++;
    return count;
  }

  // A line about one token: its number, id, text, offsets and bytes.
  function describe(data, i) {
    const text = data.text.slice(data.starts[i], data.ends[i]);
    const shown = window.polytok.visible(data.labels[i] !== undefined ? data.labels[i] : text).replace("\n", "");
    let line = `token ${number(i + 1)} of ${number(data.ids.length)}: id ${data.ids[i]}, “${shown}”, ${places(data, i)}`;
    if (data.special.includes(i)) line += ", special";
    if (data.origins) line += `, ${originName(data, data.origins[i])}`;
    return line;
  }

  function originName(data, origin) {
    if (origin === -1) return "written by the template";
    return origin < 0 ? "of tools, documents or variables" : `of message ${origin + 1} (${data.roles[origin]})`;
  }

  Object.assign(window.polytok, { make, number, counts, describe, originName, unpack });
})();
