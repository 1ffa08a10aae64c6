// What an alert rule is, as people write it and as it is stored. The target lets in whoever knows it (a webhook's path,
// a routing key), so it is sealed like any secret and shown without what makes it one.
import { Type, type Static } from '@sinclair/typebox';
import { keptSecret } from '#settings';
import type { Sealing } from '../auth/sealing.js';
import { ApiError, closed, Nullable, OneOf } from '../http-kit/index.js';
import { maskUrl } from '../settings/url-credentials.js';
import type { Timing } from './machine.js';

/** What is measured over the window. */
export const metrics = {
  requests: 'requests in the request log',
  blocked: 'requests that rules or gates blocked',
  errors: 'requests that were answered with 500 or above',
  block_rate: 'share of blocked requests, in percent; no value without requests',
  missing_data: 'requests, where there were some before the window: fires at the threshold or below',
  self_test_lost: 'attacks that the nightly self-test stopped before and stops no more, or by other rules',
  api_threats: 'findings of API abuse that were made within the window',
  certificate_days: 'days until the first certificate ends, below 0 behind its end; no value without certificates',
} as const;
export type Metric = keyof typeof metrics;
const metricNames = Object.keys(metrics) as Metric[];

export const channels = ['chat', 'webhook', 'pagerduty'] as const;
export type Channel = (typeof channels)[number];
const severities = ['critical', 'error', 'warning', 'info'] as const;

const Minutes = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Integer({ minimum, maximum, default: value, description: `${description}; minutes` });

const described = metricNames.map((name) => `${name}: ${metrics[name]}`).join('; ');

export const RuleBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]*$' }),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    metric: OneOf(metricNames, described),
    comparison: Type.Optional(OneOf(['above', 'below'] as const, 'fires above or below the threshold, not at it')),
    threshold: Type.Number({ minimum: 0, maximum: 1e12 }),
    window_min: Minutes(1, 1440, 5, 'how far back is measured'),
    for_min: Type.Optional(Minutes(0, 1440, 0, 'how long it has to hold before it fires')),
    cooldown_min: Minutes(0, 10_080, 30, 'from one notice of firing to the next at least'),
    repeat: Type.Optional(
      Type.Boolean({ default: true, description: 'tell again after each cooldown while it fires' }),
    ),
    site: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'null: all sites' }))),
    severity: Type.Optional(OneOf(severities)),
    type: OneOf(channels, 'chat: webhook of the Slack shape; webhook: JSON; pagerduty: Events API v2'),
    target: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'address of the webhook, or routing key; shown without its credentials, and kept when sent back so',
    }),
    secret: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 1024, description: 'signs a webhook; write-only' })),
    ),
    endpoint: Type.Optional(
      Type.String({ maxLength: 2048, description: 'of PagerDuty, where it is not the one of the United States' }),
    ),
  },
  closed,
);
export type RuleBody = Static<typeof RuleBody>;

export interface AlertRule {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly metric: Metric;
  readonly comparison: 'above' | 'below';
  readonly threshold: number;
  readonly window_min: number;
  readonly for_min: number;
  readonly cooldown_min: number;
  readonly repeats: boolean;
  readonly site: string | null;
  readonly severity: (typeof severities)[number];
  readonly type: Channel;
  readonly target_sealed: string;
  readonly secret_sealed: string | null;
  readonly endpoint: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const timingOf = ({ for_min: wait, cooldown_min: cooldown, repeats }: AlertRule): Timing => ({
  forMs: wait * 60_000,
  cooldownMs: cooldown * 60_000,
  repeats,
});

export const defaultPagerdutyEndpoint = 'https://events.pagerduty.com/v2/enqueue';

const placeOf = (id: string, field: string): string => `alert:${id}:${field}`;

export const openTarget = (rule: AlertRule, sealing: Sealing): string =>
  sealing.open(rule.target_sealed, placeOf(rule.id, 'target'));
export const openSecret = (rule: AlertRule, sealing: Sealing): string | null =>
  rule.secret_sealed === null ? null : sealing.open(rule.secret_sealed, placeOf(rule.id, 'secret'));

/** As readers see it. */
export function shownTarget(rule: AlertRule, sealing: Sealing): string {
  return rule.type === 'pagerduty' ? keptSecret : maskUrl(openTarget(rule, sealing), 'webhook');
}

function refuse(path: string, reason: string, fix: string): never {
  throw new ApiError('validation_failed', `${path} ${reason}.`, { errors: [{ path, reason, fix }] });
}

/** The row that a body means; throws `validation_failed` for what contradicts itself. `before`: what it replaces. */
export function toRow(id: string, body: RuleBody, before: AlertRule | null, sealing: Sealing, now: Date): AlertRule {
  const { target, type, metric, secret, endpoint = '' } = body;
  const isShown = before !== null && target === shownTarget(before, sealing) && before.type === type;
  if (!isShown && target.includes(keptSecret))
    refuse('/target', 'has asterisks for what is stored, and nothing like it is stored', 'write the whole target');
  if (!isShown) checkTarget(type, target);
  if (endpoint !== '' && (type !== 'pagerduty' || !isHttpUrl(endpoint)))
    refuse('/endpoint', 'is the address of PagerDuty for rules of that type', 'leave it out, or write an https URL');
  if (metric === 'block_rate' && body.threshold > 100)
    refuse('/threshold', 'is a share in percent', 'write at most 100');
  if (metric === 'missing_data' && body.comparison === 'above')
    refuse('/comparison', 'cannot be above for missing data', 'leave it out');
  const keepsSecret = secret === keptSecret || secret === undefined;
  return {
    id,
    name: body.name,
    enabled: body.enabled ?? true,
    metric,
    comparison: body.comparison ?? (metric === 'missing_data' ? 'below' : 'above'),
    threshold: body.threshold,
    window_min: body.window_min,
    for_min: body.for_min ?? 0,
    cooldown_min: body.cooldown_min,
    repeats: body.repeat ?? true,
    site: body.site ?? null,
    severity: body.severity ?? 'warning',
    type,
    target_sealed: isShown ? before.target_sealed : sealing.seal(target, placeOf(id, 'target')),
    secret_sealed: keepsSecret
      ? (before?.secret_sealed ?? null)
      : secret === null
        ? null
        : sealing.seal(secret, placeOf(id, 'secret')),
    endpoint,
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
}

const isHttpUrl = (text: string): boolean => /^https?:\/\/[^\s@/]+/.test(text) && URL.canParse(text);

/** Throws `validation_failed` for a target that its channel cannot have. */
export function checkTarget(type: Channel, target: string): void {
  if (type === 'pagerduty') {
    if (!/^[A-Za-z0-9]{32}$/.test(target))
      refuse('/target', 'is no routing key', 'write the 32 letters and digits of the integration');
  } else if (!isHttpUrl(target)) refuse('/target', 'is no http or https address', 'write the address of the webhook');
}
