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
