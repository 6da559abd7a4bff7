// Draws the charts. Their data and specifications stand in the page; nothing is fetched.
(() => {
  "use strict";

  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const options = {
    actions: false,
    ast: true, // expressions are interpreted, so that the page needs no eval
    config: read("chart-config"),
    defaultStyle: false,
    renderer: "svg",
    tooltip: { disableDefaultStyle: true },
  };
  const specifications = new Map();

  const draw = async (place) => {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    const { figure, panel } = place.dataset;
    if (!specifications.has(figure)) specifications.set(figure, read(`specifications-${figure}`));
    await vegaEmbed(place, specifications.get(figure)[panel], options);
  };

  const choose = (menu) => {
    for (const panel of document.querySelectorAll(`[data-chosen-by="${menu.id}"]`)) {
      panel.hidden = panel.dataset.index !== menu.value;
      if (!panel.hidden) draw(panel.querySelector(".chart"));
    }
  };
  for (const menu of document.querySelectorAll("select.chooser")) {
    menu.addEventListener("change", () => choose(menu));
  }

  // A table that is wider than its place is shown as cards.
  const boxes = [...document.querySelectorAll(".scroll")];
  const fit = () => {
    for (const box of boxes) box.classList.remove("cards");
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth + 1);
    for (const box of wide) {
      const titles = [...box.querySelectorAll("thead th")].map((head) => head.textContent);
      for (const row of box.querySelectorAll("tbody tr")) {
        [...row.cells].forEach((entry, at) => { entry.dataset.title = titles[at]; });
      }
      box.classList.add("cards");
    }
  };
  window.addEventListener("resize", fit);
  document.addEventListener("toggle", fit, true);
  fit();

  // A folded part would be missing on paper.
  const folded = document.getElementsByTagName("details");
  window.addEventListener("beforeprint", () => {
    for (const part of folded) part.open = true;
  });

  (async () => {
    for (const place of document.querySelectorAll(".panel:not([hidden]) .chart")) await draw(place);
    document.documentElement.dataset.charts = "drawn";
  })();
})();
