// Puts what the server sends into its place, as long as the run is under way; then the report takes the page.
(() => {
  "use strict";
  const events = new EventSource(document.querySelector("main").dataset.events);
  const lost = document.getElementById("lost");
  for (const part of ["now", "made"]) {
    events.addEventListener(part, (event) => {
      document.getElementById(part).innerHTML = event.data;
      dispatchEvent(new Event("resize")); // tables are laid out anew
    });
  }
  events.addEventListener("end", () => { events.close(); location.reload(); });
  events.addEventListener("open", () => { lost.hidden = true; });
  events.addEventListener("error", () => { lost.hidden = false; });
})();
