import { useMemo, useRef } from "preact/hooks";
import { fieldOf, type Field } from "../schema/field";
import { pointerOf, put, stepsOf } from "../schema/path";
import type { Fault, Json, Schema } from "../types";
import { ChoiceInput } from "./choice_input";
import { BytesInput } from "./bytes_input";
import { ConstField } from "./const_field";
import { DictField } from "./dict_field";
import type { FieldProps } from "./frame";
import { BooleanInput, CodeInput, NumberInput, StringInput, TextInput } from "./inputs";
import { JsonPart } from "./json_part";
import { ListField, TupleField } from "./list_field";
import { ObjectField } from "./object_field";
import { FaultsProvider, memo, ScopeProvider, useScope, type Drafts, type Scope } from "./scope";
import { UnionField } from "./union_field";
import "./form.css";

interface SchemaFormProps {
  schema: Schema;
  value: Json;
  onChange: (value: Json) => void;
  faults: Fault[];
  idPrefix: string;
  disabled?: boolean;
  /** Is told what was typed that cannot be sent. */
  drafts?: Drafts;
}

/** A form for a value of a schema. */
export function SchemaForm({ schema, value, onChange, faults, idPrefix, disabled, drafts }: SchemaFormProps) {
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  const ownDrafts = useRef<Drafts>(new Map());
  const scope = useMemo<Scope>(() => {
    const edit = (pointer: string, next: Json | undefined) => {
      const changed = put(latest.current.value, stepsOf(pointer), next) ?? {};
      latest.current.value = changed;
      latest.current.onChange(changed);
    };
    return { root: schema, idPrefix, edit, drafts: drafts ?? ownDrafts.current };
  }, [schema, idPrefix, drafts]);
  const found = useMemo(() => firsts(faults), [faults]);
  return (
    <ScopeProvider value={scope}>
      <FaultsProvider value={found}>
        <fieldset class="form-fields" disabled={disabled}>
          <FieldView schema={schema} name="" hint="" pointer="" value={value} required label="" bare />
        </fieldset>
      </FaultsProvider>
    </ScopeProvider>
  );
}

/** The first fault of each place. */
function firsts(faults: Fault[]): Map<string, string> {
  return new Map([...faults].reverse().map((fault) => [pointerOf(fault.loc), fault.msg]));
}

interface FieldViewProps {
  schema: Schema;
  name: string;
  hint: string;
  pointer: string;
  value: Json | undefined;
  required: boolean;
  /** "" for the field's own title. */
  label: string;
  bare: boolean;
}

/** The field of a schema at a place. */
export const FieldView = memo(function FieldView({ schema, name, hint, label, ...place }: FieldViewProps) {
  const field = fieldOf(useScope().root, schema, name, hint);
  return <Control {...place} field={field} label={label || field.title || "value"} />;
});

/** The control of a kind of field. */
function Control({ field, ...props }: FieldProps<Field>) {
  switch (field.kind) {
    case "string":
      return <StringInput {...props} field={field} />;
    case "text":
      return <TextInput {...props} field={field} />;
    case "code":
      return <CodeInput {...props} field={field} />;
    case "bytes":
      return <BytesInput {...props} field={field} />;
    case "number":
      return <NumberInput {...props} field={field} />;
    case "boolean":
      return <BooleanInput {...props} field={field} />;
    case "choice":
      return <ChoiceInput {...props} field={field} />;
    case "const":
      return <ConstField {...props} field={field} />;
    case "object":
      return <ObjectField {...props} field={field} />;
    case "dict":
      return <DictField {...props} field={field} />;
    case "list":
      return <ListField {...props} field={field} />;
    case "tuple":
      return <TupleField {...props} field={field} />;
    case "union":
      return <UnionField {...props} field={field} />;
    case "json":
      return <JsonPart {...props} field={field} />;
  }
}
