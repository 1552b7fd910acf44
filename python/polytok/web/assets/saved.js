// A saved file: shows the content that is stored in it, tokens or traces.
"use strict";
(() => {
  const { TokenView, partedFrom, make, counts, describe, unpack, drawTraces } = window.polytok;
  const content = JSON.parse(document.getElementById("content").textContent);
  const main = document.getElementById("saved");

  function showTokens(results) {
    const detail = make("div", { class: "status", role: "status" });
    const grid = make("div", { id: "saved-columns" });
    main.append(grid);
    document.body.append(detail);
    const shown = results.map((result) => ({ text: content.text, ...unpack(result) }));
    const views = [];
    for (const result of shown) {
      const summary = result.error === undefined ? counts(result) : result.error;
      const column = make("article", { class: "column" }, make("div", { class: "head" }, make("h3", {}, result.name), make("p", {}, summary)));
      grid.append(column);
      if (result.error !== undefined) continue;
      const hover = (index) => {
        const range = index === null ? null : [result.starts[index], Math.max(result.ends[index], result.starts[index] + 1)];
        for (const view of views) view.highlight(view.data.text === result.text ? range : null);
        detail.textContent = index === null ? "" : `${result.name}: ${describe(result, index)}`;
      };
      const view = new TokenView(column, { name: `Tokens of ${result.name}`, hover, select: hover });
      views.push(view);
      const parts = views.length > 1 && result.text === views[0].data.text ? partedFrom(views[0].data, result) : new Set();
      view.show(result, { showsSpaces: true, showsIds: false, parts });
    }
  }

  if (content.results) showTokens(content.results);
  if (content.traces) drawTraces(main, content.traces, {});
  main.prepend(make("h2", { class: "hidden" }, content.traces ? "Traces" : "Tokens"));
})();
