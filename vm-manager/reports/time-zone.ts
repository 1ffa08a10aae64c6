// Moments in documents for people, in the zone that they ask for. Data (JSON, CSV) is UTC.

/** What the specification shows moments in. */
export const usualZone = 'GMT+4';
/** The IANA writes the sign of its fixed zones the other way round. */
const fixedZones: ReadonlyMap<string, string> = new Map([[usualZone, 'Etc/GMT-4']]);

const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 100;

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: fixedZones.get(zone) ?? zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'shortOffset',
  });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(zone, made);
  return made;
}

/** `GMT+4`, `UTC`, or a name of the IANA's database (`Europe/Vienna`). */
export function isTimeZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** `2026-11-22 15:04:05 GMT+4`. Throws RangeError for what is no zone. */
export function showIn(zone: string, at: Date): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second, timeZoneName } = Object.fromEntries(parts);
  // as one version of the data of languages has it, and another
  const name = timeZoneName === 'GMT' || timeZoneName === 'GMT+0' ? 'UTC' : timeZoneName;
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${name}`;
}

/** `2026-11-22`: the day of a moment in the zone. */
export const dayIn = (zone: string, at: Date): string => showIn(zone, at).slice(0, 10);

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The first whole hour of UTC that belongs to the first of the last `days` days of the zone, today among them. */
export function firstHourOf(zone: string, now: Date, days: number): Date {
  const midnight = Date.parse(`${dayIn(zone, now)}T00:00:00Z`) - (days - 1) * dayMs;
  const day = new Date(midnight).toISOString().slice(0, 10);
  // zones are at most 14 hours from UTC
  let at = midnight - 15 * hourMs;
  while (dayIn(zone, new Date(at)) < day) at += hourMs;
  return new Date(at);
}

/** Every day of the zone from one moment to another, in order; days of 23 and 25 hours come once each. */
export function daysBetween(zone: string, from: Date, to: Date): string[] {
  const days = new Set<string>();
  for (let at = from.getTime(); at <= to.getTime(); at += dayMs / 2) days.add(dayIn(zone, new Date(at)));
  days.add(dayIn(zone, to));
  return [...days];
}
