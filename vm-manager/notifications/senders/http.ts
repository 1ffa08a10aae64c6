// Channels that take JSON over HTTPS: Slack and Teams by an incoming webhook (its address is the secret), PagerDuty
// (Events API v2), and any receiver, signed as Standard Webhooks say.
import { ApiError } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { WayOut } from '../../host.js';
import { unfit } from '../../kit/endpoint.js';
import { retryAfterMs, signedHeaders } from '../../kit/outgoing.js';
import { textOf } from '../../kit/values/text.js';
import { plainLine, type MessageLine } from '../message.js';
import { SendError, type Sender, type Sending } from './sender.js';

const timeoutMs = 10_000;
const bytesMax = 65_536;
const waitMsMax = 3_600_000;

/** Posts once. Throws SendError; its text names the host alone, since paths of webhooks are secrets. */
export async function post(
  { way, nowMs }: Sending,
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const host = new URL(url).host;
  let reply: Awaited<ReturnType<WayOut['send']>>;
  try {
    reply = await way.send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      bytesMax,
      timeoutMs,
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new SendError(error.code === 'outbound_refused' ? 'setup' : 'later', `${host}: ${error.message}`);
  }
  const { status } = reply;
  if (status < 300) return;
  const said = `${host} answers with ${status}.`;
  if (status === 429 || status === 408 || status >= 500)
    throw new SendError(
      'later',
      `${said} It is sent again.`,
      retryAfterMs(reply.headers['retry-after'], nowMs, waitMsMax),
    );
  if (status === 400 || status === 413 || status === 422)
    throw new SendError('refused', `${said} It does not take this message.`);
  throw new SendError('setup', `${said} Check the address and the secret of the channel.`);
}

const ConsoleUrl = Type.Optional(
  Type.String({ title: 'Address of this console', maxLength: 500, pattern: '^https?://\\S+$' }),
);

/** Throws 422 for a secret that is no address. */
function checkSecretUrl(secret: string | null): void {
  if (secret === null) return;
  const url = URL.canParse(secret) && !/[\s\\]/.test(secret) ? new URL(secret) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw unfit('/secret', 'is no address', 'give the address of the incoming webhook');
}

/** Slack's three characters (https://docs.slack.dev: escaping text); mentions and links need one of them. */
const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const slackLine = ({ text, title, application, severity, url }: MessageLine): string => {
  const said = forSlack(title ?? text);
  return [
    severity === null ? '' : `*${severity}* `,
    title === null ? '' : `${forSlack(text)}: `,
    url === null ? said : `<${url}|${said.replaceAll('|', '\u00a6')}>`,
    application === null ? '' : ` (${forSlack(application)})`,
  ].join('');
};

/** A section of a message takes 3,000 characters. */
const sectionMax = 2900;

export const slack: Sender = {
  title: 'Slack',
  secret: 'address of the incoming webhook',
  needsSecret: true,
  config: Type.Object({ console_url: ConsoleUrl }, { additionalProperties: false }),
  receiver: () => 'slack',
  check: (_, secret) => checkSecretUrl(secret),
  address: (_, secret) => secret,
  send: (sending, message) => {
    const lines = [...message.lines.map(slackLine), ...(message.more > 0 ? [`… and ${message.more} more`] : [])];
    const text = lines.join('\n').slice(0, sectionMax);
    const blocks = [
      { type: 'section', text: { type: 'plain_text', text: message.subject.slice(0, 150) } },
      { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } },
    ];
    return post(sending, sending.secret ?? '', JSON.stringify({ text: forSlack(message.subject), blocks }));
  },
};

/** Text blocks of adaptive cards take some Markdown. */
const forTeams = (text: string): string => text.replace(/[\\`*_{}[\]()#+\-!|<>]/g, (mark) => `\\${mark}`);

export const teams: Sender = {
  title: 'Microsoft Teams',
  secret: 'address of the workflow that posts to the channel',
  needsSecret: true,
  config: Type.Object({ console_url: ConsoleUrl }, { additionalProperties: false }),
  receiver: () => 'teams',
  check: (_, secret) => checkSecretUrl(secret),
  address: (_, secret) => secret,
  send: (sending, message) => {
    const block = (text: string, more: object = {}) => ({ type: 'TextBlock', text, wrap: true, ...more });
    const body = [
      block(forTeams(message.subject), { weight: 'Bolder', size: 'Medium' }),
      ...message.lines.slice(0, 30).map((line) => block(forTeams(plainLine({ ...line, url: null })))),
      ...(message.more > 0 ? [block(`and ${message.more} more`)] : []),
    ];
    const actions = message.lines.flatMap(({ url }) => (url === null ? [] : [url])).slice(0, 1);
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body,
      actions: actions.map((url) => ({ type: 'Action.OpenUrl', title: 'Open', url })),
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }];
    return post(sending, sending.secret ?? '', JSON.stringify({ type: 'message', attachments }));
  },
};

const dutySeverities = ['info', 'info', 'warning', 'error', 'critical'] as const;
const dutyUrl = 'https://events.pagerduty.com/v2/enqueue';

export const pagerduty: Sender = {
  title: 'PagerDuty',
  secret: 'integration key of a service (Events API v2)',
  needsSecret: true,
  config: Type.Object(
    {
      url: Type.Optional(
        Type.String({
          title: 'Address',
          maxLength: 500,
          pattern: '^https?://\\S+$',
          description: `${dutyUrl} without it; in Europe https://events.eu.pagerduty.com/v2/enqueue`,
        }),
      ),
      console_url: ConsoleUrl,
    },
    { additionalProperties: false },
  ),
  receiver: (config) => new URL(textOf(config['url'] ?? dutyUrl)).origin,
  address: (config) => textOf(config['url'] ?? dutyUrl),
  send: (sending, message) => {
    const { config, secret } = sending;
    const [first] = message.lines;
    const body = {
      routing_key: secret,
      event_action: 'trigger',
      dedup_key: message.id,
      payload: {
        summary: message.subject,
        source: first?.application ?? 'gatehouse',
        severity: dutySeverities[message.severity ?? 2],
        timestamp: message.at,
        custom_details: { lines: message.lines.map(plainLine), more: message.more },
      },
      links: message.lines
        .flatMap(({ url, title }) => (url === null ? [] : [{ href: url, text: title ?? url }]))
        .slice(0, 10),
    };
    return post(sending, textOf(config['url'] ?? dutyUrl), JSON.stringify(body));
  },
};

export const webhook: Sender = {
  title: 'Webhook',
  secret: 'key that deliveries are signed with; 24 characters or more',
  needsSecret: true,
  config: Type.Object(
    { url: Type.String({ title: 'Address', maxLength: 500, pattern: '^https?://\\S+$' }), console_url: ConsoleUrl },
    { additionalProperties: false },
  ),
  receiver: (config) => new URL(textOf(config['url'])).origin,
  check: (config, secret) => {
    if (!URL.canParse(textOf(config['url'])) || new URL(textOf(config['url'])).username !== '')
      throw unfit('/config/url', 'is no address without credentials', 'write it as https://hook.example.org/path');
    if (secret !== null && secret.length < 24)
      throw unfit('/secret', 'is too short to sign with', 'give 24 characters or more, made by chance');
  },
  address: (config) => textOf(config['url']),
  send: (sending, message) => {
    const body = JSON.stringify({ type: 'notice', ...message });
    const signed = signedHeaders(message.id, sending.nowMs, body, sending.secret ?? '');
    return post(sending, textOf(sending.config['url']), body, signed);
  },
};
