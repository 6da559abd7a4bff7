// Tells what a mark of a drawing is on pointing at it, and lays out what a narrow screen or paper needs.
(() => {
  "use strict";

  const told = document.createElement("p");
  told.id = "told";
  told.setAttribute("role", "status");
  document.body.append(told);
  const tell = (mark) => {
    told.hidden = !mark;
    if (!mark) return;
    told.textContent = mark.dataset.told;
    const at = mark.getBoundingClientRect();
    const left = Math.min(at.left + scrollX, scrollX + document.documentElement.clientWidth - told.offsetWidth - 8);
    told.style.left = `${Math.max(left, 8)}px`;
    told.style.top = `${at.bottom + scrollY + 6}px`;
  };
  for (const event of ["pointerover", "focusin"]) {
    document.addEventListener(event, (at) => tell(at.target.closest?.("[data-told]")));
  }
  tell(null);

  // A table that is wider than its place is shown as cards.
  const fit = () => {
    const boxes = [...document.querySelectorAll(".scroll")];
    for (const box of boxes) box.classList.remove("cards");
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth + 1);
    for (const box of wide) {
      const titles = [...box.querySelectorAll("thead th")].map((head) => head.textContent);
      for (const row of box.querySelectorAll("tbody tr")) {
        [...row.cells].forEach((entry, at) => { entry.dataset.title = titles[at] ?? ""; });
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
})();
