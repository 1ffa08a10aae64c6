// Arrow keys in a list of links: a shortcut beside Tab, which goes from link to link as everywhere (WAI-ARIA Authoring
// Practices, disclosure navigation).

/** By how many links each key moves; infinite: to the end. */
const ends = { Home: -Infinity, End: Infinity };
const steps = {
  rows: { ArrowUp: -1, ArrowDown: 1, ...ends },
  columns: { ArrowLeft: -1, ArrowRight: 1, ...ends },
} as const;
const links = 'a[href], button';

/** Moves the focus among the links and buttons of the element that listens. */
export function walk(event: KeyboardEvent, along: keyof typeof steps): void {
  const { key, currentTarget: list, target } = event;
  const step = (steps[along] as Readonly<Record<string, number>>)[key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (!(list instanceof HTMLElement)) return;
  const stops = [...list.querySelectorAll<HTMLElement>(links)];
  const at = stops.findIndex((one) => one === target);
  if (at < 0) return;
  event.preventDefault();
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}
