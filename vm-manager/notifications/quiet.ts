// Quiet hours: from one time of day to another one in a zone, through midnight where the second is the earlier one.
import { Type, type Static } from '@sinclair/typebox';
import { severityNames } from '../findings/words.js';
import { unfit } from '../kit/endpoint.js';

const Clock = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'such as 22:00' });

export const QuietSchema = Type.Object(
  {
    from: Clock,
    to: Clock,
    zone: Type.String({ maxLength: 60, description: 'such as Europe/Berlin' }),
    urgent: Type.Optional(
      Type.Unsafe<(typeof severityNames)[number]>({
        type: 'string',
        enum: [...severityNames],
        description: 'notices of findings from this severity on are sent all the same',
      }),
    ),
  },
  { additionalProperties: false },
);
export type Quiet = Static<typeof QuietSchema>;

/** Throws 422 for a zone that there is not, and for hours without a length. */
export function checkQuiet({ from, to, zone }: Quiet): void {
  try {
    Intl.DateTimeFormat('en-GB', { timeZone: zone });
  } catch {
    throw unfit('/quiet/zone', 'is no time zone', 'name one as Europe/Berlin or UTC');
  }
  if (from === to) throw unfit('/quiet/to', 'is the time that it begins', 'leave quiet out, or switch the channel off');
}

/** Whether it is quiet at a moment. */
export function isQuiet({ from, to, zone }: Quiet, at: Date): boolean {
  const format = Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const clock = format.format(at);
  return from < to ? clock >= from && clock < to : clock >= from || clock < to;
}

/** The lowest severity that is sent while it is quiet; beyond every severity where none is. */
export const urgentFrom = ({ urgent }: Quiet): number =>
  urgent === undefined ? severityNames.length : severityNames.indexOf(urgent);
