import { useState } from "preact/hooks";
import { Frame, useControl, type FieldProps } from "./frame";
import { JsonEditor } from "./json_editor";
import { useDraft, useFault, useScope } from "./scope";

/** A part that is typed as JSON. */
export function JsonPart(props: FieldProps) {
  const { pointer, value, required, label } = props;
  const { edit } = useScope();
  const [error, setError] = useState<string | null>(null);
  const control = useControl(props);
  useDraft(pointer, error);
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
