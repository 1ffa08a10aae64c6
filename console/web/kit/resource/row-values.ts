// What the form of a row holds, as the body of a request: pure, so that a test says what is sent.

export interface NamedField {
  readonly name: string;
  /** It has to hold something. */
  readonly isRequired?: boolean;
  /** Given with a new row and never changed. */
  readonly isOnce?: boolean;
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0);

/** The fields that this form shows: of a row that is there without those that are given once. */
export const shownFields = <F extends NamedField>(fields: readonly F[], isNew: boolean): readonly F[] =>
  isNew ? fields : fields.filter(({ isOnce }) => isOnce !== true);

/** Whether every field that has to hold something does. */
export const isWhole = <V extends object>(fields: readonly NamedField[], values: V, isNew: boolean): boolean =>
  shownFields(fields, isNew).every(
    ({ name, isRequired }) => isRequired !== true || !isNothing(values[name as keyof V] as unknown),
  );

/** The body: what the form shows and nothing else, lines of text without the blanks around them. */
export function toBody<V extends object>(fields: readonly NamedField[], values: V, isNew: boolean): V {
  const given = shownFields(fields, isNew).flatMap(({ name }) => {
    const value: unknown = values[name as keyof V];
    return value === undefined ? [] : [[name, typeof value === 'string' ? value.trim() : value] as const];
  });
  return Object.fromEntries(given) as V;
}
