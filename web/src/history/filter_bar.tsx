import { EVERYTHING, type Filter } from "./shown";

interface Props {
  filter: Filter;
  episodes: number;
  onChange: (filter: Filter) => void;
}

/** Says which entries are shown. */
export function FilterBar({ filter, episodes, onChange }: Props) {
  const change = (part: Partial<Filter>) => onChange({ ...filter, ...part });
  const episodeOf = (input: HTMLInputElement) => (input.value === "" ? null : input.valueAsNumber);
  const isWhole = filter.text === "" && filter.only === "all" && filter.episode === null;
  return (
    <div class="history-filter" role="search" aria-label="Filter the history">
      <input
        class="input"
        type="search"
        aria-label="Text in the action, the observation or the error"
        placeholder="Filter by text"
        value={filter.text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
      <select
        class="input"
        aria-label="Which entries"
        value={filter.only}
        onChange={(event) => change({ only: event.currentTarget.value as Filter["only"] })}
      >
        <option value="all">All entries</option>
        <option value="errors">Errors</option>
        <option value="rewards">Rewards other than 0</option>
      </select>
      <input
        class="input"
        type="number"
        aria-label="Episode, all if empty"
        placeholder="Episode"
        min={1}
        max={episodes}
        value={filter.episode ?? ""}
        onInput={(event) => change({ episode: episodeOf(event.currentTarget) })}
      />
      <button type="button" class="button" disabled={isWhole} onClick={() => onChange(EVERYTHING)}>
        Show all
      </button>
    </div>
  );
}
