// Every fifteen seconds: what is wanted and not there is ordered, what is due is renewed, nodes that lack something are
// given it, and ends that come near are told.
import type { Job } from '../http-kit/index.js';
import { pushCertificates, pushChallenges } from './push.js';
import { pruneChallenges } from './store.js';
import { orderWanted, type WantedParts } from './wanted.js';
import { warn } from './warn.js';
import { orderDue, type WorkParts } from './work.js';

export type CertificateJobParts = WorkParts & WantedParts;

export function createCertificateJob(parts: CertificateJobParts): Job {
  return {
    name: 'certificates',
    everyMs: 15_000,
    timeoutMs: 30 * 60_000,
    async run({ nowMs, signal }) {
      const now = new Date(nowMs);
      const lines: string[] = [];
      const wanted = await orderWanted(parts, now);
      if (wanted.length > 0) lines.push(`ordering ${wanted.join(', ')}`);
      // Before orders: a node that came up gets what serves, however long an authority takes.
      const { taken, behind } = await pushCertificates(parts);
      if (taken > 0) lines.push(`${taken} certificates serve`);
      await pruneChallenges(parts.database.sql, now);
      await pushChallenges(parts);
      lines.push(...(await orderDue(parts, signal)));
      const told = await warn(parts, nowMs);
      if (told > 0) lines.push(`${told} warnings`);
      if (behind.length > 0) lines.push(`without their certificates: ${behind.join(', ')}`);
      return lines.join('; ') || 'nothing new';
    },
  };
}
