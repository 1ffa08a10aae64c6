// The checks behind controls, each one question about what runs. A row of the table is its only home; controls name
// rows.
import type { Settings } from '#settings';
import { checkPasswordPolicy } from '../auth/password.js';
import { maskRecords, nothingMasked } from '../masking/mask-records.js';
import { apiChecks } from './api-checks.js';
import {
  audited,
  blocked,
  highThresholds,
  hitsOf,
  nodesServe,
  notApplied,
  now,
  ofActive,
  selfTested,
  unprotectedSites,
  type Check,
} from './evidence.js';
import { judge } from './result.js';

const dayMs = 86_400_000;
/** A list of bad addresses that is older names others. */
const feedDaysMax = 7;
function categories(keys: readonly (keyof Settings['categories'])[], groups: readonly number[], what: string): Check {
  return (facts) => {
    const serve = nodesServe(facts);
    const off = ofActive(facts, (settings) => [
      ...(settings.mode === 'On' ? [] : ['mode is DetectionOnly: rules only log.']),
      ...highThresholds(settings),
      ...keys.filter((key) => !settings.categories[key].enabled).map((key) => `The rules of ${key} are switched off.`),
      ...settings.sites.flatMap((site) =>
        keys
          .filter((key) => site.categories?.[key]?.enabled === false)
          .map((key) => `The rules of ${key} are switched off for site ${site.name}.`),
      ),
    ]);
    return judge(['mode', 'categories', 'inbound_threshold'], {
      wrong: [...off, ...serve.wrong],
      evidence: [...serve.evidence, ...hitsOf(facts, groups)],
      missing: 'No node says that it serves these rules.',
      good: `Rules against ${what} block.`,
    });
  };
}

export const checks = {
  waf_blocks: (facts) => {
    const serve = nodesServe(facts);
    const wrong = ofActive(facts, (settings) => [
      ...(settings.mode === 'On' ? [] : ['mode is DetectionOnly: attacks are logged and pass.']),
      ...unprotectedSites(settings),
      ...highThresholds(settings),
    ]);
    return judge(['mode', 'sites', 'paranoia_level', 'inbound_threshold'], {
      wrong: [...wrong, ...serve.wrong],
      evidence: [...serve.evidence, ...selfTested(facts), ...blocked(facts, 403)],
      missing: 'No node says that it serves the active version.',
      good: 'Every site is behind rules that block.',
    });
  },
  injection: categories(['sqli', 'xss', 'rce', 'php', 'java', 'generic'], [932, 933, 934, 941, 942, 944], 'injection'),
  ssrf: categories(['rfi', 'lfi'], [930, 931], 'forged requests of the server and inclusion of files'),
  leaks: categories(
    ['dataleak', 'protocol'],
    [920, 921, 950, 951, 952, 953, 954, 955, 956],
    'leaks and malformed requests',
  ),
  integrity: categories(['java', 'generic'], [934, 944], 'unsafe deserialisation'),
  limits: (facts) =>
    judge(['rl_enabled', 'flood_burst_enabled', 'flood_global_enabled', 'rl_dry_run'], {
      wrong: ofActive(facts, (settings) => [
        ...(settings.rl_enabled || settings.flood_burst_enabled || settings.flood_global_enabled
          ? []
          : ['No limit of requests is switched on.']),
        ...(settings.rl_enabled && settings.rl_dry_run ? ['rl_dry_run is on: limits only count.'] : []),
      ]),
      evidence: blocked(facts, 429),
      missing: 'No request was refused for a limit among the newest events.',
      good: 'Clients are limited.',
    }),
  ...apiChecks,
  virtual_patches: (facts) => {
    const serve = nodesServe(facts);
    return judge(['virtual_patches', 'mrf_enabled'], {
      wrong: [
        ...ofActive(facts, (settings) =>
          settings.virtual_patches.length > 0 || settings.mrf_enabled ? [] : ['No virtual patch is in force.'],
        ),
        ...serve.wrong,
      ],
      evidence: serve.evidence,
      missing: 'No node says that it serves them.',
      good: 'Known holes are covered.',
    });
  },
  passwords: (facts) => {
    const { policy_password_min_length: lengthMin, policy_password_min_classes: classesMin } = facts.saved;
    const tried = 'Aa1-'.repeat(50).slice(0, lengthMin - 1);
    const isRefused = checkPasswordPolicy(tried, { lengthMin, classesMin }).length > 0;
    const text = `a password of ${tried.length} characters was refused`;
    return judge(['policy_password_min_length', 'policy_password_min_classes', 'policy_block_pwned'], {
      wrong: [
        ...(lengthMin >= 12 ? [] : [`policy_password_min_length is ${lengthMin}; 12 are asked for.`]),
        ...(facts.saved.policy_block_pwned ? [] : ['policy_block_pwned is off.']),
      ],
      evidence: isRefused ? [now('self-test', text, '/api/settings')] : [],
      missing: 'The policy did not refuse a short password.',
      good: 'New passwords are long, and not known from breaches.',
    });
  },
  password_mix: ({ saved }) => {
    const lengthMin = saved.policy_password_min_length;
    const classesMin = saved.policy_password_min_classes;
    const tried = 'Tiger'.repeat(20).slice(0, lengthMin);
    const isRefused = checkPasswordPolicy(tried, { lengthMin, classesMin }).length > 0;
    return judge(['policy_password_min_classes'], {
      wrong: classesMin >= 3 ? [] : [`policy_password_min_classes is ${classesMin}: letters alone are a password.`],
      evidence: isRefused ? [now('self-test', 'a password of letters alone was refused', '/api/settings')] : [],
      missing: 'The policy did not refuse a password of letters alone.',
      good: 'New passwords mix letters with digits or signs.',
    });
  },
  lockout: ({ saved, ...facts }) =>
    judge(['policy_lockout_threshold', 'policy_lockout_minutes'], {
      wrong: [
        ...(saved.policy_lockout_threshold <= 10 ? [] : ['More than 10 attempts are allowed before a lock.']),
        ...(saved.policy_lockout_minutes >= 30
          ? []
          : [`policy_lockout_minutes is ${saved.policy_lockout_minutes}; 30 are asked for.`]),
      ],
      evidence: audited({ saved, ...facts }, ['login']),
      missing: 'Nobody has logged in yet.',
      good: 'Guessing passwords locks the account for half an hour.',
    }),
  session_idle: ({ saved, sessions, now: moment }) => {
    const minutes = saved.policy_session_idle_minutes;
    const idleMs = sessions.oldestIdleAt === null ? 0 : moment.getTime() - sessions.oldestIdleAt.getTime();
    const text = `${sessions.open} sessions are open; the guard ends each after ${minutes} minutes without a request`;
    return judge(['policy_session_idle_minutes', 'policy_session_ttl_minutes'], {
      wrong: minutes <= 15 ? [] : [`policy_session_idle_minutes is ${minutes}; at most 15 are asked for.`],
      evidence: sessions.open > 0 && idleMs >= 0 ? [now('state', text, '/api/account/sessions')] : [],
      missing: 'No session is open.',
      good: 'Sessions end when nobody uses them.',
    });
  },
  second_factor: ({ saved, people }) => {
    const text = `${people.adminsWithTotp} of ${people.admins} administrators have a second factor`;
    return judge(['policy_2fa_required_admin'], {
      wrong: [
        ...(saved.policy_2fa_required_admin ? [] : ['policy_2fa_required_admin is off.']),
        ...(people.adminsWithTotp === people.admins ? [] : [`Only ${text}.`]),
      ],
      evidence: people.admins > 0 ? [now('state', text, '/api/users')] : [],
      missing: 'There is no administrator.',
      good: 'Administrators log in with a second factor.',
    });
  },
  roles: (facts) =>
    judge([], {
      wrong:
        facts.people.admins < facts.people.active || facts.people.active <= 1 ? [] : ['Everybody is administrator.'],
      evidence: audited(facts, ['user.create', 'user.update', 'user.delete']),
      missing: 'The audit log has no entry of a change to users.',
      good: 'Rights are given by role, and every change of them is in the audit log.',
    }),
  audit_chain: ({ audit }) =>
    judge([], {
      wrong: audit.intact === false ? ['The chain of the audit log is broken: GET /api/audit/verify names where.'] : [],
      evidence:
        audit.intact === true && audit.entries > 0
          ? [now('self-test', `the chain of ${audit.entries} audit entries was verified`, '/api/audit/verify')]
          : [],
      missing:
        audit.entries === 0 ? 'The audit log is empty.' : 'The log is too long for this report: GET /api/audit/verify.',
      good: 'What people do is in a log that shows every change to it.',
    }),
  audit_year: ({ saved, audit, oldest }) =>
    judge(['retention_audit_days'], {
      wrong:
        saved.retention_audit_days >= 365
          ? []
          : [`retention_audit_days is ${saved.retention_audit_days}; 365 are asked for.`],
      evidence:
        audit.entries > 0 && oldest.audit !== null
          ? [{ kind: 'state', text: `the oldest of ${audit.entries} entries`, at: oldest.audit, link: '/api/audit' }]
          : [],
      missing: 'The audit log is empty.',
      good: 'The audit log is kept for a year.',
    }),
  storage_limit: ({ saved, oldest, now: moment, audit }) => {
    const days = saved.retention_requests_days;
    const ageDays = oldest.request === null ? 0 : Math.floor((moment.getTime() - oldest.request.getTime()) / dayMs);
    const text = `the oldest stored request is ${ageDays} days old`;
    return judge(['retention_requests_days'], {
      wrong: [
        ...(days <= 90 ? [] : [`Requests are kept for ${days} days.`]),
        // a partition goes as a whole, and the job runs hourly
        ...(ageDays > days + 2 ? [`${text}, although ${days} are asked for.`] : []),
        ...(audit.lastByAction.has('retention.refused') && ageDays > days + 2 ? ['Pruning was refused.'] : []),
      ],
      evidence: oldest.request === null ? [] : [now('state', text, '/api/policy/stats')],
      missing: 'No request is stored.',
      good: 'Requests are removed when their time is over.',
    });
  },
  masking: ({ saved }) => {
    const [tried] = maskRecords(
      { ...nothingMasked, requests: [{ uri: '/pay?card=4111111111111111&mail=a.b@example.org', user_agent: '' }] },
      saved.privacy_mode ? 'personal' : 'secrets',
    ).requests;
    const isMasked = tried !== undefined && !tried.uri.includes('4111111111111111');
    return judge(['privacy_mode'], {
      wrong: saved.privacy_mode ? [] : ['privacy_mode is off: personal data in requests is stored.'],
      evidence: isMasked ? [now('self-test', `a card number and an address became ${tried.uri}`, '/api/settings')] : [],
      missing: 'A card number that was tried was not masked.',
      good: 'Card numbers and personal data are masked before they are stored.',
    });
  },
  alerting: ({ alerts }) =>
    judge([], {
      wrong: alerts.enabled === 0 ? ['There is no alert rule.'] : [],
      evidence:
        alerts.enabled > 0 && alerts.evaluated === alerts.enabled
          ? [now('state', `${alerts.enabled} alert rules were evaluated within five minutes`, '/api/alerts')]
          : [],
      missing: `${alerts.evaluated} of ${alerts.enabled} alert rules were evaluated within five minutes.`,
      good: 'Alert rules are evaluated all the time.',
    }),
  central_log: ({ connectors }) => {
    const bad = connectors.filter(({ state }) => state === 'failing' || state === 'misconfigured');
    return judge(['siem_connectors', 'siem_webhook_url'], {
      wrong: [
        ...(connectors.length === 0 ? ['No connector sends events to another system.'] : []),
        ...bad.map(({ connector, state }) => `Connector ${connector.name} is ${state}.`),
        ...connectors
          .filter(({ deadLetters }) => deadLetters > 0)
          .map(({ connector, deadLetters }) => `${connector.name} refused ${deadLetters} events.`),
      ],
      evidence: connectors
        .filter(({ lane }) => lane.delivered > 0)
        .map(({ connector, lane }) => ({
          kind: 'event',
          text: `${connector.name} took ${lane.delivered} events`,
          at: lane.last_delivered_at,
          link: '/api/siem',
        })),
      missing: 'No event was delivered yet.',
      good: 'Events are copied to another system.',
    });
  },
  change_control: (facts) =>
    judge([], {
      wrong: facts.activeId === null ? [notApplied] : [],
      evidence: audited(facts, ['settings.update', 'config.apply', 'config.rollback']),
      missing: 'The audit log has no entry of a change.',
      good: 'Every change is a version with an author, proven before it serves, and can be taken back.',
    }),
  threat_feeds: ({ saved, feedAt, now: moment }) => {
    const isOld = feedAt !== null && moment.getTime() - feedAt.getTime() > feedDaysMax * dayMs;
    return judge(['ti_tor_enabled', 'ti_feed_url', 'mrf_enabled'], {
      wrong: [
        ...(saved.ti_tor_enabled || saved.ti_feed_url !== '' || saved.mrf_enabled
          ? []
          : ['No feed of bad addresses is on.']),
        ...(isOld ? [`No feed was taken up for more than ${feedDaysMax} days: GET /api/threat-intel/feeds.`] : []),
      ],
      evidence:
        feedAt === null
          ? []
          : [{ kind: 'state', text: 'a feed was taken up', at: feedAt, link: '/api/threat-intel/feeds' }],
      missing: 'No feed was fetched yet.',
      good: 'Known bad addresses are refused.',
    });
  },
  tested_nightly: ({ saved, selfTest, now: moment, ...facts }) => {
    const isOld = selfTest !== null && moment.getTime() - selfTest.endedAt.getTime() > 2 * dayMs;
    return judge(['self_test_site'], {
      wrong: [
        ...(saved.self_test_site === '' ? ['self_test_site is empty: no attack is tried at night.'] : []),
        ...(isOld ? ['The last self-test is more than two days ago: GET /api/ai/self-tests says what keeps it.'] : []),
        ...(selfTest !== null && selfTest.lost > 0
          ? [`The last self-test met less protection than the one before at ${selfTest.lost} attacks.`]
          : []),
        ...(selfTest !== null && selfTest.stopped * 2 < selfTest.attacks
          ? ['More than half of the attacks of the last self-test passed.']
          : []),
      ],
      evidence: selfTested({ saved, selfTest, now: moment, ...facts }),
      missing: 'The self-test did not end yet.',
      good: 'Attacks are tried every night, and what protects is held against the night before.',
    });
  },
} as const satisfies Record<string, Check>;

export type CheckName = keyof typeof checks;
