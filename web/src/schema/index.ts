export { initialValue } from "./initial";
export { validate } from "./validate";
