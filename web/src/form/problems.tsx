import type { Fault } from "../types";

interface Props {
  faults: Fault[];
  /** Sends it nevertheless: an environment may take more than its schema says, or be there to be tried. */
  onAnyway?: (() => void) | undefined;
}

/** What is wrong with the whole, and how many fields need a look; always there, so that it is read out. */
export function Problems({ faults, onAnyway }: Props) {
  const whole = faults.filter((fault) => fault.loc.length === 0);
  const fields = faults.length - whole.length;
  return (
    <div class="form-problems" role="alert">
      {whole.map((fault) => (
        <p key={fault.msg} class="form-fault">
          {fault.msg}
        </p>
      ))}
      {fields > 0 && (
        <p class="form-fault">Not done: {fields === 1 ? "1 field needs" : `${fields} fields need`} a look.</p>
      )}
      {faults.length > 0 && onAnyway && (
        <button type="button" class="button button-small" onClick={onAnyway}>
          Send anyway
        </button>
      )}
    </div>
  );
}
