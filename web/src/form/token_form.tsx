import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import "./form.css";

interface Props {
  title: string;
  /** Which token it is. */
  label: string;
  submitLabel: string;
  /** Why the one that was given will not do. */
  refusal?: string;
  /** What the token is for. */
  children: ComponentChildren;
  onToken: (token: string) => void;
}

/** Asks for a token. */
export function TokenForm({ title, label, submitLabel, refusal = "", children, onToken }: Props) {
  const id = useId();
  const [token, setToken] = useState("");
  return (
    <form
      class="form-token"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") onToken(token.trim());
      }}
    >
      <h2>{title}</h2>
      <p id={`${id}-why`}>{children}</p>
      {refusal !== "" && (
        <p class="form-fault" role="alert">
          {refusal}
        </p>
      )}
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="password"
        autocomplete="off"
        required
        aria-describedby={`${id}-why`}
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="button button-primary">
        {submitLabel}
      </button>
    </form>
  );
}
