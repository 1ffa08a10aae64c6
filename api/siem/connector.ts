// From a connector of the settings to what delivers for it: options read, secrets opened, and everything that is wrong
// with them said. A connector that is wrong keeps its events until it is fixed.
import type { Settings } from '#settings';
import { revealSecrets } from '../settings/secrets.js';
import type { Sealing } from '../auth/sealing.js';
import { eventKinds } from './event.js';
import { isJsonFormat, type JsonFormat } from './formats/index.js';
import { isRedaction, redactions, type Redaction } from './redact.js';

export type SiemKind = Settings['siem_connectors'][number]['kind'];

export interface Connector {
  readonly name: string;
  readonly kind: SiemKind;
  readonly target: string;
  readonly token: string | null;
  readonly index: string;
  readonly options: Readonly<Record<string, string>>;
  readonly format: JsonFormat | 'cef' | 'rfc5424';
  readonly redact: ReadonlySet<Redaction>;
  /** Kinds of events that it takes; null: all but those that have to be named (`kindsByName`). */
  readonly events: ReadonlySet<string> | null;
  /** What has to be fixed before it can deliver, in sentences; empty: nothing. */
  readonly problems: readonly string[];
}

/** The connector that `siem_webhook_url` is; no connector of the list can have this name. */
export const webhookUrlName = '_siem_webhook_url';

const everyKind = ['redact', 'events'] as const;
const streamOptions = ['format', 'facility', 'app_name', 'pen', 'host', 'framing', 'ack', 'ca_cert'] as const;

/** The options that each kind knows; `needed` are those without which it cannot work. */
export const connectorOptions: Readonly<
  Record<SiemKind, { readonly known: readonly string[]; readonly needed: readonly string[]; readonly token: boolean }>
> = {
  splunk_hec: { known: [...everyKind, 'format', 'source', 'sourcetype', 'host'], needed: [], token: true },
  elasticsearch: { known: [...everyKind, 'format', 'username', 'pipeline'], needed: [], token: false },
  sentinel: {
    known: [...everyKind, 'format', 'tenant_id', 'client_id', 'dcr_id', 'stream', 'login_url', 'scope'],
    needed: ['tenant_id', 'client_id', 'dcr_id', 'stream'],
    token: true,
  },
  syslog: { known: [...everyKind, ...streamOptions], needed: [], token: false },
  cef: { known: [...everyKind, ...streamOptions.slice(1)], needed: [], token: false },
  webhook: { known: [...everyKind, 'format', 'batch', 'shared_key', 'table'], needed: [], token: false },
};

const defaultFormat: Readonly<Record<SiemKind, Connector['format']>> = {
  splunk_hec: 'native',
  elasticsearch: 'ecs',
  sentinel: 'native',
  syslog: 'rfc5424',
  cef: 'cef',
  webhook: 'native',
};

const wordsOf = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter((word) => word !== '');

/** All connectors that are switched on, those with problems included. Throws when a secret does not open. */
export function connectorsOf(stored: Settings, sealing: Sealing): Connector[] {
  const settings = revealSecrets(stored, sealing);
  const listed = settings.siem_connectors.filter(({ enabled }) => enabled).map((one) => toConnector(one));
  if (settings.siem_webhook_url === '') return listed;
  const older = {
    name: webhookUrlName,
    kind: 'webhook',
    enabled: true,
    target: settings.siem_webhook_url,
    token: null,
    index: '',
    options: {},
  } as const;
  return [...listed, toConnector(older)];
}

function toConnector(given: Settings['siem_connectors'][number]): Connector {
  const { name, kind, target, token, index, options } = given;
  const { known, needed, token: needsToken } = connectorOptions[kind];
  const problems: string[] = [];
  for (const option of Object.keys(options))
    if (!known.includes(option))
      problems.push(`options.${option} is no option of ${kind}; those are ${known.join(', ')}.`);
  for (const option of needed) if (!options[option]) problems.push(`options.${option} is missing.`);
  if (needsToken && token === null) problems.push(`token is missing; ${kind} cannot log in without it.`);
  const isStream = kind === 'syslog' || kind === 'cef';
  const format = kind === 'cef' ? 'cef' : (options['format'] ?? defaultFormat[kind]);
  if (!isJsonFormat(format) && !(isStream && (format === 'rfc5424' || format === 'cef')))
    problems.push(
      `options.format is ${format}; ${kind} takes native, ecs or ocsf${isStream ? ', rfc5424 or cef' : ''}.`,
    );
  const redact = wordsOf(options['redact']);
  for (const word of redact)
    if (!isRedaction(word))
      problems.push(
        `options.redact has the word ${word}; those that there are: ${Object.keys(redactions).join(', ')}.`,
      );
  const events = wordsOf(options['events']);
  for (const word of events)
    if (!Object.hasOwn(eventKinds, word))
      problems.push(
        `options.events has the word ${word}; those that there are: ${Object.keys(eventKinds).join(', ')}.`,
      );
  problems.push(...(isStream ? streamProblems(target, options) : []));
  return {
    name,
    kind,
    target,
    token,
    index,
    options,
    format: format as Connector['format'],
    redact: new Set(redact.filter(isRedaction)),
    events: events.length === 0 ? null : new Set(events),
    problems,
  };
}

function streamProblems(target: string, options: Readonly<Record<string, string>>): string[] {
  const problems: string[] = [];
  const { facility, framing, ack, pen } = options;
  if (!/^(tcp|tls|udp):\/\/(\[[0-9A-Fa-f:.]+\]|[^:/[\]]+)(:\d{1,5})?\/?$/.test(target))
    problems.push('target must be tcp://, tls:// or udp:// with a host and a port.');
  if (facility !== undefined && !/^(\d|1\d|2[0-3])$/.test(facility))
    problems.push('options.facility is a number, 0 to 23.');
  if (framing !== undefined && !['octets', 'lines'].includes(framing))
    problems.push('options.framing is octets (RFC 6587 3.4.1) or lines (3.4.2).');
  if (ack !== undefined && !['close', 'written'].includes(ack)) problems.push('options.ack is close or written.');
  if (pen !== undefined && !/^\d{1,10}(\.\d{1,10})*$/.test(pen)) problems.push('options.pen is a number.');
  return problems;
}
