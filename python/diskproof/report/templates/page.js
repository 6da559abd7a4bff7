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
