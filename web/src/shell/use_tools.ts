import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Desk } from "../store";
import type { Tool } from "../types";
import { listTools, toolsIn } from "../wire/tools";

/**
 * The environment's tools. Our servers are asked in the visitor's own session, once there is one: any other question
 * would take another slot of theirs. Where the list can't be had, the form takes calls of tools, too.
 */
export function useTools(page: URL, desk: Desk): Signal<Tool[]> {
  const tools = useSignal<Tool[]>([]);
  const { config } = desk.environment;
  const isOurs = config.version !== null;
  // An episode that is lost lists none, but the next one may.
  const episode = isOurs ? (desk.newest.value?.episode ?? 0) : 1;
  useEffect(() => {
    if (!config.tools || episode === 0 || tools.value.length > 0) return;
    const asked = isOurs
      ? desk.session.step({ type: "list_tools" }).then((result) => toolsIn(result.observation.tools))
      : listTools(page, desk.token);
    void asked.then(
      (found) => {
        tools.value = found;
      },
      () => undefined,
    );
  }, [desk, page, episode]);
  return tools;
}
