// Keeps a running tournament fresh: the server says that something changed, the page fetches itself and swaps its live part.
const place = () => document.querySelector("[data-live]");
const source = new EventSource(place().dataset.live);

const refresh = async () => {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
  const old = place();
  const anchor = old.contains(document.activeElement) && document.activeElement.id;
  const scrolled = [...old.querySelectorAll(".scroll")].map((region) => [region.getAttribute("aria-labelledby"), region.scrollLeft]);
  old.replaceWith(fresh);
  for (const [name, left] of scrolled) {
    const region = fresh.querySelector(`[aria-labelledby="${name}"]`);
    if (region) region.scrollLeft = left;
  }
  if (anchor) document.getElementById(anchor)?.focus({ preventScroll: true });
};

source.addEventListener("progress", refresh);
source.addEventListener("over", () => {
  source.close();
  refresh();
});
