// Buttons above the gallery, one for each tag of its cards: a click shows the cards with this tag, another one all of them.
addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("gallery-tags");
  if (!place) return;
  const tags = (card) => [...card.classList].filter((c) => c.startsWith("tag-"));
  const cards = [...document.querySelectorAll(".sd-col")].filter((c) => tags(c).length);
  const show = (chosen) => {
    for (const b of place.children) b.setAttribute("aria-pressed", b.dataset.tag === chosen);
    for (const c of cards) c.hidden = chosen !== null && !tags(c).includes(chosen);
  };
  for (const label of place.dataset.tags.split(", ")) {
    const tag = `tag-${label.toLowerCase().replaceAll(" ", "-")}`;
    const button = document.createElement("button");
    button.dataset.tag = tag;
    button.textContent = label;
    button.addEventListener("click", () => show(button.getAttribute("aria-pressed") === "true" ? null : tag));
    place.append(button);
  }
  show(null);
});
