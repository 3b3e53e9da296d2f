declare module "prismjs/components/prism-core" {
  export { default } from "prismjs";
}
declare module "prismjs/components/*";
