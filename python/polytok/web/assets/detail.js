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
    const columns = ["ids", "starts", "ends", "origins"].filter((name) => typeof answer[name] === "string");
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
    const rate = tokens ? `, ${(data.bytes / tokens).toFixed(2)} bytes for each` : "";
    return `${number(tokens)} ${tokens === 1 ? "token" : "tokens"}${rate}; ${number(data.characters)} characters, ${number(data.bytes)} bytes`;
  }

  const MAX_BYTES = 24;

  // The bytes of a token's text in hexadecimal; a token that is no whole text has them in its label.
  function bytesOf(text) {
    const bytes = [...new TextEncoder().encode(text)];
    const shown = bytes.slice(0, MAX_BYTES).map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    return `, ${bytes.length === 1 ? "byte" : "bytes"} ${shown}${bytes.length > MAX_BYTES ? " …" : ""}`;
  }

  // A line about one token: its number, id, text, place and bytes.
  function describe(data, i) {
    const text = data.text.slice(data.starts[i], data.ends[i]);
    const shown = window.polytok.visible(data.labels[i] !== undefined ? data.labels[i] : text).replace("\n", "");
    const place = data.starts[i] === data.ends[i] ? `at ${number(data.starts[i])}` : `${number(data.starts[i])}–${number(data.ends[i])}`;
    let line = `token ${number(i + 1)} of ${number(data.ids.length)}: id ${data.ids[i]}, “${shown}”, place ${place}`;
    if (data.labels[i] === undefined && text) line += bytesOf(text);
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
