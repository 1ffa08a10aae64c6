// How often a report is built, as people say it and as a schedule keeps it.
export const rhythms = ['daily', 'weekly', 'monthly'] as const;
export type Rhythm = (typeof rhythms)[number];

export interface Times {
  readonly rhythm: Rhythm;
  /** `08:30`. */
  readonly time: string;
  /** 0 is Sunday. */
  readonly weekday: string;
  /** 1 to 28: every month has it. */
  readonly monthday: string;
}

/** Five fields of cron; null: the time is none. */
export function toCron({ rhythm, time, weekday, monthday }: Times): string | null {
  const [, hour = '', minute = ''] = /^\s*([01]?\d|2[0-3])[:.]([0-5]\d)\s*$/.exec(time) ?? [];
  if (hour === '') return null;
  const at = `${Number(minute)} ${Number(hour)}`;
  return { daily: `${at} * * *`, weekly: `${at} * * ${weekday}`, monthly: `${at} ${monthday} * *` }[rhythm];
}

/** The IANA has `GMT+4` under a name with the sign the other way round. */
export const toIana = (zone: string): string =>
  zone.replace(/^GMT([+-])(\d+)$/, (_, sign: string, hours: string) => `Etc/GMT${sign === '+' ? '-' : '+'}${hours}`);
