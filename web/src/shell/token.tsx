import { useState } from "preact/hooks";

interface Props {
  message: string;
  onToken: (token: string) => void;
}

/** Asks for the token of a server that wants one. */
export function TokenForm({ message, onToken }: Props) {
  const [token, setToken] = useState("");
  return (
    <form
      class="shell-token"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") onToken(token.trim());
      }}
    >
      <h2>This server asks for a token</h2>
      <p>{message}</p>
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="button button-primary">
        Go on
      </button>
    </form>
  );
}
