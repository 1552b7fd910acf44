// The local page: sends what is typed to the server, and shows the answers.
"use strict";
(() => {
  const { TokenView, partedFrom, make, number, counts, describe, originName, unpack, neededPart, drawTraces } = window.polytok;
  const get = (id) => document.getElementById(id);
  const MAX_LINK = 4096;
  const EXAMPLES = {
    text: "Hello, world! 123 + 456 = 579\nnaïve café, 안녕하세요, こんにちは世界, שלום 👩‍🚀",
    ids: "",
    chat: '[\n  {"role": "user", "content": "Hello!"},\n  {"role": "assistant", "content": "How can I help?"}\n]',
  };
  const LABELS = { text: "Text", ids: "Ids, with spaces or commas between them", chat: "Conversation, as a JSON list of messages" };
  const columns = new Map();
  const texts = { ...EXAMPLES };
  let models = [];
  let chosen = [];
  let mode = "text";
  let isSending = false;
  let isChanged = false;
  let place = -1;
  let shownTrace = 0;
  let answers = 0;

  // ---- Requests

  async function post(name, body, query = "") {
    const isFile = body instanceof Blob;
    const response = await fetch(`api/${name}${query}`, { method: "POST", body: isFile ? body : JSON.stringify(body) });
    if ((response.headers.get("Content-Type") || "").includes("json")) {
      const answer = await response.json();
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer;
    }
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  function notice(text, isError = false) {
    get("notice").textContent = text;
    get("notice").className = isError ? "error" : "";
  }

  // ---- Tokens

  function options() {
    return { special: get("special").checked, template: get("template").checked, prompt: get("prompt").checked };
  }

  // What is traced: the tokens of a column. The template of a conversation writes special tokens.
  function traced(data, place) {
    if (mode === "ids") return { ids: [...data.ids] };
    return { text: data.text, place, ...options(), ...(mode === "chat" ? { special: true, template: false } : {}) };
  }

  function request() {
    const body = { models: chosen, ...options() };
    if (mode === "chat") return { ...body, messages: get("input").value };
    return { ...body, text: get("input").value };
  }

  // Sends the newest text. While an answer is awaited, later changes wait, and only the last of them is sent.
  async function update() {
    isChanged = true;
    if (isSending) return;
    isSending = true;
    while (isChanged) {
      isChanged = false;
      const sent = get("input").value;
      try {
        const results = mode === "ids" ? await decoded(sent) : (await post("encode", request())).results;
        showResults(results, sent);
        document.documentElement.dataset.answers = ++answers;
      } catch (error) {
        notice(String(error.message || error), true);
      }
    }
    isSending = false;
    remember();
  }

  async function decoded(text) {
    const words = text.split(/[\s,;[\]]+/).filter(Boolean);
    const ids = words.map(Number);
    const wrong = words.find((word, i) => !Number.isSafeInteger(ids[i]) || ids[i] < 0);
    if (wrong !== undefined) throw new Error(`“${wrong}” is not an id: ids are whole numbers`);
    return (await post("decode", { models: chosen, ids })).results;
  }

  function showResults(results, sent) {
    notice("");
    const shown = results.map((result) => ({ text: sent, ...unpack(result) })).filter((result) => columns.has(result.model));
    const first = shown.find((result) => result.error === undefined);
    for (const result of shown) {
      const column = columns.get(result.model);
      column.parts = first && result !== first && !result.error && result.text === first.text ? partedFrom(first, result) : new Set();
      column.data = result.error === undefined ? result : { text: "", ids: [], starts: [], ends: [], labels: {}, special: [], bytes: 0, characters: 0 };
      column.summary.textContent = result.error || counts(result) + (result.canonical === false ? "; this encoder would never return these ids" : "");
      column.summary.className = result.error ? "error" : "";
      column.text.hidden = mode !== "ids" || Boolean(result.error);
      column.text.textContent = mode === "ids" ? result.text : "";
      column.view.show(column.data, { ...view(), parts: column.parts });
      column.legend.replaceChildren(...legend(column.data));
    }
    place = -1;
    const parted = [...columns.values()].reduce((sum, column) => sum + column.parts.size, 0);
    const isCompared = shown.some((result) => first && result !== first && !result.error && result.text === first.text);
    get("parted").textContent = !isCompared ? "" : parted ? `${number(parted)} ${parted === 1 ? "token differs" : "tokens differ"} from the first tokenizer’s, marked with a wavy line` : "All tokens are as the first tokenizer’s";
    get("next").disabled = parted === 0;
  }

  function view() {
    return { showsSpaces: get("spaces").checked, showsIds: get("numbers").checked };
  }

  function legend(data) {
    if (!data.origins) return [];
    const origins = [...new Set(data.origins)].sort((a, b) => a - b).slice(0, 12);
    const classOf = (origin) => (origin === -1 ? 0 : origin < 0 ? 3 : 1 + (origin % 2));
    return origins.map((origin) => make("span", { class: `t o${classOf(origin)}` }, originName(data, origin)));
  }

  // ---- Columns and models

  function addColumn(model) {
    const summary = make("p", { role: "status" });
    const doctor = make("button", { type: "button" }, "Doctor");
    const verdict = make("div");
    const text = make("p", { class: "decoded", hidden: true });
    const key = make("div", { class: "row legend" });
    const heading = make("h3", {}, model.name);
    const head = make("div", { class: "head" }, heading, summary, make("div", { class: "row" }, doctor), verdict, text, key);
    const element = make("article", { class: "column" }, head);
    const column = { model, element, summary, text, legend: key, parts: new Set(), data: null };
    column.view = new TokenView(element, {
      name: `Tokens of ${model.name}`,
      hover: (index) => hover(column, index),
      select: (index) => hover(column, index),
      open: (index) => openTrace(column, index),
    });
    doctor.addEventListener("click", () => showVerdict(model, verdict));
    columns.set(model.key, column);
    get("columns").append(element);
  }

  async function showVerdict(model, verdict) {
    verdict.replaceChildren("…");
    try {
      const { well, findings } = await post("doctor", { model: model.key });
      const lines = findings.map((finding) => make("li", {}, `${finding.severity}: ${finding.message}. ${finding.advice}`));
      const sentence = well ? "The doctor finds nothing that is wrong." : "The doctor finds something that is wrong:";
      verdict.replaceChildren(make("p", { class: well ? "good" : "error" }, sentence), make("ul", {}, lines));
    } catch (error) {
      verdict.replaceChildren(make("p", { class: "error" }, error.message));
    }
  }

  // A token that is pointed at is described at the bottom of the page, and its place is marked in every column.
  function hover(column, index) {
    const data = column.data;
    const range = index === null ? null : [data.starts[index], Math.max(data.ends[index], data.starts[index] + 1)];
    for (const other of columns.values()) other.view.highlight(other.data && other.data.text === data.text ? range : null);
    get("detail").textContent = index === null ? "" : `${column.model.name}: ${describe(data, index)}`;
  }

  function showModels() {
    const boxes = models.map((model) => {
      const box = make("input", { type: "checkbox", id: `use-${model.key}`, onchange: chooseModels });
      box.checked = chosen.includes(model.key);
      const remove = make("button", { type: "button", "aria-label": `Remove ${model.name}`, onclick: () => removeModel(model) }, "×");
      const label = make("label", { for: box.id }, ` ${model.name} (${model.format}, ${number(model.size)} ids) `);
      return make("li", {}, box, label, ...(model.upload ? [remove] : []));
    });
    get("models").replaceChildren(...boxes);
    for (const key of [...columns.keys()]) {
      if (chosen.includes(key)) continue;
      columns.get(key).element.remove();
      columns.delete(key);
    }
    for (const model of models) if (chosen.includes(model.key) && !columns.has(model.key)) addColumn(model);
  }

  function chooseModels() {
    chosen = models.filter((model) => get(`use-${model.key}`).checked).map((model) => model.key);
    showModels();
    update();
  }

  async function removeModel(model) {
    models = (await post("remove", { model: model.key })).models;
    chosen = chosen.filter((key) => key !== model.key);
    showModels();
    update();
    get("file").focus();
  }

  async function addFiles(files) {
    for (const file of files) {
      try {
        notice(`Loading ${file.name} …`);
        const model = await post("upload", await neededPart(file), `?name=${encodeURIComponent(file.name)}`);
        models.push(model);
        chosen.push(model.key);
        notice(`${file.name} is loaded: ${number(model.size)} ids`);
      } catch (error) {
        notice(`${file.name}: ${error.message}`, true);
        return;
      }
    }
    const text = get("notice").textContent;
    showModels();
    await update();
    notice(text);
  }

  // ---- Trace

  async function openTrace(column, index) {
    const turn = ++shownTrace;
    const data = column.data;
    get("trace-section").hidden = false;
    get("trace").replaceChildren("…");
    get("trace-title").textContent = `Trace of ${column.model.name}`;
    get("trace-title").focus({ preventScroll: true });
    get("trace-title").scrollIntoView();
    try {
      const isConversation = mode === "chat";
      const trace = await post("trace", { model: column.model.key, ...traced(data, data.starts[index]) });
      if (turn !== shownTrace) return;
      drawTraces(get("trace"), [trace], { token: index });
      const isSame = trace.tokens.length === data.ids.length && trace.tokens.every((token, i) => token.id === data.ids[i]);
      if (isConversation && !isSame) get("trace").prepend(make("p", {}, "A message contains special tokens. In the conversation they are text; this trace takes them as tokens."));
    } catch (error) {
      if (turn === shownTrace) get("trace").replaceChildren(make("p", { class: "error" }, error.message));
    }
  }

  // ---- The address

  // What is shown is kept in the fragment of the address, which browsers do not send to the server.
  function remember() {
    const names = models.filter((model) => chosen.includes(model.key)).map((model) => model.name);
    const text = get("input").value;
    const state = { mode, text: text.length < MAX_LINK ? text : "", models: names, ...options(), spaces: get("spaces").checked, numbers: get("numbers").checked };
    let fragment = encodeURIComponent(JSON.stringify(state));
    if (fragment.length > MAX_LINK) fragment = encodeURIComponent(JSON.stringify({ ...state, text: "" }));
    history.replaceState(null, "", "#" + fragment);
  }

  function recall() {
    let state = {};
    try {
      state = JSON.parse(decodeURIComponent(location.hash.slice(1))) || {};
    } catch {
      // A fragment that this page did not write is ignored.
    }
    if (state.mode in EXAMPLES) mode = state.mode;
    if (typeof state.text === "string" && state.text) texts[mode] = state.text;
    for (const name of ["special", "template", "prompt", "spaces", "numbers"]) if (typeof state[name] === "boolean") get(name).checked = state[name];
    const names = Array.isArray(state.models) ? state.models : [];
    chosen = models.filter((model) => names.includes(model.name)).map((model) => model.key);
    if (!chosen.length) chosen = models.slice(0, 4).map((model) => model.key);
  }

  function setMode(next) {
    texts[mode] = get("input").value;
    mode = next;
    get("trace-section").hidden = true;
    showMode();
    update();
  }

  function showMode() {
    document.querySelector(`input[name="mode"][value="${mode}"]`).checked = true;
    get("input-label").textContent = LABELS[mode];
    get("input").value = texts[mode];
    get("special").disabled = get("template").disabled = mode !== "text";
    get("prompt").disabled = mode !== "chat";
    get("save").disabled = mode === "ids";
  }

  // ---- Controls

  function nextPlace() {
    const parted = [...columns.values()].flatMap((column) => [...column.parts].map((index) => ({ column, index, at: column.data.starts[index] })));
    parted.sort((a, b) => a.at - b.at);
    const next = parted.find((row) => row.at > place) || parted[0];
    if (!next) return;
    place = next.at;
    for (const column of columns.values()) {
      const index = column.data.ends.findIndex((end) => end > place);
      if (index >= 0) column.view.activate(index);
    }
    hover(next.column, next.index);
  }

  async function save() {
    try {
      const blob = new Blob([await post("save", request())], { type: "text/html" });
      const link = make("a", { href: URL.createObjectURL(blob), download: "tokens.html" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    } catch (error) {
      notice(error.message, true);
    }
  }

  const THEMES = ["system", "light", "dark"];
  function setTheme(name) {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    get("theme").textContent = `Theme: ${name}`;
  }

  function redraw() {
    for (const column of columns.values()) if (column.data) column.view.show(column.data, { ...view(), parts: column.parts });
    remember();
  }

  function listen() {
    get("input").addEventListener("input", update);
    for (const name of ["special", "template", "prompt"]) get(name).addEventListener("change", update);
    for (const name of ["spaces", "numbers"]) get(name).addEventListener("change", redraw);
    for (const box of document.querySelectorAll('input[name="mode"]')) box.addEventListener("change", () => setMode(box.value));
    get("file").addEventListener("change", async () => { await addFiles([...get("file").files]); get("file").value = ""; });
    get("next").addEventListener("click", nextPlace);
    get("save").addEventListener("click", save);
    get("theme").addEventListener("click", () => {
      setTheme(THEMES[(THEMES.indexOf(get("theme").textContent.slice(7)) + 1) % THEMES.length]);
    });
    document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("dropping");
      addFiles([...event.dataTransfer.files]);
    });
  }

  async function start() {
    listen();
    models = (await post("models", {})).models;
    recall();
    showMode();
    showModels();
    await update();
  }

  start().catch((error) => notice(error.message, true));
})();
