// What an integration says: checked as a whole when it is saved, so that no ticket fails for what could be told then.
import { ApiError } from '#http-kit';
import { Type, type TObject } from '@sinclair/typebox';
import { Value, ValueErrorType } from '@sinclair/typebox/value';
import { severityNames } from '../findings/words.js';
import type { Host, WayOut } from '../host.js';
import { unfit } from '../kit/endpoint.js';
import { checkReceiver } from '../kit/outgoing.js';
import { checkTemplate } from './template.js';
import { Asker, TrackerError } from './trackers/ask.js';
import { trackerOf } from './trackers/index.js';
import type { CommonConfig, Connection } from './trackers/tracker.js';

const Template = (title: string, maxLength: number, description: string) =>
  Type.String({ title, minLength: 1, maxLength, description });
const fieldNames = '^[A-Za-z][A-Za-z0-9_.]{0,79}$';

const common = {
  url: Type.String({ title: 'Address', maxLength: 500, description: 'of its API, such as https://jira.example.org' }),
  console_url: Type.Optional(
    Type.String({ title: 'Address of this console', maxLength: 500, description: 'for {{url}}: links to findings' }),
  ),
  title: Type.Optional(Template('Title', 300, 'with {{placeholders}}; of a group: of its first finding')),
  body: Type.Optional(Template('Text', 10_000, 'in the markup of the tracker, with {{placeholders}}')),
  template_id: Type.Optional(
    Type.String({
      title: 'Template',
      maxLength: 20,
      description: 'id of a template of tickets, for what is not given here; none: the default',
    }),
  ),
  labels: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { title: 'Labels', maxItems: 20, uniqueItems: true }),
  ),
  priorities: Type.Optional(
    Type.Object(
      Object.fromEntries(
        severityNames.map((name) => [name, Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))]),
      ),
      {
        title: 'Priorities',
        additionalProperties: false,
        description: 'severity → priority (Jira), label (GitHub, GitLab), urgency and impact (ServiceNow)',
      },
    ),
  ),
  fields: Type.Optional(
    Type.Record(
      Type.String({ pattern: fieldNames }),
      Type.Union([
        Type.String({ maxLength: 1000 }),
        Type.Record(Type.String({ pattern: fieldNames }), Type.String({ maxLength: 1000 }), {
          additionalProperties: false,
        }),
      ]),
      {
        title: 'Further fields',
        additionalProperties: false,
        description: 'name → text with {{placeholders}}; of fields with choices such as {"value": "{{severity}}"}',
      },
    ),
  ),
  close_tickets: Type.Optional(
    Type.Boolean({
      title: 'Close tickets',
      description: 'when all of their findings are closed here, and open them again with a finding',
    }),
  ),
  take_assignee: Type.Optional(
    Type.Boolean({ title: 'Take the assignee', description: 'whose e-mail address is that of an active user' }),
  ),
};

/** The JSON schema of `config` for one type. */
export function configSchema(type: string): TObject {
  return Type.Object({ ...common, ...trackerOf(type).config.properties }, { additionalProperties: false });
}

/** Throws 422 naming the member, what is wrong with it, and what to do. */
export function checkConfig(type: string, given: unknown): CommonConfig {
  const schema = configSchema(type);
  const error = Value.Errors(schema, given).First();
  if (error !== undefined) {
    const path = `/config${error.path}`;
    if (error.type === ValueErrorType.ObjectAdditionalProperties)
      throw unfit(path, `is not known to ${type}`, `known are ${Object.keys(schema.properties).join(', ')}`);
    if (error.type === ValueErrorType.ObjectRequiredProperty)
      throw unfit(path, 'is missing', String(error.schema.description ?? error.schema.title ?? 'give it'));
    const about = error.schema.description;
    throw unfit(path, `does not fit (${error.message})`, about);
  }
  const config = given as CommonConfig;
  checkAddress(config.url, '/config/url');
  if (config.console_url !== undefined) checkAddress(config.console_url, '/config/console_url');
  checkTemplates(config);
  trackerOf(type).check?.(config);
  return config;
}

function checkAddress(text: string, path: string): void {
  const url = URL.canParse(text) && !/[\s\\]/.test(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw unfit(path, 'is no address', 'write it as https://tracker.example.org');
  if (url.username !== '' || url.password !== '')
    throw unfit(path, 'has credentials in it', 'leave them out and give them as the secret');
  if (url.hash !== '') throw unfit(path, 'has a fragment', 'leave out what follows #');
}

function checkTemplates({ title, body, labels = [], fields = {} }: CommonConfig): void {
  if (title !== undefined) checkTemplate(title, '/config/title');
  if (body !== undefined) checkTemplate(body, '/config/body');
  for (const [at, label] of labels.entries()) checkTemplate(label, `/config/labels/${at}`);
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') checkTemplate(value, `/config/fields/${name}`);
    else for (const [key, inner] of Object.entries(value)) checkTemplate(inner, `/config/fields/${name}/${key}`);
}

/** A secret opens for one type at one origin: who may change the address may not have it sent elsewhere. */
export const placeOfSecret = (type: string, url: string): string => `vm_integrations:/${type}/${new URL(url).origin}`;

export function requireWayOut({ wayOut }: Pick<Host, 'wayOut'>): WayOut {
  if (wayOut === undefined)
    throw new ApiError('not_ready', 'This server sends nothing to other systems, so that no tracker can be asked.');
  return wayOut;
}

/** Throws 422 for an address that would be refused when it is asked; one that is only away is taken. */
export const checkTarget = (host: Host, url: string): Promise<void> =>
  checkReceiver(requireWayOut(host), url, '/config/url', 'is plain http, which would show the secret to the network');

export interface IntegrationRow {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly config: CommonConfig;
  readonly secret: string;
  readonly state: 'untested' | 'ok' | 'failed';
  readonly reason: string | null;
  readonly failures: number;
  readonly retry_at: Date | null;
  readonly version: number;
}

/** Its tracker, ready to be asked. Throws TrackerError where the secret was sealed by another installation. */
export function connect(host: Host, { type, config, secret }: IntegrationRow): Connection {
  let plain: string;
  try {
    plain = host.secrets.open(secret, placeOfSecret(type, config.url));
  } catch {
    throw new TrackerError('setup', 'The secret cannot be opened with the key of this installation: give it again.');
  }
  const asker = new Asker(requireWayOut(host), config.url, { hidden: [plain], now: host.now });
  return trackerOf(type).connect(config, plain, asker);
}
