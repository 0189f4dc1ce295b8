// Keeps the page up to date while a run goes on: asks this machine for the body every second.
(() => {
  const state = document.createElement("p");
  state.className = "live";
  document.body.prepend(state);
  const main = document.querySelector("main");
  let tag = "";
  const replace = (body) => {
    const open = [...main.querySelectorAll("details")].map((one) => one.open);
    main.innerHTML = body;
    main.querySelectorAll("details").forEach((one, at) => { one.open = open[at] || false; });
    window.finchDress();
    const heading = main.querySelector("h1");
    if (heading) document.title = heading.textContent;
  };
  const look = async () => {
    try {
      const answer = await fetch("/body", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        replace(await answer.text());
      }
      state.textContent = "Live";
    } catch {
      state.textContent = "The run has ended, or Finch no longer answers.";
    }
    setTimeout(look, 1000);
  };
  look();
})();
