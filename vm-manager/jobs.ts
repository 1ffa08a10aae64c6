// What the room does in the background: ends what is over, and says so.
import type { Job } from '#http-kit';
import { expireAcceptances, tellOfEnds } from './governance/acceptances.js';
import { removeExpired } from './evidence/retention.js';
import { endPauses } from './governance/clocks.js';
import { expireMutes } from './governance/mutes.js';
import { tellOfDeadlines } from './governance/sla-notices.js';
import { recordViolations } from './governance/violations.js';
import type { Tx } from './database.js';
import { refreshWhere } from './findings/refresh.js';
import type { Host } from './host.js';
import { workOnTickets } from './integrations/work.js';
import { noteChanges } from './health/look.js';
import { fetchDue } from './intel/fetch.js';
import { forgetChanges } from './graph/live-engine.js';
import { recordHistory } from './graph/history.js';
import { handOver, type OutboxEvent } from './kit/outbox.js';
import { eventBoundsDefault, pruneEvents } from './kit/prune-events.js';
import { takeBackLost } from './imports/run/run-import.js';
import { endLostRuns } from './kit/runs.js';
import { matchPending } from './osv/run.js';
import { protectStored } from './imports/protect-stored.js';
import { judgeWaiting } from './scm/judge.js';
import { workOnWaiting } from './rules/runs.js';
import { sendNotices } from './notifications/deliver.js';
import { sendReports } from './reports/sending/deliver.js';
import { routeEvents } from './notifications/routing.js';
import { runDue } from './schedules/run.js';
import { proveDue } from './vpatches/nightly.js';
import { rollUp } from './posture/rollup.js';

const minuteMs = 60_000;

export const vmJobs = (host: Host): Job[] => [
  {
    name: 'vm-clocks',
    everyMs: minuteMs,
    run: async ({ nowMs }) => {
      const now = new Date(nowMs);
      return host.sql.begin(async (tx) => {
        const accepted = await expireAcceptances(tx, now);
        await tellOfEnds(tx, now);
        const muted = await expireMutes(tx, now);
        await endPauses(tx, now);
        await forgetChanges(tx);
        const risks = await refreshWhere(tx, tx`f.risk_override_until <= ${now}`, now);
        return `${accepted} acceptances, ${muted} mutes and ${risks} overridden risks ended`;
      });
    },
  },
  {
    name: 'vm-lost-runs',
    everyMs: minuteMs,
    run: async ({ nowMs }) => {
      const now = new Date(nowMs);
      const ended = await endLostRuns(host.sql, now);
      const imports = await takeBackLost(host.sql, now);
      return `${ended} lost runs ended, ${imports} lost imports taken back`;
    },
  },
  {
    name: 'vm-sla',
    everyMs: minuteMs,
    run: async ({ nowMs, signal }) => {
      const { atRisk, breached } = await tellOfDeadlines(host.sql, new Date(nowMs), signal);
      return `${atRisk} deadlines are at risk, ${breached} were missed`;
    },
  },
  {
    name: 'vm-policies',
    everyMs: minuteMs,
    run: async ({ nowMs, signal }) => {
      const { begun, ended, told } = await recordViolations(host.sql, new Date(nowMs), signal);
      return `${begun} violations are new, ${ended} ended, ${told} notices were given`;
    },
  },
  {
    name: 'vm-rules',
    everyMs: minuteMs / 6,
    timeoutMs: 10 * minuteMs,
    run: async ({ signal }) => `${await workOnWaiting(host, signal)} runs of rules ended`,
  },
  {
    name: 'vm-events',
    everyMs: 10 * minuteMs,
    run: async ({ nowMs, signal }) => {
      const bounds = (await host.eventBounds?.()) ?? eventBoundsDefault;
      return `${await pruneEvents(host.sql, bounds, new Date(nowMs), signal)} events were removed`;
    },
  },
  {
    name: 'vm-outbox',
    everyMs: minuteMs / 4,
    run: async ({ nowMs, signal }) => {
      const take = async (tx: Tx, events: readonly OutboxEvent[]): Promise<void> => {
        await routeEvents(tx, events, new Date(nowMs));
        await host.takeEvents?.(tx, events);
      };
      return `${await handOver(host.sql, take, signal)} events were handed over`;
    },
  },
  {
    name: 'vm-notices',
    everyMs: minuteMs / 4,
    timeoutMs: 5 * minuteMs,
    run: async ({ signal }) => `${await sendNotices(host, signal)} notices were sent`,
  },
  {
    name: 'vm-report-mail',
    everyMs: minuteMs / 4,
    timeoutMs: 10 * minuteMs,
    run: async ({ signal }) => `${await sendReports(host, signal)} mails with reports were sent`,
  },
  {
    name: 'vm-chain-history',
    everyMs: minuteMs,
    run: async ({ nowMs }) => {
      const { added, gone } = await recordHistory(host, new Date(nowMs));
      return `${added} chains are new, ${gone} are gone`;
    },
  },
  {
    name: 'vm-vpatch-proofs',
    everyMs: minuteMs,
    run: async ({ nowMs }) => proveDue(host, new Date(nowMs)),
  },
  {
    name: 'vm-schedules',
    everyMs: minuteMs / 4,
    timeoutMs: 10 * minuteMs,
    run: async ({ nowMs, signal }) => `${await runDue(host, new Date(nowMs), signal)} scheduled runs were begun`,
  },
  {
    name: 'vm-intel-fetch',
    everyMs: minuteMs,
    timeoutMs: 10 * minuteMs,
    run: async ({ nowMs }) => fetchDue(host, new Date(nowMs)),
  },
  {
    name: 'vm-masking',
    everyMs: minuteMs,
    timeoutMs: 10 * minuteMs,
    run: async ({ signal }) => protectStored(host, signal),
  },
  {
    name: 'vm-osv',
    everyMs: minuteMs,
    timeoutMs: 10 * minuteMs,
    run: async ({ nowMs, signal }) =>
      `${await matchPending(host, new Date(nowMs), signal)} applications were matched with the advisories`,
  },
  {
    name: 'vm-scm',
    everyMs: minuteMs,
    run: async ({ nowMs }) => `${await judgeWaiting(host, new Date(nowMs))} pushed commits were judged`,
  },
  {
    name: 'vm-tickets',
    everyMs: minuteMs / 4,
    timeoutMs: 2 * minuteMs,
    run: async ({ signal }) => `${await workOnTickets(host, signal)} tickets were looked at`,
  },
  {
    name: 'vm-health',
    everyMs: minuteMs,
    run: async ({ nowMs }) => `${await noteChanges(host, new Date(nowMs))} components changed`,
  },
  {
    name: 'vm-evidence',
    everyMs: 60 * minuteMs,
    run: async ({ nowMs }) => `${await removeExpired(host, new Date(nowMs))} packs and files were removed`,
  },
  {
    name: 'vm-posture',
    everyMs: minuteMs,
    run: async ({ nowMs }) => `${await rollUp(host.sql, new Date(nowMs))} applications were counted`,
  },
];
