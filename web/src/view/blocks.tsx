import { thousands } from "../figures";
import { isObject } from "../json";
import type { JsonObject } from "../types";
import { PictureView } from "./canvas";
import { pictureIn, pictureOf } from "./image";
import type { ToolContent } from "./kind";
import type { FileIn, ListedTool } from "./lists";
import { safeLink } from "./links";
import { Prose } from "./prose";
import { Tree } from "./tree";

/** What a tool gave: its blocks, and the structure where it says more. */
export function Content({ content, path }: { content: ToolContent; path: string }) {
  return (
    <div class="view-stack">
      {content.failed && <p class="view-bad">The tool says that it failed.</p>}
      <Blocks blocks={content.blocks} path={path} />
      {content.structured !== undefined && <Tree value={content.structured} path={`${path}/structured`} />}
    </div>
  );
}

/** Blocks of content, as MCP and chat models have them. */
export function Blocks({ blocks, path }: { blocks: JsonObject[]; path: string }) {
  return (
    <div class="view-stack">
      {blocks.map((block, index) => (
        <Block key={index} block={block} path={`${path}/${index}`} />
      ))}
    </div>
  );
}

function Block({ block, path }: { block: JsonObject; path: string }) {
  if (typeof block.text === "string") return <Prose text={block.text} path={path} label="text" />;
  const picture = pictureInBlock(block);
  if (picture)
    return <PictureView picture={picture} label={typeof block.alt === "string" ? block.alt : "image"} />;
  const resource = isObject(block.resource) ? block.resource : block;
  if (typeof resource.uri !== "string") return <Tree value={block} path={path} />;
  return (
    <div class="view-stack">
      <Address address={resource.uri} />
      {typeof resource.text === "string" && <Prose text={resource.text} path={path} label={resource.uri} />}
    </div>
  );
}

function pictureInBlock(block: JsonObject) {
  const address = isObject(block.image_url) ? block.image_url.url : block.image_url;
  if (typeof address === "string") return pictureIn("image", address);
  return pictureOf(block.mimeType ?? block.mime_type, block.data);
}

/** An address: a link where it may be followed, else its text. */
function Address({ address }: { address: string }) {
  const link = safeLink(address);
  if (link === null) return <code class="view-inline">{address}</code>;
  return (
    <a class="view-link" href={link} target="_blank" rel="noopener noreferrer nofollow">
      {address}
    </a>
  );
}

/** Files: pictures are shown, of others is told what they are. */
export function Files({ files }: { files: FileIn[] }) {
  return (
    <ul class="view-files">
      {files.map((file, index) => (
        <FileView key={index} file={file} />
      ))}
    </ul>
  );
}

function FileView({ file }: { file: FileIn }) {
  const picture = pictureOf(file.mime, file.base64);
  const bytes = Math.floor((file.base64.length * 3) / 4);
  return (
    <li>
      <span class="view-key">{file.name}</span>{" "}
      <span class="view-muted">
        {file.mime}, {thousands(bytes)} bytes
      </span>
      {picture && <PictureView picture={picture} label={file.name} />}
    </li>
  );
}

/** The tools there are. */
export function Tools({ tools, path }: { tools: ListedTool[]; path: string }) {
  return (
    <ul class="view-files">
      {tools.map(({ name, description, schema }) => (
        <li key={name}>
          <span class="view-key">{name}</span>
          {description && <Prose text={description} path={`${path}/${name}/said`} label={name} />}
          <Tree value={{ arguments: schema }} path={`${path}/${name}`} />
        </li>
      ))}
    </ul>
  );
}
