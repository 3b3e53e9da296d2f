import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { TokenForm } from "../form/token_form";
import { readEmbedded } from "../history/files";
import { stored } from "../storage";
import { Desk } from "../store";
import type { Environment, WireError } from "../types";
import { loadEnvironment } from "../wire/environment";
import { asWireError } from "../wire/failure";
import { Keeping } from "../wire/keeping";
import { Session } from "../wire/session";
import { Header } from "./header";
import { Playing } from "./playing";
import { Viewing } from "./viewing";

const TOKEN = "openenv.token";

/** The page: an environment to play, or an exported file to look at. */
export function App({ page }: { page: URL }) {
  const embedded = readEmbedded();
  if (embedded) return <Viewing {...embedded} />;
  return <Live page={page} />;
}

function Live({ page }: { page: URL }) {
  const desk = useSignal<Desk | null>(null);
  const error = useSignal<WireError | null>(null);
  const load = async (token?: string) => {
    error.value = null;
    try {
      desk.value = await openDesk(await loadEnvironment(page, token), page, token);
      keepToken(token);
    } catch (failure) {
      error.value = asWireError(failure);
    }
  };
  useEffect(() => void load(keptToken()), []);
  if (desk.value) {
    const { session } = desk.value;
    const goOn = (token: string) => {
      session.dispose();
      void load(token);
    };
    return <Playing key={desk.value.token} page={page} desk={desk.value} onToken={goOn} />;
  }
  return (
    <>
      <Header environment={null} status={null} />
      <main class="shell-main">
        {error.value ? (
          <Stopped
            error={error.value}
            onToken={(token) => void load(token)}
            onAgain={() => void load(keptToken())}
          />
        ) : (
          <p class="shell-loading" role="status">
            Loading…
          </p>
        )}
      </main>
    </>
  );
}

async function openDesk(environment: Environment, page: URL, token?: string): Promise<Desk> {
  document.title = `${environment.metadata.name} · OpenEnv`;
  const keeping = await Keeping.open(environment.address);
  const session = new Session({ page, token, keeping });
  if (session.exists) void session.resume();
  return new Desk(environment, session, keeping.log, token);
}

/** The token that this tab was given, which survives a reload and no more. */
function keptToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    history.replaceState(history.state, "", location.pathname + location.search); // nobody is to copy it
    keepToken(given);
    return given;
  }
  return stored((storage) => storage.getItem(TOKEN)) ?? undefined;
}

function keepToken(token: string | undefined): void {
  stored((storage) => (token === undefined ? storage.removeItem(TOKEN) : storage.setItem(TOKEN, token)));
}

interface StoppedProps {
  error: WireError;
  onToken: (token: string) => void;
  onAgain: () => void;
}

function Stopped({ error, onToken, onAgain }: StoppedProps) {
  if (error.code === "UNAUTHORIZED") {
    return (
      <TokenForm title="This server asks for a token" label="Token" submitLabel="Go on" onToken={onToken}>
        {error.message}
      </TokenForm>
    );
  }
  return (
    <div class="shell-empty" role="alert">
      <p>
        <strong>The environment can't be reached.</strong>
      </p>
      <p>{error.message}</p>
      <button type="button" class="button" onClick={onAgain}>
        Try again
      </button>
    </div>
  );
}
