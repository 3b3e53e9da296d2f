import type { ComponentChildren } from "preact";
import type { Field } from "../schema/field";
import { limitsOf } from "../schema/limits";
import type { Json } from "../types";
import { idOf, useFault, useScope } from "./scope";

/** What each field is given. */
export interface FieldProps<F = Field> {
  field: F;
  pointer: string;
  value: Json | undefined;
  required: boolean;
  /** The name to show instead of the field's title; items of lists have numbers. */
  label: string;
  /** The label is said, but not shown. */
  bare: boolean;
}

/** What a control needs to be labelled, described and found. */
interface ControlAttributes {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  "aria-required": true | undefined;
}

/** The attributes of the control at a place. */
export function useControl({ field, pointer, required }: FieldProps): ControlAttributes {
  const { idPrefix } = useScope();
  const id = idOf(idPrefix, pointer);
  const fault = useFault(pointer);
  const said = [limitsOf(field) && `${id}-limits`, field.hint && `${id}-hint`, fault && `${id}-fault`];
  return {
    id,
    "aria-describedby": said.filter(Boolean).join(" ") || undefined,
    "aria-invalid": fault ? true : undefined,
    "aria-required": required ? true : undefined,
  };
}

/** A control with its label, what it may be, its hint and what is wrong with it. */
export function Frame(props: FieldProps & { labelled?: boolean; children: ComponentChildren }) {
  const { field, pointer, required, label, bare, labelled = true, children } = props;
  const id = idOf(useScope().idPrefix, pointer);
  const words = <LabelWords label={label} required={required} />;
  return (
    <div class="form-field">
      <div class={bare ? "unseen" : "form-head"}>
        {labelled ? <label for={id}>{words}</label> : <span id={`${id}-label`}>{words}</span>}
        <Limits id={id} field={field} />
      </div>
      {children}
      <Below id={id} pointer={pointer} hint={bare ? "" : field.hint} />
    </div>
  );
}

function LabelWords({ label, required }: { label: string; required: boolean }) {
  return (
    <>
      {label}
      {required && (
        <span class="form-required" aria-hidden="true" title="required">
          {" *"}
        </span>
      )}
    </>
  );
}

function Limits({ id, field }: { id: string; field: Field }) {
  const limits = limitsOf(field);
  return limits ? (
    <span class="form-limits" id={`${id}-limits`}>
      {limits}
    </span>
  ) : null;
}

function Below({ id, pointer, hint }: { id: string; pointer: string; hint: string }) {
  const fault = useFault(pointer);
  return (
    <>
      {fault !== undefined && (
        <p class="form-fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
      {hint !== "" && <Hint id={`${id}-hint`} text={hint} />}
    </>
  );
}

/** A description; what it has in backticks is code. */
export function Hint({ id, text }: { id?: string; text: string }) {
  const parts = text.split("`");
  // An odd backtick is just that.
  if (parts.length % 2 === 0)
    return (
      <p class="form-hint" id={id}>
        {text}
      </p>
    );
  return (
    <p class="form-hint" id={id}>
      {parts.map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}
    </p>
  );
}

/** A field of several parts that is left out, in one line; `children` are the buttons that change that. */
export function Absent(props: FieldProps & { children: ComponentChildren }) {
  const { field, pointer, required, label, bare, children } = props;
  const { id, "aria-describedby": described, "aria-invalid": invalid } = useControl(props);
  return (
    <div
      class="form-field"
      id={id}
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={described}
      tabIndex={-1}
      data-fault={invalid}
    >
      <div class="form-tools">
        <span class={bare ? "unseen" : "form-legend"} id={`${id}-label`}>
          <LabelWords label={label} required={required} />
        </span>
        {children}
        <Limits id={id} field={field} />
      </div>
      <Below id={id} pointer={pointer} hint={field.hint} />
    </div>
  );
}

/** Several fields that are one, with a legend; `actions` are the buttons beside it. */
export function Group(props: FieldProps & { actions?: ComponentChildren; children: ComponentChildren }) {
  const { field, pointer, required, label, bare, actions, children } = props;
  const control = useControl(props);
  const { "aria-invalid": invalid, "aria-required": _, ...attributes } = control;
  return (
    <fieldset
      class={bare ? "form-group form-bare" : "form-group"}
      {...attributes}
      tabIndex={-1}
      data-fault={invalid}
    >
      <legend class={bare ? "unseen" : "form-legend"}>
        <LabelWords label={label} required={required} />
      </legend>
      {(actions || limitsOf(field) !== "") && (
        <div class="form-tools">
          <Limits id={control.id} field={field} />
          {actions}
        </div>
      )}
      <Below id={control.id} pointer={pointer} hint={field.hint} />
      {children}
    </fieldset>
  );
}
