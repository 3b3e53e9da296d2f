import "./app.css";
import "./shell/shell.css";
import { render } from "preact";
import { App } from "./shell/app";
import "./shell/theme";

const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<App page={new URL("./", document.baseURI)} />, root);
}
