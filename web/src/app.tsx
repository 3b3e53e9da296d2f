import "./app.css";
import { render } from "preact";

const root = document.getElementById("app");
if (root) render(<p>OpenEnv</p>, root);
