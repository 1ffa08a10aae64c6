// The thread that takes the records of a request apart, so that the API goes on answering meanwhile. It keeps nothing
// but the forms of sites. Started by digest-thread.ts, with a bound on its memory: records that need more end it.
import { parentPort } from 'node:worker_threads';
import { ApiError } from '../http-kit/problem.js';
import type { SiteForm } from '../inventory/templates/form.js';
import { digestBody, type FromDigestThread, type ToDigestThread } from './digest-messages.js';

const port = parentPort;
if (port === null) throw new Error('digest-worker.js is the body of a thread');
const forms = new Map<string, SiteForm>();

port.on('message', (asked: ToDigestThread) => {
  if (asked.kind === 'forms') {
    if (asked.forms === null) forms.clear();
    else for (const [site, form] of asked.forms) forms.set(site, form);
    return;
  }
  port.postMessage(answer(asked));
});

function answer({ job }: Extract<ToDigestThread, { readonly kind: 'job' }>): FromDigestThread {
  try {
    return { kind: 'digest', digest: digestBody(job, (site) => forms.get(site) ?? null) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'refused', code: error.code, detail: error.message, errors: error.extras.errors };
  }
}
