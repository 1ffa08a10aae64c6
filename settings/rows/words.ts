// The words of settings that are read where requests are served, apart from the table: a thread that needs two names
// and the length of a window does not load schemas, rows and what checks them (half a megabyte of source and 5 MB of
// memory in every worker). A door of its own (`#settings/words`). Pure.

const windowUnits = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Seconds of a window such as `1m`; null when it is not one. */
export function parseWindow(window: string): number | null {
  const found = /^([1-9]\d{0,4})(s|m|h|d)$/.exec(window);
  return found === null ? null : Number(found[1]) * windowUnits[found[2] as keyof typeof windowUnits];
}

/** Of requests that no site of its own policy has: also of everything that names no policy. */
export const basePolicy = 'base';
/** Of a path that may be read as that of several sites whose policies differ. */
export const strictPolicy = 'strict';
