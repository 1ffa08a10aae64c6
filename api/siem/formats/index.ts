// The formats of events, by the word that the option `format` of a connector has.
import type { SecurityEvent } from '../event.js';
import { toEcs } from './ecs.js';
import { toOcsf } from './ocsf.js';

export { toCef } from './cef.js';
export { defaultSyslog, toRfc5424, type SyslogOptions } from './rfc5424.js';

/** Those that are JSON. */
export const jsonFormats = {
  native: (event: SecurityEvent): object => event,
  ecs: toEcs,
  ocsf: toOcsf,
} as const;
export type JsonFormat = keyof typeof jsonFormats;

export const isJsonFormat = (word: string): word is JsonFormat => Object.hasOwn(jsonFormats, word);
