// What is told, to whom, in the shape that each channel wants: chat (Slack), webhook (signed), PagerDuty Events API v2.
import { brandNameIn } from '#vm-manager';
import type { Database } from '../db/client.js';
import { createHash } from 'node:crypto';
import type { Sealing } from '../auth/sealing.js';
import type { OutboundReply } from '../outbound/outbound.js';
import type { Outbound } from '../outbound/outbound.js';
import { isPage, pauseOf, post, reasonOf } from '../siem/sinks/sink.js';
import { signedHeaders } from '../siem/sinks/webhook.js';
import type { Notice } from './machine.js';
import { defaultPagerdutyEndpoint, openSecret, openTarget, type AlertRule } from './rule.js';

export interface Told {
  /** The same however often it is sent. */
  readonly id: string;
  readonly action: Notice | 'test';
  readonly at: Date;
  readonly value: number | null;
  /** Why it ended, where nothing was measured: somebody took the rule away. */
  readonly because?: string;
}

export type Sent =
  | { readonly kind: 'sent' }
  | { readonly kind: 'later'; readonly reason: string; readonly afterMs: number | null }
  /** Never, as it is. */
  | { readonly kind: 'refused'; readonly reason: string };

export interface NotifyParts {
  readonly outbound: Outbound;
  readonly sealing: Sealing;
  readonly now: () => number;
  readonly database: Pick<Database, 'sql'>;
  readonly brandName: string;
}

/** The same for all notices of a rule, so that the end of an alert finds its beginning. */
export const dedupKey = ({ id, site }: AlertRule): string => {
  const key = `gatehouse:${id}:${site ?? '*'}`;
  return key.length <= 255
    ? key
    : `gatehouse:${id}:${createHash('sha256')
        .update(site ?? '')
        .digest('hex')}`;
};

const units: Readonly<Record<AlertRule['metric'], string>> = {
  requests: 'requests',
  blocked: 'blocked requests',
  errors: 'errors',
  block_rate: '% blocked',
  missing_data: 'requests',
  self_test_lost: 'attacks that the self-test lost protection against',
  api_threats: 'new findings of API abuse',
  certificate_days: 'days until a certificate ends',
};

/** As people read it. */
export const rounded = (value: number | null): string =>
  value === null ? 'none' : String(Math.round(value * 100) / 100);

/** One sentence for people. */
export function sentenceOf(rule: AlertRule, { action, value, because }: Told): string {
  const where = rule.site === null ? 'all sites' : `site ${rule.site}`;
  const unit = units[rule.metric];
  const measured = `${rounded(value)} ${unit} within ${rule.window_min} min, ${where}`;
  const relation = rule.metric === 'missing_data' ? 'at most' : rule.comparison;
  if (action === 'test') return `Test of the alert rule "${rule.name}": nothing has happened.`;
  if (because !== undefined) return `Resolved: ${rule.name}. ${because}.`;
  if (action === 'resolve') return `Resolved: ${rule.name}. ${measured}.`;
  const begin = action === 'repeat' ? 'Still firing' : 'Firing';
  return `${begin}: ${rule.name}. ${measured} (${relation} ${rule.threshold}).`;
}

export async function notify(rule: AlertRule, told: Told, parts: NotifyParts): Promise<Sent> {
  try {
    const target = openTarget(rule, parts.sealing);
    const reply = await send(rule, told, target, parts);
    if (isReceipt(rule.type, reply)) return { kind: 'sent' };
    const text = reply.body.toString('utf8').replaceAll(/\s+/g, ' ').trim().slice(0, 200);
    const reason = `${new URL(reply.url).host} answered ${reply.status}${text === '' ? '' : `: ${text}`}`;
    return reply.status === 400
      ? { kind: 'refused', reason }
      : { kind: 'later', reason, afterMs: pauseOf(reply, parts.now()) };
  } catch (error) {
    return { kind: 'later', reason: reasonOf(error), afterMs: null };
  }
}

/**
 * Whether an answer says that the notice was taken. A gateway between answers with a page and 200: PagerDuty says 202,
 * and no chat answers with a document. A webhook of somebody's own may answer what it likes.
 */
function isReceipt(type: AlertRule['type'], reply: OutboundReply): boolean {
  const { status } = reply;
  if (status < 200 || status >= 300) return false;
  if (type === 'pagerduty') return status === 202;
  return type === 'webhook' || !isPage(reply);
}

async function send(rule: AlertRule, told: Told, target: string, parts: NotifyParts): Promise<OutboundReply> {
  const sinkParts = { outbound: parts.outbound, now: parts.now };
  const json = { 'content-type': 'application/json' };
  const text = sentenceOf(rule, told);
  if (rule.type === 'pagerduty') {
    const brand = await brandNameIn(parts.database.sql, parts.brandName);
    const body = pagerdutyBody(rule, told, target, brand);
    return post(sinkParts, rule.endpoint === '' ? defaultPagerdutyEndpoint : rule.endpoint, json, JSON.stringify(body));
  }
  if (rule.type === 'chat') return post(sinkParts, target, json, JSON.stringify(chatBody(text, rule)));
  const body = JSON.stringify({
    schema: 'gatehouse.alert/1',
    id: told.id,
    action: told.action,
    at: told.at.toISOString(),
    text,
    dedup_key: dedupKey(rule),
    value: told.value,
    rule: {
      id: rule.id,
      name: rule.name,
      metric: rule.metric,
      comparison: rule.comparison,
      threshold: rule.threshold,
      window_min: rule.window_min,
      site: rule.site,
      severity: rule.severity,
    },
  });
  const secret = openSecret(rule, parts.sealing);
  const signed = secret === null ? { 'webhook-id': told.id } : signedHeaders(told.id, parts.now(), body, secret);
  return post(sinkParts, target, { ...json, ...signed }, body);
}

/** Three letters have a meaning in texts of chats. */
const chatText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function chatBody(text: string, rule: AlertRule): object {
  const context = `${rule.severity} · ${rule.metric} · ${rule.site ?? 'all sites'}`;
  return {
    text: chatText(text),
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: chatText(text) } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: chatText(context) }] },
    ],
  };
}

/** PagerDuty takes at most 1,024 characters of a summary. */
const summaryCharsMax = 1024;

function pagerdutyBody(rule: AlertRule, told: Told, routingKey: string, brandName: string): object {
  const event = {
    routing_key: routingKey,
    event_action: told.action === 'resolve' ? 'resolve' : 'trigger',
    // a test is an incident of its own, so that it neither opens nor closes that of the rule
    dedup_key: told.action === 'test' ? `${dedupKey(rule).slice(0, 200)}:test:${told.id}` : dedupKey(rule),
    client: brandName,
  };
  if (told.action === 'resolve') return event;
  return {
    ...event,
    payload: {
      summary: sentenceOf(rule, told).slice(0, summaryCharsMax),
      source: rule.site ?? brandName,
      severity: told.action === 'test' ? 'info' : rule.severity,
      timestamp: told.at.toISOString(),
      component: 'waf',
      group: rule.site ?? 'all sites',
      class: rule.metric,
      custom_details: { value: told.value, threshold: rule.threshold, window_min: rule.window_min, rule: rule.name },
    },
  };
}
