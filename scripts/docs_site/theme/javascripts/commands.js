// What is copied of a console are its commands, without their prompts and what they print.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest(".language-console button[data-clipboard-target]");
    if (!button) return;
    const lines = document.querySelector(button.dataset.clipboardTarget).innerText.split("\n");
    const typed = lines.filter(
      (line, at) => line.startsWith("$ ") || (at > 0 && lines[at - 1].endsWith("\\")),
    );
    button.dataset.clipboardText = typed.map((line) => line.replace(/^\$ /, "")).join("\n");
  },
  true,
);
