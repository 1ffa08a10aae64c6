// The process that takes the records of a request apart, so that the API goes on answering meanwhile. It keeps nothing
// but the forms of sites. Started by digester.ts, with a bound on its memory: records that need more end it.
import { ApiError } from '../http-kit/problem.js';
import type { SiteForm } from '../inventory/templates/form.js';
import { digestBody, type FromDigestProcess, type ToDigestProcess } from './digest-messages.js';

// nobody would take what is read for a control plane that is gone
process.once('disconnect', () => process.exit());
const forms = new Map<string, SiteForm>();

process.on('message', (asked: ToDigestProcess) => {
  if (asked.kind === 'forms') {
    if (asked.forms === null) forms.clear();
    else for (const [site, form] of asked.forms) forms.set(site, form);
    return;
  }
  process.send?.(answer(asked));
});

function answer({ job }: Extract<ToDigestProcess, { readonly kind: 'job' }>): FromDigestProcess {
  try {
    return { kind: 'digest', digest: digestBody(job, (site) => forms.get(site) ?? null) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'refused', code: error.code, detail: error.message, errors: error.extras.errors };
  }
}
