// Checks of what protects APIs: who is let in, whose objects they reach, and what their requests look like.
import { blocked, nodesServe, ofActive, refusal, type Check } from './evidence.js';
import type { Facts } from './facts.js';
import { judge, type Evidence } from './result.js';

/** Findings of API abuse, and the last ban that followed one. */
function abuseSeen({ abuse, daysBack }: Facts): Evidence[] {
  const link = '/api/api-threats';
  return [
    ...(abuse.findings === 0
      ? []
      : [
          {
            kind: 'event' as const,
            text: `${abuse.findings} findings of API abuse were made within ${daysBack} days`,
            at: abuse.lastAt,
            link,
          },
        ]),
    ...(abuse.bannedUntil === null
      ? []
      : [{ kind: 'event' as const, text: 'the last ban for API abuse lasted until', at: abuse.bannedUntil, link }]),
  ];
}

export const apiChecks = {
  site_auth: (facts) =>
    judge(['auth_enabled', 'auth_protected_paths', 'auth_alg', 'auth_secret', 'auth_jwks_url'], {
      wrong: ofActive(facts, (settings) => [
        ...(settings.auth_enabled ? [] : ['auth_enabled is off.']),
        ...(settings.auth_protected_paths.length > 0 ? [] : ['auth_protected_paths is empty.']),
        ...(settings.auth_secret !== null || settings.auth_jwks_url !== ''
          ? []
          : ['Neither auth_secret nor auth_jwks_url is set: tokens are not verified.']),
      ]),
      evidence: blocked(facts, 401),
      missing: 'No request was refused for missing credentials among the newest events.',
      good: 'Protected paths ask for verified tokens.',
    }),
  // what happens to a finding is asked of the saved settings: the control plane evaluates, without an apply
  object_access: (facts) =>
    judge(['api_protect_mode', 'api_bola_threshold', 'api_discovery_enabled'], {
      wrong: [
        ...(facts.saved.api_protect_mode === 'block'
          ? []
          : [`api_protect_mode is ${facts.saved.api_protect_mode}: abuse is found, and nobody is banned for it.`]),
        ...ofActive(facts, ({ api_discovery_enabled: isSeen }) =>
          isSeen ? [] : ['api_discovery_enabled is off: nobody sees who reaches which objects.'],
        ),
      ],
      evidence: abuseSeen(facts),
      missing:
        `No API abuse was found within ${facts.daysBack} days, so nothing shows the detection at work. ` +
        'The wave bola of POST /api/ai/simulate tries it, on a site that answers /api/orders/NUMBER.',
      good: 'Access to the objects of others is detected, and who tries it is banned.',
    }),
  schema: (facts) => {
    const serve = nodesServe(facts);
    return judge(['schema_action', 'api_specs'], {
      wrong: [
        ...ofActive(facts, ({ api_specs: specs, schema_action: action }) => {
          if (specs.length === 0) return ['No specification is in force: api_specs is empty.'];
          const names = specs
            .filter((one) => (one.action ?? action) !== 'block')
            .map((one) => `${one.site} ${one.name}`);
          return names.length === 0 ? [] : [`Specifications that refuse nothing: ${names.join(', ')}.`];
        }),
        ...serve.wrong,
      ],
      evidence: [...serve.evidence, ...refusal(facts.schemaRefused, 'because it does not fit its specification')],
      missing: 'No node says that it serves these specifications.',
      good: 'Requests that do not fit the schema are refused.',
    });
  },
} as const satisfies Record<string, Check>;
