import { useId, useState } from "preact/hooks";

/** Asks for the token that lets one look on. */
export function WatchToken({ message, onToken }: { message: string; onToken: (token: string) => void }) {
  const id = useId();
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim() !== "") onToken(token.trim());
  };
  return (
    <form class="watch-token" onSubmit={submit}>
      <h2>Watch running sessions</h2>
      <p id={`${id}-why`}>
        A trainer's sessions can be looked at, step by step. It takes the server's watch token
        (OPENENV_WATCH_TOKEN), which is kept in this tab alone.
      </p>
      {message && (
        <p class="watch-error" role="alert">
          {message}
        </p>
      )}
      <label for={id}>Watch token</label>
      <input
        id={id}
        type="password"
        autocomplete="off"
        required
        aria-describedby={`${id}-why`}
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="button button-primary">
        Watch
      </button>
    </form>
  );
}
