import { useLayoutEffect, useState } from "preact/hooks";
import { Frame, useControl, type FieldProps } from "./frame";
import { JsonEditor } from "./json_editor";
import { useFault, useScope } from "./scope";

/** A part that is typed as JSON. */
export function JsonPart(props: FieldProps) {
  const { pointer, value, required, label } = props;
  const { edit, drafts } = useScope();
  const [error, setError] = useState<string | null>(null);
  const control = useControl(props);
  useLayoutEffect(() => {
    if (error === null) return;
    drafts.set(pointer, error);
    return () => void drafts.delete(pointer);
  }, [error, pointer, drafts]);
  return (
    <Frame {...props}>
      <JsonEditor
        id={control.id}
        label={label}
        value={value}
        onChange={(next) => edit(pointer, next)}
        onEmpty={required ? undefined : () => edit(pointer, undefined)}
        onError={setError}
        quiet={useFault(pointer) === error}
        describedBy={control["aria-describedby"]}
        invalid={control["aria-invalid"] === true}
      />
    </Frame>
  );
}
