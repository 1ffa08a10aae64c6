/**
 * What was typed into a field of numbers; NaN where nothing was, which the API refuses. `Number('')` is 0: an empty
 * field would be saved as a value that nobody has chosen.
 */
export const typedNumber = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
