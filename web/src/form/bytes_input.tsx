import { useState } from "preact/hooks";
import type { FieldOf } from "../schema/field";
import { Frame, useControl, type FieldProps } from "./frame";
import { NullButton } from "./leaving_out";
import { useScope } from "./scope";

const LARGEST = 10 * 1024 * 1024;

/** Bytes: as base64, or from a file. */
export function BytesInput(props: FieldProps<FieldOf<"bytes">>) {
  const { pointer, value, required, label } = props;
  const { edit } = useScope();
  const [problem, setProblem] = useState("");
  const read = async (file: File | undefined) => {
    setProblem("");
    if (!file) return;
    if (file.size > LARGEST)
      return setProblem(`${file.name} has ${file.size} bytes: at most ${LARGEST} can be sent`);
    edit(pointer, base64(new Uint8Array(await file.arrayBuffer())));
  };
  const failed = (error: unknown) => setProblem(`the file cannot be read: ${String(error)}`);
  return (
    <Frame {...props}>
      <div class="form-line">
        <textarea
          {...useControl(props)}
          class="input form-code"
          rows={2}
          spellcheck={false}
          value={typeof value === "string" ? value : ""}
          onInput={(event) => edit(pointer, event.currentTarget.value || (required ? "" : undefined))}
        />
        <NullButton {...props} />
      </div>
      <input
        class="form-file"
        type="file"
        aria-label={`${label}, from a file`}
        onChange={(event) => void read(event.currentTarget.files?.[0]).catch(failed)}
      />
      <p class="form-fault" role="status">
        {problem}
      </p>
    </Frame>
  );
}

const PIECE = 0x8000;

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(binary);
}
