"use strict";
(async () => {
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
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
  const percent = (value) => typeof value === "number" ? value.toFixed(1) : number(value);

  // ---- light and dark: the system's choice until the reader makes one ----
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  // Figures are images, which the page's style cannot reach: their one colour for text and axes is replaced instead.
  const INK = "%23333333", LIGHT_INK = "%23d9dde0";
  const original = new Map(all(".picture.themed img").map((image) => [image, image.src]));
  const theme = () => {
    const name = chosen ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = name;
    for (const [image, source] of original) image.src = name === "dark" ? source.replaceAll(INK, LIGHT_INK) : source;
  };
  dark.addEventListener("change", theme);
  find("#theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    theme();
  });
  theme();  // before the page waits for its data, so that it never appears in the wrong theme

  const packed = Uint8Array.from(atob(find("#data").textContent), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(unpacked).text());
  const label = (name) => data.labels[name] ?? name.replaceAll("_", " ");

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

  // ---- a link to a closed table opens it ----
  const openTarget = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
    if (target?.hidden) { find(".chip")?.click(); target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", openTarget);
  openTarget();

  // ---- a cell's rows: what the cell shows and what varies first, what is the same in all of them below ----
  const ACCURACIES = ["test_accuracy", "validation_accuracy", "test_final_epoch", "test_last_best_validation", "test_oracle",
    "objective", "mean"];
  const rowsBehind = (cell) => {
    const source = cell.file === "trials" ? data.trials : data.rows[cell.file];
    if (!source) return { columns: [], rows: [] };
    const keys = Object.entries(cell.where).filter(([name]) => source.columns.includes(name))
      .map(([name, value]) => [source.columns.indexOf(name), value]);
    const same = (a, b) => a === b || (a === null && b === "") || (typeof b === "number" && Number(a) === b);
    return { columns: source.columns, rows: source.rows.filter((row) => keys.every(([i, value]) => same(row[i], value))) };
  };
  const strip = (name, values) => {
    const width = Math.max(260, find("#rows-strip").clientWidth), edge = 24;  // as wide as it is shown
    const svg = make("svg", { viewBox: `0 0 ${width} 56`, height: 56, role: "img", "aria-label": `${label(name)} of the rows` });
    const low = Math.min(...values), high = Math.max(...values), wide = high - low || 1;
    const place = (value) => edge + (width - 2 * edge) * (value - low) / wide;
    svg.append(make("line", { x1: edge, x2: width - edge, y1: 20, y2: 20, stroke: "currentColor", opacity: .3 }));
    for (const value of values) svg.append(make("circle", { cx: place(value), cy: 20, r: 5, fill: "var(--link)", opacity: .65 }));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    svg.append(make("line", { x1: place(mean), x2: place(mean), y1: 6, y2: 34, stroke: "var(--accent)", "stroke-width": 2 }));
    for (const value of new Set([low, high]))
      svg.append(make("text", { x: place(value), y: 50, "text-anchor": "middle", "font-size": 13, fill: "currentColor" }, percent(value)));
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
    return [make("p", {}, `${label(name)}: mean ${percent(mean)}, standard deviation ${percent(deviation)}`), svg];
  };
  const dialog = find("#rows");
  const openCell = (button) => {
    const table = data.tables[button.dataset.table];
    const row = table.rows[+button.dataset.row], cell = row.cells[+button.dataset.column];
    const { columns, rows } = rowsBehind(cell);
    find("#rows-title").textContent = `${row.label}, ${table.columns[+button.dataset.column]}: ${cell.text}`;
    find("#rows-note").replaceChildren(`${rows.length} ${rows.length === 1 ? "row" : "rows"} of `,
      make("a", { href: `${cell.file}.csv` }, `${cell.file}.csv`), " with " + Object.entries(cell.where)
        .filter(([, value]) => value !== "").map(([name, value]) => `${name} = ${value}`).join(", "));
    const used = columns.map((_, i) => i).filter((i) => rows.some((r) => r[i] !== null && r[i] !== ""));
    const varies = (i) => rows.length === 1 || columns[i] === cell.shows || rows.some((r) => r[i] !== rows[0][i]);
    const accuracy = ACCURACIES.includes(cell.shows);
    const names = ["replica", "split", "trial"];
    const first = [...(accuracy ? [...names, cell.shows] : [cell.shows, ...names]), "test_accuracy", "validation_accuracy", "status"];
    const rank = (i) => first.includes(columns[i]) ? first.indexOf(columns[i]) : first.length;
    const varying = used.filter(varies).sort((a, b) => rank(a) - rank(b)), same = used.filter((i) => !varies(i));
    const shows = columns.indexOf(cell.shows);
    // The rows of a training's cell are its sample; those of a search are candidates, the best first.
    const values = accuracy && cell.file !== "trials" ? rows.map((r) => r[shows]).filter((value) => typeof value === "number") : [];
    if (cell.file === "trials") rows.sort((a, b) => (b[shows] ?? 0) - (a[shows] ?? 0));
    const text = (r, i) => ACCURACIES.includes(columns[i]) ? percent(r[i]) : number(r[i]);
    const view = make("table", { class: "plain" }), head = make("tr"), body = make("tbody");
    for (const i of varying) head.append(make("th", {}, label(columns[i])));
    for (const r of rows) {
      const line = make("tr");
      for (const i of varying) line.append(make("td", {}, text(r, i)));
      body.append(line);
    }
    const top = make("thead");
    top.append(head);
    view.append(top, body);
    find("#rows-table").replaceChildren(view);
    find("#rows-table").scrollLeft = 0;
    const constant = find("#rows-same");
    constant.hidden = !same.length;
    find("summary", constant).textContent = `${same.length} values that are the same in all ${rows.length} rows`;
    find("dl", constant).replaceChildren(...same.flatMap((i) =>
      [make("dt", {}, label(columns[i])), make("dd", {}, text(rows[0], i))]));
    dialog.showModal();
    // Only an open dialog has a width to draw for.
    find("#rows-strip").replaceChildren(...(values.length > 1 ? strip(cell.shows, values) : []));
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
      to.className = picture.classList.contains("themed") ? "themed" : "";
      to.alt = from.alt;
      enlarged.showModal();
    });
  }

  // ---- searches ----
  const section = find("#search");
  const trials = data.trials;
  if (!trials) {
    section.replaceChildren(make("h2", {}, "Search"), make("p", {}, "This run made no search."));
    return;
  }
  const column = (name) => trials.columns.indexOf(name);
  const objective = column("objective");
  const keyOf = (row) => ["dataset", "split_kind", "model", "preset"].map((name) => row[column(name)]).join(" · ");
  const searches = Map.groupBy ? Map.groupBy(trials.rows, keyOf)
    : trials.rows.reduce((map, row) => map.set(keyOf(row), [...(map.get(keyOf(row)) ?? []), row]), new Map());
  const isWinner = (row) => row[column("trial")] === trials.searches[keyOf(row)].winner;
  const nameBox = find("#search-name"), parameterBox = find("#search-parameter"), share = find("#search-share");
  for (const key of searches.keys()) {
    const words = key.split(" · ").map((part) => trials.labels[part] ?? part).join(", ");
    nameBox.append(make("option", { value: key }, words));
  }
  const preferred = [...searches.keys()].find((key) => / · cgnn · /.test(key));
  if (preferred) nameBox.value = preferred;
  const logarithmic = (name, values) => Math.min(...values) > 0
    && (["lr", "weight_decay"].includes(name) || Math.max(...values) / Math.min(...values) > 20);
  // An axis from one end of its values to the other, with about four ticks at round numbers.
  const axisOf = (name, values, from, to) => {
    const log = logarithmic(name, values), bend = (value) => log ? Math.log10(value) : value;
    const low = bend(Math.min(...values)), high = bend(Math.max(...values)), wide = high - low;
    const place = (value) => from + (to - from) * (wide > 0 ? (bend(value) - low) / wide : .5);
    const ticks = [];
    if (log) {
      const steps = wide > 2.5 ? [1] : wide > 1.5 ? [1, 3] : wide > .5 ? [1, 2, 3, 5, 7] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8];
      for (let power = Math.floor(low) - 1; power <= Math.ceil(high); power += 1)
        for (const step of steps) ticks.push(+(step * 10 ** power).toPrecision(3));
    } else if (wide > 0) {
      const rough = wide / 4, power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((size) => power * size >= rough);
      for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9; tick += step) ticks.push(+tick.toPrecision(6));
    } else ticks.push(values[0]);
    const inside = ticks.filter((tick) => bend(tick) >= low - 1e-9 && bend(tick) <= high + 1e-9);
    return { place, log, ticks: inside.length ? inside : [Math.min(...values), Math.max(...values)] };
  };
  const tickText = (value) => Math.abs(value) < 1e-3 && value ? value.toExponential(0) : String(+value.toPrecision(3));
  // Drawn at the width it is shown at, so that its text has the size of the page's.
  const canvas = (id) => {
    const width = Math.max(280, Math.round(find(id).clientWidth)), height = 330;
    return { svg: make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" }), width, height };
  };
  // The winner first, so that every share of the trials includes it, then the others by validation accuracy.
  const chosenRows = () => {
    const rows = searches.get(nameBox.value).filter((row) => typeof row[objective] === "number");
    const ranked = [...rows].sort((a, b) => isWinner(b) - isWinner(a) || b[objective] - a[objective]);
    return ranked.slice(0, Math.max(1, Math.round(ranked.length * share.value / 100)));
  };
  const parametersOf = (rows) => trials.parameters.filter((name) => {
    const values = new Set(rows.map((row) => row[column(name)]));
    return values.size > 1 && ![...values].some((value) => value === null);
  });
  const two = column("mean") >= 0;
  const found = (row) => `validation ${percent(row[objective])} %` + (two ? " in round one" : "")
    + (two && row[column("mean")] !== null ? `, mean ${percent(row[column("mean")])} % in round two` : "");
  let current = null;
  const show = (row) => {
    current = row;
    for (const mark of all("#search .on")) mark.classList.remove("on");
    for (const mark of all(`#search [data-trial="${row[column("trial")]}"]`)) mark.classList.add("on");
    const settings = parametersOf(chosenRows()).map((name) => `${label(name)} ${number(row[column(name)]).replace("-", "−")}`).join(", ");
    find("#search-trial").textContent = `Trial ${row[column("trial")]}${isWinner(row) ? " (winner)" : ""}: ${found(row)}; ${settings}`;
  };
  find("#search-scatter").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !current) return;
    event.preventDefault();
    const i = column(parameterBox.value), ordered = chosenRows().sort((a, b) => a[i] - b[i]);
    show(ordered[Math.min(ordered.length - 1, Math.max(0, ordered.indexOf(current) + step))]);
  });
  const mark = (node, row) => {
    node.setAttribute("data-trial", row[column("trial")]);
    if (isWinner(row)) node.classList.add("best");
    for (const event of ["mouseenter", "click"]) node.addEventListener(event, () => show(row));
    node.append(make("title", {}, `trial ${row[column("trial")]}: ${found(row)}`));
    return node;
  };
  const scatter = (rows) => {
    const name = parameterBox.value, i = column(name), { svg, width, height } = canvas("#search-scatter");
    const bottom = height - 48, left = 68, middle = bottom / 2;
    const x = axisOf(name, rows.map((row) => row[i]), left + 14, width - 18);
    const y = axisOf("objective", rows.map((row) => row[objective]), bottom - 12, 18);
    svg.append(make("line", { x1: left, x2: width - 6, y1: bottom, y2: bottom, class: "axis" }),
      make("line", { x1: left, x2: left, y1: 8, y2: bottom, class: "axis" }));
    for (const tick of y.ticks) svg.append(make("line", { x1: left, x2: width - 6, y1: y.place(tick), y2: y.place(tick), class: "grid" }),
      make("text", { x: left - 6, y: y.place(tick) + 4, "text-anchor": "end" }, tickText(tick)));
    const apart = x.ticks.reduce((kept, tick) =>  // labels that do not touch
      !kept.length || x.place(tick) - x.place(kept.at(-1)) > 38 ? [...kept, tick] : kept, []);
    for (const tick of apart) svg.append(make("line", { x1: x.place(tick), x2: x.place(tick), y1: bottom, y2: bottom + 5, class: "axis" }),
      make("text", { x: x.place(tick), y: bottom + 19, "text-anchor": "middle" }, tickText(tick)));
    svg.append(make("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, label(name) + (x.log ? " (log axis)" : "")),
      make("text", { x: 16, y: middle, "text-anchor": "middle", transform: `rotate(-90 16 ${middle})` },
        `validation accuracy${two ? " in round one" : ""} (%)`));
    for (const row of [...rows].reverse())
      svg.append(mark(make("circle", { cx: x.place(row[i]), cy: y.place(row[objective]), r: isWinner(row) ? 7 : 5, class: "dot" }), row));
    find("#search-scatter").replaceChildren(svg);
  };
  const parallel = (rows) => {
    const names = [...parametersOf(rows), "objective"], { svg, width, height } = canvas("#search-parallel");
    const axes = names.map((name) => axisOf(name, rows.map((row) => row[column(name)]), height - 62, 30));
    const place = (i) => names.length > 1 ? 44 + i * (width - 88) / (names.length - 1) : width / 2;
    for (const row of [...rows].reverse()) {
      const points = names.map((name, i) => `${place(i).toFixed(1)},${axes[i].place(row[column(name)]).toFixed(1)}`);
      svg.append(mark(make("path", { d: `M${points.join("L")}` }), row));
    }
    const texts = names.map((name, i) => {
      svg.append(make("line", { x1: place(i), x2: place(i), y1: 30, y2: height - 62, class: "axis" }));
      const end = i === names.length - 1;
      const edge = i && !end ? { x: place(i), "text-anchor": "middle" } : { x: i ? width - 6 : 6, "text-anchor": i ? "end" : "start" };
      for (const tick of axes[i].ticks) svg.append(make("text", { x: place(i) + 5, y: axes[i].place(tick) + 4, class: "tick" }, tickText(tick)));
      const text = make("text", edge, (name === "objective" ? "validation" : label(name)) + (axes[i].log && width >= 420 ? " (log)" : ""));
      svg.append(text);
      return text;
    });
    find("#search-parallel").replaceChildren(svg);
    // Each name is on the first of up to three lines where it does not touch the name before it.
    const ends = [];
    const lines = texts.map((text) => {
      const { x, width: length } = text.getBBox(), free = [0, 1, 2].findIndex((line) => x > (ends[line] ?? -1) + 6);
      const line = free < 0 ? 2 : free;
      ends[line] = x + length;
      return line;
    });
    texts.forEach((text, i) => text.setAttribute("y", height - 22 - 6 * ends.length + 17 * lines[i]));
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
    parameterBox.replaceChildren(...options.map((name) => make("option", { value: name }, label(name))));
    if (options.includes(before)) parameterBox.value = before;
    const plots = Object.entries(trials.searches[nameBox.value].plots), orion = find("#search-orion");
    const folder = `search/${nameBox.value.replaceAll(" · ", "/")}/plots`;
    orion.hidden = !plots.length;
    orion.replaceChildren("Orion's plots of this search: ", ...plots.flatMap(([name, words], i) =>
      [i ? " · " : "", make("a", { href: `${folder}/${name}.html` }, words)]));
    draw();
  };
  nameBox.addEventListener("change", fillParameters);
  parameterBox.addEventListener("change", draw);
  share.addEventListener("input", draw);
  let drawn = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== drawn) { drawn = window.innerWidth; draw(); } });
  fillParameters();
})();
