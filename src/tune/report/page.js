// Values under the pointer, and a button that saves a drawing. Nothing is loaded from anywhere.
(() => {
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  const show = (text, event) => {
    tip.textContent = text;
    const right = Math.max(4, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = Math.min(event.pageX + 14, window.scrollX + right) + "px";
    tip.style.top = event.pageY + 16 + "px";
  };
  const clear = () => {
    tip.textContent = "";
    document.querySelectorAll(".cursor").forEach((one) => one.remove());
  };
  const points = (path) => (path.getAttribute("d").match(/-?[\d.]+ -?[\d.]+/g) || [])
    .map((pair) => pair.split(" ").map(Number));

  // The column of values nearest to the pointer: the drawing and the table have the same order.
  const column = (svg, event) => {
    const lines = [...svg.querySelectorAll("path.line")].map(points);
    const xs = [...new Set(lines.flat().map((point) => point[0]))].sort((a, b) => a - b);
    if (!xs.length) return;
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    let near = 0;
    xs.forEach((one, at) => { if (Math.abs(one - x) < Math.abs(xs[near] - x)) near = at; });
    clear();
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("d", `M${xs[near]} 8V${svg.viewBox.baseVal.height - 20}`);
    svg.append(cursor);
    if (svg.dataset.values) return show(svg.dataset.values.split("|")[near], event);
    const rows = svg.closest("figure").querySelectorAll(".data tr");
    const cells = (row) => [...row.children].map((cell) => cell.textContent);
    const names = cells(rows[0]);
    const values = rows[near + 1] ? cells(rows[near + 1]) : [];
    show(names.map((name, at) => values[at] ? `${name} ${values[at]}` : "").filter(Boolean).join("\n"), event);
  };

  document.addEventListener("pointermove", (event) => {
    const target = event.target.closest ? event.target : null;
    const svg = target && target.closest("svg");
    if (svg && svg.querySelector("path.line")) return column(svg, event);
    const told = target && target.closest("[data-tip]");
    clear();
    if (told) show(told.dataset.tip, event);
  });
  document.addEventListener("pointerleave", clear);

  const save = (figure) => {
    const drawings = [...figure.querySelectorAll("svg")];
    const svg = (drawings.find((one) => one.getBoundingClientRect().width) || drawings[0]).cloneNode(true);
    svg.querySelectorAll(".cursor").forEach((one) => one.remove());
    svg.removeAttribute("class");
    const box = svg.viewBox.baseVal;
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = document.querySelector("style").textContent;
    svg.prepend(style);
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    svg.setAttribute("width", box.width);
    svg.setAttribute("height", box.height);
    const link = document.createElement("a");
    link.href = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg.outerHTML);
    link.download = figure.dataset.name.replace(/\W+/g, "-") + ".svg";
    link.click();
  };

  // A game to click through. The place is kept when the page is brought up to date.
  const glyphs = { k: "\u265a", q: "\u265b", r: "\u265c", b: "\u265d", n: "\u265e", p: "\u265f" };
  const board = (fen) => fen.split("/").map((rank, row) => [...rank.replace(/\d/g, (n) => " ".repeat(n))]
    .map((piece, file) => `<i class="${(row + file) % 2 ? "dark" : "light"}${piece === piece.toLowerCase() ? "" : " own"}">`
      + `${glyphs[piece.toLowerCase()] || ""}</i>`).join("")).join("");
  let ply = 0;
  const play = (figure) => {
    const [boards, moves] = [figure.dataset.boards.split("|"), figure.dataset.moves.split("|")];
    figure.innerHTML = '<div class="board"></div><div class="buttons"></div>';
    const draw = (to) => {
      ply = Math.max(0, Math.min(to, boards.length - 1));
      figure.firstChild.innerHTML = board(boards[ply]);
      text.textContent = moves[ply];
    };
    const buttons = figure.lastChild;
    const text = document.createElement("span");
    for (const [label, to] of [["\u00ab", () => 0], ["\u2039", () => ply - 1], ["\u203a", () => ply + 1], ["\u00bb", () => boards.length]]) {
      const button = buttons.appendChild(document.createElement("button"));
      button.textContent = label;
      button.onclick = () => draw(to());
    }
    buttons.append(text);
    draw(ply);
  };

  // Makes a body that was just put in place answer to the pointer.
  window.finchDress = () => {
    document.querySelectorAll("svg title").forEach((title) => {
      title.parentNode.dataset.tip = title.textContent;
      title.remove();
    });
    document.querySelectorAll("figure.game").forEach(play);
    document.querySelectorAll("figure.chart").forEach((figure) => {
      if (figure.querySelector(".save") || !figure.querySelector("svg")) return;
      const button = document.createElement("button");
      button.className = "save";
      button.textContent = "SVG";
      button.title = "Save this drawing";
      button.onclick = () => save(figure);
      figure.prepend(button);
    });
  };
  window.finchDress();
})();
