// Which of the newest events is the first attack that somebody saw blocked.

/** What `gatehouse up` calls itself when it tries whether an attack is blocked (cli/supervise/announce.ts). */
const startCheck = 'gatehouse-start-check';

interface StoredEvent {
  /** As the data plane tells it: `headers` are pairs of a name and, where it is kept, a value. */
  readonly details: unknown;
}

/** Whether `up` sent it when it started: nobody has seen that one being blocked. */
export function isStartCheck({ details }: StoredEvent): boolean {
  const { headers } = (details ?? {}) as { readonly headers?: unknown };
  return (
    Array.isArray(headers) &&
    headers.some(
      (field: unknown) =>
        Array.isArray(field) && String(field[0]).toLowerCase() === 'user-agent' && field[1] === startCheck,
    )
  );
}

/** The newest that is not of `up` itself. */
export const firstAttack = <T extends StoredEvent>(events: readonly T[]): T | undefined =>
  events.find((event) => !isStartCheck(event));
