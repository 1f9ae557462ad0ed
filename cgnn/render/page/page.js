"use strict";
(() => {
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = JSON.parse(find("#data").textContent);
  const make = (tag, attributes = {}, text = "") => {
    const svg = ["svg", "line", "circle", "path", "text", "g", "title"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== "") node.textContent = text;
    return node;
  };
  const number = (value) => value === null || value === undefined ? "–"
    : typeof value !== "number" ? String(value)
    : Number.isInteger(value) ? String(value) : Math.abs(value) < 0.01 ? value.toExponential(2) : String(+value.toPrecision(4));

  // ---- light and dark: the system's choice until the reader makes one ----
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const theme = () => { document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", theme);
  find("#theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    theme();
  });
  theme();

  // ---- claims ----
  let verdict = "";
  const words = find("#claim-text");
  const filterClaims = () => {
    let shown = 0;
    for (const claim of all(".claim")) {
      const fits = (!verdict || claim.dataset.verdict === verdict)
        && claim.textContent.toLowerCase().includes((words?.value ?? "").trim().toLowerCase());
      claim.hidden = !fits;
      shown += fits;
    }
    const none = find("#no-claims");
    if (none) none.hidden = shown > 0;
  };
  for (const chip of all(".chip")) {
    chip.addEventListener("click", () => {
      verdict = chip.dataset.verdict;
      for (const other of all(".chip")) {
        other.classList.toggle("on", other === chip);
        other.setAttribute("aria-pressed", String(other === chip));
      }
      filterClaims();
    });
  }
  words?.addEventListener("input", filterClaims);

  // ---- a cell's rows ----
  const rowsBehind = (cell) => {
    const source = cell.file === "trials" ? data.trials : data.rows[cell.file];
    if (!source) return { columns: [], rows: [] };
    const keys = Object.entries(cell.where).filter(([name]) => source.columns.includes(name))
      .map(([name, value]) => [source.columns.indexOf(name), value]);
    const same = (a, b) => a === b || (a === null && b === "") || (typeof b === "number" && Number(a) === b);
    return { columns: source.columns, rows: source.rows.filter((row) => keys.every(([i, value]) => same(row[i], value))) };
  };
  const strip = (values) => {
    const svg = make("svg", { viewBox: "0 0 600 46", role: "img", "aria-label": "test accuracies of the rows" });
    const low = Math.min(...values), high = Math.max(...values), wide = high - low || 1;
    const place = (value) => 30 + 540 * (value - low) / wide;
    svg.append(make("line", { x1: 30, x2: 570, y1: 22, y2: 22, stroke: "currentColor", opacity: .3 }));
    for (const value of values) svg.append(make("circle", { cx: place(value), cy: 22, r: 5, fill: "var(--link)", opacity: .65 }));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    svg.append(make("line", { x1: place(mean), x2: place(mean), y1: 8, y2: 36, stroke: "var(--accent)", "stroke-width": 2 }));
    for (const [value, anchor] of [[low, "start"], [high, "end"]])
      svg.append(make("text", { x: place(value), y: 44, "text-anchor": anchor, "font-size": 11, fill: "currentColor" }, number(value)));
    return svg;
  };
  const dialog = find("#rows");
  const openCell = (button) => {
    const table = data.tables[button.dataset.table];
    const row = table.rows[+button.dataset.row], cell = row.cells[+button.dataset.column];
    const { columns, rows } = rowsBehind(cell);
    find("#rows-title").textContent = `${row.label}, ${table.columns[+button.dataset.column]}: ${cell.text}`;
    find("#rows-note").textContent = `${rows.length} row(s) of ${cell.file}.csv with `
      + Object.entries(cell.where).map(([name, value]) => `${name} = ${value}`).join(", ");
    const used = columns.map((_, i) => i).filter((i) => rows.some((r) => r[i] !== null && r[i] !== ""));
    const accuracy = columns.indexOf("test_accuracy");
    const values = accuracy < 0 ? [] : rows.map((r) => r[accuracy]).filter((value) => typeof value === "number");
    find("#rows-strip").replaceChildren(...(values.length > 1 ? [strip(values)] : []));
    const view = make("table", { class: "plain" }), head = make("tr"), body = make("tbody");
    for (const i of used) head.append(make("th", {}, columns[i].replaceAll("_", " ")));
    for (const r of rows) {
      const line = make("tr");
      for (const i of used) line.append(make("td", {}, number(r[i])));
      body.append(line);
    }
    const top = make("thead");
    top.append(head);
    view.append(top, body);
    find("#rows-table").replaceChildren(view);
    dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) openCell(cell);
    if (event.target instanceof HTMLDialogElement) event.target.close();
  });

  // ---- figures ----
  const enlarged = find("#enlarged");
  for (const picture of all(".picture")) {
    picture.addEventListener("click", () => {
      const from = find("img", picture), to = find("img", enlarged);
      to.src = from.src;
      to.alt = from.alt;
      enlarged.showModal();
    });
  }

  // ---- searches ----
  const section = find("#search");
  const trials = data.trials;
  if (!trials) {
    section.replaceChildren(make("h2", {}, "Search"), make("p", {}, "No search was made by this run."));
    return;
  }
  const column = (name) => trials.columns.indexOf(name);
  const objective = column("objective");
  const keyOf = (row) => ["dataset", "split_kind", "model", "preset"].map((name) => row[column(name)]).join(" · ");
  const searches = Map.groupBy ? Map.groupBy(trials.rows, keyOf)
    : trials.rows.reduce((map, row) => map.set(keyOf(row), [...(map.get(keyOf(row)) ?? []), row]), new Map());
  const nameBox = find("#search-name"), parameterBox = find("#search-parameter"), share = find("#search-share");
  for (const key of searches.keys()) {
    const label = key.split(" · ").map((part) => trials.labels[part] ?? part).join(", ");
    nameBox.append(make("option", { value: key }, label));
  }
  const preferred = [...searches.keys()].find((key) => / · cgnn · /.test(key));
  if (preferred) nameBox.value = preferred;
  const logarithmic = (values) => Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 20;
  const scaler = (values, from, to) => {
    const log = logarithmic(values), bend = (value) => log ? Math.log(value) : value;
    const low = bend(Math.min(...values)), high = bend(Math.max(...values));
    return (value) => from + (to - from) * (high > low ? (bend(value) - low) / (high - low) : .5);
  };
  const chosenRows = () => {
    const rows = searches.get(nameBox.value).filter((row) => typeof row[objective] === "number");
    const ranked = [...rows].sort((a, b) => b[objective] - a[objective]);
    return ranked.slice(0, Math.max(1, Math.round(ranked.length * share.value / 100)));
  };
  const parametersOf = (rows) => trials.parameters.filter((name) => {
    const values = new Set(rows.map((row) => row[column(name)]));
    return values.size > 1 && ![...values].some((value) => value === null);
  });
  const show = (row) => {
    for (const mark of all("#search .on")) mark.classList.remove("on");
    for (const mark of all(`#search [data-trial="${row[column("trial")]}"]`)) mark.classList.add("on");
    const settings = parametersOf(chosenRows()).map((name) => `${name} ${number(row[column(name)])}`).join(", ");
    find("#search-trial").textContent = `Trial ${row[column("trial")]}: validation ${number(row[objective])} %; ${settings}`;
  };
  const mark = (node, row, best) => {
    node.setAttribute("data-trial", row[column("trial")]);
    if (row === best) node.classList.add("best");
    for (const event of ["mouseenter", "click"]) node.addEventListener(event, () => show(row));
    node.append(make("title", {}, `trial ${row[column("trial")]}: ${number(row[objective])} %`));
    return node;
  };
  const scatter = (rows) => {
    const name = parameterBox.value, i = column(name);
    const svg = make("svg", { viewBox: "0 0 520 320" });
    const xs = rows.map((row) => row[i]), ys = rows.map((row) => row[objective]);
    const x = scaler(xs, 55, 500), low = Math.min(...ys), high = Math.max(...ys);
    const y = (value) => 280 - 250 * (high > low ? (value - low) / (high - low) : .5);
    svg.append(make("line", { x1: 50, x2: 510, y1: 290, y2: 290, class: "axis" }), make("line", { x1: 50, x2: 50, y1: 15, y2: 290, class: "axis" }));
    for (const value of [low, (low + high) / 2, high]) svg.append(make("text", { x: 45, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(1)));
    for (const [value, anchor] of [[Math.min(...xs), "start"], [Math.max(...xs), "end"]])
      svg.append(make("text", { x: x(value), y: 306, "text-anchor": anchor }, number(value)));
    svg.append(make("text", { x: 280, y: 316, "text-anchor": "middle" }, name + (logarithmic(xs) ? " (log)" : "")));
    for (const row of [...rows].reverse())
      svg.append(mark(make("circle", { cx: x(row[i]), cy: y(row[objective]), r: row === rows[0] ? 7 : 5, class: "dot" }), row, rows[0]));
    find("#search-scatter").replaceChildren(svg);
  };
  const parallel = (rows) => {
    const axes = [...parametersOf(rows), "objective"];
    const svg = make("svg", { viewBox: "0 0 520 320" });
    const scales = axes.map((name) => scaler(rows.map((row) => row[column(name)]), 275, 35));
    const place = (i) => axes.length > 1 ? 45 + i * 430 / (axes.length - 1) : 260;
    axes.forEach((name, i) => {
      const values = rows.map((row) => row[column(name)]);
      svg.append(make("line", { x1: place(i), x2: place(i), y1: 35, y2: 275, class: "axis" }));
      svg.append(make("text", { x: place(i), y: 308, "text-anchor": "middle" }, name === "objective" ? "validation" : name));
      svg.append(make("text", { x: place(i), y: 26, "text-anchor": "middle" }, number(Math.max(...values))));
      svg.append(make("text", { x: place(i), y: 291, "text-anchor": "middle" }, number(Math.min(...values))));
    });
    for (const row of [...rows].reverse()) {
      const points = axes.map((name, i) => `${place(i).toFixed(1)},${scales[i](row[column(name)]).toFixed(1)}`);
      svg.append(mark(make("path", { d: `M${points.join("L")}` }), row, rows[0]));
    }
    find("#search-parallel").replaceChildren(svg);
  };
  const draw = () => {
    find("#search-shown").textContent = `${share.value} %`;
    const rows = chosenRows();
    if (!rows.length || !parameterBox.value) return;
    scatter(rows);
    parallel(rows);
    show(rows[0]);
  };
  const fillParameters = () => {
    const before = parameterBox.value;
    const options = parametersOf(searches.get(nameBox.value).filter((row) => typeof row[objective] === "number"));
    parameterBox.replaceChildren(...options.map((name) => make("option", { value: name }, name)));
    if (options.includes(before)) parameterBox.value = before;
    draw();
  };
  nameBox.addEventListener("change", fillParameters);
  parameterBox.addEventListener("change", draw);
  share.addEventListener("input", draw);
  fillParameters();
})();
